"""The command line: the same words as in Python. One module per command."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

import peerlab
from peerlab.cli import calibrate, clusters, diagnose, import_logs, lab, simulate, sweep, validate
from peerlab.errors import PeerlabError

OK, FAILED, INTERRUPTED = 0, 1, 130

_COMMANDS = (simulate, sweep, clusters, validate, import_logs, diagnose, calibrate, lab)
"""Each has a function `add` that adds its parser, whose default ``run`` takes the options and returns the exit status."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without a µ shows a ? instead
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except PeerlabError as problem:
        print(f"peerlab: {problem}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("peerlab: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `peerlab simulate | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="peerlab", description="See where the bytes of an AllReduce go, and what each detour costs."
    )
    parser.add_argument("--version", action="version", version=f"peerlab {peerlab.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser
