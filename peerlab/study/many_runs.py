"""Many runs of a scenario with noise: their times in ascending order, and the time without noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from peerlab.engine.arrays.many_seeds import times_of_seeds
from peerlab.engine.simulate import simulate
from peerlab.model.noise import NOISE_KINDS
from peerlab.question.scenario import Scenario


@dataclass(frozen=True)
class ManyRuns:
    """The times of the seeds 0, 1, 2, ... of one scenario."""

    ordered_ps: tuple[int, ...]
    """In ascending order."""
    quiet_ps: int
    """The time without any noise."""

    @property
    def mean_ps(self) -> float:
        """Their mean."""
        return sum(self.ordered_ps) / len(self.ordered_ps)

    def at(self, share: float) -> float:
        """Return the time at a share of the runs, by nearest rank."""
        return nearest_rank(self.ordered_ps, share)


@lru_cache(maxsize=16)
def many_runs(scenario: Scenario, seeds: int) -> ManyRuns:
    """Return the times of so many seeds.

    >>> runs = many_runs(Scenario(cluster="ideal-100g", dependency="step", jitter=0.2), 100)
    >>> round(runs.at(0.5) / runs.quiet_ps, 2)
    1.23
    """
    return ManyRuns(tuple(sorted(times_of_seeds(scenario, range(seeds)))), quiet_ps(scenario))


def quiet_ps(s: Scenario) -> int:
    """Return how long a scenario takes without noise."""
    # Every kind is off, whichever the scenario has.
    return simulate(s.with_(**dict.fromkeys(NOISE_KINDS, 0.0))).time_ps


def nearest_rank(ordered: Sequence[float], share: float) -> float:
    """Return the value at a share of ascending values, by nearest rank.

    >>> nearest_rank([1, 2, 3, 4], 0.5)
    2
    """
    return ordered[max(0, ceil(share * len(ordered)) - 1)]
