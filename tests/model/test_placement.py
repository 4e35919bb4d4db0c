"""Placements by name."""

from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.model.placement import PLACEMENTS, along, name_of, placement
from peerlab.model.presets import read_cluster
from peerlab.places import folder

CROSSBAR = (folder("data") / "hardware" / "ideal-100g.toml").read_text()
LEAVES = CROSSBAR.replace(
    "[fabric]",
    """[fabric]
hosts_per_leaf = { value = 8, unit = "1", basis = "per leaf", source = "a test" }
oversubscription = { value = 2, unit = "1", basis = "per leaf", source = "a test" }""",
)


def on_leaves(**fields):
    return peerlab.Scenario(cluster=read_cluster(LEAVES, "leaves.toml"), **fields)


def test_strided_deals_the_nodes_out_over_the_leaves_as_the_reference_does():
    assert placement("strided", on_leaves(nodes=16))[:6] == (0, 8, 1, 9, 2, 10)
    assert placement("strided", on_leaves(nodes=11)) == (0, 8, 1, 9, 2, 10, 3, 4, 5, 6, 7)


@given(st.integers(1, 100), st.integers(0, 10), st.sampled_from(PLACEMENTS))
def test_every_placement_gives_each_node_a_host_of_its_own_and_is_recognised(nodes, seed, name):
    scenario = on_leaves(nodes=nodes, seed=seed)
    hosts = placement(name, scenario)
    assert sorted(hosts or range(nodes)) == list(range(nodes))
    found = name_of(scenario.with_(placement=hosts))
    assert placement(found, scenario) == hosts or hosts == tuple(range(nodes))


def test_a_placement_by_name_follows_the_nodes_and_one_of_your_own_does_not():
    strided = on_leaves(nodes=16, placement=placement("strided", on_leaves(nodes=16)))
    assert strided.with_(**along(strided, "nodes", 32)).placement == placement("strided", strided, 32)
    assert along(strided, "message_bytes", 1024) == {"message_bytes": 1024}
    own = on_leaves(nodes=4, placement=(3, 1, 0, 2))
    assert name_of(own) == "own"
    assert along(own, "nodes", 8) == {"nodes": 8}
