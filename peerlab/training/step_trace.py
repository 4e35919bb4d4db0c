"""The answer: when each layer was computed, and each exchange with its recording, moved to where it began."""

from dataclasses import dataclass
from functools import cached_property

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
    """An exchange: all its spans are those of its run, `begin_ps` later."""

    op: Exchanging
    """What it is."""
    run: Run
    """The collective alone."""
    ready_ps: int
    """When the last of what it waits for was computed."""
    begin_ps: int
    """When the stream began with it."""

    @property
    def end_ps(self) -> int:
        """When it was over."""
        return self.begin_ps + self.run.time_ps


@dataclass(frozen=True)
class StepTrace:
    """One step, from 0 on."""

    computed: tuple[Computed, ...]
    """What the compute lane did."""
    placed: tuple[Placed, ...]
    """What the stream did."""

    @cached_property
    def end_ps(self) -> int:
        """When everything was over."""
        return max(
            [0, *(one.end_ps for one in self.computed), *(exchange.end_ps for exchange in self.placed)]
        )

    @cached_property
    def waits(self) -> tuple[Interval, ...]:
        """When the compute lane had nothing to do: the exposed time."""
        found, at = [], 0
        for one in self.computed:
            if one.begin_ps > at:
                found.append((at, one.begin_ps))
            at = max(at, one.end_ps)
        return tuple([*found, (at, self.end_ps)] if self.end_ps > at else found)

    @cached_property
    def exposed_ps(self) -> int:
        """How long the compute lane waited, altogether."""
        return sum(end - begin for begin, end in self.waits)

    def exposed_of(self, placed: Placed) -> int:
        """Return how long the compute lane waited while an exchange was under way, picoseconds."""
        return sum(max(0, min(end, placed.end_ps) - max(begin, placed.begin_ps)) for begin, end in self.waits)
