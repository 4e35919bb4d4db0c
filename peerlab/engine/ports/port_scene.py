"""What a scene of ports is: hosts below leaf switches, flows between them, and what its fabric does when a queue grows.

Bytes cross the network as *cells*, whole packets that move together. A cell leaves by a port after those before it, lasts as long as its
bytes on the wire, and may begin at the next port once its first packet is there: a switch forwards packets, so a cell of many is cut through. It holds the ingress account of the link that it came by until it has left by the next port.
"""

# Why cells and not packets: what flow control does depends on thresholds and latencies, not on packets (a victim's share is the same
# for cells of XOFF/64 to XOFF/4), and a message of 64 MiB is 16,384 packets at every hop.

from dataclasses import dataclass
from functools import cached_property

from peerlab.base.units import PS_PER_S
from peerlab.engine.ports.scene_checks import check_scene

ONE = 10**9
"""A whole packet, in the unit of shares that are lost or marked."""
ENDLESS = 1 << 60
"""Packets of a flow that never ends."""
JOINED = 2
"""So many leaves are joined by trunks; more hang below spines, which are another hop."""
RECOVERIES = ("none", "selective", "go-back-n", "go-back-0")
STARTS = ("cold", "fair")


@dataclass(frozen=True, kw_only=True)
class MarkedRates:
    """Marks of a queue and what a sender makes of them (DCQCN)."""

    kmin: int
    """Bytes of a queue from which cells are marked."""
    kmax: int
    """Bytes at which the share of marked packets is `pmax`; beyond all are."""
    pmax_ppb: int
    """That share, in 1e-9."""
    cnp_ps: int
    """Least time between two notifications of a flow."""
    alpha_ps: int
    """After so long without one alpha falls."""
    timer_ps: int
    """After so long a rate rises."""
    byte_counter: int
    """After so many bytes, too."""
    recoveries: int
    """Rises that halve the way back to the target, before the target itself rises."""
    rai_Bps: int  # noqa: N815  (the field writes B for bytes)
    """By how much the target rises."""
    rhai_Bps: int = 0  # noqa: N815
    """By how much once timer and byte counter both are beyond the recoveries; 0: as before."""
    gain: int = 4
    """Weight of a new observation in alpha, in 1/1024: 4 is g = 1/256."""
    start: str = "cold"
    """``cold``: at line rate, alpha 1; ``fair``: at the max-min share."""
    alpha_ppm: int = 200_000
    """Alpha of a fair start, in 1e-6."""


@dataclass(frozen=True, kw_only=True)
class PortFabric:
    """What a fabric does with packets, and when a queue grows."""

    name: str
    mtu: int
    """Payload of a full packet."""
    header: int
    """Bytes on the wire besides, per packet."""
    processing_ps: int = 0
    """From when a credit or a pause arrives until it is heeded."""
    vls: int = 1
    """Virtual lanes or classes, each with queues and accounts of its own; ports serve them in turn."""
    credits: int = 0
    """Bytes that a link may have unanswered in each lane; 0: a link asks for no credit."""
    xoff: int = 0
    """Bytes of an ingress account beyond which its sender is paused; 0: never."""
    xon: int = 0
    """Bytes below which it goes on."""
    headroom: int = 0
    """Bytes beyond `xoff` that an account holds."""
    overrun: str = "refuse"
    """What is beyond it: ``refuse`` ends the scene in words, ``drop`` loses cells."""
    queue: int = 0
    """Bytes that an egress queue holds before cells are lost; 0: no cell is."""
    recovery: str = "none"
    """How what is lost is sent again."""
    recovery_ps: int = 0
    """Time of a sender from hearing of a loss to sending again."""
    timeout_ps: int = 0
    """Time after which a sender that has nothing more to send and no answer sends again."""
    loss_ppb: int = 0
    """Share of packets that are lost on their way, in 1e-9."""
    loss_seed: int | None = None
    """None: losses at even distances; else drawn, each flow from a stream of its own."""
    marking: MarkedRates | None = None

    @property
    def packet(self) -> int:
        """Bytes of a full packet on the wire."""
        return self.mtu + self.header

    @property
    def goodput(self) -> float:
        """Share of a full packet that is payload (F1)."""
        return self.mtu / self.packet

    @property
    def loses(self) -> bool:
        """Whether a packet may be lost."""
        return bool(self.queue or self.loss_ppb or (self.xoff and self.overrun == "drop"))


@dataclass(frozen=True, kw_only=True)
class PortFlow:
    """Messages from one host to another, one after the other."""

    src: int
    dst: int
    nbytes: int = 0
    """Payload of one message; 0: one that never ends."""
    messages: int = 1
    vl: int = 0
    start_ps: int = 0
    """When the first may be sent."""
    after: int | None = None
    """The flow whose message k - 1 must have arrived before message k is sent; None: all may follow at once."""
    job: str = ""
    """Whose it is."""
    collective: int = 0
    """Messages of one collective: those of the next are sent once all flows of its job have these. 0: no flow waits so."""
    compute_ps: int = 1
    """How long its job computes between two collectives; a picosecond or more, so that no instant feeds itself."""
    background: bool = False
    """Whether a scene ends without it."""
    drawn_by: int | None = None
    """The number by which a hash gives it a trunk, and its losses are drawn; None: its own in the scene."""

    @property
    def is_endless(self) -> bool:
        """Whether it never ends by itself."""
        return not self.nbytes

    @property
    def counts(self) -> bool:
        """Whether a scene goes on until it has ended."""
        return not (self.is_endless or self.background)

    def draws(self, number: int) -> int:
        """Return the number by which chance draws for it where it has this one in its scene."""
        return number if self.drawn_by is None else self.drawn_by

    def sendable(self, collectives: int) -> int:
        """Return how many messages may be sent once so many collectives have begun, of one that waits for another the first of the last one."""
        before = (collectives - 1) * self.collective
        return before + (1 if self.after is not None else self.collective or self.messages)


@dataclass(frozen=True)
class PortLink:
    """A directed link: the port that sends over it is its own."""

    name: str
    rate_Bps: int  # noqa: N815
    source: int
    """Host, or -1 where a switch sends."""
    sink: int
    """Host, or -1 where a switch receives."""

    def service_ps(self, nbytes: int) -> int:
        """Return how long it takes to send so many bytes of the wire."""
        return -(-nbytes * PS_PER_S // self.rate_Bps)


@dataclass(frozen=True, kw_only=True)
class PortScene:
    """Hosts, links, flows and a fabric."""

    fabric: PortFabric
    leaves: tuple[int, ...]
    """Leaf of each host, from 0."""
    flows: tuple[PortFlow, ...]
    host_Bps: int  # noqa: N815
    trunk_Bps: int = 0  # noqa: N815
    """Of one trunk link, each way."""
    trunks: int = 1
    """How many of them join two leaves; more than two hang below so many spines, a link to each."""
    hop_ps: int
    """From the end of a link's sender to its receiver, the switch's own time included."""
    latency_ps: int = 1
    """From the last byte of a message at the NIC until the receiver may go on."""
    cell_packets: int = 1
    until_ps: int = 0
    """When the scene is cut at the latest; it ends before, once every flow that has an end has ended. 0: only then."""
    spray: bool = False
    """Whether each cell takes the trunk with the least waiting, instead of one by a hash of its flow."""
    seed: int = 0
    """Of that hash."""

    def __post_init__(self) -> None:
        check_scene(self)

    @property
    def hosts(self) -> int:
        """How many there are."""
        return len(self.leaves)

    @cached_property
    def leaf_count(self) -> int:
        """Leaves, from 0 to the last that has a host."""
        return 1 + max(self.leaves)

    @property
    def has_spines(self) -> bool:
        """Whether leaves hang below spines; two are joined by trunks."""
        return self.leaf_count > JOINED

    @cached_property
    def links(self) -> tuple[PortLink, ...]:
        """Up from each host, down to each host, the trunks out of each leaf, and below spines those into each leaf."""
        up = [PortLink(f"host {h} up", self.host_Bps, h, -1) for h in range(self.hosts)]
        down = [PortLink(f"host {h} down", self.host_Bps, -1, h) for h in range(self.hosts)]
        names = self._names_of_trunks() if self.trunk_Bps else []
        return (*up, *down, *(PortLink(name, self.trunk_Bps, -1, -1) for name in names))

    def _names_of_trunks(self) -> list[str]:
        """Return the names of all links between switches, in the order of their numbers."""
        leaves, trunks = range(self.leaf_count), range(self.trunks)
        if not self.has_spines:
            return [f"trunk {way} {k}" for way in ("0>1", "1>0") for k in trunks]
        up = [f"leaf {leaf} to spine {k}" for leaf in leaves for k in trunks]
        return up + [f"spine {k} to leaf {leaf}" for leaf in leaves for k in trunks]

    def trunk_links(self, flow: PortFlow) -> range:
        """Return the numbers of the trunks by which a flow may leave its leaf; none where both hosts share one."""
        leaf, other = self.leaves[flow.src], self.leaves[flow.dst]
        first = 2 * self.hosts + self.trunks * leaf
        return range(first, first + self.trunks) if leaf != other else range(0)

    def between(self, flow: PortFlow, trunk: int = -1) -> tuple[int, ...]:
        """Return the links between the leaves of a flow, of which the first is this trunk (-1: its first one); none below one leaf.

        It is alone, or has the link down from its spine behind it.
        """
        trunks = self.trunk_links(flow)
        if not trunks:
            return ()
        first = trunks[0] if trunk < 0 else trunk
        if not self.has_spines:
            return (first,)
        spine = (first - 2 * self.hosts) % self.trunks
        return first, 2 * self.hosts + self.trunks * (self.leaf_count + self.leaves[flow.dst]) + spine

    @property
    def finite(self) -> int:
        """How many flows a scene waits for."""
        return sum(flow.counts for flow in self.flows)
