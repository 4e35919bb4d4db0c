"""What serves slices: one record for every kind of resource that a node, or the fabric between nodes, has."""

# A copy that must be started waits. `device.copy_start` is time before each slice's staged copy; no file
# that comes with peerlab has it, because those logs had gdrcopy or hide it. `with_figure` may add it.

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from peerlab.base.units import service_ps
from peerlab.model.hardware import FIGURE_FIELDS, Cluster

_FIGURES = frozenset(FIGURE_FIELDS.values())
"""Fields of `Cluster` that a cluster file fills."""

Part = Literal["device", "device link", "NIC", "host memory", "CPU", "uplink", "wire", ""]
"""A part of the data path's picture; a *device link* joins a device and the switch."""

Scope = Literal["device", "switch", "numa", "nic", "fabric"]
"""What a node has one resource of a kind for each of."""


@dataclass(frozen=True, kw_only=True)
class ResourceKind:
    """One kind of resource.

    *Exclusive* resources serve one slice at a time, first come first served; *shared* ones divide their capacity evenly
    among the engines (DMA engines, cores) that use them, one slice per engine at a time.
    """

    label: str
    """Name in plain words."""
    scope: Scope
    """What a node has one of these for each of."""
    rate: str = ""
    """Field of `Cluster` that holds its capacity; empty where bytes do not count."""
    shared: bool = False
    """Whether engines share it evenly; otherwise it serves one slice at a time."""
    lane: int | None = 100
    """Where its lane of the timeline stands, the smallest number at the top; None: it has a lane only as the bottleneck."""
    lane_name: str = ""
    """What its lane is called; empty: `label`."""
    drawn: Part = ""
    """The part of the data path's picture that stands for it, and says how busy the busiest of its kinds is.

    Empty: not drawn, so the caption says how busy it is.
    """
    counts_as: Literal["copy", "send", "host memory", ""] = ""
    """What bytes that cross it are counted as in figures: copied, sent into the network, moved to or from host memory.

    What a slice does meanwhile, for pictures, is its stage's to say (`StageKind.counts_as`).
    """
    frames: bool = False
    """Whether bytes cross it in packets: it takes as long as they do with the transport's headers."""
    is_core: bool = False
    """Whether it is CPU cores: those of a device share one queue, and besides copying bytes they work on every packet."""
    in_flight: bool = False
    """Whether it serves nothing: slices in flight are drawn on it."""
    receives: bool = False
    """Whether it is the receiving end of what sends."""
    until_sent: bool = False
    """Whether it has a message until the NIC has sent it; it is the first of its stage's chain."""
    slowed_with_node: bool = False
    """Whether that of a slow node (`Scenario.slow_nodes`) has only the node's share of its capacity."""


# `lane` has gaps, so that another lane fits between two. Without a `rate` bytes do not count, or the
# capacity is told elsewhere: that of a leaf's links by its fabric (`SharedLink`).
RESOURCES: dict[str, ResourceKind] = {
    "scaleup": ResourceKind(
        label="scale-up links",
        scope="device",
        rate="scaleup_Bps",
        lane=120,
        lane_name="scale-up",
        drawn="device",
    ),
    "nvlink_sharp": ResourceKind(
        label="NVLink SHARP", scope="device", rate="sharp_Bps", lane=121, drawn="device"
    ),
    "scaleup_reduce": ResourceKind(
        label="scale-up reduce", scope="device", rate="hbm_Bps", lane=None, drawn="device"
    ),
    "copy_up": ResourceKind(
        label="copy engine out",
        scope="device",
        rate="copy_engine_Bps",
        lane=None,
        drawn="device",
        counts_as="copy",
    ),
    "copy_down": ResourceKind(
        label="copy engine in",
        scope="device",
        rate="copy_engine_Bps",
        lane=None,
        drawn="device",
        counts_as="copy",
    ),
    # PCIe carries both directions at once, so each is a resource. `link_both` is there only where a machine
    # carries less of both together than of each alone.
    "link_up": ResourceKind(
        label="device PCIe out", scope="device", rate="device_pcie_Bps", lane=None, drawn="device link"
    ),
    "link_down": ResourceKind(
        label="device PCIe in", scope="device", rate="device_pcie_Bps", lane=None, drawn="device link"
    ),
    "link_both": ResourceKind(
        label="device PCIe, both ways",
        scope="device",
        rate="device_pcie_both_Bps",
        shared=True,
        lane=None,
        drawn="device link",
    ),
    # shared: copy engines and NICs below a switch send over it side by side, packet by packet
    "uplink_up": ResourceKind(
        label="PCIe to host", scope="switch", rate="uplink_Bps", shared=True, lane=10, drawn="uplink"
    ),
    "uplink_down": ResourceKind(
        label="PCIe from host", scope="switch", rate="uplink_Bps", shared=True, lane=20, drawn="uplink"
    ),
    "peer_read": ResourceKind(
        label="peer reads",
        scope="nic",
        rate="peer_read_Bps",
        lane=24,
        lane_name="peer reads over CPU",
        drawn="CPU",
    ),
    "peer_write": ResourceKind(
        label="peer writes",
        scope="nic",
        rate="peer_write_Bps",
        lane=26,
        lane_name="peer writes over CPU",
        drawn="CPU",
    ),
    "socket_link": ResourceKind(
        label="socket link",
        scope="numa",
        rate="socket_link_Bps",
        shared=True,
        lane=28,
        lane_name="link between sockets",
        drawn="CPU",
    ),
    "dram": ResourceKind(
        label="DRAM",
        scope="numa",
        rate="dram_Bps",
        shared=True,
        lane=30,
        drawn="host memory",
        counts_as="host memory",
    ),
    "core": ResourceKind(
        label="CPU core",
        scope="device",
        rate="core_copy_Bps",
        lane=40,
        lane_name="CPU cores",
        drawn="CPU",
        counts_as="copy",
        is_core=True,
    ),
    # no rate: what it serves is time and no bytes
    "launch": ResourceKind(
        label="launch and hops inside the node", scope="device", lane=5, lane_name="library"
    ),
    "proxy": ResourceKind(
        label="library's proxy", scope="nic", lane=55, lane_name="proxy", drawn="NIC", until_sent=True
    ),
    "shared_memory": ResourceKind(
        label="copies inside the node",
        scope="device",
        rate="core_copy_Bps",
        lane=45,
        lane_name="copies in node",
        drawn="CPU",
    ),
    # no rate: a region takes time for itself and for each of its pages
    "registration": ResourceKind(label="registration", scope="nic", lane=50, drawn="NIC"),
    # in is into the NIC, which is what it reads in order to send
    "nic_pcie_in": ResourceKind(
        label="NIC's PCIe in", scope="nic", rate="nic_pcie_Bps", lane=None, drawn="NIC"
    ),
    "nic_pcie_out": ResourceKind(
        label="NIC's PCIe out", scope="nic", rate="nic_pcie_Bps", lane=None, drawn="NIC"
    ),
    "nic_messages": ResourceKind(
        label="NIC messages", scope="nic", lane=58, lane_name="NIC messages", drawn="NIC"
    ),
    "nic_tx": ResourceKind(
        label="NIC send",
        scope="nic",
        rate="nic_Bps",
        frames=True,
        lane=60,
        drawn="NIC",
        counts_as="send",
        slowed_with_node=True,
    ),
    "wire": ResourceKind(
        label="wire",
        scope="nic",
        rate="nic_Bps",
        lane=80,
        lane_name="in flight",
        drawn="wire",
        in_flight=True,
    ),
    "nic_rx": ResourceKind(
        label="NIC receive",
        scope="nic",
        rate="nic_Bps",
        frames=True,
        lane=85,
        drawn="NIC",
        receives=True,
        slowed_with_node=True,
    ),
    "leaf_up": ResourceKind(
        label="leaf to spine", scope="fabric", shared=True, frames=True, lane=None, drawn="wire"
    ),
    "leaf_down": ResourceKind(
        label="spine to leaf", scope="fabric", shared=True, frames=True, lane=None, drawn="wire"
    ),
    "backbone": ResourceKind(
        label="backbone",
        scope="fabric",
        rate="backbone_Bps",
        shared=True,
        frames=True,
        lane=None,
        drawn="wire",
    ),
    # no frames: devices' own ports have no transport whose headers could be counted
    "port_tx": ResourceKind(
        label="port send",
        scope="device",
        rate="port_Bps",
        lane=70,
        drawn="wire",
        counts_as="send",
        slowed_with_node=True,
    ),
    "port_rx": ResourceKind(
        label="port receive",
        scope="device",
        rate="port_Bps",
        lane=90,
        drawn="wire",
        receives=True,
        slowed_with_node=True,
    ),
    "reduce": ResourceKind(
        label="reduce in HBM",
        scope="device",
        rate="hbm_Bps",
        lane=110,
        lane_name="reduce (HBM)",
        drawn="device",
    ),
}
"""Every kind of resource; of equally busy ones the first is called the bottleneck. A slice in flight is drawn on ``wire``."""


def resource_kind(key: str) -> ResourceKind:
    """Return a kind of resource.

    Raises
    ------
    LookupError
        If there is none of this name, or its rate is no figure of a cluster.
    """
    if key not in RESOURCES:
        raise LookupError(f"no resource is called {key!r}; known are {', '.join(RESOURCES)}")
    kind = RESOURCES[key]
    if kind.rate and kind.rate not in _FIGURES:
        raise LookupError(
            f"resource {key!r} has the rate {kind.rate!r}, which is no figure of a cluster; add it as a kind of figure "
            f"(DESIGN.md says how), or name one of {', '.join(sorted(_FIGURES))}"
        )
    return kind


def capacity_Bps(cluster: Cluster, kind: str) -> int:  # noqa: N802
    """Return the capacity of one resource of `kind`: bytes per second, per direction where it has two, or 0."""
    rate = resource_kind(kind).rate
    capacity: int = (
        rate and getattr(cluster, rate)
    ) or 0  # a core that only bounces has no rate of its own here
    return capacity * (cluster.devices - 1) if kind == "scaleup" else capacity  # a link to every other device


def count_in_node(cluster: Cluster, kind: str) -> int:
    """Return how many resources of `kind` a node has."""
    match resource_kind(kind).scope:
        case "device":
            return cluster.devices
        case "switch":
            return cluster.numa_domains * cluster.switches_per_numa
        case "numa":
            return cluster.numa_domains
        case "nic":
            return cluster.nics
        case "fabric":
            return 1


def service(cluster: Cluster, kind: str, work: str = "") -> Callable[[int], int]:
    """Return the function from bytes to the picoseconds that a resource of `kind` needs for them, alone."""
    rate: int = getattr(cluster, work) if work else capacity_Bps(cluster, kind)
    if resource_kind(kind).is_core and not work:  # besides copying, a core works on every packet
        packet, size = cluster.packet_ps, cluster.packet_bytes
        # a packet costs the same whether it is full or not
        return lambda nbytes: service_ps(nbytes, rate) + -(-nbytes // size) * packet
    return lambda nbytes: service_ps(nbytes, rate)
