"""Steps that wait for no arrival, as in a pairwise exchange: what a rank sends stands in line for a place in its window.

The places are given out in the order of steps. So only the first of a line has to be known, and the next one comes when that one has its
place. What is under way stays as small as in a ring, and the loop's state repeats.
"""

from heapq import heappush

from peerlab.collectives.plan import overlaps
from peerlab.engine.loop.loop_resources import READY, Heap
from peerlab.engine.loop.transfers import Course
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.system import System


def stands_in_line(system: System, registration_queue: RegistrationQueue) -> bool:
    """Return whether the slices of every rank stand in one line: one slice a step, which waits for nothing but its first leg's pool.

    Steps that add wait for no arrival, all others for those of all that add. What is registered has to be found at once, which delays
    each slice alike.
    """
    scenario, schedule = system.scenario, system.plan.schedule
    if not system.folded or scenario.blocking or not overlaps(schedule) or not waits_for_sums(system):
        return False
    if scenario.registers and (scenario.prefetch or not registration_queue.warm):
        return False
    legs = [system.legs(lane, step)[0] for lane in range(len(system.lanes)) for step in _one_of_each(system)]
    first = {leg[0].acquire for leg in legs}
    return -1 not in first and first.isdisjoint(leg.acquire for way in legs for leg in way[1:])


def waits_for_sums(system: System) -> bool:
    """Return whether a step has one slice, which waits for no arrival where steps add, and for all of those where they hand out."""
    adding = system.plan.schedule.reducing_steps
    waits, everything = system.order(0).waits, tuple(range(adding))
    # steps that wait for the same share one tuple: each is compared once, not in every step
    handing = {id(wait): wait for wait in waits[adding:-1]}.values()
    return system.pieces == 1 and not any(waits[:adding]) and all(wait == everything for wait in handing)


def _one_of_each(system: System) -> list[int]:
    """Return steps that stand for all: of each half as many as a node has devices, which is the longest way round them."""
    schedule = system.plan.schedule
    starts = {0, min(schedule.reducing_steps, schedule.steps - 1)}
    return sorted(
        {min(start + turn, schedule.steps - 1) for start in starts for turn in range(system.plan.devices)}
    )


class WaitingLine:
    """The next slice of each lane, and from when on it may ask for its place."""

    def __init__(self, system: System, course: Course, gathered: list[int] | None, heap: Heap) -> None:
        self._lanes, self._course, self._gathered, self._heap = len(system.lanes), course, gathered, heap
        self._adding = system.plan.schedule.reducing_steps
        cost = system.scenario.registration_cost if system.scenario.registers else None
        self.lookup_ps = cost.lookup_ps if cost else 0
        """How long a slice's memory is looked up before it may ask."""
        self._arrived = [0] * self._lanes
        self.summed: dict[int, int] = {}
        """By lane: when its sum was final, on the loop's clock."""
        self.left_out_ps = 0
        """How much the loop's clock was behind then, as periods of the steps that add were left out."""
        self.kept_waiting = 0
        """How often the first of a line waited for its node's own contribution."""

    def join(self, now: int, step: int, lane: int) -> list[int]:
        """Let the slice of a step be the first of its line; return it if it may ask for its place now."""
        slice_id = step * self._lanes + lane
        # steps that are left out count neither in the step nor on the loop's clock, and contributions keep pace (`Repeats`)
        from_ps = self.lookup_ps + (
            self._own(step) if step < self._course.reducing else self.summed.get(lane, 0)
        )
        # at time 0 all lanes begin at once, and the heap puts them into the order of keys
        if from_ps <= now and now:
            return [slice_id]
        self.kept_waiting += from_ps > now
        heappush(self._heap, (max(from_ps, now), READY, slice_id, 0))
        return []

    def _own(self, step: int) -> int:
        return self._gathered[step] if self._gathered else 0

    def asked_ps(self, step: int, lane: int) -> int:
        """Return when the data of a step (none left out) was there, once the loop has ended."""
        if step < self._adding:
            return self._own(step)
        return self.summed[lane] + self.left_out_ps if self._adding else 0

    def next(self, now: int, slice_id: int) -> list[int]:
        """Return who stands behind a slice that has its place, if it may ask now."""
        step, lane = slice_id // self._lanes + 1, slice_id % self._lanes
        return [] if step in (self._course.reducing, self._course.steps) else self.join(now, step, lane)

    def added(self, lane: int) -> bool:
        """Count an arrival that is added up; return whether it is the last."""
        self._arrived[lane] += 1
        return self._arrived[lane] == self._course.reducing  # steps that are left out count in neither
