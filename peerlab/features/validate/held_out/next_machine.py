"""By which factor the next machine misses a band, from how far those that were measured missed theirs."""

import math
import statistics
from collections.abc import Iterable, Mapping


def factor(misses: Mapping[str, Iterable[float]], share: float) -> float:
    """Return the factor that a share of a further machine's times do not exceed; `misses` are the factors of each machine, 1 or more.

    The logarithms of misses are taken as normal about 0, and the next machine as one more of these. Sizes of one machine resemble each other, so
    that each machine counts once, however many sizes it has, by their root mean square; few machines make the factor larger, by Student's t.

    >>> round(factor({"a": [1.0, 1.1], "b": [1.05]}, 0.9), 3), factor({"a": [1.0]}, 0.9)
    (1.189, 1.0)
    """
    # The mean of squares of each machine first: a log of thirty sizes weighs no more than one of three.
    squares = [statistics.fmean(math.log(ratio) ** 2 for ratio in each) for each in misses.values()]
    if not squares:
        return 1.0
    return math.exp(student_t(share, len(squares)) * math.sqrt(statistics.fmean(squares)))


def student_t(share: float, freedom: int) -> float:
    """Return how many times the root mean square of `freedom` numbers a share of further ones of their kind do not exceed, without sign.

    >>> round(student_t(0.9, 6), 3), round(student_t(0.9, 1), 3)
    (1.943, 6.314)
    """
    low, high = 0.0, math.pi / 2
    # Sixty halvings of a right angle are finer than a float.
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, freedom) < share else (low, angle)
    # The upper end of the bracket: rather too wide than too narrow.
    return math.sqrt(freedom) * math.tan(high)


def _within(angle: float, freedom: int) -> float:
    """Return the share between both ends of Student's t whose tangent is `angle` (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    sine, cosine, odd = math.sin(angle), math.cos(angle), freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine**2 * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
