"""The referee of an exchange that nodes begin apart: each when it is told to, in a world that other exchanges use too."""

from collections import Counter
from collections.abc import Callable
from functools import partial

from peerlab.answer.trace import REGISTRATION_COLUMNS, SPAN_COLUMNS
from peerlab.engine.begins import Begins, gives_back, meet_all, waits_for_arrival
from peerlab.engine.exchange_apart import Ended, earlier
from peerlab.engine.legs import Leg, Visit
from peerlab.engine.opening import opening
from peerlab.engine.recording import recorded
from peerlab.engine.referee.processes import Process, Referee
from peerlab.engine.referee.simpy_resources import BEGINS, OVER, Clock, Key, succeed
from peerlab.engine.registration_queue import Answer, RegistrationQueue
from peerlab.engine.span_rows import array, columns
from peerlab.engine.system import System

Told = Callable[[int], None]


class BegunApart(Referee):
    """One exchange; `begin_node` and `open_node` say when a node begins, and when it takes slices of others."""

    def __init__(
        self, system: System, registration_queue: RegistrationQueue, clock: Clock, done: Told, *, posted: bool
    ) -> None:
        super().__init__(system, registration_queue, clock)
        self.nodes = range(system.plan.nodes)
        self.done: dict[int, int] = {}
        """When each node was done."""
        self._tell, self._posted = done, posted
        self._begun = [self.env.event() for _ in self.nodes]
        self._open = [self.env.event() for _ in self.nodes] if posted else self._begun
        self._left = Counter(dict.fromkeys(self.nodes, 1))
        """By node: parts of the exchange that it has to do; one is to begin."""
        self._until: Counter[int] = Counter()
        """By node: when its NICs have given back the memory of transfers that are over."""
        self.window = self._window
        self.make_events()
        for step, lane in self._transfers():
            self._count(step, lane)
        self.start_transfers()

    def _count(self, step: int, lane: int) -> None:
        """Count the parts of a transfer: what its slices visit at the sender, that they arrive, and its end."""
        source, to = self._node(lane), self._node(self.system.receiver(lane, step))
        slices = self.legs(lane, step)
        for piece in range(len(slices)):
            visits = [visit for leg in slices[piece] for visit in leg.visits]
            self._left[source] += sum(self._owner(visit) == source for visit in visits)
            self._left[to] += 1
        self._left[to] += 1
        self._left[source] += waits_for_arrival(self.system)

    def _node(self, lane: int) -> int:
        return self.system.lanes[lane].node

    def _owner(self, visit: Visit) -> int:
        return self.system.resources[visit.resource].node

    # ---- begins ------------------------------------------------------------------------------------------------

    def begin_node(self, node: int) -> None:
        """Let a node begin, when all else of this instant has happened."""
        self.clock.later(BEGINS, (*self.turn, node), partial(self._begin_now, node))

    def open_node(self, node: int) -> None:
        """Let a node take slices of others from now on, where places are posted ahead."""
        if self._posted:
            self.clock.later(BEGINS, (*self.turn, node), partial(succeed, self._open[node]))

    def _begin_now(self, node: int) -> None:
        for lane, sender in enumerate(self.system.lanes):
            if sender.node == node:
                self._begin(lane)
        self._begun[node].succeed()
        self._part_over(node)

    def _data(self, step: int, piece: int, lane: int) -> Process:
        to = self._node(self.system.receiver(lane, step))
        yield self._begun[self._node(lane)]
        yield self._begun[to] if self.system.scenario.blocking else self._open[to]
        yield from super()._data(step, piece, lane)

    def _before_leg(self, key: Key, leg: Leg, to: int) -> Process:
        if self._posted and self.system.at_receiver(leg, to):
            yield self._begun[self._node(to)]
        yield from super()._before_leg(key, leg, to)

    # ---- ends --------------------------------------------------------------------------------------------------

    def _part_over(self, node: int) -> None:
        self._left[node] -= 1
        if not self._left[node]:
            self.clock.later(OVER, (), partial(self._look, node))

    def _look(self, node: int) -> None:
        if self._left[node] or node in self.done:
            return
        if self._until[node] > self.clock.now:
            self.clock.at(self._until[node], partial(self._look, node))
            return
        self.done[node] = self.clock.now
        self._tell(node)

    def _released(self, key: Key, visit: Visit) -> None:
        if self._owner(visit) == self._node(key[2]):
            self._part_over(self._node(key[2]))

    def _slice(self, step: int, piece: int, lane: int) -> Process:
        yield from super()._slice(step, piece, lane)
        self._part_over(self._node(self.system.receiver(lane, step)))

    def _transfer(self, step: int, lane: int) -> Process:
        yield from super()._transfer(step, lane)
        self._part_over(self._node(self.system.receiver(lane, step)))
        if waits_for_arrival(self.system):
            self._part_over(self._node(lane))

    def _work_at(self, step: int, lane: int, side: int, nic: int, answer: Answer, stage: str) -> int:
        over = super()._work_at(step, lane, side, nic, answer, stage)
        if gives_back(self.system):
            node = self.system.resources[nic].node
            self._until[node] = max(self._until[node], over)
        return over

    # ---- inside a node -----------------------------------------------------------------------------------------

    def _part(self, lane: int, process: Process) -> Process:
        self._left[self._node(lane)] += 1
        yield from process
        self._part_over(self._node(lane))

    def _collect(self, position: int, piece: int, lane: int, place: int) -> Process:
        return self._part(lane, super()._collect(position, piece, lane, place))

    def _hand_out_own(self, owned: range, piece: int, lane: int) -> Process:
        return self._part(lane, super()._hand_out_own(owned, piece, lane))

    def _send_to_peers(self, key: Key, owner: int) -> Process:
        return self._part(owner, super()._send_to_peers(key, owner))


def by_referee(system: System, registration_queue: RegistrationQueue, begins: Begins) -> Ended:
    """Return the exchange alone in a world; which places are held after it is not noted."""
    shift = sum(lasts for *_, lasts in opening(system))
    begins = earlier(begins, shift)
    clock = Clock()
    meet_all(system)
    begun_apart = BegunApart(system, registration_queue, clock, _nobody, posted=begins.posted)
    for node in begun_apart.nodes:
        clock.at(begins.at[node], partial(begun_apart.begin_node, node))
        clock.at(max(0, begins.opens[node]), partial(begun_apart.open_node, node))
    for pool, until in begins.held:
        kind, *end = pool
        window = begun_apart.window(system.pool(kind, (end[0], end[1]), system.scenario.places))
        window.places -= len(until)
        for t in until:
            clock.at(t, window.give)
    clock.env.run()
    rows = (
        columns(SPAN_COLUMNS, array(begun_apart.spans, len(SPAN_COLUMNS))),
        columns(REGISTRATION_COLUMNS, array(begun_apart.events, len(REGISTRATION_COLUMNS))),
    )
    done = tuple(begun_apart.done[node] + shift for node in begun_apart.nodes)
    recording = recorded(
        system, registration_queue, rows, max(begun_apart.end, *begun_apart.done.values()), begins=begins.at
    )
    return Ended(recording, done, ())


def _nobody(_node: int) -> None:
    """Tell nobody."""
