"""The topologies of known machines in the folder of reference files, where there is one."""

import os
from datetime import date
from pathlib import Path

import pytest

from peerlab.cluster_file.from_topology import from_topology
from peerlab.topology_file import load_topology

FOLDER = Path(os.environ.get("PEERLAB_REFERENCE_DIR", "/nowhere")) / "topologies"
KNOWN = {
    "aws_p4d_24xl.nccl.xml": (2, 2, 2, 1, "switch", "nccl-efa"),
    "aws_g5_48xl.nccl.xml": (1, 1, 8, 1, "root-port", "nccl-verbs"),
    "azure_ncv4.nccl.xml": (1, 1, 4, 1, "other-socket", "nccl-verbs"),
    "azure_ndv4.nccl.xml": (4, 1, 2, 2, "switch", "nccl-verbs"),
}


@pytest.mark.skipif(not FOLDER.is_dir(), reason="PEERLAB_REFERENCE_DIR has no topologies")
@pytest.mark.parametrize("name", KNOWN)
def test_a_known_machine_is_drafted_as_it_is(name):
    found = from_topology(load_topology(FOLDER / name), "mine", name, date(2026, 1, 31)).cluster
    told = (found.numa_domains, found.switches_per_numa, found.devices_per_switch, found.nics_per_switch)
    assert (*told, found.wiring.nic, found.library) == KNOWN[name]
