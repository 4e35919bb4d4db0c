"""From what a machine says about itself to figures of its cluster file, each with the file it was read from."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date

from peerlab.machine import Machine, Switch
from peerlab.machine.nics import Nic
from peerlab.machine.pci import PcieLink

_DEVICES = "/sys/bus/pci/devices"
_NO_ACCELERATOR = "no accelerator was found"
_NO_BRIDGES = (
    "no bridge is to be seen above the accelerators, as in virtual machines; ask who runs the machine"
)


@dataclass
class Readings:
    """What could be read, and why the rest could not."""

    day: str
    """When, as in ``2026-01-31``."""
    values: dict[str, tuple[float, str, str]] = field(default_factory=dict)
    """Per figure its value, unit and source."""
    remarks: dict[str, str] = field(default_factory=dict)
    """Per figure what to know about it."""

    def take(self, key: str, value: float, unit: str, where: str, how: str = "") -> None:
        """Note a figure, the file it was read from, and how."""
        self.values[key] = (value, unit, f"read from {where} on {self.day}" + (f": {how}" if how else ""))


def readings(machine: Machine, today: date) -> Readings:
    """Return the figures of a cluster file that `machine` says."""
    reading = Readings(today.isoformat())
    _numa(machine, reading)
    _counts(machine, reading)
    _link("device.pcie", [device.link for device in machine.accelerators], reading)
    if machine.hides_bridges:
        reading.remarks["switch.uplink"] = _NO_BRIDGES if machine.switches else _NO_ACCELERATOR
    else:
        _link("switch.uplink", [switch.uplink for switch in machine.switches], reading)
    if not machine.hides_bridges and all(map(_bare, machine.switches)):
        reading.remarks["switch.uplink"] = "no switch: each accelerator has a port of the CPU of its own"
    _network(carriers(machine), reading)
    return reading


def carriers(machine: Machine) -> list[Nic]:
    """Return the NICs that carry the collective: the fastest that do RDMA, or the fastest if none does."""
    # A NIC without RDMA carries the collective only where there is none with it.
    nics = [nic for nic in machine.nics if nic.rdma] or list(machine.nics)
    fastest = max((nic.rate_bps or 0 for nic in nics), default=0)
    return [nic for nic in nics if (nic.rate_bps or 0) == fastest]


def _bare(switch: Switch) -> bool:
    """Return whether the accelerator hangs at the CPU's port itself."""
    return switch.uplink is not None and switch.uplink.address == switch.accelerators[0].address


def _numa(machine: Machine, reading: Readings) -> None:
    """Count the NUMA domains that have accelerators, or all of them where there is no accelerator."""
    if not machine.switches:
        reading.remarks["node.numa_domains"] = f"{_NO_ACCELERATOR}; these are the NUMA nodes with CPUs"
    # One NUMA node has all accelerators, whatever the firmware says of each.
    if len(machine.numa_nodes) == 1 or (machine.numa_nodes and not machine.switches):
        reading.take("node.numa_domains", len(machine.numa_nodes), "1", "/sys/devices/system/node")
        return
    nodes = {switch.numa_node for switch in machine.switches}
    if None in nodes or not nodes:
        reading.remarks["node.numa_domains"] = (
            "the firmware does not say to which NUMA nodes the accelerators belong"
        )
    else:
        reading.take("node.numa_domains", len(nodes), "1", _DEVICES, "numa_node of each accelerator")


def _counts(machine: Machine, reading: Readings) -> None:
    """Count switches per NUMA domain, and devices and NICs per switch, where they are alike."""
    switches = machine.switches
    carrying = {nic.name for nic in carriers(machine)}
    nodes = (
        Counter(switch.numa_node for switch in switches)
        if len(machine.numa_nodes) > 1
        else {0: len(switches)}
    )
    each = {
        "node.switches_per_numa": list(nodes.values()) if None not in nodes else [],
        "node.devices_per_switch": [len(switch.accelerators) for switch in switches],
        "node.nics_per_switch": [sum(nic.name in carrying for nic in switch.nics) for switch in switches],
    }
    for key, counts in each.items():
        if machine.hides_bridges:
            reading.remarks[key] = _NO_BRIDGES if switches else _NO_ACCELERATOR
        elif len(set(counts)) == 1 and counts[0]:
            reading.take(key, counts[0], "1", _DEVICES, "the bridges above each accelerator")
        elif any(counts):
            reading.remarks[key] = f"they differ ({', '.join(map(str, counts))}); peerlab takes all as alike"
    # Counted as none below a switch, not as unknown: the remark says where they are instead.
    if not machine.hides_bridges and not any(each["node.nics_per_switch"]):
        reading.remarks["node.nics_per_switch"] = _nics_elsewhere(machine)


def _nics_elsewhere(machine: Machine) -> str:
    nics = ", ".join(f"{nic.name} at {nic.address}" for nic in carriers(machine)) or "none is up"
    return (
        f"no NIC below an accelerator's switch or port ({nics}), so that peer-direct would pass the CPU; peerlab has "
        "them below, so say how many belong to each switch"
    )


def _link(key: str, links: list[PcieLink | None], reading: Readings) -> None:
    pcie_links = [link for link in links if link is not None]
    if not pcie_links:
        reading.remarks[key] = "this machine does not say" if links else _NO_ACCELERATOR
        return
    slowest = min(pcie_links, key=lambda link: link.effective_Bps)
    how = f"{slowest}, less PCIe's headers (openucx/ucx topo.c)"
    reading.take(key, round(slowest.effective_Bps / 1e9, 2), "GB/s", f"{_DEVICES}/{slowest.address}", how)
    kinds = sorted({str(link) for link in pcie_links})
    if len(kinds) > 1:
        reading.remarks[key] = f"the links differ ({', '.join(kinds)}); this is the slowest"


def _network(nics: list[Nic], reading: Readings) -> None:
    if not nics:
        reading.remarks["nic.rate"] = "no NIC is up"
        return
    first = nics[0]
    reading.remarks["nic.rate"] = f"{len(nics)} found: {', '.join(nic.name for nic in nics)}"
    if first.rate_bps:
        reading.take("nic.rate", first.rate_bps / 1e9, "Gbit/s", f"/sys/class/{first.said_by}")
    else:
        reading.remarks["nic.rate"] = f"the driver of {first.name} does not say"
    if first.mtu:
        reading.take("host.packet_size", first.mtu, "B", f"the mtu of {first.name} in /sys/class/net")
