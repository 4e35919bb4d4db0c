"""`peerlab choices`: which algorithm a library takes, and where another would be faster."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peerlab.base import outfile
from peerlab.base.document import document_lines
from peerlab.base.errors import ExportError, ScenarioError
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import command, table, wrapped
from peerlab.base.units import say_bytes
from peerlab.features.choices.choice_map import ChoiceMap
from peerlab.features.choices.choice_report import choices_document, choices_page
from peerlab.features.choices.mapping import choices
from peerlab.features.choices.tuner_file import ONE_CHANNEL, write_tuner
from peerlab.features.choices.tuning_lines import TunedSize, beside, nodes_in, tuning_lines
from peerlab.question.presets import load_cluster
from peerlab.records.text import open_log

_EXAMPLES = """\
examples:
  peerlab choices --cluster p5                                  2 to 128 nodes, 1 KiB to 16 GiB
  peerlab choices --cluster p5 --nodes 2,4,8 --sizes 1MiB:1GiB
  peerlab choices --cluster p5 --plot map.html                  the same as a picture
  peerlab choices --cluster p5 --write tuner.csv                what would be faster, for NCCL's example tuner plugin
  peerlab choices --cluster p5 --log run.log                    what NCCL says that it took (NCCL_DEBUG_SUBSYS=TUNING) beside the map

exit status: 0 answered, 1 the question is impossible, 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "say which algorithm and protocol NCCL takes, and where another would be faster"
    sub = command(commands, "choices", sentence, _choices, epilog=_EXAMPLES)
    sub.add_argument("--cluster", metavar="NAME", help="a known cluster, or a .toml file of your own")
    sub.add_argument("--nodes", metavar="LIST", help="rows of the map (default: 2,3,4,6,8,16,32,64,128)")
    sub.add_argument("--sizes", metavar="LIST", help="its columns, such as 1MiB:1GiB (default: 1KiB:16GiB)")
    sub.add_argument("--path", help="the data path (default: Peer Direct where the cluster has it)")
    sub.add_argument("--library-version", metavar="VERSION", help="such as 2.19 (default: the cluster's)")
    sub.add_argument(
        "--plot", metavar="FILE.html", type=Path, help="draw the map, as a page that needs no network"
    )
    sub.add_argument(
        "--write", metavar="FILE.csv", type=Path, help="write what would be faster for NCCL's example tuner"
    )
    sub.add_argument("--log", metavar="LOG", type=Path, help="compare with the TUNING lines of a log")
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _choices(options: argparse.Namespace) -> int:
    if options.cluster is None:
        raise ScenarioError(
            "cluster", "name the machine with --cluster; `peerlab clusters` lists those that are known"
        )
    if options.plot and options.plot.suffix not in (".html", ".htm"):
        raise ScenarioError("plot", f"{options.plot.name!r} must end in .html or .htm")
    if options.log:
        if options.write or options.plot:
            raise ScenarioError("log", "beside a log no file is written; leave out --write and --plot")
        return _compare(options)
    with progress_bar("choices", "cells"):
        choice_map = _map(options, options.nodes, options.sizes)
    if options.write:
        write_tuner(choice_map, options.write)
    if options.plot:
        # Before the table is printed: what cannot be written is an error, not a line below an answer.
        with outfile.written(options.plot, ExportError) as file:
            file.write_text(choices_page(choice_map), encoding="utf-8")
    print(json.dumps(choice_map.as_dict(), indent=2) if options.json else "\n".join(_lines(choice_map)))
    if options.write and not options.json:
        print("\n".join(wrapped(f"{options.write.name}: {ONE_CHANNEL}")))
    return 0


def _map(options: argparse.Namespace, nodes: Any, sizes: Any) -> ChoiceMap:
    return choices(
        options.cluster, nodes=nodes, sizes=sizes, path=options.path, library_version=options.library_version
    )


def _compare(options: argparse.Namespace) -> int:
    # A log is read once: its lines tell the sizes and the nodes.
    log = open_log(options.log)
    logged = tuning_lines(log)
    nodes = options.nodes or nodes_in(log, load_cluster(options.cluster).devices)
    if nodes is None:
        raise ScenarioError("nodes", "the log does not say how many took part: give --nodes")
    # The map is asked for the log's own sizes: no cell of it stands beside nothing.
    choice_map = _map(options, nodes if isinstance(nodes, str) else [nodes], sorted(logged))
    if len(choice_map.nodes) != 1:
        raise ScenarioError("nodes", f"{options.nodes}: a log is of one number of nodes")
    sizes = beside(choice_map, logged)
    if options.json:
        print(
            json.dumps(
                {**choice_map.as_dict(), "log": [{**vars(each), "alike": each.alike} for each in sizes]},
                indent=2,
            )
        )
        return 0
    alike = sum(each.alike for each in sizes)
    print(
        "\n".join(
            wrapped(
                f"{alike} of {len(sizes)} sizes take what the map says, on {choice_map.nodes[0]} nodes of {choice_map.cluster.title}"
            )
        )
    )
    print()
    print(table(("size", "the log says", "the map says", ""), [_tuned(each) for each in sizes], right={0}))
    return 0


def _tuned(each: TunedSize) -> tuple[str, ...]:
    return (
        say_bytes(each.size),
        ", ".join(each.logged),
        ", ".join(each.mapped),
        "" if each.alike else "differs",
    )


def _lines(choice_map: ChoiceMap) -> Iterator[str]:
    document = choices_document(choice_map)
    yield from wrapped(document.title)
    yield from document_lines(document)
