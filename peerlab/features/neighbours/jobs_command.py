"""`peerlab jobs`: several jobs on one fabric, each alone and together."""

import argparse
import json
from typing import Any

from peerlab.base.document import document_text
from peerlab.base.errors import ScenarioError
from peerlab.base.terminal_text import command, fraction, number
from peerlab.features.neighbours.jobs_page import jobs_page_html
from peerlab.features.neighbours.jobs_report import jobs_document, jobs_svg
from peerlab.features.neighbours.neighbours_command import figure_given
from peerlab.page.target import PlayedOutput
from peerlab.study.jobs_answer import SharedFabric, shared_fabric
from peerlab.study.port_figures import port_fabrics

_EXAMPLES = """\
examples:
  peerlab jobs --job 0,4,1,5 --job 2,3,6,7                       a ring that crosses the uplink in every step beside one that crosses twice
  peerlab jobs --job "0,1,4,5 compute=3 repeats=5" --job "2,3,6,7 compute=3 repeats=5 offset=1"
                                                                 do they slide out of each other's way?
  peerlab jobs --job "0,1,4,5 compute=3 repeats=6 flows=2" --job "2,3,6,7 compute=3 repeats=6" --output jobs.svg
  peerlab jobs --job "0,1,4,5 compute=2 repeats=5 flows=2" --job "2,3,6,7 compute=2 repeats=5" --message "16 MiB" --fabric roce-dcqcn
                                                                 the same as cells in ports: two flows help only where each flow is slowed down by itself

A job is its hosts in the order of its ring; then, if wanted, offset= and compute= in ms, repeats=, flows= per transfer (a share for
each), weight=, and message= of its own. Rates are max-min fair, without latency and queues. With --fabric jobs are cells in ports, as in
peerlab neighbours: each job in its lane= (0 to 3), and without weights, which ports do not know. Two leaves are joined, more hang below a spine.

exit status: 0 answered, 1 the question is impossible (one line says why), 2 wrong usage
"""
_OUTPUT = PlayedOutput(jobs_page_html, jobs_svg)
_SAYS = {
    "offset": "offset_ms", "compute": "compute_ms", "repeats": "repeats", "flows": "flows", "weight": "weight", "message": "message_bytes", "lane": "lane",
}  # fmt: skip
_NUMBERS = {"leaf": "number of hosts", "loss": "number", "trunks": "whole number", "seed": "whole number"}
_WHOLE = ("repeats", "flows", "lane")
_OWN = ("run", "job", "figure", "output", "json")


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "several jobs on one fabric: each alone and together, the victim and the culprit"
    sub = command(commands, "jobs", sentence, _jobs, epilog=_EXAMPLES, argument_default=argparse.SUPPRESS)
    sub.add_argument(
        "--job",
        metavar="HOSTS",
        action="append",
        required=True,
        help="hosts of a ring, and what else it does; once for each job",
    )
    sub.add_argument("--cluster", metavar="NAME", help="whose NIC rate a host has (default: ideal-100g)")
    sub.add_argument(
        "--message", dest="message_bytes", metavar="SIZE", help="of each AllReduce (default: 64 MiB)"
    )
    sub.add_argument("--leaf", metavar="N", type=number, help="hosts below a leaf (default: 4)")
    sub.add_argument(
        "--uplink", metavar="N", help="rate of a leaf's uplinks together, in rates of a host (default: 1)"
    )
    sub.add_argument("--until-ms", metavar="N", help="cut it then (default: when all is done)")
    _add_cells(sub)
    _OUTPUT.add(sub)
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _add_cells(sub: Any) -> None:
    """Add what is asked of cells alone."""
    names = ", ".join(port_fabrics())
    sub.add_argument(
        "--fabric", metavar="NAME", help=f"simulate cells in ports of {names} (default: max-min rates)"
    )
    sub.add_argument("--start", metavar="HOW", help="of DCQCN: cold or fair (default: cold)")
    sub.add_argument(
        "--loss", metavar="N", type=fraction, help="share of packets that are lost on their way (default: 0)"
    )
    sub.add_argument(
        "--recovery",
        metavar="HOW",
        help="go-back-n, selective, go-back-0 or none (default: go-back-n where something is lost)",
    )
    sub.add_argument(
        "--trunks",
        metavar="N",
        type=number,
        help="links that join two leaves, or spines of more (default: 1)",
    )
    sub.add_argument("--spread", metavar="HOW", help="how flows use several: ecmp or spray (default: ecmp)")
    sub.add_argument("--seed", metavar="N", type=number, help="of the hash that chooses one (default: 0)")
    sub.add_argument(
        "--cell",
        metavar="SIZE",
        help="payload that moves as one (default: a sixteenth of the smallest threshold)",
    )
    sub.add_argument(
        "--figure",
        metavar="NAME=VALUE",
        action="append",
        help="change a figure of data/port_fabrics.toml, in its unit",
    )
    sub.add_argument(
        "--engine",
        metavar="NAME",
        help="of cells: loop, or referee, which is slower and gives the same (default: loop)",
    )


def _jobs(options: argparse.Namespace) -> int:
    entries = vars(options)
    _OUTPUT.check(options)
    fields = {name: value for name, value in entries.items() if name not in _OWN}
    # `number` hands on what is none, so that it is refused here by its name.
    for name, what in _NUMBERS.items():
        if isinstance(fields.get(name), str):
            raise ScenarioError(name, f"{fields[name]!r} is not a {what}")
    if "figure" in entries:
        fields["figures"] = dict(map(figure_given, entries["figure"]))
    shared = _shared_fabric([_job(text) for text in entries["job"]], fields)
    if "json" in entries:
        print(json.dumps(shared.as_dict(), indent=2))
    else:
        print(document_text(jobs_document(shared)))
    if note := _OUTPUT.write(shared, options):
        print(note)
    return 0


def _shared_fabric(jobs: list[dict[str, Any]], fields: dict[str, Any]) -> SharedFabric:
    """Return the answer; what is wrong within a job is named as it is written there."""
    parts = {field: part for part, field in _SAYS.items() if field not in fields}
    parts.pop("message_bytes", None)  # a size is the option of the command as well as a part of a job
    try:
        return shared_fabric(jobs, **fields)
    except ScenarioError as problem:
        field, says = problem.args
        if field not in parts:
            raise
        raise ScenarioError("--job", f"{parts[field]}={says}") from None


def _job(text: str) -> dict[str, Any]:
    """Return a job as it is written on the command line."""
    hosts, *more = text.split() or [""]
    # Whole numbers of hosts, in the order of the ring.
    try:
        job: dict[str, Any] = {"hosts": [int(host) for host in hosts.split(",")]}
    except ValueError:
        raise ScenarioError("job", f"{hosts!r} are no hosts; give them as 0,4,1,5") from None
    for part in more:
        name, equals, value = part.partition("=")
        if name not in _SAYS or not equals:
            raise ScenarioError(
                "job", f"{part!r} is unknown; a job has {', '.join(f'{name}=' for name in _SAYS)}"
            )
        job[_SAYS[name]] = number(value) if name in _WHOLE else value
    return job
