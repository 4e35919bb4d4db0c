"""Who began last, from durations of all ranks without a common clock.

A collective is a barrier for begins: it ends nearly together everywhere, and a rank's duration holds its wait. So who ran shortest began
last; how much later than the first, the longest duration says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from peerlab.base.errors import PeerlabError

EXPLAINS = 0.8
"""Share of the wait that a rank has to explain before it is named."""


@dataclass(frozen=True)
class LateRank:
    """The rank that began last, and what of the wait it explains."""

    rank: int
    lateness_s: float
    """How much later than the first it began, in the mean; seconds."""
    share: float
    """Share of all wait that would be gone had it begun with the last of the others."""
    alike: tuple[int, ...] = ()
    """Ranks that began as late as the last: none of them alone explains the wait."""

    @property
    def named(self) -> bool:
        """Whether it explains enough to be named."""
        return self.share >= EXPLAINS


def late_rank(durations: Mapping[int, Sequence[float]]) -> LateRank:
    """Return the rank that began last, from its durations in the same collectives as the others'; seconds.

    >>> found = late_rank({0: [1.30, 1.31], 1: [1.29, 1.30], 2: [1.0, 1.0], 3: [1.30, 1.30]})
    >>> found.rank, round(found.lateness_s, 3), found.named
    (2, 0.305, True)

    Raises
    ------
    PeerlabError
        If fewer than three ranks have durations, or not equally many.
    """
    counts = {len(duration) for duration in durations.values()}
    if len(durations) < 3 or counts in ({0}, set()):
        raise PeerlabError("late ranks: durations of three ranks or more are needed")
    if len(counts) > 1:
        raise PeerlabError(
            f"late ranks: ranks have {min(counts)} to {max(counts)} collectives; give the same ones of each"
        )
    means = {rank: sum(times) / len(times) for rank, times in durations.items()}
    # Of ranks alike the smaller number, so that the same records name the same rank.
    rank = min(means, key=lambda number: (means[number], number))
    longest = max(means.values())
    # each collective by itself: over many, means of ranks that are late in turn differ by chance alone
    others = list(zip(*(times for other, times in durations.items() if other != rank), strict=True))
    waited = left = 0.0
    for own, rest in zip(durations[rank], others, strict=True):
        least = min(rest)
        # had it begun with the last of the others, their wait for that one would be left
        left += sum(duration - least for duration in rest) + max(0.0, own - least)
        waited += sum(duration - min(own, least) for duration in (own, *rest))
    late = longest - means[rank]
    # Who is late by more than four fifths as much shares the cause.
    alike = tuple(
        other for other, mean in means.items() if other != rank and longest - mean > (1 - 0.2) * late
    )
    return LateRank(rank, late, 1 - left / waited if waited else 0.0, alike if late else ())
