"""`peerlab neighbours`: an AllReduce with neighbours, on fabrics with queues."""

import argparse
import json
from typing import Any

from peerlab.base.document import document_text
from peerlab.base.errors import ScenarioError
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import command, fraction, number
from peerlab.features.neighbours.neighbours_picture import neighbours_svg
from peerlab.features.neighbours.neighbours_report import neighbours_document
from peerlab.features.neighbours.port_comparison import neighbours
from peerlab.features.neighbours.port_page import port_page_html
from peerlab.page.target import PlayedOutput
from peerlab.study.port_figures import port_fabrics

_EXAMPLES = """\
examples:
  peerlab neighbours                                             four hosts send into one behind our trunk, on every fabric
  peerlab neighbours --neighbour "victim(4)" --lanes 2           a victim whose class or lane is its own
  peerlab neighbours --neighbour quiet --fabric roce-lossy --loss 0.001     one packet in 1,000 is lost
  peerlab neighbours --fabric roce-pfc --figure xon=20000        a threshold that is too low
  peerlab neighbours --neighbour "collide(3)" --spread spray     cells of a flow take whatever trunk is free
  peerlab neighbours --output page.html                          the same as a page

share: what the AllReduce has of its speed alone on that fabric; without one, what the victim has of a host's rate. Paused and waiting
times are those of all ports together, as counters such as rx_prio3_pause and PortXmitWait add them up.

exit status: 0 answered, 1 the question is impossible (one line says why), 2 wrong usage
"""
_TEXTS = (
    ("neighbour", "WHO", 'who else sends: quiet, "incast(N)", "neighbour(N)", "collide(N)", "job(N)", "victim(N)", "senders(N)" (default: neighbour(4))'),
    ("cluster", "NAME", "whose NIC rate and network latency (default: ideal-100g)"),
    ("message", "SIZE", "of the AllReduce (default: 16 MiB)"),
    ("spread", "HOW", "how flows use several trunks: ecmp or spray (default: ecmp)"),
    ("recovery", "HOW", "what is sent again: go-back-n, selective, go-back-0 or none (default: go-back-n where something is lost)"),
    ("start", "HOW", "of DCQCN: cold or fair (default: cold)"),
    ("cell", "SIZE", "payload that moves as one (default: a sixteenth of the smallest threshold)"),
    ("engine", "NAME", "loop, or referee, which is slower and gives the same (default: loop)"),
)  # fmt: skip
_NUMBERS = (
    ("nodes", number, "hosts of the AllReduce (default: 8)"),
    ("lanes", number, "classes or virtual lanes; neighbours have the last one (default: 1)"),
    ("leaves", number, "2, or 1: all hosts below one switch (default: 2)"),
    ("trunks", number, "trunk links of a direction (default: 1)"),
    ("seed", number, "of the hash that chooses trunks (default: 0)"),
    ("loss-seed", number, "draw losses with this seed (default: at even distances)"),
    ("trunk", fraction, "rate of all trunks together, in rates of a host (default: 2)"),
    ("loss", fraction, "share of packets that are lost on their way (default: 0)"),
    ("until-ms", fraction, "cut the scene then (default: at the end of the AllReduce, or after 20 times as long as alone)"),
)  # fmt: skip
_OUTPUT = PlayedOutput(lambda comparison: port_page_html(comparison.answers), neighbours_svg)
_FIELDS = {"message": "message_bytes", "lanes": "vls"}
"""Fields of a question that have another name than their option."""
_OWN = ("run", "fabric", "figure", "output", "json")


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "an AllReduce with neighbours, losses and marks: who pays, fabric by fabric"
    sub = command(
        commands, "neighbours", sentence, _neighbours, epilog=_EXAMPLES, argument_default=argparse.SUPPRESS
    )
    for name, value, what in _TEXTS:
        sub.add_argument(f"--{name}", dest=_field(name), metavar=value, help=what)
    for name, kind, what in _NUMBERS:
        sub.add_argument(f"--{name}", dest=_field(name), metavar="N", type=kind, help=what)
    names = ", ".join(port_fabrics())
    sub.add_argument("--fabric", metavar="NAME,...", help=f"these alone, of {names} (default: all)")
    sub.add_argument(
        "--figure",
        metavar="NAME=VALUE",
        action="append",
        help="change a figure of data/port_fabrics.toml, in its unit",
    )
    _OUTPUT.add(sub)
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _neighbours(options: argparse.Namespace) -> int:
    entries = vars(options)
    _OUTPUT.check(options)
    fields = {name: _checked(name, value) for name, value in entries.items() if name not in _OWN}
    names = (
        [name.strip() for name in entries["fabric"].split(",") if name.strip()]
        if "fabric" in entries
        else list(port_fabrics())
    )
    if not names:
        raise ScenarioError("fabric", f"names none; known: {', '.join(port_fabrics())}")
    with progress_bar("neighbours", "fabrics", len(names)) as bar:
        comparison = neighbours(
            fabrics=names, figures=dict(map(figure_given, entries.get("figure", []))), progress=bar, **fields
        )
    if "json" in entries:
        print(json.dumps(comparison.as_dict(), indent=2))
    else:
        print(document_text(neighbours_document(comparison)))
    if note := _OUTPUT.write(comparison, options):
        print(note)
    return 0


def _field(name: str) -> str:
    return _FIELDS.get(name, name.replace("-", "_"))


def _checked(name: str, value: Any) -> Any:
    """Return what an option says; refuse what is no number where one belongs."""
    # `number` and `fraction` hand on what is none, so that it is refused here by its name.
    kind = next((kind for option, kind, _ in _NUMBERS if name == _field(option)), None)
    if isinstance(value, str) and kind:
        raise ScenarioError(name, f"{value!r} is not a {'whole ' if kind is number else ''}number")
    return value


def figure_given(text: str) -> tuple[str, float]:
    """Return a figure as it is written on the command line, and its value.

    Raises
    ------
    ScenarioError
        If it is none.
    """
    name, equals, value = text.partition("=")
    number_ = fraction(value)
    if not equals or isinstance(number_, str):
        raise ScenarioError("figure", f"{text!r}: give a name and a number, such as xon=40000")
    return name.strip(), number_
