"""Many runs on one data path as a list: a bar each, the fastest first, with what it waits for."""

from collections.abc import Sequence

from peerlab.answer.run import Run
from peerlab.base.units import three_digits
from peerlab.picture.svg import Paper
from peerlab.picture.words import waits_for

_LEFT, _RIGHT = 24.0, 1240.0
_BARS, _BAR_ENDS, _WAITS = 396.0, 765.0, 855.0
_PITCH, _HEAD = 34.0, 34.0
_NAME, _WAIT = 32, 40
"""Letters of a name and of what a run waits for; longer ones are written smaller."""


def ranking_height(count: int) -> float:
    """Return how high a list of so many runs is, CSS pixels."""
    return _HEAD + _PITCH * count + 8


def leaders(runs: Sequence[Run]) -> list[Run]:
    """Return the fastest of some runs, the fastest first: all that are written with the same number."""
    return [run for run in runs if three_digits(run.busbw_GBps) == three_digits(runs[0].busbw_GBps)]


def draw_ranking(paper: Paper, runs: Sequence[Run], names: Sequence[str], top: float) -> None:
    """Draw runs below each other from a height on; one scale holds for all bars."""
    most = max(run.busbw_GBps for run in runs)
    ends = {three_digits(run.busbw_GBps) for run in (runs[0], runs[-1])}
    for x, head in ((_BARS, "bus bandwidth, GB/s"), (_WAITS, "waits for")):
        paper.text((x, top + 12), head, size=18, ink="muted", align="left")
    for row, (run, name) in enumerate(zip(runs, names, strict=True)):
        y = top + _HEAD + _PITCH * (row + 0.5)
        paper.line([(_LEFT, y - _PITCH / 2), (_RIGHT, y - _PITCH / 2)], "faint", 1)
        # The title is about the fastest and the slowest, as written: they are bold and dark. All are on one path, so none has a colour.
        named = three_digits(run.busbw_GBps) in ends
        letters = min(18, 18 * _NAME / len(name))
        paper.text((_LEFT, y), name, size=letters, bold=named, align="left")
        end = _BARS + (_BAR_ENDS - _BARS) * run.busbw_GBps / most
        paper.box((_BARS, y - 10, end, y + 10), "muted" if named else "gather", radius=3)
        paper.text((end + 10, y), three_digits(run.busbw_GBps), size=18, bold=named, align="left")
        waits = waits_for(run)
        paper.text((_WAITS, y), waits, size=min(18, 18 * _WAIT / len(waits)), align="left")
