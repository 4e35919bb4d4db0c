"""The gain of a training step over batches, as a chart: the batch that is shown marked."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from peerlab.base.units import TIMES_SIGN
from peerlab.features.deck.blocks import paper_without_ground
from peerlab.picture.drawing import Point
from peerlab.picture.scale import linear, logarithmic
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette
from peerlab.training.step_headline import GainAtBatches

_WIDE, _HIGH = 744.0, 470.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, _WIDE - 34, 44.0, _HIGH - 74
_NEAR = 0.45
"""Batches whose logarithms differ by less would be written on each other."""
_STEPS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0)
"""From a line of the axis to the next."""
_MOST_LINES = 5
_BOLD = 13.0
"""How wide a bold letter of 20 pixels is at most."""


_HALF_LETTER = 13.0
"""Half the height of a label, with a little room."""


class _Label(NamedTuple):
    """A gain that is written at its mark."""

    left: float
    right: float
    y: float
    says: str
    align: str
    shown: bool


class _BatchAxes:
    """Where a gain at a batch is; batches are drawn logarithmically."""

    def __init__(self, points: Sequence[Sequence[float]]) -> None:
        # A chart of gains of a few per cent must not look like one of doublings.
        self.most = max(1.1, *(gain for _, gain in points))
        self._across = logarithmic((points[0][0], points[-1][0]), (_LEFT, _RIGHT))
        self.height = linear((1, self.most), (_BOTTOM, _TOP))

    def at(self, batch: float, gain: float) -> Point:
        return self._across(batch), self.height(gain)

    def draw(self, paper: Paper, labels: Sequence[_Label] = ()) -> None:
        """Draw the lines of the axis with their gains; they leave out what is behind a label."""
        # The finest step that keeps to so many lines.
        step = next((spacing for spacing in _STEPS if (self.most - 1) / spacing <= _MOST_LINES), _STEPS[-1])
        for part in range(int((self.most - 1) / step) + 1):
            gain = 1 + step * part
            y, left = self.height(gain), _LEFT
            for label in sorted(label for label in labels if abs(label.y - y) < _HALF_LETTER):
                paper.line([(left, y), (label.left - 6, y)], "faint", 1)
                left = label.right + 6
            paper.line([(left, y), (_RIGHT, y)], "faint", 1)
            paper.text((_LEFT - 8, y), f"{gain:.2f}{TIMES_SIGN}", size=18, ink="muted", align="right")


def batch_chart(batches: GainAtBatches, worth: float) -> str:
    """Draw the gain over batches; the one that is shown has its number unless it is below `worth`."""
    paper, points, here = Paper(palette(PAGE)), batches["points"], batches["here"]
    axes = _BatchAxes(points)
    marks = [
        _marked(axes, batch, gain, points, here=here, worth=worth) for batch, gain in _told(points, here)
    ]
    axes.draw(paper, [label for _, label in marks])
    way = [axes.at(batch, gain) for batch, gain in points]
    paper.area([*way, (way[-1][0], _BOTTOM), (way[0][0], _BOTTOM)], "direct")
    paper.line(way, "direct", 4)
    for batch, _ in points:
        shown = batch == here[0]
        if shown or abs(math.log(batch / here[0])) >= _NEAR:
            paper.text((axes.at(batch, 1)[0], _BOTTOM + 22), f"{batch:g}", size=18, bold=shown)
    for at, label in marks:
        _mark(paper, at, label)
    paper.text((_LEFT, _BOTTOM + 54), batches["unit"], size=18, ink="muted", align="left")
    alt = "Gain of the step over batches. " + ", ".join(f"{batch:g}: {gain:.2f}" for batch, gain in points)
    return paper_without_ground(paper, _WIDE, _HIGH, alt)


def _marked(
    axes: _BatchAxes,
    batch: float,
    gain: float,
    points: Sequence[Sequence[float]],
    *,
    here: Sequence[float],
    worth: float,
) -> tuple[Point, _Label]:
    """Return where a batch is, and the label above it."""
    at, shown, number = axes.at(batch, gain), batch == here[0], f"{gain:.2f}{TIMES_SIGN}"
    says = f"here {number if gain >= worth else ''}".rstrip() if shown else number
    wide = _BOLD * len(says)
    # Where it has no room to the right of its mark, it ends there.
    starts = batch < points[-1][0] and at[0] + 4 + wide < _WIDE
    left = at[0] + 4 if starts else at[0] + 8 - wide
    return at, _Label(left, left + wide, at[1] - 22, says, "left" if starts else "right", shown)


def _mark(paper: Paper, at: Point, label: _Label) -> None:
    """Draw a batch whose gain is written; the one that is shown is filled."""
    fill, line, size = ("direct", "ink", 8) if label.shown else ("box", "direct", 5)
    paper.square(at, size, fill, line, 2.5, radius=8)
    x = label.left if label.align == "left" else label.right
    paper.text((x, label.y), label.says, size=20, bold=True, ink="direct-ink", align=label.align)


def _told(points: Sequence[Sequence[float]], here: Sequence[float]) -> list[Sequence[float]]:
    """Return the batches whose gain is written: the first, the one before the steepest fall, and the one that is shown."""
    falls = [point[1] / other[1] for point, other in pairwise(points)]
    steep = falls.index(max(falls)) if falls else 0
    some = [points[0], points[steep], here]
    return [
        point
        for i, point in enumerate(some)
        if all(abs(math.log(point[0] / other[0])) > _NEAR for other in some[:i])
    ]
