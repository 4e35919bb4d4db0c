"""A server that lab 01 has not shown: its gain on paper, held against a simulation of it."""

from functools import cache

from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Bound, Mistake, Number
from peerlab.features.exercises.lessons.scenes import DIRECT, STAGED
from peerlab.features.exercises.transfer import TransferTask
from peerlab.model.hardware import Cluster

GEN_GBPS = {3: 14.1, 4: 28.2, 5: 56.4}
"""GB/s of data on 16 lanes of PCIe, per direction, by its generation: UCX's formula (openucx/ucx topo.c)."""
_CARDS = ((3, 100), (4, 100), (4, 200), (5, 100), (5, 200), (5, 400))
"""Generations of PCIe, with rates of NICs (Gbit/s) that a slot of 16 lanes carries."""
_AMPLE = {"device.pcie": 500, "device.copy_engine": 500, "host.dram": 5000, "scaleup.rate": 900}
"""GB/s of all that the task leaves out, so that nothing waits for it."""
_SERVERS = (4, 8, 16, 32)


def server(uplink_GBps: float, nic_Gbps: float, nics: int, devices: int = 2) -> Cluster:  # noqa: N803  (units)
    """Return DL1 with another uplink, other NICs behind each switch, and nothing else that limits."""
    figures = {
        "switch.uplink": uplink_GBps,
        "nic.rate": nic_Gbps / 8,
        "node.nics_per_switch": nics,
        "node.devices_per_switch": devices,
    }
    cluster = STAGED.hardware
    for key, value in (figures | _AMPLE).items():
        cluster = cluster.with_figure(key, value)
    return cluster


@cache
def gain(uplink_GBps: float, nic_Gbps: float, nics: int, nodes: int, wiring: str = "auto") -> float:  # noqa: N803
    """Return how many times as fast Peer Direct is as RDMA through host memory, for 1 GiB, simulated."""
    there = server(uplink_GBps, nic_Gbps, nics)
    staged, direct = (
        scenario.with_(cluster=there, nodes=nodes, message_bytes="1 GiB", wiring=wiring)
        for scenario in (STAGED, DIRECT)
    )
    return simulate(staged).time_s / simulate(direct).time_s


def _gain_task(card: tuple[int, int], lanes: int, nics: int, nodes: int) -> Number:
    gen, rate = card
    uplink, out = GEN_GBPS[gen] * lanes / 16, nics * rate / 8
    # Simulated when the task is drawn: its words say the figure.
    number = gain(uplink, rate, nics, nodes)
    cards = f"{'one NIC' if nics == 1 else 'two NICs'} of {rate} Gbit/s"
    return Number(
        name="",
        question=f"A server that you have not seen: {cards} behind each PCIe switch, and an uplink of PCIe Gen{gen} x{lanes}, "
        f"which carries {uplink:.4g} GB/s of data in each direction. There are {nodes} such servers; all else is fast enough. How many "
        "times as fast as RDMA through host memory is Peer Direct, for 1 GiB? Work on paper; the check simulates it.",
        truth=lambda: number,
        mistakes=(
            Mistake(lambda: out / uplink, "That counts the uplink once. How often does it carry every byte in one direction?"),
            Mistake(lambda: out / (uplink / 4), "That adds up both directions. The uplink has its full rate in each of them."),
            Mistake(lambda: rate / (uplink / 2), "The NIC's rate is in Gbit/s, the uplink's in GB/s. A byte has 8 bits."),
            Mistake(lambda: rate / 8 / (uplink / 2), "That is one NIC. How many hang behind a switch?"),
            # Where half of the uplink is ample, both ways are as fast: a mistake that comes to less than 1
            # means 1.
            Mistake(lambda: max(1.0, out / uplink), "On the detour the uplink carries every byte twice in each direction."),
        ),
        bounds=(
            # A little room: the simulation has latencies, which the paper leaves out.
            Bound(lambda: 0.97, "Peer Direct is never slower than the detour here: it uses a part of the same way."),
            Bound(lambda: max(1.03, 1.03 * out / (uplink / 2)), "That is more than the NICs allow over half of the uplink.", above=True),
        ),
        hints=(
            "What can the NICs behind a switch send together, in GB/s? What can the detour send over this uplink?",
            "Peer Direct sends at the rate of the NICs. The detour sends at half of the uplink's rate, or at the NICs' if that is lower.",
        ),
        why=f"The NICs could send {out:.4g} GB/s, and half of the uplink is {uplink / 2:.4g} GB/s. The simulation of these servers says {number:.2f}.",
        solution=f"max(1, {nics} * {rate} / 8 / ({uplink:.4g} / 2))",
    )  # fmt: skip


TRANSFER = TransferTask(lab="01", cases=(_CARDS, (16, 8), (1, 2), _SERVERS), make=_gain_task)
