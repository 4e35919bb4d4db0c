"""The topologies of known machines in the folder of reference files, where there is one."""

import os
from datetime import date
from pathlib import Path

import pytest

import peerlab
from peerlab.features.clusters.from_topology import from_topology
from peerlab.topology import load_topology

FOLDER = Path(os.environ.get("PEERLAB_REFERENCE_DIR", "/nowhere")) / "topologies"
KNOWN = {
    "aws_p4d_24xl.nccl.xml": (2, 2, 2, 1, "switch", "nccl-efa", "efa", "A100"),
    "aws_p4de_24xl.nccl.xml": (2, 2, 2, 1, "switch", "nccl-efa", "efa", "A100"),
    "aws_g5_48xl.nccl.xml": (1, 1, 8, 1, "root-port", "nccl-verbs", "roce", "NVIDIA GPU"),
    "azure_ncv4.nccl.xml": (1, 1, 4, 1, "other-socket", "nccl-verbs", "roce", "A100"),
    "azure_ndv2.nccl.xml": (1, 1, 8, 1, "root-port", "nccl-verbs", "infiniband", "NVIDIA GPU"),
    "azure_ndv4.nccl.xml": (4, 1, 2, 2, "switch", "nccl-verbs", "infiniband", "NVIDIA GPU"),
    "azure_ndv5.nccl.xml": (2, 4, 1, 1, "switch", "nccl-verbs", "infiniband", "NVIDIA GPU"),
}
"""Counts of a node, where its NICs hang, library, transport and accelerator; an NDv2 has V100, whose file gives them links of an A100."""
SAME = {
    "aws_p4d_24xl.nccl.xml": "p4d",
    "azure_ndv4.nccl.xml": "azure-nd-a100-v4",
    "azure_ndv5.nccl.xml": "h100-ndr",
}
"""Files of machines, and known clusters of such machines."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="PEERLAB_REFERENCE_DIR has no topologies")


def drafted(name):
    return from_topology(load_topology(FOLDER / name), "mine", name, date(2026, 1, 31)).cluster


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_machine_is_drafted_as_it_is(name):
    cluster = drafted(name)
    counts = (
        cluster.numa_domains,
        cluster.switches_per_numa,
        cluster.devices_per_switch,
        cluster.nics_per_switch,
    )
    rest = (cluster.wiring.nic, cluster.library, cluster.transports[0], cluster.device_name)
    assert counts + rest == KNOWN[name]


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("path", ["peer-direct", "host-rdma"])
def test_a_draft_takes_the_time_of_such_a_machines_own_cluster_file(name, path):
    """The 1 GiB of an NDv5 took 13.9 ms, of 4.2, by the NVLink of an A100 and a NIC of 100 Gb/s."""
    took = [
        peerlab.simulate(peerlab.Scenario(cluster=one, nodes=2, message_bytes="1 GiB", path=path)).time_s
        for one in (drafted(name), SAME[name])
    ]
    assert took[0] == pytest.approx(took[1], rel=0.05)


def test_where_nothing_shows_nvlink_accelerators_exchange_over_pcie():
    cluster = drafted("aws_g5_48xl.nccl.xml")
    rate = cluster.figures["scaleup.rate"]
    assert rate.value * 7 <= cluster.figures["device.pcie"].value * 1.001
    assert rate.assumption.startswith("no NVLink")
