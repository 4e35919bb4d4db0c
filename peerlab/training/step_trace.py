"""The answer: when each layer was computed, and each exchange with its recording, moved to where it began."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from peerlab.answer.run import Run
from peerlab.training.program import Computing, Exchanging

Interval = tuple[int, int]
"""Begin and end, picoseconds."""


@dataclass(frozen=True, slots=True)
class Computed:
    """An operation of the compute lane."""

    op: Computing
    """What it is."""
    begin_ps: int
    """When it began."""
    end_ps: int
    """When it was over."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An exchange: all its spans are those of its run, `first_ps` later. Where nodes differ, its times are those of the node that is shown."""

    op: Exchanging
    """What it is."""
    run: Run
    """The collective alone."""
    ready_ps: int
    """When the last of what it waits for was computed."""
    begin_ps: int
    """When the stream began with it."""
    apart: "Apart | None" = None
    """When every node began it and was done; None where all do the same."""

    @property
    def end_ps(self) -> int:
        """When it was over."""
        return self.apart.ends[self.apart.shown] if self.apart else self.begin_ps + self.run.time_ps

    @property
    def lasts_ps(self) -> int:
        """How long it was under way."""
        return self.end_ps - self.begin_ps

    @property
    def first_ps(self) -> int:
        """When the first node began with it."""
        return min(self.apart.begins) if self.apart else self.begin_ps


@dataclass(frozen=True, slots=True)
class Apart:
    """An exchange that nodes begin apart, or end apart; picoseconds, by node."""

    begins: tuple[int, ...]
    """When each began it: ready, and done with the one before."""
    ends: tuple[int, ...]
    """When each was done with it."""
    exposed: tuple[int, ...]
    """How long the devices of each waited while it was under way there."""
    shown: int
    """The node whose times a picture shows: the last to end the step."""

    @property
    def last(self) -> tuple[int, ...]:
        """The nodes that began last, for which the others waited; none where all began together."""
        latest = max(self.begins)
        return (
            () if latest == min(self.begins) else tuple(n for n, b in enumerate(self.begins) if b == latest)
        )

    @property
    def waited_ps(self) -> int:
        """How long the first to begin waited for the last, picoseconds."""
        return max(self.begins) - min(self.begins)


@dataclass(frozen=True)
class StepsInARow:
    """Steps without a barrier between them: a node begins the next as soon as its own is over. Picoseconds since all began the first."""

    ends: tuple[tuple[int, ...], ...]
    """When each node ended each step; by step, then by node."""
    repeats: int = 0
    """After how many steps all goes on as before, only later; 0: not in these, as where each step draws noise of its own."""
    steady_from: int = 0
    """The first step of those that repeat, counted from 1."""

    @cached_property
    def lasts(self) -> tuple[int, ...]:
        """By how much each step moved the end of the last node."""
        ends = [0, *map(max, self.ends)]
        return tuple(later - sooner for sooner, later in pairwise(ends))

    @property
    def steady_ps(self) -> int:
        """What a step takes once steps repeat; where they do not, the mean of the second half."""
        return round(Fraction(sum(self.late), len(self.late)))

    @property
    def late(self) -> tuple[int, ...]:
        """What each of those steps takes: one turn of those that repeat, or the second half, which the common begin hardly reaches."""
        return self.lasts[-self.repeats :] if self.repeats else self.lasts[len(self.lasts) // 2 :]


@dataclass(frozen=True)
class StepTrace:
    """One step, from 0 on: of a row the last, from when the node that is shown began it."""

    computed: tuple[Computed, ...]
    """What the compute lane did."""
    placed: tuple[Placed, ...]
    """What the stream did."""
    row: StepsInARow | None = None
    """Those before it and itself; None where it was asked for alone."""
    begins: tuple[int, ...] = ()
    """When each node began it, where nodes of a row differ."""

    @cached_property
    def end_ps(self) -> int:
        """When everything was over."""
        return max(
            [
                0,
                *(computing.end_ps for computing in self.computed),
                *(exchange.end_ps for exchange in self.placed),
            ]
        )

    @property
    def apart(self) -> tuple[Apart, ...]:
        """Of each exchange when every node began it and was done; none where all nodes do the same."""
        return tuple(placed_span.apart for placed_span in self.placed if placed_span.apart)

    @cached_property
    def waits(self) -> tuple[Interval, ...]:
        """When the compute lane had nothing to do: the exposed time."""
        rows, at = [], 0
        for computing in self.computed:
            if computing.begin_ps > at:
                rows.append((at, computing.begin_ps))
            at = max(at, computing.end_ps)
        # The last wait is for exchanges that end after all is computed.
        return tuple([*rows, (at, self.end_ps)] if self.end_ps > at else rows)

    @cached_property
    def exposed_ps(self) -> int:
        """How long the compute lane waited, altogether."""
        return sum(end - begin for begin, end in self.waits)

    def exposed_of(self, placed: Placed) -> int:
        """Return how long the compute lane waited while an exchange was under way, picoseconds."""
        return sum(max(0, min(end, placed.end_ps) - max(begin, placed.begin_ps)) for begin, end in self.waits)
