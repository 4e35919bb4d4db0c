"""What joins the nodes: every fabric keeps what it says of itself."""

from dataclasses import replace
from itertools import product

import pytest

import peerlab
from peerlab.model.fabrics import FABRICS, Crossbar, LeafSpine
from peerlab.model.required_figures import TOGETHER
from peerlab.model.resources import RESOURCES
from peerlab.question.used_figures import figures_used

BOTH = replace(peerlab.load_cluster("ideal-100g"), backbone_Bps=10**10, hosts_per_leaf=3, oversubscription=2)
CLUSTERS = ("ideal-100g", "ideal-100g-backbone", "ideal-100g-leafspine-2to1", BOTH)
HOSTS = range(20)


def fabric(cluster):
    return peerlab.Scenario(cluster=cluster).fabric


def test_a_fabric_is_known_by_the_figures_of_the_file():
    assert [fabric(name).name for name in CLUSTERS] == ["crossbar", "backbone", "leaf-spine", "combined"]
    assert fabric("ideal-100g-backbone").title == "one backbone of 12.5 GB/s that all nodes share"
    assert (
        fabric("ideal-100g-leafspine-2to1").title == "leaf switches with 8 nodes each, oversubscribed 2 to 1"
    )
    assert fabric(BOTH).title == (
        "one backbone of 10 GB/s that all nodes share and leaf switches with 3 nodes each, oversubscribed 2 to 1"
    )
    assert LeafSpine.figures in TOGETHER
    with_figures = peerlab.Scenario(cluster="ideal-100g-backbone")
    assert "fabric.backbone" in figures_used(with_figures)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_fabric_keeps_what_it_says_of_itself(cluster):
    one = fabric(cluster)
    crossed = {
        (source, destination): one.links(source, destination)
        for source, destination in product(HOSTS, HOSTS)
        if source != destination
    }
    assert any(crossed.values()) == one.contended
    assert (len(set(crossed.values())) == 1) == one.uniform
    for (source, destination), links in crossed.items():
        assert set(links) <= {*one.links_at(source), *one.links_at(destination)}
        for link in links:
            assert RESOURCES[link.kind].scope == "fabric"
            assert link.capacity_Bps > 0
    for host in HOSTS:  # those below one switch stand next to each other
        assert one.links_at(host) == one.links_at(host // one.hosts_per_leaf * one.hosts_per_leaf)


def test_where_a_file_has_figures_of_two_fabrics_a_transfer_crosses_both():
    assert [(link.kind, link.index, link.capacity_Bps) for link in fabric(BOTH).links(1, 7)] == [
        ("backbone", 0, 10**10),
        ("leaf_up", 0, 3 * 12_500_000_000 // 2),
        ("leaf_down", 2, 3 * 12_500_000_000 // 2),
    ]
    assert [link.kind for link in fabric(BOTH).links(6, 7)] == ["backbone"]
    assert {key for law in FABRICS for key in law.figures} == set(fabric(BOTH).figures)


def test_what_goes_past_the_nics_crosses_no_fabric_whose_nodes_are_then_alike():
    gaudi = replace(peerlab.load_cluster("gaudi2"), hosts_per_leaf=2, oversubscription=2)
    through, past = (
        peerlab.Scenario(cluster=gaudi, nodes=4, path=path, message_bytes="1 MiB")
        for path in ("host-rdma", "native")
    )
    assert isinstance(through.fabric, LeafSpine)
    assert isinstance(past.fabric, Crossbar)
    assert peerlab.simulate(past).engine == "loop"
    every_node = peerlab.simulate(past, engine="referee", every_node=True)
    assert peerlab.simulate(past).time_ps == every_node.time_ps
