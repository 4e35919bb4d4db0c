"""The registration cache after its warm-up: it holds all that will be asked for, so that every request is a hit.

A hit takes the lookup alone and queues nowhere. So an iteration that begins with a warm cache needs nothing of those
before it, and any engine can run it that lets a transfer begin one lookup late.
"""

# The cold run is simulated when somebody asks. In a warm iteration without limits every request finds its
# memory registered. That needs nothing of the cold iteration before it, except that there was one. So the
# lab's switch to Peer Direct waits for one iteration, not for two; `run.iterations` makes the other. Rows
# of a sweep and `run.as_dict()` leave it out too, unless called with `iteration_times=True`. On DL1 that is
# 460 rows a second instead of 170.

from functools import lru_cache

from peerlab.collectives.plan import Schedule, waits
from peerlab.model.registration import Lease, Region, RegistrationCache
from peerlab.question.scenario import Scenario


class WarmCache(RegistrationCache):
    """A cache in which every request is a hit; it needs no list of its regions."""

    def acquire(self, address: int, length: int) -> Lease:
        """Return the region that was registered for this request."""
        self.counters.hits += 1
        return Lease(Region(*self.rounded(address, length)), hit=True)

    def release(self, lease: Lease) -> tuple[Region, ...]:  # noqa: ARG002  (nothing is evicted)
        """Keep it."""
        return ()


def may_evict(scenario: Scenario, schedule: Schedule) -> bool:
    """Return whether some limit can evict regions from the caches; otherwise every region stays once it is registered."""
    if scenario.registration != "cached":
        return False  # nothing is kept
    # each buffer set registers its receive buffer chunk by chunk, and of its send buffer what is sent before anything has arrived
    sent = sum(not wait for wait in waits(schedule, 0)[:-1])
    regions = scenario.buffers * (schedule.chunks + sent) * scenario.hardware.devices_per_switch
    page = int(scenario.page_bytes)
    size = regions * (-(-schedule.chunk_bytes // page) * page)
    limits = (
        (scenario.cache_regions, regions),
        (scenario.cache_bytes, size),
        (scenario.memlock_bytes, size),
    )
    return any(limit is not None and int(limit) < need for limit, need in limits)


def ends_warm(scenario: Scenario, schedule: Schedule) -> bool:
    """Return whether the last iteration finds all its memory registered, whatever happened before."""
    if not scenario.registers or scenario.registration != "cached" or scenario.runs <= scenario.buffers:
        return False
    return _chunk_by_chunk(schedule) and not may_evict(scenario, schedule)


@lru_cache(maxsize=256)
def _chunk_by_chunk(schedule: Schedule) -> bool:
    """Return whether every transfer is of one chunk, so that each asks for the regions that it asked for before."""
    ends = (schedule.sends, schedule.receives)
    return schedule.symmetric and all(len(end(step)) == 1 for step in range(schedule.steps) for end in ends)
