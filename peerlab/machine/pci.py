"""PCIe devices, and the links and bridges between them and the CPU."""

# A machine's links count as fast as they can be. Idle PCIe links slow down; so `machine` takes the highest
# speed that both ends can train to, and the width as it is now. PCIe's coding and headers are subtracted
# (UCX's formula), since the paths need the rate for data.

import re
from dataclasses import dataclass
from pathlib import Path

from peerlab.machine.files import entries, link_name, number, text

_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_SPEED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?) GT/s")

# What of a lane's bits is left for packets: up to 5 GT/s a byte takes 10 bits on the line, up to 32 GT/s 16 bytes take
# 130 bits, above 236 of a flit's 256 bytes are packets.
# Then headers: 26 bytes with each payload of 256, and 16 bytes of ACK and flow control for each four (openucx/ucx topo.c).
_PAYLOAD, _HEADER, _CONTROL = 256, 26, 16 / 4


@dataclass(frozen=True)
class PcieLink:
    """A PCIe link as trained."""

    address: str
    """PCI address of the device at its lower end."""
    speed_GTps: float  # noqa: N815
    """Transfers per second and lane, 10^9."""
    lanes: int
    """Width."""

    @property
    def effective_Bps(self) -> int:  # noqa: N802
        """What is left for payload, bytes per second and direction."""
        speed = self.speed_GTps
        coding = 8 / 10 if speed <= 5 else 128 / 130 if speed <= 32 else 236 / 256
        return round(speed * 1e9 * self.lanes / 8 * coding * _PAYLOAD / (_PAYLOAD + _HEADER + _CONTROL))

    def __str__(self) -> str:
        return f"{self.speed_GTps:g} GT/s x{self.lanes}"


@dataclass(frozen=True, kw_only=True)
class PciDevice:
    """One function of a PCIe card."""

    address: str
    """Such as ``0000:17:00.0``."""
    class_code: int
    """Class, subclass and programming interface, 24 bits."""
    vendor: int
    """Vendor id."""
    numa_node: int | None
    """NUMA node it is nearest to; None where the firmware does not say."""
    bridges: tuple[str, ...]
    """Addresses of the bridges above it, the CPU's root port first."""
    link: PcieLink | None
    """Its own link; None on virtual devices."""
    virtual_function: bool
    """Whether it is a part (SR-IOV) of another device of this machine."""
    driver: str
    """Name of the driver that has it; empty where none has."""

    @property
    def root_port(self) -> str:
        """Address of the CPU's port that its bytes pass; its own where no bridge is above it."""
        return (*self.bridges, self.address)[0]

    @property
    def uplink_end(self) -> str:
        """Address of what hangs at that port: a switch, or the device itself."""
        return (*self.bridges, self.address)[1 if self.bridges else 0]


def card_address(folder: Path) -> str:
    """Return the PCI address of a class device's card, through virtio and alike; empty for a virtual one."""
    try:
        parts = (folder / "device").resolve(strict=True).parts
    except OSError:
        return ""
    addresses = [part for part in parts if _ADDRESS.fullmatch(part)]
    return addresses[-1] if addresses else ""


def read_link(folder: Path) -> PcieLink | None:
    """Return the link of the device at `folder` with the speed it can train to: links of idle devices slow down."""
    speeds = [_SPEED.match(text(folder / name) or "") for name in ("current_link_speed", "max_link_speed")]
    # the port at the upper end may be of an older generation
    above = _SPEED.match(text(folder.resolve().parent / "max_link_speed") or "")
    lanes = number(folder / "current_link_width")
    values = [float(speed[1]) for speed in speeds if speed]
    if not values or not lanes or lanes > 32:  # a port without a partner says 0 or 63 lanes
        return None
    return PcieLink(folder.name, min(max(values), float(above[1]) if above else max(values)), lanes)


def read_devices(root: Path) -> list[PciDevice]:
    """Return every PCI device below ``/sys`` of `root`, by address."""
    return [device for folder in entries(root / "sys/bus/pci/devices") if (device := _read_device(folder))]


def _read_device(folder: Path) -> PciDevice | None:
    class_code, vendor = number(folder / "class", 16), number(folder / "vendor", 16)
    if class_code is None or vendor is None:
        return None
    node = number(folder / "numa_node")
    way = [part for part in folder.resolve().parts if _ADDRESS.fullmatch(part)]
    return PciDevice(
        address=folder.name,
        class_code=class_code,
        vendor=vendor,
        # -1: the firmware does not say
        numa_node=node if node is not None and node >= 0 else None,
        bridges=tuple(part for part in way if part != folder.name),
        link=read_link(folder),
        virtual_function=(folder / "physfn").exists(),
        driver=link_name(folder / "driver"),
    )
