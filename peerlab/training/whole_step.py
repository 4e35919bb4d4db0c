"""The referee of a step: compute lane, stream and all collectives in one world, with one clock and the same resources throughout."""

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import simpy

from peerlab.answer.run import Run
from peerlab.answer.trace import REGISTRATION_COLUMNS, SPAN_COLUMNS, Iteration, Ran, Recording, Resource
from peerlab.engine import recording
from peerlab.engine.opening import opening
from peerlab.engine.referee.processes import Process, Referee
from peerlab.engine.referee.simpy_resources import OVER, Clock, Exclusive, Shared
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.simulate import simulate, trace
from peerlab.engine.span_rows import array, columns
from peerlab.engine.system import System, least
from peerlab.training.program import Exchanging, Program
from peerlab.training.step_composition import place_of, scenario_of
from peerlab.training.step_trace import Computed, Placed, StepsInARow, StepTrace
from peerlab.training.training_step import PER_MILLE, Step

if TYPE_CHECKING:
    from peerlab.model.registration import RegistrationCache

Waits = Generator[simpy.Event, object, None]
Place = tuple[str, int, int]
"""Kind, node and place of a resource, whatever its number in a system."""


class Servers:
    """The resources of a world, which many systems have, each under a number of its own."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._servers: dict[Place, Exclusive | Shared] = {}

    def of(self, resource: Resource) -> Exclusive | Shared:
        """Return what serves a resource; it is made when it is first asked for."""
        place = (resource.kind, resource.node, resource.index)
        if place not in self._servers:
            self._servers[place] = (Shared if resource.shared else Exclusive)(self._clock, resource)
        return self._servers[place]


class OneOfMany(Referee):
    """A collective that begins now, in a world that others have used; `finished` happens when all its processes are through."""

    def __init__(self, system: System, registration_queue: RegistrationQueue, world: "World") -> None:
        super().__init__(system, registration_queue, world.clock)
        self.world = world
        self.running = 0
        self.finished = self.env.event()
        self.end = self.clock.now
        for nic in {lane.registration_queue for lane in system.lanes}:
            # A NIC may still be busy with what the exchange before it registered.
            self.registered_until[nic] = world.registered_until.get(place_of(system, nic), 0)

    def begin(self) -> None:
        """Start every process, now."""
        super().begin()
        # Behind all else of this instant: an exchange without processes is over at once.
        self.clock.later(OVER, (), self._look)

    def _server(self, resource: int) -> Exclusive | Shared:
        return self.world.servers.of(self.system.resources[resource])

    def _start(self, process: Process) -> None:
        self.running += 1
        self.env.process(process).callbacks.append(self._ended)

    def _ended(self, _: simpy.Event) -> None:
        self.running -= 1
        # Not at once: in this instant, what has ended may start what follows it.
        if not self.running:
            self.clock.later(OVER, (), self._look)

    def _look(self) -> None:
        if not self.running and not self.finished.triggered:
            self.finished.succeed()


class World:
    """A step, run as often as the scenario says, in one world."""

    def __init__(self, step: Step, program: Program) -> None:
        self.step, self.program = step, program
        self.clock = Clock()
        self.env = self.clock.env
        self.servers = Servers(self.clock)
        self.caches: dict[tuple[int, int], RegistrationCache] = {}
        self.registered_until: dict[tuple[int, int], int] = {}
        self.under_way = False
        self.changed = self.env.event()
        self.computed: list[Computed] = []
        self.placed: list[Placed] = []

    def run(self) -> StepTrace:
        """Return the last step; the row are those after the caches were filled."""
        # The steps before those that are shown only fill the caches.
        total, before, ends = 0, self.step.scenario.runs - 1, list[tuple[int]]()
        for turn in range(before + self.step.steps):
            self.began, self.computed, self.placed = self.clock.now, [], []
            self.through = [self.env.event() for _ in self.program.computing]
            self.over = [self.env.event() for _ in self.program.exchanging]
            self.env.process(self._compute())
            self.env.process(self._exchange_all())
            # All of a step is over before the next begins; only clock and caches go on.
            self.env.run()
            shown = StepTrace(tuple(self.computed), tuple(self.placed))
            if turn >= before:
                total += shown.end_ps
                ends.append((total,))
        return replace(shown, row=StepsInARow(tuple(ends))) if self.step.steps > 1 else shown

    def _compute(self) -> Waits:
        for op, through in zip(self.program.computing, self.through, strict=True):
            for exchange in op.after:
                yield self.over[exchange]
            # In thousandths, so that a slow-down leaves whole numbers.
            begin, left = self.clock.now, op.duration_ps * PER_MILLE
            while left > 0:
                rate = PER_MILLE - (self.step.slowdown_per_mille if self.under_way else 0)
                since = self.clock.now
                yield self.env.any_of([self.env.timeout(-(-left // rate)), self.changed])
                left -= (self.clock.now - since) * rate
            self.computed.append(Computed(op, begin - self.began, self.clock.now - self.began))
            through.succeed()

    def _exchange_all(self) -> Waits:
        for op, over in zip(self.program.exchanging, self.over, strict=True):
            for computation in op.after:
                yield self.through[computation]
            self._change(under_way=True)
            yield from self._exchange(op)
            self._change(under_way=False)
            over.succeed()

    def _change(self, *, under_way: bool) -> None:
        # Set first: who is woken asks for it.
        self.under_way = under_way
        changed, self.changed = self.changed, self.env.event()
        changed.succeed()

    def _exchange(self, op: Exchanging) -> Waits:
        scenario = scenario_of(self.step, op)
        system, begin = least(scenario), self.clock.now
        yield self.env.timeout(sum(lasts for *_, lasts in opening(system)))
        queue = RegistrationQueue(system)
        nics = {lane.registration_queue: place_of(system, lane.registration_queue) for lane in system.lanes}
        # A NIC's number differs from system to system, so caches are kept by its place.
        queue.caches.update({nic: self.caches[place] for nic, place in nics.items() if place in self.caches})
        queue.begin(op.buffer_set)
        one_of_many, since = OneOfMany(system, queue, self), self.clock.now
        one_of_many.begin()
        yield one_of_many.finished
        # The last span may end after the last process did.
        yield self.env.timeout(max(0, one_of_many.end - self.clock.now))
        self.caches.update({nics[nic]: cache for nic, cache in queue.caches.items()})
        self.registered_until.update(
            {nics[nic]: until for nic, until in one_of_many.registered_until.items()}
        )
        record = _relative(one_of_many, since)
        run = Run(scenario, trace(system, record, Ran((Iteration(0, record),))), "referee", simulate)
        ready = max((self.computed[other].end_ps for other in op.after), default=0)
        self.placed.append(Placed(op, run, ready, begin - self.began))


def _relative(collective: OneOfMany, since: int) -> Recording:
    """Return what a collective recorded, counted from its own beginning."""
    spans, events = (
        array(collective.spans, len(SPAN_COLUMNS)),
        array(collective.events, len(REGISTRATION_COLUMNS)),
    )
    _earlier(spans, [SPAN_COLUMNS.index(name) for name in ("queued", "start", "end")], since)
    _earlier(events, [REGISTRATION_COLUMNS.index(name) for name in ("start", "end")], since)
    rows = columns(SPAN_COLUMNS, spans), columns(REGISTRATION_COLUMNS, events)
    return recording.recorded(collective.system, collective.registration_queue, rows, collective.end - since)


def _earlier(rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]], which: list[int], since: int) -> None:
    for column in which:
        rows[:, column] -= since
