"""Reads hwloc's `lstopo --of xml`: packages, NUMA nodes, bridges and PCI devices."""

import re
from collections.abc import Iterator

from peerlab.base.errors import HardwareError
from peerlab.machine.pci import PcieLink
from peerlab.topology.pci_text import link_layer, maker, of_class
from peerlab.topology.safe_xml import Element
from peerlab.topology.topology import PciCard, Topology

TOOL = "lstopo (hwloc)"
_TYPE = re.compile(r"([0-9a-f]{4}) \[([0-9a-f]{4}):([0-9a-f]{4})\]")
# Joins the CPU and its first bus, which is no PCIe bridge.
_HOST_BRIDGE = "0-1"
_LANES = 16
# From the oldest on: hwloc has the rate alone, and an older link with more lanes is the likelier one.
_GTPS = (2.5, 5.0, 8.0, 16.0, 32.0, 64.0)


def looks_like(root: Element) -> bool:
    """Return whether an XML is of this tool."""
    return root.tag == "topology" and any(child.tag == "object" for child in root.children)


def read(root: Element) -> Topology:
    """Return the topology.

    Raises
    ------
    HardwareError
        If it has no PCI devices: lstopo shows them with ``--whole-io`` only, or not at all in a container.
    """
    cards = list(_cards(root, None, ()))
    if not cards:
        raise HardwareError(
            "it has no PCI device that computes or sends; write it with lstopo --whole-io --of xml"
        )
    words = " ".join(info.get("value") for info in _all(root) if info.get("name").startswith("CPU"))
    uplinks: dict[str, PcieLink] = {}
    for element in _all(root):
        pcie_link = _link(element)
        if pcie_link and element.get("type") == "Bridge" and element.get("pci_busid"):
            uplinks[element.get("pci_busid")] = pcie_link
    return Topology(tool=TOOL, cards=tuple(cards), uplinks=uplinks, cpu=maker(words))


def _all(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _all(child)


def _cards(element: Element, socket: int | None, way: tuple[str, ...]) -> Iterator[PciCard]:
    if element.get("type") in ("NUMANode", "Package", "Socket"):
        socket = _index(element.get("os_index"), socket)
    numa = next((child for child in element.children if child.get("type") == "NUMANode"), None)
    if numa:  # hwloc 2 has NUMA nodes beside what is near them
        socket = _index(numa.get("os_index"), socket)
    if element.get("type") == "Bridge" and element.get("bridge_type") != _HOST_BRIDGE:
        way = (*way, element.get("pci_busid") or element.get("gp_index"))
    if element.get("type") == "PCIDev" and (card := _card(element, socket, way)):
        yield card
    for child in element.children:
        yield from _cards(child, socket, way)


def _index(text: str, otherwise: int | None) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 6 else otherwise


def _card(element: Element, socket: int | None, way: tuple[str, ...]) -> PciCard | None:
    match = _TYPE.match(element.get("pci_type"))
    kind = of_class(match[1], match[2]) if match else None
    if not match or kind is None:
        return None
    devices = [child for child in element.children if child.get("type") == "OSDev"]
    names = [device.get("name") for device in devices]
    # what people call a NIC; an accelerator goes by its address in all tools
    name = next((nic for nic in names if nic.startswith(("mlx", "efa", "rdmap", "hsn", "cxi", "ib"))), "")
    return PciCard(
        name=name if name and not kind else element.get("pci_busid"),
        accelerator=kind,
        vendor=match[2],
        device=match[3],
        socket=socket,
        way=way,
        link=_link(element),
        link_layer=link_layer(match[1]),
        model=next(
            (child.get("value") for child in element.children if child.get("name") == "PCIDevice"), ""
        ),
    )


def _link(element: Element) -> PcieLink | None:
    """Return a link from its rate, which is all that hwloc tells: the oldest generation that reaches it with at most 16 lanes."""
    try:
        rate = float(element.get("pci_link_speed"))
    except ValueError:
        return None
    name = element.get("pci_busid")
    for speed in _GTPS:
        coding = 8 / 10 if speed <= 5 else 128 / 130
        lanes = rate * 8 / speed / coding
        whole = round(lanes)
        # hwloc's rate is rounded
        if 1 <= whole <= _LANES and abs(lanes - whole) < 0.05 * whole and whole in (1, 2, 4, 8, 16):
            return PcieLink(name, speed, whole)
    return None
