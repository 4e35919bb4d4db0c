"""The size of a healthy log that comes closest to its floor: a sentence is about it, and the picture names it where nothing is in the way."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from peerlab.features.expect.expectation import figure
from peerlab.picture.scale import Scale

Row = Mapping[str, Any]
Way = Sequence[tuple[float, float]]
"""What a line is drawn through, from left to right: sizes and rates, or places in pixels."""
_LETTER, _HIGH = 8, 13
"""What a letter of its name takes at most, pixels."""
_BESIDE = 11
"""From a point or its floor to the nearer edge of the name, pixels: no point touches it."""
_AIR = 5
"""From the name to any line, pixels, at least."""


class LabelBox(NamedTuple):
    """The edges within which lines are drawn, pixels."""

    left: float
    right: float
    top: float
    bottom: float


def closest_row(rows: Sequence[Row]) -> Row | None:
    """Return the row whose measured rate is the least above its floor, as a ratio."""
    known = [row for row in rows if row["floor"] and row["measured"] > 0]
    return min(known, key=lambda row: row["measured"] / row["floor"], default=None)


def closest_label(row: Row, across: Scale, up: Scale, ways: Sequence[Way], place: LabelBox) -> str:
    """Return what that size reaches and its floor as a text of the picture; empty where it would lie on a line through these sizes and rates."""
    drawn = [[(across(size), up(GBps)) for size, GBps in way] for way in ways]
    says = f"{figure(row['measured'])}, floor {figure(row['floor'])}"
    x, above, below = across(row["size"]), up(row["measured"]), up(row["floor"])
    long = _LETTER * len(says)
    for top in (below + _BESIDE, above - _BESIDE - _HIGH):
        for left, anchor in ((x, "start"), (x - long, "end"), (x - long / 2, "middle")):
            box = LabelBox(left, left + long, top, top + _HIGH)
            inside = box.left >= place.left and box.right <= place.right
            if inside and box.top >= place.top and box.bottom <= place.bottom and _is_free(box, drawn):
                return f"<text class='pl-closest' x='{x:.1f}' y='{box.bottom - 2:.1f}' text-anchor='{anchor}' fill='var(--pl-ink)'>{says}</text>"
    return ""


def _is_free(box: LabelBox, ways: Sequence[Way]) -> bool:
    """Return whether every line passes above or below."""
    for way in filter(None, ways):
        ys = [_height(way, x) for x in (box.left, box.right)]
        ys += [y for x, y in way if box.left < x < box.right]
        if min(ys) < box.bottom + _AIR and max(ys) > box.top - _AIR:
            return False
    return True


def _height(way: Way, x: float) -> float:
    """Return how high a line is at `x`; beyond an end it is as high as there."""
    place = bisect_left([at for at, _ in way], x)
    if place in (0, len(way)):
        return way[min(place, len(way) - 1)][1]
    (before, y), (after, then) = way[place - 1 : place + 1]
    return y + (then - y) * (x - before) / (after - before)
