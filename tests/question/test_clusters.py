"""The clusters that peerlab brings answer, and as their topology says."""

import pytest

import peerlab
from peerlab.model.paths import sending_kinds

CASES = [(name, path) for name in peerlab.known_clusters() for path in peerlab.load_cluster(name).paths]


@pytest.mark.sample(part=4)
@pytest.mark.parametrize("nodes", [2, 8])
@pytest.mark.parametrize(("cluster", "path"), CASES)
def test_every_cluster_answers_on_each_path_below_what_its_wires_allow(cluster, path, nodes):
    nodes *= (
        peerlab.load_cluster(cluster).domain_nodes or 1
    )  # inside an NVLink domain no wire limits anything
    run = peerlab.simulate(peerlab.Scenario(cluster=cluster, path=path, nodes=nodes, message_bytes="256 MiB"))
    assert run.busbw_GBps > 0
    if sending_kinds(run.scenario.hardware, path):  # else no wire limits it: NaN
        assert run.busbw_GBps <= run.wire_limit_GBps * 1.0001
        assert 0 < run.wire_busy <= 1
    assert run.bottleneck is not None


def gain(cluster, **changes):
    """Return how much faster peer-direct is than host-rdma."""
    staged = peerlab.Scenario(
        cluster=cluster, path="host-rdma", message_bytes="1 GiB", library="none", **changes
    )
    return peerlab.simulate(staged).time_s / peerlab.simulate(staged.with_(path="peer-direct")).time_s


@pytest.mark.parametrize(
    ("cluster", "expected"), [("p4d", 1.77), ("gaudi3", 1.77), ("infiniband-hdr-a100", 3.55)]
)
def test_where_the_uplink_is_narrow_peer_direct_gains_what_the_topology_says(cluster, expected):
    """Staged bytes cross the uplink twice per direction: the gain is the NICs' rate over half of the uplink's."""
    machine = peerlab.load_cluster(cluster)
    assert machine.nics_per_switch * machine.nic_Bps / (machine.uplink_Bps / 2) == pytest.approx(
        expected, rel=0.01
    )
    assert gain(cluster) == pytest.approx(expected, rel=0.03)


def test_where_the_uplink_is_wide_peer_direct_gains_nothing_but_time_for_the_cpu():
    machine = peerlab.load_cluster("roce-100g-a100")
    assert machine.uplink_Bps / 2 > machine.nics_per_switch * machine.nic_Bps
    assert gain(machine) == pytest.approx(1, abs=0.02)
    assert gain(machine.with_figure("nic.rate", 200)) > 1.7


def test_a_switched_node_of_a100_reaches_what_was_measured_on_one():
    """NCCL on one p4d: 230.8 GB/s busbw at 1 GiB (nccl issue 527)."""
    one = peerlab.simulate(peerlab.Scenario(cluster="p4d", nodes=1, message_bytes="1 GiB"))
    assert one.busbw_GBps == pytest.approx(230.8, rel=0.05)


def test_gaudi3_scales_out_over_its_own_ports_faster_than_over_host_nics():
    native, direct = (
        peerlab.simulate(peerlab.Scenario(cluster="gaudi3", path=path, message_bytes="1 GiB", nodes=32))
        for path in ("native", "peer-direct")
    )
    assert native.busbw_GBps > 1.6 * direct.busbw_GBps
    assert native.wire_limit_GBps == pytest.approx(600 * 255 / 256 * 32 / 31)


def test_one_backbone_divides_its_rate_among_all_nodes():
    for nodes in (4, 16):
        run = peerlab.simulate(peerlab.Scenario(cluster="ideal-100g-backbone", nodes=nodes))
        assert run.busbw_GBps == pytest.approx(12.5 / nodes, rel=0.01)


def test_an_oversubscribed_spine_costs_only_those_who_pass_it():
    beside = peerlab.Scenario(cluster="ideal-100g-leafspine-2to1", nodes=16, message_bytes="256 MiB")
    strided = beside.with_(placement=tuple(host + leaf for host in range(8) for leaf in (0, 8)))
    assert peerlab.simulate(beside).busbw_GBps == pytest.approx(12.5, rel=0.02)
    assert peerlab.simulate(strided).busbw_GBps == pytest.approx(6.25, rel=0.02)
