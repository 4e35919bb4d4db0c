"""`peerlab clusters`: list them, show one, draft a file of one's own, check it."""

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from peerlab.base.errors import one_line, shell_word
from peerlab.base.terminal_text import command
from peerlab.base.units import say_count
from peerlab.features.clusters.cluster_draft import draft
from peerlab.features.clusters.cluster_text import cluster_lines, list_lines, report_lines
from peerlab.features.clusters.draft import write_draft
from peerlab.machine import read_machine
from peerlab.model.guide import GUIDE
from peerlab.model.hardware import Cluster, Figure
from peerlab.question.completeness import Completeness, check
from peerlab.question.presets import known_clusters, load_cluster

_USAGE = """\
peerlab clusters [NAME] [--json]
       peerlab clusters new FILE.toml [--force]
       peerlab clusters draft FILE.toml [--from TOPOLOGY] [--show] [--force]
       peerlab clusters check FILE.toml [--json]"""

_EXAMPLES = """\
examples:
  peerlab clusters                  all that peerlab knows
  peerlab clusters dl1              every figure of one, with its source or what is assumed
  peerlab clusters new my.toml      a file for a cluster like this machine, to fill in
  peerlab clusters draft my.toml --from topo.xml --show
                                    a whole one from a topology, the rest assumed, and a picture of its data path
  peerlab clusters check my.toml    what is still missing in it, and what looks wrong

topologies: NCCL_TOPO_DUMP_FILE of NCCL, nvidia-smi topo -m, lstopo --whole-io --of xml, lspci -tv, lspci -vv (as root)

exit status: 0 answered, or the file is complete; 1 it is not, or cannot be read or written; 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "clusters",
        "the clusters that peerlab knows; a file for one of your own",
        lambda options: _clusters(sub, options),
        usage=_USAGE,
        description="The clusters that peerlab knows, with every figure and its source; a file for one of your own.",
        epilog=_EXAMPLES,
    )
    sub.add_argument(
        "what", nargs="?", metavar="NAME", help="a known cluster or a .toml file; or new, draft or check"
    )
    sub.add_argument("file", nargs="?", metavar="FILE", help="with new, draft and check: the .toml file")
    sub.add_argument("--force", action="store_true", help="with new and draft: overwrite the file")
    sub.add_argument(
        "--from",
        dest="topology",
        metavar="TOPOLOGY",
        help="with draft: a topology; without it, that of this machine",
    )
    sub.add_argument(
        "--show", action="store_true", help="with draft: draw its data path beside the file, as .svg"
    )
    sub.add_argument("--json", action="store_true", help="print as JSON")


def _clusters(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Do what the words ask for."""
    about_file = options.what in ("new", "draft", "check")
    if about_file and options.file is None:
        parser.error(f"{options.what} needs a file, as in: peerlab clusters {options.what} my.toml")
    if not about_file and options.file is not None:
        parser.error(f"{options.what!r} takes no file; new, draft and check do")
    if options.force and options.what not in ("new", "draft"):
        parser.error("--force is for new and draft")
    if (options.topology is not None or options.show) and options.what != "draft":
        parser.error("--from and --show are for draft")
    if options.json and options.what in ("new", "draft"):
        parser.error(f"--json is not for {options.what}")
    if options.what == "draft":
        return draft(Path(options.file), options.topology, show=options.show, force=options.force)
    if options.what == "new":
        return _new(Path(options.file), force=options.force)
    if options.what == "check":
        return _check(options.file, as_json=options.json)
    if options.what is None:
        _list(as_json=options.json)
    else:
        _show(load_cluster(options.what), as_json=options.json)
    return 0


def _list(*, as_json: bool) -> None:
    clusters = [load_cluster(name) for name in known_clusters()]
    if as_json:
        print(json.dumps({"clusters": [_summary(cluster) for cluster in clusters]}, indent=2))
    else:
        print("\n".join(list_lines(clusters)))


def _show(cluster: Cluster, *, as_json: bool) -> None:
    if as_json:
        figures = [_figure(figure) for figure in cluster.figures.values()]
        whole = {
            "wiring": asdict(cluster.wiring),
            "lacks": dict(cluster.lacks),
            "leaves_out": dict(cluster.leaves_out),
            "figures": figures,
        }
        print(json.dumps({**_summary(cluster), **whole}, indent=2))
    else:
        print("\n".join(cluster_lines(cluster)))


def _summary(cluster: Cluster) -> dict[str, Any]:
    assumed = [assumption.key for assumption in cluster.assumptions]
    return {
        "name": cluster.name,
        "title": cluster.title,
        "summary": cluster.summary,
        "fitted_on": cluster.fitted_on or None,
        "device_name": cluster.device_name,
        "devices_per_node": cluster.devices,
        "nics_per_node": cluster.nics,
        "paths": list(cluster.paths),
        "figures_sourced": len(cluster.stated) - len(assumed),
        "figures_assumed": len(assumed),
        "assumed": assumed,
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "key": figure.key,
        "value": figure.value,
        "unit": figure.unit,
        "basis": figure.basis,
        "source": figure.source or None,
        "assumption": figure.assumption or None,
        "range": list(figure.range) if figure.range else None,
    }


def _new(path: Path, *, force: bool) -> int:
    machine = read_machine()
    write_draft(path, machine, datetime.now(UTC).astimezone().date(), force=force)
    report = check(path)
    filled, file = len(report.sourced), one_line(path)
    print(f"wrote {file}: {say_count(filled, 'figure')} read from this machine")
    if not machine.accelerators:
        print("no accelerator was found here; run it on a node that has some, to have more filled in")
    print(f"fill in the rest; what is missing: peerlab clusters check {shell_word(path)}")
    return 0


def _check(name: str, *, as_json: bool) -> int:
    report = check(name)
    if as_json:
        print(json.dumps(_report(report), indent=2))
    else:
        print("\n".join(report_lines(report)))
    return 0 if report.complete else 1


def _report(report: Completeness) -> dict[str, Any]:
    missing = []
    for gap in report.missing:
        entry = GUIDE.get(gap.key)
        more = {"unit": entry.unit, "basis": entry.basis, "where": entry.where} if entry else {}
        missing.append({"key": gap.key, "why": gap.why, **more})
    return {
        "file": str(report.file),
        "complete": report.complete,
        "missing": missing,
        "wrong": list(report.wrong),
        "implausible": list(report.implausible),
        "wiring": asdict(report.wiring),
        "assumed": [_figure(figure) for figure in report.assumed],
        "sourced": [_figure(figure) for figure in report.sourced],
        "paths": list(report.paths),
    }
