"""What several tools print of a PCI card: link, class, and from its name whether it computes or sends."""

import re

from peerlab.machine.pci import PcieLink

_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) ?GT/s")
_ACCELERATORS = re.compile(
    r"NVIDIA|\bGeForce\b|\bTesla\b|Habana|Gaudi|Instinct|Aldebaran|Arcturus|Data Center GPU|Ponte Vecchio",
    re.IGNORECASE,
)
# Makers of accelerators make switches, NICs and sound for screens as well.
_NO_ACCELERATORS = re.compile(
    r"audio|NVSwitch|USB|Type-C|UCSI|bridge|Ethernet|BlueField|ConnectX|Mellanox|InfiniBand|NVLink|ASPEED|Matrox",
    re.IGNORECASE,
)
_NICS = re.compile(
    r"ConnectX|Mellanox.{0,80}(?:MT\d|Family)|InfiniBand|Infiniband|Elastic Fabric|\bEFA\b|Slingshot|Cassini|Omni-Path|NetXtreme|"
    r"Ethernet|Network controller|BlueField.{0,80}(?:network|ConnectX)",
    re.IGNORECASE,
)
_NO_NICS = re.compile(r"bridge|SoC Management|DMA|Virtual Function", re.IGNORECASE)
_MOST_WORDS = 200
"""Letters of a card's name that are looked at; the longest that lspci knows has half of that."""
# 3D controller, processing accelerator, display controller, VGA; Ethernet, InfiniBand, other network.
_CLASSES = {
    "0302": True,
    "1200": True,
    "0380": True,
    "0300": True,
    "0200": False,
    "0207": False,
    "0280": False,
}
_LINK_LAYERS = {"0207": "infiniband", "0200": "ethernet"}
VENDORS_OF_VGA = ("10de", "1002")
"""Whose VGA controllers compute; that of another is a board's console."""


def link(name: str, speed: str, width: str) -> PcieLink | None:
    """Return a link as a tool prints it, such as ``16.0 GT/s PCIe`` and ``16``; None where it does not say it."""
    match, lanes = _SPEED.search(speed), re.fullmatch(r"x?([0-9]{1,2})", width.strip())
    if not match or not lanes or not 0 < int(lanes[1]) <= 32 or not 0 < float(match[1]) <= 256:
        return None
    return PcieLink(name, float(match[1]), int(lanes[1]))


def of_class(code: str, vendor: str) -> bool | None:
    """Return whether a card of a PCI class (``0302``) is an accelerator, False for a NIC, None for anything else."""
    if code == "0300" and vendor not in VENDORS_OF_VGA:
        return None
    return _CLASSES.get(code)


def link_layer(code: str) -> str:
    """Return what a NIC of a PCI class (``0207``) speaks; empty for any other card."""
    return _LINK_LAYERS.get(code, "")


def of_words(words: str) -> bool | None:
    """Return the same by what a card is called."""
    # bounds what the patterns with gaps have to try
    words = words[:_MOST_WORDS]
    if _ACCELERATORS.search(words) and not _NO_ACCELERATORS.search(words):
        return True
    if _NICS.search(words) and not _NO_NICS.search(words):
        return False
    return None


def maker(words: str) -> str:
    """Return the maker of a processor by its name or vendor; empty for others."""
    if re.search(r"AMD|EPYC|Ryzen", words):
        return "AMD"
    return "Intel" if re.search(r"Intel|Xeon", words) else ""
