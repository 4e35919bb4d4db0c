"""`peerlab fabrics`: one question on all transports of a cluster."""

import argparse
from typing import Any

from peerlab.base.document import document_lines
from peerlab.base.errors import ExportError, ScenarioError
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import command, wrapped
from peerlab.features.fabrics.fabric_report import fabrics_document, fabrics_svg
from peerlab.features.fabrics.fabrics_page import fabrics_page_html
from peerlab.model.transport_files import known_transports, load_transport, possible_transports
from peerlab.page.target import PlayedOutput
from peerlab.question.fields import add_fields, fields_given
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.study.fabric_comparison import compare_fabrics

_EXAMPLES = """\
examples:
  peerlab fabrics --cluster ideal-100g                          every transport on a bare fabric of 100 Gb/s
  peerlab fabrics --cluster ideal-100g --only roce,infiniband   two of them
  peerlab fabrics --cluster ideal-100g --message "8 KiB" --output fabrics.html
                                                                the same as a page that plays; .svg: the bars as a still; .mp4: a video

exit status: 0 answered, 1 the question is impossible (one line says why), 2 wrong usage
"""
_OUTPUT = PlayedOutput(fabrics_page_html, fabrics_svg, ExportError)


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "one scenario on several transports, side by side: time, goodput, busbw, message rate"
    sub = command(
        commands, "fabrics", sentence, _fabrics, epilog=_EXAMPLES, argument_default=argparse.SUPPRESS
    )
    add = sub.add_argument
    add_fields(add, path="the cluster's first", registration="cached")
    add(
        "--only",
        metavar="NAME,...",
        help=f"these alone, of {', '.join(known_transports())} (default: all that fit)",
    )
    _OUTPUT.add(sub)


def _fabrics(options: argparse.Namespace) -> int:
    _OUTPUT.check(options)
    only = [word.strip() for word in options.only.split(",") if word.strip()] if "only" in options else None
    with progress_bar("fabrics", "transports") as bar:
        fabric_comparison = compare_fabrics(_scenario(fields_given(options), only), only, progress=bar)
    document = fabrics_document(fabric_comparison)
    print("\n".join([*wrapped(document.title), *document_lines(document)]))
    if note := _OUTPUT.write(fabric_comparison, options):
        print(note)
    return 0


def _scenario(fields: dict[str, Any], only: list[str] | None) -> Scenario:
    """Return the scenario; packets, switches and metres without a transport are asked of the first that takes them."""
    # A transport by name needs no search: what it does not take is refused in its own words.
    if "transport" in fields:
        return Scenario(**fields)
    cluster = load_cluster(fields.get("cluster", "dl1"))
    # Where the file leaves the latency out, only a transport says it.
    if not {"mtu", "hops", "metres"} & fields.keys() and not cluster.leaves_latency:
        return Scenario(**fields)
    names = only or [name for name in possible_transports(cluster) if load_transport(name).figures]
    refused: ScenarioError | None = None
    for name in names:
        try:
            return Scenario(**{**fields, "transport": name})
        except ScenarioError as problem:
            # The first refusal: that of the transport which was tried first.
            refused = refused or problem
    raise refused or ScenarioError("transport", f"{cluster.name} has none that counts packets or switches")
