"""A contended fabric: max-min fair rates of flows over links that they share.

A sender has one flow at a time; flows begin and end at whole picoseconds. Between two changes every flow goes at the rate
of progressive filling: all rates grow together until a link is full, its flows keep their rate, the others grow on.
"""

# A contended fabric couples its links. Inside a node the resources of a stage are a chain. Between nodes
# that share links a slice is a flow over the sending NIC, the links and the receiving NIC, at its max-min
# fair rate (`engine/max_min`); the flow is one resource of the chain. Links one after the other would not
# agree with SimGrid where a placement loads links unevenly; flows do. A NIC sends one slice at a time.
# Rates are floats, begins and ends whole picoseconds; a flow whose rate does not change keeps its end, so
# that rounding never adds up. Both engines share the arithmetic (`max_min`); the referee keeps its own
# account of time.

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


def max_min(
    routes: Sequence[tuple[int, ...]], capacities: Mapping[int, float], copies: Mapping[int, int]
) -> list[float]:
    """Return the max-min fair rate of each flow, in the unit of the capacities.

    Parameters
    ----------
    routes:
        The links that each flow takes.
    capacities:
        Of each link.
    copies:
        How many identical flows each flow stands for on a link; 1 where a link is not named.

    >>> max_min([(0,), (0, 1), (1,)], {0: 1.0, 1: 4.0}, {})
    [0.5, 0.5, 3.5]
    """
    rates = [0.0] * len(routes)
    users: dict[int, list[int]] = {}
    for flow, route in enumerate(routes):
        for link in route:
            users.setdefault(link, []).append(flow)
    left = {link: capacities[link] for link in users}
    count = {link: len(flows) * copies.get(link, 1) for link, flows in users.items()}
    growing = set(range(len(routes)))  # flows whose rate is not fixed yet
    while growing:
        # all growing flows have the same rate; the link with the least room per flow is full first
        share = min(left[link] / count[link] for link in left)
        full = [link for link in left if left[link] / count[link] <= share]
        fixed = {flow for link in full for flow in users[link]} & growing
        growing -= fixed
        gone: dict[int, int] = {}
        for flow in fixed:
            rates[flow] = share
            for link in routes[flow]:
                gone[link] = gone.get(link, 0) + copies.get(link, 1)
        for link, number in gone.items():
            left[link] = max(
                left[link] - share * number, 0.0
            )  # rounding may leave a full link just below zero
            count[link] -= number
        left = {link: rest for link, rest in left.items() if count[link]}
    return rates


_MOST_KNOWN = 2000
"""Sets of flows whose rates are remembered; a regular schedule has few."""


@dataclass(eq=False, slots=True)
class Flow:
    """What one slice sends over the fabric."""

    key: int
    """Id of the slice."""
    number: int
    """Which resource of its stage the fabric is."""
    route: tuple[int, ...]
    """Links it takes: indices of resources."""
    left: float
    """Bytes still to go at `since`; at the beginning all (more where jitter slows it down)."""
    since: int = -1
    """When its rate last changed."""
    rate: float = 0.0
    """Bytes per picosecond."""
    end: int = -1
    """When it will end at this rate."""


@dataclass(eq=False)
class Flows:
    """The flows under way over a contended fabric: each sender has one, until it is freed."""

    capacities: dict[int, float] = field(default_factory=dict)
    """By resource: bytes per picosecond."""
    copies: dict[int, int] = field(default_factory=dict)
    """By resource: how many flows each flow stands for."""
    active: dict[int, Flow] = field(default_factory=dict)
    """By sender, those that are not through with their bytes."""
    generation: int = 0
    """Changes whenever the next end may have changed."""
    _has: set[int] = field(default_factory=set)
    _queues: dict[int, deque[Flow]] = field(default_factory=dict)
    _known: dict[tuple[tuple[int, ...], ...], list[float]] = field(default_factory=dict)

    def arrive(self, now: int, sender: int, flow: Flow) -> int:
        """Take a flow; return when it begins, or -1 where its sender has another."""
        if sender in self._has:
            self._queues.setdefault(sender, deque()).append(flow)
            return -1
        self._has.add(sender)
        return self._begin(now, sender, flow)

    def _begin(self, now: int, sender: int, flow: Flow) -> int:
        flow.since = now
        self.active[sender] = flow
        self.generation += 1
        return now

    def free(self, now: int, sender: int) -> tuple[int, int] | None:
        """Take the flow of a sender away; of the one that has waited, return slice id and when it begins."""
        queue = self._queues.get(sender)
        if queue:
            flow = queue.popleft()
            return flow.key, self._begin(now, sender, flow)
        self._has.remove(sender)
        return None

    def settle(self, now: int) -> int:
        """Share the links out anew, once everything of this instant is known; return when the next flow ends."""
        order = sorted(self.active)  # equal sets of flows have equal keys in `_known`
        flows = [self.active[sender] for sender in order]
        routes = tuple(flow.route for flow in flows)
        if routes not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self._known[routes] = max_min(routes, self.capacities, self.copies)
        for flow, rate in zip(flows, self._known[routes], strict=True):
            # a flow whose rate stays keeps its end: to compute it anew would let rounding add up
            if rate != flow.rate:
                flow.left -= flow.rate * (now - flow.since)
                flow.rate, flow.since = rate, now
                flow.end = now + max(1, math.ceil(flow.left / rate))
        return min(flow.end for flow in flows)

    def finish(self, now: int) -> list[tuple[int, int]]:
        """Return slice id and number of the flows whose bytes are sent `now`."""
        self.generation += 1
        ended = [sender for sender, flow in self.active.items() if flow.end == now]
        flows = [self.active.pop(sender) for sender in ended]
        return [(flow.key, flow.number) for flow in flows]

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return what decides about the future, relative to `now` and slice id `base`."""
        active = [
            (sender, f.key - base, f.left, f.rate, f.since - now, f.end - now)
            for sender, f in sorted(self.active.items())
        ]
        waiting = [
            (sender, tuple(f.key - base for f in queue))
            for sender, queue in sorted(self._queues.items())
            if queue
        ]
        return (*active, None, *sorted(self._has), None, *waiting)
