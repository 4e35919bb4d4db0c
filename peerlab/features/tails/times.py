"""The times of many seeds of one data path, and what is counted of them."""

from dataclasses import dataclass
from functools import cached_property

from peerlab.features.tails.percentiles import PER_MILLE, Percentile, percentile
from peerlab.model.paths import path_title
from peerlab.question.scenario import Scenario


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
