"""The times of many seeds of one data path, and what is counted of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from peerlab.features.tails.percentiles import PER_MILLE, Percentile, percentile
from peerlab.model.paths import path_title
from peerlab.question.scenario import Scenario
from peerlab.study.many_runs import nearest_rank


@dataclass(frozen=True, eq=False)
class PathTimes:
    """The runs of one data path."""

    scenario: Scenario
    """What was asked, with its noise; the seed is that of the first run."""
    times_ps: tuple[int, ...]
    """The time of each seed, from the first on; picoseconds."""
    quiet_ps: int
    """The time without any noise."""

    @property
    def title(self) -> str:
        """The data path in words."""
        return path_title(str(self.scenario.path))

    @cached_property
    def ordered_ps(self) -> tuple[int, ...]:
        """The times in ascending order."""
        return tuple(sorted(self.times_ps))

    @property
    def mean_ps(self) -> float:
        """Their mean."""
        return sum(self.times_ps) / len(self.times_ps)

    @cached_property
    def percentiles(self) -> tuple[Percentile, ...]:
        """p50, p90, p99 and p99.9, each with its interval, or with how many runs it lacks."""
        return tuple(percentile(self.ordered_ps, per_mille) for per_mille in PER_MILLE)

    def run_at(self, per_mille: int) -> Scenario:
        """Return the scenario of the run at a percentile, by nearest rank: with its seed, to be simulated, drawn or asked who is to blame.

        1000 is the slowest run. Of a percentile that has too few runs it is the nearest there is.

        >>> path = PathTimes(Scenario(jitter=0.1, seed=7), (30, 10, 20), 9)
        >>> path.run_at(500).seed, path.run_at(1000).seed
        (9, 7)
        """
        return self.scenario.with_(seed=self.scenario.seed + self.place_of(per_mille))

    def place_of(self, per_mille: int) -> int:
        """Return which of the runs is at a percentile: its place among the seeds."""
        return self.times_ps.index(nearest_rank(self.ordered_ps, per_mille / 1000))

    def as_dict(self) -> dict[str, object]:
        """Return the figures, seconds in their names."""
        return {
            "path": self.scenario.path,
            "runs": len(self.times_ps),
            "quiet_s": self.quiet_ps / 1e12,
            "mean_s": self.mean_ps / 1e12,
            **{
                f"{point.name}_s": None
                if point.missing
                else [x / 1e12 for x in (point.value_ps, point.low_ps, point.high_ps)]
                for point in self.percentiles
            },
            **{f"{point.name}_missing": point.missing for point in self.percentiles},
        }


class NamedTime(NamedTuple):
    """A time of a path that the picture names."""

    ps: int
    name: str
    dash: str
    bold: bool = True


def named_times(path_times: PathTimes) -> list[NamedTime]:
    """Return the times of a path that have a line and words, in ascending order."""
    percentiles = [
        # The rarest one lies beyond the axis most of the time: table and words tell it.
        NamedTime(percentile.value_ps, percentile.name, "3 3" if percentile.per_mille > 900 else "")
        for percentile in path_times.percentiles[:3]
        if not percentile.missing
    ]
    return sorted([NamedTime(path_times.quiet_ps, "no noise", "1 3", bold=False), *percentiles])
