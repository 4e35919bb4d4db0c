"""What is known of a machine's topology, whatever tool printed it: cards, what joins them, and how far they are apart."""

# All PCIe switch chips below one port of the CPU are one switch. They share that port's link, and a detour
# through the host sees nothing else of them.

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from peerlab.base.errors import HardwareError
from peerlab.machine.pci import PcieLink

PIX, PXB, PHB, SYS = "PIX", "PXB", "PHB", "SYS"
"""Distances in the words of nvidia-smi topo -m, nearest first; NODE (two bridges of one CPU) counts as PHB."""
NEAR = (PIX, PXB)
"""Distances that do not cross the CPU."""
_MOST_CARDS = 72
"""Accelerators of a node, and NICs likewise: the largest have 32 NICs, and a rack of 72 accelerators is many nodes."""


@dataclass(frozen=True, kw_only=True)
class PciCard:
    """An accelerator or a NIC."""

    name: str
    """PCI address of the card, or the tool's name of it."""
    accelerator: bool
    """Whether it is an accelerator; else a NIC."""
    vendor: str = ""
    """Vendor id of PCI, four hexadecimal digits; empty where the tool does not say it."""
    device: str = ""
    """Device id likewise."""
    socket: int | None = None
    """CPU socket (NUMA node) that it is nearest to; None: not said."""
    way: tuple[str, ...] = ()
    """Bridges above it, the CPU's port first; empty: none, or not said."""
    link: PcieLink | None = None
    """Its PCIe link; None: not said."""
    rate_bps: float | None = None
    """Of a NIC: line rate, bits per second and direction; None: not said."""
    link_layer: str = ""
    """Of a NIC: ``infiniband`` or ``ethernet``; empty: not said."""
    model: str = ""
    """The card in the tool's words."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """One machine."""

    tool: str
    """The tool that printed it, such as ``nvidia-smi topo -m``."""
    cards: tuple[PciCard, ...]
    """Accelerators and NICs."""
    distances: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By accelerator and NIC, or by two accelerators: how far they are apart; what is not there is not known."""
    uplinks: Mapping[str, PcieLink] = field(default_factory=dict)
    """By the first bridge of `PciCard.way`: the link of the switch to the CPU."""
    cpu: str = ""
    """Maker of the processor, ``AMD`` or ``Intel``; empty: not said."""
    nvlinks: int | None = None
    """NVLinks of one accelerator, all together; 0: none; None: not said."""
    islands: bool = False
    """Whether NVLinks join some of the accelerators alone, so that what all exchange crosses PCIe."""
    acs_redirect: bool | None = None
    """Whether a bridge redirects what goes from card to card; None: not said."""
    remarks: tuple[str, ...] = ()
    """What the file leaves open, or what was assumed to read it, a sentence each."""

    @property
    def accelerators(self) -> tuple[PciCard, ...]:
        """Its accelerators."""
        return tuple(card for card in self.cards if card.accelerator)

    @property
    def nics(self) -> tuple[PciCard, ...]:
        """Its NICs."""
        return tuple(card for card in self.cards if not card.accelerator)

    def distance(self, one: PciCard, other: PciCard) -> str:
        """Return how far two cards are apart; empty: not known."""
        # what the tool says itself comes before what follows from bridges
        name = self.distances.get((one.name, other.name)) or self.distances.get((other.name, one.name))
        return name or apart(one, other)


def check_number(accelerators: int, nics: int = 0) -> None:
    """Refuse what is no node.

    Raises
    ------
    HardwareError
        If it has more accelerators or NICs than any node.
    """
    for number, what in ((accelerators, "accelerators"), (nics, "NICs")):
        if number > _MOST_CARDS:
            raise HardwareError(f"{number} {what} are more than any node has; {_MOST_CARDS} are the most")


def apart(one: PciCard, other: PciCard) -> str:
    """Return how far two cards are apart by the bridges above them, then by their sockets; empty: not known."""
    if one.way and other.way and one.way[0] == other.way[0]:
        # the last bridge is a card's own port of the switch, so two cards of one switch differ in it
        return PIX if one.way[:-1] == other.way[:-1] or one.way == other.way else PXB
    if one.socket is None or other.socket is None:
        return ""
    return PHB if one.socket == other.socket else SYS


def nearest(topology: Topology, card: PciCard, others: Iterable[PciCard]) -> str:
    """Return the shortest distance from a card to any of some others; empty: none is known."""
    distances = {topology.distance(card, other) for other in others}
    return next((distance for distance in (PIX, PXB, PHB, SYS) if distance in distances), "")


def are_islands(accelerators: Iterable[str], links: Iterable[tuple[str, str]]) -> bool:
    """Return whether links leave some accelerators apart; an end that is none of them is a switch, which joins all that it links."""
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while above.setdefault(name, name) != name:
            above[name] = above[above[name]]  # half the way for who asks next
            name = above[name]
        return name

    for end, other in links:
        above[top(end)] = top(other)
    return len({top(name) for name in accelerators}) > 1


def joined(topology: Topology) -> list[tuple[PciCard, ...]]:
    """Return the accelerators in groups: those that share a PCIe switch, or a NIC that is near both."""
    near = {
        card.name: {nic.name for nic in topology.nics if topology.distance(card, nic) in NEAR}
        for card in topology.accelerators
    }
    groups: list[list[PciCard]] = []
    for card in topology.accelerators:
        shares = [
            group
            for group in groups
            if any(
                near[card.name] & near[member.name] or topology.distance(card, member) in NEAR
                for member in group
            )
        ]
        # a card may be near two groups: then they are one
        groups = [group for group in groups if group not in shares]
        groups.append([*(member for group in shares for member in group), card])
    return [tuple(group) for group in groups]
