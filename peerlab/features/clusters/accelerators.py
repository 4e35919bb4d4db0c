"""What accelerators are called by their PCI ids, and which known cluster has figures for one like it: ``data/accelerators.toml``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from peerlab.base.data_file import read_facts
from peerlab.machine.pci import PcieLink
from peerlab.topology.topology import PciCard

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
    pcie_GTps: float  # noqa: N815
    """Speed of its PCIe lanes, 10^9 transfers a second; 0: not given."""
    like: str
    """The known cluster whose figures stand in."""


@dataclass(frozen=True)
class NvLink:
    """What one NVLink carries, GB/s per direction, by compute capability."""

    rates: dict[int, float]
    source: str


@dataclass(frozen=True)
class NicRates:
    """What a NIC in a slot of 16 lanes usually has, Gbit/s per direction, by the speed of a lane in GT/s."""

    rates: dict[float, float]
    source: str

    def usual_Gbps(self, link: PcieLink | None) -> float:  # noqa: N802
        """Return the usual rate of a NIC with a PCIe link, Gbit/s; 0 where nothing is known."""
        return self.rates.get(link.speed_GTps, 0.0) * link.lanes / 16 if link else 0.0


@cache
def accelerators() -> tuple[tuple[Accelerator, ...], NvLink, NicRates]:
    """Return the kinds that are known, what NVLinks carry, and what NICs usually have.

    Raises
    ------
    HardwareError
        If the file is damaged.
    """
    return read_facts("accelerators.toml", "file of accelerators", _read)


def _read(document: dict[str, Any]) -> tuple[tuple[Accelerator, ...], NvLink, NicRates]:
    kinds = [
        Accelerator(**{"pcie_GTps": 0, **entry, "devices": tuple(entry["devices"])})
        for entry in document["accelerator"]
    ]
    link, nic = document["nvlink"], document["nic"]
    return (
        tuple(kinds),
        NvLink({int(key): float(rate) for key, rate in link["rates"].items()}, link["source"]),
        NicRates({float(key): float(rate) for key, rate in nic["rates"].items()}, nic["source"]),
    )


def kind_of(cards: Sequence[PciCard], nvlinks: int | None) -> tuple[Accelerator, str]:
    """Return the kind of some accelerators, and what it was guessed from: empty where the file has their ids or names."""
    kinds, *_ = accelerators()
    card = cards[0]
    # `nvidia-smi topo -m` names no vendor, and is NVIDIA's.
    vendor = card.vendor or next((code for word, code in _VENDORS.items() if word in card.model), _NVIDIA)
    of_vendor = [accelerator for accelerator in kinds if accelerator.vendor == vendor] or [
        accelerator for accelerator in kinds if accelerator.vendor == _NVIDIA
    ]
    by_id = [accelerator for accelerator in of_vendor if card.device in accelerator.devices]
    if matches := by_id or [
        accelerator
        for accelerator in of_vendor
        if accelerator.devices and _called(accelerator.name, card.model)
    ]:
        return matches[0], ""
    if alike := [accelerator for accelerator in of_vendor if nvlinks and accelerator.links == nvlinks]:
        return alike[0], f"taken for {alike[0].name} by its {nvlinks} NVLinks, which others may have as well"
    # The kind without device ids stands for every other of its vendor.
    other = next(kind for kind in of_vendor if not kind.devices)
    unknown = f"which {other.name} it is was not recognised"
    speed = card.link.speed_GTps if card.link else 0
    linked = nvlinks != 0  # a file that shows no NVLink of any is of an accelerator without
    of_speed = (
        kind for kind in of_vendor if speed and kind.pcie_GTps == speed and bool(kind.links) == linked
    )
    if same_link := next(of_speed, None):
        guess = f"by its PCIe link of {speed:g} GT/s the figures of {same_link.name} are taken"
        return replace(same_link, name=other.name), f"{unknown}; {guess}"
    return other, unknown


def _called(name: str, words: str) -> bool:
    """Return whether words name a kind: Gaudi2 is a Gaudi 2, and no Gaudi."""
    # With or without a space: Gaudi2 and Gaudi 2. A number behind it would be the name of another kind.
    spelt = re.escape(name).replace(r"\ ", " ?")
    return bool(re.search(rf"\b{spelt}(?! ?\d)\b", words))
