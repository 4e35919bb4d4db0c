"""The machine as a whole: what hangs under which switch, and how far that is from the CPU."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from peerlab.machine.files import entries, text
from peerlab.machine.nics import Nic, read_nics
from peerlab.machine.pci import PciDevice, PcieLink, read_devices, read_link

HABANA, NVIDIA, _AMD, _INTEL = 0x1DA3, 0x10DE, 0x1002, 0x8086
VENDORS = {HABANA: "Gaudi", NVIDIA: "NVIDIA GPU", _AMD: "AMD GPU", _INTEL: "Intel GPU"}
"""What accelerators are called, by the vendor id of PCI."""
_COMPUTING = {0x1200, 0x0302, 0x0380}
"""PCI classes of accelerators: processing accelerator, 3D controller, display controller without a display."""
_VGA = 0x0300


@dataclass(frozen=True, kw_only=True)
class Switch:
    """What hangs under one port of the CPU: a PCIe switch with its devices, or one device."""

    numa_node: int | None
    """NUMA node of that port."""
    uplink: PcieLink | None
    """The link to the CPU."""
    accelerators: tuple[PciDevice, ...]
    """Accelerators below it."""
    nics: tuple[Nic, ...]
    """Ports of network cards below it."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What /sys and /proc say about a machine."""

    numa_nodes: tuple[int, ...]
    """NUMA nodes with CPUs."""
    processor: str
    """The CPU's name; empty where it is not said."""
    accelerators: tuple[PciDevice, ...]
    """GPUs, Gaudi and the like."""
    nics: tuple[Nic, ...]
    """Ports of network cards that are up."""
    switches: tuple[Switch, ...]
    """The CPU's ports that have an accelerator below them."""

    @property
    def hides_bridges(self) -> bool:
        """Whether no accelerator has a bridge above it, as virtual machines show them."""
        return not any(device.bridges for device in self.accelerators)

    @property
    def device_name(self) -> str:
        """What its accelerators are called; empty where there is none, or several kinds."""
        names = {VENDORS.get(device.vendor, "accelerator") for device in self.accelerators}
        return names.pop() if len(names) == 1 else ""


def read_machine(root: Path = Path("/")) -> Machine:
    """Return what ``/sys`` and ``/proc`` below `root` say; whatever cannot be read is left empty."""
    devices = read_devices(root)
    accelerators = tuple(device for device in devices if _is_accelerator(device))
    nics = _carriers(read_nics(root), {device.address: device for device in devices})
    return Machine(
        numa_nodes=tuple(_numa_nodes(root)),
        processor=_processor(root),
        accelerators=accelerators,
        nics=nics,
        switches=tuple(_switches(root, accelerators, nics, devices)),
    )


def _is_accelerator(device: PciDevice) -> bool:
    """Return whether a device computes; a VGA controller of another vendor is a board's console."""
    # its physical function is here as well, and counts
    if device.virtual_function:
        return False
    kind = device.class_code >> 8
    return kind in _COMPUTING or (kind == _VGA and device.vendor in {NVIDIA, _AMD})


def _carriers(nics: Iterable[Nic], devices: dict[str, PciDevice]) -> tuple[Nic, ...]:
    """Leave out virtual functions of cards that are here themselves, and an accelerator's own ports."""
    return tuple(
        nic
        for nic in nics
        if nic.address not in devices
        or not (devices[nic.address].virtual_function or _is_accelerator(devices[nic.address]))
    )


def _switches(
    root: Path, accelerators: Iterable[PciDevice], nics: Iterable[Nic], devices: Iterable[PciDevice]
) -> list[Switch]:
    # by the CPU's port: switch chips below one port share its link, so they are one switch (`topology`)
    below: dict[str, list[PciDevice]] = {}
    for device in accelerators:
        below.setdefault(device.root_port, []).append(device)
    port_of = {device.address: device.root_port for device in devices}
    return [
        Switch(
            numa_node=mine[0].numa_node,
            uplink=read_link(root / "sys/bus/pci/devices" / mine[0].uplink_end),
            accelerators=tuple(mine),
            nics=tuple(nic for nic in nics if port_of.get(nic.address) == port),
        )
        for port, mine in sorted(below.items())
    ]


def _numa_nodes(root: Path) -> list[int]:
    """Return the NUMA nodes that have CPUs: an accelerator's memory may be a node without any."""
    folders = entries(root / "sys/devices/system/node")
    named = [(re.fullmatch(r"node(\d+)", folder.name), folder) for folder in folders]
    return sorted(int(match[1]) for match, folder in named if match and text(folder / "cpulist"))


def _processor(root: Path) -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return match[1] if match else ""
