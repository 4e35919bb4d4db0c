"""The command line: the same words as in Python. One module per command."""

import sys
from collections.abc import Sequence

from peerlab.base.exit_status import FAILED, INTERRUPTED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status. Ctrl+C ends it in one line, even while it is being loaded, and so does a lack of memory."""
    try:
        from peerlab.cli.commands import run  # noqa: PLC0415  (loads every command)

        return run(arguments)
    except KeyboardInterrupt:
        print("peerlab: stopped", file=sys.stderr)
        # 130, as shells have it after Ctrl+C
        return INTERRUPTED
    except MemoryError:
        print(
            "peerlab: not enough memory; ask for less at once, or raise its limit ('ulimit -v')",
            file=sys.stderr,
        )
        return FAILED
