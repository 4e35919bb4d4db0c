"""The referee of a step whose nodes differ: the lanes of all nodes and all exchanges in one world, each node at its own pace."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from peerlab.answer.run import Run
from peerlab.answer.trace import REGISTRATION_COLUMNS, SPAN_COLUMNS, Resource
from peerlab.engine.begins import meet_all
from peerlab.engine.legs import Visit
from peerlab.engine.noise_draws import Pauses
from peerlab.engine.opening import opening
from peerlab.engine.recording import recorded
from peerlab.engine.referee.apart import BegunApart
from peerlab.engine.referee.processes import Process
from peerlab.engine.referee.simpy_resources import Claim, Clock, Exclusive, Key, Links, Shared, Window
from peerlab.engine.span_rows import array, columns
from peerlab.engine.system import System
from peerlab.question.scenario import Scenario
from peerlab.training.nodes_differ import POSTED, check_differing, lanes_of, opens_at
from peerlab.training.program import Program
from peerlab.training.rank_by_rank import number_of, queue_of, run_of, system_of, together, warm
from peerlab.training.shown_node import put_together
from peerlab.training.step_trace import StepsInARow, StepTrace
from peerlab.training.training_step import PER_MILLE, Step
from peerlab.training.whole_step import Place, Servers

if TYPE_CHECKING:
    from peerlab.model.registration import RegistrationCache


class SharedLinks:
    """The links of the fabric, as one exchange numbers them; all exchanges of a world share them."""

    def __init__(self, world: "UnevenWorld", system: System) -> None:
        self._world, self._system = world, system

    def ask(self, key: Key, visit: Visit) -> Claim:
        """Queue a slice that arrives now."""
        link = visit.link
        # An exchange numbers its links for itself, and the world's queues have numbers of their own.
        route = tuple(map(self._number, link.route)) if link else ()
        moved = replace(
            visit, resource=self._number(visit.resource), link=link and replace(link, route=route)
        )
        return self._world.links.ask(key, moved)

    def release(self, claim: Claim) -> None:
        """Let the sender take the next slice."""
        self._world.links.release(claim)

    def _number(self, resource: int) -> int:
        return self._world.number_of(self._system.resources[resource])


class OneOfSeveral(BegunApart):
    """An exchange in a world that those before it and behind it use, too."""

    def __init__(self, world: "UnevenWorld", number: int) -> None:
        in_step = number % len(world.scenarios)
        scenario, op = world.scenarios[in_step], world.program.exchanging[in_step]
        self.world, self.number = world, number
        system = system_of(scenario, number_of(scenario, number))
        meet_all(system)
        queue = queue_of(system, None if world.caches is None else (), op.buffer_set)
        if world.caches is not None:  # an exchange before this one may be under way on other nodes
            queue.caches = world.caches
            queue.begin(op.buffer_set)
        self.begins = [0] * system.plan.nodes
        # What opens an exchange each node waits out for itself, before it sends a slice.
        self.opening = sum(lasts for *_, lasts in opening(system))
        self.together = together(scenario)
        self.waiting = set(range(system.plan.nodes))
        """Nodes that have not come."""
        # Where all wait for the last, none takes slices before.
        super().__init__(system, queue, world.clock, self._over, posted=world.posted and not self.together)
        # The first part of every key: of what comes at one instant the earlier exchange is first.
        self.turn = (number,)
        self.finished = [self.env.event() for _ in self.nodes]
        self.links = SharedLinks(world, system)  # type: ignore[assignment]

    def come(self, node: int) -> None:
        """Note that a node comes; it begins, or where all have to be there the last lets all begin."""
        self.waiting.discard(node)
        for each in self.nodes if self.together else [node]:
            if not (self.together and self.waiting):
                self.begin_node(each)

    def _over(self, node: int) -> None:
        for each in self.nodes if self.together else [node]:
            if not self.together or len(self.done) == len(self.nodes):
                self.finished[each].succeed()

    def _server(self, resource: int) -> Exclusive | Shared:
        return self.world.servers.of(self.system.resources[resource])

    def _window(self, pool: int) -> Window:
        if pool not in self.windows:
            name = next(place for place, index in self.system.pools.items() if index == pool)
            places = self.system.places[pool]
            window, before = self.world.windows.get(name, (Window(self.clock, 0), 0))
            window.places += places - before  # what is still held stays held
            self.world.windows[name] = (window, places)
            self.windows[pool] = window
        return self.windows[pool]

    @cached_property
    def answer(self) -> tuple[tuple[int, ...], tuple[int, ...], Run]:
        """When each node began and was done, and what happened, once all is over."""
        done = [self.done[node] for node in self.nodes]
        done = [max(done)] * len(done) if self.together else done
        first = max(self.begins) if self.together else min(self.begins)
        at = [max(t, first) - first for t in self.begins]
        spans, events = array(self.spans, len(SPAN_COLUMNS)), array(self.events, len(REGISTRATION_COLUMNS))
        # The world's clock goes on from exchange to exchange; a run counts from its own beginning.
        since = first + self.opening
        for rows, names, times in (
            (spans, SPAN_COLUMNS, ("queued", "start", "end")),
            (events, REGISTRATION_COLUMNS, ("start", "end")),
        ):
            rows[:, [names.index(name) for name in times]] -= since
        both = columns(SPAN_COLUMNS, spans), columns(REGISTRATION_COLUMNS, events)
        end = max(self.end, *self.done.values()) - since
        recording = recorded(self.system, self.registration_queue, both, end, begins=at)
        return tuple(self.begins), tuple(done), run_of(self.system, recording, "referee")


class UnevenWorld:
    """A step, or a row of them, in one world; every node begins the first at 0."""

    def __init__(self, step: Step, program: Program, scenarios: Sequence[Scenario]) -> None:
        self.step, self.program, self.scenarios = step, program, scenarios
        for scenario in set(scenarios):
            check_differing(scenario)
        nobody = [0] * step.scenario.domains
        self._lanes = [lanes_of(step, program, turn, nobody) for turn in range(step.steps)]
        self.posted = opens_at(step) == POSTED
        self.clock = Clock()
        self.env = self.clock.env
        self.servers = Servers(self.clock)
        self.windows: dict[Place, tuple[Window, int]] = {}
        self.links = Links(self.clock, [])
        self._numbers: dict[Place, int] = {}
        self.caches: dict[int, RegistrationCache] | None = None if warm(step.scenario) else {}
        """Of every NIC; None: all memory is registered before the step."""
        self._exchanges: list[OneOfSeveral] = []
        self.nodes = nodes = range(len(nobody))
        self._under_way = [False for _ in nodes]
        self._changed = [self.env.event() for _ in nodes]
        self._through = [[self.env.event() for _ in self._all(program.computing)] for _ in nodes]
        self._over = [[self.env.event() for _ in self._all(program.exchanging)] for _ in nodes]
        self._ready: list[list[int]] = [[0 for _ in nodes] for _ in self._all(program.exchanging)]

    def _all(self, ops: Sequence[Any]) -> range:
        """Return the numbers of operations through all steps, counted on."""
        return range(self.step.steps * len(ops))

    def number_of(self, resource: Resource) -> int:
        """Return the number of a link in this world."""
        place = (resource.kind, resource.node, resource.index)
        if place not in self._numbers:
            self._numbers[place] = len(self._numbers)
            self.links.resources = [*self.links.resources, resource]
        return self._numbers[place]

    def run(self) -> StepTrace:
        """Return the step."""
        for node in self.nodes:
            self.env.process(self._compute(node))
            self.env.process(self._exchange_all(node))
        self.env.run()
        answers, count = [exchange.answer for exchange in self._exchanges], len(self.scenarios)
        ends = []
        for turn, lanes in enumerate(self._lanes):
            for node, lane in enumerate(lanes):
                some = answers[turn * count : (turn + 1) * count]
                lane.placed = [(begins[node], done[node]) for begins, done, _ in some]
            ends.append(tuple(lane.finish() for lane in lanes))
        row = StepsInARow(tuple(ends)) if self.step.steps > 1 else None
        return put_together(self.program, self._lanes[-1], self._ready[-count:], answers[-count:], row)

    def _compute(self, node: int) -> Process:
        count, exchanges = len(self.program.computing), len(self.program.exchanging)
        for index in self._all(self.program.computing):
            turn, number = divmod(index, count)
            lane = self._lanes[turn][node]
            if turn and not number:  # a step begins when the node's own last exchange is over
                yield self._over[node][turn * exchanges - 1]
            if not number:
                lane.begin = self.clock.now
            for exchange in self.program.computing[number].after:
                yield self._over[node][turn * exchanges + exchange]
            # In thousandths, so that a slow-down leaves whole numbers.
            begin = self.clock.now
            yield from self._work(node, lane.durations[number] * PER_MILLE, lane.pauses)
            lane.computed.append((begin, self.clock.now))
            self._through[node][index].succeed()

    def _work(self, node: int, left: int, pauses: Pauses | None) -> Process:
        """Compute so many thousandths of a picosecond of work, but not while the node stands still."""
        while left > 0:
            since, free = self.clock.now, left
            if pauses:
                at = (since - pauses.phase) % pauses.period
                if at < pauses.length:
                    yield self.env.timeout(pauses.length - at)
                    continue
                free = pauses.period - at
            rate = PER_MILLE - (self.step.slowdown_per_mille if self._under_way[node] else 0)
            # Whichever is first: done at this rate, a pause, or another rate.
            yield self.env.any_of([self.env.timeout(min(-(-left // rate), free)), self._changed[node]])
            left -= (self.clock.now - since) * rate

    def _exchange_all(self, node: int) -> Process:
        count, ops = len(self.program.exchanging), len(self.program.computing)
        for index in self._all(self.program.exchanging):
            turn, number = divmod(index, count)
            exchange, after = self._exchange(index), self.program.exchanging[number].after
            # Before it waits for its own gradients: others may send ahead into posted buffers.
            exchange.open_node(node)
            if turn and not number:  # all of the step before has to be computed
                yield self._through[node][turn * ops - 1]
                self._lanes[turn][node].begin = self.clock.now
            lane = self._lanes[turn][node]
            for other in after:
                yield self._through[node][turn * ops + other]
            self._ready[index][node] = max((lane.computed[o][1] for o in after), default=lane.begin)
            # From here on the lane is slowed: the opening of an exchange belongs to it.
            self._change(node, under_way=True)
            exchange.begins[node] = self.clock.now
            yield self.env.timeout(exchange.opening)
            exchange.come(node)
            yield exchange.finished[node]
            self._change(node, under_way=False)
            self._over[node][index].succeed()

    def _exchange(self, number: int) -> OneOfSeveral:
        # All nodes come to the exchanges in one order, so whoever is first makes the next.
        if number == len(self._exchanges):
            self._exchanges.append(OneOfSeveral(self, number))
        return self._exchanges[number]

    def _change(self, node: int, *, under_way: bool) -> None:
        self._under_way[node] = under_way
        # An event of SimPy happens once, so the next change needs another.
        changed, self._changed[node] = self._changed[node], self.env.event()
        changed.succeed()
