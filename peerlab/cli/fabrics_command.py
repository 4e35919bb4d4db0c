"""`peerlab fabrics`."""

import argparse
from pathlib import Path
from typing import Any

from peerlab.cli.fields import add_fields
from peerlab.cli.terminal_text import command, table
from peerlab.errors import ExportError, one_line
from peerlab.model.scenario import Scenario
from peerlab.model.transport_files import known_transports
from peerlab.outfile import check_place, written
from peerlab.reports.fabric_report import fabrics_html, fabrics_svg
from peerlab.study.fabric_comparison import FabricComparison, OnTransport, compare_fabrics
from peerlab.units import say_time

_EXAMPLES = """\
examples:
  peerlab fabrics --cluster ideal-100g                          every transport on a bare fabric of 100 Gb/s
  peerlab fabrics --cluster ideal-100g --only roce,infiniband   two of them
  peerlab fabrics --cluster ideal-100g --message "8 KiB" --output fabrics.html
                                                                the same as a page; .svg: the bars as a still

exit status: 0 answered, 1 the question is impossible (one line says why), 2 wrong usage
"""
_NOT_FIELDS = ("run", "only", "output")
_HEAD = ("transport", "time", "hop", "goodput", "busbw GB/s", "messages/s", "limits most")


def add(commands: Any) -> None:
    """Add the command."""
    says = "one scenario on several transports, side by side: time, goodput, busbw, message rate"
    sub = command(commands, "fabrics", says, _fabrics, epilog=_EXAMPLES, argument_default=argparse.SUPPRESS)
    add = sub.add_argument
    add_fields(add, path="the cluster's first", registration="cached")
    add(
        "--only",
        metavar="NAME,...",
        help=f"these alone, of {', '.join(known_transports())} (default: all that fit)",
    )
    add("--output", metavar="FILE", type=Path, help="write a page (.html) or a still (.svg) too")


def _fabrics(options: argparse.Namespace) -> int:
    given = {name: value for name, value in vars(options).items() if name not in _NOT_FIELDS}
    output = getattr(options, "output", None)
    if output is not None:
        if output.suffix not in (".html", ".svg"):
            raise ExportError(f"--output {one_line(output)}: give a name that ends with .html or .svg")
        check_place(output, ExportError)
    only = [one.strip() for one in options.only.split(",")] if "only" in options else None
    found = compare_fabrics(Scenario(**given), only)
    print(table(_HEAD, list(map(_row, found.found)), right=(1, 2, 3, 4, 5)))
    print(f"\n{found.finding}")
    if output is not None:
        _write(found, output)
    return 0


def _row(one: OnTransport) -> tuple[str, ...]:
    run = one.run
    limits = run.bottleneck.label if run.bottleneck else "-"
    rate = f"{one.messages_per_s:,.0f}" if one.messages_per_s else "-"
    goodput = f"{run.scenario.goodput:.1%}"
    return (
        one.title,
        say_time(run.time_ps),
        f"{one.latency_us:.3g} us",
        goodput,
        f"{run.busbw_GBps:.3g}",
        rate,
        limits,
    )


def _write(found: FabricComparison, output: Path) -> None:
    page = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Transports side by side</title><body>{}</body></html>\n'
    text = fabrics_svg(found) if output.suffix == ".svg" else page.format(fabrics_html(found))
    with written(output, ExportError) as file:
        file.write_text(text, encoding="utf-8")
    print(f"{one_line(output)}: written")
