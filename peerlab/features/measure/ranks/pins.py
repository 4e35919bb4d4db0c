"""Registering memory for real: the simulator's cache decides, the kernel pins, a clock looks on."""

# The cache is real; by default mlock stands in for pinning. The cache is the simulator's own class. Each
# miss locks the pages with mlock (they may still move) or, where the kernel allows it, pins them with
# io_uring as a NIC's driver does. Locks of one mapping do not add up, so every registration has a mapping
# of its own, else one cache would unlock another's pages. A control runs the cache's code and pins nothing:
# at small sizes Python's own time is most of a cache's cost.

import time
from collections.abc import Callable
from typing import Protocol

from peerlab.collectives.ring_moves import PAGE
from peerlab.features.measure.ranks.memory.locked_memory import say_refusal
from peerlab.features.measure.schedule import Registration
from peerlab.machine import linux
from peerlab.model.registration import Counters, Lease, Region, RegistrationCache

_SLOTS = 1024
"""Regions that a table of pins holds; the rings measured here have far fewer."""


class Pins(Protocol):
    """What makes a region one that a device could reach."""

    def pin(self, region: Region) -> None:
        """Register a region; OSError as the kernel gives it."""

    def unpin(self, region: Region) -> None:
        """Deregister it."""

    def close(self) -> None:
        """Let go of what is left."""


class LockedPages:
    """mlock: pages stay in memory, which costs what pinning costs and counts as it does; but they may still move."""

    def pin(self, region: Region) -> None:
        """Lock a region."""
        linux.lock(region.start, region.nbytes)

    def unpin(self, region: Region) -> None:
        """Unlock it."""
        linux.unlock(region.start, region.nbytes)

    def close(self) -> None:
        """Nothing is left: every region was unlocked."""


class IoUringPins:
    """io_uring's fixed buffers: the kernel pins the pages for as long as they are registered."""

    def __init__(self) -> None:
        self._table = linux.PinTable(_SLOTS)
        self._free = list(range(_SLOTS))
        self._slots: dict[Region, int] = {}

    def pin(self, region: Region) -> None:
        """Pin a region."""
        slot = self._free.pop()
        self._table.put(slot, region.start, region.nbytes)
        self._slots[region] = slot

    def unpin(self, region: Region) -> None:
        """Unpin it."""
        slot = self._slots.pop(region)
        # An empty buffer in a slot unregisters what was there.
        self._table.put(slot, 0, 0)
        self._free.append(slot)

    def close(self) -> None:
        """Let go of the table."""
        self._table.close()


class NoPins:
    """The null control: all of the cache's code, and no pinning."""

    def pin(self, region: Region) -> None:
        """Do nothing."""

    def unpin(self, region: Region) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


KINDS: dict[str, type[LockedPages | IoUringPins]] = {"mlock": LockedPages, "io_uring": IoUringPins}
"""By the names of host memory's pinnings."""


class Registrar:
    """Registers what transfers need; knows how long that took."""

    def __init__(self, registration: Registration, pins: Callable[[], Pins]) -> None:
        self._cache = RegistrationCache(page_bytes=PAGE, max_regions=registration.capacity)
        self._pins = pins() if registration.pins else NoPins()
        self.seconds = 0.0

    @property
    def counters(self) -> Counters:
        """What the cache did so far."""
        return self._cache.counters

    def acquire(self, address: int, nbytes: int) -> Lease:
        """Have ``[address, address + nbytes)`` registered.

        Raises
        ------
        MeasurementError
            If the kernel refuses, with its reason and what would help.
        """
        began = time.perf_counter()
        lease = self._cache.acquire(address, nbytes)
        # First what the cache has given up: until then it counts against the locked-memory limit.
        for region in lease.deregistered:
            self._pins.unpin(region)
        if not lease.hit:
            try:
                self._pins.pin(lease.region)
            except OSError as problem:
                raise say_refusal(problem, lease.region.nbytes, self.counters.registered_bytes) from problem
        self.seconds += time.perf_counter() - began
        return lease

    def release(self, lease: Lease) -> None:
        """Give it back; without a cache, it is deregistered now."""
        began = time.perf_counter()
        for region in self._cache.release(lease):
            self._pins.unpin(region)
        self.seconds += time.perf_counter() - began

    def close(self) -> None:
        """Deregister everything."""
        for region in self._cache.regions:
            self._pins.unpin(region)
        self._pins.close()
