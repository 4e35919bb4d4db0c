"""Charts of a deck as SVG: few marks and large words, readable from the last row."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.answer.sensitivity import Band
from peerlab.features.deck.blocks import key, paper_without_ground
from peerlab.picture.drawing import Point
from peerlab.picture.scale import apart, linear, logarithmic
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette

WIDTH, HEIGHT = 1144, 490
"""Size of a chart on a card; a unit is a pixel of a slide of 1280 x 720."""
ON_CARD = 1144.0
"""Width of a drawing on a card of all columns."""
_NAMED, _APART = 330.0, 14.0
"""Where bars begin, and how far groups of them stand apart."""
_SIZE = 20
"""Height of words."""
_BOLD = 13.0
"""About how wide a bold letter is."""


@dataclass(frozen=True)
class Curve:
    """A line of a chart."""

    name: str
    """Stands at its end."""
    role: str
    """Role of its colour."""
    ink: str
    """Role of its name's colour."""
    bands: tuple[Band, ...]
    """A value with its band for each place on the axis, GB/s."""


@dataclass(frozen=True)
class Part:
    """A piece of a bar."""

    value: float
    """How long it is, in the chart's unit."""
    role: str
    """Role of its colour."""
    name: str = ""
    """What it is; the same names and roles share an entry of the key."""


@dataclass(frozen=True)
class Bar:
    """A bar of one or more parts."""

    name: str
    """Stands before it."""
    parts: tuple[Part, ...]
    """From left to right."""
    says: str
    """Stands behind it, with its unit."""
    group: str = ""
    """What it is about with those beside it: said once, before them."""


@dataclass(frozen=True)
class _Axes:
    """Where values are in a chart of bus bandwidth over places, which are drawn logarithmically."""

    places: Sequence[int]
    highest: float
    right: float
    left: float = 70.0
    top: float = 40.0
    bottom: float = HEIGHT - 70.0

    def at(self, place: int, value: float) -> Point:
        across = logarithmic((self.places[0], self.places[-1]), (self.left, self.right))
        up = linear((0, self.highest), (self.bottom, self.top))
        return across(place), up(value)

    def draw(self, paper: Paper, axis: str) -> None:
        for quarter in range(5):
            value = self.highest * quarter / 4
            _, y = self.at(self.places[0], value)
            paper.line([(self.left, y), (self.right, y)], "faint", 1)
            paper.text((self.left - 10, y), f"{value:g}", size=_SIZE, ink="muted", align="right")
        paper.text((self.left, self.top - 26), "bus bandwidth, GB/s", size=_SIZE, ink="muted", align="left")
        for place in self.places:
            paper.text((self.at(place, 0)[0], self.bottom + 22), str(place), size=_SIZE, ink="muted")
        paper.text(((self.left + self.right) / 2, self.bottom + 52), axis, size=_SIZE, ink="muted")


def curves(places: Sequence[int], lines: Sequence[Curve], axis: str, alt: str) -> str:
    """Return bus bandwidth over `places` as SVG, each line with its band and its name."""
    paper = Paper(palette(PAGE))
    # Names stand at the ends of lines, so the longest decides how much room is left.
    names = _BOLD * max(len(line.name) for line in lines)
    highest = _round_up(max(band.high_GBps for line in lines for band in line.bands))
    axes = _Axes(places, highest, WIDTH - 20.0 - names)
    axes.draw(paper, axis)
    # All bands before any line: none covers another one's line.
    for number, line in enumerate(lines):
        upper = [axes.at(place, band.high_GBps) for place, band in zip(places, line.bands, strict=True)]
        lower = [axes.at(place, band.low_GBps) for place, band in zip(places, line.bands, strict=True)]
        if number:  # one band is filled, the others are outlines: two colours over each other are a third
            for edge in (upper, lower):
                paper.line(edge, line.role, 2, "6 5")
        else:
            paper.area([*upper, *lower[::-1]], line.role)
    ends = []
    for line in lines:
        points = [axes.at(place, band.value_GBps) for place, band in zip(places, line.bands, strict=True)]
        paper.line(points, line.role, 4)
        ends.append(points[-1][1])
    for line, height in zip(lines, apart(ends, 1.3 * _SIZE, axes.bottom), strict=True):
        paper.text((axes.right + 12, height), line.name, size=_SIZE, bold=True, ink=line.ink, align="left")
    return paper_without_ground(paper, WIDTH, HEIGHT, alt)


def bars(
    rows: Sequence[Bar], alt: str, *, full: float | None = None, pitch: float = 46.0, left: float = _NAMED
) -> str:
    """Return bars below each other as SVG for a card, from `left` on, as long as `full` allows (default: the longest of them), with a key."""
    paper = Paper(palette(PAGE))
    room = ON_CARD - left - 24 - _BOLD * max(len(row.says) for row in rows)
    full = full or max(sum(part.value for part in row.parts) for row in rows)
    thick, top, before = 0.36 * pitch, 0.0, ""
    for row in rows:
        if row.group and row.group != before:  # its bars stand closer to each other than to the next group
            top += _APART * bool(before)
            before = row.group
            paper.text((0, top + pitch / 2), row.group, size=_SIZE, bold=True, align="left")
        x, y = left, top + pitch / 2
        paper.text(
            (left - 16 if row.group else 0, y), row.name, size=_SIZE, align="right" if row.group else "left"
        )
        for part in row.parts:
            long = room * part.value / full
            paper.box((x, y - thick, x + long, y + thick), part.role)
            x += long
        if x == left:  # nothing is no bar, so a dot says that it is not forgotten
            paper.square((x + 5, y), 5, "box", "edge", 2, radius=5)
            x += 10
        paper.text((x + 10, y), row.says, size=_SIZE, bold=True, align="left")
        top += pitch
    entries = dict.fromkeys((part.role, part.name) for row in rows for part in row.parts if part.name)
    return paper_without_ground(paper, ON_CARD, top, alt) + key(*entries)


def _round_up(value: float) -> float:
    """Return the next value whose quarters are round numbers.

    >>> _round_up(83), _round_up(4.1)
    (100.0, 6.0)
    """
    step = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    return next(factor * step for factor in (1, 2, 4, 6, 8, 10) if factor * step >= value)
