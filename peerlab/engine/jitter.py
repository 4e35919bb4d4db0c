"""Jitter: random factors on service times, drawn beforehand, so that every engine meets the same ones."""

# Jitter is drawn beforehand (`engine/jitter`), one factor per slice and stage on the way between nodes,
# from one stream per seed; every engine looks up the same one. The exchange inside a node and registration
# keep their times: jitter stands for what makes a node late on the network.

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod

from peerlab.base.numbers import NDArray, np

Factors = NDArray[np.float64]

_MOST_DRAWS = 4_000_000
"""Factors held at a time: 32 MB."""


def draw(generator: np.random.Generator, sigma: float, shape: tuple[int, ...]) -> Factors:
    """Return lognormal factors of mean 1, in the order of the generator's stream."""
    factors = generator.standard_normal(shape)
    factors *= sigma
    factors -= sigma * sigma / 2  # exp(N(-s^2/2, s^2)) has mean 1: jitter makes no scenario slower on average
    return np.exp(factors, out=factors)


@lru_cache(maxsize=4)
def factors(seed: int, sigma: float, shape: tuple[int, ...]) -> Factors:
    """Return the factors of a scenario; shape ``(steps, slices, stages, senders)``."""
    values = draw(np.random.default_rng(seed), sigma, shape)
    values.flags.writeable = False  # the cache hands the same array to every engine
    return values


def side_by_side(
    seeds: Sequence[int], sigmas: Sequence[float], steps: int, shape: tuple[int, ...]
) -> Iterator[Factors | None]:
    """Yield for every step the factors of several runs, shape ``(runs, *shape)``; None where no run has jitter."""
    if not any(sigmas):
        yield from [None] * steps
        return
    generators = [np.random.default_rng(seed) for seed in seeds]
    at_once = max(1, min(steps, _MOST_DRAWS // (len(seeds) * prod(shape))))
    for first in range(0, steps, at_once):
        # each run draws from its own stream, in the order of a run by itself, so that cutting into parts changes nothing
        count = min(at_once, steps - first)
        drawn = np.empty((len(generators), count, *shape))
        for index, (generator, sigma) in enumerate(zip(generators, sigmas, strict=True)):
            drawn[index] = draw(generator, sigma, (count, *shape)) if sigma else 1.0
        for step in range(count):
            yield drawn[:, step]


def all_slowed(durations: NDArray[np.int64], factors: Factors) -> NDArray[np.int64]:
    """Return many service times with their factors, as `slowed` returns each, so that they equal the referee's to the picosecond."""
    return np.maximum(np.rint(durations * factors), 1).astype(np.int64)


def slowed(duration_ps: int, factor: float) -> int:
    """Return a service time with its factor, a whole picosecond or more."""
    return max(1, round(duration_ps * factor))  # as np.rint: a half goes to the even one
