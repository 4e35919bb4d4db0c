"""Network cards: name, rate, whether they do RDMA, and where on PCIe they sit."""

import re
from dataclasses import dataclass
from pathlib import Path

from peerlab.machine.files import entries, number, text

_GIGABITS = re.compile(r"([0-9.]+) Gb/sec")


@dataclass(frozen=True, kw_only=True)
class Nic:
    """One port of a network card that is up."""

    name: str
    """Network interface (``eth0``), or RDMA device and port (``mlx5_0/1``) where it does RDMA."""
    address: str
    """PCI address of its card."""
    rate_bps: int | None
    """Line rate, bits per second and direction; None where the driver does not say."""
    rdma: bool
    """Whether it does RDMA."""
    said_by: str
    """The file that says the rate, below ``/sys/class``."""
    mtu: int | None
    """Largest packet of the network interface, bytes."""


def _address(folder: Path) -> str:
    """Return the PCI address of a class device's card, through virtio and alike; empty for a virtual interface."""
    try:
        parts = (folder / "device").resolve(strict=True).parts
    except OSError:
        return ""
    found = [part for part in parts if re.fullmatch(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", part)]
    return found[-1] if found else ""


def _rdma_ports(root: Path) -> list[Nic]:
    ports = []
    for device in entries(root / "sys/class/infiniband"):
        mtus = [number(net / "mtu") for net in entries(device / "device/net")]
        for port in entries(device / "ports"):
            rate = _GIGABITS.match(text(port / "rate") or "")
            if not (text(port / "state") or "").endswith("ACTIVE"):
                continue
            ports.append(
                Nic(
                    name=f"{device.name}/{port.name}",
                    address=_address(device),
                    rate_bps=round(float(rate[1]) * 1e9) if rate else None,
                    rdma=True,
                    said_by=f"infiniband/{device.name}/ports/{port.name}/rate",
                    mtu=mtus[0] if mtus else None,
                )
            )
    return ports


def read_nics(root: Path) -> list[Nic]:
    """Return the ports of network cards that are up: RDMA ports, and the interfaces of cards without RDMA."""
    nics = _rdma_ports(root)
    known = {nic.address for nic in nics}
    for folder in entries(root / "sys/class/net"):
        address = _address(folder)
        if not address or address in known or text(folder / "operstate") != "up":
            continue
        speed = number(folder / "speed")  # Mbit/s; -1 where unknown
        nics.append(
            Nic(
                name=folder.name,
                address=address,
                rate_bps=speed * 10**6 if speed and speed > 0 else None,
                rdma=False,
                said_by=f"net/{folder.name}/speed",
                mtu=number(folder / "mtu"),
            )
        )
    return nics
