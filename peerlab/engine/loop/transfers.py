"""Transfers of the fast engine: from the moment their first slice is there until their memory is given back.

A transfer's id is ``step * lanes + lane``. Steps that were left out, because the schedule repeats, count in no id.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappush

from peerlab.engine.legs import Leg
from peerlab.engine.loop.loop_resources import POSTED, Heap, Rows, Serving
from peerlab.engine.loop.windows import Windows
from peerlab.engine.registration_queue import DESTINATION, SOURCE, Event, RegistrationQueue
from peerlab.engine.system import System
from peerlab.model.registration import Lease
from peerlab.model.stages import stage_number

Pipeline = tuple[tuple[Leg, ...], ...]
"""The legs of each slice of a transfer."""

_REGISTER, _DEREGISTER = stage_number("register"), stage_number("deregister")


@dataclass(slots=True)
class Course:
    """What is left of a schedule when steps that repeat are left out."""

    steps: int
    """Steps, those left out excluded."""
    reducing: int
    """The first so many of them add."""
    skipped: int = 0
    """Steps that were left out until now; real steps are ahead by this."""


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


class Transfers:
    """The transfers under way, and their errands to the registration registration_queue."""

    def __init__(
        self,
        system: System,
        registration_queue: RegistrationQueue,
        course: Course,
        places: tuple[Serving, Windows],
        notes: tuple[Heap, Rows],
    ) -> None:
        self._world, self._desk, self._course = system, registration_queue, course
        self._serving, self._windows = places
        self._heap, self._rows = notes
        self._lanes, self._pieces = len(system.lanes), system.pieces
        self.registers = system.scenario.registers
        """Whether transfers wait for registrations."""
        self.prefetches = system.scenario.prefetch and self.registers
        """Whether each begins the next one."""
        self.under_way: dict[int, Transfer] = {}
        """By id."""
        self.routes: dict[int, Pipeline] = {}
        """Of the transfers under way."""
        self.receivers: dict[int, int] = {}
        """The lane that a transfer under way goes to."""
        self.opened = [-1] * self._lanes
        """The latest step that each lane has begun."""
        self.events: list[tuple[int, int, int, Event, int, int]] = []
        """What the registration_queue did: ``(transfer id, NIC, side, event, start, end)``."""
        self.end = 0
        """When the last region was given back."""
        self._fetched: set[int] = set()
        self.errands: list[tuple[int, int, int, int, int, Lease | None]] = []
        """What the registration_queue is asked for in this instant: ``(step, errand, lane, transfer id, NIC, lease to give back)``."""

    def open(self, transfer_id: int) -> Transfer:
        """Begin a transfer: both of its ends ask for registration."""
        step, lane = divmod(transfer_id, self._lanes)
        legs = self.routes[transfer_id] = self._world.legs(lane, step + self._course.skipped)
        to = self.receivers[transfer_id] = self._world.receiver(lane, step + self._course.skipped)
        self._serving.meet(self._world.resources)
        self._windows.meet(self._world.places)
        transfer = self.under_way[transfer_id] = Transfer(len(legs), 2 if self.registers else 0)
        self.opened[lane] = max(step, self.opened[lane])
        if self.registers:
            for side, end in ((SOURCE, lane), (DESTINATION, to)):
                self.errands.append(
                    (step, side, lane, transfer_id, self._world.lanes[end].registration_queue, None)
                )
        if self.prefetches:
            self._fetched.add(transfer_id)
        return transfer

    def fetch_next(self, step: int, lane: int) -> None:
        """Begin the lane's next transfer: its memory is registered behind the slices of this one."""
        skipped = self._course.skipped
        following = self._world.next_step(lane, step + skipped) - skipped
        if following < self._course.steps and following * self._lanes + lane not in self._fetched:
            self.open(following * self._lanes + lane)

    def post(self, transfer_id: int) -> list[int]:
        """Note that one end of a transfer is registered; return the slices that waited, if both are."""
        transfer = self.under_way[transfer_id]
        transfer.unregistered -= 1
        if transfer.unregistered:
            return []
        waiting, transfer.waiting = transfer.waiting, []
        return waiting

    def close(self, transfer_id: int) -> int:
        """End a transfer, whose ends give their memory back; return where it went."""
        step, lane = divmod(transfer_id, self._lanes)
        transfer = self.under_way.pop(transfer_id)
        del self.routes[transfer_id]
        for side, nic, lease in transfer.leases:
            self.errands.append((step, 2 + side, lane, transfer_id, nic, lease))
        return self.receivers.pop(transfer_id)

    def visit_desk(self, now: int) -> Iterator[int]:
        """Do the errands of this instant in their order; yield the transfers of which an end is registered at once."""
        errands = sorted(self.errands, key=lambda errand: errand[:3])
        self.errands.clear()
        for _, errand, lane, transfer_id, nic, lease in errands:
            done = self._work_at(now, errand, lane, transfer_id, nic, lease)
            if errand >= 2:
                self.end = max(self.end, done)
            elif done > now:
                heappush(self._heap, (done, POSTED, transfer_id, 0))
            else:
                yield transfer_id

    def _work_at(
        self, now: int, errand: int, lane: int, transfer_id: int, nic: int, lease: Lease | None
    ) -> int:
        """Let a NIC's registration queue do an errand; return when it is done."""
        side, step = errand % 2, transfer_id // self._lanes + self._course.skipped
        if lease is None:
            lease, answer = self._desk.acquire(nic, self._world.lanes[lane].device, side, step)
            self.under_way[transfer_id].leases.append((side, nic, lease))
        else:
            answer = self._desk.release(nic, lease, side, step)
        free = self._serving.free
        start = max(now, free[nic]) if answer.queue_ps else now
        done = start + answer.queue_ps + answer.delay_ps
        if answer.queue_ps:
            free[nic] = done
            slice_id = transfer_id // self._lanes * self._pieces * self._lanes + lane
            stage = _REGISTER if errand < 2 else _DEREGISTER
            nbytes = sum(event.nbytes for event in answer.events)
            self._rows.append((slice_id, stage, nic, now, start, done, nbytes))
        for event in answer.events:
            self.events.append((transfer_id, nic, side, event, start, start + event.work_ps))
            start += event.work_ps
        return done

    def state(self, first: int, base: int) -> tuple[object, ...]:
        """Return what decides about the future, relative to transfer id `first` and slice id `base`."""
        return tuple(
            sorted(
                (x - first, t.left, t.unregistered, *(w - base for w in t.waiting))
                for x, t in self.under_way.items()
            )
        )
