"""The fast engine: an event loop over one heap of integer times.

Per instant, in this order, as in the referee: everything that ends; then the registration queues; then places in windows
are given out; then resources that are free again, and slices that arrive. Ties go to the lowest key: step, then slice, then lane.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from peerlab.answer.trace import Block
from peerlab.engine.begins import Begins
from peerlab.engine.legs import Leg
from peerlab.engine.loop.adding_up import ADDS, AddingUp, adds_last
from peerlab.engine.loop.blocking_steps import BlockingSteps
from peerlab.engine.loop.collector import not_collecting
from peerlab.engine.loop.data_readiness import DataReadiness
from peerlab.engine.loop.few_lanes import FewLanes
from peerlab.engine.loop.in_order import in_order
from peerlab.engine.loop.loop_resources import ALARM, GATED, POSTED, STAGE_OVER, Heap, Rows, Serving
from peerlab.engine.loop.nodes_apart import NodesApart
from peerlab.engine.loop.transfers import Course, Transfers
from peerlab.engine.loop.waiting_line import WaitingLine, stands_in_line
from peerlab.engine.loop.windows import Windows
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.span_rows import MANY, Whole, spans_of
from peerlab.engine.system import System

Progress = Callable[[int, int], None]
"""Called with steps done and steps in all; may raise `Cancelled`."""
_EVENTS = 8192
"""Events without a span after which it is called, too: with jitter, the first instant may begin ten thousands of slices."""


class Loop:
    """Runs one iteration of a system's collective and records every span.

    A slice's id is its key: ``(step * pieces + number) * lanes + lane``; a transfer's is ``step * lanes + lane``.
    """

    few: FewLanes | None = None
    """Whose spans are kept; None: everybody's."""

    def __init__(
        self,
        system: System,
        registration_queue: RegistrationQueue,
        gathered: list[int] | None,
        progress: Progress | None,
        begins: Begins | None = None,
    ) -> None:
        schedule = system.plan.schedule
        self.system, self.registration_queue, self.progress = system, registration_queue, progress
        self.lanes, self.pieces = len(system.lanes), system.pieces
        self.heap: Heap = []
        self.rows: Rows = []
        """The latest spans; those before them are in `tables`."""
        self.tables: list[Whole] = []
        """Spans as tables of `SPAN_COLUMNS`, where no steps are left out: a third of what they hold as Python's numbers."""
        self.end = 0
        self.course = Course(schedule.steps, schedule.reducing_steps)
        self.serving = Serving(self.lanes, self.heap, self.rows, in_order(system))
        self.windows = Windows()
        places, notes = (self.serving, self.windows), (self.heap, self.rows)
        self.line = None
        """What stands in line; None: every slice comes when its data is there."""
        self.adding = None
        """What adds up behind the loop; None: it is a leg of the loop as any other."""
        if stands_in_line(system, registration_queue):
            self.line = WaitingLine(system, self.course, gathered, self.heap)
            if legs := adds_last(system):
                self.adding = AddingUp(system, legs, gathered)
        self.transfers = Transfers(
            system, registration_queue, self.course, places, notes, in_line=bool(self.line)
        )
        self.readiness = DataReadiness(system, self.course, gathered, self.heap, self.line, self.adding)
        self.apart = None
        """When nodes begin; None: all together, at 0."""
        if begins:
            self.readiness.begun = begins.at
            self.apart = NodesApart(system, begins, self.windows, self.heap)
        self._under_way, self._routes = self.transfers.under_way, self.transfers.routes
        self.blocking_steps = BlockingSteps(system) if system.scenario.blocking else None
        self.gate_waits = 0
        """How often a slice waited for its node's own contribution."""
        self.at_gate = 0
        """Slices that wait for it."""
        self.leg: dict[int, int] = {}
        """By slice: the number of the leg that it is in."""
        self.marker: int | None = None
        """Step of lane 0 whose first slice has arrived in this instant."""

    def run(self, watch: "Callable[[Loop, int, int], None] | None" = None) -> None:
        """Run to the end; `watch` sees the loop after every instant in which lane 0 completed a first slice."""
        with not_collecting() as set_apart:
            self._run(watch, set_apart)
        self.end = max(self.end, self.transfers.end)

    def _run(self, watch: "Callable[[Loop, int, int], None] | None", set_apart: Callable[[], None]) -> None:
        self._begin()
        heap, serving = self.heap, self.serving
        # by kind of entry
        handle = (self._over, serving.arrives, serving.through, self._deliver, self._gate_opens, self._posted)
        come = self.apart.come if self.apart else _come_to_nobody
        due = events = 0
        while heap:
            now = heap[0][0]
            # an event may cause others at this very instant; they belong to it, and come before what `_settle` decides
            while heap and heap[0][0] == now:
                _, kind, what, generation = heappop(heap)
                if kind < ALARM:
                    handle[kind](now, what)
                elif kind == ALARM:  # of a resource, which may end its work on several slices at once
                    serving.alarm(now, what, generation)
                else:
                    come(kind, what)
                events += 1
                if not events % _EVENTS and self.progress:
                    self._report()
            self._settle(now)
            if self.apart:
                self._begin_apart(now, self.apart)
            if watch and self.marker is not None:
                watch(self, now, self.marker)
            self.marker = None
            if len(self.rows) >= due:
                if due:  # short runs are not worth it
                    set_apart()
                    self._put_away(
                        MANY if watch is None else len(self.rows)
                    )  # who leaves out steps counts rows
                due = len(self.rows) + 2048  # counted in spans, as an instant may hold one or thousands
                events = 0
                self._report()

    def _put_away(self, most: int) -> None:
        """Make a table of the latest spans, if they are more than so many."""
        if len(self.rows) > most:
            self.tables.append(self._kept(spans_of(self.system, self.rows, [])))
            self.rows.clear()

    def _kept(self, table: Whole) -> Whole:
        return self.few.take(table) if self.few else table

    def spans(self, blocks: list[Block]) -> list[Whole]:
        """Return all spans, once the loop has ended, as tables one behind the other; `blocks` of them repeat."""
        tables, self.tables = self.tables, []
        return [*tables, self._kept(spans_of(self.system, self.rows, blocks))]

    def _begin_apart(self, now: int, apart: NodesApart) -> None:
        """Let slices go on that have waited for a node to begin, once all else of this instant has happened."""
        if not apart.beginning or (self.heap and self.heap[0][0] == now):
            return
        for slice_id, entered in apart.begin(now):
            if entered:
                self._start_leg(now, slice_id, number := self.leg[slice_id], self._legs(slice_id)[number])
            else:
                self._take(now, slice_id)
        self._settle(now)

    def _report(self) -> None:
        if self.progress:
            done = max(self.transfers.opened) + self.course.skipped
            self.progress(max(done, 0), self.system.plan.schedule.steps)

    def _begin(self) -> None:
        """Begin with the slices that wait for no arrival, though perhaps for their own node's contribution."""
        for lane in range(self.lanes) if self.course.steps else ():
            if self.blocking_steps:
                for step, sender in self.blocking_steps.begin(lane):
                    self.readiness.offer(0, step, sender)
            else:
                self.readiness.begin(lane)

    def _deliver(self, now: int, slice_id: int) -> None:
        """Take a slice whose data is there, as soon as its nodes have begun."""
        if not (self.apart and self.apart.wait(now, slice_id)):
            self._take(now, slice_id)

    def _take(self, now: int, slice_id: int) -> None:
        """Take a slice that may go; it waits until its transfer is registered."""
        lane = slice_id % self.lanes
        step = slice_id // self.lanes // self.pieces
        transfer_id = step * self.lanes + lane
        # the first slice of a transfer that is there begins it
        transfer = self._under_way.get(transfer_id) or self.transfers.open(transfer_id)
        if self.transfers.prefetches:
            self.transfers.fetch_next(step, lane)
        if transfer.unregistered:
            transfer.waiting.append(slice_id)
        else:
            self._start_leg(now, slice_id, 0, self._first(slice_id))

    def _posted(self, now: int, transfer_id: int) -> None:
        """Start the slices that waited for registration, if both ends of the transfer are registered."""
        for slice_id in self.transfers.post(transfer_id):
            self._start_leg(now, slice_id, 0, self._first(slice_id))

    # ---- the legs of a slice -----------------------------------------------------------------------------------

    def _legs(self, slice_id: int) -> tuple[Leg, ...]:
        rest, lane = divmod(slice_id, self.lanes)
        return self._routes[rest // self.pieces * self.lanes + lane][rest % self.pieces]

    def _first(self, slice_id: int) -> Leg:
        # what a first leg waits for is the same for all slices of a transfer: those that wait need no legs of their own yet
        return self._routes[slice_id // self.lanes // self.pieces * self.lanes + slice_id % self.lanes][0][0]

    def _start_leg(self, now: int, slice_id: int, number: int, leg: Leg) -> None:
        self.leg[slice_id] = number
        if self.apart and self.apart.posted and self.apart.wait_to_enter(now, slice_id, leg):
            return
        if leg.gated:
            ready = self.readiness.own_ready(slice_id)
            # counted for `Repeats._gather_keeps_pace`: waits that grow shorter do not repeat
            if ready > now:
                self.gate_waits += 1
                self.at_gate += 1
                heappush(self.heap, (ready, GATED, slice_id, 0))
                return
        if leg.acquire >= 0:
            self.windows.ask(now, leg.acquire, slice_id)
        else:
            self._enter(now, slice_id, leg if number else self._legs(slice_id)[0])

    def _enter(self, now: int, slice_id: int, leg: Leg) -> None:
        """Begin the leg of a slice that has its place in the window."""
        if leg.visits:
            self.serving.enter(slice_id, leg)
        elif leg.flight:
            then = now + leg.flight.duration_ps
            self.rows.append(
                (slice_id, leg.flight.stage, leg.flight.wire, now, now, then, 0, leg.flight.duration_ps)
            )
            heappush(self.heap, (then, STAGE_OVER, slice_id, 0))
        else:
            self._over(now, slice_id)

    def _gate_opens(self, _now: int, slice_id: int) -> None:
        self.at_gate -= 1
        self.serving.enter(slice_id, self._legs(slice_id)[self.leg[slice_id]])

    def _over(self, now: int, slice_id: int) -> None:
        """End the stage, latency included, and begin the next."""
        legs, number = self._legs(slice_id), self.leg[slice_id]
        if legs[number].visits:
            self.serving.leave(slice_id)
        release = legs[number].release
        if release >= 0:
            self.windows.give_back(release)
            if self.apart:
                self.apart.note(now, release)
        if number + 1 < len(legs) and not (self.adding and legs[number + 1].stage == ADDS):
            self._start_leg(now, slice_id, number + 1, legs[number + 1])
        else:
            del self.leg[slice_id]
            self._arrived(now, slice_id)

    def _arrived(self, now: int, slice_id: int) -> None:
        """Note that a slice has arrived, and is added up where it has to be."""
        rest, lane = divmod(slice_id, self.lanes)
        step, piece = divmod(rest, self.pieces)
        transfer_id = step * self.lanes + lane
        transfer, route = self._under_way[transfer_id], self._routes[transfer_id]
        transfer.left -= 1
        if not isinstance(route, tuple):
            route.forget(piece)
        self.end = max(self.end, now)
        to = self.transfers.receivers[transfer_id]
        for next_id in self.readiness.pass_on(now, slice_id, step, piece, to):
            self._deliver(now, next_id)
        if self.line:
            self.end = max(self.end, self.line.summed.get(to, 0))
        if transfer.left == 0:
            self._complete(now, transfer_id, step, lane)
        if lane == 0 and piece == 0:  # once a step: often enough to find a repetition
            self.marker = step

    def _complete(self, now: int, transfer_id: int, step: int, lane: int) -> None:
        to = self.transfers.close(transfer_id)
        for following, sender in (
            self.blocking_steps.over(step, lane, to, self.course.steps) if self.blocking_steps else ()
        ):
            for slice_id in self.readiness.offer(now, following, sender):
                self._deliver(now, slice_id)

    def _settle(self, now: int) -> None:
        """End an instant: registration queues, windows and resources decide, in this order, about all that came in it."""
        if self.transfers.requests:
            for transfer_id in self.transfers.serve_requests(now):
                self._posted(now, transfer_id)
        while (
            self.windows.touched
        ):  # a slice that only needed a place goes on at once, and may ask for another
            for slice_id in self.windows.grant():
                number = self.leg[slice_id]
                self._enter(now, slice_id, self._legs(slice_id)[number])
                for next_id in self.line.next(now, slice_id) if self.line and number == 0 else ():
                    self._deliver(now, next_id)
        if self.serving.arriving or self.serving.freed:
            self.serving.take(now)
        if self.serving.changed:
            self.serving.set_alarms(now)

    # ---- the state, by which repetitions are found -------------------------------------------------------------

    def state(self, now: int, step: int) -> tuple[object, ...]:
        """Return everything that decides what happens from `now` on, relative to `now` and `step`."""
        base, first = step * self.pieces * self.lanes, step * self.lanes
        # alarms follow from the states of the resources that set them, and a heap keeps those that were set in vain
        origin = {POSTED: first}
        due = [(t - now, kind, x - origin.get(kind, base)) for t, kind, x, _ in self.heap if kind != ALARM]
        return (
            self.serving.state(now, base),
            self.windows.state(now, base),
            self.transfers.state(first, base),
            tuple(sorted(due)),
            tuple(sorted((x - base, leg) for x, leg in self.leg.items())),
            self.blocking_steps.state(step) if self.blocking_steps else (),
            self.registration_queue.phase(step + self.course.skipped),
        )


def _come_to_nobody(_kind: int, _what: int) -> None:
    """Take an entry that is there only where nodes begin apart."""
