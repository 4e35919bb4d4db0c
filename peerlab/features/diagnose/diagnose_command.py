"""`peerlab diagnose`."""

import argparse
import json
import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import add_nodes, command, table, width, wrapped
from peerlab.base.units import say_bytes
from peerlab.diagnosis import Diagnosis, Evidence, Explanation, Forecast, explanations
from peerlab.diagnosis.observed import say_runs
from peerlab.records.benchmarks import TOOLS
from peerlab.records.load import load

_EXAMPLES = """\
examples:
  peerlab diagnose nccl.log                    which data path, by what evidence, and what Peer Direct would bring
  peerlab diagnose nccl.log --cluster p4d      held against this cluster instead of those recognised
  peerlab diagnose bare.log --nodes 4          a log of which only the table is left
  peerlab diagnose osu.log --cluster my.toml --json

exit status: 0 answered ("cannot tell" is an answer too), 1 the log or the cluster cannot be read, 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "say which data path a log is from, with the evidence, and what Peer Direct would bring"
    sub = command(commands, "diagnose", sentence, _diagnose, epilog=_EXAMPLES)
    sub.add_argument("log", metavar="LOG", type=Path, help=f"output of {TOOLS}")
    sub.add_argument(
        "--cluster", metavar="NAME", help="where it is from: a known cluster or a .toml file; else recognised"
    )
    add_nodes(sub)
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _diagnose(options: argparse.Namespace) -> int:
    records = load(options.log, options.nodes)
    runs = records.runs
    with progress_bar("diagnose", "simulations"):
        found = [peerlab.diagnose(run, options.cluster) for run in runs]
    if options.json:
        rows = [diagnosis.as_dict() for diagnosis in found]
        print(json.dumps(rows[0] if len(rows) == 1 else {"runs": rows}, indent=2))
        return 0
    if len(found) > 1:
        print("\n".join(wrapped(say_runs(runs))))
    for place, diagnosis in enumerate(found, start=1):
        head = [f"\nrun {place} of {len(found)}"] if len(found) > 1 else []
        print("\n".join([*head, *_lines(diagnosis, _judging(options))]))
    return 0


def _judging(options: argparse.Namespace) -> str:
    """Return the command that says whether the log is well, with what was said of it here."""
    rows = [("--log", options.log), ("--cluster", options.cluster), ("--nodes", options.nodes)]
    return shlex.join(["peerlab", "expect", *(str(word) for one in rows if one[1] for word in one)])


def _lines(diagnosis: Diagnosis, judging: str) -> Iterator[str]:
    yield from wrapped(diagnosis.seen.says)
    names = ", ".join(diagnosis.clusters) or "no cluster: only what holds on any machine"
    yield from wrapped(f"{'held against' if diagnosis.chosen else 'recognised'}: {names}")
    yield ""
    yield from wrapped(_path(diagnosis))
    if diagnosis.decides:
        yield from wrapped(f"One fact would decide: {diagnosis.decides.what}", "  ")
        yield f"    {diagnosis.decides.command}"
        yield from wrapped(diagnosis.decides.tells, "    ")
    yield ""
    yield _ranking(diagnosis.ranking)
    yield from wrapped(
        "odds rest on how much each kind of evidence weighs, which is judgement (data/diagnosis.toml); points are the "
        "natural logarithms of the weights, added up: 2.3 points are 10 times likelier"
    )
    yield "\nevidence, the weightiest first"
    for evidence in diagnosis.evidence:
        yield from _evidence(evidence)
    if diagnosis.shortfall:
        yield from wrapped(f"The run is slower than its own path: {diagnosis.shortfall.says}.", "  note: ")
    for note in diagnosis.notes:
        yield from wrapped(note, "  note: ")
    for warning in diagnosis.warnings:
        yield from wrapped(warning, "  warning: ")
    yield "\nwith Peer Direct"
    yield from _forecast(diagnosis.forecast)
    yield "\nnext"
    if not diagnosis.checks:
        yield from wrapped(f"is the run well, too?: {judging}", "  ", "      ")
        yield from wrapped("the path is clear, and there is no shorter one", "      ")
    for check in diagnosis.checks:
        yield from wrapped(f"{check.what}: {check.command}", "  ", "      ")
        yield from wrapped(check.tells, "      ")


def _path(diagnosis: Diagnosis) -> str:
    """Return which path it is, how sure that is, and why."""
    if diagnosis.path is None:
        return f"cannot tell which path: {diagnosis.why}"
    return f"{diagnosis.path} ({explanations()[diagnosis.path]}): {diagnosis.verdict}; {diagnosis.why}"


def _ranking(ranking: Sequence[Explanation]) -> str:
    """Return the paths, the best first; what they are in words only where the terminal is wide enough."""
    head = ("path", "odds", "points", "measured / simulated")
    rows = [_ranked(explanation) for explanation in ranking]
    wide = table(
        (*head, ""),
        [(*row, explanations()[one.path]) for row, one in zip(rows, ranking, strict=True)],
        right={1, 2},
    )
    fits = max(map(len, wide.splitlines())) <= width()
    return wide if fits else table(head, rows, right={1, 2})


def _ranked(explanation: Explanation) -> tuple[str, ...]:
    met = f"{explanation.fit.ratio:.3g} on {explanation.fit.cluster.name}" if explanation.fit else "-"
    return (explanation.path, f"{explanation.odds:.0%}", f"{explanation.points:+.1f}", met)


def _evidence(evidence: Evidence) -> Iterator[str]:
    yield from wrapped(f"{evidence.seen}: {evidence.says}", "  * ")
    points = (
        ", ".join(map(_points, evidence.points, evidence.points.values())) or "says nothing for or against"
    )
    yield from wrapped(f"{points}; {'known' if evidence.known else 'assumed'}: {evidence.source}", "      ")


def _points(path: str, points: float) -> str:
    likelier = "likelier" if points > 0 else "less likely"
    return f"{path} {math.exp(abs(points)):.2g} times {likelier} ({points:+.1f})"


def _forecast(forecast: Forecast) -> Iterator[str]:
    if forecast.why_not:
        yield from wrapped(forecast.why_not, "  ")
        return
    head = ("message", "measured", "with it", "from, to", "gain")
    rows = [
        (
            say_bytes(size),
            f"{was:.3g} GB/s",
            f"{now:.3g} GB/s",
            f"{low:.3g} to {high:.3g}",
            f"{now / was:.3g}x",
        )
        for size, was, now, low, high in zip(
            forecast.sizes,
            forecast.measured_GBps,
            forecast.GBps,
            forecast.low_GBps,
            forecast.high_GBps,
            strict=True,
        )
    ]
    yield table(head, rows, right=range(4))
    yield from wrapped(
        f"{forecast.ratio[-1]:.2f} times at {say_bytes(forecast.sizes[-1])}; {forecast.gain.range_in_words()}.",
        "  ",
    )
    fitted = f"; some of its figures were fitted on {forecast.fitted_on}" if forecast.fitted_on else ""
    yield from wrapped(
        f"algorithm bandwidth, simulated on {forecast.cluster}{fitted}. From, to: all assumed figures at the ends of their "
        f"ranges, and the model's own error on this log, a factor of {forecast.spread:.3g}.",
        "  ",
    )
