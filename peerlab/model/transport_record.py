"""What a transport is to a scenario: its packets, what a hop over it takes, and how many messages a NIC sends a second."""

# A transport adds bytes and hops, and takes nothing over. Headers lengthen what NICs and links serve; spans
# keep counting the message's own bytes, so that copies per byte and races mean the same on every transport.
# A latency that a cluster's file or its library says was measured or defined as a whole; so it stays the
# total, and only hops and metres beyond the transport's own are added. Only where a file leaves
# `fabric.latency` out is it worked out from base, switches and cable. *NIC messages* stands in the chain
# before the NIC: a message takes what it costs or what its bytes take, whichever is longer.
# `nic.per_message` bounds the NIC, a library's cost per message its proxy. A cluster that names no
# transport has the spans of before.

from collections.abc import Mapping
from dataclasses import dataclass

from peerlab.base.errors import ScenarioError
from peerlab.base.units import say_count
from peerlab.model.effective_machine import Change
from peerlab.model.hardware import Cluster, Figure

NIC_MAKERS = ("Amazon", "Google")
"""Makers of NICs, of whom a library's sockets know something."""


@dataclass(frozen=True)
class TransportRecord:
    """One transport, as its file says it. Figures are those of `peerlab.model.hardware.Cluster` whose keys begin with ``transport.``, and ``nic.per_message``."""

    name: str
    title: str
    """Name for people."""
    summary: str
    """What it is, in a sentence."""
    rdma: bool
    """Whether a NIC does RDMA over it; kernel TCP does not."""
    mtus: tuple[int, ...]
    """Packet sizes that it allows, bytes; empty: it has none, or `mtu_range` says it."""
    mtu_range: tuple[int, int] | None
    """Its smallest and largest packet, where every size between them is allowed."""
    instead: Mapping[str, str]
    """By data path the transport that serves it in place of this one."""
    figures: Mapping[str, Figure]
    """Its figures, by key."""
    nic_maker: str = ""
    """The one maker whose NICs speak it (`NIC_MAKERS`); empty: those of several do."""

    def __hash__(self) -> int:
        """Return the hash of its name: transports are few."""
        return hash(self.name)

    @property
    def allows(self) -> str:
        """Which packet sizes there are, in words."""
        if self.mtu_range:
            return f"{self.mtu_range[0]} to {self.mtu_range[1]} bytes"
        *others, last = map(str, self.mtus)
        return f"{', '.join(others)} or {last} bytes" if others else f"{last} bytes"

    def takes(self, mtu: int) -> bool:
        """Return whether it allows packets of so many bytes."""
        # without a range nothing lies between 0 and -1
        low, high = self.mtu_range or (0, -1)
        return mtu in self.mtus or low <= mtu <= high

    def check_mtu(self, mtu: int) -> None:
        """Refuse a packet size that the transport forbids.

        Raises
        ------
        ScenarioError
            With what it allows.
        """
        if not self.mtus and not self.mtu_range:
            raise ScenarioError("mtu", f"{self.title} has no packets; leave it out")
        if not self.takes(mtu):
            raise ScenarioError("mtu", f"{self.title} allows {self.allows}, not {mtu}")


def wire_bytes(cluster: Cluster, nbytes: int) -> int:
    """Return the bytes that a message occupies on the wire: its own, the headers of its packets, and what its first packet has more.

    ``wire(s) = s + ceil(s / payload) header + first``; without a transport, or an ideal one, its own bytes.

    >>> from peerlab.question.scenario import Scenario
    >>> wire_bytes(Scenario(cluster="ideal-100g", transport="roce", mtu=1024).hardware, 8)
    106
    """
    # no transport, or an ideal one
    if not cluster.header_bytes:
        return nbytes
    inside = cluster.inside_bytes or 0
    packets = -(-nbytes // (cluster.mtu_bytes - inside))
    # headers inside the MTU come on top too: `nbytes` counts payload alone
    return nbytes + packets * (cluster.header_bytes + inside) + (cluster.first_header_bytes or 0)


def goodput(cluster: Cluster) -> float:
    """Return the share of a full packet that is payload, 0 to 1: ``mtu / (mtu + header)``, less what lies inside the MTU."""
    if not cluster.header_bytes:
        return 1.0
    return (cluster.mtu_bytes - (cluster.inside_bytes or 0)) / (cluster.mtu_bytes + cluster.header_bytes)


def flight(cluster: Cluster, by: str) -> list[Change]:
    """Return what makes the latency of a cluster that leaves it to its transport, without the way: ``base``."""
    if not cluster.leaves_latency:
        return []
    base = cluster.base_ps or 0
    return [Change(how="is", amount=base, by=by, why="both NICs", figures=("transport.base",))]


def way(cluster: Cluster, hops: int, metres: float, by: str) -> list[Change]:
    """Return what switches and cable add to a latency: ``hops x switch + metres x per metre``."""
    told = (
        (hops * (cluster.switch_ps or 0), say_count(hops, "switch"), "transport.switch"),
        (round(metres * (cluster.metre_ps or 0)), f"{metres:g} m of cable", "transport.per_metre"),
    )
    return [
        Change(how="plus", amount=amount, by=by, why=why, figures=(key,))
        for amount, why, key in told
        if amount
    ]
