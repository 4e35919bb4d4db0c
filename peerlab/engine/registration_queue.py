"""Each NIC's registration cache and queue: which memory a transfer has registered, and how long its NIC works on that.

Addresses follow the positions in which a rank numbers its chunks (in a ring, position 0 is the chunk it sends first), so
that every rank asks for the same addresses at the same step. Chunks lie so that none straddles a page of its neighbour.
What a rank sends before anything has arrived there lies in its send buffer, everything else in its receive buffer.
"""

# A warm cache delays slices and does not reorder them. A request that hits takes the lookup time and queues
# nowhere. A transfer asks when its first slice is there; transfers of a sender come in order, so their
# slices keep their order, and the array engine stays exact. A request that misses queues at the NIC with
# those of other transfers; such runs, and the cold ones before a warm one, need the loop.

from dataclasses import dataclass, field, replace

from peerlab.answer.trace import REGISTRATION_KINDS
from peerlab.base.errors import RegistrationError
from peerlab.base.units import say_bytes
from peerlab.engine.system import System
from peerlab.engine.warm_cache import WarmCache
from peerlab.model.disturbance import most_disturbed
from peerlab.model.registration import Counters, Lease, Region, RegistrationCache

SOURCE, DESTINATION = 0, 1
KIND = {name: index for index, name in enumerate(REGISTRATION_KINDS)}

# Addresses only have to tell devices and buffers apart: a buffer of 2**44 bytes (16 TiB) is larger than any message.
_DEVICE_SPACE = 2**56
_BUFFER_SPACE = 2**44


Contents = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One registration, deregistration or hit, for the trace."""

    kind: int
    """Index in `REGISTRATION_KINDS`."""
    position: int
    """Position of the (first) chunk; -1 - position in the send buffer."""
    nbytes: int
    """Size of the region."""
    work_ps: int
    """Time it took: in the NIC's queue, or of a hit the lookup, which does not queue."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request to register, or a release, costs."""

    queue_ps: int
    """Time in the NIC's registration queue; 0: it need not queue."""
    delay_ps: int
    """Time after that, for a lookup."""
    events: tuple[Event, ...]
    """What was done."""


@dataclass(eq=False)
class RegistrationQueue:
    """The registration caches of a system's NICs, one each."""

    system: System
    """Lanes and plan of the scenario."""
    buffer_set: int = 0
    """Which of the scenario's buffer sets the current iteration uses."""
    caches: dict[int, RegistrationCache] = field(default_factory=dict)
    """By index of the NIC's registration queue."""
    warm: bool = False
    """Whether every buffer set was used before and nothing was given up since."""

    def __post_init__(self) -> None:
        scenario = self.system.scenario
        self._chunks = self.system.plan.schedule.chunks
        page, chunk = int(scenario.page_bytes), self.system.plan.schedule.chunk_bytes
        self._chunk = chunk
        self._waits = self.system.order(0).waits
        # chunks begin at a page, or (small ones) at a power of two, so that no chunk needs a page of its neighbour
        self._stride = -(-chunk // page) * page if chunk >= page else 1 << (chunk - 1).bit_length()
        self._pages = RegistrationCache(page_bytes=page)  # for its rounding alone
        self._warm = False  # whether this buffer set has been registered before
        self._skipped: dict[str, int] = {}
        node = most_disturbed(scenario, self.system.plan.nodes)
        devices = range(scenario.hardware.devices_per_switch)
        self._counted = {
            lane.registration_queue
            for lane in self.system.lanes
            if lane.node == node and lane.device in devices
        }
        self._cost = scenario.registration_cost if scenario.registers else None
        if scenario.data_path.uses_device_memory and scenario.registration == "pool":
            self._check_pool()

    def begin(self, buffer_set: int) -> None:
        """Start an iteration on a buffer set: counters begin at 0, registered regions stay."""
        self.buffer_set = buffer_set
        self._skipped.clear()
        first = 2 * buffer_set * _BUFFER_SPACE
        # a region of this set that is still there: an earlier iteration has used the set
        self._warm = self.warm or any(
            start % _DEVICE_SPACE == first for _, idle in self.contents() for start, _ in idle
        )
        for cache in self.caches.values():
            cache.counters = Counters(
                registered_bytes=cache.counters.registered_bytes, peak_bytes=cache.counters.registered_bytes
            )

    def acquire(self, nic: int, device: int, side: int, step: int) -> tuple[Lease, Answer]:
        """Register what a transfer of `step` reads (source) or writes (destination) on one device."""
        cache = self.caches[nic] if nic in self.caches else self._open(nic)
        position = self._position(side, step)
        lease = cache.acquire(*self._place(device, side, step))
        cost = self._cost
        if cost is None:
            raise RegistrationError("this path registers nothing per transfer")
        if lease.hit:
            cache.counters.time_ps += cost.lookup_ps
            return lease, Answer(
                0, cost.lookup_ps, (Event(KIND["hit"], position, lease.region.nbytes, cost.lookup_ps),)
            )
        events = [
            Event(KIND["evict"], self._position_of(r), r.nbytes, cost.deregister_ps(r.nbytes))
            for r in lease.deregistered
        ]
        kind = KIND["miss" if lease.region.cached else "uncached"]
        events.append(Event(kind, position, lease.region.nbytes, cost.register_ps(lease.region.nbytes)))
        # the NIC evicts and registers in one go, so that nobody else comes between
        work = sum(event.work_ps for event in events)
        cache.counters.time_ps += work
        return lease, Answer(work, 0, tuple(events))

    def release(self, nic: int, lease: Lease, side: int, step: int) -> Answer:
        """Give back what a transfer of `step` had registered."""
        cache, cost = self.caches[nic], self._cost
        gone = cache.release(lease)
        if cost is None or not gone:
            return Answer(0, 0, ())
        events = tuple(
            Event(KIND["deregister"], self._position(side, step), r.nbytes, cost.deregister_ps(r.nbytes))
            for r in gone
        )
        work = sum(event.work_ps for event in events)
        cache.counters.time_ps += work
        return Answer(work, 0, events)

    def count_hits(self) -> None:
        """Count that an iteration finds, in a warm cache, all that it asks for."""
        lookup_ps = self._cost.lookup_ps if self._cost else 0
        for lane in self.system.lanes if self._cost else ():
            if lane.registration_queue not in self._counted:
                continue
            if lane.registration_queue not in self.caches:
                self._open(lane.registration_queue)
            counters, hits = (
                self.caches[lane.registration_queue].counters,
                2 * self.system.plan.schedule.steps,
            )
            counters.hits += hits
            counters.time_ps += hits * lookup_ps

    def find_all(self) -> list[tuple[Event, Event]]:
        """Look up, in a warm cache, all that an iteration asks for; return `found`."""
        self.count_hits()
        return self.found()

    def found(self) -> list[tuple[Event, Event]]:
        """Return for each step what both ends of a transfer find in a warm cache, which is the same for every lane."""
        return [
            (self._found(SOURCE, step), self._found(DESTINATION, step))
            for step in range(self.system.plan.schedule.steps)
        ]

    def _found(self, side: int, step: int) -> Event:
        region = Region(*self._pages.rounded(*self._place(0, side, step)))
        lookup_ps = self._cost.lookup_ps if self._cost else 0
        return Event(KIND["hit"], self._position(side, step), region.nbytes, lookup_ps)

    def leave_out(self, steps: list[tuple[int, int, int]], before: Counters, repeats: int) -> None:
        """Do the bookkeeping of steps that an engine leaves out because they repeat.

        Parameters
        ----------
        steps:
            ``(lane, first step, how many)``.
        before:
            What :meth:`counters` returned one period ago.
        repeats:
            Periods left out.
        """
        # where a period missed, those left out would have missed too, and their regions would be in the cache
        now = self.counters()
        if now.misses > before.misses and self.system.scenario.registration == "cached":
            self._register_unseen(steps)
        for name in ("hits", "misses", "uncached", "time_ps"):
            grown = getattr(now, name) - getattr(before, name)
            self._skipped[name] = self._skipped.get(name, 0) + repeats * grown

    def _register_unseen(self, steps: list[tuple[int, int, int]]) -> None:
        """Register what the steps that are left out would have registered, without counting it: later iterations hit it."""
        for lane, first, count in steps:
            lane_record = self.system.lanes[lane]
            cache = self.caches[lane_record.registration_queue]
            for side in (SOURCE, DESTINATION):
                counters, cache.counters = cache.counters, replace(cache.counters)
                for step in range(first, first + count):
                    cache.release(cache.acquire(*self._place(lane_record.device, side, step)))
                counters.registered_bytes = cache.counters.registered_bytes
                counters.peak_bytes = cache.counters.peak_bytes
                cache.counters = counters

    def phase(self, step: int) -> int:
        """Return the offset of the chunk of `step` in its page: of small chunks in one page, only the first registers it.

        So it belongs to a state that may repeat, as long as pages are unregistered; otherwise it is 0.
        """
        scenario = self.system.scenario
        if self._warm or not scenario.registers or scenario.registration != "cached":
            return 0
        return step * self._stride % int(scenario.page_bytes)

    def contents(self) -> Contents:
        """Return the idle regions of every cache, least recently used first: all that an iteration leaves behind."""
        return tuple(
            (nic, tuple((r.start, r.end) for r in cache.idle)) for nic, cache in sorted(self.caches.items())
        )

    def restore(self, contents: Contents) -> None:
        """Give the caches the regions that an earlier iteration left behind."""
        if contents == self.contents():
            return
        self.caches.clear()
        # in their order, so that the least recently used region is again the first to be evicted
        for nic, regions in contents:
            cache = self._open(nic)
            for start, end in regions:
                cache.release(cache.acquire(start, end - start))

    def counters(self) -> Counters:
        """Return what the caches of one switch's NICs did in this iteration: the first one of the slowest node, or of node 0.

        The same switch whatever the system holds, so that every engine counts the same.
        """
        total = Counters()
        for nic in self._counted & self.caches.keys():
            for name in Counters.__slots__:
                setattr(total, name, getattr(total, name) + getattr(self.caches[nic].counters, name))
        for name, count in self._skipped.items():
            setattr(total, name, getattr(total, name) + count)
        return total

    def _registered_bytes(self) -> int:
        """Return the bytes that one NIC has registered once every buffer set was used, in a chain or an all-to-all without limits."""
        s, schedule = self.system.scenario, self.system.plan.schedule
        # what a chain sends on, it has received
        places = {
            self._place(0, side, step) for side in (SOURCE, DESTINATION) for step in range(schedule.steps)
        }
        regions = {self._pages.rounded(*place) for place in places} if schedule.steps else set()
        users = sum(
            lane.registration_queue == self.system.lanes[0].registration_queue for lane in self.system.lanes
        )
        return users * s.buffers * sum(end - start for start, end in regions)

    def _open(self, nic: int) -> RegistrationCache:
        s = self.system.scenario
        # no list of regions: what would be in it follows from the schedule
        if self.warm:
            held = self._registered_bytes()
            counters = Counters(registered_bytes=held, peak_bytes=held)
            self.caches[nic] = WarmCache(page_bytes=int(s.page_bytes), counters=counters)
            return self.caches[nic]
        # without a cache, a region is deregistered when its transfer is over: a cache of no regions
        kept = s.registration == "cached"
        self.caches[nic] = RegistrationCache(
            page_bytes=int(s.page_bytes),
            max_regions=s.cache_regions if kept else 0,
            max_bytes=None if s.cache_bytes is None else int(s.cache_bytes),
            memlock_bytes=None if s.memlock_bytes is None else int(s.memlock_bytes),
        )
        return self.caches[nic]

    def _positions(self, side: int, step: int) -> range:
        """Return the positions that a transfer reads or writes."""
        schedule = self.system.plan.schedule
        return schedule.sends(step) if side == SOURCE else schedule.receives(step)

    def _position(self, side: int, step: int) -> int:
        """Return the first of them; -1 - position if it is in the send buffer, where a rank's own data lies."""
        first = min(self._positions(side, step))
        return -1 - first if side == SOURCE and not self._waits[step] else first

    def _place(self, device: int, side: int, step: int) -> tuple[int, int]:
        """Return address and length of what a transfer reads or writes."""
        position, chunks = self._position(side, step), len(self._positions(side, step))
        own_buffer = 2 * self.buffer_set + (position < 0)
        first = position if position >= 0 else -1 - position
        address = device * _DEVICE_SPACE + own_buffer * _BUFFER_SPACE + first * self._stride
        return address, (chunks - 1) * self._stride + self._chunk

    def _position_of(self, region: Region) -> int:
        inside = region.start % _DEVICE_SPACE
        buffer, offset = divmod(inside, _BUFFER_SPACE)
        first = offset // self._stride
        return -1 - first if buffer % 2 else first

    def _check_pool(self) -> None:
        s, plan = self.system.scenario, self.system.plan
        need = 2 * s.buffers * plan.shard_bytes * s.hardware.devices_per_switch
        if s.memlock_bytes is not None and need > int(s.memlock_bytes):
            raise RegistrationError(
                f"memlock_bytes: the pool needs {say_bytes(need)} per NIC and the locked-memory limit is "
                f"{say_bytes(int(s.memlock_bytes))}; raise it to {say_bytes(need)} or more"
            )
