"""Network cards: name, rate, whether they do RDMA, and where on PCIe they sit."""

import re
from dataclasses import dataclass
from pathlib import Path

from peerlab.machine.files import entries, number, text
from peerlab.machine.pci import card_address
from peerlab.machine.rdma import RdmaPort, read_rdma_ports

_GIGABITS = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,4})?) Gb/sec")


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


def _rdma_nic(root: Path, port: RdmaPort) -> Nic:
    rate = _GIGABITS.match(port.rate)
    return Nic(
        name=port.name,
        address=port.address,
        rate_bps=round(float(rate[1]) * 1e9) if rate else None,
        rdma=True,
        said_by=f"infiniband/{port.device}/ports/{port.number}/rate",
        mtu=number(root / "sys/class/net" / port.interfaces[0] / "mtu") if port.interfaces else None,
    )


def read_nics(root: Path) -> list[Nic]:
    """Return the ports of network cards that are up: RDMA ports, and the interfaces of cards without RDMA."""
    nics = [_rdma_nic(root, port) for port in read_rdma_ports(root) if port.verbs and port.active]
    # an RDMA card has network interfaces too, and counts once
    names = {nic.address for nic in nics}
    for folder in entries(root / "sys/class/net"):
        address = card_address(folder)
        if not address or address in names or text(folder / "operstate") != "up":
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
