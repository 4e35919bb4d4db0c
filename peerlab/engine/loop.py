"""The fast engine: an event loop over one heap of integer times.

Per instant, in this order, as in the referee: everything that ends; then the registration desk; then places in windows
are given out; then resources take what has arrived. Ties go to the lowest key: step, then slice, then lane.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace

from peerlab.collectives.plan import is_chain
from peerlab.engine.desk import DESTINATION, SOURCE, Desk, Event
from peerlab.engine.fabric import Fabric, Flow
from peerlab.engine.fair import FairShare, Job
from peerlab.engine.turns import Turns
from peerlab.engine.way import Leg, Visit
from peerlab.engine.world import STAGE_IDS, World
from peerlab.model.registration import Lease
from peerlab.units import PS_PER_S

PART, FLOWN, READY, GATED, POSTED, ALARM = range(6)
FABRIC = -1
"""In place of a resource's index: the alarm of the fabric."""
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
    leases: list[tuple[int, int, Lease]] = field(default_factory=list)
    """Side, NIC and lease of registered memory."""


class Loop:
    """Runs one iteration of a world's collective and records every span.

    A slice's id is its key: ``(step * pieces + number) * lanes + lane``; a transfer's is ``step * lanes + lane``.
    """

    def __init__(
        self, world: World, desk: Desk, gathered: list[int] | None, progress: Progress | None
    ) -> None:
        schedule, scenario = world.plan.schedule, world.scenario
        self.world, self.desk, self.progress = world, desk, progress
        self.lanes, self.pieces = len(world.lanes), world.pieces
        self.chain = is_chain(schedule)
        self.steps, self.reducing = schedule.steps, schedule.reducing_steps
        self.registers, self.blocking = scenario.registers, scenario.blocking
        self.prefetch = scenario.prefetch and self.registers
        self.fetched: set[int] = set()
        self.gathered, self.hands_out = gathered, world.plan.hands_out
        self.step_offset = 0
        """Steps that were skipped because the schedule repeats; real steps are ahead by this."""
        self.gate_waits = 0
        """How often a slice waited for its node's own contribution."""

        self.heap: list[tuple[int, int, int, int]] = []
        self.free: list[int] = []
        self.servers: dict[int, list[int]] = {}
        self.fair: dict[int, FairShare] = {}
        self.fabric = Fabric()
        self.places: list[int] = []
        self.queues: list[list[tuple[int, int]]] = []
        self.routes: dict[int, tuple[tuple[Leg, ...], ...]] = {}
        self.receivers: dict[int, int] = {}
        self.missing: dict[int, int] = {}
        self.own_of_step: dict[int, list[int]] = {}
        self.turns = Turns(world) if self.blocking else None
        self.leg: dict[int, int] = {}
        self.parts: dict[int, int] = {}
        self.transfers: dict[int, Transfer] = {}
        self.opened = [-1] * self.lanes

        self.arriving: list[int] = []
        self.errands: list[tuple[int, int, int, int, int, Lease | None]] = []
        self.touched: set[int] = set()
        self.dirty: set[int] = set()
        self.marker: int | None = None
        """Step of lane 0 whose first slice has arrived in this instant."""

        self.rows: list[tuple[int, int, int, int, int, int, int]] = []
        """``(slice id, stage, resource, queued, start, end, bytes)``."""
        self.events: list[tuple[int, int, int, Event, int, int]] = []
        """``(transfer id, NIC, side, event, start, end)``."""
        self.finished: list[tuple[int, int, int]] = []
        """``(slice id, lane that has it, when)`` of slices that have reached their final value."""
        self.end = 0

    def run(self, watch: "Callable[[Loop, int, int], None] | None" = None) -> None:
        """Run to the end; `watch` sees the loop after every instant in which lane 0 completed a first slice."""
        self._begin()
        heap, handle = self.heap, (self._part, self._flown, self._deliver, self._arrive_at_leg, self._posted)
        due = 0
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
            if self.progress and len(self.rows) >= due:
                due = len(self.rows) + 2048  # spans take time, however many of them an instant holds
                self.progress(max(self.opened) + self.step_offset, self.world.plan.schedule.steps)

    # ---- what begins -------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Offer what waits for nothing but, maybe, its own node's contribution."""
        steps = self.world.plan.schedule.steps
        for lane in range(self.lanes) if steps else ():
            if self.turns:
                for step, sender in self.turns.begin(lane):
                    self._offer(0, step, sender)
            else:
                self._begin_pipelined(lane, 1 if self.chain else steps)

    def _begin_pipelined(self, lane: int, steps: int) -> None:
        """Offer the transfers, and the slices of others, that wait for no arrival."""
        order = self.world.order(lane)
        for step in range(steps):
            if not order.waits[step] and self.world.receiver(lane, step) >= 0:
                self._offer(0, step, lane)
        for step in {step for found in order.leaders.values() for step in found} if steps > 1 else ():
            for piece, need in enumerate(order.needs(step)):
                for one in (step, *order.followers.get(step, ())) if not need and step < self.steps else ():
                    heappush(self.heap, (0, READY, (one * self.pieces + piece) * self.lanes + lane, 0))

    def _offer(self, now: int, step: int, lane: int) -> None:
        """A transfer may begin, with every slice that it does not have to wait for."""
        sizes = self.world.sizes(step + self.step_offset)
        own = None
        if self.gathered and not self.world.order(lane).waits[step + self.step_offset]:
            positions = self.world.plan.schedule.sends(step + self.step_offset)
            own = self.world.own_ready(self.gathered, positions, sizes)
        for piece in range(len(sizes)):
            slice_id = (step * self.pieces + piece) * self.lanes + lane
            ready = max(own[piece], now) if own else now
            if ready > now or now == 0:
                heappush(self.heap, (ready, READY, slice_id, 0))
            else:
                self._deliver(now, slice_id)

    def _deliver(self, now: int, slice_id: int) -> None:
        """The data that a slice sends is there."""
        lane = slice_id % self.lanes
        step = slice_id // self.lanes // self.pieces
        transfer_id = step * self.lanes + lane
        transfer = self.transfers.get(transfer_id) or self._open(transfer_id)
        if self.prefetch:
            following = self.world.next_step(lane, step + self.step_offset) - self.step_offset
            if following < self.steps and following * self.lanes + lane not in self.fetched:
                self._open(following * self.lanes + lane)
        if transfer.unregistered:
            transfer.waiting.append(slice_id)
        else:
            self._start_leg(now, slice_id, 0)

    def _open(self, transfer_id: int) -> Transfer:
        """Begin a transfer: both of its ends ask for registration."""
        step, lane = divmod(transfer_id, self.lanes)
        count = len(self._route(transfer_id))
        transfer = self.transfers[transfer_id] = Transfer(count, 2 if self.registers else 0)
        self.opened[lane] = max(step, self.opened[lane])
        if self.registers:
            desks = [self.world.lanes[end].desk for end in (lane, self.receivers[transfer_id])]
            for side in (SOURCE, DESTINATION):
                self.errands.append((step, side, lane, transfer_id, desks[side], None))
        if self.prefetch:
            self.fetched.add(transfer_id)
        return transfer

    def _posted(self, now: int, transfer_id: int) -> None:
        """One end of a transfer is registered."""
        transfer = self.transfers[transfer_id]
        transfer.unregistered -= 1
        if transfer.unregistered == 0:
            for slice_id in transfer.waiting:
                self._start_leg(now, slice_id, 0)
            transfer.waiting.clear()

    # ---- a slice's way -----------------------------------------------------------------------------------------

    def _route(self, transfer_id: int) -> tuple[tuple[Leg, ...], ...]:
        """Return the legs of each slice of a transfer that has begun."""
        found = self.routes.get(transfer_id)
        if found is None:
            step, lane = divmod(transfer_id, self.lanes)
            found = self.routes[transfer_id] = self.world.legs(lane, step + self.step_offset)
            self.receivers[transfer_id] = self.world.receiver(lane, step + self.step_offset)
            self._grow()
        return found

    def _grow(self) -> None:
        """Meet the resources and pools that the world has made since."""
        resources = self.world.resources
        for index in range(len(self.free), len(resources)):
            one = resources[index]
            self.free.append(0)
            if one.servers > 1:
                self.servers[index] = [0] * one.servers
            if one.shared:
                self.fair[index] = FairShare(one.copies)
            self.fabric.capacities[index], self.fabric.copies[index] = one.capacity_Bps / PS_PER_S, one.copies
        for places in self.world.places[len(self.places) :]:
            self.places.append(places)
            self.queues.append([])

    def _legs(self, slice_id: int) -> tuple[Leg, ...]:
        rest, lane = divmod(slice_id, self.lanes)
        step, piece = divmod(rest, self.pieces)
        return self.routes[step * self.lanes + lane][piece]

    def _start_leg(self, now: int, slice_id: int, number: int) -> None:
        leg = self._legs(slice_id)[number]
        self.leg[slice_id] = number
        if leg.gated and self.gathered:
            ready = self._own_ready(slice_id)
            if ready > now:
                self.gate_waits += 1
                heappush(self.heap, (ready, GATED, slice_id, 0))
                return
        if leg.acquire >= 0:
            heappush(self.queues[leg.acquire], (now, slice_id))
            self.touched.add(leg.acquire)
        else:
            self._enter(now, slice_id, leg)

    def _own_ready(self, slice_id: int) -> int:
        """Return when the receiver's own contribution to what a slice brings is added up over its node."""
        rest = slice_id // self.lanes
        step, piece = divmod(rest, self.pieces)
        if self.chain:  # gathered in the order of the ring's steps
            return self.gathered[rest + self.pieces] if self.gathered else 0
        if step not in self.own_of_step:
            positions = self.world.plan.schedule.receives(step)
            own = self.world.own_ready(self.gathered or [], positions, self.world.sizes(step))
            self.own_of_step[step] = own
        return self.own_of_step[step][piece]

    def _enter(self, now: int, slice_id: int, leg: Leg) -> None:
        """Let a slice that holds the place it needs begin its leg."""
        if leg.exclusive or leg.after or leg.shared or leg.link:
            self.arriving.append(slice_id)
        else:
            self._served(now, slice_id, leg)

    def _arrive_at_leg(self, _now: int, slice_id: int) -> None:
        self.arriving.append(slice_id)

    def _part(self, now: int, slice_id: int) -> None:
        """One of the stage's resources (all exclusive ones together, or a shared one) has served the slice."""
        self.parts[slice_id] -= 1
        if self.parts[slice_id]:
            return
        del self.parts[slice_id]
        self._served(now, slice_id, self._legs(slice_id)[self.leg[slice_id]])

    def _served(self, now: int, slice_id: int, leg: Leg) -> None:
        """The stage's resources have served the slice; it flies on, if there is a latency."""
        if leg.flight:
            then = now + leg.flight.duration_ps
            self.rows.append((slice_id, _FLIGHT, leg.flight.wire, now, now, then, 0))
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
        to = self.receivers[transfer_id]
        transfer.left -= 1
        self.end = max(self.end, now)
        self._pass_on(now, slice_id, step, piece, to)
        if transfer.left == 0:
            self._complete(now, transfer_id, step, lane, transfer)
        if lane == 0 and piece == 0:
            self.marker = step

    def _pass_on(self, now: int, slice_id: int, step: int, piece: int, to: int) -> None:
        """What has arrived is final, or is part of what the receiver sends next."""
        if self.hands_out and (step >= self.reducing or (self.chain and step == self.reducing - 1)):
            self.finished.append((slice_id, to, now))
        if self.chain:
            if not self.blocking and step + 1 < self.steps:
                self._deliver(now, slice_id - slice_id % self.lanes + self.pieces * self.lanes + to)
            return
        order = self.world.order(to)
        for later in order.leaders.get(step, ()):
            for fed in order.feeds(step, later)[piece]:
                if self._have_all(later, fed, to):
                    self._follow_up(now, slice_id, later, fed, to)

    def _have_all(self, step: int, piece: int, lane: int) -> bool:
        """Count an arrival that a slice waits for; return whether it was the last."""
        key = (step * self.pieces + piece) * self.lanes + lane
        left = self.missing.pop(key, 0) or self.world.order(lane).needs(step)[piece]
        if left > 1:
            self.missing[key] = left - 1
        return left == 1

    def _follow_up(self, now: int, slice_id: int, step: int, piece: int, lane: int) -> None:
        """All that a slice waits for is there: it may go, and so may those that carry the same; or a sum is final."""
        if step == self.steps:
            if self.hands_out:
                self.finished.append((slice_id, lane, now))
        elif not self.blocking:
            for one in (step, *self.world.order(lane).followers.get(step, ())):
                self._deliver(now, (one * self.pieces + piece) * self.lanes + lane)

    def _complete(self, now: int, transfer_id: int, step: int, lane: int, transfer: Transfer) -> None:
        del self.transfers[transfer_id]
        del self.routes[transfer_id]
        to = self.receivers.pop(transfer_id)
        for side, nic, lease in transfer.leases:
            self.errands.append((step, 2 + side, lane, transfer_id, nic, lease))
        if self.turns:
            for following, sender in self.turns.over(step, lane, to, self.steps):
                self._offer(now, following, sender)

    # ---- the end of an instant ---------------------------------------------------------------------------------

    def _settle(self, now: int) -> None:
        if self.errands:
            errands, self.errands = sorted(self.errands, key=lambda errand: errand[:3]), []
            for errand in errands:
                self._visit_desk(now, *errand[1:])
        while self.touched:
            self._grant(now)
        if self.arriving:
            self._serve_all(now)
        for resource in self.dirty:
            if resource == FABRIC:
                if self.fabric.active:
                    heappush(self.heap, (self.fabric.settle(now), ALARM, FABRIC, self.fabric.generation))
            elif self.fair[resource].busy:
                fair = self.fair[resource]
                heappush(self.heap, (fair.next_end(), ALARM, resource, fair.generation))
        self.dirty.clear()

    def _serve_all(self, now: int) -> None:
        """Let resources take what has arrived, lowest key first."""
        behind: list[tuple[int, Leg]] = []
        for slice_id in sorted(self.arriving):
            if behind and behind[0][0] // self.lanes != slice_id // self.lanes:
                self._serve_behind(now, behind)
            leg = self._legs(slice_id)[self.leg[slice_id]]
            self._serve(now, slice_id, leg)
            if leg.after:
                behind.append((slice_id, leg))
        self._serve_behind(now, behind)
        self.arriving.clear()

    def _grant(self, now: int) -> None:
        """Give out free places; who only needed the place goes on, and may ask for another."""
        granted = []
        for pool in self.touched:
            queue = self.queues[pool]
            while queue and self.places[pool]:
                self.places[pool] -= 1
                granted.append(heappop(queue)[1])
        self.touched.clear()
        for slice_id in granted:
            self._enter(now, slice_id, self._legs(slice_id)[self.leg[slice_id]])

    def _visit_desk(
        self, now: int, errand: int, lane: int, transfer_id: int, nic: int, lease: Lease | None
    ) -> None:
        side = errand % 2
        way = self.world.lanes[lane]
        step = transfer_id // self.lanes + self.step_offset
        if lease is None:
            lease, answer = self.desk.acquire(nic, way.device, side, step)
            self.transfers[transfer_id].leases.append((side, nic, lease))
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

    def _serve(self, now: int, slice_id: int, leg: Leg) -> None:
        """Let every resource of the slice's stage take it."""
        last = self._occupy(now, slice_id, leg, leg.exclusive)
        for visit in leg.shared:
            job = Job(slice_id, leg.stage, visit.duration_ps, visit.nbytes, now)
            self.fair[visit.resource].arrive(now, visit.engine, job)
            self.dirty.add(visit.resource)
        if leg.link:
            flow = Flow(slice_id, leg.stage, leg.link.route, leg.link.nbytes, leg.link.work, now)
            self.fabric.arrive(now, leg.link.sender, flow)
            self.dirty.add(FABRIC)
        self.parts[slice_id] = len(leg.shared) + (last > 0) + (leg.link is not None) + bool(leg.after)
        if last:
            heappush(self.heap, (last, PART, slice_id, 0))

    def _serve_behind(self, now: int, behind: list[tuple[int, Leg]]) -> None:
        """Let receivers' resources take slices, after those of the same number that they send themselves."""
        for slice_id, leg in behind:
            heappush(self.heap, (self._occupy(now, slice_id, leg, leg.after), PART, slice_id, 0))
        behind.clear()

    def _occupy(self, now: int, slice_id: int, leg: Leg, visits: tuple[Visit, ...]) -> int:
        """Let exclusive resources take a slice; return when the last of them has served it, or 0."""
        rows, free, last = self.rows, self.free, 0
        for visit in visits:
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
        return last

    def _alarm(self, now: int, resource: int, generation: int) -> None:
        """A shared resource, or the fabric, may have served a slice."""
        if resource == FABRIC:
            self._fabric_alarm(now, generation)
            return
        fair = self.fair[resource]
        if fair.generation != generation:
            return
        self.dirty.add(resource)
        for start, job in fair.finish(now):
            self.rows.append((job.slice_id, job.stage, resource, job.queued, start, now, job.nbytes))
            self._part(now, job.slice_id)

    def _fabric_alarm(self, now: int, generation: int) -> None:
        if self.fabric.generation != generation:
            return
        self.dirty.add(FABRIC)
        for flow in self.fabric.finish(now):
            for resource in flow.route:
                row = (flow.key, flow.stage, resource, flow.queued, flow.start, now, flow.nbytes)
                self.rows.append(row)
            self._part(now, flow.key)

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
            self.turns.state(step) if self.turns else (),
            self.fabric.state(now, base),
            tuple(self.places),
            tuple(tuple(sorted((t - now, x - base) for t, x in queue)) for queue in self.queues),
            self.desk.phase(step + self.step_offset),
        )
