import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from peerlab import RegistrationCache
from peerlab.base.errors import RegistrationError

PAGE = 4096


def use(cache, address, length):
    lease = cache.acquire(address, length)
    cache.release(lease)
    return lease


def test_a_request_inside_a_live_region_hits():
    cache = RegistrationCache()
    assert not use(cache, 0, 4 * PAGE).hit
    assert use(cache, PAGE + 5, 100).hit
    assert (cache.counters.hits, cache.counters.misses) == (1, 1)


def test_requests_are_rounded_to_pages():
    cache = RegistrationCache()
    lease = use(cache, 5000, 1)
    assert (lease.region.start, lease.region.end) == (PAGE, 2 * PAGE)


def test_a_partial_overlap_drops_the_idle_region_and_registers_only_the_new_range():
    cache = RegistrationCache()
    use(cache, 0, 2 * PAGE)
    lease = use(cache, PAGE, 2 * PAGE)
    assert [(r.start, r.end) for r in lease.deregistered] == [(0, 2 * PAGE)]
    assert [(r.start, r.end) for r in cache.regions] == [(PAGE, 3 * PAGE)]
    assert cache.counters.registered_bytes == 2 * PAGE


def test_an_overlapped_region_in_use_lives_until_its_last_release():
    cache = RegistrationCache()
    first = cache.acquire(0, 2 * PAGE)
    second = cache.acquire(PAGE, 2 * PAGE)
    assert second.deregistered == ()
    assert len(cache) == 1
    assert cache.release(first) == (first.region,)
    assert cache.counters.registered_bytes == 2 * PAGE


def test_the_least_recently_used_idle_region_is_evicted():
    cache = RegistrationCache(max_regions=2)
    a, b = 0, 10 * PAGE
    use(cache, a, PAGE)
    use(cache, b, PAGE)
    use(cache, a, PAGE)  # b is now the older one
    lease = use(cache, 20 * PAGE, PAGE)
    assert [r.start for r in lease.deregistered] == [b]
    assert cache.counters.evictions == 1


def test_with_room_for_four_the_fifth_buffer_evicts():
    cache = RegistrationCache(max_regions=4)
    for i in range(4):
        assert use(cache, 10 * i * PAGE, PAGE).deregistered == ()
    assert len(use(cache, 50 * PAGE, PAGE).deregistered) == 1


def test_when_all_are_in_use_the_region_is_registered_but_not_kept():
    cache = RegistrationCache(max_regions=1)
    held = cache.acquire(0, PAGE)
    extra = cache.acquire(10 * PAGE, PAGE)
    assert not extra.region.cached
    assert cache.counters.uncached == 1
    assert cache.release(extra) == (extra.region,)
    assert cache.release(held) == ()
    assert use(cache, 0, PAGE).hit


def test_bytes_are_limited_as_well():
    cache = RegistrationCache(max_bytes=3 * PAGE)
    use(cache, 0, 2 * PAGE)
    assert len(use(cache, 10 * PAGE, 2 * PAGE).deregistered) == 1
    whole = use(cache, 100 * PAGE, 4 * PAGE)  # larger than the cache: not kept, and nothing evicted for it
    assert whole.deregistered == ()
    assert len(cache) == 1


def test_no_cache_registers_every_time():
    cache = RegistrationCache(max_regions=0)
    for _ in range(3):
        lease = cache.acquire(0, PAGE)
        assert cache.release(lease) == (lease.region,)
    assert (cache.counters.hits, cache.counters.misses, cache.counters.registered_bytes) == (0, 3, 0)


def test_the_locked_memory_limit_evicts_once_and_then_fails_with_advice():
    cache = RegistrationCache(memlock_bytes=3 * PAGE)
    use(cache, 0, 2 * PAGE)
    use(cache, 10 * PAGE, 2 * PAGE)  # the idle one makes room
    held = cache.acquire(10 * PAGE, 2 * PAGE)
    with pytest.raises(RegistrationError) as caught:
        cache.acquire(20 * PAGE, 2 * PAGE)
    message = str(caught.value)
    assert "cannot register 8 KiB" in message
    assert "limit is 12 KiB" in message
    assert "ulimit -l" in message
    assert cache.counters.registered_bytes == 2 * PAGE
    cache.release(held)
    assert not use(cache, 20 * PAGE, 2 * PAGE).hit


def test_freed_memory_is_forgotten():
    cache = RegistrationCache()
    use(cache, 0, 4 * PAGE)
    held = cache.acquire(10 * PAGE, PAGE)
    assert [r.start for r in cache.invalidate(PAGE, 1)] == [0]
    assert cache.invalidate(10 * PAGE, 1) == ()
    assert not use(cache, 0, PAGE).hit
    assert cache.release(held) == (held.region,)


@given(st.integers(2, 8), st.integers(1, 40))
def test_cycling_through_more_buffers_than_fit_never_hits(capacity, rounds):
    cache = RegistrationCache(max_regions=capacity)
    for i in range(rounds * (capacity + 1)):
        use(cache, i % (capacity + 1) * 10 * PAGE, PAGE)
    assert cache.counters.hits == 0


class CacheLaws(RuleBasedStateMachine):
    """Whatever is asked, in whatever order, these hold."""

    @initialize(
        regions=st.none() | st.integers(0, 4),
        nbytes=st.none() | st.integers(0, 12),
        lock=st.none() | st.integers(4, 30),
    )
    def start(self, regions, nbytes, lock):
        self.limits = regions, nbytes and nbytes * PAGE, lock and lock * PAGE
        self.cache = RegistrationCache(
            max_regions=regions, max_bytes=self.limits[1], memlock_bytes=self.limits[2], page_bytes=PAGE
        )
        self.leases = []
        self.asked = 0

    @rule(page=st.integers(0, 20), pages=st.integers(1, 6), offset=st.integers(0, PAGE - 1))
    def acquire(self, page, pages, offset):
        self.asked += 1
        try:
            lease = self.cache.acquire(page * PAGE + offset, pages * PAGE - offset)
        except RegistrationError:
            assert self.limits[2] is not None
            return
        assert lease.region.start <= page * PAGE + offset
        assert lease.region.end >= (page + pages) * PAGE
        assert all(region.users == 0 for region in lease.deregistered)
        self.leases.append(lease)

    @rule(data=st.data())
    def release(self, data):
        if self.leases:
            lease = self.leases.pop(data.draw(st.integers(0, len(self.leases) - 1)))
            for region in self.cache.release(lease):
                assert region.users == 0

    @rule(page=st.integers(0, 20), pages=st.integers(1, 6))
    def invalidate(self, page, pages):
        for region in self.cache.invalidate(page * PAGE, pages * PAGE):
            assert region.users == 0
        assert not any(r.start < (page + pages) * PAGE and r.end > page * PAGE for r in self.cache.regions)

    @invariant()
    def laws(self):
        if not hasattr(self, "cache"):
            return
        cache, (regions, nbytes, lock) = self.cache, self.limits
        kept = cache.regions
        assert regions is None or len(kept) <= regions
        assert nbytes is None or sum(r.nbytes for r in kept) <= nbytes
        assert all(a.end <= b.start for a, b in itertools.pairwise(kept))
        in_use = {id(lease.region): lease.region.nbytes for lease in self.leases}
        idle = sum(r.nbytes for r in kept if r.users == 0)
        assert cache.counters.registered_bytes == sum(in_use.values()) + idle
        assert lock is None or cache.counters.registered_bytes <= lock
        assert cache.counters.hits + cache.counters.misses == self.asked


TestCacheLaws = CacheLaws.TestCase
