"""The data paths between nodes: one record each, with the stages that a slice goes through.

A path is an ordered list of stages. A stage uses one or more resources, in the order of the bytes: a resource takes a slice no sooner
than the one before it has begun with it, and is through with it no sooner than that one. The stage ends with its last resource.
"""

# Over the CPU a slice takes resources and no new engine. `wiring` and `acs_redirect` decide which resources
# the stages of a path have (`model/paths`): the uplink, what the CPU forwards for a NIC that reads or
# writes device memory, the link between sockets. What a file does not say of these is assumed from
# `data/wiring.toml` with a range (`model/rewiring`). The link between sockets has one direction here: where
# all sockets do the same, what one sends over it and what the other receives go the same way. PIX and PXB
# are one, since PCIe switch chips below one port of the CPU count as one switch.

from collections.abc import Callable
from dataclasses import dataclass, replace

from peerlab.model.hardware import Cluster
from peerlab.model.resources import resource_kind
from peerlab.model.stages import OVER_FABRIC, Side, Stage, Use

PEER_DIRECT = "peer-direct"
"""The path that peerlab compares with what a machine does without it."""
RECEIVE_DIRECT = "receive-direct"
"""What NCCL does where reading device memory is slow: GPUDirect RDMA on the receiving side alone."""
IN_NODE = "in-node"
"""What a log of one node took: the links inside it, no data path between nodes."""


@dataclass(frozen=True, kw_only=True)
class DataPath:
    """One data path between nodes."""

    title: str
    """What every view calls it."""
    short: str = ""
    """The same where room is short; empty: `title`."""
    summary: str
    """What it is, in a line of a list."""
    way: str
    """The way that slices take, as a sentence without its end; ``{device}`` stands for the accelerator's name, ``{across}`` for what lies
    between NIC and device (`ACROSS_SWITCH`, or that and the CPU)."""
    role: str
    """Role of its colour (`peerlab.picture.theme`); ``role``-ink is that of its name."""
    stages: Callable[[Cluster, str], tuple[Stage, ...]]
    """From a cluster, and where the buffers are (``device`` or ``host`` memory), its stages up to the reduction."""
    needs: tuple[str, ...] = ()
    """Figures that a cluster needs for it, beside those that every cluster needs."""
    is_staged: bool = False
    """Whether slices bounce through buffers in host memory."""
    half_staged: bool = False
    """Whether slices bounce through host memory on the sending side alone."""
    is_rdma: bool = False
    """Whether the NIC does RDMA, which takes an RDMA device and its driver."""
    uses_device_memory: bool = False
    """Whether the NIC reads and writes device memory, so that this memory has to be registered."""
    uses_kernel_tcp: bool = False
    """Whether the kernel's TCP/IP sends."""
    uses_own_ports: bool = False
    """Whether slices leave by the devices' own ports, past PCIe switch and NIC."""
    is_bare: bool = False
    """Whether it is nothing but a rate and a latency, for reference fabrics."""
    is_usual: bool = False
    """Whether a machine that nobody has described may have it, so that a log of any machine may be of it."""
    is_rare: bool = False
    """Whether an accelerator's name does not suggest it: a log is held against it only where a line names it, its cluster is named, or its
    simulation explains the rates and no usual path does, or the machine has no usual one."""
    registration: tuple[str, str]
    """When memory is registered and which, in a few words each, where no cache decides."""
    cache_rests: str = ""
    """Why the registration cache changes nothing on it; empty where it does."""


def _dram(side: Side, engine: str, touches: int = 1) -> Use:
    return Use("dram", side, engine, touches)


# Up is towards the CPU, on every PCIe link. `acquire` takes the sender's bounce buffer here, and the
# stage over the network gives it back (`_staged_network`): the slice holds it until the NIC has sent it.
def _copy_out(engine: Use) -> Stage:
    """Return the device-to-host copy, done by a copy engine or a core."""
    uses = (engine, Use("link_up", "source"), Use("link_both", "source", "copy_up"))
    # whoever copies is the engine that shares uplink and DRAM, with one slice at a time
    crossing = (Use("uplink_up", "source", engine.kind), _dram("source", engine.kind))
    return Stage("d2h", (*uses, *crossing), flight="copy_latency_ps", acquire="source")


def _copy_in(engine: Use) -> Stage:
    crossing = (_dram("destination", engine.kind), Use("uplink_down", "destination", engine.kind))
    uses = (Use("link_both", "destination", "copy_down"), Use("link_down", "destination"))
    # a core pulls the bytes; a copy engine of the device takes them where they end
    order = (engine, *crossing, *uses) if resource_kind(engine.kind).is_core else (*crossing, *uses, engine)
    return Stage("h2d", order, flight="copy_latency_ps", release="destination")


def _copies(cluster: Cluster) -> tuple[Stage, Stage]:
    """Return the copies out of a device and into one: a core makes them where staging is pageable."""
    pageable = cluster.pageable_copy_Bps is not None
    work = "pageable_copy_Bps"
    out = Use("core", "source", work=work) if pageable else Use("copy_up", "source")
    back = Use("core", "destination", work=work) if pageable else Use("copy_down", "destination")
    return _copy_out(out), _copy_in(back)


def _started(cluster: Cluster, copy: Stage) -> tuple[Stage, ...]:
    """Return a copy, behind the time that starting it takes where the cluster's file says any: a slice has its place by then."""
    if not cluster.copy_start_ps:
        return (copy,)
    # the place is taken before the start, and so not once more by the copy
    return Stage("copy-start", (), flight="copy_start_ps", acquire=copy.acquire), replace(copy, acquire=None)


PROXY = Use("proxy", "source", work="message_ps")
"""The library's thread that posts messages to a NIC: it has each until the NIC has sent it."""
MESSAGES = Use("nic_messages", "source", work="nic_message_ps")
"""What a NIC needs for a message however short it is: its message rate."""
# As a chain takes its longest resource, a message takes its least time or that of its bytes, not both.
_SEND = (Use("nic_pcie_in", "source"), MESSAGES, Use("nic_tx", "source"))
_RECEIVE = (Use("nic_rx", "destination"), Use("nic_pcie_out", "destination"))


def _from_memory(cluster: Cluster) -> tuple[Use, ...]:
    """Return what a NIC crosses that reads host memory, as far as it is wired."""
    place = cluster.wiring.place
    # what a NIC reads from host memory comes down to it; at a port of the CPU it meets no uplink
    between = (Use("uplink_down", "source", "nic_read"),) if not place.over_cpu else ()
    sockets = (Use("socket_link", "source", "nic_read"),) if place.over_sockets else ()
    return (_dram("source", "nic_read"), *between, *sockets)


def _to_memory(cluster: Cluster) -> tuple[Use, ...]:
    place = cluster.wiring.place
    # the way of `_from_memory` backwards: resources stand in the order in which a byte meets them
    between = (Use("uplink_up", "destination", "nic_write"),) if not place.over_cpu else ()
    sockets = (Use("socket_link", "destination", "nic_write"),) if place.over_sockets else ()
    return (*sockets, *between, _dram("destination", "nic_write"))


def _from_device(cluster: Cluster) -> tuple[Use, ...]:
    """Return what a NIC crosses that reads device memory: over the CPU the uplink too, with ACS redirect up and down again."""
    wiring, end = cluster.wiring, "nic_read"
    way = [Use("link_up", "source"), Use("link_both", "source", end)]
    if wiring.place.over_cpu or wiring.redirected:
        way += [Use("uplink_up", "source", end), Use("peer_read", "source")]
    if wiring.place.over_sockets:
        way.append(Use("socket_link", "source", end))
    # ACS redirect turns around at the CPU: down again by the same uplink
    if wiring.redirected:
        way.append(Use("uplink_down", "source", end))
    return tuple(way)


def _to_device(cluster: Cluster) -> tuple[Use, ...]:
    wiring, end = cluster.wiring, "nic_write"
    way = [Use("uplink_up", "destination", end)] if wiring.redirected else []
    if wiring.place.over_sockets:
        way.append(Use("socket_link", "destination", end))
    if wiring.place.over_cpu or wiring.redirected:
        way += [Use("peer_write", "destination"), Use("uplink_down", "destination", end)]
    return (*way, Use("link_both", "destination", end), Use("link_down", "destination"))


def _staged_network(cluster: Cluster) -> Stage:
    # Only where a file says that the network's library copies: `_exists` drops it elsewhere.
    bounce = (Use("core", side, work="bounce_copy_Bps") for side in _SIDES)
    uses = (
        # first of its chain: it has a message until the NIC has sent it (`ResourceKind.until_sent`)
        PROXY,
        next(bounce),
        *_from_memory(cluster),
        *_SEND,
        *_RECEIVE,
        *_to_memory(cluster),
        next(bounce),
    )
    return Stage("network", uses, flight=OVER_FABRIC, acquire="destination", release="source")


_SIDES: tuple[Side, Side] = ("source", "destination")
# A CPU copy reads and writes DRAM once each.
_CPU_SEND = Stage("cpu-send", (Use("core", "source"), _dram("source", "core", touches=2)))
_CPU_RECEIVE = Stage("cpu-receive", (Use("core", "destination"), _dram("destination", "core", touches=2)))
REDUCE = Stage("reduce", (Use("reduce", "destination", touches=3),))
"""Adding a slice to the device's own data: read two operands, write one."""


def _host_rdma(cluster: Cluster, memory: str) -> tuple[Stage, ...]:
    out, back = _copies(cluster)
    network = _staged_network(cluster)
    if memory != "device":
        # buffers in host memory are those of the message itself: no receiver's bounce buffer to wait for
        return (replace(network, acquire="source"),)
    return (*_started(cluster, out), network, *_started(cluster, back))


def _host_tcp(cluster: Cluster, memory: str) -> tuple[Stage, ...]:
    network = _staged_network(cluster)
    if memory == "device":
        out, back = _copies(cluster)
        return *_started(cluster, out), _CPU_SEND, network, _CPU_RECEIVE, *_started(cluster, back)
    # kernel TCP still has its own buffers on both sides
    receive = replace(_CPU_RECEIVE, release="destination")
    return replace(_CPU_SEND, acquire="source"), network, receive


def _peer_direct(cluster: Cluster, _memory: str) -> tuple[Stage, ...]:
    uses = (PROXY, *_from_device(cluster), *_SEND, *_RECEIVE, *_to_device(cluster))
    return (Stage("direct", uses, flight=OVER_FABRIC, acquire="source", release="source"),)


def _receive_direct(cluster: Cluster, _memory: str) -> tuple[Stage, ...]:
    """Sent from host memory, received straight into the device: the bounce buffer is the sender's alone."""
    out, _ = _copies(cluster)
    bounce = Use("core", "source", work="bounce_copy_Bps")
    uses = (PROXY, bounce, *_from_memory(cluster), *_SEND, *_RECEIVE, *_to_device(cluster))
    # no place to acquire: the copy out has taken the sender's, and the receiver has none
    return *_started(cluster, out), Stage("half-direct", uses, flight=OVER_FABRIC, release="source")


def _port_to_port(port: str, latency: str) -> tuple[Stage, ...]:
    # a message rate is known of NICs; no figure of a device's own ports has one
    messages = (MESSAGES,) if port == "nic" else ()
    uses = (*messages, Use(f"{port}_tx", "source"), Use(f"{port}_rx", "destination"))
    return (Stage("wire", uses, flight=latency, acquire="source", release="source"),)


_STAGING = ("device.copy_engine", "device.pcie", "switch.uplink", "host.dram", "slices.staged", "device.hbm")
_REGISTERED = (
    "device.hbm", "device.pcie", "slices.direct", "registration.base", "registration.per_page", "registration.deregister_base",
    "registration.deregister_per_page", "registration.lookup",
)  # fmt: skip
ACROSS_SWITCH = "across the PCIe switch"
"""What lies between a NIC and the device memory that it reads, where it hangs below the device's switch."""
_NO_MEMORY = "The registration cache changes nothing here: this path registers no memory."

PATHS: dict[str, DataPath] = {
    PEER_DIRECT: DataPath(
        title="Peer Direct",
        summary="the NIC reads and writes device memory (Peer Direct, GPUDirect RDMA)",
        way="The NIC reads slices straight from {device} memory {across} and writes them straight into the other side's",
        role="direct",
        stages=_peer_direct,
        needs=_REGISTERED,
        is_rdma=True,
        uses_device_memory=True,
        is_usual=True,
        registration=("at start", "one pool, once"),
    ),
    "host-rdma": DataPath(
        title="RDMA through host",
        short="through host",
        summary="through host memory at both ends; the NIC does RDMA",
        way="Slices are copied from {device} memory up the PCIe uplink into host memory, sent by the NIC from there, and copied down again on the other side",
        role="copy",
        stages=_host_rdma,
        needs=_STAGING,
        is_staged=True,
        is_rdma=True,
        is_usual=True,
        registration=("at start", "bounce pool, once"),
        cache_rests="The registration cache changes nothing here: the bounce buffers are registered once, at the start.",
    ),
    RECEIVE_DIRECT: DataPath(
        title="receive-only direct",
        short="receive-only",
        summary="sent through host memory, written by the NIC straight into device memory (GPUDirect RDMA on the receiving side)",
        way="Slices are copied from {device} memory into host memory and sent by the NIC from there; the other side's NIC writes them straight into {device} memory",
        role="direct",
        stages=_receive_direct,
        needs=_STAGING,
        is_rdma=True,
        half_staged=True,
        is_rare=True,
        registration=("at start", "library's buffers, once"),
        cache_rests="The registration cache changes nothing here: the library's buffers on both sides are registered once, at the start.",
    ),
    "host-tcp": DataPath(
        title="kernel TCP",
        short="TCP",
        summary="through host memory and the kernel's TCP/IP",
        way="Slices are copied from {device} memory into host memory, copied and sent by the CPU over TCP, and copied down again on the other side",
        role="cpu",
        stages=_host_tcp,
        needs=(*_STAGING, "node.cores_per_device", "host.core_copy", "host.packet_cost", "host.packet_size"),
        is_staged=True,
        uses_kernel_tcp=True,
        is_usual=True,
        registration=("none", "kernel TCP needs none"),
        cache_rests="The registration cache changes nothing here: kernel TCP registers no memory.",
    ),
    "device-tcp": DataPath(
        title="GPUDirect-TCPXO",
        short="TCPXO",
        summary="the NIC reads and writes device memory, and speaks TCP for a daemon (GPUDirect-TCPX, TCPXO)",
        way="The NIC reads slices straight from {device} memory {across} and writes them straight into the other side's; a daemon and the NIC do TCP, and no RDMA",
        role="direct",
        stages=_peer_direct,
        needs=_REGISTERED,
        uses_device_memory=True,
        is_rare=True,
        registration=("at start", "one pool, once"),
    ),
    "native": DataPath(
        title="devices' own ports",
        short="own ports",
        summary="over the accelerator's own network ports, as on Gaudi",
        way="Slices go from port to port",
        role="network",
        stages=lambda _cluster, _memory: _port_to_port("port", "port_latency_ps"),
        needs=("device.hbm", "port.rate", "port.latency", "slices.direct"),
        uses_own_ports=True,
        registration=("none", "this path needs none"),
        cache_rests=_NO_MEMORY,
    ),
    "wire": DataPath(
        title="wire",
        summary="nothing but a rate and a latency: reference fabrics only",
        way="Slices go from port to port",
        role="network",
        stages=lambda _cluster, _memory: _port_to_port("nic", OVER_FABRIC),
        needs=("slices.direct",),
        is_bare=True,
        registration=("none", "this path needs none"),
        cache_rests=_NO_MEMORY,
    ),
}  # fmt: skip
"""Every data path that peerlab knows; a cluster has some of them."""


def data_path(name: str) -> DataPath:
    """Return the record of a data path.

    Raises
    ------
    LookupError
        If there is none of this name.
    """
    if name not in PATHS:
        raise LookupError(f"no data path is called {name!r}; known are {', '.join(PATHS)}")
    return PATHS[name]


def path_title(name: str) -> str:
    """Return what every view calls a data path."""
    return data_path(name).title


def path_short(name: str) -> str:
    """Return what a view calls a data path where room is short."""
    return data_path(name).short or path_title(name)


def path_titles() -> dict[str, str]:
    """Return what every view calls each data path, by its key."""
    return {name: record.title for name, record in PATHS.items()}


def stages(cluster: Cluster, path: str, memory: str = "device") -> tuple[Stage, ...]:
    """Return the stages of a path on a cluster, up to the reduction, without what the cluster leaves out.

    With `memory` ``host`` the buffers are in host memory, so that nothing is copied from or to a device.
    """
    return tuple(_there(stage, cluster) for stage in data_path(path).stages(cluster, memory))


def kinds(cluster: Cluster, path: str) -> tuple[str, ...]:
    """Return the kinds of resources that a path uses on a cluster, first to last, each once."""
    return tuple(dict.fromkeys(use.kind for stage in stages(cluster, path) for use in stage.uses))


def sending_kinds(cluster: Cluster, path: str) -> tuple[str, ...]:
    """Return the kinds of resources by which a path sends into the network; none where it goes another way."""
    return tuple(kind for kind in kinds(cluster, path) if resource_kind(kind).counts_as == "send")


def uses_nic(cluster: Cluster, path: str) -> bool:
    """Return whether slices of a path go through the cluster's NICs: whether it uses what a node has one of for each NIC."""
    return any(resource_kind(kind).scope == "nic" for kind in kinds(cluster, path))


def _there(stage: Stage, cluster: Cluster) -> Stage:
    """Return a stage without the uses of what the cluster has not."""
    uses = tuple(use for use in stage.uses if _exists(use, cluster))
    return stage if len(uses) == len(stage.uses) else replace(stage, uses=uses)


def _exists(use: Use, cluster: Cluster) -> bool:
    # What a file leaves out limits nothing, so a use of it goes. `work` is the field where a kind has no rate
    # of its own, or several.
    return bool(getattr(cluster, use.work or resource_kind(use.kind).rate))
