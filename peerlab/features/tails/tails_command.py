"""`peerlab tails`: percentiles of many runs with noise."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peerlab.base.errors import PeerlabError
from peerlab.base.outfile import check_place, written
from peerlab.base.terminal_text import command, number, table, warnings_in_lines, wrapped
from peerlab.base.units import PS_PER_MS, PS_PER_US, say_count
from peerlab.features.tails.percentiles import PER_MILLE, lacking, name_of
from peerlab.features.tails.tails import ASSUMED, Tails, tails
from peerlab.features.tails.tails_page import tails_page
from peerlab.features.tails.tails_picture import WIDE, tails_svg
from peerlab.features.tails.times import PathTimes
from peerlab.model.noise import NOISE_KINDS, assumed_noise
from peerlab.question.fields import add_fields, fields_given

_EXAMPLES = """\
examples:
  peerlab tails --cluster ideal-100g --nodes 64 --jitter 0.05 --seeds 2000     what 5 % of noise on every transfer makes of a ring of 64
  peerlab tails --nodes 8 --message 8MiB --seeds 1000 --workers 2 --output runs.csv
                                        both paths of DL1 with the noise that is assumed; the same command goes on where it stopped
  peerlab tails --cluster ideal-100g --spread 0.1 --seeds 1000 --write tails.html   as a page: choose a run, see who is to blame

p99 is told from 1,000 runs on, p99.9 from 10,000: ten runs must lie beyond it. The gain is the ratio of equal percentiles.

exit status: 0 answered, 1 the question is impossible, 2 wrong usage
"""
_WRITES: dict[str, Callable[[Tails], str]] = {
    ".svg": lambda tails: tails_svg(tails, sheet=WIDE.fitted(tails)),
    ".html": tails_page,
}
"""What `--write` writes, by suffix."""


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "tails",
        "percentiles of many runs with noise, for two data paths",
        _tails,
        description="Simulate a scenario with many seeds, and say mean, median and tail of both data paths.",
        epilog=_EXAMPLES,
        argument_default=argparse.SUPPRESS,
    )
    add_fields(sub.add_argument, path="the cluster's usual one", registration="cached")
    sub.add_argument(
        "--seeds",
        type=number,
        metavar="N",
        help="how many runs (default: 1000, or as many as take about a minute)",
    )
    sub.add_argument(
        "--over",
        metavar="PATH",
        help="the path to compare with, or none (default: Peer Direct, or its detour)",
    )
    sub.add_argument("--workers", type=number, metavar="N", help="share the runs among N processes")
    sub.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler whose workers do it")
    sub.add_argument("--output", metavar="FILE.csv", help="write runs as they come, or go on with this file")
    sub.add_argument(
        "--write",
        metavar="FILE",
        type=Path,
        help="write a picture (.svg), or a page on which a run is chosen and who is to blame for it is shown (.html)",
    )
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _tails(options: argparse.Namespace) -> int:
    entries = vars(options)
    how = {name: entries[name] for name in ("workers", "dask", "output") if name in entries}
    over = entries.get("over", "auto")
    if "write" in entries and entries["write"].suffix not in _WRITES:
        raise PeerlabError(f"--write: give a file that ends in .svg or .html, not {entries['write'].name!r}")
    if "write" in entries:
        check_place(entries["write"], PeerlabError)  # before a thousand runs
    # Without any noise some of each kind is assumed.
    fields = fields_given(options, () if NOISE_KINDS.keys() & entries.keys() else ASSUMED)
    with warnings_in_lines():
        answer = tails(seeds=entries.get("seeds"), over=None if over == "none" else over, **how, **fields)
    if "write" in entries:
        with written(entries["write"], PeerlabError) as file:
            file.write_text(_WRITES[entries["write"].suffix](answer), encoding="utf-8")
    print(json.dumps(answer.as_dict(), indent=2) if "json" in entries else tails_text(answer))
    return 0


def tails_text(answer: Tails) -> str:
    """Return the answer for a terminal."""
    first = answer.paths[0].scenario
    lines = [f"{say_count(first.nodes, 'node')} of {first.hardware.title}, {answer.runs_in_words}"]
    for name in answer.assumed:
        amount = assumed_noise()[name]
        lines += wrapped(
            f"{name} is assumed, from {amount.range[0]:g} to {amount.range[1]:g}: {amount.assumption}", "  "
        )
    unit, name = _unit(answer)
    head = ["path", f"no noise, {name}", "mean", *(name_of(per_mille) for per_mille in PER_MILLE)]
    lines += ["", table(head, [_row(path, unit) for path in answer.paths], right=range(1, len(head) - 1))]
    gains = [(name_of(per_mille), answer.gain(per_mille)) for per_mille in PER_MILLE]
    sentences = [f"{value:.3f} at {name}" for name, value in gains if value]
    if sentences:
        lines += [
            "",
            f"{answer.paths[0].title}, times as fast: {', '.join(sentences)}; {answer.quiet_gain:.3f} without noise",
        ]
    lines += [lacking(percentile) for percentile in answer.paths[0].percentiles if percentile.missing]
    return "\n".join(lines)


def _unit(answer: Tails) -> tuple[int, str]:
    """Return the unit in which times stand in a table, in picoseconds, and its name."""
    longest = max(path.ordered_ps[-1] for path in answer.paths)
    return (PS_PER_MS, "ms") if longest >= 10 * PS_PER_MS else (PS_PER_US, "µs")


def _row(path_times: PathTimes, unit: int) -> list[str]:
    def say(ps: float) -> str:
        return f"{ps / unit:.5g}"

    cells = [str(path_times.scenario.path), say(path_times.quiet_ps), say(path_times.mean_ps)]
    for percentile in path_times.percentiles:
        between = f"{say(percentile.value_ps)} ({say(percentile.low_ps)} to {say(percentile.high_ps)})"
        cells.append("-" if percentile.missing else between)
    return cells
