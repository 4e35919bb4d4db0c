"""What slices carry, in the fast engine: when it is there, from the node itself or with slices that arrive."""

from heapq import heappush

from peerlab.collectives.plan import is_chain
from peerlab.engine.loop.loop_resources import READY, Heap
from peerlab.engine.loop.transfers import Course
from peerlab.engine.system import System


class DataReadiness:
    """Follows which slices have what they carry; they may then be delivered to their transfer.

    In a chain each slice brings exactly what the next step's slice of the same number sends.
    """

    def __init__(self, system: System, course: Course, gathered: list[int] | None, heap: Heap) -> None:
        self._world, self._course, self._heap = system, course, heap
        self._lanes, self._pieces = len(system.lanes), system.pieces
        self.gathered = gathered
        """When the node's own contribution to each slice is added up; None where there is none to wait for."""
        self.chain = is_chain(system.plan.schedule)
        self._blocking, self._hands_out = system.scenario.blocking, system.plan.hands_out
        self._missing: dict[int, int] = {}
        self._own_of_step: dict[int, list[int]] = {}
        self.finished: list[tuple[int, int, int]] = []
        """``(slice id, lane that has it, when)`` of slices that have reached their final value."""

    def begin(self, lane: int) -> None:
        """Offer the transfers, and the slices of others, that wait for no arrival."""
        order, steps = self._world.order(lane), 1 if self.chain else self._course.steps
        for step in range(steps):
            if not order.waits[step] and self._world.receiver(lane, step) >= 0:
                self.offer(0, step, lane)
        for step in {step for found in order.leaders.values() for step in found} if steps > 1 else ():
            for piece, need in enumerate(order.needs(step)):
                if need or step >= self._course.steps:
                    continue
                for one in (step, *order.followers.get(step, ())):
                    heappush(self._heap, (0, READY, (one * self._pieces + piece) * self._lanes + lane, 0))

    def offer(self, now: int, step: int, lane: int) -> list[int]:
        """Let a transfer begin with every slice that it need not wait for; return those that are there already."""
        real = step + self._course.skipped
        sizes, own, there = self._world.sizes(real), None, []
        if self.gathered and not self._world.order(lane).waits[real]:
            own = self._world.own_ready(self.gathered, self._world.plan.schedule.sends(real), sizes)
        for piece in range(len(sizes)):
            slice_id = (step * self._pieces + piece) * self._lanes + lane
            ready = max(own[piece], now) if own else now
            if ready > now or now == 0:
                heappush(self._heap, (ready, READY, slice_id, 0))
            else:
                there.append(slice_id)
        return there

    def own_ready(self, slice_id: int) -> int:
        """Return when the receiver's own contribution to what a slice brings is added up over its node."""
        if not self.gathered:
            return 0
        rest = slice_id // self._lanes
        step, piece = divmod(rest, self._pieces)
        if self.chain:  # gathered in the order of the ring's steps
            return self.gathered[rest + self._pieces]
        if step not in self._own_of_step:
            positions = self._world.plan.schedule.receives(step)
            own = self._world.own_ready(self.gathered, positions, self._world.sizes(step))
            self._own_of_step[step] = own
        return self._own_of_step[step][piece]

    def pass_on(self, now: int, slice_id: int, step: int, piece: int, to: int) -> list[int]:
        """Note what has arrived, which may be final; return the slices that now have all they carry."""
        reducing = self._course.reducing
        if self._hands_out and (step >= reducing or (self.chain and step == reducing - 1)):
            self.finished.append((slice_id, to, now))
        if self.chain:
            goes_on = not self._blocking and step + 1 < self._course.steps
            return [slice_id - slice_id % self._lanes + self._pieces * self._lanes + to] if goes_on else []
        order, found = self._world.order(to), []
        for later in order.leaders.get(step, ()):
            for fed in order.feeds(step, later)[piece]:
                if self._have_all(later, fed, to):
                    found += self._follow_up(now, slice_id, later, fed, to)
        return found

    def _have_all(self, step: int, piece: int, lane: int) -> bool:
        """Count an arrival that a slice waits for; return whether it was the last."""
        key = (step * self._pieces + piece) * self._lanes + lane
        left = self._missing.pop(key, 0) or self._world.order(lane).needs(step)[piece]
        if left > 1:
            self._missing[key] = left - 1
        return left == 1

    def _follow_up(self, now: int, slice_id: int, step: int, piece: int, lane: int) -> list[int]:
        """All that a slice waits for is there: return it, and those that carry the same; or note that a sum is final."""
        if step == self._course.steps:
            if self._hands_out:
                self.finished.append((slice_id, lane, now))
            return []
        if self._blocking:
            return []
        steps = (step, *self._world.order(lane).followers.get(step, ()))
        return [(one * self._pieces + piece) * self._lanes + lane for one in steps]
