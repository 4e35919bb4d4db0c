"""How many of so many trials succeed, drawn as numpy draws it: by inversion where few are expected, else by rejection (BTPE)."""

from collections.abc import Callable
from math import exp, floor, log, sqrt

_FEW = 30
"""Expected successes up to which the sum of probabilities is walked."""
_NEAR = 20
"""Distances from the most likely number up to which probabilities are multiplied, one by one."""
Share = Callable[[], float]
"""Draws a number from 0 up to 1."""


def binomial(share: Share, trials: int, chance: float) -> int:
    """Return a number of successes."""
    if not trials or not chance:
        return 0
    rarer = chance if chance <= 0.5 else 1.0 - chance
    count = (_walked if rarer * trials <= _FEW else _rejected)(share, trials, rarer)
    return count if rarer == chance else trials - count


def _walked(share: Share, trials: int, chance: float) -> int:
    other, mean = 1.0 - chance, trials * chance
    none = exp(trials * log(other))
    last = int(min(trials, mean + 10.0 * sqrt(mean * other + 1)))
    number, likely, left = 0, none, share()
    while left > likely:
        number += 1
        if number > last:  # beyond ten sigmas: drawn again
            number, likely, left = 0, none, share()
            continue
        left -= likely
        likely = (trials - number + 1) * chance * likely / (number * other)
    return number


def _rejected(share: Share, trials: int, chance: float) -> int:
    """Kachitvichyanukul and Schmeiser (1988): a triangle, two parallelograms and two tails lie above the probabilities."""
    other = 1.0 - chance
    centre = trials * chance + chance
    mode, variance = floor(centre), trials * chance * other
    half = floor(2.195 * sqrt(variance) - 4.6 * other) + 0.5
    middle = mode + 0.5
    left, right = middle - half, middle + half
    edge = 0.134 + 20.5 / (15.3 + mode)
    slope = (centre - left) / (centre - left * chance)
    left_tail = slope * (1.0 + slope / 2.0)
    slope = (right - centre) / (right * other)
    right_tail = slope * (1.0 + slope / 2.0)
    triangle = half
    sides = triangle * (1.0 + 2.0 * edge)
    before = sides + edge / left_tail
    area = before + edge / right_tail
    while True:
        at, height = share() * area, share()
        if at <= triangle:
            return floor(middle - half * height + at)
        if at <= sides:
            x = left + (at - triangle) / edge
            height = height * edge + 1.0 - abs(mode - x + 0.5) / half
            if height > 1.0:
                continue
            number = floor(x)
        elif height == 0.0:
            continue
        elif at <= before:
            number = floor(left + log(height) / left_tail)
            height *= (at - sides) * left_tail
        else:
            number = floor(right - log(height) / right_tail)
            height *= (at - before) * right_tail
        if 0 <= number <= trials and _below(number, height, trials, chance, mode):
            return number


def _below(number: int, height: float, trials: int, chance: float, mode: int) -> bool:
    """Return whether a height lies below the probability of a number, as a share of that of the most likely one."""
    other = 1.0 - chance
    variance, far = trials * chance * other, abs(number - mode)
    if far <= _NEAR or far >= variance / 2.0 - 1:
        odds = chance / other
        scale, ratio = odds * (trials + 1), 1.0
        for step in range(mode + 1, number + 1):
            ratio *= scale / step - odds
        for step in range(number + 1, mode + 1):
            ratio /= scale / step - odds
        return height <= ratio
    # far out: first between two bounds of the normal curve, then by Stirling's series
    spread = (far / variance) * ((far * (far / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5)
    normal, logarithm = -far * far / (2 * variance), log(height)
    if logarithm < normal - spread:
        return True
    if logarithm > normal + spread:
        return False
    x, f, z, w = number + 1, mode + 1, trials + 1 - mode, trials - number + 1
    bound = (
        (mode + 0.5) * log(f / x)
        + (trials - mode + 0.5) * log(z / w)
        + (number - mode) * log(w * chance / (x * other))
        + sum(map(_stirling, (f, z, x, w)))
    )
    return logarithm <= bound


def _stirling(number: float) -> float:
    square = number * number
    return (
        (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / square) / square) / square) / square) / number / 166320.0
    )
