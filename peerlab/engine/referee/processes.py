"""The referee: the same physics told as SimPy processes, slow and plain.

A slice waits for its data and for its transfer to be posted, then goes from stage to stage. A stage is a chain of resources in the
order of the bytes. Each takes the slice no sooner than the one upstream has begun with it, and has it until its own work is done and the
one upstream is through; the stage ends with the last. Behind a latency, such as that of the wire, both are so much later.

Events of one instant happen in this order: everything that ends; registration queues; places in windows; resources that are free again
take the slices that have waited; slices arrive at resources, the lowest key first. A slice with which a resource begins at once arrives
at the next one in the next round of arrivals, of the same instant.
"""

from collections.abc import Generator, Iterator
from functools import cache

import simpy

from peerlab.engine.legs import Leg, Visit
from peerlab.engine.referee.event_log import EventLog
from peerlab.engine.referee.simpy_resources import (
    REGISTRATION,
    Action,
    Clock,
    Exclusive,
    Key,
    Links,
    Shared,
    Window,
    succeed,
)
from peerlab.engine.registration_queue import DESTINATION, SOURCE, Answer, RegistrationQueue
from peerlab.engine.slice_dependencies import intervals
from peerlab.engine.system import System
from peerlab.model.registration import Lease
from peerlab.model.resources import service
from peerlab.model.stages import stage_number

Process = Generator[simpy.Event, object, None]
Span = tuple[int, int, int, int, int, int, int, int, int, int, int]
"""``(node, device, step, slice, stage, resource, queued, start, end, bytes, work)``."""


class Referee:
    """One iteration of a system's collective, as processes."""

    def __init__(
        self, system: System, registration_queue: RegistrationQueue, clock: Clock | None = None
    ) -> None:
        self.system, self.registration_queue = system, registration_queue
        self.clock = clock or Clock()
        self.env = self.clock.env
        self.event_log = EventLog(system, self.clock)
        self.servers: dict[int, Exclusive | Shared] = {}
        self.windows: dict[int, Window] = {}
        self.links = Links(self.clock, system.resources)
        self.registered_until: dict[int, int] = {}
        """By NIC: when its registration queue is through with everything that it has taken."""
        self.there: dict[Key, simpy.Event] = {}
        self.own: dict[Key, simpy.Event] = {}
        self.posted: dict[Key, simpy.Event] = {}
        self.arrived: dict[Key, simpy.Event] = {}
        self.over: dict[Key, simpy.Event] = {}
        self.spans: list[Span] = []
        self.events: list[tuple[int, ...]] = []
        self.legs = cache(system.legs)
        self.turn: Key = ()
        """What goes before every key: which of the collectives of its world it is."""
        self.end = 0

    def run(self) -> None:
        """Run to the end."""
        self.begin()
        self.env.run()

    def begin(self) -> None:
        """Start every process, now."""
        self.make_events()
        for lane in range(len(self.system.lanes)):
            self._begin(lane)
        self.start_transfers()

    def _transfers(self) -> list[tuple[int, int]]:
        """Return step and lane of every transfer."""
        steps, lanes = range(self.system.plan.schedule.steps), range(len(self.system.lanes))
        return [(step, lane) for step in steps for lane in lanes if self.system.receiver(lane, step) >= 0]

    def make_events(self) -> None:
        """Make all events before any process, so that a process may wait for those of later steps."""
        for step, lane in self._transfers():
            self.posted[step, lane], self.over[step, lane] = self.env.event(), self.env.event()
            for piece in range(len(self.system.sizes(step))):
                self.there[step, piece, lane] = self.env.event()
                self.arrived[step, piece, lane] = self.env.event()

    def start_transfers(self) -> None:
        """Start the processes of all transfers and of their slices, now."""
        for step, lane in self._transfers():
            self._start(self._transfer(step, lane))
            for piece in range(len(self.system.sizes(step))):
                self._start(self._slice(step, piece, lane))

    def _start(self, process: Process) -> None:
        self.env.process(process)

    def _server(self, resource: int) -> Exclusive | Shared:
        if resource not in self.servers:
            resource_record = self.system.resources[resource]
            self.servers[resource] = (Shared if resource_record.shared else Exclusive)(
                self.clock, resource_record
            )
        return self.servers[resource]

    def _window(self, pool: int) -> Window:
        if pool not in self.windows:
            self.windows[pool] = Window(self.clock, self.system.places[pool])
        return self.windows[pool]

    def _all(self, events: list[simpy.Event]) -> simpy.Event:
        return events[0] if len(events) == 1 else self.env.all_of(events)

    def _any(self, events: list[simpy.Event]) -> simpy.Event:
        return events[0] if len(events) == 1 else self.env.any_of(events)

    # ---- between the nodes -------------------------------------------------------------------------------------

    def _slice(self, step: int, piece: int, lane: int) -> Process:
        key = (step, piece, lane)
        schedule, to = self.system.plan.schedule, self.system.receiver(lane, step)
        self._start(self._data(step, piece, lane))
        yield self.there[key]
        yield self.posted[step, lane]
        for leg in self.legs(lane, step)[piece]:
            yield from self._before_leg(key, leg, to)
            if leg.acquire >= 0:
                self.event_log.note(key, "asks for a place")
                yield self._window(leg.acquire).take((*self.turn, *key))
            if leg.visits:
                yield self._stage(key, leg)
            else:
                yield from self._fly(key, leg, 0, self.clock.now)
            if leg.release >= 0:
                self._window(leg.release).give()
        self.end = max(self.end, self.clock.now)
        self.event_log.note(key, "arrives")
        self.arrived[key].succeed()  # slices that carry these bytes, and the end of the transfer, wait for it
        if self.system.plan.hands_out and step >= schedule.reducing_steps:
            self._start(self._send_to_peers(key, to))

    def _before_leg(self, key: Key, leg: Leg, to: int) -> Process:
        """Wait for what a slice needs before a leg."""
        step, piece, _ = key
        if leg.gated:
            yield self._all(self._own(self.system.plan.schedule.receives(step), step, piece, to))

    def _data(self, step: int, piece: int, lane: int) -> Process:
        """Wait for what a slice carries, and in blocking code for its step."""
        schedule = self.system.plan.schedule
        if self.system.scenario.blocking:
            yield self._all(list(self._before(step, lane)))
        needed = self.system.order(lane).waits[step]
        if (
            needed and not self.system.scenario.blocking
        ):  # in blocking code the steps before, which are over, received them
            yield self._all(self._arrivals(needed, schedule.sends(step), piece, lane))
        elif not needed and self._begins_in_node(lane):
            yield self._all(self._own(schedule.sends(step), step, piece, lane))
        self.there[step, piece, lane].succeed()

    def _arrivals(self, steps: tuple[int, ...], positions: range, piece: int, lane: int) -> list[simpy.Event]:
        """Return the arrivals, in these steps, of bytes that a slice of `positions` carries."""
        schedule = self.system.plan.schedule
        chunk = schedule.chunk_bytes
        low, high = intervals(positions, chunk, self.system.chunks_sizes(len(positions)))[piece]
        events = []
        for step in steps:
            source, received = self.system.sender(lane, step), schedule.receives(step)
            for number, (begin, end) in enumerate(intervals(received, chunk, self.system.sizes(step))):
                if begin < high and low < end:
                    events.append(self.arrived[step, number, source])
        return events

    def _own(self, positions: range, step: int, piece: int, lane: int) -> list[simpy.Event]:
        """Return when the node's own contribution to a slice of these positions is added up."""
        chunk = self.system.plan.schedule.chunk_bytes
        low, high = intervals(positions, chunk, self.system.sizes(step))[piece]
        events = []
        for position in sorted(positions):
            parts = intervals(range(position, position + 1), chunk, self.system.chunk_sizes)
            for number, (begin, end) in enumerate(parts):
                if begin < high and low < end:
                    events.append(self.own[position, number, lane])
        return events

    def _stage(self, key: Key, leg: Leg) -> simpy.Event:
        """Start a slice on the chain of a stage; return the event of its end, the latency behind the last resource included."""
        begun, past = ([self.env.event() for _ in leg.visits] for _ in range(2))
        for number in range(len(leg.visits)):
            self._start(self._visit(key, leg, number, begun, past))
        return past[-1]

    def _visit(
        self, key: Key, leg: Leg, number: int, begun: list[simpy.Event], past: list[simpy.Event]
    ) -> Process:
        """Take a slice to a resource of its stage: `begun` says when each has begun, `past` when it is through and the latency over."""
        visit = leg.visits[number]
        if number:
            yield begun[number - 1]
            yield from self._wait(leg.latency_ps(number))
        queued = self.clock.now
        # a key behind those of all lanes: the receiver serves what it sends itself first
        place = (*key[:2], len(self.system.lanes) + key[2]) if visit.behind else key
        server = self.links if visit.link else self._server(visit.resource)
        claim = server.ask((*self.turn, *place), visit)
        self.event_log.note(key, "has in its queue", visit.resource)
        yield claim.begun
        self.event_log.note(key, "begins", visit.resource)
        start = self.clock.now
        begun[number].succeed()
        yield claim.worked
        if number:
            yield past[number - 1]
        server.release(claim)
        self.event_log.note(key, "is through with", visit.resource)
        self._released(key, visit)
        times = (queued, start, self.clock.now)
        if visit.link:
            for resource, alone_ps in zip(visit.link.route, visit.link.alone_ps, strict=True):
                self._log(key, leg.stage, resource, visit.nbytes, times, alone_ps)
        else:
            self._log(key, leg.stage, visit.resource, visit.nbytes, times, visit.work_ps)
        yield from self._fly(key, leg, number + 1, start)
        past[number].succeed()

    def _released(self, key: Key, visit: Visit) -> None:
        """Note that a resource is through with a slice."""

    def _fly(self, key: Key, leg: Leg, visits: int, start: int) -> Process:
        """Wait for the latency behind so many visits, if there is one; in flight from `start` on, where more resources follow."""
        latency = leg.latency_ps(visits)
        if leg.flight and latency:
            now = self.clock.now
            left = start if visits < len(leg.visits) else now
            self._log(key, leg.flight.stage, leg.flight.wire, 0, (left, left, now + latency), latency)
            yield self.env.timeout(latency)

    def _wait(self, latency: int) -> Process:
        if latency:
            yield self.env.timeout(latency)

    def _before(self, step: int, lane: int) -> Iterator[simpy.Event]:
        """Return the ends of the transfers of the step before, in which the sender or the receiver took part."""
        # a rank may sit out steps, as in a tree; its last one decides
        for end in {lane, self.system.receiver(lane, step)}:
            for earlier in range(step - 1, -1, -1):
                took_part = {self.system.sender(end, earlier)} - {-1}
                if self.system.receiver(end, earlier) >= 0:
                    took_part.add(end)
                if took_part:
                    yield from (self.over[earlier, sender] for sender in sorted(took_part))
                    break

    def _transfer(self, step: int, lane: int) -> Process:
        pieces = range(len(self.system.sizes(step)))
        ready = [self.there[step, piece, lane] for piece in pieces]
        if self.system.scenario.prefetch:  # registers while the transfer before is under way
            before = next((s for s in range(step - 1, -1, -1) if self.system.receiver(lane, s) >= 0), None)
            if before is not None:
                ready += [self.there[before, piece, lane] for piece in range(len(self.system.sizes(before)))]
        yield self._any(ready)  # its first slice begins a transfer
        leases: list[tuple[int, int, Lease]] = []
        if self.system.scenario.registers:
            ends = [self.env.event() for _ in (SOURCE, DESTINATION)]
            for side, registered in enumerate(ends):
                act = self._register(step, lane, side, registered, leases)
                self.clock.later(REGISTRATION, (*self.turn, step, side, lane), act)
            yield self._all(ends)
        self.posted[step, lane].succeed()
        yield self._all([self.arrived[step, piece, lane] for piece in pieces])
        self.over[step, lane].succeed()
        for side, nic, lease in sorted(leases, key=lambda entry: entry[:2]):
            self.clock.later(
                REGISTRATION,
                (*self.turn, step, 2 + side, lane),
                self._deregister(step, lane, side, nic, lease),
            )

    # ---- registration ------------------------------------------------------------------------------------------

    def _register(
        self, step: int, lane: int, side: int, registered: simpy.Event, leases: list[tuple[int, int, Lease]]
    ) -> Action:
        def act() -> None:
            end = self.system.lanes[lane if side == SOURCE else self.system.receiver(lane, step)]
            nic = end.registration_queue
            lease, answer = self.registration_queue.acquire(nic, end.device, side, step)
            leases.append((side, nic, lease))
            done = self._work_at(step, lane, side, nic, answer, "register")
            # a hit whose lookup takes no time is over at this instant, as in the loop
            if done > self.clock.now:
                self.clock.at(done, lambda: succeed(registered))
            else:
                succeed(registered)

        return act

    def _deregister(self, step: int, lane: int, side: int, nic: int, lease: Lease) -> Action:
        def act() -> None:
            answer = self.registration_queue.release(nic, lease, side, step)
            self.end = max(self.end, self._work_at(step, lane, side, nic, answer, "deregister"))

        return act

    def _work_at(self, step: int, lane: int, side: int, nic: int, answer: Answer, stage: str) -> int:
        """Let the NIC's registration queue do it; return when that is over."""
        sender, now = self.system.lanes[lane], self.clock.now
        start = now
        if answer.queue_ps:  # a hit does not queue
            start = max(now, self.registered_until.get(nic, 0))
            end = self.registered_until[nic] = start + answer.queue_ps
            nbytes = sum(event.nbytes for event in answer.events)
            times = (now, start, end)
            self._log((step, -1, lane), stage_number(stage), nic, nbytes, times, answer.queue_ps)
        # evictions first, then the registration, one after the other in the time of the answer
        begin = start
        for event in answer.events:
            row = (sender.node, nic, sender.device, step, event.kind, side, event.position, event.nbytes)
            self.events.append((*row, begin, begin + event.work_ps))
            begin += event.work_ps
        return start + answer.queue_ps + answer.delay_ps

    # ---- the exchange inside a node ----------------------------------------------------------------------------

    def _begin(self, lane: int) -> None:
        """Start the exchange inside a node: all contributions are there at the start, and several devices add theirs up first."""
        plan, pieces = self.system.plan, range(len(self.system.chunk_sizes))
        schedule, sender = plan.schedule, self.system.lanes[lane]
        # one process for each slice; they queue at the links in the order in which the ring sends
        for position, place in self.system.gather_place.items() if self._begins_in_node(lane) else ():
            for piece in pieces:
                self.own[position, piece, lane] = self.env.event()
                if plan.collects:
                    self._start(self._collect(position, piece, lane, place))
        if plan.scatters and plan.is_root(sender.node, sender.device):
            for piece in pieces:
                self._start(self._scatter(piece, lane))
        if plan.hands_own:  # its own chunk, or a chunk for each, is final from the beginning
            for piece in pieces:
                self._start(self._send_to_peers((-1 if schedule.steps else 0, piece, lane), lane))
        elif plan.hands_out and schedule.steps:
            owned = schedule.owned(0 if schedule.symmetric else self.system.lanes[lane].node)
            for piece in range(len(self.system.chunks_sizes(len(owned))) if owned else 0):
                self._start(self._hand_out_own(owned, piece, lane))

    def _begins_in_node(self, lane: int) -> bool:
        sender = self.system.lanes[lane]
        return self.system.plan.begins_in_node(sender.node, sender.device)

    def _scatter(self, piece: int, root: int) -> Process:
        """Hand each other device of the root's node its share of a slice; behind the last slice the root hands out its own shard."""
        way, first = self.system.inside, -1 if self.system.plan.schedule.steps else 0
        nbytes, link = self.system.chunk_sizes[piece] * way.collects, self.system.lanes[root].scaleup[0]
        yield from self._scaleup(way.collect_stage, (0, piece, root), link, way.resource, nbytes)
        if piece + 1 == len(self.system.chunk_sizes):
            for own in range(piece + 1):
                self._start(self._send_to_peers((first, own, root), root))
        yield self.env.timeout(way.latency_ps)
        self.end = max(self.end, self.clock.now)
        for lane in filter(self._begins_in_node, range(len(self.system.lanes))):
            self.own[0, piece, lane].succeed()
            self._start(self._send_to_peers((first, piece, lane), lane))

    def _hand_out_own(self, owned: range, piece: int, lane: int) -> Process:
        """Hand out a slice of the finished sum when all that is in it has arrived; the last arrival names it."""
        needed = self.system.order(lane).waits[-1]
        arrivals = self._arrivals(needed, owned, piece, lane)
        last: list[Key] = []
        for key, event in self.arrived.items():
            if any(event is arrival for arrival in arrivals):
                self._note(event, key, last)
        yield self._all(arrivals)
        yield from self._send_to_peers(last[-1], lane)

    @staticmethod
    def _note(event: simpy.Event, key: Key, where: list[Key]) -> None:
        event.callbacks.append(lambda _: where.append(key))

    def _collect(self, position: int, piece: int, lane: int, place: int) -> Process:
        way, (links, memory) = self.system.inside, self.system.lanes[lane].scaleup
        key, nbytes = (place, piece, lane), self.system.chunk_sizes[piece]
        yield from self._scaleup(way.collect_stage, key, links, way.resource, nbytes * way.collects)
        yield self.env.timeout(way.latency_ps)
        if way.adds:
            yield from self._scaleup("gather-reduce", key, memory, "scaleup_reduce", nbytes * way.adds)
        self.own[position, piece, lane].succeed()
        self.end = max(self.end, self.clock.now)
        if self.system.plan.schedule.steps == 0 and self.system.plan.hands_out:
            yield from self._send_to_peers(key, lane)

    def _send_to_peers(self, key: Key, owner: int) -> Process:
        link, way = self.system.lanes[owner].scaleup[0], self.system.inside
        step, piece, _ = key
        sizes = (
            self.system.sizes(step)
            if 0 <= step < self.system.plan.schedule.steps
            else self.system.chunk_sizes
        )
        lane = self.system.lanes[owner]
        moved = sizes[piece] * (way.hands - self.system.plan.spares_root(lane.node, lane.device))
        if not moved:  # the root is the only other device, and has it
            return
        yield from self._scaleup(way.hand_stage, (step, piece, owner), link, way.resource, moved)
        yield self.env.timeout(way.latency_ps)
        self.end = max(self.end, self.clock.now)

    def _scaleup(self, stage: str, key: Key, resource: int, kind: str, nbytes: int) -> Process:
        """Let a scale-up link, or the reduction behind it, serve a slice."""
        duration = service(self.system.scenario.cluster_for_message, kind)(nbytes)
        queued, server = self.clock.now, self._server(resource)
        claim = server.ask((*self.turn, *key), Visit(resource, duration, nbytes))
        yield claim.begun
        start = self.clock.now
        yield claim.worked
        server.release(claim)
        self._log(key, stage_number(stage), resource, nbytes, (queued, start, self.clock.now), duration)

    def _log(
        self, key: Key, stage: int, resource: int, nbytes: int, times: tuple[int, int, int], work_ps: int
    ) -> None:
        """Note a span: when it queued, started and ended, and how much of that was its own work."""
        step, piece, lane = key
        sender = self.system.lanes[lane]
        row = (sender.node, sender.device, step, piece, stage, resource, *times, nbytes, work_ps)
        self.spans.append(row)
