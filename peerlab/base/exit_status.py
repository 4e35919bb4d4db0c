"""How a command ends: the exit statuses of the command line."""

OK, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
