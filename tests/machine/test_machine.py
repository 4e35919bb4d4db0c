"""Reading a machine from its /sys and /proc."""

import pytest
from fake_sys import ASPEED, ETHERNET, GPU, HABANA, MELLANOX, FakeSys

from peerlab.machine import read_machine
from peerlab.machine.pci import PcieLink
from peerlab.machine.rdma import read_rdma_ports


@pytest.fixture
def fake(tmp_path):
    return FakeSys(tmp_path)


def test_what_hangs_under_which_switch_is_found(fake):
    machine = read_machine(fake.pairs().root)
    assert machine.numa_nodes == (0, 1)
    assert machine.processor == "Example CPU 9000"
    assert machine.device_name == "NVIDIA GPU"
    assert [switch.numa_node for switch in machine.switches] == [0, 0, 1, 1]
    assert [len(switch.accelerators) for switch in machine.switches] == [2, 2, 2, 2]
    assert [[nic.name for nic in switch.nics] for switch in machine.switches] == [
        [f"mlx5_{index}/1"] for index in range(4)
    ]
    assert {str(switch.uplink) for switch in machine.switches} == {"16 GT/s x16"}
    assert machine.switches[0].uplink.address == "0000:01:00.0"


@pytest.mark.parametrize(
    ("speed", "lanes", "gigabytes"),
    [(8, 16, 14.1), (16, 16, 28.2), (32, 16, 56.4), (8, 8, 7.05), (2.5, 1, 0.224)],
)
def test_a_link_carries_what_ucx_reckons_with(speed, lanes, gigabytes):
    assert PcieLink("0000:01:00.0", speed, lanes).effective_Bps / 1e9 == pytest.approx(gigabytes, rel=2e-3)


def test_an_idle_link_counts_as_fast_as_both_its_ends_can_be(fake):
    fake.pci("0000:00:01.0", top="8.0 GT/s PCIe")
    fake.pci("0000:00:01.0", "0000:01:00.0", kind=GPU, speed="2.5 GT/s PCIe", top="16.0 GT/s PCIe", lanes=8)
    (device,) = read_machine(fake.root).accelerators
    assert str(device.link) == "8 GT/s x8"


def test_an_accelerator_at_a_port_of_its_own_is_a_switch_of_one(fake):
    fake.pci("0000:00:01.0")
    fake.pci("0000:00:01.0", "0000:01:00.0", kind=0x120000, vendor=HABANA)
    machine = read_machine(fake.root)
    assert machine.device_name == "Gaudi"
    assert [switch.uplink.address for switch in machine.switches] == ["0000:01:00.0"]


def test_a_boards_console_and_parts_of_a_card_are_no_accelerators(fake):
    fake.pci("0000:00:01.0", kind=0x030000, vendor=ASPEED)
    part = fake.pci("0000:00:02.0", kind=GPU)
    (part / "physfn").symlink_to(part)
    assert read_machine(fake.root).accelerators == ()


def test_ports_that_are_down_and_virtual_interfaces_carry_nothing(fake):
    card = fake.pci("0000:00:03.0", kind=ETHERNET, vendor=MELLANOX)
    fake.rdma("mlx5_0", card, state="1: DOWN")
    fake.net("eth0", card, state="down")
    fake.write("sys/class/net/lo/operstate", "unknown")
    assert read_machine(fake.root).nics == ()


def test_a_card_without_rdma_has_the_rate_of_its_interface(fake):
    card = fake.pci("0000:00:03.0", kind=ETHERNET, vendor=MELLANOX)
    fake.net("eth0", card, speed=25000, mtu=1500)
    (nic,) = read_machine(fake.root).nics
    assert (nic.name, nic.rate_bps, nic.rdma, nic.mtu) == ("eth0", 25 * 10**9, False, 1500)


def test_every_rdma_port_is_there_up_or_not_with_driver_link_layer_and_interfaces(fake):
    card = fake.pci("0000:00:03.0", kind=ETHERNET, vendor=MELLANOX, driver="mlx5_core")
    fake.rdma("mlx5_0", card, state="1: DOWN")
    fake.net("eth0", card)
    (port,) = read_rdma_ports(fake.root)
    assert (port.name, port.address, port.driver) == ("mlx5_0/1", "0000:00:03.0", "mlx5_core")
    assert (port.active, port.roce, port.interfaces) == (False, True, ("eth0",))


def test_slingshot_is_up_when_its_interface_is(fake):
    card = fake.pci("0000:00:03.0", kind=ETHERNET)
    fake.net("hsn0", card, state="up")
    (fake.root / "sys/class/cxi/cxi0").mkdir(parents=True)
    (fake.root / "sys/class/cxi/cxi0/device").symlink_to(card)
    (port,) = read_rdma_ports(fake.root)
    assert (port.name, port.driver, port.active, port.verbs, port.roce) == (
        "cxi0/1",
        "cxi",
        True,
        False,
        False,
    )
    fake.write("sys/class/net/hsn0/operstate", "down")
    assert not read_rdma_ports(fake.root)[0].active


def test_memory_of_an_accelerator_is_no_numa_domain(fake):
    fake.numa(2)
    fake.write("sys/devices/system/node/node2/cpulist", "")
    assert read_machine(fake.root).numa_nodes == (0, 1)


@pytest.mark.parametrize("text", ["", "Unknown", "\x00\xff", "-1", "63"])
def test_files_that_say_nothing_useful_are_left_out(fake, text):
    fake.pci("0000:00:01.0")
    folder = fake.pci("0000:00:01.0", "0000:01:00.0", kind=GPU, speed="Unknown", lanes=text)
    card = fake.pci("0000:00:03.0", kind=ETHERNET, vendor=MELLANOX)
    fake.net("eth0", card, speed=-1)
    (folder / "numa_node").write_text(text if text != "63" else "-1")
    machine = read_machine(fake.root)
    assert machine.accelerators[0].link is None
    assert machine.accelerators[0].numa_node is None
    assert machine.nics[0].rate_bps is None


def test_a_machine_without_sys_has_nothing(tmp_path):
    machine = read_machine(tmp_path)
    assert (machine.accelerators, machine.nics, machine.numa_nodes, machine.processor) == ((), (), (), "")


def test_the_machine_of_this_test_can_be_read():
    assert read_machine().numa_nodes is not None
