"""`peerlab calibrate`."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.errors import one_line, shell_word
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import add_nodes, command, table, wrapped
from peerlab.base.units import PS_PER_S, say_bytes, say_time, say_unit
from peerlab.diagnosis.observed import say_runs
from peerlab.features.calibrate.calibration import Calibration
from peerlab.features.calibrate.constants import Constant
from peerlab.model.hardware import named
from peerlab.question.write_cluster import check_new
from peerlab.records.benchmarks import TOOLS
from peerlab.records.load import load

_EXAMPLES = """\
examples:
  peerlab calibrate nccl.log --cluster my.toml                      what the log says about my machine's constants
  peerlab calibrate nccl.log --cluster my.toml --save fitted.toml   and a cluster file with them
  peerlab calibrate osu.log --cluster juliet --path peer-direct --constant nic.rate,fabric.latency

exit status: 0 fitted, 1 it cannot be (one line says why), 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "fit constants of a cluster on a log, and say which of them the log cannot tell"
    sub = command(commands, "calibrate", sentence, _calibrate, epilog=_EXAMPLES)
    add = sub.add_argument
    add("log", metavar="LOG", type=Path, help=f"output of {TOOLS}")
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
        warnings = [line for one in (*several, *records.warnings) for line in wrapped(one, "warning: ")]
        print("\n".join([*_lines(calibration), *warnings]))
    if options.save:
        calibration.save(options.save, force=options.force)
        if not options.json:
            file = one_line(options.save)
            print(f"written: {file}; look it over: peerlab clusters check {shell_word(options.save)}")
    return 0


def _lines(calibration: Calibration) -> Iterator[str]:
    yield from wrapped(
        f"{calibration.cluster.title}: {calibration.path}, {calibration.path_from}; fitted on {calibration.cluster.fitted_on}"
    )
    yield f"{calibration.verdict} fit"
    for one in calibration.why:
        yield from wrapped(one, "  * ")
    yield ""
    head = ("constant", "before", "fitted", "95 % interval", "")
    yield table(head, [_constant(constant) for constant in calibration.constants], right={1, 2, 3})
    yield ""
    yield table(
        ("message", "measured", "before", "error", "after", "error", ""),
        list(_rows(calibration)),
        right=range(6),
    )
    yield from wrapped(
        f"median error: {calibration.error_before:.1%} before, {calibration.error_after:.1%} after, {calibration.error_left_out:.1%} at a size "
        "left out of the fit (with the model taken as straight around it)"
    )


def _constant(constant: Constant) -> tuple[str, ...]:
    unit = say_unit(constant.unit)
    if not constant.identified:
        return (
            named(constant.key),
            f"{constant.before:.4g}{unit}",
            "-",
            "-",
            f"this log cannot tell it: {constant.remark}",
        )
    return (
        named(constant.key),
        f"{constant.before:.4g}{unit}",
        f"{constant.value:.4g}{unit}",
        "cut off" if constant.at_end else f"{constant.low:.4g} to {constant.high:.4g}{unit}",
        constant.remark,
    )


def _rows(calibration: Calibration) -> Iterator[tuple[str, ...]]:
    for size, measured, *simulated, lost in zip(
        calibration.sizes,
        calibration.measured_s,
        calibration.before_s,
        calibration.after_s,
        calibration.worse,
        strict=True,
    ):
        cells = [
            cell for one in simulated for cell in (say_time(one * PS_PER_S), f"{one / measured - 1:+.1%}")
        ]
        yield (say_bytes(size), say_time(measured * PS_PER_S), *cells, "worse" if lost else "")
