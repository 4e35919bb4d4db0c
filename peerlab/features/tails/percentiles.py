"""Percentiles of runs by nearest rank, each with its binomial interval, and only where there are runs enough to speak of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log

import numpy as np

PER_MILLE = (500, 900, 990, 999)
"""The percentiles that are told: p50, p90, p99 and p99.9."""
_BEYOND = 10
"""So many runs have to lie beyond a percentile, in the mean, before it is told."""
_OUTSIDE = 0.025
"""Probability that what is true lies below the interval, and that it lies above."""


def name_of(per_mille: int) -> str:
    """Return what a percentile is called.

    >>> name_of(500), name_of(999)
    ('p50', 'p99.9')
    """
    return f"p{per_mille / 10:g}"


def runs_needed(per_mille: int) -> int:
    """Return how many runs a percentile needs.

    >>> [runs_needed(one) for one in PER_MILLE]
    [20, 100, 1000, 10000]
    """
    # In whole numbers: a share of 0.999 is no exact float.
    return -(-_BEYOND * 1000 // (1000 - per_mille))


@dataclass(frozen=True)
class Percentile:
    """A percentile of some runs."""

    per_mille: int
    """Which: 990 is p99."""
    missing: int
    """How many runs are missing before it can be told; 0: it is told."""
    value_ps: int = 0
    """Picoseconds, by nearest rank."""
    low_ps: int = 0
    """From where its 95 % interval goes."""
    high_ps: int = 0
    """To where."""

    @property
    def name(self) -> str:
        """What it is called."""
        return name_of(self.per_mille)


def percentile(ordered: Sequence[int], per_mille: int) -> Percentile:
    """Return a percentile of times in ascending order, picoseconds.

    >>> percentile(range(1, 1001), 990)
    Percentile(per_mille=990, missing=0, value_ps=990, low_ps=983, high_ps=997)
    >>> percentile([3, 4, 5], 500).missing
    17
    """
    count = len(ordered)
    missing = max(0, runs_needed(per_mille) - count)
    if missing:
        return Percentile(per_mille, missing)
    low, high = _ranks(count, per_mille / 1000)
    # Nearest rank, rounded up: a percentile is a run that there was, never one between two.
    rank = -(-count * per_mille // 1000)
    return Percentile(per_mille, 0, *(int(ordered[place - 1]) for place in (rank, low, high)))


def _ranks(count: int, share: float) -> tuple[int, int]:
    """Return the ranks, from 1, between which a percentile lies with 95 %: how many runs lie below it is binomial."""
    below = np.arange(count + 1)
    # Logarithms of factorials: 10,000 factorial is far beyond a float.
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    chance = np.exp(
        lgamma(count + 1) - logs - logs[::-1] + below * log(share) + (count - below) * log(1 - share)
    )
    upto = np.cumsum(chance)
    low, high = (int(np.searchsorted(upto, at)) for at in (_OUTSIDE, 1 - _OUTSIDE))
    # Ranks count from 1; beyond the first and the last run nothing is known.
    return max(1, low), min(count, high + 1)


def lacking(percentile: Percentile) -> str:
    """Return how many runs a percentile needs before it is told.

    >>> lacking(Percentile(500, 1)), lacking(Percentile(999, 9900))
    ('p50 needs 1 more run', 'p99.9 needs 9,900 more runs')
    """
    return f"{percentile.name} needs {percentile.missing:,} more run{'s' * (percentile.missing > 1)}"
