"""Jitter: random factors on service times, drawn beforehand, so that every engine meets the same ones."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Factors = NDArray[np.float64]


def draw(generator: np.random.Generator, sigma: float, shape: tuple[int, ...]) -> Factors:
    """Return lognormal factors of mean 1, in the order of the generator's stream."""
    factors = generator.standard_normal(shape)
    factors *= sigma
    factors -= sigma * sigma / 2
    return np.exp(factors, out=factors)


@lru_cache(maxsize=4)
def factors(seed: int, sigma: float, shape: tuple[int, ...]) -> Factors:
    """Return the factors of a scenario; shape ``(steps, slices, stages, senders)``."""
    found = draw(np.random.default_rng(seed), sigma, shape)
    found.flags.writeable = False
    return found


def slowed(duration_ps: int, factor: float) -> int:
    """Return a service time with its factor, a whole picosecond or more."""
    return max(1, int(np.rint(duration_ps * factor)))
