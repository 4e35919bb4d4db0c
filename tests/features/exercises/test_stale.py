"""Freed memory under a NIC that remembers: which caches give wrong sums, which a NIC refuses, which are right."""

import numpy as np
import pytest

from peerlab.features.exercises.labs.freed_memory import PAGE, NicError, ProcessMemory, TranslatingNic
from peerlab.features.exercises.labs.stale import ByAllocation, ByPointer, ByRange, Watched, train

SAME, GROWING = ("64 KiB",) * 3, ("16 KiB", "64 KiB", "64 KiB")


def test_a_freed_address_comes_back_with_other_pages_and_the_nic_still_reads_the_old_ones():
    host = ProcessMemory()
    nic = TranslatingNic(host)
    first = host.allocate(PAGE)
    host.fill(first, PAGE, 1.0)
    key = nic.register(first, PAGE)
    host.free(first, PAGE)
    again = host.allocate(PAGE)
    host.fill(again, PAGE, 2.0)
    assert again == first
    assert set(nic.read(key, again, PAGE)) == {1.0}
    assert nic.dead_bytes == PAGE
    nic.deregister(key)
    assert nic.dead_bytes == 0
    with pytest.raises(NicError, match="not registered"):
        nic.read(key, again, PAGE)


def test_writes_after_registering_are_seen_as_the_pages_are_the_same():
    host = ProcessMemory()
    address = host.allocate(2 * PAGE)
    nic = TranslatingNic(host)
    key = nic.register(address, 2 * PAGE)
    host.fill(address + PAGE, PAGE, 5.0)
    assert np.unique(nic.read(key, address, 2 * PAGE)).tolist() == [0.0, 5.0]


@pytest.mark.parametrize(
    ("cache", "same", "growing"),
    [
        (ByPointer, [3, 3, 3], [3, None, None]),
        (ByRange, [3, 3, 3], [3, 6, 6]),
        (Watched, [3, 6, 9], [3, 6, 9]),
        (ByAllocation, [3, 6, 9], [3, 6, 9]),
    ],
)
def test_sums_over_each_cache(cache, same, growing):
    assert [step.was for step in train(cache, SAME).steps] == same
    assert [step.was for step in train(cache, GROWING).steps] == growing


def test_only_the_cache_that_hears_of_freeing_leaves_nothing_pinned():
    assert train(Watched, SAME).dead_bytes == 0
    assert train(ByAllocation, SAME).dead_bytes == 3 * (64 << 10)


def test_the_report_tells_a_wrong_sum_from_a_refusal_and_escapes_names():
    page = train(ByPointer, GROWING)._repr_html_()
    assert "2 steps refused by the NIC" in page
    assert "wrong, and nobody is told" not in page
    assert "2 sums wrong, and nobody is told" in train(ByPointer, SAME)._repr_html_()
    odd = type("<b>mine</b>", (Watched,), {})
    assert "<b>mine" not in train(odd, SAME)._repr_html_()
