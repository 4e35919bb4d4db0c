"""How commands are added, options read and tables written.

What is no number is left for the scenario to refuse in its own words.
"""

import argparse
import shutil
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from peerlab.base import errors


def command(
    commands: Any, name: str, says: str, run: Callable[[argparse.Namespace], int], **more: Any
) -> argparse.ArgumentParser:
    """Add a command that says in a few words what it does; return its parser, whose `run` gives the exit status."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=says,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **{"description": says[:1].upper() + says[1:] + ".", **more},
    )
    parser.set_defaults(run=run)
    return parser


@contextmanager
def warnings_in_lines() -> Iterator[None]:
    """Write warnings on stderr as a command's other lines: Python would write where in our code they were raised."""

    def show(text: Warning | str, *_where: Any) -> None:
        sys.stderr.write(f"peerlab: {errors.one_line(text)}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]  # it is called by place
        yield


def end_in_order() -> None:
    """Let a process that is told to end, or whose terminal goes away, end as it does on Ctrl+C: nothing stays half written."""
    _if_told_to_end(signal.SIG_DFL, signal.default_int_handler)


def end_at_once() -> None:
    """Take that back, for a process that waits within MPI: Python hears of no signal there."""
    _if_told_to_end(signal.default_int_handler, signal.SIG_DFL)


def _if_told_to_end(before: Any, then: Any) -> None:
    """Handle the signals that tell a process to end in another way, if they are handled as `before`."""
    for name in ("SIGTERM", "SIGHUP"):
        told = getattr(signal, name, None)  # there is no SIGHUP on Windows
        if (
            told
            # Python lets the main thread alone set these; in a server's others they stay as they are
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(told) is before
        ):
            signal.signal(told, then)


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command in one line, as every error of ours, and takes no empty value."""

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of an option. An empty one, as of a shell's variable that is not set, would pass for one that was not given."""
        # The words of a command pass here twice: as those of its parser, too.
        if action.nargs != argparse.PARSER and not arg_string.strip():
            or_not = "" if action.required else ", or leave it out"
            raise argparse.ArgumentError(action, f"is empty; give a value{or_not}")
        return super()._get_value(action, arg_string)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Return the values of an option; argparse would make an empty list of ``--option=--``."""
        if arg_strings == ["--"] and action.option_strings:
            raise argparse.ArgumentError(action, "'--' is no value")
        return super()._get_values(action, arg_strings)

    def error(self, message: str) -> NoReturn:
        """Say it below the usage, and end with the status of a wrong usage."""
        super().error(errors.message(message))


def add_nodes(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what many logs do not."""
    sentence = "how many nodes took part, where the log does not say"
    parser.add_argument("--nodes", metavar="N", type=number, help=sentence)


def number(text: str) -> int | str:
    """Return a whole number, or the text for the scenario to refuse in its own words."""
    try:
        return int(text)
    except ValueError:
        return text


def slice_size(text: str) -> str | None:
    """Return a size as text, or None for ``none``."""
    return None if text.lower() == "none" else text


def fraction(text: str) -> float | str:
    """Return a number, or the text for the scenario to refuse."""
    try:
        return float(text)
    except ValueError:
        return text


def switch(text: str) -> bool | str:
    """Return True for ``yes``, False for ``no``, or the text for the scenario to refuse."""
    # no "true" or "1": one way to say it, as --help has it
    return {"yes": True, "no": False}.get(text.lower(), text)


def slow_node(text: str) -> dict[int | str, float | str] | str:
    """Return ``4:0.5`` as a mapping, or the text for the scenario to refuse."""
    node, colon, share = text.partition(":")
    return {number(node): fraction(share)} if colon else text


def slow_part(text: str) -> dict[str, float | str] | str:
    """Return ``4.1:0.5`` or ``3>4:0.5`` as a mapping, or the text for the scenario to refuse."""
    part, colon, share = text.partition(":")
    return {part: fraction(share)} if colon else text


def width() -> int:
    """Return how many columns the terminal has, within what reads well."""
    return min(max(shutil.get_terminal_size().columns, 60), 140)


def wrapped(text: str, first: str = "", after: str | None = None) -> list[str]:
    """Return lines that begin with `first`, or from the second on with `after`."""
    after = " " * len(first) if after is None else after
    return textwrap.wrap(
        text, width(), initial_indent=first, subsequent_indent=after, break_on_hyphens=False
    ) or [first.rstrip()]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> str:
    """Return lines of a table: columns as wide as they need, those numbered in `right` at the right, the last as it is."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head) - 1)]
    lines = []
    for *cells, last in (head, *rows):
        fit = [
            c.rjust(w) if i in right else c.ljust(w)
            for i, (c, w) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  " + "  ".join([*fit, last]).rstrip())
    return "\n".join(lines)
