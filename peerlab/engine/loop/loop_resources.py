"""The loop's resources: those that have one slice at a time, shared ones, and a contended fabric."""

from collections import deque
from collections.abc import Collection, Sequence
from heapq import heappush

from peerlab.answer.trace import Resource
from peerlab.base.units import PS_PER_S
from peerlab.engine.legs import Flight, Leg, Visit
from peerlab.engine.max_min import Flow, Flows
from peerlab.engine.processor_sharing import FairShare, new_job

STAGE_OVER, ARRIVES, THROUGH, READY, GATED, POSTED, ALARM, GIVEN, BEGUN, ENTERS = range(10)
"""Kinds of entries of the loop's heap; those behind the alarm are there only where nodes begin apart."""
FABRIC = -1
"""In place of a resource's index: the alarm of the fabric."""

Heap = list[tuple[int, int, int, int]]
"""``(time, what it is about, slice, transfer or resource, generation of an alarm)``."""
Rows = list[tuple[int, int, int, int, int, int, int, int]]
"""``(slice id, stage, resource, queued, start, end, bytes, work)``."""


class Chain:
    """A slice on its way through the resources of one stage."""

    __slots__ = ("leg", "place", "queued", "ready", "slice_id", "starts", "through", "worked")

    def __init__(self, slice_id: int, place: int, leg: Leg) -> None:
        self.slice_id, self.place, self.leg = slice_id, place, leg
        self.queued: list[int] = []
        """When it arrived at each resource."""
        self.starts: list[int] = []
        """When each has begun, or will."""
        self.through = 0
        """How many are through with it, or will be at a time that is known."""
        self.ready = 0
        """When the last of those is, the latency behind it included."""
        self.worked = 0
        """Bits of the shared resources whose own work is done."""

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return what later rows depend on, relative to `now` and slice id `base`."""
        left = self.through
        return (
            self.slice_id - base,
            left,
            max(self.ready - now, 0),
            self.worked,
            tuple(moment - now for moment in self.queued[left:]),
            tuple(start - now for start in self.starts[left:]),
        )


class Serving:
    """Lets resources take slices, writes a row when one is through, and puts on the heap what follows.

    Where all resources upstream are known to be through at some time, an exclusive resource is known to be through when it begins; then
    nothing waits for an event. Behind a shared resource that is not so: such a resource is *held* until an event frees it.
    """

    def __init__(self, lanes: int, heap: Heap, rows: Rows, in_order: Collection[int] = ()) -> None:
        self._lanes, self._heap, self._rows = lanes, heap, rows
        self._in_order = in_order
        """Exclusive resources whose slices all come from one other, in its order: their begin is known with that one's."""
        self.free: list[int] = []
        """By resource: when it is through with everything that it has taken, as far as that is known."""
        self.chains: dict[int, Chain] = {}
        """By slice: those that are in a stage."""
        self.arriving: list[tuple[int, Chain]] = []
        """Slices that arrive at a resource in this instant, by their place in the order of taking them."""
        self.changed: set[int] = set()
        """Shared resources (and `FABRIC`) whose next end may have changed in this instant."""
        self.freed: list[Visit] = []
        """Visits whose resource became free in this instant: the next slice gets it when the instant ends."""
        self._held: set[int] = set()
        """Exclusive resources that have begun, whose end only an event tells."""
        self._idle: dict[int, int] = {}
        """Of resources with several servers: how many of them are free."""
        self._waiting: dict[int, deque[Chain]] = {}
        """Slices in front of a held resource, or of one whose servers are all busy."""
        self._fair: dict[int, FairShare] = {}
        """Shared resources."""
        self._flows = Flows()
        """The contended fabric, which has all its links together."""

    def meet(self, resources: Sequence[Resource]) -> None:
        """Add the resources that the system has made since the last call."""
        for index in range(len(self.free), len(resources)):
            resource = resources[index]
            self.free.append(0)
            if resource.servers > 1:
                self._idle[index] = resource.servers
            if resource.shared:
                self._fair[index] = FairShare(resource.copies)
            self._flows.capacities[index] = resource.capacity_Bps / PS_PER_S
            self._flows.copies[index] = resource.copies

    def enter(self, slice_id: int, leg: Leg) -> None:
        """Let a slice begin with a stage: it arrives at its first resource in this instant."""
        # Who is taken first in an instant: the lower step, then the lower slice, then the lower lane. Steps and slices count twice, so that there is
        # room between two for what a node receives, which it serves behind what it sends itself (`visit.behind`).
        chain = Chain(slice_id, slice_id // self._lanes * self._lanes + slice_id, leg)
        self.chains[slice_id] = chain
        self._arrives(chain)

    def _arrives(self, chain: Chain) -> None:
        visit = chain.leg.visits[len(chain.starts)]
        self.arriving.append((chain.place + self._lanes if visit.behind else chain.place, chain))

    def arrives(self, _now: int, slice_id: int) -> None:
        """Let a slice arrive at the next resource of its stage."""
        self._arrives(self.chains[slice_id])

    def leave(self, slice_id: int) -> None:
        """Forget a slice whose stage is over."""
        del self.chains[slice_id]

    # ---- the end of an instant ---------------------------------------------------------------------------------

    def take(self, now: int) -> None:
        """Let free resources begin with those that have waited, then with what arrives, lowest key first, round by round."""
        # Who has waited goes before who arrives in the same instant: that is the referee's order, and spans are compared with `==`.
        if self.freed:
            freed, self.freed = self.freed, []
            for visit in freed:
                self._free(now, visit)
        while self.arriving:
            arriving = self.arriving
            self.arriving = []
            if len(arriving) > 1:
                arriving.sort(key=_place)
            for _, chain in arriving:
                self._arrive(now, chain)

    def _free(self, now: int, visit: Visit) -> None:
        """Let the next slice have a resource that is through."""
        resource = visit.resource
        if visit.link or visit.engine >= 0:
            self.changed.add(FABRIC if visit.link else resource)
            numbers = (
                self._flows.free(now, resource)
                if visit.link
                else self._fair[resource].free(now, visit.engine)
            )
            if numbers:
                self._begun(now, self.chains[numbers[0]], numbers[1])
            return
        waiting = self._waiting.get(resource, ())
        if resource in self._idle:
            self._idle[resource] += 1
            if waiting:
                self._idle[resource] -= 1
                self._begun(now, waiting.popleft(), now)
            return
        self._held.remove(resource)
        self.free[resource] = now
        while waiting and resource not in self._held:
            self._begin(now, waiting.popleft(), max(now, self.free[resource]))

    def _arrive(self, now: int, chain: Chain) -> None:
        number = len(chain.starts)
        visit = chain.leg.visits[number]
        resource = visit.resource
        chain.queued.append(now)
        if visit.engine >= 0:
            job = new_job((chain.slice_id, number, visit.duration_ps))
            begins = self._fair[resource].arrive(now, visit.engine, job)
            self.changed.add(resource)
        elif visit.link:
            flow = Flow(chain.slice_id, number, visit.link.route, visit.link.work)
            begins = self._flows.arrive(now, resource, flow)
            self.changed.add(FABRIC)
        elif self._idle.get(resource):
            self._idle[resource] -= 1
            begins = now
        elif resource in self._held or resource in self._idle:
            self._waiting.setdefault(resource, deque()).append(chain)
            return
        else:
            free = self.free[resource]
            self._begin(now, chain, free if free > now else now)
            return
        if begins >= 0:
            self._begun(now, chain, begins)

    # ---- a resource begins -------------------------------------------------------------------------------------

    def _begin(self, now: int, chain: Chain, start: int) -> None:
        """Let an exclusive resource begin with a slice; and those behind it, as far as their order is known beforehand."""
        leg, free, starts = chain.leg, self.free, chain.starts
        visits, flight, slice_id = leg.visits, leg.flight, chain.slice_id
        number, last = len(starts), len(leg.visits)
        while True:
            visit = visits[number]
            resource = visit.resource
            starts.append(start)
            if chain.through == number:  # the one upstream is known to be through
                end = start + visit.duration_ps if visit.pauses is None else visit.end_ps(start)
                # No resource of a chain is through before the one upstream: the last byte has to come first.
                end = max(end, chain.ready)
                free[resource] = end
                work = visit.duration_ps - visit.held_ps
                row = (slice_id, leg.stage, resource, chain.queued[number], start, end, visit.nbytes, work)
                self._rows.append(row)
                chain.through, chain.ready = number + 1, end
                if flight and flight.after == number + 1:
                    self._fly(chain, flight, start, end)
                if number + 1 == last:
                    heappush(self._heap, (chain.ready, STAGE_OVER, slice_id, 0))
                    return
            else:
                self._held.add(resource)
            number += 1
            if number == last:
                return
            arrives = start + flight.duration_ps if flight and flight.after == number else start
            following = visits[number].resource
            if following not in self._in_order:
                self._next(now, chain, arrives)
                return
            chain.queued.append(arrives)
            start = free[following] if free[following] > arrives else arrives

    def _begun(self, now: int, chain: Chain, start: int) -> None:
        """Note that a shared resource, a fabric or one of several servers begins with a slice; when it is through is an event."""
        number, visits = len(chain.starts), chain.leg.visits
        visit = visits[number]
        chain.starts.append(start)
        if visit.engine < 0 and not visit.link and chain.through == number:
            heappush(self._heap, (max(visit.end_ps(start), chain.ready), THROUGH, chain.slice_id, 0))
        if number + 1 < len(visits):
            self._next(now, chain, start + chain.leg.latency_ps(number + 1))

    def _next(self, now: int, chain: Chain, arrives: int) -> None:
        if arrives == now:
            self._arrives(chain)
        else:
            heappush(self._heap, (arrives, ARRIVES, chain.slice_id, 0))

    # ---- a resource is through ---------------------------------------------------------------------------------

    def _fly(self, chain: Chain, flight: Flight, start: int, end: int) -> None:
        """Let the latency pass behind a resource that began at `start` and is through at `end`: the next may be through when it is over."""
        chain.ready = end + flight.duration_ps
        # Before a further resource the first byte flies while the rest is served; behind the last one the whole slice has left.
        left = start if chain.through < len(chain.leg.visits) else end
        row = (chain.slice_id, flight.stage, flight.wire, left, left, chain.ready, 0, flight.duration_ps)
        self._rows.append(row)

    def through(self, now: int, slice_id: int) -> None:
        """Let a resource be through with a slice, and those behind it that were only waiting for this."""
        chain = self.chains[slice_id]
        leg, visits = chain.leg, chain.leg.visits
        while True:
            number = chain.through
            visit, start = visits[number], chain.starts[number]
            nbytes, queued = visit.nbytes, chain.queued[number]
            if visit.link:
                for resource, work in zip(visit.link.route, visit.link.alone_ps, strict=True):
                    self._rows.append((slice_id, leg.stage, resource, queued, start, now, nbytes, work))
            else:
                work = visit.duration_ps - visit.held_ps
                self._rows.append((slice_id, leg.stage, visit.resource, queued, start, now, nbytes, work))
            self.freed.append(visit)
            number += 1
            chain.through, chain.ready = number, now
            if leg.flight and leg.flight.after == number:
                self._fly(chain, leg.flight, start, now)
            if number == len(visits):
                heappush(self._heap, (chain.ready, STAGE_OVER, slice_id, 0))
                return
            if len(chain.starts) == number:  # what has not begun will know it when it does
                return
            visit, end = visits[number], chain.ready
            if visit.engine >= 0 or visit.link:
                if not chain.worked >> number & 1:
                    return
            else:
                end = max(end, visit.end_ps(chain.starts[number]))
            if end > now:
                heappush(self._heap, (end, THROUGH, slice_id, 0))
                return

    def alarm(self, now: int, resource: int, generation: int) -> None:
        """End the work of a shared resource, or of the fabric, that is done now; none, if its next end has changed since the alarm."""
        # an arrival or an end since then has set another alarm
        server = self._flows if resource == FABRIC else self._fair[resource]
        if server.generation != generation:
            return
        self.changed.add(resource)
        for slice_id, number in server.finish(now):
            chain = self.chains[slice_id]
            if chain.through < number:
                chain.worked |= 1 << number
            elif chain.ready > now:
                heappush(self._heap, (chain.ready, THROUGH, slice_id, 0))
            else:
                self.through(now, slice_id)

    def set_alarms(self, now: int) -> None:
        """Set an alarm for the next end of every shared resource that has changed in this instant."""
        # an alarm cannot be taken off the heap; a newer generation makes it void
        for resource in self.changed:
            if resource == FABRIC:
                if self._flows.active:
                    heappush(self._heap, (self._flows.settle(now), ALARM, FABRIC, self._flows.generation))
            else:
                fair = self._fair[resource]
                if (end := fair.next_end()) >= 0:
                    heappush(self._heap, (end, ALARM, resource, fair.generation))
        self.changed.clear()

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return everything that later rows depend on, relative to `now` and slice id `base`."""
        return (
            # when an idle resource became free no longer matters
            tuple(max(0, free - now) for free in self.free),
            tuple(sorted(self._held)),
            tuple(self._idle.values()),
            tuple(
                (resource, *(chain.slice_id - base for chain in waiting))
                for resource, waiting in sorted(self._waiting.items())
                if waiting
            ),
            tuple(sorted(chain.state(now, base) for chain in self.chains.values())),
            tuple(fair.state(now, base) for fair in self._fair.values()),
            self._flows.state(now, base),
        )


def _place(arriving: tuple[int, Chain]) -> int:
    return arriving[0]
