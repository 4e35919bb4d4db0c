"""Whether the parts are there: an RDMA device, its device node, an accelerator, and how near they are."""

from peerlab.features.doctor.check import (
    ALL_RDMA,
    DEVICE_MEMORY,
    FAIL,
    PASS,
    UNKNOWN,
    WARN,
    Check,
    Seen,
    listed,
)
from peerlab.features.doctor.host import Host
from peerlab.machine import VENDORS
from peerlab.machine.files import entries
from peerlab.machine.pci import PciDevice
from peerlab.machine.rdma import RdmaPort

_GIVEN_AWAY = "vfio-pci"


def _say_port(port: RdmaPort) -> str:
    layer = f" ({port.link_layer})" if port.link_layer else ""
    return f"{port.name} says {port.state or 'nothing of its state'}{layer}"


def _rdma_device(host: Host) -> Seen:
    if not host.ports:
        return Seen(FAIL, "no RDMA device")
    active = [port for port in host.ports if port.active]
    if active:
        return Seen(PASS, listed(_say_port(port) for port in active))
    # A port that says its state and is not active is down; one that says nothing may be up.
    has_state = any(port.state for port in host.ports)
    return Seen(FAIL if has_state else UNKNOWN, listed(_say_port(port) for port in host.ports))


def _device_node(host: Host) -> Seen:
    nodes = [f"infiniband/{node.name}" for node in entries(host.root / "dev/infiniband")]
    nodes = [node for node in nodes if node.startswith("infiniband/uverbs")]
    nodes += [node.name for node in entries(host.root / "dev") if node.name.startswith("cxi")]
    return Seen(PASS, listed(nodes)) if nodes else Seen(FAIL, "no device node of an RDMA device")


def _say_device(device: PciDevice) -> str:
    return f"{VENDORS.get(device.vendor, 'accelerator')} {device.address}"


def _accelerator(host: Host) -> Seen:
    devices = host.machine.accelerators
    if not devices:
        return Seen(FAIL, "no accelerator")
    # What vfio-pci has is a guest's: nothing on this host can open it.
    usable = [device for device in devices if device.driver and device.driver != _GIVEN_AWAY]
    if usable:
        return Seen(PASS, listed(f"{_say_device(device)} ({device.driver})" for device in usable))
    whose = [f"{_say_device(device)} has {device.driver or 'no driver'}" for device in devices]
    return Seen(FAIL, listed(whose))


def _near(host: Host) -> Seen:
    devices = host.machine.accelerators
    node_of = {device.address: device.numa_node for device in host.devices}
    nics = {port.address: node_of.get(port.address) for port in host.ports}
    if not devices or not nics:
        return Seen(UNKNOWN, "no accelerator, or no RDMA device, to compare")
    # Nothing can be far: what the firmware says of each card plays no part.
    if len(host.machine.numa_nodes) == 1:
        return Seen(PASS, "one NUMA node")
    numbers = {node for node in nics.values() if node is not None}
    # One accelerator of unknown place may be the one that is far.
    if not numbers or any(device.numa_node is None for device in devices):
        return Seen(UNKNOWN, "the firmware does not say which NUMA node the devices belong to")
    far = [device for device in devices if device.numa_node not in numbers]
    if far:
        return Seen(WARN, "no NIC on the NUMA node of " + listed(_say_device(device) for device in far))
    nodes = {str(device.numa_node) for device in devices}
    return Seen(PASS, f"accelerators and NICs on NUMA node {listed(sorted(nodes))}")


CHECKS = (
    Check(
        id="rdma-device",
        title="RDMA device",
        where="/sys/class/infiniband/*/ports/*/{state,link_layer}, /sys/class/cxi",
        rule="at least one port of an RDMA device is ACTIVE",
        why="Only a network card that does RDMA can read and write the memory of another device.",
        mend="Install or load the card's driver (mlx5_ib, efa, irdma, cxi), bring the link up; in a container or a cloud "
        "instance ask for one with RDMA (EFA, InfiniBand, RoCE).",
        source="Linux Documentation/ABI/stable/sysfs-class-infiniband; /sys/class/cxi: assumed, from Slingshot's driver",
        look=_rdma_device,
        blocks=ALL_RDMA,
    ),
    Check(
        id="device-node",
        title="Device node of the RDMA device",
        where="/dev/infiniband/uverbs*, /dev/cxi*",
        rule="its node is visible here",
        why="Libraries open this node to register memory; without it they fall back to TCP, often silently.",
        mend="Load ib_uverbs; in a container pass the node in (docker run --device=/dev/infiniband, or the device plug-in).",
        source="Linux Documentation/infiniband/user_verbs.rst",
        look=_device_node,
        blocks=ALL_RDMA,
    ),
    Check(
        id="accelerator",
        title="Accelerator and its driver",
        where="/sys/bus/pci/devices/*/{class,vendor,driver}",
        rule="at least one accelerator has a driver on this host (vfio-pci gives it to a guest)",
        why="Peer direct ends in an accelerator's memory; only its driver can hand that out.",
        mend="Load the accelerator's driver; in a virtual machine pass the whole device through.",
        source="Linux Documentation/ABI/testing/sysfs-bus-pci",
        look=_accelerator,
        blocks=DEVICE_MEMORY,
    ),
    Check(
        id="numa",
        title="Accelerator and NIC on one side of the host",
        where="/sys/bus/pci/devices/*/numa_node",
        rule="every accelerator has an RDMA device on its own NUMA node",
        why="Between NUMA nodes the bytes cross the CPUs' interconnect: slower than the wire, and NCCL refuses peer direct "
        "over that distance by default.",
        mend="Move a card to the other socket's slots, or let each rank use the NIC that nvidia-smi topo -m or hl-smi calls near.",
        source="NVIDIA/nccl issues 465 and 489; openucx/ucx src/ucs/sys/topo (0.22 GB/s across sockets)",
        look=_near,
    ),
)
