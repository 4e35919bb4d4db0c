"""The loop's resources: those that serve one slice at a time, shared ones, and a contended fabric."""

from collections.abc import Iterator, Sequence
from heapq import heappush, heapreplace

from peerlab.engine.legs import Leg, Visit
from peerlab.engine.max_min import Flow, Flows
from peerlab.engine.processor_sharing import FairShare, Job
from peerlab.trace import Resource
from peerlab.units import PS_PER_S

PART, FLOWN, READY, GATED, POSTED, ALARM = range(6)
"""Kinds of entries of the loop's heap; those of one instant come in this order."""
FABRIC = -1
"""In place of a resource's index: the alarm of the fabric."""

Heap = list[tuple[int, int, int, int]]
"""``(time, what it is about, slice, transfer or resource, generation of an alarm)``."""
Rows = list[tuple[int, int, int, int, int, int, int]]
"""``(slice id, stage, resource, queued, start, end, bytes)``."""


class Serving:
    """Lets resources serve slices: puts the end of each service on the heap, and writes a row."""

    def __init__(self, lanes: int, heap: Heap, rows: Rows) -> None:
        self._lanes, self._heap, self._rows = lanes, heap, rows
        self.free: list[int] = []
        """By resource: when it has served everything that it has taken."""
        self.parts: dict[int, int] = {}
        """Slices that are served, and by how many: all exclusive resources together, each shared one, the fabric."""
        self._servers: dict[int, list[int]] = {}
        self._fair: dict[int, FairShare] = {}
        self._flows = Flows()
        self.changed: set[int] = set()
        """Shared resources (and `FABRIC`) whose next end may have changed in this instant."""

    def meet(self, resources: Sequence[Resource]) -> None:
        """Add the resources that the system has made since the last call."""
        for index in range(len(self.free), len(resources)):
            one = resources[index]
            self.free.append(0)
            if one.servers > 1:
                self._servers[index] = [0] * one.servers
            if one.shared:
                self._fair[index] = FairShare(one.copies)
            self._flows.capacities[index] = one.capacity_Bps / PS_PER_S
            self._flows.copies[index] = one.copies

    def take(self, now: int, arrived: list[tuple[int, Leg]]) -> None:
        """Let resources take what has arrived for a stage, lowest key first."""
        behind: list[tuple[int, Leg]] = []
        arrived.sort()
        for slice_id, leg in arrived:
            # those that a device receives queue after all of the same step and number that are sent, as in the referee
            if behind and behind[0][0] // self._lanes != slice_id // self._lanes:
                self._serve_behind(now, behind)
            self._serve(now, slice_id, leg)
            if leg.after:
                behind.append((slice_id, leg))
        self._serve_behind(now, behind)

    def _serve(self, now: int, slice_id: int, leg: Leg) -> None:
        """Let every resource of the slice's stage take it."""
        last = self._occupy(now, slice_id, leg, leg.exclusive)
        for visit in leg.shared:
            job = Job(slice_id, leg.stage, visit.duration_ps, visit.nbytes, now)
            self._fair[visit.resource].arrive(now, visit.engine, job)
            self.changed.add(visit.resource)
        if leg.link:
            flow = Flow(slice_id, leg.stage, leg.link.route, leg.link.nbytes, leg.link.work, now)
            self._flows.arrive(now, leg.link.sender, flow)
            self.changed.add(FABRIC)
        self.parts[slice_id] = len(leg.shared) + (last > 0) + (leg.link is not None) + bool(leg.after)
        if last:
            heappush(self._heap, (last, PART, slice_id, 0))

    def _serve_behind(self, now: int, behind: list[tuple[int, Leg]]) -> None:
        """Let receivers' resources take slices, after the slices of the same number that the receivers send."""
        for slice_id, leg in behind:
            heappush(self._heap, (self._occupy(now, slice_id, leg, leg.after), PART, slice_id, 0))
        behind.clear()

    def _occupy(self, now: int, slice_id: int, leg: Leg, visits: tuple[Visit, ...]) -> int:
        """Let exclusive resources take a slice; return when the last of them has served it, or 0."""
        # first come first served: the end of a slice's service is known when the resource takes it
        rows, free, last = self._rows, self.free, 0
        for visit in visits:
            resource = visit.resource
            if resource in self._servers:
                # the server that is free first, as in a queue for several cores
                start = max(now, self._servers[resource][0])
                heapreplace(self._servers[resource], start + visit.duration_ps)
            else:
                start = free[resource] if free[resource] > now else now
            end = start + visit.duration_ps
            free[resource] = end
            last = end if end > last else last
            rows.append((slice_id, leg.stage, resource, now, start, end, visit.nbytes))
        return last

    def alarm(self, now: int, resource: int, generation: int) -> Iterator[int]:
        """Yield the slices that a shared resource, or the fabric, has served; none, if its next end has changed since the alarm."""
        if resource == FABRIC:
            yield from self._fabric_alarm(now, generation)
            return
        fair = self._fair[resource]
        # an arrival or an end since then has set another alarm
        if fair.generation != generation:
            return
        self.changed.add(resource)
        for start, job in fair.finish(now):
            self._rows.append((job.slice_id, job.stage, resource, job.queued, start, now, job.nbytes))
            yield job.slice_id

    def _fabric_alarm(self, now: int, generation: int) -> Iterator[int]:
        if self._flows.generation != generation:
            return
        self.changed.add(FABRIC)
        for flow in self._flows.finish(now):
            for resource in flow.route:
                row = (flow.key, flow.stage, resource, flow.queued, flow.start, now, flow.nbytes)
                self._rows.append(row)
            yield flow.key

    def set_alarms(self, now: int) -> None:
        """Set an alarm for the next end of every shared resource that has changed in this instant."""
        # an alarm cannot be taken off the heap; a newer generation makes it void
        for resource in self.changed:
            if resource == FABRIC:
                if self._flows.active:
                    heappush(self._heap, (self._flows.settle(now), ALARM, FABRIC, self._flows.generation))
            elif self._fair[resource].busy:
                fair = self._fair[resource]
                heappush(self._heap, (fair.next_end(), ALARM, resource, fair.generation))
        self.changed.clear()

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return everything that later rows depend on, relative to `now` and slice id `base`."""
        return (
            # when an idle resource became free no longer matters
            tuple(max(0, free - now) for free in self.free),
            tuple(
                tuple(max(0, free - now) for free in sorted(servers)) for servers in self._servers.values()
            ),
            tuple(fair.state(now, base) for fair in self._fair.values()),
            self._flows.state(now, base),
        )
