"""Where the values of a chart lie: scales, their round ticks, and names kept apart. `Paper` (`picture/svg`) draws at these places."""

import math
from collections.abc import Callable, Sequence

Scale = Callable[[float], float]
"""Answers where a value lies, in pixels."""
Span = tuple[float, float]


def linear(values: Span, pixels: Span) -> Scale:
    """Return a scale on which equal steps of value are equally wide.

    >>> linear((0, 8), (100, 500))(2)
    200.0
    """
    (low, high), (start, end) = values, pixels
    wide = (high - low) or 1.0  # one value alone lies at the start
    return lambda value: start + (end - start) * (value - low) / wide


def logarithmic(values: Span, pixels: Span) -> Scale:
    """Return a scale on which equal ratios of value are equally wide.

    >>> round(logarithmic((1, 16), (0, 400))(2), 9)
    100.0
    """
    place = linear((math.log2(values[0]), math.log2(values[1])), pixels)
    return lambda value: place(math.log2(value))


def round_step(span: float, most: int) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten of which at most `most` make `span`.

    >>> round_step(83, 8), round_step(0.31, 9)
    (20.0, 0.05)
    """
    tens = 10.0 ** math.floor(math.log10(span / most)) if span > 0 else 1.0
    return next(step for step in (tens, 2 * tens, 5 * tens, 10 * tens, 20 * tens) if span / step <= most)


def multiples(step: float, low: float, high: float) -> list[float]:
    """Return the multiples of a step from `low` to `high`.

    >>> multiples(20, 3.2, 82.3), multiples(0.5, 1.2, 1.8)
    ([20, 40, 60, 80], [1.5])
    """
    # Whole numbers of steps: steps such as 0.1, added up, drift.
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def apart(places: Sequence[float], least: float, most: float = math.inf) -> list[float]:
    """Return places at which no name touches another: each that would moves on, in the order of where they were; none beyond `most`.

    >>> apart([10, 50, 12], 14), apart([10, 50, 48], 14, most=50)
    ([10, 50, 24], [10, 50, 36])
    """
    moved, last = list(places), -math.inf
    order = sorted(range(len(moved)), key=lambda index: moved[index])
    for index in order:
        moved[index] = last = max(moved[index], last + least)
    # what was moved beyond the end goes back, and pushes those before it
    for index in reversed(order):
        moved[index] = most = min(moved[index], most)
        most -= least
    return moved
