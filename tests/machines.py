"""Machines that public files and threads show, written anew from their figures in the words of the tool that printed them."""

from itertools import product

NAMES = [f"GPU{i}" for i in range(8)]


def matrix(near, *, gpus=8, nics=None, between="NV18", sockets=2, names=None, far="NODE", affinity=True):
    """Return what `nvidia-smi topo -m` prints; `near` maps an accelerator to its NICs and their distance."""
    nics = nics if nics is not None else 1 + max(nic for found in near.values() for nic in found)
    names = names or [f"NIC{i}" for i in range(nics)]
    heads = [f"GPU{i}" for i in range(gpus)] + names
    where = [gpu * sockets // gpus for gpu in range(gpus)]
    of_nic = {nic: where[gpu] for gpu, found in near.items() for nic in found}
    lines = [
        "\t"
        + "\t".join(heads)
        + ("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID" if affinity else "\tCPU Affinity")
    ]
    for gpu in range(gpus):
        own = ["X" if other == gpu else between for other in range(gpus)]
        own += [
            near.get(gpu, {}).get(nic) or (far if of_nic.get(nic) == where[gpu] else "SYS")
            for nic in range(nics)
        ]
        lines.append(
            f"GPU{gpu}\t"
            + "\t".join(own)
            + f"\t{48 * where[gpu]}-{48 * where[gpu] + 47}"
            + (f"\t{where[gpu]}\t\tN/A" if affinity else "")
        )
    legend = (
        ""
        if names[0] != "NIC0"
        else "\nNIC Legend:\n\n" + "\n".join(f"  {one}: mlx5_{i}" for i, one in enumerate(names))
    )
    return "\n".join(lines) + "\n\nLegend:\n\n  X    = Self\n  PIX  = Connection traversing at most a single PCIe bridge\n" + legend  # fmt: skip


def h100_nine_nics():
    """8 H100, NIC 8 down to 1 each behind the switch of one, NIC 0 apart (NVIDIA/nccl issue 1453)."""
    return matrix({gpu: {8 - gpu: "PIX"} for gpu in range(8)}, nics=9)


def dgx2():
    """16 V100 on NVSwitch, 8 NICs, each PIX from two and PXB from two more (NVIDIA/nccl-tests issue 78)."""
    near = {}
    for gpu in range(16):
        first, second = (gpu // 4) * 2, (gpu // 4) * 2 + 1
        own, other = (first, second) if gpu % 4 < 2 else (second, first)
        near[gpu] = {own: "PIX", other: "PXB"}
    return matrix(near, gpus=16, between="NV6", names=[f"mlx5_{i}" for i in range(8)], affinity=False)


def virtual_h100():
    """8 GPUs and 8 NICs in a virtual machine: all of one socket are PHB (deepseek-ai/DeepEP issue 55)."""
    near = {gpu: dict.fromkeys(range(1 + gpu // 4 * 4, 5 + gpu // 4 * 4), "PHB") for gpu in range(8)}
    return matrix(near, nics=9, between="PHB")


def h20_mixed():
    """8 H20 and 5 NICs: some behind the switch of a GPU, the other GPUs at the same CPU (deepseek-ai/DeepEP issue 137)."""
    return matrix({0: {0: "PIX"}, 2: {1: "PIX"}, 4: {2: "PIX"}, 6: {3: "PIX"}}, nics=4)


def bonded():
    """8 GPUs in pairs, each pair PXB from four ports of bonded NICs (deepseek-ai/DeepEP issue 145)."""
    near = {gpu: {4 * (gpu // 2) + port: "PXB" for port in range(4)} for gpu in range(8)}
    return matrix(near)


def dgx_a100():
    """DGX A100: two switches below each of four ports of the CPU, two GPUs and two NICs (NVIDIA/nccl issue 1505)."""
    cpus = []
    for cpu, group in product(range(2), range(2)):
        start = 4 * cpu + 2 * group
        gpus = "".join(_gpu(start + i, "20b0", 12) for i in range(2))
        nics = "".join(_nic(start + i, 200000) for i in range(2))
        inner = f"{_bridge(16 * start + 2)}{gpus}</pci>{_bridge(16 * start + 3)}{nics}</pci>"
        cpus.append((cpu, f"{_bridge(16 * start + 1)}{inner}</pci>"))
    sockets = "".join(
        f'<cpu numaid="{cpu}" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">'
        + "".join(text for of, text in cpus if of == cpu)
        + "</cpu>"
        for cpu in range(2)
    )
    return f'<system version="1">{sockets}</system>'


def _bridge(number):
    return (
        f'<pci busid="0000:{number:02x}:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">'
    )


def _gpu(index, device, links):
    return (
        f'<pci busid="0000:b{index}:00.0" class="0x030200" vendor="0x10de" device="0x{device}" link_speed="16.0 GT/s PCIe" link_width="16">'
        f'<gpu dev="{index}" sm="80" rank="{index}" gdr="1"><nvlink target="0000:c4:00.0" count="{links}" tclass="0x068000"/></gpu></pci>'
    )


def _nic(index, speed):
    return (
        f'<pci busid="0000:c{index}:00.0" class="0x020700" vendor="0x15b3" device="0x101b" link_speed="16.0 GT/s PCIe" link_width="16">'
        f'<nic><net name="mlx5_{index}" dev="{index}" speed="{speed}" port="1" gdr="1"/></nic></pci>'
    )


def p4d():
    """p4d.24xlarge: two GPUs and a NIC behind each of four switches (aws/aws-ofi-nccl topology/p4d-24xl-topo.xml)."""
    cpus = []
    for cpu in range(2):
        groups = ""
        for bus in ((0x10, 0x20), (0x90, 0xA0))[cpu]:
            cards = "".join(
                f'<pci busid="0000:{bus:02x}:{slot}.0" class="{kind}" vendor="{vendor}" device="{device}" link_speed="8 GT/s" link_width="16"/>'
                for slot, kind, vendor, device in (
                    ("1c", "0x030200", "0x10de", "0x20b0"), ("1d", "0x030200", "0x10de", "0x20b0"), ("1b", "0x020000", "0x1d0f", "0xefa0"),
                )
            )  # fmt: skip
            groups += f'<pci busid="ffff:ff:{bus:02x}.0" class="0x060400" link_speed="8 GT/s" link_width="16">{cards}</pci>'
        cpus.append(f'<cpu numaid="{cpu}" vendor="GenuineIntel" familyid="6" modelid="85">{groups}</cpu>')
    return f'<system version="1">{"".join(cpus)}</system>'


def lstopo_a100():
    """A server of two sockets as lstopo shows it: a GPU and a NIC below one switch of each (hwloc 2)."""
    packages = ""
    for socket in range(2):
        base = 0x40 * socket
        devices = "".join(
            f'<object type="Bridge" bridge_type="1-1" depth="3" bridge_pci="0000:[{bus:02x}-{bus:02x}]" pci_busid="0000:{base + 2:02x}:{place:02x}.0" '
            f'pci_type="0604 [1000:c010] [0000:0000] b0" pci_link_speed="31.507692">'
            f'<object type="PCIDev" pci_busid="0000:{bus:02x}:00.0" pci_type="{kind}" pci_link_speed="31.507692">{osdev}</object></object>'
            for place, (bus, kind, osdev) in enumerate((
                (base + 3, "0302 [10de:20b2] [10de:1463] a1", ""),
                (base + 4, "0207 [15b3:101b] [15b3:0007] 00", f'<object type="OSDev" name="mlx5_{socket}" osdev_type="3"/>'),
            ))
        )  # fmt: skip
        switch = (
            f'<object type="Bridge" bridge_type="1-1" depth="1" bridge_pci="0000:[{base + 1:02x}-{base + 9:02x}]" pci_busid="0000:{base:02x}:01.1" '
            f'pci_type="0604 [1022:1483] [0000:0000] 00" pci_link_speed="31.507692">'
            f'<object type="Bridge" bridge_type="1-1" depth="2" bridge_pci="0000:[{base + 2:02x}-{base + 9:02x}]" pci_busid="0000:{base + 1:02x}:00.0" '
            f'pci_type="0604 [1000:c010] [0000:0000] b0" pci_link_speed="31.507692">{devices}</object></object>'
        )
        packages += (
            f'<object type="Package" os_index="{socket}"><info name="CPUModel" value="AMD EPYC 7742 64-Core Processor"/>'
            f'<object type="NUMANode" os_index="{socket}"/>'
            f'<object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[{base:02x}-{base + 15:02x}]">{switch}</object></object>'
        )
    return (
        '<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">'
        f'<object type="Machine">{packages}</object></topology>'
    )


def lspci_tree():
    """Two GPUs and two NICs below one switch, one of each at ports of the other CPU's, as lspci -tv draws them."""
    return """-+-[0000:c0]-+-00.0  Advanced Micro Devices, Inc. [AMD] Starship/Matisse Root Complex
 |           +-01.1-[c1]----00.0  NVIDIA Corporation GA100 [A100 PCIe 40GB]
 |           \\-03.1-[c2]----00.0  Mellanox Technologies MT28908 Family [ConnectX-6]
 \\-[0000:40]-+-00.0  Advanced Micro Devices, Inc. [AMD] Starship/Matisse Root Complex
             +-01.0-[41-4f]----00.0-[42-4f]--+-00.0-[43]----00.0  NVIDIA Corporation GA100 [A100 PCIe 40GB]
             |                               +-04.0-[44]----00.0  Mellanox Technologies MT28908 Family [ConnectX-6]
             |                               +-08.0-[45]----00.0  NVIDIA Corporation GA100 [A100 PCIe 40GB]
             |                               \\-0c.0-[46]--+-00.0  Mellanox Technologies MT28908 Family [ConnectX-6]
             |                                            \\-00.1  Mellanox Technologies MT28908 Family [ConnectX-6 Virtual Function]
             \\-02.0-[50]----00.0  Intel Corporation I210 Gigabit Network Connection
"""


def lspci_verbose(redirect="-"):
    """A GPU and a NIC below one switch with links, NUMA node and ACS, as lspci -vv tells them."""
    return f"""40:01.0 PCI bridge: Intel Corporation Sky Lake-E PCI Express Root Port A (rev 04)
\tNUMA node: 0
\tBus: primary=40, secondary=41, subordinate=4f, sec-latency=0
\tLnkCap:\tPort #1, Speed 8GT/s, Width x16, ASPM L1
\tLnkSta:\tSpeed 8GT/s, Width x16
41:00.0 PCI bridge: PLX Technology, Inc. PEX 8747 (rev ca)
\tBus: primary=41, secondary=42, subordinate=4f, sec-latency=0
\tLnkCap:\tPort #8, Speed 8GT/s, Width x16, ASPM L1
\tLnkSta:\tSpeed 8GT/s, Width x16
42:08.0 PCI bridge: PLX Technology, Inc. PEX 8747 (rev ca)
\tBus: primary=42, secondary=43, subordinate=43, sec-latency=0
\tCapabilities: [f24 v1] Access Control Services
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir{redirect} CmpltRedir{redirect} UpstreamFwd+
42:10.0 PCI bridge: PLX Technology, Inc. PEX 8747 (rev ca)
\tBus: primary=42, secondary=44, subordinate=44, sec-latency=0
43:00.0 3D controller: NVIDIA Corporation GV100GL [Tesla V100 PCIe 32GB] (rev a1)
\tNUMA node: 0
\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM not supported
\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16
44:00.0 Infiniband controller: Mellanox Technologies MT27800 Family [ConnectX-5]
\tNUMA node: 0
\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM not supported
\tLnkSta:\tSpeed 8GT/s, Width x8 (downgraded)
"""
