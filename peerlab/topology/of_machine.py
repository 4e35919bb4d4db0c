"""The topology of the machine this runs on, as `peerlab.machine` reads it."""

from peerlab.machine import Machine
from peerlab.machine.read import Switch
from peerlab.topology.pci_text import maker
from peerlab.topology.topology import PciCard, Topology

TOOL = "this machine"


def of_machine(machine: Machine) -> Topology:
    """Return the topology of a machine that was read from ``/sys``."""
    # a NIC below a port without accelerators is near none of them: of its way nothing is said
    ports = {nic.address: switch for switch in machine.switches for nic in switch.nics}
    cards = [
        PciCard(
            name=device.address,
            accelerator=True,
            vendor=f"{device.vendor:04x}",
            socket=device.numa_node,
            way=device.bridges,
            link=device.link,
        )
        for device in machine.accelerators
    ]
    for nic in machine.nics:
        switch = ports.get(nic.address)
        cards.append(
            PciCard(
                name=nic.name,
                accelerator=False,
                socket=switch.numa_node if switch else None,
                way=_way(switch),
                rate_bps=nic.rate_bps,
                model="RDMA" if nic.rdma else "no RDMA",
            )
        )
    uplinks = {
        switch.accelerators[0].bridges[0]: switch.uplink
        for switch in machine.switches
        if switch.uplink and switch.accelerators[0].bridges
    }
    hidden = ("no bridge is to be seen, as in virtual machines",) if machine.hides_bridges else ()
    return Topology(
        tool=TOOL, cards=tuple(cards), uplinks=uplinks, cpu=maker(machine.processor), remarks=hidden
    )


def _way(switch: Switch | None) -> tuple[str, ...]:
    # the CPU's port, by which `read_machine` has put NICs and accelerators together
    return switch.accelerators[0].bridges[:1] if switch else ()
