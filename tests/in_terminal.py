"""Runs commands of peerlab, each in a terminal of its own, and presses Ctrl+C when a bar is there.

One process loads everything and forks for each command, so that a command costs a fifth of a second. It reads a command from every
line of its input, as JSON, and answers each with a line: exit status, and what the terminal got before and after Ctrl+C.
"""

import json
import os
import pty
import sys
import termios

from peerlab.base import progress_bar
from peerlab.cli import main
from peerlab.cli.commands import command_line

UNIT = b"s/s]"
"""What a bar ends with."""


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the command has ended
        return b""


def interrupted(arguments: list[str]) -> dict[str, object]:
    child, terminal = pty.fork()
    if child == 0:
        termios.tcsetwinsize(0, (24, 80))
        progress_bar._AFTER_S = 0.0
        os._exit(main(arguments))
    before = after = b""
    while UNIT not in before and (some := read(terminal)):
        before += some
    if UNIT in before:
        os.write(terminal, b"\x03")
        while some := read(terminal):
            after += some
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"status": status, "before": before.decode(), "after": after.decode()}


if __name__ == "__main__":
    command_line()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(interrupted(json.loads(line))) + "\n")
        sys.stdout.flush()
