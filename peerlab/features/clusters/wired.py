"""How the nodes of a topology are wired, as a cluster file says it: all switches alike, all NICs at one kind of place."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.base.units import say_count
from peerlab.model.nic_wiring import OTHER_SOCKET, ROOT_PORT, SWITCH, OtherWiring, Wiring
from peerlab.topology.topology import NEAR, PHB, SYS, PciCard, Topology, joined, nearest

_PLACES = {PHB: ROOT_PORT, SYS: OTHER_SOCKET}


@dataclass(frozen=True)
class Wired:
    """The counts of a node, and where its NICs hang."""

    sockets: int
    switches: int
    """Per socket: PCIe switches, or ports of the CPU, with accelerators."""
    devices: int
    """Per switch."""
    nics: int
    """Per switch: NICs that serve its accelerators."""
    ports: int
    """NICs of the machine that are counted as one, where an accelerator has several."""
    uplinks: int
    """Links to the CPU that are counted as one uplink, where several groups of accelerators are taken as one."""
    carriers: tuple[PciCard, ...]
    """The NICs that carry the collective."""
    wiring: Wiring
    remarks: tuple[str, ...]
    """What had to be assumed to take all as alike, a sentence each."""


def wired(topology: Topology, source: str) -> Wired:
    """Return how a topology is wired; `source` says where it was read."""
    remarks: list[str] = []
    cards, groups = topology.accelerators, joined(topology)
    carriers = _carriers(topology)
    groups_count, sockets = _alike(topology, groups, carriers, remarks)
    each, ports = len(carriers) / groups_count, 1
    devices = len(cards) // groups_count
    if each > devices:  # an accelerator uses one NIC here: its several are counted as one
        ports = round(each / devices)
        each = devices
        remarks.append(f"an accelerator has {ports} NICs, which are counted as one")
    return Wired(
        sockets=sockets,
        switches=groups_count // sockets,
        devices=devices,
        nics=max(1, round(each)),
        ports=ports,
        uplinks=max(1, len(groups) // groups_count),
        carriers=carriers,
        wiring=_wiring(topology, carriers, source),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _carriers(topology: Topology) -> tuple[PciCard, ...]:
    """Return the NICs that carry the collective: those near an accelerator, else those at its CPU, the fastest of them.

    Where no rate is known, those with the fastest PCIe link: beside them a node often has a slower one for its own traffic.
    """
    nics = topology.nics
    known = any(nic.rate_bps for nic in nics)
    rates = [(nic.rate_bps if known else nic.link and nic.link.effective_Bps) or 0 for nic in nics]
    # A node's second, slower NIC is for its own traffic.
    some = [nic for nic, rate in zip(nics, rates, strict=True) if rate == max(rates)]
    for distances in (NEAR, (PHB,)):
        near = [
            nic for nic in some if any(topology.distance(card, nic) in distances for card in topology.accelerators)
        ]  # fmt: skip
        if near:
            return tuple(near)
    return tuple(some)


def _alike(
    topology: Topology, groups: Sequence[Sequence[PciCard]], carriers: Sequence[PciCard], remarks: list[str]
) -> tuple[int, int]:
    """Return how many groups there are, and at how many sockets, if all are taken as alike: fewer, where they differ."""
    cards = topology.accelerators
    numbers = {card.socket for card in cards}
    if None in numbers:
        remarks.append("it does not say at which socket each accelerator is; one is assumed")
    sockets = 1 if None in numbers else len(numbers)
    sizes = [len(group) for group in groups]
    if len(set(sizes)) > 1:
        remarks.append(f"its switches have {', '.join(map(str, sizes))} accelerators; all are taken as alike")
    # As they are; else one group for each socket; else the whole node as one group.
    for count in (len(groups), sockets, 1):
        even = len(cards) % count == 0 and count % sockets == 0
        if (
            # NICs must divide evenly among groups: half a NIC cannot be described.
            even
            and (not carriers or len(carriers) % count == 0)
            and (len(set(sizes)) == 1 or count != len(groups))
        ):
            return count, sockets
        if count == len(groups) and carriers and len(carriers) % count:
            remarks.append(
                f"{say_count(len(carriers), 'NIC')} for {len(groups)} groups of accelerators; several groups are taken as one, with their uplinks together"
            )
    remarks.append("its sockets differ; the node is taken as one socket")
    return 1, 1


def _wiring(topology: Topology, carriers: Sequence[PciCard], source: str) -> Wiring:
    """Return where the NICs hang: what most accelerators have, with what the others have as possible, too."""
    distances = [nearest(topology, card, carriers) for card in topology.accelerators]
    places = Counter(SWITCH if distance in NEAR else _PLACES.get(distance, "") for distance in distances)
    order = (SWITCH, ROOT_PORT, OTHER_SOCKET)  # of equally many the nearest
    # The place of most accelerators comes first: it is the one that is taken for all.
    names = sorted(
        (place for place in places if place), key=lambda place: (-places[place], order.index(place))
    )
    redirect = bool(topology.acs_redirect)
    if not names:
        # Nothing is known: both other places are possible, so the gain is simulated for these, too.
        others: tuple[OtherWiring, ...] = (OtherWiring(nic=ROOT_PORT), OtherWiring(nic=OTHER_SOCKET))
        why = "below the accelerators' switch; the file does not say it"
        return Wiring(assumption=why, acs_redirect=redirect, others=others)
    if len(places) == 1:
        return Wiring(nic=names[0], acs_redirect=redirect, source=source)
    counted = ", ".join(
        f"{count} accelerators have {distance or 'unknown'}" for distance, count in Counter(distances).items()
    )
    others = tuple(OtherWiring(nic=place, because="some accelerators have it") for place in names[1:])
    return Wiring(
        nic=names[0],
        acs_redirect=redirect,
        source=source,
        assumption=f"the distance that most accelerators have ({counted})",
        check="each accelerator has its own distance; peerlab takes one for all",
        others=others,
    )
