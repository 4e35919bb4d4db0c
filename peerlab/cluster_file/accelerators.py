"""What accelerators are called by their PCI ids, and which known cluster has figures for one like it: ``data/accelerators.toml``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from peerlab.data_file import read_facts
from peerlab.topology_file.topology import PciCard

_NVIDIA = "10de"
_VENDORS = {"NVIDIA": _NVIDIA, "Habana": "1da3", "Gaudi": "1da3", "AMD": "1002", "Advanced Micro": "1002"}


@dataclass(frozen=True)
class Accelerator:
    """One kind."""

    vendor: str
    devices: tuple[str, ...]
    """Device ids; none: every other of this vendor."""
    name: str
    generation: int
    """NVIDIA's compute capability, its first number; 0: not NVIDIA's."""
    links: int
    """NVLinks of one; 0: none."""
    like: str
    """The known cluster whose figures stand in."""


@dataclass(frozen=True)
class NvLink:
    """What one NVLink carries, GB/s per direction, by compute capability."""

    rates: dict[int, float]
    source: str


@cache
def accelerators() -> tuple[tuple[Accelerator, ...], NvLink]:
    """Return the kinds that are known, and what NVLinks carry.

    Raises
    ------
    HardwareError
        If the file is damaged.
    """
    return read_facts("accelerators.toml", "file of accelerators", _read)


def _read(document: dict[str, Any]) -> tuple[tuple[Accelerator, ...], NvLink]:
    kinds = [Accelerator(**{**one, "devices": tuple(one["devices"])}) for one in document["accelerator"]]
    link = document["nvlink"]
    return tuple(kinds), NvLink(
        {int(key): float(rate) for key, rate in link["rates"].items()}, link["source"]
    )


def kind_of(cards: Sequence[PciCard], nvlinks: int | None) -> tuple[Accelerator, str]:
    """Return the kind of some accelerators, and what it was guessed from: empty where the file has their ids or names."""
    kinds, _ = accelerators()
    card = cards[0]
    vendor = card.vendor or next((code for word, code in _VENDORS.items() if word in card.model), _NVIDIA)
    of_vendor = [one for one in kinds if one.vendor == vendor] or [
        one for one in kinds if one.vendor == _NVIDIA
    ]
    found = [one for one in of_vendor if card.device in one.devices]
    if said := found or [one for one in of_vendor if one.devices and _called(one.name, card.model)]:
        return said[0], ""
    if alike := [one for one in of_vendor if nvlinks and one.links == nvlinks]:
        return alike[0], f"taken for {alike[0].name} by its {nvlinks} NVLinks, which others may have as well"
    other = next(one for one in of_vendor if not one.devices)
    return other, f"which {other.name} it is was not recognised"


def _called(name: str, words: str) -> bool:
    """Return whether words name a kind: Gaudi2 is a Gaudi 2, and no Gaudi."""
    spelt = re.escape(name).replace(r"\ ", " ?")
    return bool(re.search(rf"\b{spelt}(?! ?\d)\b", words))
