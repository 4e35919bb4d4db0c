"""All-to-all: what every rank ends with, and what its schedule promises the engines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.collectives.busbw import bus_factor
from peerlab.collectives.choose import plan
from peerlab.collectives.direct_exchange import DirectExchange
from peerlab.collectives.plan import Plan, neighbours, waits
from peerlab.collectives.reference import execute
from peerlab.collectives.walk import walk
from peerlab.model.collective import collective_of

PLANS = st.builds(
    lambda nodes, switches, below, size: Plan(
        nodes,
        switches * below,
        size,
        DirectExchange(nodes, -(-size // (nodes * switches * below)), switches * below),
        adds=False,
        spreads=False,
        below=below,
    ),
    st.integers(1, 7),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 300),  # also fewer bytes than ranks
)


@given(PLANS)
def test_chunk_s_of_rank_r_is_what_rank_s_had_for_r(plan_):
    """Once: what came twice would be there twice."""
    ranks, chunk, size = plan_.ranks, plan_.schedule.chunk_bytes, plan_.message_bytes
    sent = np.random.default_rng(size).integers(1, 1000, (ranks, size))
    padded = np.zeros((ranks, ranks * chunk), np.int64)
    padded[:, :size] = sent
    turned = padded.reshape(ranks, ranks, chunk).transpose(1, 0, 2)
    assert (execute(plan_, sent).reshape(ranks, ranks, chunk) == turned).all()


@given(PLANS)
def test_in_every_step_each_rank_sends_to_one_and_hears_from_one(plan_):
    schedule, ranks = plan_.schedule, range(plan_.ranks)
    for step in range(schedule.steps):
        to = [plan_.receiver(rank, step) for rank in ranks]
        assert sorted(to) == list(ranks)
        for rank in ranks:
            node, device = divmod(to[rank], plan_.devices)
            assert schedule.source(node, step) == rank // plan_.devices
            assert plan_.further(device, schedule.turn(step), back=True) == rank % plan_.devices
            assert node != rank // plan_.devices  # a node's own devices have links of their own


@given(PLANS)
def test_the_devices_of_a_switch_send_to_those_of_one_other(plan_):
    """So one switch may stand for all."""
    for turn in range(plan_.devices):
        for first in range(0, plan_.devices, plan_.below):
            to = {plan_.further(first + i, turn) // plan_.below for i in range(plan_.below)}
            assert len(to) == 1


@given(st.integers(1, 9), st.integers(1, 8))
def test_nothing_is_passed_on(nodes, devices):
    schedule = DirectExchange(nodes, 10, devices)
    assert set(waits(schedule, 0)) == {()}
    assert neighbours(schedule, 0) == frozenset(range(1, nodes))
    written = {p for step in range(schedule.steps) for p in schedule.receives(step)}
    assert not written & {p for step in range(schedule.steps) for p in schedule.sends(step)}


def test_steps_show_who_sends_what_to_whom():
    one = walk(collective="alltoall", ranks=4)
    assert one.held(3)[2].tolist() == [20, 21, 22, 23, 2, 12, 22, 32]  # what it sends, then what it got
    assert [move.to for move in one.steps[0].moves] == [1, 2, 3, 0]
    assert one.there(0)[2].tolist() == [True] * 4 + [False, False, True, False]
    assert one.final(3)[:, 4:].all()
    assert one.sent(3) == [0.75] * 4
    shown = peerlab.steps(collective="alltoall")._repr_html_()
    assert "Direct, 4 ranks: all-to-all in 3 steps" in shown
    assert ">to 3<" in shown
    assert ">from 3<" in shown
    assert "<b>03</b>" in shown


def test_own_numbers_may_fill_several_boxes_for_a_rank():
    one = walk(collective="alltoall", numbers=[[1, 2, 3, 4], [5, 6, 7, 8]])
    assert one.held(1)[:, 4:].tolist() == [[1, 2, 5, 6], [3, 4, 7, 8]]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"collective": "allgather"}, "unknown 'allgather'; known: allreduce, alltoall"),
        ({"collective": "alltoall", "algorithm": "ring"}, "'ring' does allreduce, allgather, reduce-scatter, no alltoall"),
        ({"algorithm": "direct"}, "'direct' does an alltoall only, no allreduce"),
        ({"collective": "alltoall", "numbers": [[1, 2, 3], [4, 5, 6]]}, "3 boxes do not divide among 2 ranks"),
    ],
)  # fmt: skip
def test_steps_that_cannot_be_are_refused_in_words(asked, why):
    with pytest.raises(peerlab.PeerlabError, match=why):
        peerlab.steps(**asked)


def test_a_plan_has_a_message_for_every_other_rank():
    asked = peerlab.Scenario(cluster="dl1", nodes=3, collective="alltoall", message_bytes=100)
    found = plan(asked)
    assert (found.ranks, found.schedule.steps, found.schedule.chunk_bytes) == (24, 16, 5)
    assert (found.collects, found.hands_out, found.hands_own) == (False, False, True)


@given(st.integers(1, 64), st.integers(1, 16))
def test_busbw_counts_as_nccl_tests_do_and_a_node_sends_for_all_its_devices(nodes, devices):
    ranks = nodes * devices
    assert bus_factor("alltoall", ranks) == (ranks - 1) / ranks
    share = devices * (nodes - 1) / nodes  # of each device's message, what does not stay in the node
    assert collective_of("alltoall").node_factor(nodes, devices) == pytest.approx(share)
