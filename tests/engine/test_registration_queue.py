"""What a transfer asks of the registration queue and its cache: hits, misses, evictions, in the referee as in the loop."""

import pytest
from story import BOTH

import peerlab
from peerlab.answer.trace import REGISTRATION_KINDS
from peerlab.collectives.choose import plan
from peerlab.engine.registration_queue import DESTINATION, SOURCE, RegistrationQueue
from peerlab.engine.system import System
from peerlab.engine.warm_cache import WarmCache, ends_warm

US = 10**6
"""Picoseconds."""
COSTS = {"base": 0.75, "per_page": 0.25, "deregister_base": 0, "deregister_per_page": 0.5, "lookup": 0.125}
"""Microseconds; regions have one page."""


def registering(**fields):
    """Return an allgather of two pages around a ring of nodes where registering a region takes 1 us."""
    cluster = peerlab.load_cluster("juliet")
    for name, value in COSTS.items():
        cluster = cluster.with_figure(f"registration.{name}", value)
    asked = {"nodes": 2, "iterations": 1, **fields}
    size = {"message_bytes": 4096 * asked["nodes"], "slice_bytes": None}
    return peerlab.Scenario(cluster=cluster, path="peer-direct", collective="allgather", **size, **asked)


def asked_of_the_cache(engine, iteration=0, **fields):
    """Return what the first node's NIC was asked for: what it did, from when to when, in microseconds."""
    run = peerlab.simulate(registering(**fields), engine=engine)
    columns = run.trace.iterations[iteration].recording.unrolled_registrations
    rows = zip(columns["kind"], columns["start"] / US, columns["end"] / US, strict=True)
    return sorted(
        ((REGISTRATION_KINDS[kind], begin, end) for kind, begin, end in rows), key=lambda row: row[1:]
    )


@BOTH
def test_both_ends_of_a_transfer_queue_at_the_nic_that_registers_for_them(engine):
    assert asked_of_the_cache(engine) == [("miss", 0, 1), ("miss", 1, 2)]


@BOTH
def test_what_is_registered_is_found_without_queueing(engine):
    assert asked_of_the_cache(engine, 1, iterations=2) == [("hit", 0, 0.125), ("hit", 0, 0.125)]


@BOTH
def test_without_a_cache_what_was_registered_is_given_back_after_the_transfer(engine):
    found = asked_of_the_cache(engine, registration="per-transfer")
    assert [kind for kind, *_ in found] == ["uncached", "uncached", "deregister", "deregister"]
    assert found[:2] == [("uncached", 0, 1), ("uncached", 1, 2)]
    assert found[2][2] == found[3][1] == found[2][1] + 0.5  # one after the other


def test_a_full_cache_gives_up_what_was_not_used_for_longest():
    system = System(registering(nodes=3, cache_regions=1), folded=True)
    queue = RegistrationQueue(system)
    nic, answers = system.lanes[0].registration_queue, []
    for side, step in ((SOURCE, 0), (DESTINATION, 0), (SOURCE, 1)):
        lease, answer = queue.acquire(nic, 0, side, step)
        answers.append(
            ([REGISTRATION_KINDS[one.kind] for one in answer.events], answer.queue_ps, answer.delay_ps)
        )
        queue.release(nic, lease, side, step)
    assert answers == [
        (["miss"], US, 0),
        (["evict", "miss"], 3 * US // 2, 0),
        (["hit"], 0, US // 8),  # step 1 sends what step 0 brought
    ]
    assert (queue.counters().hits, queue.counters().misses, queue.counters().evictions) == (1, 2, 1)


def test_a_warm_cache_holds_whatever_is_asked_for():
    cache = WarmCache(page_bytes=4096)
    lease = cache.acquire(5000, 100)
    assert (lease.hit, lease.region.start, lease.region.end) == (True, 4096, 8192)
    assert cache.release(lease) == ()
    assert (cache.counters.hits, cache.counters.misses) == (1, 0)


@pytest.mark.parametrize(
    ("fields", "warm"),
    [({"iterations": 2}, True), ({"iterations": 1}, False), ({"iterations": 2, "buffers": 2}, False),
     ({"iterations": 2, "cache_regions": 1}, False), ({"iterations": 2, "registration": "per-transfer"}, False)],
)  # fmt: skip
def test_a_run_ends_warm_if_all_its_buffers_were_used_and_all_of_them_fit(fields, warm):
    asked = registering(**fields)
    assert ends_warm(asked, plan(asked).schedule) == warm
