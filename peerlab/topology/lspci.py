"""Reads `lspci -vv` (links, NUMA nodes, ACS) and `lspci -tv` (the tree alone)."""

import re
from dataclasses import dataclass, field

from peerlab.base.errors import HardwareError
from peerlab.machine.pci import PcieLink
from peerlab.topology.pci_text import link, of_words
from peerlab.topology.topology import PciCard, Topology

TOOL_VV, TOOL_TREE = "lspci -vv", "lspci -tv"
_ADDRESS = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_SLOT = re.compile(rf"^({_ADDRESS}) (.+)$", re.MULTILINE)
_BUS = re.compile(r"Bus: primary=([0-9a-f]{2}), secondary=([0-9a-f]{2})")
_NUMA = re.compile(r"NUMA node: (\d{1,4})")
_LINK = re.compile(r"Speed ([^,]{1,40}?)(?: \([a-z]{1,20}\))?, Width (x\d{1,2})")
_REDIRECT = re.compile(r"ReqRedir([+-])")
_AMD = re.compile(
    r"Host bridge: Advanced Micro Devices|AMD\] [^\n]{0,60}Root Complex|Root Complex[^\n]{0,60}AMD"
)
_BLOCK = re.compile(rf"\n(?={_ADDRESS} )")
_TREE = re.compile(r"\s*-(?:\+-)?\[[0-9a-f]{4}(?::[0-9a-f]{2})?\]-")
_LINK_LAYERS = {"Infiniband controller": "infiniband", "Ethernet controller": "ethernet"}
_DEEPEST = 64


def looks_like_vv(text: str) -> bool:
    """Return whether a text is of ``lspci -vv``."""
    return bool(_SLOT.search(text)) and "LnkSta:" in text


def looks_like_tree(text: str) -> bool:
    """Return whether a text is of ``lspci -tv``."""
    return any(map(_TREE.match, text.splitlines()))


@dataclass
class _Device:
    address: str
    words: str
    text: str
    bridge_to: str = ""
    """The bus below it, with its domain."""
    bus: str = ""


def read_vv(text: str) -> Topology:
    """Return the topology.

    Raises
    ------
    HardwareError
        If its bridges lead in a circle, or there is no accelerator.
    """
    devices = list(map(_device, _BLOCK.split(text)))
    known = [device for device in devices if device]
    bridges = {device.bridge_to: device for device in known if device.bridge_to}
    cards, redirects = (
        [],
        [match[1] for device in known if (match := _REDIRECT.search(_behind(device.text, "ACSCtl:")))],
    )
    for device in known:
        kind = of_words(device.words)
        # a maker's bridge has the maker's name, and computes nothing
        if kind is None or device.bridge_to:
            continue
        numa = _NUMA.search(device.text)
        cards.append(
            PciCard(
                name=device.address,
                accelerator=kind,
                socket=int(numa[1]) if numa else None,
                # from the CPU's port down, as in every topology
                way=_way(device, bridges),
                link=_link(device),
                link_layer=next(
                    (layer for words, layer in _LINK_LAYERS.items() if device.words.startswith(words)), ""
                ),
                model=device.words.partition(": ")[2] or device.words,
            )
        )
    uplinks = {device.address: up for device in known if device.bridge_to and (up := _link(device))}
    return Topology(
        tool=TOOL_VV,
        cards=tuple(cards),
        uplinks=uplinks,
        # AMD first, as an AMD machine may have cards of Intel's
        cpu="AMD" if _AMD.search(text) else "Intel" if "Intel Corporation" in text else "",
        # one bridge that redirects is enough; where none says anything it stays open
        acs_redirect="+" in redirects if redirects else None,
    )  # fmt: skip


def _device(block: str) -> _Device | None:
    match = _SLOT.match(block)
    if not match:
        return None
    address = match[1] if match[1].count(":") == 2 else f"0000:{match[1]}"
    domain = address.split(":")[0]
    bus = _BUS.search(block)
    return _Device(
        address=address,
        words=match[2],
        text=block,
        bridge_to=f"{domain}:{bus[2]}" if bus else "",
        bus=address.rpartition(":")[0],
    )


def _behind(block: str, key: str) -> str:
    """Return what stands behind the first such word, on its line."""
    return block.partition(key)[2].partition("\n")[0]


def _way(device: _Device, bridges: dict[str, _Device]) -> tuple[str, ...]:
    way: list[str] = []
    bus = device.bus
    while bus in bridges:
        above = bridges[bus]
        # a text from outside may have bridges that lead to each other
        if above.address in way or len(way) > _DEEPEST:
            raise HardwareError(f"its bridges lead in a circle at {above.address}")
        way.insert(0, above.address)
        bus = above.bus
    return tuple(way)


def _link(device: _Device) -> PcieLink | None:
    """Return a link at the speed that it can train to, with the width that it has: links of idle devices slow down."""
    now, able = (_LINK.search(_behind(device.text, key)) for key in ("LnkSta:", "LnkCap:"))
    if not now:
        return None
    return link(device.address, able[1] if able else now[1], now[2])


@dataclass
class _TreeWalk:
    columns: dict[int, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    """Where branches begin: the bridges above them, and the bus that they are on."""
    cards: list[PciCard] = field(default_factory=list)


_STEP = re.compile(
    r"-?\[((?:[0-9a-f]{4}:)?[0-9a-f]{2}(?:-[0-9a-f]{2})?)\]-*|([0-9a-f]{2}\.[0-7])-?|([+\\])-|(-+)"
)


def read_tree(text: str) -> Topology:
    """Return the topology: which cards hang below which port of the CPU; the tree has neither links nor sockets.

    Raises
    ------
    HardwareError
        If nothing in it can be understood.
    """
    walk = _TreeWalk()
    for line in text.splitlines():
        _walk(line, walk)
    return Topology(
        tool=TOOL_TREE,
        cards=tuple(walk.cards),
        remarks=("the tree has neither links nor sockets: their rates and number are assumed",),
    )


def _walk(line: str, walk: _TreeWalk) -> None:
    """Follow one line of the tree, from the branch that it hangs at to the device at its end."""
    begin = re.search(r"[-+\\]", line)
    if not begin or line[: begin.start()].strip(" |"):
        return
    at = begin.start()
    way, bus = walk.columns.get(at, ((), "0000:00"))
    # A line that begins with a dash is another root; one that begins with + or \ hangs at the branch above
    # it in the same column.
    if line[at] == "-":
        way = ()
    device = ""
    while match := _STEP.match(line, at):
        if match[1]:  # a bus: what stood before it is a bridge
            domain = bus.partition(":")[0]
            number = match[1].rpartition(":")[2][:2]
            domain = match[1].partition(":")[0] if ":" in match[1] else domain
            way, bus = ((*way, device) if device else way), f"{domain}:{number}"
            device = ""
        elif match[2]:
            device = f"{bus}:{match[2]}"
        elif match[3]:
            # a later line of the same column goes on from here
            walk.columns[at] = (way, bus)
        if match.end() == at or len(way) > _DEEPEST:
            break
        at = match.end()
    words = line[at:].strip()
    kind = of_words(words) if device else None
    if kind is not None:
        walk.cards.append(PciCard(name=device, accelerator=kind, way=way, model=words))
