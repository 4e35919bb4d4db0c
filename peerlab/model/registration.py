"""Registered memory: what registering costs, and the cache that avoids it.

`RegistrationCache` knows no clock. The simulator and real measurements use the same class; each brings its own
idea of time. Its rules are libfabric's (prov/util/src/util_mr_cache.c), with page-rounded regions.
"""

# The registration cache has no limit by default. No document tells the capacity of the vendor's cache; a
# made-up default would decide the lab's main ratio. A limit is a setting. The on-device copy that a static
# pool needs is not modelled: nobody publishes it.

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from peerlab.base.errors import RegistrationError
from peerlab.base.units import say_bytes

if TYPE_CHECKING:
    from peerlab.model.hardware import Cluster


@dataclass(frozen=True, kw_only=True)
class RegistrationCost:
    """Picoseconds that registering and deregistering a region take: a fixed part and a part per page."""

    base_ps: int
    """Registering, fixed part."""
    page_ps: int
    """Registering, per page."""
    deregister_base_ps: int
    """Deregistering, fixed part."""
    deregister_page_ps: int
    """Deregistering, per page."""
    lookup_ps: int
    """Looking a region up in the cache."""
    page_bytes: int
    """Size of a page."""

    @classmethod
    def on(cls, cluster: "Cluster", page_bytes: int) -> "RegistrationCost":
        """Return what registering costs on a cluster with pages of a size."""
        return cls(
            base_ps=cluster.register_base_ps,
            page_ps=cluster.register_page_ps,
            deregister_base_ps=cluster.deregister_base_ps,
            deregister_page_ps=cluster.deregister_page_ps,
            lookup_ps=cluster.lookup_ps,
            page_bytes=page_bytes,
        )

    def register_ps(self, nbytes: int) -> int:
        """Return the picoseconds to register a page-rounded region of `nbytes`."""
        return self.base_ps + self.page_ps * (nbytes // self.page_bytes)

    def deregister_ps(self, nbytes: int) -> int:
        """Return the picoseconds to deregister a page-rounded region of `nbytes`."""
        return self.deregister_base_ps + self.deregister_page_ps * (nbytes // self.page_bytes)


# Compared by identity: one range may be registered twice, and `_idle` keeps each by itself.
@dataclass(eq=False, slots=True)
class Region:
    """A registered range of memory, page-rounded."""

    start: int
    """First address."""
    end: int
    """Address after the last byte."""
    users: int = 0
    """Transfers that use it now."""
    cached: bool = True
    """Whether a later request can find it."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.end - self.start


@dataclass(slots=True)
class Counters:
    """What a cache did so far."""

    hits: int = 0
    """Requests answered by a live region."""
    misses: int = 0
    """Requests that had to register."""
    evictions: int = 0
    """Regions given up to make room."""
    uncached: int = 0
    """Registrations that found no room in the cache."""
    registered_bytes: int = 0
    """Bytes registered now."""
    peak_bytes: int = 0
    """Most bytes registered at any time."""
    time_ps: int = 0
    """Time spent on registering, deregistering and looking up; whoever owns the clock adds to it."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The answer to a request: a region in use, and what had to be done for it."""

    region: Region
    """The region that covers the request; give it back with :meth:`RegistrationCache.release`."""
    hit: bool
    """Whether it was there already."""
    deregistered: tuple[Region, ...] = ()
    """Idle regions that were dropped or evicted on the way."""


@dataclass(eq=False)
class RegistrationCache:
    """A cache of registered regions of one NIC.

    * A request is rounded to pages; it hits if it lies inside a live region.
    * A region that a new request overlaps in part is dropped, and the new range alone is registered (no merge).
    * At the limit on regions or bytes, the least recently used regions that nobody uses are evicted;
      if all are in use, the new region is registered but not kept.
    * A registration beyond the locked-memory limit evicts idle regions once, then fails.
    * A limit of 0 regions is no cache: every request registers, every release deregisters.

    >>> cache = RegistrationCache(max_regions=1)
    >>> for address in (0, 0, 8192):
    ...     _ = cache.release(cache.acquire(address, 4096))
    >>> cache.counters.hits, cache.counters.misses, cache.counters.evictions
    (1, 2, 1)
    """

    page_bytes: int = 4096
    """Regions start and end on multiples of this."""
    max_regions: int | None = None
    """Most regions kept; None: no limit."""
    max_bytes: int | None = None
    """Most bytes kept; None: no limit."""
    memlock_bytes: int | None = None
    """Locked-memory limit on everything registered, kept or not; None: no limit."""
    counters: Counters = field(default_factory=Counters)
    """What happened so far."""

    def __post_init__(self) -> None:
        self._starts: list[int] = []
        self._by_start: dict[int, Region] = {}  # kept regions never overlap
        self._idle: OrderedDict[Region, None] = OrderedDict()  # least recently used first
        self._kept_bytes = 0

    def __len__(self) -> int:
        return len(self._by_start)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The kept regions, by address."""
        return tuple(self._by_start[start] for start in self._starts)

    @property
    def idle(self) -> tuple[Region, ...]:
        """The kept regions that nobody uses, least recently used first."""
        return tuple(self._idle)

    def acquire(self, address: int, length: int) -> Lease:
        """Return a region that covers ``[address, address + length)``, registering it if need be.

        Raises
        ------
        RegistrationError
            If the locked-memory limit is reached even after evicting idle regions.
        """
        start, end = self.rounded(address, length)
        known_region = self._containing(start, end)
        if known_region is not None:
            self.counters.hits += 1
            # what is in use is never evicted
            self._idle.pop(known_region, None)
            known_region.users += 1
            return Lease(known_region, hit=True)
        # What overlaps goes first: that may be room enough, so that nobody else is evicted.
        self.counters.misses += 1
        gone = self._drop_overlapping(start, end)
        # what the cache can never hold evicts nobody
        if self._could_fit(end - start):
            gone += self._evict_until(lambda: self._fits(end - start))
        gone += self._unlock(end - start)
        # asked once more: regions in use cannot be evicted, so there may be no room after all
        region = Region(start, end, users=1, cached=self._fits(end - start))
        if region.cached:
            insort(self._starts, start)
            self._by_start[start] = region
            self._kept_bytes += region.nbytes
        else:
            self.counters.uncached += 1
        self._count(region.nbytes)
        return Lease(region, hit=False, deregistered=tuple(gone))

    def release(self, lease: Lease) -> tuple[Region, ...]:
        """Give a lease back; return the regions deregistered by that (none, if the cache keeps it)."""
        region = lease.region
        region.users -= 1
        if region.users:
            return ()
        if region.cached:
            self._idle[region] = None
            return ()
        self._count(-region.nbytes)
        return (region,)

    def invalidate(self, address: int, length: int) -> tuple[Region, ...]:
        """Forget every region that overlaps freed memory; return those deregistered at once.

        A region in use can no longer be found and is deregistered at its last release.
        """
        return tuple(self._drop_overlapping(*self.rounded(address, length)))

    def rounded(self, address: int, length: int) -> tuple[int, int]:
        """Return start and end of the pages that hold ``[address, address + length)``."""
        page = self.page_bytes
        return address // page * page, -(-(address + length) // page) * page

    def _containing(self, start: int, end: int) -> Region | None:
        # As kept regions never overlap, only the last that begins at or before `start` can hold the range.
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        region = self._by_start[self._starts[index]]
        return region if end <= region.end else None

    def _fits(self, nbytes: int) -> bool:
        room = self.max_regions is None or len(self._by_start) < self.max_regions
        return room and (self.max_bytes is None or self._kept_bytes + nbytes <= self.max_bytes)

    def _could_fit(self, nbytes: int) -> bool:
        return self.max_regions != 0 and (self.max_bytes is None or nbytes <= self.max_bytes)

    def _drop_overlapping(self, start: int, end: int) -> list[Region]:
        # the region that begins before the range may reach into it
        index = max(bisect_right(self._starts, start) - 1, 0)
        overlapping = []
        while index < len(self._starts) and self._starts[index] < end:
            region = self._by_start[self._starts[index]]
            if region.end > start:
                overlapping.append(region)
            index += 1
        # collected first: forgetting takes them out of the list that was walked
        return [region for region in overlapping if self._forget(region)]

    def _forget(self, region: Region) -> bool:
        """Take a region out of the cache; return whether it was idle and so is deregistered now."""
        self._starts.remove(region.start)
        del self._by_start[region.start]
        self._kept_bytes -= region.nbytes
        region.cached = False
        if region.users:
            return False
        # kept and without users, so it is idle
        del self._idle[region]
        self._count(-region.nbytes)
        return True

    def _evict_until(self, enough: Callable[[], bool]) -> list[Region]:
        evicted = []
        while self._idle and not enough():
            # a release puts a region at the end, so the first was used least recently
            region = next(iter(self._idle))
            self._forget(region)
            self.counters.evictions += 1
            evicted.append(region)
        return evicted

    def _unlock(self, nbytes: int) -> list[Region]:
        """Make room under the locked-memory limit, or fail."""
        limit = self.memlock_bytes
        if limit is None:
            return []
        evicted = self._evict_until(lambda: self.counters.registered_bytes + nbytes <= limit)
        if self.counters.registered_bytes + nbytes > limit:
            held = self.counters.registered_bytes
            raise RegistrationError(
                f"memlock_bytes: cannot register {say_bytes(nbytes)}: {say_bytes(held)} are in use and the "
                f"locked-memory limit is {say_bytes(limit)}; raise it (memlock_bytes=... here, "
                f"'ulimit -l' or LimitMEMLOCK= on a machine) to {say_bytes(held + nbytes)} or more"
            )
        return evicted

    def _count(self, nbytes: int) -> None:
        counters = self.counters
        counters.registered_bytes += nbytes
        counters.peak_bytes = max(counters.peak_bytes, counters.registered_bytes)
