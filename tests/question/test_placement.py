"""Where nodes stand, by name or host by host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.question.placement import PLACEMENTS


def on_leaves(**fields):
    return peerlab.Scenario(cluster="ideal-100g-leafspine-2to1", **fields)


def hosts(scenario):
    return [scenario.host(node) for node in range(scenario.nodes)]


def test_strided_deals_the_nodes_out_over_the_leaves_as_the_reference_does():
    assert hosts(on_leaves(nodes=16, placement="strided"))[:6] == [0, 8, 1, 9, 2, 10]
    assert hosts(on_leaves(nodes=11, placement="strided")) == [0, 8, 1, 9, 2, 10, 3, 4, 5, 6, 7]


@given(st.integers(1, 100), st.integers(0, 10), st.sampled_from(PLACEMENTS))
def test_every_placement_gives_each_node_a_host_of_its_own(nodes, seed, name):
    assert sorted(hosts(on_leaves(nodes=nodes, seed=seed, placement=name))) == list(range(nodes))


def test_a_placement_by_name_follows_the_nodes_and_one_of_your_own_does_not():
    strided = on_leaves(nodes=16, placement="strided")
    assert hosts(strided.with_(nodes=32))[:4] == [0, 8, 16, 24]
    own = on_leaves(nodes=4, placement=[3, 1, 0, 2])
    assert own.placement == (3, 1, 0, 2)
    assert hosts(on_leaves(placement="contiguous")) == hosts(on_leaves())
    with pytest.raises(
        peerlab.PeerlabError, match="give 8 different hosts, one for each node, such as 0, 1, 2, 3"
    ):
        own.with_(nodes=8)
    with pytest.raises(peerlab.PeerlabError, match="unknown 'stride'; did you mean 'strided'"):
        on_leaves(placement="stride")


def test_a_name_is_the_same_question_as_the_hosts_it_stands_for():
    by_name = on_leaves(nodes=16, placement="strided", message_bytes="1 MiB")
    by_host = by_name.with_(placement=tuple(hosts(by_name)))
    assert peerlab.simulate(by_name).time_ps == peerlab.simulate(by_host).time_ps
