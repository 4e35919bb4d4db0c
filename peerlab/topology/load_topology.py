"""Reads a topology, whatever tool printed it."""

from dataclasses import replace
from pathlib import Path

from peerlab.base.errors import HardwareError, one_line
from peerlab.base.textfile import read_bytes
from peerlab.base.units import say_bytes
from peerlab.topology import lspci, lstopo, nccl_xml, nvidia_smi
from peerlab.topology.safe_xml import Element, read_xml
from peerlab.topology.topology import PciCard, Topology, check_number

MOST_BYTES = 2**20
"""A topology is small; whatever is larger is something else."""
_LONGEST_LINE = 8192
"""Letters of a line that are looked at; a matrix of 144 devices has 2,000."""
_TOO_LARGE = "no topology is as large"
_NAMELESS = ("", "nic")
# Of a file that holds the output of several tools the first that is recognised is read.
_XML = ((nccl_xml.looks_like, nccl_xml.read), (lstopo.looks_like, lstopo.read))
_TEXT = (
    (nvidia_smi.looks_like, nvidia_smi.read),
    (lspci.looks_like_tree, lspci.read_tree),
    (lspci.looks_like_vv, lspci.read_vv),
)
TOOLS = (nccl_xml.TOOL, nvidia_smi.TOOL, lstopo.TOOL, lspci.TOOL_TREE, lspci.TOOL_VV)
"""Tools whose files are understood."""


def load_topology(path: str | Path) -> Topology:
    """Return the topology that a file describes.

    Raises
    ------
    HardwareError
        One line: the file cannot be read, is of another tool, cut, too large, or names no accelerator.
    """
    data = read_bytes(
        path,
        most_bytes=MOST_BYTES,
        too_large=_TOO_LARGE,
        error=HardwareError,
    )
    try:
        return read_topology(data)
    except HardwareError as problem:
        raise HardwareError(f"{one_line(path)}: {problem}") from None


def read_topology(data: bytes) -> Topology:
    """Return the topology that the text of a file describes.

    Raises
    ------
    HardwareError
        One line: it is of another tool, cut, too large, or names no accelerator.
    """
    if len(data) > MOST_BYTES:
        raise HardwareError(f"larger than {say_bytes(MOST_BYTES)}; {_TOO_LARGE}")
    topology = _read(data)
    # before cards are counted: a dump that repeats itself is of no larger machine
    topology = _each_once(topology)
    check_number(len(topology.accelerators), len(topology.nics))
    if not topology.accelerators:
        raise HardwareError(f"{topology.tool} names no accelerator here")
    return topology


def _read(data: bytes) -> Topology:
    # an editor may have put a byte order mark before it
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        root: Element = read_xml(data.lstrip(b"\xef\xbb\xbf \t\r\n"))
        for looks_like, read in _XML:
            if looks_like(root):
                return read(root)
        raise HardwareError(
            f"an XML with <{root.tag[:40]}> at its top is of no tool that is known; {_known_tools()}"
        )
    # A card may be called anything. What is looked for is ASCII, so a letter that is none does no harm.
    lines = data.decode("utf-8", "replace").splitlines()
    text = "\n".join(line[:_LONGEST_LINE] for line in lines)
    for looks_like_text, read_text in _TEXT:
        if looks_like_text(text):
            return read_text(text)
    raise HardwareError(f"this is of no tool that is known; {_known_tools()}")


def _each_once(topology: Topology) -> Topology:
    """Return a topology without the cards that are given again."""
    cards: dict[str, PciCard] = {}
    for number, card in enumerate(topology.cards):
        # addresses are hexadecimal, and tools write them in small letters or in large ones
        name = card.name.casefold()
        # cards without a name are not the same card
        cards.setdefault(f"{number} of no name" if name in _NAMELESS else name, card)
    again = len(topology.cards) - len(cards)
    if not again:
        return topology
    remark = f"{again} of its {len(topology.cards)} cards are given twice, and count as one each"
    return replace(topology, cards=tuple(cards.values()), remarks=(*topology.remarks, remark))


def _known_tools() -> str:
    return f"known are {', '.join(TOOLS)}"
