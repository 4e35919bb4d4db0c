"""`peerlab calibrate`: fits a cluster's constants on a log, and says which of them the log cannot tell."""

import argparse
import json
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.document import document_text
from peerlab.base.errors import RecordsError, one_line, shell_word
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import add_nodes, command, wrapped
from peerlab.diagnosis.observed import say_runs
from peerlab.features.calibrate.calibration_document import calibration_document
from peerlab.features.calibrate.copies_taken import copies_taken_document, with_copies
from peerlab.question.write_cluster import check_new
from peerlab.records.benchmarks import TOOLS
from peerlab.records.copy_times import CopyCost, is_copies
from peerlab.records.load import load

_EXAMPLES = """\
examples:
  peerlab calibrate nccl.log --cluster my.toml                      what the log says about my machine's constants
  peerlab calibrate nccl.log --cluster my.toml --save fitted.toml   and a cluster file with them
  peerlab calibrate copies.json --cluster my.toml --save mine.toml  takes what `peerlab measure copies --save` measured on one node
  peerlab calibrate osu.log --cluster juliet --path peer-direct --constant nic.rate,fabric.latency

exit status: 0 fitted (or taken from copies), 1 it cannot be (one line says why), 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "fit constants of a cluster on a log, and say which of them the log cannot tell"
    sub = command(commands, "calibrate", sentence, _calibrate, epilog=_EXAMPLES)
    add = sub.add_argument
    add("log", metavar="LOG", type=Path, help=f"output of {TOOLS}; or a file of peerlab measure copies")
    add(
        "--cluster",
        metavar="NAME",
        required=True,
        help="a known cluster or a .toml file; its assumed figures are fitted",
    )
    add_nodes(sub)
    add("--path", metavar="PATH", help="the data path that the log took; else as peerlab diagnose finds")
    add("--constant", metavar="KEY,...", help="fit only these, such as nic.rate,fabric.latency")
    add("--smallest", metavar="SIZE", help='leave smaller messages out, such as "64 KiB"')
    add("--seed", metavar="N", type=int, default=0, help="seed of the bootstrap (default: 0)")
    add("--save", metavar="FILE.toml", type=Path, help="write a cluster file with the fitted constants")
    add("--force", action="store_true", help="with --save: overwrite the file")
    add("--json", action="store_true", help="print everything as JSON")


def _calibrate(options: argparse.Namespace) -> int:
    if options.save:
        check_new(options.save, force=options.force)
    if is_copies(options.log):
        return _take_copies(options)
    records = load(options.log, options.nodes)
    with progress_bar("calibrate", "simulations") as bar:
        calibration = peerlab.calibrate(
            records,
            options.cluster,
            path=options.path,
            constants=[key.strip() for key in options.constant.split(",")] if options.constant else None,
            smallest_bytes=options.smallest,
            seed=options.seed,
            progress=bar.advance,
        )
    if options.json:
        print(json.dumps({**calibration.as_dict(), "warnings": list(records.warnings)}, indent=2))
    else:
        several = [f"{say_runs(records.runs)}; fitted on that of most nodes"] if len(records.runs) > 1 else []
        warnings = [
            line for warning in (*several, *records.warnings) for line in wrapped(warning, "warning: ")
        ]
        print("\n".join([document_text(calibration_document(calibration)), *warnings]))
    if options.save:
        calibration.save(options.save, force=options.force)
        if not options.json:
            _say_written(options.save)
    return 0


def _take_copies(options: argparse.Namespace) -> int:
    """Take measured copies into a cluster: nothing is fitted, so nothing is simulated."""
    for name in ("nodes", "path", "constant", "smallest"):
        if getattr(options, name) is not None:
            raise RecordsError(
                f"--{name}: {one_line(options.log)} holds copies, which are taken as they were measured"
            )
    result = with_copies(CopyCost.read(options.log), options.cluster)
    if options.json:
        print(
            json.dumps(
                {"cluster": result.before.name, "figures": [vars(figure) for figure in result.taken]},
                indent=2,
            )
        )
    else:
        print(document_text(copies_taken_document(result)))
    if options.save:
        result.save(options.save, force=options.force)
        if not options.json:
            _say_written(options.save)
    return 0


def _say_written(file: Path) -> None:
    print(f"written: {one_line(file)}; look it over: peerlab clusters check {shell_word(file)}")
