"""One step of a profiler's trace, and what its device did."""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from peerlab.records.kineto import TracedKernel, TraceEvents
from peerlab.training.closed_forms import exposed

Times = NDArray[np.float64]
"""Microseconds as the trace counts them."""
ADDS = "allreduce"
"""The collective that sums gradients."""
_US_PER_MS = 1000.0
_LATE = 0.01
"""From which share of a step on an exchange that begins late makes a replay bad."""
_EXPOSED = 0.01
"""From which share of a step on, the two exposed times differing makes a replay bad."""


@dataclass(frozen=True)
class ProfiledExchange:
    """An exchange of gradients, milliseconds from the beginning of its step."""

    kernel: TracedKernel
    """As traced."""
    ready_ms: float
    """When all that had been launched before it was computed."""
    begin_ms: float
    """When it began."""
    end_ms: float
    """When it was through."""


@dataclass(frozen=True)
class ProfiledStep:
    """One step as the profiler saw it, milliseconds from its beginning."""

    number: int
    """As the profiler counts."""
    time_ms: float
    """The whole step."""
    backward_ms: float
    """When backward began."""
    computed_ms: float
    """When the last of backward was computed."""
    exchanges: tuple[ProfiledExchange, ...]
    """Of gradients, in order."""

    @property
    def exposed_ms(self) -> float:
        """How long the optimizer waited for the last exchange, as recorded."""
        return max(0.0, self.exchanges[-1].end_ms - self.computed_ms) if self.exchanges else 0.0

    @property
    def rest_ms(self) -> float:
        """What follows the last exchange, or backward: the optimizer, and all else."""
        return self.time_ms - max([self.computed_ms, *(exchange.end_ms for exchange in self.exchanges[-1:])])

    @cached_property
    def replayed(self) -> tuple[float, ...]:
        """When each exchange begins by the rule: when it is ready and the one before it is through; each takes what it took."""
        begins, free = [], 0.0
        for profiled_exchange in self.exchanges:
            begins.append(max(profiled_exchange.ready_ms, free))
            free = begins[-1] + profiled_exchange.end_ms - profiled_exchange.begin_ms
        return tuple(begins)

    @property
    def late_ms(self) -> float:
        """How much later or earlier than by the rule an exchange began, at most."""
        return max(
            (
                abs(exchange.begin_ms - rule)
                for exchange, rule in zip(self.exchanges, self.replayed, strict=True)
            ),
            default=0.0,
        )

    @property
    def replayed_exposed_ms(self) -> float:
        """The exposed time by the rule."""
        ready = [exchange.ready_ms for exchange in self.exchanges]
        return exposed(
            ready, [exchange.end_ms - exchange.begin_ms for exchange in self.exchanges], self.computed_ms
        )

    @property
    def replayed_ms(self) -> float:
        """The whole step by the rule."""
        return self.computed_ms + self.replayed_exposed_ms + self.rest_ms

    @property
    def verdict(self) -> str:
        """``good``, or ``bad``: the rule does not explain when exchanges began, or how long they were seen."""
        off = abs(self.replayed_exposed_ms - self.exposed_ms)
        return "bad" if self.late_ms > _LATE * self.time_ms or off > _EXPOSED * self.time_ms else "good"


def _launched(events: TraceEvents, begins: Times) -> Times:
    """Return when the host launched each kernel, copy and fill; where the trace does not say it, when it began."""
    numbers, values = np.array(events.launch_of), np.array(events.correlations)
    if not len(numbers):
        return begins
    order = np.argsort(numbers, kind="stable")
    # A number beyond all is looked up at the last place, where it does not match.
    place = np.minimum(np.searchsorted(numbers[order], values), len(numbers) - 1)
    return np.where(numbers[order][place] == values, np.array(events.launch_at)[order][place], begins)


class DeviceEvents:
    """What one device did, in the order in which the host launched it."""

    def __init__(self, events: TraceEvents) -> None:
        begins, ends = np.array(events.begins), np.array(events.ends)
        launched = _launched(events, begins)
        order = np.argsort(launched, kind="stable")
        # Launched in order, done in any: the latest end so far is when all of them are through.
        self.launched, self.through = launched[order], np.maximum.accumulate(ends[order])
        # Copies and fills may hold an exchange up, but are no computing.
        kernels_only = np.array(events.computes, dtype=bool)
        begins, ends = begins[kernels_only], ends[kernels_only]
        order = np.argsort(begins, kind="stable")
        self.begun, self.computed = begins[order], np.maximum.accumulate(ends[order])
        self.backward = np.sort(np.array(events.backward))

    def ready(self, asked: float) -> float:
        """Return when all that was launched before is through."""
        place = np.searchsorted(self.launched, asked)
        return max(asked, float(self.through[place - 1])) if place else asked

    def step(self, marked: tuple[int, float, float], every: list[TracedKernel]) -> ProfiledStep | None:
        """Return a step; None where it exchanged no gradients."""
        number, begin, end = marked
        # `kernels` sorts them by when they begin.
        first, last = (bisect_left(every, at, key=lambda kernel: kernel.begin) for at in (begin, end))
        # A trace may leave out what a collective is; in data-parallel training it adds gradients.
        mine = [
            traced_kernel for traced_kernel in every[first:last] if traced_kernel.collective in (ADDS, "")
        ]
        if not mine:
            return None

        def ms(at: float) -> float:
            return (at - begin) / _US_PER_MS

        profiled_exchanges = tuple(
            ProfiledExchange(
                traced_kernel,
                ms(self.ready(traced_kernel.asked)),
                ms(traced_kernel.begin),
                ms(traced_kernel.end),
            )
            for traced_kernel in mine
        )
        # What begins after the last exchange has ended is the optimizer's.
        through = np.searchsorted(self.begun, mine[-1].end)
        computed = float(self.computed[through - 1]) if through else begin
        went = np.searchsorted(self.backward, begin)
        backward = float(self.backward[went]) if went < len(self.backward) else mine[0].asked
        # The first mark from here on may be the next step's: so backward begins before the first exchange.
        backward = min(max(backward, begin), mine[0].asked, computed)
        return ProfiledStep(number, ms(end), ms(backward), ms(max(computed, begin)), profiled_exchanges)
