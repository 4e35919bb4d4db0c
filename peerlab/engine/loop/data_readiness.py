"""When the data that a slice carries is there: from the node itself, or with slices that arrive."""

from heapq import heappush

from peerlab.collectives.plan import is_chain
from peerlab.engine.loop.adding_up import AddingUp
from peerlab.engine.loop.loop_resources import READY, Heap
from peerlab.engine.loop.transfers import Course
from peerlab.engine.loop.waiting_line import WaitingLine
from peerlab.engine.system import System


class DataReadiness:
    """Counts for each slice the arrivals that it waits for; a slice whose data is there is delivered to its transfer.

    In a chain the slice that arrives is, byte for byte, what the next step's slice of the same number sends; nothing is counted.
    """

    def __init__(
        self,
        system: System,
        course: Course,
        gathered: list[int] | None,
        heap: Heap,
        line: WaitingLine | None,
        adding: AddingUp | None,
    ) -> None:
        self._system, self._course, self._heap = system, course, heap
        self._lanes, self._pieces = len(system.lanes), system.pieces
        self.line, self.adding, self.gathered = line, adding, gathered
        """When the node's own contribution to each slice is added up; None where there is none to wait for."""
        self.begun: tuple[int, ...] | None = None
        """When each node begins, where they begin apart."""
        self.chain = is_chain(system.plan.schedule)
        self._blocking, self._hands_out = system.scenario.blocking, system.plan.hands_out
        self._missing: dict[int, int] = {}
        self._own_of_step: dict[int, list[int]] = {}
        self.finished: list[tuple[int, int, int]] = []
        """``(slice id, lane that has it, when)`` of slices that have reached their final value."""

    def begin(self, lane: int) -> None:
        """Deliver the transfers that wait for no arrival, and of other transfers the slices that wait for none."""
        if self.line:
            self.line.join(0, 0, lane)
            return
        order, steps = self._system.order(lane), 1 if self.chain else self._course.steps
        for step in range(steps):
            if not order.waits[step] and self._system.receiver(lane, step) >= 0:
                self.offer(0, step, lane)
        for step in {step for leader in order.leaders.values() for step in leader} if steps > 1 else ():
            for piece, need in enumerate(order.needs(step)):
                if need or step >= self._course.steps:
                    continue
                for number in (step, *order.followers.get(step, ())):
                    heappush(self._heap, (0, READY, (number * self._pieces + piece) * self._lanes + lane, 0))

    def offer(self, now: int, step: int, lane: int) -> list[int]:
        """Let a transfer begin with every slice that it need not wait for; return those that are there already."""
        real = step + self._course.skipped
        sizes, own, there = self._system.sizes(real), None, []
        sender = self._system.lanes[lane]
        comes = self.gathered and self._system.plan.begins_in_node(sender.node, sender.device)
        if self.gathered and comes and not self._system.order(lane).waits[real]:
            own = self._system.own_ready(self.gathered, self._system.plan.schedule.sends(real), sizes)
        for piece in range(len(sizes)):
            slice_id = (step * self._pieces + piece) * self._lanes + lane
            ready = max(own[piece] + self._begun(lane), now) if own else now
            # at time 0 all lanes begin at once, and the heap puts them into the order of keys
            if ready > now or now == 0:
                heappush(self._heap, (ready, READY, slice_id, 0))
            else:
                there.append(slice_id)
        return there

    def own_ready(self, slice_id: int) -> int:
        """Return when the receiver's own contribution, to which an arriving slice is added, is added up over its node."""
        if not self.gathered:
            return 0
        rest, lane = divmod(slice_id, self._lanes)
        step, piece = divmod(rest, self._pieces)
        begun = self._begun(self._system.receiver(lane, step + self._course.skipped)) if self.begun else 0
        if self.chain:  # gathered in the order of the ring's steps
            return self.gathered[rest + self._pieces] + begun
        step += self._course.skipped
        if step not in self._own_of_step:
            positions = self._system.plan.schedule.receives(step)
            own = self._system.own_ready(self.gathered, positions, self._system.sizes(step))
            self._own_of_step[step] = own
        return self._own_of_step[step][piece] + begun

    def _begun(self, lane: int) -> int:
        """Return when a lane's node begins."""
        return self.begun[self._system.lanes[lane].node] if self.begun else 0

    def pass_on(self, now: int, slice_id: int, step: int, piece: int, to: int) -> list[int]:
        """Note that a slice has arrived, perhaps with its final value; return the slices whose data is now complete."""
        reducing = self._course.reducing
        if self._hands_out and (step >= reducing or (self.chain and step == reducing - 1)):
            self.finished.append((slice_id, to, now))
        if self.chain:
            # sent on as the same slice of the next step; blocking code sends it when that step begins (`offer`)
            goes_on = not self._blocking and step + 1 < self._course.steps
            return [slice_id - slice_id % self._lanes + self._pieces * self._lanes + to] if goes_on else []
        if self.line:
            return self._summed(now, slice_id, to) if step < reducing else []
        order, numbers = self._system.order(to), []
        for later in order.leaders.get(step, ()):
            for fed in order.feeds(step, later)[piece]:
                if self._have_all(later, fed, to):
                    numbers += self._follow_up(now, slice_id, later, fed, to)
        return numbers

    def _summed(self, now: int, slice_id: int, to: int) -> list[int]:
        """Note that a slice was added up; return the first of those that carry the sum, if it is final and may be sent."""
        if self.adding:
            self.adding.arrivals.append((slice_id, to, now))
        if not self.line or not self.line.added(to):
            return []
        last, when = self.adding.done(to) if self.adding else (slice_id, now)
        self.line.summed[to] = when
        if self._hands_out:
            self.finished.append((last, to, when))
        return (
            self.line.join(now, self._course.reducing, to)
            if self._course.steps > self._course.reducing
            else []
        )

    def _have_all(self, step: int, piece: int, lane: int) -> bool:
        """Count an arrival that a slice waits for; return whether it was the last."""
        key = (step * self._pieces + piece) * self._lanes + lane
        # counted from the first arrival on, so that only slices under way take memory
        left = self._missing.pop(key, 0) or self._system.order(lane).needs(step)[piece]
        if left > 1:
            self._missing[key] = left - 1
        return left == 1

    def _follow_up(self, now: int, slice_id: int, step: int, piece: int, lane: int) -> list[int]:
        """Return a slice whose data is complete, and those that carry the same; after the last step, note that a sum is final."""
        if step == self._course.steps:
            if self._hands_out:
                self.finished.append((slice_id, lane, now))
            return []
        if self._blocking:
            return []
        steps = (step, *self._system.order(lane).followers.get(step, ()))
        return [(number * self._pieces + piece) * self._lanes + lane for number in steps]
