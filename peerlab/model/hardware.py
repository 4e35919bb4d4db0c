"""A cluster: its topology and its figures, each with unit, basis and source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from math import isfinite
from numbers import Real
from types import MappingProxyType
from typing import Any

from peerlab.base.errors import HardwareError, nearest
from peerlab.base.units import parse_bytes, parse_duration, parse_rate, say_unit
from peerlab.model.nic_wiring import Wiring

WHAT_IF = "a what-if value"
"""What a figure that somebody changed says of itself, unless it says where it is from."""
_MAX_COUNT = 2**20
MAX_DEVICES = 1024
"""Devices of one node, at most."""
_LIMITS = {"rate": (10**7, 10**15), "time": (0, 10**13), "size": (1, 2**40), "length": (0, 10**8)}
"""From where to where a figure may lie, in bytes per second, picoseconds, bytes and millimetres: times stay within what is counted."""
_SAY_LIMITS = {"rate": "10 MB/s to 1 PB/s", "time": "0 to 10 s", "size": "1 B to 1 TiB", "length": "0 to 100 km"}  # fmt: skip

_MAPPINGS = ("lacks", "leaves_out", "figures")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number of a cluster file, as written there."""

    key: str
    """Section and name, such as ``switch.uplink``."""
    value: float
    """The number, in `unit`."""
    unit: str
    """``GB/s``, ``Gbit/s``, ``us``, ``bytes``, ``1`` (a count) ..."""
    basis: str
    """What the number is counted per: per device, per direction, ..."""
    source: str
    """Where it was read; empty for a bare assumption."""
    assumption: str
    """What is assumed about it; empty where the source says it all."""
    range: tuple[float, float] | None
    """For an assumed figure: from where to where it may lie, in `unit`; None where it is known, or cannot vary."""
    origin: str = field(default="", repr=False, compare=False)
    """Who wrote it, such as ``cluster file dl1.toml``, or ``where the NICs hang``; empty where nobody says. No part of what tells figures and machines apart."""

    @property
    def label(self) -> str:
        """What it is called where people read of it, such as ``network latency``."""
        return FIGURE_LABELS[self.key]

    @property
    def named(self) -> str:
        """Its label with the key that finds it in the cluster's file, such as ``network latency (fabric.latency)``."""
        return named(self.key)

    def __str__(self) -> str:
        return f"{self.value:g}{say_unit(self.unit)}"


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)


def _figure(key: str, kind: str, label: str) -> Any:
    """Return a dataclass field that is read from the figure `key`; readers know it by its `label`."""
    return field(default=None, metadata={"figure": key, "kind": kind, "label": label})


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The topology and the figures of one machine, in bytes, bytes per second and picoseconds.

    Every node is wired alike: `numa_domains` x `switches_per_numa` PCIe switches, each with `devices_per_switch`
    accelerators below it, `nics_per_switch` NICs that serve them, and one uplink to the CPU above it. Where the NICs hang,
    `wiring` says.
    Fields that no path of this cluster needs may be ``None``; so are those that the file leaves out, with a reason.

    >>> from peerlab import load_cluster
    >>> load_cluster("dl1").devices, load_cluster("dl1").nic_Bps
    (8, 12500000000)
    """

    name: str
    """Short name, as used in a scenario."""
    title: str
    """Name for people."""
    device_name: str
    """What one accelerator is called in the pictures."""
    summary: str
    """One sentence about the machine."""
    fitted_on: str = ""
    """What some of its figures were fitted on, such as ``all_reduce on 2 nodes``: elsewhere they extrapolate."""
    library: str = "none"
    """Name of the communication library that it has, or whose figures it carries (`peerlab.library.library_files`)."""
    library_version: str = ""
    """Version of the library; empty: that of the library's file."""
    transport: str = ""
    """Transport that its NICs speak (`peerlab.model.transport_files`); empty where the file names none: then headers are not counted."""
    transports: tuple[str, ...] = ()
    """Transports that it can have; empty where the file does not say it, so that any may be asked for."""
    cpu: str = ""
    """Maker of the hosts' processors, ``AMD`` or ``Intel``, which NCCL looks at; empty where nobody knows."""
    nodes_joined: int = 1
    """Nodes of its file that this machine counts as one: those of an NVLink domain, as a question meets it (`peerlab.question.domains`)."""
    flush_ps: int = 0
    """What of a hop is the flush of received data: a library's, for one message (`Scenario.cluster_for_message`)."""
    wiring: Wiring = field(default_factory=Wiring)
    """Where the NICs hang, and how sure that is."""
    paths: tuple[str, ...]
    """Data paths between nodes that this machine has, the usual one first."""
    # Mappings have no hash. They count where clusters are compared, so two that differ are still two.
    lacks: Mapping[str, str] = field(hash=False)
    """For each other path the reason why the machine lacks it."""
    leaves_out: Mapping[str, str] = field(hash=False)
    """For each figure that is left out on purpose the reason; what it describes never limits anything."""
    figures: Mapping[str, Figure] = field(hash=False)
    """Every figure as written in the file, by key."""

    # Typed as if it were there: what a path needs was required of its file (`DataPath.needs`), so code that
    # serves the path asks no more. Of other figures it says "or 0", or "is not None".
    numa_domains: int = _figure("node.numa_domains", "count", "CPU sockets")
    """CPU sockets (NUMA domains) per node."""
    switches_per_numa: int = _figure("node.switches_per_numa", "count", "PCIe switches per socket")
    """PCIe switches per NUMA domain."""
    devices_per_switch: int = _figure("node.devices_per_switch", "count", "accelerators below a PCIe switch")
    """Accelerators below one PCIe switch."""
    nics_per_switch: int = _figure("node.nics_per_switch", "count", "NICs below a PCIe switch")
    """NICs below one PCIe switch."""
    cores_per_device: int = _figure("node.cores_per_device", "count", "CPU cores per accelerator")
    """CPU cores that do an accelerator's communication."""
    hbm_Bps: int = _figure("device.hbm", "rate", "device memory bandwidth")  # noqa: N815
    """Device memory bandwidth, bytes per second, reads and writes together."""
    device_pcie_Bps: int = _figure("device.pcie", "rate", "an accelerator's PCIe link")  # noqa: N815
    """An accelerator's PCIe link, bytes per second and direction."""
    device_pcie_both_Bps: int = _figure("device.pcie_both_ways", "rate", "an accelerator's PCIe, both ways")  # noqa: N815
    """What that link carries in both directions together, if that is less than twice `device_pcie_Bps`."""
    copy_latency_ps: int = _figure("device.copy_latency", "time", "latency of a copy")
    """From a copy's last byte to its end, picoseconds."""
    copy_start_ps: int = _figure("device.copy_start", "time", "starting a copy")
    """Starting a staged copy and waiting for it, picoseconds: time before each of its slices; none where a file does not say it."""
    copy_engine_Bps: int = _figure("device.copy_engine", "rate", "copy engine")  # noqa: N815
    """An accelerator's copy (DMA) engine, bytes per second, one engine per direction."""
    uplink_Bps: int = _figure("switch.uplink", "rate", "PCIe uplink")  # noqa: N815
    """A PCIe switch's uplink to the CPU, bytes per second and direction."""
    dram_Bps: int = _figure("host.dram", "rate", "host memory bandwidth")  # noqa: N815
    """DRAM bandwidth of one NUMA domain, bytes per second, reads and writes together."""
    core_copy_Bps: int = _figure("host.core_copy", "rate", "copy by a CPU core")  # noqa: N815
    """What one core copies between user and kernel memory, bytes per second."""
    pageable_copy_Bps: int = _figure("host.pageable_copy", "rate", "pageable copy by a CPU core")  # noqa: N815
    """What one core copies between device and host memory, where staging is pageable: the core that also sends does it."""
    bounce_copy_Bps: int = _figure("host.bounce_copy", "rate", "copy into the NIC's own buffers")  # noqa: N815
    """What one core copies into or out of the NIC's own buffers, where the network library does not send in place."""
    peer_read_Bps: int = _figure("host.peer_read", "rate", "peer reads over the CPU")  # noqa: N815
    """What the CPU forwards when a NIC reads device memory over it, bytes per second."""
    peer_write_Bps: int = _figure("host.peer_write", "rate", "peer writes over the CPU")  # noqa: N815
    """What the CPU forwards when a NIC writes device memory over it, bytes per second."""
    socket_link_Bps: int = _figure("host.socket_link", "rate", "link between the sockets")  # noqa: N815
    """Link between two CPU sockets, bytes per second and direction."""
    packet_ps: int = _figure("host.packet_cost", "time", "CPU time per packet")
    """TCP/IP work of one core per packet, picoseconds."""
    packet_bytes: int = _figure("host.packet_size", "size", "packet size")
    """Payload of one packet."""
    nic_Bps: int = _figure("nic.rate", "rate", "NIC rate")  # noqa: N815
    """Line rate of one NIC, bytes per second and direction."""
    nic_message_ps: int = _figure("nic.per_message", "time", "what a message costs a NIC")
    """What a message occupies a NIC at least, picoseconds: the inverse of its message rate."""
    nic_pcie_Bps: int = _figure("nic.pcie", "rate", "a NIC's PCIe link")  # noqa: N815
    """A NIC's PCIe link, bytes per second and direction, where it may carry less than the NIC."""
    latency_ps: int = _figure("fabric.latency", "time", "network latency")
    """From the sending NIC's last byte to its arrival, picoseconds."""
    mtu_bytes: int = _figure("transport.mtu", "size", "MTU")
    """Largest packet of the transport: payload over RDMA, payload and the headers inside it over IP."""
    header_bytes: int = _figure("transport.header", "size", "headers of a packet")
    """What a packet has on the wire beside its MTU."""
    inside_bytes: int = _figure("transport.inside", "size", "headers inside the MTU")
    """What of the MTU is headers, where it is an IP packet's."""
    first_header_bytes: int = _figure("transport.first_header", "size", "header of the first packet")
    """What the first packet of a message has more."""
    base_ps: int = _figure("transport.base", "time", "latency of the transport itself")
    """Latency without switches and cable: both NICs."""
    switch_ps: int = _figure("transport.switch", "time", "latency of a switch")
    """From port to port of one switch."""
    hops: int = _figure("transport.hops", "count", "switches on the way")
    """Switches that a message crosses."""
    cable_mm: int = _figure("transport.metres", "length", "cable on the way")
    """Cable on the way, millimetres."""
    metre_ps: int = _figure("transport.per_metre", "time", "latency of a metre of cable")
    """Light in a metre of cable."""
    backbone_Bps: int = _figure("fabric.backbone", "rate", "backbone rate")  # noqa: N815
    """What all nodes together can send, where they share one backbone, bytes per second."""
    hosts_per_leaf: int = _figure("fabric.hosts_per_leaf", "count", "nodes below a leaf switch")
    """Nodes below one leaf switch, where the fabric is a leaf-spine."""
    oversubscription: int = _figure(
        "fabric.oversubscription", "count", "oversubscription of the leaf switches"
    )
    """Rate of a leaf's nodes together, divided by the rate of its links to the spine."""
    port_Bps: int = _figure("port.rate", "rate", "rate of an accelerator's own ports")  # noqa: N815
    """An accelerator's own ports to other nodes together, bytes per second and direction."""
    port_latency_ps: int = _figure("port.latency", "time", "latency of an accelerator's own ports")
    """From such a port's last byte to its arrival, picoseconds."""
    generation: int = _figure("device.generation", "count", "generation of the accelerator")
    """NVIDIA's compute capability, its first number: 7 Volta and Turing, 8 Ampere, 9 Hopper, 10 Blackwell."""
    channels: int = _figure("graph.channels", "count", "channels that the library opens")
    """Channels that NCCL opens on a node."""
    ring_channel_Bps: int = _figure("graph.ring_rate", "rate", "a channel of the library's ring")  # noqa: N815
    """What NCCL's search gives each channel of its ring, bytes per second."""
    tree_channel_Bps: int = _figure("graph.tree_rate", "rate", "a channel of the library's tree")  # noqa: N815
    """What NCCL's search gives each channel of its tree inside a node, bytes per second."""
    hop_ps: int = _figure("library.hop", "time", "what the transport adds to a hop")
    """What library and transport add to each hop between nodes, picoseconds."""
    message_ps: int = _figure("library.message", "time", "the library's cost per message")
    """What a message costs the thread that posts it (NCCL's proxy), picoseconds."""
    rendezvous_ps: int = _figure("library.rendezvous", "time", "asking before a large message")
    """What a message above `eager_bytes` takes more, per hop, picoseconds."""
    eager_bytes: int = _figure("library.eager", "size", "largest message that is sent without asking")
    """Largest message that is sent without asking first."""
    device_buffers_ps: int = _figure("library.device_buffers", "time", "what buffers in device memory add")
    """What a message between buffers in device memory takes more, picoseconds."""
    overlap_lost: float = _figure("library.overlap_lost", "share", "overlap that the library loses")
    """Share of the exchange inside a node that does not overlap the one between nodes, 0 to 1."""
    loopback: float = _figure("library.loopback", "share", "exchange inside a node that goes by NICs")
    """Share of what ranks of one node exchange from device memory that the library sends by their NICs, 0 to 1."""
    held: float = _figure("library.held", "share", "what a device has of a chunk before it passes it on")
    """Share of a chunk of LL or LL128 that a device of a tree has before it passes the chunk on to the next of its node, 0 to 1."""
    scaleup_Bps: int = _figure("scaleup.rate", "rate", "scale-up link")  # noqa: N815
    """Link between two accelerators of a node, bytes per second and direction, one link per pair."""
    sharp_Bps: int = _figure("scaleup.sharp", "rate", "NVLink SHARP")  # noqa: N815
    """What the switch inside a node adds up, bytes per second and device, each way; none where a file does not say it."""
    scaleup_latency_ps: int = _figure("scaleup.latency", "time", "scale-up latency")
    """Latency of that link."""
    domain_nodes: int = _figure("domain.nodes", "count", "nodes in an NVLink domain")
    """Nodes whose devices NVLink joins, at most; none where it ends at the node."""
    domain_Bps: int = _figure("domain.rate", "rate", "NVLink of a device in its domain")  # noqa: N815
    """A device's NVLink to all others of its domain together, bytes per second and direction."""
    domain_sharp_Bps: int = _figure("domain.sharp", "rate", "NVLink SHARP in a domain")  # noqa: N815
    """What the switches of a domain add up, bytes per second and device, each way; none where they add nothing up."""
    domain_hop_ps: int = _figure("domain.hop", "time", "a hop inside a domain")
    """What a hop between devices of one domain takes more than the library plans with, picoseconds."""
    register_base_ps: int = _figure("registration.base", "time", "registering a region")
    """Registering a region: fixed part."""
    register_page_ps: int = _figure("registration.per_page", "time", "registering a page")
    """Registering a region: part per page."""
    deregister_base_ps: int = _figure("registration.deregister_base", "time", "deregistering a region")
    """Deregistering a region: fixed part."""
    deregister_page_ps: int = _figure("registration.deregister_per_page", "time", "deregistering a page")
    """Deregistering a region: part per page."""
    lookup_ps: int = _figure("registration.lookup", "time", "lookup in the registration cache")
    """Finding a region in the cache."""
    slice_staged_bytes: int = _figure("slices.staged", "size", "slice through the host")
    """Slice of a transfer that is staged through host memory."""
    slice_direct_bytes: int = _figure("slices.direct", "size", "slice straight from device memory")
    """Slice of a transfer that the NIC reads from device memory."""
    window: int = _figure("slices.window", "count", "slices in flight")
    """Slices in flight per device and direction; bounce buffers per side."""
    least_slices: int = _figure("slices.least", "count", "slices that a transfer has at least")
    """Slices that a transfer of a collective is cut into at least; as many as the window holds, if that is less."""
    max_ranks: int = _figure("limits.max_ranks", "count", "ranks that the library allows")
    """Ranks the vendor's library allows; beyond, a result is an extrapolation."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle and copy take: read-only mappings cannot be pickled."""
        return {**self.__dict__, **{name: dict(getattr(self, name)) for name in _MAPPINGS}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back, read-only again."""
        proxies = {name: MappingProxyType(state[name]) for name in _MAPPINGS}
        self.__dict__.update(state, **proxies)

    def __post_init__(self) -> None:
        # a what-if such as ``replace(machine, uplink_Bps=2.0 * machine.uplink_Bps)`` is no whole number
        for name in _whole():
            value = getattr(self, name)
            if isinstance(value, float) and isfinite(value):
                object.__setattr__(self, name, round(value))

    @property
    def devices(self) -> int:
        """Accelerators per node."""
        return self.numa_domains * self.switches_per_numa * self.devices_per_switch

    @property
    def nics(self) -> int:
        """NICs per node."""
        return self.numa_domains * self.switches_per_numa * self.nics_per_switch

    @property
    def nics_per_device(self) -> int:
        """NICs that a device sends over; 1 where devices share one (`peerlab.library.striping`)."""
        return max(1, self.nics_per_switch // self.devices_per_switch)

    @property
    def used_nics_per_switch(self) -> int:
        """NICs below a PCIe switch as devices use them: several of one device count as one."""
        return min(self.nics_per_switch, self.devices_per_switch)

    @property
    def counted_as(self) -> str:
        """What this machine counts as one, and a library, too: a ``node``, or a ``domain`` of several."""
        return "domain" if self.nodes_joined > 1 else "node"

    def says(self, words: str) -> str:
        """Return words that hold for a node, such as *hops inside the node*, as they hold for what is counted as one here; no name may be among them.

        >>> from peerlab import Scenario
        >>> Scenario(cluster="gb200-nvl72", nodes=18).hardware.says("hops inside the node")
        'hops inside the domain'
        """
        return words.replace("node", self.counted_as)

    @property
    def node_wire_Bps(self) -> int:  # noqa: N802
        """Line rate of all NICs of a node, bytes per second and direction."""
        return self.nics * self.nic_Bps

    @property
    def leaves_latency(self) -> bool:
        """Whether its file leaves the latency between nodes to the transport."""
        return self.latency_ps is None

    @property
    def assumptions(self) -> tuple[Figure | Wiring, ...]:
        """What rests on an assumption: figures, and where the NICs hang if the file says that on its own."""
        return tuple(figure for figure in self.stated if figure.assumption)

    @property
    def stated(self) -> tuple[Figure | Wiring, ...]:
        """All figures, after where the NICs hang if that is assumed on its own: what a simulation says it rests on."""
        figures, assumption = tuple(self.figures.values()), self.wiring.assumption
        # an assumed count of NICs or switches says it already
        alone = assumption and all(figure.assumption != assumption for figure in figures)
        return ((self.wiring,) if alone else ()) + figures

    @property
    def counted(self) -> str:
        """How many figures there are, and how many of them are assumed, such as ``31 figures, 16 of them assumed``."""
        return say_counted(self)

    def with_figure(
        self,
        key: str,
        value: float,
        *,
        source: str = "",
        assumption: str = WHAT_IF,
        range: tuple[float, float] | None = None,  # noqa: A002  (as in the file)
    ) -> "Cluster":
        """Return this cluster with one figure changed, in the unit of its file; unless said where from, it is a what-if.

        Raises
        ------
        HardwareError
            If the cluster has no such figure or the value is impossible.
        """
        figure = self._what_if(key, value)
        return self._with((replace(figure, source=source, assumption=assumption, range=range),))

    def with_values(self, values: Iterable[tuple[str, float]]) -> "Cluster":
        """Return this cluster with some figures changed as what-ifs, each a key and a value in the unit of its file.

        Raises
        ------
        HardwareError
            If the cluster has no such figure or a value is impossible.
        """
        return self._with([self._what_if(key, value) for key, value in values])

    def _what_if(self, key: str, value: float) -> Figure:
        """Return one of its figures with another value, checked."""
        if key not in self.figures and key not in ADDABLE:
            raise HardwareError(f"{self.name} has no figure {key!r}; {nearest(key, self.figures)}")
        # what may be added is a time for each message, all of them
        before = self.figures.get(key) or Figure(
            key=key, value=0, unit="us", basis="per message", source="", assumption="", range=None
        )
        if not _is_number(value):
            raise HardwareError(f"{key} must be a number, in {before.unit}: {value!r} is none")
        return replace(
            before, value=value, source="", assumption=WHAT_IF, range=None, origin="Python, with_figure"
        )

    def _with(self, figures: Iterable[Figure]) -> "Cluster":
        """Return this cluster with some figures in place of its own."""
        new = {figure.key: figure for figure in figures}
        change: dict[str, Any] = {FIGURE_FIELDS[key]: internal_value(figure) for key, figure in new.items()}
        changed = replace(self, figures=MappingProxyType({**self.figures, **new}), **change)
        # a count of the topology may have changed, and with it how many devices a node has
        changed.check_devices()
        return changed

    def check_devices(self) -> None:
        """Refuse a node with too many devices, or with several that nothing connects.

        Raises
        ------
        HardwareError
            If it is so.
        """
        if self.devices > MAX_DEVICES:
            raise HardwareError(
                f"{self.name}: {self.devices} devices a node are too many; at most {MAX_DEVICES}"
            )
        if self.devices > 1 and None in (self.scaleup_Bps, self.scaleup_latency_ps, self.hbm_Bps):
            raise HardwareError(
                f"{self.name}: a node with {self.devices} devices needs scaleup.rate, scaleup.latency and device.hbm"
            )


@cache
def _whole() -> tuple[str, ...]:
    """Return the fields of a cluster that are whole numbers."""
    # Types are compared as objects: with `from __future__ import annotations` they would be texts, and
    # nothing would be rounded.
    return tuple(each.name for each in fields(Cluster) if each.type in (int, int | None))


def say_counted(*clusters: Cluster) -> str:
    """Return how many figures some clusters have together, and how many of these are assumed, as every place says it.

    A cluster from its file has the file's figures; that of a scenario (`Scenario.hardware`) also those of library and transport.
    """
    # by name of the machine: two scenarios on one cluster count its figures once
    figures = {(cluster.name, figure.key): figure for cluster in clusters for figure in cluster.stated}
    return f"{len(figures)} figures, {sum(bool(figure.assumption) for figure in figures.values())} of them assumed"


ADDABLE = ("device.copy_start", "nic.per_message", "domain.hop")
"""Figures that a what-if may give a cluster whose file has none, in microseconds per message: without them nothing is counted."""
FIGURE_KINDS = {f.metadata["figure"]: f.metadata["kind"] for f in fields(Cluster) if "figure" in f.metadata}
FIGURE_LABELS: dict[str, str] = {
    f.metadata["figure"]: f.metadata["label"] for f in fields(Cluster) if "figure" in f.metadata
}
"""What every figure is called where people read of it; its key stands behind."""


def named(key: str) -> str:
    """Return a figure's label with the key that finds it in a cluster's file, such as ``network latency (fabric.latency)``."""
    return f"{FIGURE_LABELS[key]} ({key})"


FIGURE_FIELDS = {f.metadata["figure"]: f.name for f in fields(Cluster) if "figure" in f.metadata}
FIGURE_OF_FIELD: dict[str, str] = {field: key for key, field in FIGURE_FIELDS.items()}

# These may be nothing at all. A rate, or the size of a packet, of 0 would be divided by.
_MAY_BE_ZERO = {
    "registration.deregister_base", "fabric.latency", "scaleup.latency", "port.latency", "device.copy_latency", "device.copy_start",
    "library.hop", "library.message", "domain.hop", "library.rendezvous", "library.device_buffers", "library.overlap_lost", "library.loopback", "library.held",
    "transport.base", "transport.switch", "transport.hops", "transport.metres", "transport.per_metre", "nic.per_message",
}  # fmt: skip


def internal_value(figure: Figure) -> int | float:
    """Return the figure's value in peerlab's own units, checked."""
    try:
        value = _converted(figure.key, figure.value, figure.unit)
    except (ValueError, OverflowError) as problem:
        raise HardwareError(f"{figure.key} = {figure}: {problem}") from None
    kind = FIGURE_KINDS[figure.key]
    if kind != "share":  # whose bounds are its own
        _check_bounds(figure, kind, value)
    return value


# a band asks for the same ends again and again, and a unit is read in exact fractions
@lru_cache(maxsize=4096, typed=True)
def _converted(key: str, value: float, unit: str) -> int | float:
    """Return a figure's value in peerlab's own units.

    Raises
    ------
    ValueError, OverflowError
        If the unit is another one, or the value is impossible.
    """
    match FIGURE_KINDS[key]:
        case "rate":
            return parse_rate(value, unit)
        case "time":
            return parse_duration(value, unit)
        case "size":
            # with all digits: the format of a float would round 1048577
            return parse_bytes(f"{value!r} {unit}")
        case "length":
            if unit != "m":
                raise ValueError("a length has unit 'm'")
            # metres in the file, whole millimetres inside
            return round(value * 1000)
        case "share":
            if unit != "1" or not 0 <= value <= 1:
                raise ValueError("a share lies between 0 and 1 and has unit '1'")
            return float(value)
        case _:
            if unit != "1" or value != int(value) or value > _MAX_COUNT:
                raise ValueError(f"a count is a whole number up to {_MAX_COUNT} with unit '1'")
            return int(value)


def _check_bounds(figure: Figure, kind: str, value: float) -> None:
    if value < 0 or (value == 0 and figure.key not in _MAY_BE_ZERO):
        least = "zero or more" if figure.key in _MAY_BE_ZERO else "greater than zero"
        raise HardwareError(f"{figure.key} = {figure} must be {least}")
    low, high = _LIMITS.get(kind, (0, _MAX_COUNT))
    if not low <= value <= high:
        raise HardwareError(f"{figure.key} = {figure} is out of range; possible are {_SAY_LIMITS[kind]}")
