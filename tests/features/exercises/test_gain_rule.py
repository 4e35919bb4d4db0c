"""The rule of lab 01 foretells what the simulation finds: on every machine, for any number of servers, behind any NIC."""

import math

import pytest

import peerlab
from peerlab.features.exercises.labs.gain_by_cluster import rates, rule

STAGED = peerlab.Scenario(cluster="dl1", library="none", nodes=8, path="host-rdma", message_bytes="1 GiB")
BOTH = [
    name
    for name in peerlab.known_clusters()
    if {"host-rdma", "peer-direct"} <= set(peerlab.load_cluster(name).paths)
]


def gain(**changes):
    staged = STAGED.with_(**changes)
    return peerlab.simulate(staged).time_s / peerlab.simulate(staged.with_(path="peer-direct")).time_s


@pytest.mark.sample(part=3)
@pytest.mark.parametrize("name", BOTH)
def test_the_rule_foretells_the_gain_on_every_machine_with_an_uplink(name):
    server = peerlab.load_cluster(name)
    if server.uplink_Bps is None:
        assert math.isnan(rule(server))
    elif name in (
        "p5",
        "h100-ndr",
        "h100-roce",
        "h200-roce",
        "b200-ndr",
        "b200-roce",
    ):  # their detour waits for host memory, which the rule does not know
        assert rule(server) < gain(cluster=name)
    else:
        assert rule(server) == pytest.approx(gain(cluster=name), rel=0.01)


@pytest.mark.sample(part=3)
@pytest.mark.parametrize("nodes", [2, 4, 8, 16, 64])
@pytest.mark.parametrize("devices", [1, 2, 4])
def test_the_rule_foretells_the_gain_with_any_number_of_accelerators_behind_a_nic(nodes, devices):
    """With one of them the links inside the server decide; the three figures of NIC, uplink and crossings do not know."""
    server = STAGED.hardware.with_figure("node.devices_per_switch", devices)
    found = gain(cluster=server, nodes=nodes)
    assert rule(server, nodes) == pytest.approx(found, rel=0.01)
    if devices == 1:
        assert found < 0.99 * server.nic_Bps / (server.uplink_Bps / 2)


def test_the_detour_does_not_wait_for_the_links_inside():
    alone = STAGED.hardware.with_figure("node.devices_per_switch", 1)
    times = [peerlab.simulate(STAGED.with_(cluster=one)).time_s for one in ("dl1", alone)]
    assert times[1] == pytest.approx(times[0], rel=0.01)


def test_a_server_with_one_accelerator_has_no_links_inside():
    assert rates(peerlab.load_cluster("juliet"))["links inside, GB/s"] == math.inf
