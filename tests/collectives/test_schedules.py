"""Every schedule: what is summed, who is where, and that slices wait for what they carry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.collectives.binary_tree import BinaryTree
from peerlab.collectives.choose import SCHEDULES, slices
from peerlab.collectives.halving_doubling import HalvingDoubling, RecursiveDoubling
from peerlab.collectives.pairwise import Pairwise
from peerlab.collectives.plan import Plan, is_chain, neighbours, waits
from peerlab.collectives.point_to_point import PointToPoint
from peerlab.collectives.reference import execute, own_range
from peerlab.collectives.ring import Ring
from peerlab.model.algorithms import ALGORITHMS, Algorithm
from peerlab.picture.words import caption

ANY_NUMBER = (Ring, Pairwise, BinaryTree)
POWERS_OF_TWO = (HalvingDoubling, RecursiveDoubling)
HALVES = (Ring, Pairwise, HalvingDoubling)


def numbers(ranks, size):
    return np.random.default_rng(ranks * 1000 + size).integers(-1000, 1000, (ranks, size))


@st.composite
def schedules(draw, of=(*ANY_NUMBER, *POWERS_OF_TWO)):
    kind = draw(st.sampled_from(of))
    ranks = 2 ** draw(st.integers(0, 5)) if kind in POWERS_OF_TWO else draw(st.integers(1, 33))
    return kind, ranks


@given(schedules(), st.integers(1, 4), st.integers(1, 200))
def test_every_schedule_sums(which, devices, size):
    kind, nodes = which
    plan = Plan(nodes, devices, size, kind(nodes, -(-size // devices)))
    given_ = numbers(nodes * devices, size)
    assert (execute(plan, given_) == given_.sum(axis=0)).all()


@given(schedules(HALVES), st.integers(1, 4), st.integers(1, 200))
def test_a_half_leaves_rank_i_with_chunk_i_or_begins_there(which, devices, size):
    kind, nodes = which
    given_ = numbers(nodes * devices, size)
    shard = -(-size // devices)
    scatter = Plan(nodes, devices, size, kind(nodes, shard, True, False), True, False)
    gather = Plan(nodes, devices, size, kind(nodes, shard, False, True), False, True)
    scattered, gathered = execute(scatter, given_), execute(gather, given_)
    for rank in range(scatter.ranks):
        mine = own_range(scatter, rank)
        assert (scattered[rank, mine] == given_.sum(axis=0)[mine]).all()
        assert (gathered[:, mine] == given_[rank, mine]).all()


@given(schedules())
def test_a_chunk_arrives_at_the_position_where_the_receiver_has_it(which):
    kind, ranks = which
    schedule = kind(ranks, 1000)
    for step in range(schedule.steps):
        for rank in range(ranks):
            to = schedule.to(rank, step)
            if to < 0:
                assert not schedule.symmetric
                assert all(schedule.source(other, step) != rank for other in range(ranks))
                continue
            assert to != rank
            assert schedule.source(to, step) == rank
            sent = [schedule.chunk(rank, p) for p in schedule.sends(step)]
            assert sent == [schedule.chunk(to, p) for p in schedule.receives(step)]


@given(schedules())
def test_what_is_sent_waits_for_every_rank_that_it_holds_the_sum_of(which):
    """Follow whose contributions a chunk holds, by the waits alone: at the end everybody's."""
    kind, ranks = which
    schedule = kind(ranks, 1000)
    needed = [waits(schedule, rank) for rank in range(ranks)]
    sent = {}  # (rank, step, chunk): the ranks whose numbers are in it
    for step in range(schedule.steps):
        for rank in range(ranks):
            if schedule.to(rank, step) < 0:
                continue
            for position in schedule.sends(step):
                chunk = schedule.chunk(rank, position)
                sent[rank, step, chunk] = {rank} | {
                    one
                    for before in needed[rank][step]
                    for one in sent.get((schedule.source(rank, before), before, chunk), ())
                }
    for rank in range(ranks):
        held = {chunk: {rank} for chunk in range(schedule.chunks)}
        for step in range(schedule.steps):
            source = schedule.source(rank, step)
            for position in schedule.receives(step) if source >= 0 else ():
                chunk = schedule.chunk(rank, position)
                held[chunk] |= sent[source, step, chunk]
        assert all(len(whose) == ranks for whose in held.values())


@pytest.mark.parametrize(
    ("schedule", "steps", "chain"),
    [
        (Ring(8, 800), 14, True),
        (RecursiveDoubling(8, 800), 3, False),
        (HalvingDoubling(8, 800), 6, False),
        (Pairwise(8, 800), 14, False),
        (BinaryTree(8, 800), 12, False),
    ],
)
def test_steps_and_which_schedules_are_chains(schedule, steps, chain):
    assert schedule.steps == steps
    assert is_chain(schedule) is chain


@given(schedules())
def test_a_ring_passes_on_to_the_next_rank_what_has_just_come(which):
    kind, ranks = which
    schedule = kind(ranks, 1000)
    assert schedule.is_ring == (kind is Ring)
    assert not PointToPoint(1000).is_ring
    for step in range(schedule.steps if schedule.is_ring else 0):
        assert [schedule.to(rank, step) for rank in range(ranks)] == [*range(1, ranks), 0]
        assert step == 0 or schedule.sends(step) == schedule.receives(step - 1)


@given(schedules())
def test_neighbours_are_each_others(which):
    kind, ranks = which
    schedule = kind(ranks, 1000)
    found = [neighbours(schedule, rank) for rank in range(ranks)]
    assert all(rank in found[other] for rank in range(ranks) for other in found[rank])
    assert all(rank not in found[rank] for rank in range(ranks))
    if kind is Ring and ranks > 1:
        assert found[0] == {1, ranks - 1}


def test_every_algorithm_has_a_schedule_and_every_schedule_says_what_a_rank_does():
    assert {one.schedule for one in ALGORITHMS.values()} == set(SCHEDULES)
    assert {one.schedule for one in ALGORITHMS.values() if one.does} == set(SCHEDULES)
    assert all(one.does for one in ALGORITHMS.values() if one.name == one.schedule)
    assert [one.name for one in ALGORITHMS.values()] == list(ALGORITHMS)


class RingToTheLeft(Ring):
    """The ring the other way round."""

    is_ring = False  # what comes from the right, the array engine would look for on the left

    def to(self, rank, step):
        return super().source(rank, step)

    def source(self, rank, step):
        return super().to(rank, step)

    def chunk(self, rank, position):
        return super().chunk(-rank, position)


def test_an_algorithm_of_a_test_is_a_record_and_a_schedule(monkeypatch):
    left = Algorithm(
        name="left", schedule="ring to the left", does="to the left neighbour", collectives=("allreduce",)
    )
    monkeypatch.setitem(ALGORITHMS, left.name, left)
    monkeypatch.setitem(SCHEDULES, left.schedule, RingToTheLeft)
    given_ = numbers(5, 100)
    assert (execute(Plan(5, 1, 100, RingToTheLeft(5, 100)), given_) == given_.sum(axis=0)).all()
    asked = peerlab.Scenario(cluster="ideal-100g", nodes=5, message_bytes="1 MiB", algorithm="left")
    loop, referee = (
        peerlab.simulate(asked.with_(jitter=0.1), engine=name, every_node=True)
        for name in ("loop", "referee")
    )
    assert loop.time_ps == referee.time_ps
    assert peerlab.simulate(asked).time_ps == peerlab.simulate(asked.with_(algorithm="ring")).time_ps
    assert ", ring to the left, " in caption(peerlab.simulate(asked))
    with pytest.raises(peerlab.PeerlabError, match="'left' does an allreduce only, no allgather"):
        asked.with_(collective="allgather")


@pytest.mark.parametrize(
    ("fields", "sizes"),
    [
        ({}, (128 * 1024,) * 8),  # chunks of 1 MiB
        ({"message_bytes": "1 GiB"}, (512 * 1024,) * 32),  # the library's largest slice
        ({"slice_bytes": "300 KiB"}, (300 * 1024,) * 3 + (124 * 1024,)),
        ({"window": 3}, (349526, 349526, 349524)),
        ({"collective": "point-to-point", "message_bytes": 10}, (5, 5)),
        ({"nodes": 1}, ()),
    ],
)
def test_a_transfer_is_cut_into_full_slices_and_a_remainder(fields, sizes):
    assert slices(peerlab.Scenario(path="host-rdma", library="none", **fields)) == sizes


def test_a_library_cuts_a_transfer_into_its_own_slices_and_no_finer():
    assert slices(peerlab.Scenario(path="host-rdma")) == (512 * 1024,) * 2  # HCL, chunks of 1 MiB
    assert slices(peerlab.Scenario(path="peer-direct")) == (1024 * 1024,)
    tree = peerlab.Scenario(cluster="p4d", nodes=2, path="peer-direct", library_version="2.19")
    assert set(slices(tree)) == {tree.choice.course.chunk}


@pytest.mark.parametrize(("message", "same"), [("64 MiB", False), ("512 MiB", True), ("1 GiB", True)])
def test_a_message_that_hcl_cuts_as_topology_alone_does_takes_the_same_to_the_last_digit(message, same):
    """Pairwise and ring differ by whom a node exchanges with, not by how much: all that HCL adds on DL1 is its slices."""
    hcl = peerlab.Scenario(path="peer-direct", message_bytes=message)
    bare = hcl.with_(library="none")
    assert (slices(hcl) == slices(bare)) is same
    assert (peerlab.simulate(hcl).time_ps == peerlab.simulate(bare).time_ps) is same
