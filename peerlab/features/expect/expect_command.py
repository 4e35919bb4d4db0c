"""`peerlab expect`: what a machine should reach."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peerlab.base.document import Document, document_lines, document_markdown
from peerlab.base.errors import ExportError, ScenarioError
from peerlab.base.outfile import written
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import command, number, wrapped
from peerlab.features.expect.closest import DRAFT
from peerlab.features.expect.expect_document import expectation_document, verdict_document
from peerlab.features.expect.expect_report import expect_page, expectation_html, verdict_html
from peerlab.features.expect.expecting import expect
from peerlab.features.expect.thresholds import write_thresholds
from peerlab.features.expect.verdicts.beside_perftest import nic_or_library
from peerlab.features.expect.verdicts.judging import judge
from peerlab.features.expect.verdicts.verdict_rules import BELOW
from peerlab.model.collective import COLLECTIVES
from peerlab.records.benchmarks import TOOLS
from peerlab.records.load import load

_EXAMPLES = """\
examples:
  peerlab expect --cluster p5 --nodes 16              what an AllReduce should reach: floor, band, ceiling, and why
  peerlab expect --cluster p4d --sizes 8MiB,1GiB      at two sizes, on 2 nodes
  peerlab expect --cluster my.toml --nodes 4 --ranks-per-node 1 --json
  peerlab expect --cluster p5 --write thresholds.sh   a health check: sh thresholds.sh run.log; or rules.yaml, thresholds.json
  peerlab expect --cluster p5 --plot expect.html      the same as a picture
  peerlab expect --log run.log --cluster p5           is this run well, and if not, which fault would look like it

exit status: 0 answered, 1 the question is impossible, 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "expect",
        "say what a machine should reach, or whether a log is well",
        _expect,
        epilog=_EXAMPLES,
    )
    sub.add_argument("--cluster", metavar="NAME", help="a known cluster, or a .toml file of your own")
    sub.add_argument("--log", metavar="LOG", type=Path, help=f"is it well? Output of {TOOLS}")
    sub.add_argument(
        "--perftest",
        metavar="LOG",
        type=Path,
        help="with --log: output of ib_write_bw between two of its nodes: is the NIC or the library the limit?",
    )
    sub.add_argument("--nodes", metavar="N", type=number, help="servers that take part (default: 2)")
    sub.add_argument("--path", help="the data path (default: Peer Direct where the cluster has it)")
    sub.add_argument(
        "--collective", default="allreduce", help=f"{', '.join(COLLECTIVES)} (default: allreduce)"
    )
    sub.add_argument(
        "--sizes",
        metavar="LIST",
        help="such as 8MiB,1GiB, or 8B:16GiB, each twice the one before (default: 8B:16GiB)",
    )
    sub.add_argument("--library-version", metavar="VERSION", help="such as 2.19 (default: the cluster's)")
    sub.add_argument(
        "--ranks-per-node", metavar="N", type=number, help="devices of a node that take part (default: all)"
    )
    sub.add_argument(
        "--anyway", action="store_true", help="begin what would take more than two minutes to simulate, too"
    )
    _add_outputs(sub)


def _add_outputs(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--write",
        metavar="FILE",
        type=Path,
        help="floors for a health check (.json, .sh) or as rules for Prometheus (.yaml)",
    )
    sub.add_argument(
        "--plot",
        metavar="FILE.html",
        type=Path,
        help="draw band, floor, ceiling and the log's points, as a page that needs no network",
    )
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--markdown", action="store_true", help="print it as Markdown, to paste into an issue")


def _expect(options: argparse.Namespace) -> int:
    if options.plot and options.plot.suffix not in (".html", ".htm"):
        raise ScenarioError("plot", f"{options.plot.name!r} must end in .html or .htm")
    if options.log is None and options.perftest is not None:
        raise ScenarioError("perftest", "it is set beside a run: give the run's output with --log")
    if options.log is not None and options.write is not None:
        raise ScenarioError("write", "floors are written for a machine, not for a log; leave out --log")
    if options.log is not None:
        return _judge(options)
    if options.cluster is None:
        raise ScenarioError(
            "cluster",
            f"name the machine with --cluster; `peerlab clusters` lists those that are known, {DRAFT}",
        )
    expectation = expect(
        options.cluster,
        nodes=2 if options.nodes is None else options.nodes,
        path=options.path,
        collective=options.collective,
        sizes=options.sizes,
        library_version=options.library_version,
        ranks_per_node=options.ranks_per_node,
        anyway=options.anyway,
    )
    if options.write is not None:
        write_thresholds(expectation, options.write)
    _draw(options.plot, lambda: expectation_html(expectation.as_dict()))
    print(
        json.dumps(expectation.as_dict(), indent=2)
        if options.json
        else _rendered(options, expectation_document(expectation.as_dict()))
    )
    return 0


def _judge(options: argparse.Namespace) -> int:
    records = load(options.log, options.nodes)
    perftest = load(options.perftest) if options.perftest else None  # before anything is simulated
    with progress_bar("expect", "sizes"):
        verdicts = judge(records, options.cluster)
    _draw(options.plot, lambda: verdict_html([verdict.as_dict() for verdict in verdicts]))
    if options.json:
        # Scripts that read one verdict read the worst: the keys of a single run stand at the top of a log of
        # several.
        first = next((verdict for verdict in verdicts if verdict.verdict == BELOW), verdicts[0])
        entries = {**first.as_dict(), "warnings": list(records.warnings)}
        if perftest:
            entries["perftest"] = nic_or_library(first, perftest)
        print(
            json.dumps(
                entries
                if len(verdicts) == 1
                else {**entries, "logs": [verdict.as_dict() for verdict in verdicts]},
                indent=2,
            )
        )
        return 0
    if len(verdicts) > 1:
        print(f"{len(verdicts)} runs in one log: {', '.join(verdict.verdict for verdict in verdicts)}")
    for place, run_verdict in enumerate(verdicts):
        several = len(verdicts) > 1
        if several and not options.markdown:
            print(f"\nrun {place + 1} of {len(verdicts)}")
        title = f"Is run {place + 1} of {len(verdicts)} healthy?" if several else "Is this run healthy?"
        print(_rendered(options, verdict_document(run_verdict.as_dict(), title)))
    if perftest:
        print(
            "\n".join(
                ["", *(line for verdict in verdicts for line in wrapped(nic_or_library(verdict, perftest)))]
            )
        )
    for warning in records.warnings:
        print("\n".join(wrapped(warning, "  warning: ")))
    return 0


def _draw(target: Path | None, report: Callable[[], str]) -> None:
    if target:
        with written(target, ExportError) as file:
            file.write_text(expect_page(report()), encoding="utf-8")


def _rendered(options: argparse.Namespace, document: Document) -> str:
    return document_markdown(document).rstrip() if options.markdown else "\n".join(document_lines(document))
