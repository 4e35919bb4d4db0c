"""The referee: the same physics told as SimPy processes, slow and plain.

A slice waits for its data and for its transfer to be posted, then goes from stage to stage. In a stage every resource
serves it independently; the stage ends when the slowest has. Events of one instant happen in this order: everything
that ends, the registration desk, places in windows, resources; ties go to the lowest key.
"""

from collections.abc import Generator, Iterator

import simpy

from peerlab.engine.desk import DESTINATION, SOURCE, Answer, Desk
from peerlab.engine.servers import DESK, Action, Clock, Exclusive, Key, Log, Shared, Window, succeed
from peerlab.engine.world import STAGE_IDS, Leg, World
from peerlab.model.path import service
from peerlab.model.registration import Lease

Process = Generator[simpy.Event, object, None]
Span = tuple[int, int, int, int, int, int, int, int, int, int]
"""``(node, device, step, slice, stage, resource, queued, start, end, bytes)``."""


class Referee:
    """One iteration of a world's collective, as processes."""

    def __init__(self, world: World, desk: Desk) -> None:
        self.world, self.desk = world, desk
        self.clock = Clock()
        self.env = self.clock.env
        kinds = [Shared if resource.shared else Exclusive for resource in world.resources]
        self.servers = [
            kind(self.clock, resource) for kind, resource in zip(kinds, world.resources, strict=True)
        ]
        self.windows = [Window(self.clock, world.scenario.window_slices) for _ in range(world.pools)]
        self.there: dict[Key, simpy.Event] = {}
        self.own: dict[Key, simpy.Event] = {}
        self.posted: dict[Key, simpy.Event] = {}
        self.arrived: dict[Key, simpy.Event] = {}
        self.spans: list[Span] = []
        self.events: list[tuple[int, ...]] = []
        self.end = 0

    def run(self) -> None:
        """Run to the end."""
        schedule, lanes = self.world.plan.schedule, range(len(self.world.lanes))
        pieces = range(len(self.world.sizes))
        for step in range(schedule.steps):
            for lane in lanes:
                self.posted[step, lane] = self.env.event()
                for piece in pieces:
                    self.there[step, piece, lane] = self.env.event()
                    self.arrived[step, piece, lane] = self.env.event()
        for lane in lanes:
            self._begin(lane)
        for step in range(schedule.steps):
            for lane in lanes:
                self.env.process(self._transfer(step, lane))
                for piece in pieces:
                    self.env.process(self._slice(step, piece, lane))
        self.env.run()

    # ---- the ring between the nodes ----------------------------------------------------------------------------

    def _slice(self, step: int, piece: int, lane: int) -> Process:
        key = (step, piece, lane)
        schedule, way = self.world.plan.schedule, self.world.lanes[lane]
        yield self.there[key]
        yield self.posted[step, lane]
        adds = step < schedule.reducing_steps
        for leg in (way.adding if adds else way.keeping)[piece]:
            if leg.gated:
                yield self.own[step + 1, piece, way.to]
            if leg.acquire >= 0:
                yield self.windows[leg.acquire].take(key)
            yield self.env.all_of(list(self._stage(key, leg)))
            if leg.flight_ps:
                now = self.clock.now
                self._log(key, STAGE_IDS["flight"], way.wire, 0)(now, now, now + leg.flight_ps)
                yield self.env.timeout(leg.flight_ps)
            if leg.release >= 0:
                self.windows[leg.release].give()
        self.end = max(self.end, self.clock.now)
        self.arrived[key].succeed()
        if self.world.plan.hands_out and step >= schedule.reducing_steps - 1:
            self.env.process(self._hand_out(step, piece, lane))
        if not self.world.scenario.blocking and way.to >= 0 and step + 1 < schedule.steps:
            self.there[step + 1, piece, way.to].succeed()

    def _stage(self, key: Key, leg: Leg) -> Iterator[simpy.Event]:
        for visit in (*leg.exclusive, *leg.shared):
            log = self._log(key, leg.stage, visit.resource, visit.nbytes)
            yield self.servers[visit.resource].serve(key, visit.engine, visit.duration_ps, log)

    def _transfer(self, step: int, lane: int) -> Process:
        pieces = range(len(self.world.sizes))
        if self.world.scenario.blocking and step:
            for other in self._partners(lane):
                yield self.env.all_of([self.arrived[step - 1, piece, other] for piece in pieces])
            for piece in pieces:
                self.there[step, piece, lane].succeed()
        yield self.env.any_of([self.there[step, piece, lane] for piece in pieces])
        leases: list[tuple[int, Lease]] = []
        if self.world.scenario.registers:
            ends = [self.env.event() for _ in (SOURCE, DESTINATION)]
            for side, registered in enumerate(ends):
                act = self._register(step, lane, side, registered, leases)
                self.clock.later(DESK, (step, side, lane), act)
            yield self.env.all_of(ends)
        self.posted[step, lane].succeed()
        yield self.env.all_of([self.arrived[step, piece, lane] for piece in pieces])
        for side, lease in sorted(leases, key=lambda entry: entry[0]):
            self.clock.later(DESK, (step, 2 + side, lane), self._deregister(step, lane, side, lease))

    def _partners(self, lane: int) -> set[int]:
        lanes = self.world.lanes
        senders = {other for other, way in enumerate(lanes) if way.to == lane}
        return {lane, *senders, *({lanes[lane].to} - {-1})}

    # ---- registration ------------------------------------------------------------------------------------------

    def _register(
        self, step: int, lane: int, side: int, registered: simpy.Event, leases: list[tuple[int, Lease]]
    ) -> Action:
        def act() -> None:
            way = self.world.lanes[lane]
            lease, answer = self.desk.acquire(way.desks[side], way.device, side, step)
            leases.append((side, lease))
            done = self._work_at(step, lane, side, answer, "register")
            if done > self.clock.now:
                self.clock.at(done, lambda: succeed(registered))
            else:
                succeed(registered)

        return act

    def _deregister(self, step: int, lane: int, side: int, lease: Lease) -> Action:
        def act() -> None:
            answer = self.desk.release(self.world.lanes[lane].desks[side], lease, side, step)
            self.end = max(self.end, self._work_at(step, lane, side, answer, "deregister"))

        return act

    def _work_at(self, step: int, lane: int, side: int, answer: Answer, stage: str) -> int:
        """Let the NIC's registration queue do it; return when that is over."""
        way, now = self.world.lanes[lane], self.clock.now
        nic = way.desks[side]
        queue, start = self.servers[nic], now
        if answer.queue_ps and isinstance(queue, Exclusive):
            start, end = queue.take(answer.queue_ps)
            nbytes = sum(event.nbytes for event in answer.events)
            self._log((step, -1, lane), STAGE_IDS[stage], nic, nbytes)(now, start, end)
        begin = start
        for event in answer.events:
            row = (way.node, nic, way.device, step, event.kind, side, event.position, event.nbytes)
            self.events.append((*row, begin, begin + event.work_ps))
            begin += event.work_ps
        return start + answer.queue_ps + answer.delay_ps

    # ---- the exchange inside a node ----------------------------------------------------------------------------

    def _begin(self, lane: int) -> None:
        """Everything a rank contributes is there at the start; with several devices a node, it is added up first."""
        steps, pieces = self.world.plan.schedule.steps, range(len(self.world.sizes))
        plan = self.world.plan
        if not plan.collects:
            for piece in pieces if steps else ():
                self.there[0, piece, lane].succeed()
            for piece in pieces if plan.hands_out else ():  # its own chunk is final from the beginning
                self.env.process(self._send_to_peers((-1 if steps else 0, piece, lane), lane))
            return
        for position in range(self.world.plan.schedule.chunks):
            for piece in pieces:
                self.own[position, piece, lane] = self.env.event()
                self.env.process(self._collect(position, piece, lane))
                if steps and position == 0:
                    self.env.process(self._send_first(piece, lane))

    def _send_first(self, piece: int, lane: int) -> Process:
        yield self.own[0, piece, lane]
        self.there[0, piece, lane].succeed()

    def _collect(self, position: int, piece: int, lane: int) -> Process:
        machine, way = self.world.scenario.hardware, self.world.lanes[lane]
        peers = machine.devices - 1
        key = (position, piece, lane)
        yield self._scaleup("gather", key, way.scaleup[0], "scaleup", peers)
        yield self.env.timeout(machine.scaleup_latency_ps)
        yield self._scaleup("gather-reduce", key, way.scaleup[1], "scaleup_reduce", peers + 2)
        self.own[key].succeed()
        self.end = max(self.end, self.clock.now)
        if self.world.plan.schedule.steps == 0 and self.world.plan.hands_out:
            yield from self._send_to_peers(key, lane)

    def _hand_out(self, step: int, piece: int, lane: int) -> Process:
        yield from self._send_to_peers((step, piece, lane), self.world.lanes[lane].to)

    def _send_to_peers(self, key: Key, owner: int) -> Process:
        machine = self.world.scenario.hardware
        link = self.world.lanes[owner].scaleup[0]
        yield self._scaleup("broadcast", (*key[:2], owner), link, "scaleup", machine.devices - 1)
        yield self.env.timeout(machine.scaleup_latency_ps)
        self.end = max(self.end, self.clock.now)

    def _scaleup(self, stage: str, key: Key, resource: int, kind: str, touches: int) -> simpy.Event:
        nbytes = self.world.sizes[key[1]] * touches
        duration = service(self.world.scenario.hardware, kind)(nbytes)
        return self.servers[resource].serve(
            key, -1, duration, self._log(key, STAGE_IDS[stage], resource, nbytes)
        )

    def _log(self, key: Key, stage: int, resource: int, nbytes: int) -> Log:
        step, piece, lane = key
        way = self.world.lanes[lane]

        def log(queued: int, start: int, end: int) -> None:
            self.spans.append(
                (way.node, way.device, step, piece, stage, resource, queued, start, end, nbytes)
            )

        return log
