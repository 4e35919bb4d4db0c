"""The loop's transfers: from the moment their first slice is there until their memory is given back.

A transfer's id is ``step * lanes + lane``. Steps that were left out, because the schedule repeats, count in no id.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappush

from peerlab.engine.loop.loop_resources import POSTED, Heap, Rows, Serving
from peerlab.engine.loop.windows import Windows
from peerlab.engine.pipeline import SliceLegs  # noqa: TC001  (a type of a field, at home beside System)
from peerlab.engine.registration_queue import DESTINATION, SOURCE, Event, RegistrationQueue
from peerlab.engine.system import System
from peerlab.model.registration import Lease
from peerlab.model.stages import stage_number

_REGISTER, _DEREGISTER = stage_number("register"), stage_number("deregister")


@dataclass(slots=True)
class Course:
    """The steps of a schedule that remain when repetitions are left out."""

    steps: int
    """Steps, those left out excluded."""
    reducing: int
    """The first so many of them add."""
    skipped: int = 0
    """Steps that were left out until now; real steps are ahead by this."""


@dataclass(eq=False, slots=True)
class Transfer:
    """A transfer that has begun and is not over."""

    left: int
    """Slices that have not arrived."""
    unregistered: int
    """Ends whose memory is not registered yet; at 0 the transfer is posted."""
    waiting: list[int] = field(default_factory=list)
    """Slices that wait for that."""
    leases: list[tuple[int, int, Lease]] = field(default_factory=list)
    """Side, NIC and lease of registered memory."""


class Transfers:
    """The transfers under way, and their requests to the registration queues."""

    def __init__(
        self,
        system: System,
        registration_queue: RegistrationQueue,
        course: Course,
        places: tuple[Serving, Windows],
        notes: tuple[Heap, Rows],
        *,
        in_line: bool,
    ) -> None:
        self._system, self._registration_queue, self._course = system, registration_queue, course
        self._serving, self._windows = places
        self._heap, self._rows = notes
        self._lanes, self._pieces = len(system.lanes), system.pieces
        self.registers = system.scenario.registers and not in_line
        """Whether transfers wait for registrations; what stands in line has found its memory registered."""
        self.prefetches = system.scenario.prefetch and self.registers
        """Whether each begins the next one."""
        self.under_way: dict[int, Transfer] = {}
        """By id."""
        self.routes: dict[int, SliceLegs] = {}
        """Of the transfers under way."""
        self.receivers: dict[int, int] = {}
        """The lane that a transfer under way goes to."""
        self.opened = [-1] * self._lanes
        """The latest step that each lane has begun."""
        self.events: list[tuple[int, int, int, Event, int, int]] = []
        """Registrations, deregistrations and hits: ``(transfer id, NIC, side, event, start, end)``."""
        self.end = 0
        """When the last region was given back."""
        self._fetched: set[int] = set()
        self.requests: list[tuple[int, int, int, int, int, Lease | None]] = []
        """Requests of this instant: ``(step, request, lane, transfer id, NIC, lease to give back)``.

        A request is the side to register (`SOURCE`, `DESTINATION`), or 2 plus the side to give back.
        """

    def open(self, transfer_id: int) -> Transfer:
        """Begin a transfer: both of its ends request registration."""
        step, lane = divmod(transfer_id, self._lanes)
        legs = self.routes[transfer_id] = self._system.legs(lane, step + self._course.skipped)
        to = self.receivers[transfer_id] = self._system.receiver(lane, step + self._course.skipped)
        # making its legs may have made new resources and pools
        self._serving.meet(self._system.resources)
        self._windows.meet(self._system.places)
        transfer = self.under_way[transfer_id] = Transfer(len(legs), 2 if self.registers else 0)
        self.opened[lane] = max(step, self.opened[lane])
        if self.registers:
            for side, end in ((SOURCE, lane), (DESTINATION, to)):
                self.requests.append(
                    (step, side, lane, transfer_id, self._system.lanes[end].registration_queue, None)
                )
        # a transfer is opened once, by its first slice or ahead of it
        if self.prefetches:
            self._fetched.add(transfer_id)
        return transfer

    def fetch_next(self, step: int, lane: int) -> None:
        """Begin the lane's next transfer: its memory is registered behind the slices of this one."""
        skipped = self._course.skipped
        following = self._system.next_step(lane, step + skipped) - skipped
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
            self.requests.append((step, 2 + side, lane, transfer_id, nic, lease))
        return self.receivers.pop(transfer_id)

    def serve_requests(self, now: int) -> Iterator[int]:
        """Serve the requests of this instant, lowest step first; yield the transfers of which an end is registered at once."""
        # the referee's order: lowest step first, in a step registrations before deregistrations, then lowest lane
        requests = sorted(self.requests, key=lambda request: request[:3])
        self.requests.clear()
        for _, request, lane, transfer_id, nic, lease in requests:
            done = self._work_at(now, request, lane, transfer_id, nic, lease)
            if request >= 2:
                self.end = max(self.end, done)
            elif done > now:
                heappush(self._heap, (done, POSTED, transfer_id, 0))
            else:
                yield transfer_id

    def _work_at(
        self, now: int, request: int, lane: int, transfer_id: int, nic: int, lease: Lease | None
    ) -> int:
        """Let a NIC's registration queue serve a request; return when it is done."""
        side, step = request % 2, transfer_id // self._lanes + self._course.skipped
        if lease is None:
            end = lane if side == SOURCE else self.receivers[transfer_id]
            lease, answer = self._registration_queue.acquire(nic, self._system.lanes[end].device, side, step)
            self.under_way[transfer_id].leases.append((side, nic, lease))
        else:
            answer = self._registration_queue.release(nic, lease, side, step)
        free = self._serving.free
        start = max(now, free[nic]) if answer.queue_ps else now  # a hit does not queue
        done = start + answer.queue_ps + answer.delay_ps
        if answer.queue_ps:
            free[nic] = done
            slice_id = transfer_id // self._lanes * self._pieces * self._lanes + lane
            stage = _REGISTER if request < 2 else _DEREGISTER
            nbytes = sum(event.nbytes for event in answer.events)
            self._rows.append((slice_id, stage, nic, now, start, done, nbytes, done - start))
        # evictions first, then the registration, one after the other in the time of the answer
        for event in answer.events:
            self.events.append((transfer_id, nic, side, event, start, start + event.work_ps))
            start += event.work_ps
        return done

    def state(self, first: int, base: int) -> tuple[object, ...]:
        """Return everything that later rows depend on, relative to transfer id `first` and slice id `base`."""
        return tuple(
            sorted(
                (x - first, t.left, t.unregistered, *(w - base for w in t.waiting))
                for x, t in self.under_way.items()
            )
        )
