"""`peerlab why`: where a figure of a question comes from, and what was done to it."""

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

from peerlab.base.terminal_text import command, wrapped
from peerlab.question.effective_figures import SIGNS, EffectiveFigure, EffectiveFigures, FigureLine, why
from peerlab.question.fields import add_fields, fields_given
from peerlab.question.scenario import Scenario

_EXAMPLES = """\
examples:
  peerlab why nic.rate                                  what a NIC of DL1 carries, and who says so
  peerlab why --cluster p4d fabric.latency              what the library makes of the network's latency
  peerlab why --cluster p4d --transport roce            every figure that the question looks at
  peerlab why --wiring root-port host.peer_read --json  the same for a script

+ is added to what stands above it, x multiplies it, anything else takes its place; * is assumed

exit status: 0 answered, 1 there is no such figure, or the question is impossible; 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "why",
        "where a figure comes from: its value, who set it, and on what grounds",
        _why,
        epilog=_EXAMPLES,
        argument_default=argparse.SUPPRESS,  # what is not given is the scenario's to decide
    )
    add_fields(sub.add_argument, path="the cluster's usual one", registration="cached")
    sub.add_argument(
        "figure", nargs="?", metavar="FIGURE", default=None, help="such as nic.rate (default: all)"
    )
    sub.add_argument("--json", action="store_true", help="print as JSON")


def _why(options: argparse.Namespace) -> int:
    answer = why(Scenario(**fields_given(options)), options.figure)
    # One figure is answered as itself, all of them as a collection.
    figures: Sequence[EffectiveFigure] = answer if isinstance(answer, EffectiveFigures) else (answer,)
    if "json" in options:
        print(json.dumps({"figures": [figure.as_dict() for figure in figures]}, indent=2))
    else:
        print("\n".join(line for figure in figures for line in _lines(figure)))
    return 0


def _lines(figure: EffectiveFigure) -> Iterator[str]:
    yield from wrapped(figure.head, after="  ")
    # A sign for each kind of change; a value that takes the place of the one above has none.
    amounts = [f"{SIGNS[line.how]}{line.text}" for line in figure.lines]
    widest = max(map(len, amounts), default=0)
    for figure_line, amount in zip(figure.lines, amounts, strict=True):
        head = f"  {'*' if figure_line.assumed else ' '} {amount:<{widest}}  "
        yield from wrapped(_grounds(figure_line), head)
    for note in figure.notes:
        yield from wrapped(note, "    ")


def _grounds(line: FigureLine) -> str:
    return f"{line.by}: {line.why}" if line.why else line.by
