import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerlab.collectives.plan import Plan, slice_sizes
from peerlab.collectives.point_to_point import PointToPoint
from peerlab.collectives.reference import execute, own_range
from peerlab.collectives.ring import Ring


def numbers(ranks, size):
    return np.random.default_rng(ranks * 1000 + size).integers(-1000, 1000, (ranks, size))


def allreduce(nodes, devices, size):
    return Plan(nodes=nodes, devices=devices, message_bytes=size, schedule=Ring(nodes, -(-size // devices)))


@pytest.mark.sample(part=4)
@pytest.mark.parametrize("ranks", range(1, 65))
def test_a_ring_sums_for_any_number_of_ranks(ranks):
    for size in (1, 7, ranks, 3 * ranks + 1, 100):
        given_ = numbers(ranks, size)
        assert (execute(allreduce(ranks, 1, size), given_) == given_.sum(axis=0)).all()


@given(nodes=st.integers(1, 9), devices=st.integers(2, 8), size=st.integers(1, 200))
def test_a_hierarchical_allreduce_sums_whatever_does_not_divide(nodes, devices, size):
    given_ = numbers(nodes * devices, size)
    assert (execute(allreduce(nodes, devices, size), given_) == given_.sum(axis=0)).all()


def half(nodes, devices, size, *, adds):
    ring = Ring(nodes, -(-size // devices), adds, not adds)
    return Plan(nodes, devices, size, ring, adds, not adds)


@given(nodes=st.integers(1, 9), devices=st.integers(1, 8), size=st.integers(1, 200))
def test_after_a_reduce_scatter_every_rank_has_the_sum_of_its_own_range(nodes, devices, size):
    plan, given_ = half(nodes, devices, size, adds=True), numbers(nodes * devices, size)
    result, total = execute(plan, given_), given_.sum(axis=0)
    for rank in range(plan.ranks):
        mine = own_range(plan, rank)
        assert (result[rank, mine] == total[mine]).all()


@given(nodes=st.integers(1, 9), devices=st.integers(1, 8), size=st.integers(1, 200))
def test_after_an_allgather_every_rank_has_what_each_contributed(nodes, devices, size):
    plan, given_ = half(nodes, devices, size, adds=False), numbers(nodes * devices, size)
    expected = np.empty(size, np.int64)
    covered = np.zeros(size, int)
    for rank in range(plan.ranks):
        mine = own_range(plan, rank)
        expected[mine] = given_[rank, mine]
        covered[mine] += 1
    assert (covered == 1).all()
    assert (execute(plan, given_) == expected).all()


def test_point_to_point_carries_the_message():
    plan = Plan(nodes=2, devices=1, message_bytes=5, schedule=PointToPoint(5))
    given_ = numbers(2, 5)
    assert (execute(plan, given_) == given_[0]).all()


def test_a_broken_plan_is_caught():
    class Skips(Ring):
        @property
        def steps(self):
            return super().steps - 1

    given_ = numbers(4, 8)
    plan = Plan(nodes=4, devices=1, message_bytes=8, schedule=Skips(4, 8))
    assert not (execute(plan, given_) == given_.sum(axis=0)).all()


@given(st.integers(1, 10**7), st.none() | st.integers(1, 10**6), st.integers(1, 16))
def test_slices_are_full_ones_and_a_remainder(nbytes, limit, least):
    if limit is not None and nbytes / limit > 10_000:
        limit = nbytes // 1000 + 1
    sizes = slice_sizes(nbytes, limit, least)
    assert sum(sizes) == nbytes
    assert len(set(sizes[:-1])) <= 1
    assert 0 < sizes[-1] <= sizes[0]
    if limit is None:
        assert len(sizes) == 1
    else:
        assert max(sizes) <= min(limit, -(-nbytes // least))
        # one byte more makes no slice smaller
        assert max(slice_sizes(nbytes + 1, limit, least)) >= max(sizes)
