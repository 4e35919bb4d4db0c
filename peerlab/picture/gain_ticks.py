"""Gains on a logarithmic axis: which it names, once as fast and twice as fast first, and how a range is drawn."""

from collections.abc import Callable

from peerlab.picture.svg import Paper

APART = 50.0
"""Pixels between two names at least."""
_TICKS = (1.0, 2.0, 0.5, 4.0, 8.0, 0.25, 16.0, 32.0, 64.0, 0.1, 1.5, 3.0, 6.0, 12.0, 0.75, 1.25, 1.75, 2.5)
"""The ones that matter most first."""


def gain_ticks(low: float, high: float, at: Callable[[float], float]) -> list[float]:
    """Return the gains from `low` to `high` that have room for their names, in order; `at` answers a gain's place in pixels.

    >>> gain_ticks(0.9, 2.2, lambda gain: 200 * gain)
    [1.0, 1.25, 1.5, 1.75, 2.0]
    >>> gain_ticks(0.9, 9, lambda gain: 30 * gain)
    [1.0, 4.0, 6.0, 8.0]
    """
    values: list[float] = []
    for tick in _TICKS:
        # The ticks are in the order of what matters, so one that has no room gives way.
        if low <= tick <= high and all(abs(at(tick) - at(other)) >= APART for other in values):
            values.append(tick)
    return sorted(values)


SLOWER = ("gather", "muted")
"""Fill and edge of what is slower than today: grey, as orange is a bottleneck or a warning, and amber the host on slides."""


def gain_bar(
    paper: Paper,
    at: Callable[[float], float],
    y: float,
    ends: tuple[float, float],
    role: str,
    half: float = 7,
) -> None:
    """Draw from where to where a gain lies; the part of it that is slower than today is grey."""
    (low, high), (fill, edge) = ends, SLOWER
    left, right = at(low), max(at(high), at(low) + 3)  # a range without width is seen, too
    if low < 1 < high:
        # Beside each other: behind the corners of one would be seen the other.
        paper.box((left, y - half, at(1.0) + 4, y + half), fill, edge, radius=4)
        left = at(1.0)
    if high > 1:
        paper.box((left, y - half, right, y + half), role, radius=4)
    else:
        paper.box((left, y - half, right, y + half), fill, edge, radius=4)
