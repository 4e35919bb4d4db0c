"""RDMA devices and their ports: verbs devices (InfiniBand, RoCE, EFA) and Slingshot's own class."""

from dataclasses import dataclass
from pathlib import Path

from peerlab.machine.files import entries, link_name, text
from peerlab.machine.pci import card_address

CXI = "cxi"
"""Driver of Slingshot NICs: no verbs device, but a class of its own."""
EFA = "efa"
"""Driver of Amazon's Elastic Fabric Adapter."""


@dataclass(frozen=True, kw_only=True)
class RdmaPort:
    """One port of an RDMA device, up or not."""

    device: str
    """Name of the device, such as ``mlx5_0``."""
    number: str
    """Number of the port on it."""
    address: str
    """PCI address of its card."""
    driver: str
    """Name of the card's driver; empty where it is not said."""
    state: str
    """What the driver says, such as ``4: ACTIVE``; for Slingshot the state of its network interface."""
    link_layer: str
    """``InfiniBand``, ``Ethernet`` (RoCE) or what else the driver says; empty where it says nothing."""
    rate: str
    """What the driver says, such as ``100 Gb/sec (4X EDR)``."""
    interfaces: tuple[str, ...]
    """Network interfaces of the same card."""

    @property
    def name(self) -> str:
        """Device and port, such as ``mlx5_0/1``."""
        return f"{self.device}/{self.number}"

    @property
    def verbs(self) -> bool:
        """Whether it is a verbs device, found below ``/sys/class/infiniband``."""
        return self.driver != CXI

    @property
    def active(self) -> bool:
        """Whether it can carry data."""
        # Slingshot has no state of a port, and its interface's is "up"
        return self.state.endswith("ACTIVE") or (not self.verbs and self.state == "up")

    @property
    def roce(self) -> bool:
        """Whether its packets are Ethernet frames that RoCE's rules hold for."""
        return self.link_layer == "Ethernet" and self.driver != EFA


def read_rdma_ports(root: Path) -> list[RdmaPort]:
    """Return the ports of all RDMA devices below ``/sys`` of `root`, by name."""
    verbs = [
        _port(device, port.name, text(port / "state"), text(port / "link_layer"), text(port / "rate"))
        for device in entries(root / "sys/class/infiniband")
        for port in entries(device / "ports")
    ]
    slingshot = [
        _port(device, "1", _state_of_interface(root, device), None, None, driver=CXI)
        for device in entries(root / "sys/class/cxi")
    ]
    return verbs + slingshot


def _port(
    device: Path, number: str, state: str | None, link_layer: str | None, rate: str | None, driver: str = ""
) -> RdmaPort:
    return RdmaPort(
        device=device.name,
        number=number,
        address=card_address(device),
        driver=driver or link_name(device / "device/driver"),
        state=state or "",
        link_layer=link_layer or "",
        rate=rate or "",
        interfaces=_interfaces(device),
    )


def _interfaces(device: Path) -> tuple[str, ...]:
    return tuple(net.name for net in entries(device / "device/net"))


def _state_of_interface(root: Path, device: Path) -> str | None:
    states = [text(root / "sys/class/net" / name / "operstate") for name in _interfaces(device)]
    return "up" if "up" in states else next(iter(states), None)
