"""What a library's law asks of versions, of who made the NIC, and of how the devices of a node are joined."""

import pytest

import peerlab
from peerlab.base.errors import HardwareError
from peerlab.diagnosis.fits import simulated_band
from peerlab.library.library_choice import joined_by_nvlink, sight
from peerlab.library.library_files import load_library, read_library
from peerlab.library.nccl_node_law import node_course


def test_a_stack_of_nccl_2_29_copies_nothing_and_waits_less():
    old, new = (
        peerlab.Scenario(
            cluster="g4dn-metal", nodes=2, path="host-rdma", message_bytes="64 MiB", library_version=version
        )
        for version in ("2.28", "2.29")
    )
    assert "host.bounce_copy" in old.hardware.figures
    assert "host.bounce_copy" not in new.hardware.figures
    assert (old.hardware.figures["library.hop"].value, new.hardware.figures["library.hop"].value) == (18, 4.5)
    assert "from version 2.29 on" in new.hardware.figures["library.hop"].origin
    assert peerlab.simulate(new).time_s < 0.6 * peerlab.simulate(old).time_s


def test_sockets_have_as_many_threads_as_the_maker_of_the_nic_makes_nccl_take():
    large, small = (
        peerlab.Scenario(cluster="g4dn-8xlarge", nodes=2, path="host-tcp", message_bytes=size)
        for size in ("64 MiB", 8)
    )
    assert (large.cluster_for_message.cores_per_device, small.cluster_for_message.cores_per_device) == (2, 1)
    assert "2 threads of NCCL's sockets on a NIC of Amazon" in str(
        large.effective_machine.history("node.cores_per_device")
    )
    other = peerlab.Scenario(
        cluster="alps-gh200-tcp", nodes=2, library="nccl-sockets", message_bytes="64 MiB"
    )
    assert other.cluster_for_message.cores_per_device == 1


def test_accelerators_that_exchange_over_pcie_are_not_taken_for_nvlink():
    h100 = peerlab.load_cluster("h100-ndr")
    pcie = h100.with_figure("scaleup.rate", 56.4 / 7)
    assert (joined_by_nvlink(h100), joined_by_nvlink(pcie)) == (True, False)
    seen = sight(load_library("nccl-verbs"), pcie, 2, "peer-direct", 226)
    assert (seen.nvlink, seen.nvls) == (False, None)
    assert seen.ring[1] * seen.ring[0] <= 56.4  # all channels go over one PCIe link of each
    workstation = h100.with_figure("device.generation", 12)
    assert sight(load_library("nccl-verbs"), workstation, 2, "peer-direct", 226).nvls is None


@pytest.mark.parametrize(
    ("cluster", "size", "says"),
    [("p4d", "1 GiB", "ring, Simple"), ("h100-ndr", "1 GiB", "NVLS, Simple"), ("p5", 8, "ring, LL")],
)
def test_one_node_takes_what_nccls_law_says(cluster, size, says):
    run = peerlab.simulate(peerlab.Scenario(cluster=cluster, nodes=1, message_bytes=size))
    asked = run.scenario
    assert asked.library_says.endswith(says)
    switch = (asked.hardware.sharp_Bps or 0) / 1e9
    links, seen = (
        asked.hardware.scaleup_Bps * 7 / 1e9,
        sight(asked.used_library, asked.hardware, 1, asked.path, 226),
    )
    law = node_course(seen, asked.nbytes, asked.used_library.law, links, switch).time
    assert run.time_s * 1e6 == pytest.approx(law, rel=0.02)
    assert simulated_band(asked).high_GBps > 1.05 * run.busbw_GBps  # no band without a width


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ('promised = "2.40"', "promised = '2.40'"),
        ('[[since]]\nwithout = ["host.bounce_copy"]', "[[since]] needs version"),
        ('[[since]]\nversion = "new"', "is no version"),
        ('[[since]]\nversion = "2.29"\nwithout = ["host.bounce"]', "[[since]] without: unknown"),
        ('[[unsolved]]\nsays = "x"\nbefore = "soon"', "before = 'soon'"),
    ],
)
def test_a_damaged_version_is_refused_in_a_line(wrong, says):
    with pytest.raises(HardwareError) as caught:
        read_library(f'name = "x"\ntitle = "X"\nextends = "nccl-efa"\n{wrong}\n', "x.toml")
    assert says in str(caught.value)


def test_an_all_to_all_from_device_memory_takes_what_device_memory_costs_once():
    host, device = (
        peerlab.Scenario(
            cluster="alps-gh200",
            nodes=2,
            path=path,
            memory=memory,
            collective="alltoall",
            message_bytes=64,
            library="openmpi-cxi",
        )
        for path, memory in (("host-rdma", "host"), ("peer-direct", "device"))
    )
    opens = [sum(lasts for _, lasts in asked.law.opening(asked)) for asked in (host, device)]
    # library.device_buffers, and 24 bytes for the three others of the node by the NIC (library.loopback), picoseconds
    assert opens[1] - opens[0] == 7_600_000 + 1_000
    # eth-cscs/cscs-docs openmpi.md, osu_alltoall -d cuda: 342.76 to 486.89 us for 1 MiB to each rank, 44.88 us for 64 KiB
    for size, shortest, longest in (("8 MiB", 320e-6, 490e-6), ("512 KiB", 38e-6, 46e-6)):
        assert shortest <= peerlab.simulate(device.with_(message_bytes=size)).time_s <= longest
