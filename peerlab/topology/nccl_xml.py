"""Reads NCCL's topology as XML: what NCCL_TOPO_DUMP_FILE writes, and what NCCL_TOPO_FILE gives it."""

from collections.abc import Iterator

from peerlab.base.errors import HardwareError
from peerlab.topology.pci_text import link, link_layer, maker, of_class
from peerlab.topology.safe_xml import Element
from peerlab.topology.topology import PciCard, Topology, are_islands

TOOL = "NCCL's topology"
_BRIDGE = "0604"


def looks_like(root: Element) -> bool:
    """Return whether an XML is of this tool."""
    return root.tag == "system" and any(child.tag == "cpu" for child in root.children)


def read(root: Element) -> Topology:
    """Return the topology.

    Raises
    ------
    HardwareError
        If it names no accelerator.
    """
    cpus = [child for child in root.children if child.tag == "cpu"]
    rows = [card for index, cpu in enumerate(cpus) for card in _cards(cpu, _socket(cpu, index), ())]
    remarks = []
    if not any(card.accelerator for card, _ in rows):
        # files that somebody wrote for NCCL_TOPO_FILE may have addresses alone
        rows, warning = _without_classes(cpus)
        remarks.append(warning)
    uplinks = {
        element.get("busid"): known
        for cpu in cpus
        for element in cpu.children
        if (known := link(element.get("busid"), element.get("link_speed"), element.get("link_width")))
    }
    accelerators = [card.name for card, _ in rows if card.accelerator]
    links = list(_links(root))
    return Topology(
        tool=TOOL,
        cards=tuple(card for card, _ in rows),
        uplinks=uplinks,
        cpu=next((maker(cpu.get("vendor").replace("Genuine", " ")) for cpu in cpus), ""),
        nvlinks=max((count for _, count in rows if count is not None), default=None),
        islands=bool(links) and are_islands(accelerators, links),
        remarks=tuple(remarks),
    )


def _socket(cpu: Element, index: int) -> int:
    numa = cpu.get("numaid")
    return int(numa) if numa.isdecimal() and len(numa) < 6 else index


def _cards(element: Element, socket: int, way: tuple[str, ...]) -> Iterator[tuple[PciCard, int | None]]:
    """Yield the cards below a CPU or bridge, each with the NVLinks that it has; None: not said."""
    for device in element.children:
        if device.tag == "nic":  # a NIC without a PCI device of its own, as in virtual machines
            yield from ((_nic(net, socket, way, None), None) for net in device.children if net.tag == "net")
        if device.tag != "pci":
            continue
        # classes and vendors are written as 0x030200 and 0x10de
        busid, code = device.get("busid"), device.get("class")[2:6]
        nets = [
            net for nic in device.children if nic.tag == "nic" for net in nic.children if net.tag == "net"
        ]
        gpu = next((child for child in device.children if child.tag == "gpu"), None)
        # what NCCL found in a card says more than its class
        kind = True if gpu else False if nets else of_class(code, device.get("vendor")[2:])
        if code == _BRIDGE:
            yield from _cards(device, socket, (*way, busid))
        elif kind is False and nets:
            # several nets of one card share its PCIe link
            yield from ((_nic(net, socket, way, device), None) for net in nets[:1])
        elif kind is not None:
            links = (
                sum(_number(each.get("count")) for each in gpu.children if each.tag == "nvlink")
                if gpu
                else None
            )
            yield _card(device, socket, way, accelerator=kind), links


def _links(element: Element, busid: str = "") -> Iterator[tuple[str, str]]:
    """Yield from where to where each NVLink leads: to another accelerator, or to a switch, all of which are one."""
    for child in element.children:
        if child.tag == "nvlink":
            # PCI classes of GPUs; anything else at the end of an NVLink is a switch
            to_gpu = child.get("tclass").startswith(("0x0302", "0x0300"))
            yield busid, child.get("target") if to_gpu else "switch"
        else:
            yield from _links(child, child.get("busid") or busid)


def _card(element: Element, socket: int, way: tuple[str, ...], *, accelerator: bool) -> PciCard:
    busid = element.get("busid")
    return PciCard(
        name=busid,
        accelerator=accelerator,
        vendor=element.get("vendor")[2:],
        device=element.get("device")[2:],
        socket=socket,
        way=(*way, busid),  # other tools show a port of the switch for each card
        link=link(busid, element.get("link_speed"), element.get("link_width")),
        link_layer=link_layer(element.get("class")[2:6]),
    )


def _nic(net: Element, socket: int, way: tuple[str, ...], pci: Element | None) -> PciCard:
    megabits = _number(net.get("speed"))
    pcie_link = link(pci.get("busid"), pci.get("link_speed"), pci.get("link_width")) if pci else None
    return PciCard(
        name=net.get("name") or (pci.get("busid") if pci else "NIC"),
        accelerator=False,
        vendor=pci.get("vendor")[2:] if pci else "",
        device=pci.get("device")[2:] if pci else "",
        socket=socket,
        way=(*way, pci.get("busid")) if pci else (),
        link=pcie_link,
        link_layer=link_layer(pci.get("class")[2:6]) if pci else "",
        rate_bps=megabits * 1e6 or None,
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _without_classes(cpus: list[Element]) -> tuple[list[tuple[PciCard, int | None]], str]:
    """Return the cards of a file that says only where they are: as many accelerators at each CPU, what is listed beyond is a NIC."""
    each = [
        [child for child in cpu.children if child.tag == "pci" and not child.get("class")] for cpu in cpus
    ]
    fewest = min(map(len, each), default=0)
    if not fewest:
        raise HardwareError("it names no accelerator")
    rows: list[tuple[PciCard, int | None]] = [
        (_card(device, _socket(cpu, index), (), accelerator=place < fewest), None)
        for index, (cpu, devices) in enumerate(zip(cpus, each, strict=True))
        for place, device in enumerate(devices)
    ]
    return rows, (
        f"the file gives its {len(rows)} PCI devices no class: {fewest} at each CPU are taken for accelerators, what is listed beyond for NICs"
    )
