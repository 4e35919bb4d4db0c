"""Whether bytes may go from card to card below one PCIe switch: where the NICs hang, IOMMU and access control."""

from pathlib import Path

from peerlab.base.units import say_count
from peerlab.features.doctor.check import PASS, UNKNOWN, WARN, Check, Seen, listed
from peerlab.features.doctor.host import Host
from peerlab.machine.files import entries, leading_bytes, text
from peerlab.machine.pci import PciDevice

_CONFIG_BYTES = 4096
# Behind the 256 bytes of the old configuration space begin the extended capabilities (PCI Express Base
# Specification).
_FIRST_EXTENDED = 0x100
_ACS_CAPABILITY = 0x000D
# Behind header and capability word, 4 and 2 bytes.
_ACS_CONTROL = 6
_REDIRECT = 0b1100  # ReqRedir, CmpltRedir


def _ends(host: Host) -> list[str]:
    """Return the PCI addresses between which peer direct runs: accelerators and RDMA cards."""
    cards = [port.address for port in host.ports if port.address]
    return sorted({device.address for device in host.machine.accelerators} | set(cards))


def _iommu(host: Host) -> Seen:
    devices = host.root / "sys/bus/pci/devices"
    types = {address: _iommu_type(devices / address / "iommu_group", host) for address in _ends(host)}
    if not types:
        return Seen(UNKNOWN, "no accelerator or RDMA card to look at")
    # Without groups no IOMMU is on, or a hypervisor keeps its own out of sight.
    if not entries(host.root / "sys/kernel/iommu_groups"):
        if "hypervisor" in (host.says("proc/cpuinfo") or ""):
            return Seen(UNKNOWN, "a virtual machine: it does not show the host's IOMMU")
        return Seen(PASS, "no IOMMU is on")
    translated = [address for address, kind in types.items() if kind not in ("identity", "", None)]
    if translated:
        return Seen(WARN, listed(f"{address} is translated ({types[address]})" for address in translated))
    if None in types.values():
        return Seen(UNKNOWN, "the type of the IOMMU groups cannot be read")
    return Seen(PASS, "accelerators and RDMA cards are passed through")


def _iommu_type(group: Path, host: Host) -> str | None:
    """Return the type of a device's group, empty where it has none, None where it cannot be read."""
    if not group.exists():
        return ""
    # The boot parameter says it for all devices where the type of a group cannot be read.
    return text(group / "type") or ("identity" if "iommu=pt" in (host.says("proc/cmdline") or "") else None)


def acs_control(config: bytes) -> int | None:
    """Return the control word of PCIe access control in a bridge's configuration space; None where it has none."""
    offset = _FIRST_EXTENDED
    for _ in range(_CONFIG_BYTES // 8):  # a damaged list may go round in circles
        # 0: the list is empty; all ones: the device does not answer.
        header = int.from_bytes(config[offset : offset + 4], "little")
        if header in (0, 0xFFFFFFFF):
            return None
        if header & 0xFFFF == _ACS_CAPABILITY:
            return int.from_bytes(config[offset + _ACS_CONTROL : offset + _ACS_CONTROL + 2], "little")
        # The upper 12 bits lead to the next capability.
        offset = header >> 20
        if offset < _FIRST_EXTENDED:
            return None
    return None


def _acs(host: Host) -> Seen:
    ends = _ends(host)
    bridges = sorted(
        {bridge for device in host.devices if device.address in ends for bridge in device.bridges}
    )
    if not bridges:
        return Seen(UNKNOWN, "no PCIe bridge is shown above an accelerator or RDMA card")
    folder = host.root / "sys/bus/pci/devices"
    spaces = {bridge: leading_bytes(folder / bridge / "config", _CONFIG_BYTES) for bridge in bridges}
    redirecting = [address for address, space in spaces.items() if (acs_control(space) or 0) & _REDIRECT]
    if redirecting:
        return Seen(WARN, "redirected at " + listed(redirecting))
    # The kernel shows the first 64 bytes to everybody, and what is behind them to root.
    hidden = [bridge for bridge, space in spaces.items() if len(space) <= _FIRST_EXTENDED]
    if hidden:
        return Seen(UNKNOWN, f"root alone may read it: {listed(hidden)}")
    return Seen(PASS, f"{say_count(len(bridges), 'bridge')} without redirection")


def _place(host: Host) -> Seen:
    """Tell whether each RDMA card hangs below a switch with an accelerator, by bridges or, where none is shown, by bus numbers."""
    cards = {port.address for port in host.ports if port.address}
    nics = [device for device in host.devices if device.address in cards]
    devices = host.machine.accelerators
    if not nics or not devices:
        return Seen(UNKNOWN, "no accelerator, or no RDMA device, to compare")
    hidden = not any(device.bridges for device in (*nics, *devices))
    place = _bus if hidden else _root_port
    near = {place(device) for device in devices}
    apart = sorted(nic.address for nic in nics if place(nic) not in near)
    if hidden and apart:  # each slot may have a bus number of its own, whatever is above it
        return Seen(UNKNOWN, f"no bridge is shown, and no accelerator has the bus number of {listed(apart)}")
    if apart:
        return Seen(WARN, f"at a port of the CPU without an accelerator: {listed(apart)}")
    how = "by their bus numbers, as no bridge is shown" if hidden else "by the bridges above them"
    return Seen(PASS, f"each RDMA card hangs with an accelerator, {how}: {listed(sorted(cards))}")


def _bus(device: PciDevice) -> str:
    return device.address.rpartition(":")[0]


def _root_port(device: PciDevice) -> str:
    return device.root_port


CHECKS = (
    Check(
        id="nic-place",
        title="Where the NICs hang",
        where="/sys/bus/pci/devices (lspci -tv shows it; on EFA fi_info -p efa prints the bus number in rdmapBUSsSLOT)",
        rule="every RDMA card hangs below the PCIe switch of an accelerator",
        why="What goes between a NIC at a port of the CPU of its own and an accelerator crosses the CPU: it takes the switch's uplink, "
        "and CPUs forward it slower than switches do. Libraries then stage by default.",
        mend="Move the card to a slot below the accelerators' switch; else simulate it so: peerlab simulate --wiring root-port.",
        source="NVIDIA/nccl src/graph/paths.cc (GPUDirect RDMA up to PXB); bus numbers of AWS: aws/aws-ofi-nccl topology/p4d-24xl-topo.xml",
        look=_place,
    ),
    Check(
        id="iommu",
        title="IOMMU",
        where="/sys/bus/pci/devices/*/iommu_group/type, /proc/cmdline, /proc/cpuinfo",
        rule="off, or in passthrough (identity) for accelerators and RDMA cards",
        why="A translating IOMMU sends packets between cards up to the root complex and down again: peer direct then shares the "
        "uplink that it should spare, or fails.",
        mend="Boot with iommu=pt (or intel_iommu=off, amd_iommu=off).",
        source="docs.nvidia.com GPUDirect RDMA, Supported Systems; docs.nvidia.com NCCL troubleshooting",
        look=_iommu,
    ),
    Check(
        id="acs",
        title="PCIe access control (ACS)",
        where="/sys/bus/pci/devices/*/config (lspci -vvv shows it as ACSCtl)",
        rule="ReqRedir and CmpltRedir are off on every bridge above an accelerator or RDMA card",
        why="With these bits a switch sends what goes from card to card up to the CPU first, which halves the bandwidth or worse.",
        mend="Switch ACS off in the BIOS, or as root: setpci -s BRIDGE ECAP_ACS+0x6.w=0000 (virtual machines may need it on).",
        source="docs.nvidia.com NCCL troubleshooting, PCI Access Control Services; HabanaAI/hccl_demo README f623d69; "
        "NVIDIA/nccl-tests issue 252",
        look=_acs,
    ),
)
