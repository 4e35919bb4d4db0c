"""The fast engine: an event loop over one heap of integer times.

Per instant, in this order, as in the referee: everything that ends; then the registration desk; then places in windows
are given out; then resources take what has arrived. Ties go to the lowest key: step, then slice, then lane.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace

from peerlab.engine.desk import DESTINATION, SOURCE, Desk, Event
from peerlab.engine.fair import FairShare, Job
from peerlab.engine.world import STAGE_IDS, Leg, World
from peerlab.model.registration import Lease

PART, FLOWN, READY, GATED, POSTED, ALARM = range(6)
_REGISTER, _DEREGISTER, _FLIGHT = (STAGE_IDS[name] for name in ("register", "deregister", "flight"))

Progress = Callable[[int, int], None]
"""Called with steps done and steps in all; may raise `Cancelled`."""


@dataclass(eq=False, slots=True)
class Transfer:
    """A transfer under way."""

    left: int
    """Slices that have not arrived."""
    unregistered: int
    """Ends whose memory is not registered yet; at 0 the transfer is posted."""
    waiting: list[int] = field(default_factory=list)
    """Slices that wait for that."""
    leases: list[tuple[int, Lease]] = field(default_factory=list)
    """Side and lease of registered memory."""


class Loop:
    """Runs one iteration of a world's collective and records every span.

    A slice's id is its key: ``(step * pieces + number) * lanes + lane``; a transfer's is ``step * lanes + lane``.
    """

    def __init__(
        self, world: World, desk: Desk, gathered: list[int] | None, progress: Progress | None
    ) -> None:
        schedule, scenario = world.plan.schedule, world.scenario
        self.world, self.desk, self.progress = world, desk, progress
        self.lanes, self.pieces = len(world.lanes), len(world.sizes)
        self.steps, self.reducing = schedule.steps, schedule.reducing_steps
        self.registers, self.blocking = scenario.registers, scenario.blocking
        self.gathered, self.hands_out = gathered, world.plan.hands_out
        self.step_offset = 0
        """Steps that were skipped because the schedule repeats; real steps are ahead by this."""
        self.gate_waits = 0
        """How often a slice waited for its node's own contribution."""

        self.heap: list[tuple[int, int, int, int]] = []
        self.free: list[int] = [0] * len(world.resources)
        self.servers = {i: [0] * r.servers for i, r in enumerate(world.resources) if r.servers > 1}
        self.fair = {i: FairShare(r.copies) for i, r in enumerate(world.resources) if r.shared}
        self.places = [scenario.window_slices] * world.pools
        self.queues: list[list[tuple[int, int]]] = [[] for _ in range(world.pools)]
        self.leg: dict[int, int] = {}
        self.parts: dict[int, int] = {}
        self.transfers: dict[int, Transfer] = {}
        self.opened = [-1] * self.lanes
        self.completed: dict[int, int] = {}

        self.arriving: list[int] = []
        self.errands: list[tuple[int, int, int, int, Lease | None]] = []
        self.touched: set[int] = set()
        self.dirty: set[int] = set()
        self.marker: int | None = None
        """Step of lane 0 whose first slice has arrived in this instant."""

        self.rows: list[tuple[int, int, int, int, int, int, int]] = []
        """``(slice id, stage, resource, queued, start, end, bytes)``."""
        self.events: list[tuple[int, int, int, Event, int, int]] = []
        """``(transfer id, NIC, side, event, start, end)``."""
        self.finished: list[tuple[int, int]] = []
        """``(slice id, when)`` of slices that have reached their final value."""
        self.end = 0
        self._neighbours = self._find_neighbours()

    def run(self, watch: "Callable[[Loop, int, int], None] | None" = None) -> None:
        """Run to the end; `watch` sees the loop after every instant in which lane 0 completed a first slice."""
        self._begin()
        heap, handle = self.heap, (self._part, self._flown, self._deliver, self._arrive_at_leg, self._posted)
        ticks = 0
        while heap:
            now = heap[0][0]
            while heap and heap[0][0] == now:
                _, kind, what, generation = heappop(heap)
                if kind == ALARM:
                    self._alarm(now, what, generation)
                else:
                    handle[kind](now, what)
            self._settle(now)
            if watch and self.marker is not None:
                watch(self, now, self.marker)
            self.marker = None
            ticks += 1
            if self.progress and not ticks & 1023:
                self.progress(max(self.opened) + self.step_offset, self.world.plan.schedule.steps)

    # ---- what begins -------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self.steps == 0:
            return
        for lane in range(self.lanes):
            for piece in range(self.pieces):
                ready = self.gathered[piece] if self.gathered else 0
                heappush(self.heap, (ready, READY, piece * self.lanes + lane, 0))

    def _deliver(self, now: int, slice_id: int) -> None:
        """The data that a slice sends is there."""
        lane = slice_id % self.lanes
        step = slice_id // self.lanes // self.pieces
        transfer_id = step * self.lanes + lane
        transfer = self.transfers.get(transfer_id)
        if transfer is None:
            transfer = self.transfers[transfer_id] = Transfer(self.pieces, 2 if self.registers else 0)
            self.opened[lane] = step
            if self.registers:
                self.errands += [(step, side, lane, transfer_id, None) for side in (SOURCE, DESTINATION)]
        if transfer.unregistered:
            transfer.waiting.append(slice_id)
        else:
            self._start_leg(now, slice_id, 0)

    def _posted(self, now: int, transfer_id: int) -> None:
        """One end of a transfer is registered."""
        transfer = self.transfers[transfer_id]
        transfer.unregistered -= 1
        if transfer.unregistered == 0:
            for slice_id in transfer.waiting:
                self._start_leg(now, slice_id, 0)
            transfer.waiting.clear()

    # ---- a slice's way -----------------------------------------------------------------------------------------

    def _legs(self, slice_id: int) -> tuple[Leg, ...]:
        rest, lane = divmod(slice_id, self.lanes)
        step, piece = divmod(rest, self.pieces)
        way = self.world.lanes[lane]
        return (way.adding if step < self.reducing else way.keeping)[piece]

    def _start_leg(self, now: int, slice_id: int, number: int) -> None:
        leg = self._legs(slice_id)[number]
        self.leg[slice_id] = number
        if leg.gated and self.gathered:
            rest = slice_id // self.lanes
            ready = self.gathered[
                rest + self.pieces
            ]  # its own contribution to the chunk that has just arrived
            if ready > now:
                self.gate_waits += 1
                heappush(self.heap, (ready, GATED, slice_id, 0))
                return
        if leg.acquire >= 0:
            heappush(self.queues[leg.acquire], (now, slice_id))
            self.touched.add(leg.acquire)
        else:
            self.arriving.append(slice_id)

    def _arrive_at_leg(self, _now: int, slice_id: int) -> None:
        self.arriving.append(slice_id)

    def _part(self, now: int, slice_id: int) -> None:
        """One of the stage's resources (all exclusive ones together, or a shared one) has served the slice."""
        self.parts[slice_id] -= 1
        if self.parts[slice_id]:
            return
        del self.parts[slice_id]
        leg = self._legs(slice_id)[self.leg[slice_id]]
        if leg.flight_ps:
            then = now + leg.flight_ps
            wire = self.world.lanes[slice_id % self.lanes].wire
            self.rows.append((slice_id, _FLIGHT, wire, now, now, then, 0))
            heappush(self.heap, (then, FLOWN, slice_id, 0))
        else:
            self._flown(now, slice_id)

    def _flown(self, now: int, slice_id: int) -> None:
        """The stage is over, latency included."""
        legs, number = self._legs(slice_id), self.leg[slice_id]
        release = legs[number].release
        if release >= 0:
            self.places[release] += 1
            self.touched.add(release)
        if number + 1 < len(legs):
            self._start_leg(now, slice_id, number + 1)
        else:
            del self.leg[slice_id]
            self._arrived(now, slice_id)

    def _arrived(self, now: int, slice_id: int) -> None:
        """The slice is where it was sent, added up if it had to be."""
        rest, lane = divmod(slice_id, self.lanes)
        step, piece = divmod(rest, self.pieces)
        transfer_id = step * self.lanes + lane
        transfer = self.transfers[transfer_id]
        transfer.left -= 1
        self.end = max(self.end, now)
        if self.hands_out and step >= self.reducing - 1:
            self.finished.append((slice_id, now))
        if transfer.left == 0:
            self._complete(now, transfer_id, step, lane, transfer)
        to = self.world.lanes[lane].to
        if not self.blocking and to >= 0 and step + 1 < self.steps:
            self._deliver(now, (rest + self.pieces) * self.lanes + to)
        if lane == 0 and piece == 0:
            self.marker = step

    def _complete(self, now: int, transfer_id: int, step: int, lane: int, transfer: Transfer) -> None:
        del self.transfers[transfer_id]
        self.errands += [(step, 2 + side, lane, transfer_id, lease) for side, lease in transfer.leases]
        if not self.blocking or step + 1 >= self.steps:
            return
        for other in self._neighbours[lane]:
            following = (step + 1) * self.lanes + other
            self.completed[following] = self.completed.get(following, 0) + 1
            if self.completed[following] == len(self._neighbours[other]):
                del self.completed[following]
                for piece in range(self.pieces):
                    self._deliver(now, ((step + 1) * self.pieces + piece) * self.lanes + other)

    def _find_neighbours(self) -> list[set[int]]:
        """Per lane those whose last step must be over before its next begins: itself and both its partners."""
        neighbours: list[set[int]] = [{lane} for lane in range(self.lanes)]
        for lane, way in enumerate(self.world.lanes):
            if way.to >= 0:
                neighbours[lane].add(way.to)
                neighbours[way.to].add(lane)
        return neighbours

    # ---- the end of an instant ---------------------------------------------------------------------------------

    def _settle(self, now: int) -> None:
        if self.errands:
            errands, self.errands = sorted(self.errands, key=lambda errand: errand[:3]), []
            for errand in errands:
                self._visit_desk(now, *errand[1:])
        for pool in self.touched:
            queue = self.queues[pool]
            while queue and self.places[pool]:
                self.places[pool] -= 1
                self.arriving.append(heappop(queue)[1])
        self.touched.clear()
        if self.arriving:
            for slice_id in sorted(self.arriving):
                self._serve(now, slice_id)
            self.arriving.clear()
        for resource in self.dirty:
            fair = self.fair[resource]
            if fair.busy:
                heappush(self.heap, (fair.next_end(), ALARM, resource, fair.generation))
        self.dirty.clear()

    def _visit_desk(self, now: int, errand: int, lane: int, transfer_id: int, lease: Lease | None) -> None:
        side = errand % 2
        way = self.world.lanes[lane]
        nic = way.desks[side]
        step = transfer_id // self.lanes + self.step_offset
        if lease is None:
            lease, answer = self.desk.acquire(nic, way.device, side, step)
            self.transfers[transfer_id].leases.append((side, lease))
        else:
            answer = self.desk.release(nic, lease, side, step)
        start = max(now, self.free[nic]) if answer.queue_ps else now
        done = start + answer.queue_ps + answer.delay_ps
        if answer.queue_ps:
            self.free[nic] = done
            slice_id = transfer_id // self.lanes * self.pieces * self.lanes + lane
            stage = _REGISTER if errand < 2 else _DEREGISTER
            self.rows.append((slice_id, stage, nic, now, start, done, sum(e.nbytes for e in answer.events)))
        for event in answer.events:
            self.events.append((transfer_id, nic, side, event, start, start + event.work_ps))
            start += event.work_ps
        if errand >= 2:
            self.end = max(self.end, done)
        elif done > now:
            heappush(self.heap, (done, POSTED, transfer_id, 0))
        else:
            self._posted(now, transfer_id)

    def _serve(self, now: int, slice_id: int) -> None:
        """Let every resource of the slice's stage take it."""
        leg = self._legs(slice_id)[self.leg[slice_id]]
        rows, free, last = self.rows, self.free, 0
        for visit in leg.exclusive:
            resource = visit.resource
            if resource in self.servers:
                start = max(now, self.servers[resource][0])
                heapreplace(self.servers[resource], start + visit.duration_ps)
            else:
                start = free[resource] if free[resource] > now else now
            end = start + visit.duration_ps
            free[resource] = end
            last = end if end > last else last
            rows.append((slice_id, leg.stage, resource, now, start, end, visit.nbytes))
        for visit in leg.shared:
            job = Job(slice_id, leg.stage, visit.duration_ps, visit.nbytes, now)
            self.fair[visit.resource].arrive(now, visit.engine, job)
            self.dirty.add(visit.resource)
        self.parts[slice_id] = len(leg.shared) + (last > 0)
        if last:
            heappush(self.heap, (last, PART, slice_id, 0))

    def _alarm(self, now: int, resource: int, generation: int) -> None:
        """A shared resource may have served a slice."""
        fair = self.fair[resource]
        if fair.generation != generation:
            return
        self.dirty.add(resource)
        for start, job in fair.finish(now):
            self.rows.append((job.slice_id, job.stage, resource, job.queued, start, now, job.nbytes))
            self._part(now, job.slice_id)

    # ---- what decides about the future -------------------------------------------------------------------------

    def state(self, now: int, step: int) -> tuple[object, ...]:
        """Return everything that decides what happens from `now` on, relative to `now` and `step`."""
        base, first = step * self.pieces * self.lanes, step * self.lanes
        origin = {POSTED: first}
        return (
            tuple(max(0, free - now) for free in self.free),
            tuple(tuple(max(0, free - now) for free in sorted(servers)) for servers in self.servers.values()),
            tuple(fair.state(now, base) for fair in self.fair.values()),
            tuple(
                sorted(
                    (t - now, kind, x - origin.get(kind, base))
                    for t, kind, x, _ in self.heap
                    if kind != ALARM
                )
            ),
            tuple(sorted((x - base, leg, self.parts.get(x, 0)) for x, leg in self.leg.items())),
            tuple(
                sorted(
                    (x - first, t.left, t.unregistered, *(w - base for w in t.waiting))
                    for x, t in self.transfers.items()
                )
            ),
            tuple(sorted((x - first, count) for x, count in self.completed.items())),
            tuple(self.places),
            tuple(tuple(sorted((t - now, x - base) for t, x in queue)) for queue in self.queues),
            self.desk.phase(step + self.step_offset),
        )
