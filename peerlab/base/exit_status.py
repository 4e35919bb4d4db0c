"""How a command ends: the exit statuses of the command line."""

# 2 is what argparse ends with itself, 130 what a shell says after Ctrl+C (128 and the signal's number).
OK, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
