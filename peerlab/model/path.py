"""What a byte goes through: resources, stages, and the data paths made of them.

A path is an ordered list of stages. A stage uses one or more resources, which queue a slice independently
(fork and join): the stage ends when the slowest has served it. *Exclusive* resources serve one slice at a time,
first come first served; *shared* ones divide their capacity evenly among the engines (DMA engines, cores) that
use them, one slice per engine at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from peerlab.model.hardware import Cluster
from peerlab.units import service_ps

Side = Literal["source", "destination"]


@dataclass(frozen=True)
class ResourceKind:
    """One kind of resource that a node has."""

    label: str
    """Name in plain words."""
    scope: Literal["device", "switch", "numa", "nic", "fabric"]
    """What a node has one of these for each of."""
    rate: str = ""
    """Field of `Cluster` that holds its capacity; empty where bytes do not count."""
    shared: bool = False
    """Whether engines share it evenly; otherwise it serves one slice at a time."""


RESOURCES: dict[str, ResourceKind] = {
    "scaleup": ResourceKind("scale-up links", "device", "scaleup_Bps"),
    "scaleup_reduce": ResourceKind("scale-up reduce", "device", "hbm_Bps"),
    "copy_up": ResourceKind("copy engine out", "device", "copy_engine_Bps"),
    "copy_down": ResourceKind("copy engine in", "device", "copy_engine_Bps"),
    "link_up": ResourceKind("device PCIe out", "device", "device_pcie_Bps"),
    "link_down": ResourceKind("device PCIe in", "device", "device_pcie_Bps"),
    "link_both": ResourceKind("device PCIe, both ways", "device", "device_pcie_both_Bps", shared=True),
    "uplink_up": ResourceKind("PCIe uplink up", "switch", "uplink_Bps", shared=True),
    "uplink_down": ResourceKind("PCIe uplink down", "switch", "uplink_Bps", shared=True),
    "dram": ResourceKind("DRAM", "numa", "dram_Bps", shared=True),
    "core": ResourceKind("CPU core", "device", "core_copy_Bps"),
    "registration": ResourceKind("registration", "nic"),
    "nic_tx": ResourceKind("NIC send", "nic", "nic_Bps"),
    "wire": ResourceKind("wire", "nic", "nic_Bps"),
    "nic_rx": ResourceKind("NIC receive", "nic", "nic_Bps"),
    "leaf_up": ResourceKind("leaf to spine", "fabric", shared=True),
    "leaf_down": ResourceKind("spine to leaf", "fabric", shared=True),
    "backbone": ResourceKind("backbone", "fabric", "backbone_Bps", shared=True),
    "port_tx": ResourceKind("port send", "device", "port_Bps"),
    "port_rx": ResourceKind("port receive", "device", "port_Bps"),
    "reduce": ResourceKind("reduce in HBM", "device", "hbm_Bps"),
}
"""Resources of a node, in the order of the timeline's lanes. A slice in flight is drawn on ``wire``."""

STAGES: dict[str, str] = {
    "gather": "collect from the node's other devices (scale-up)",
    "gather-reduce": "add up the node's devices",
    "register": "register memory (MR)",
    "deregister": "deregister memory",
    "d2h": "copy to host memory (D2H)",
    "cpu-send": "CPU: kernel copy and TCP send",
    "network": "NIC to NIC, through host memory",
    "direct": "NIC to NIC, straight from device memory",
    "wire": "port to port",
    "flight": "in flight (latency)",
    "cpu-receive": "CPU: TCP receive and kernel copy",
    "h2d": "copy to device memory (H2D)",
    "reduce": "add to the device's own data",
    "broadcast": "hand to the node's other devices (scale-up)",
}
"""Every stage a span can belong to, in plain words with the field's term."""

PATH_NAMES = {
    "peer-direct": "Peer Direct",
    "host-rdma": "RDMA through host",
    "host-tcp": "kernel TCP",
    "native": "devices' own ports",
    "wire": "wire",
}
"""What every view calls a data path."""


@dataclass(frozen=True)
class Use:
    """What a stage asks of one resource."""

    kind: str
    """Key of :data:`RESOURCES`."""
    side: Side
    """Whether it is the sender's or the receiver's."""
    engine: str = ""
    """For a shared resource: the engine that uses it (one slice per engine at a time)."""
    touches: int = 1
    """Bytes that cross the resource per byte of the slice."""
    work: str = ""
    """For a core: the field of `Cluster` with the rate of this work, if it is not the kernel's copy and TCP."""


@dataclass(frozen=True)
class Stage:
    """One stage of a slice's way."""

    name: str
    """Key of :data:`STAGES`."""
    uses: tuple[Use, ...]
    """Resources that serve the slice, independently."""
    flight: str = ""
    """Field of `Cluster` with the latency that follows; it delays the slice and occupies nothing."""
    acquire: Side | None = None
    """Side whose window (bounce buffer, for staging) the slice must hold before the stage."""
    release: Side | None = None
    """Side whose window it gives back after the stage."""

    @property
    def side(self) -> Side:
        """Where it begins."""
        return "source" if any(use.side == "source" for use in self.uses) else "destination"


def _dram(side: Side, engine: str, touches: int = 1) -> Use:
    return Use("dram", side, engine, touches)


def _copy_out(engine: Use) -> Stage:
    """Return the device-to-host copy, done by a copy engine or a core."""
    uses = (engine, Use("link_up", "source"), Use("link_both", "source", "copy_up"))
    crossing = (Use("uplink_up", "source", engine.kind), _dram("source", engine.kind))
    return Stage("d2h", (*uses, *crossing), flight="copy_latency_ps", acquire="source")


def _copy_in(engine: Use) -> Stage:
    crossing = (Use("uplink_down", "destination", engine.kind), _dram("destination", engine.kind))
    uses = (Use("link_both", "destination", "copy_down"), Use("link_down", "destination"), engine)
    return Stage("h2d", (*crossing, *uses), flight="copy_latency_ps", release="destination")


_STAGED_NETWORK = Stage(
    "network",
    (
        Use("core", "source", work="bounce_copy_Bps"),
        Use("uplink_down", "source", "nic_read"),
        _dram("source", "nic_read"),
        Use("nic_tx", "source"),
        Use("nic_rx", "destination"),
        Use("uplink_up", "destination", "nic_write"),
        _dram("destination", "nic_write"),
        Use("core", "destination", work="bounce_copy_Bps"),
    ),
    flight="latency_ps",
    acquire="destination",
    release="source",
)
_HOST_TO_HOST = replace(_STAGED_NETWORK, acquire="source")
# A CPU copy reads and writes DRAM once each.
_CPU_SEND = Stage("cpu-send", (Use("core", "source"), _dram("source", "core", touches=2)))
_CPU_RECEIVE = Stage("cpu-receive", (Use("core", "destination"), _dram("destination", "core", touches=2)))


def _port_to_port(name: str, port: str, latency: str, *inside: Use) -> Stage:
    uses = (Use(f"{port}_tx", "source"), Use(f"{port}_rx", "destination"), *inside)
    return Stage(name, uses, flight=latency, acquire="source", release="source")


_DIRECT = _port_to_port(
    "direct",
    "nic",
    "latency_ps",
    Use("link_up", "source"),
    Use("link_both", "source", "nic_read"),
    Use("link_down", "destination"),
    Use("link_both", "destination", "nic_write"),
)
REDUCE = Stage("reduce", (Use("reduce", "destination", touches=3),))
"""Adding a slice to the device's own data: read two operands, write one."""


def stages(cluster: Cluster, path: str, memory: str = "device") -> tuple[Stage, ...]:
    """Return the stages of a path on a cluster, up to the reduction, without what the cluster leaves out.

    With `memory` ``host`` the buffers are in host memory, so that nothing is copied from or to a device.
    """
    pageable = cluster.pageable_copy_Bps is not None
    engines = (
        [Use("core", side, work="pageable_copy_Bps") for side in ("source", "destination")]
        if pageable
        else [Use("copy_up", "source"), Use("copy_down", "destination")]
    )
    copies = _copy_out(engines[0]), _copy_in(engines[1])
    way: tuple[Stage, ...]
    match path:
        case "host-rdma":
            way = (copies[0], _STAGED_NETWORK, copies[1]) if memory == "device" else (_HOST_TO_HOST,)
        case "host-tcp" if memory == "device":
            way = (copies[0], _CPU_SEND, _STAGED_NETWORK, _CPU_RECEIVE, copies[1])
        case "host-tcp":
            send = replace(_CPU_SEND, acquire="source")
            way = (send, _STAGED_NETWORK, replace(_CPU_RECEIVE, release="destination"))
        case "peer-direct":
            way = (_DIRECT,)
        case "native":
            way = (_port_to_port("wire", "port", "port_latency_ps"),)
        case _:
            way = (_port_to_port("wire", "nic", "latency_ps"),)
    return tuple(_there(stage, cluster) for stage in way)


def _there(stage: Stage, cluster: Cluster) -> Stage:
    """Return a stage without the uses of what the cluster has not."""
    return replace(stage, uses=tuple(use for use in stage.uses if _exists(use, cluster)))


def _exists(use: Use, cluster: Cluster) -> bool:
    return getattr(cluster, use.work or RESOURCES[use.kind].rate) is not None


STAGED = ("host-rdma", "host-tcp")
"""Paths that bounce through host memory."""


def capacity_Bps(cluster: Cluster, kind: str) -> int:  # noqa: N802
    """Return the capacity of one resource of `kind`: bytes per second, per direction where it has two, or 0."""
    rate = RESOURCES[kind].rate
    capacity: int = (
        rate and getattr(cluster, rate)
    ) or 0  # a core that only bounces has no rate of its own here
    return capacity * (cluster.devices - 1) if kind == "scaleup" else capacity  # a link to every other device


def service(cluster: Cluster, kind: str, work: str = "") -> Callable[[int], int]:
    """Return the function from bytes to the picoseconds that a resource of `kind` needs for them, alone."""
    rate: int = getattr(cluster, work) if work else capacity_Bps(cluster, kind)
    if kind == "core" and not work:  # besides copying, a core works on every packet
        packet, size = cluster.packet_ps, cluster.packet_bytes
        return lambda nbytes: service_ps(nbytes, rate) + -(-nbytes // size) * packet
    return lambda nbytes: service_ps(nbytes, rate)
