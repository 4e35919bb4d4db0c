"""A log that lab 05 has not shown: three lines, and whether they name a path."""

from peerlab.base.units import GIB
from peerlab.diagnosis import CANNOT_TELL
from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.transfer import TransferTask
from peerlab.model.hardware import Cluster
from peerlab.model.paths import path_title
from peerlab.question.presets import load_cluster

_DIRECT, _HOST = path_title("peer-direct"), path_title("host-rdma")
_LINES = {
    "direct": "NCCL INFO Channel 00/0 : 0[0] -> {next}[0] [send] via NET/{net}/0/GDRDMA",
    "staged": "NCCL INFO Channel 00/0 : 0[0] -> {next}[0] [send] via NET/{net}/0",
    "setting": "{setting}",
    "card": "NCCL INFO NET/{net} : Using [0]{nic} [RO]",
}
"""What the first line of a log may be; a channel names the path, and a setting or a card does not."""
_MACHINES = {
    "p4d": ("AWS Libfabric", "rdmap16s27", "FI_EFA_USE_DEVICE_RDMA=1"),
    "dl1": ("AWS Libfabric", "rdmap16s27", "FI_EFA_USE_DEVICE_RDMA=1"),
    "infiniband-hdr-a100": ("IB", "mlx5_0:1/IB", "NCCL_NET_GDR_LEVEL=SYS"),
    "gaudi3": ("IB", "mlx5_0:1/RoCE", "NCCL_NET_GDR_LEVEL=SYS"),
}
_SHARES = (0.35, 0.55, 0.9)
"""What a node sends, by which share: 0.7 and 1.1 of the detour's limit, and halfway from it to that of the NICs."""


def detour_limit(machine: Cluster) -> float:
    """Return the GB/s at most that a node sends through host memory, where each byte crosses an uplink twice in each direction."""
    # Half of the uplinks of a node; 10^9 bytes.
    return machine.numa_domains * machine.switches_per_numa * (machine.uplink_Bps or 0) / 2e9


def _path_task(line: str, name: str, share: float, nodes: int, size: int) -> Choice:
    machine = load_cluster(name)
    wire, detour = machine.node_wire_Bps / 1e9, detour_limit(machine)
    sends = share * 2 * detour if 2 * share < 1.2 else (detour + wire) / 2
    algbw = sends / (2 * (nodes - 1) / nodes)
    net, nic, setting = _MACHINES[name]
    nbytes = size * GIB
    row = f"{nbytes:>12} {nbytes // 4:>12} float sum -1 {1e6 * nbytes / algbw / 1e9:>9.0f} {algbw:>7.2f}"
    first = _LINES[line].format(next=machine.devices, net=net, nic=nic, setting=setting)
    switches = machine.numa_domains * machine.switches_per_numa
    # A channel's line decides by itself; without one only a rate that no detour reaches does.
    truth = {"direct": _DIRECT, "staged": _HOST}.get(line, _DIRECT if sends > detour else CANNOT_TELL)
    above = "more" if sends > detour else "less"
    return Choice(
        name="",
        question=f"Log E, of an AllReduce on {nodes} nodes:\n\n    {first}\n    #       size        count  type redop root  time(us)   algbw\n    {row}\n"
        f"Each node has {machine.nics} NICs of {machine.nic_Bps / 1e9:g} GB/s, and {switches} PCIe switches with an uplink of "
        f"{machine.uplink_Bps / 1e9:.4g} GB/s in each direction. Is the path {_HOST}, or {_DIRECT}?",
        options={
            _DIRECT: "Does a line name the channel's way, or is the rate more than any detour carries?",
            _HOST: "Such a rate is also what a direct path gives that is held up. Which line would exclude that?",
            CANNOT_TELL: "Look at both: a channel line names the way, and a rate above half of the uplinks proves it.",
        },
        truth=lambda: truth,
        hints=(
            "First the line above the table: is it a channel, or only a card or a setting?",
            "Then the rate: a node sends 2(N-1)/N times algbw, and the detour carries half of all uplinks of a node at most.",
        ),
        why=f"A node sends {sends:.3g} GB/s, which is {above} than the {detour:.3g} GB/s of the detour. {_WHY[line]}",
        solution=f'"{truth}"',
    )  # fmt: skip


_WHY = {
    "direct": "The channel says `GDRDMA`: the NIC reads device memory.",
    "staged": "The channel has no `GDRDMA` behind it: every byte stops in host memory.",
    "setting": "A setting says what was asked for, and nothing of what happened: the rate alone can decide.",
    "card": "A card says what could be used, and nothing of what happened: the rate alone can decide.",
}

TRANSFER = TransferTask(
    lab="05", cases=(("setting", "card", "direct", "staged"), tuple(_MACHINES), _SHARES, (2, 4, 8), (1, 4)), make=_path_task
)  # fmt: skip
