"""A review that lab 06 has not shown: the least and the largest gain of a machine that nobody has looked at, and what to recommend."""

from itertools import product

from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.labs.advice import MEASURE, STAY, USE, advice
from peerlab.features.exercises.labs.unseen.unseen_server import GEN_GBPS, gain
from peerlab.features.exercises.transfer import TransferTask

_ORDERS = ((100,), (200,), (400,), (100, 200), (200, 400))
"""Rates of the NIC that may be ordered, Gbit/s."""
_KNOWN = {
    "It hangs below the switch: somebody looked": ("switch",),
    "It has a root port of its own: somebody looked": ("root-port",),
    "Nobody has looked whether it hangs below the switch or at a root port of its own": (
        "switch",
        "root-port",
    ),
}
_LINKS = ((3, 16), (4, 8), (4, 16), (5, 8), (5, 16))


def _review_task(link: tuple[int, int], rates: tuple[int, ...], known: str) -> Choice:
    gen, lanes = link
    uplink = GEN_GBPS[gen] * lanes / 16
    # Every case that is open: the rates that may be ordered, at the places that may hold.
    gains = [gain(uplink, rate, 1, 8, wiring) for rate, wiring in product(rates, _KNOWN[known])]
    least, most = min(gains), max(gains)
    nic = " or ".join(map(str, rates))
    return Choice(
        name="",
        question=f"Behind each switch of a server there will be one NIC of {nic} Gbit/s{': the order is open' if len(rates) > 1 else ''}. "
        f"{known}. The switch's uplink is PCIe Gen{gen} x{lanes}, {uplink:.4g} GB/s of data in each direction. With a root port of its own a NIC leaves the "
        "uplink to the copies. Work out the least and the largest gain over RDMA through host memory, for long messages. Nothing else is open. What do you recommend?",
        options={
            USE: "Is even the least gain more than 5 per cent? Try each case that is open.",
            MEASURE: "Do two cases that are open lead to different answers?",
            STAY: "Is there a case with a gain of more than 5 per cent?",
        },
        truth=lambda: advice(least, most),
        called={USE: ("use",), MEASURE: ("measure",), STAY: ("stay",)},
        hints=(
            "Below the switch the detour crosses the uplink twice in each direction, and Peer Direct not at all.",
            "Below the switch the gain is the NIC's rate over half of the uplink's, and 1 at least.",
            "At a root port of its own both paths cross the uplink once in each direction: the gain is 1.",
        ),
        why=f"The simulation of every case that is open says {_from_to(least, most)}.",
        solution=f'"{advice(least, most)}"',
    )  # fmt: skip


def _from_to(least: float, most: float) -> str:
    return f"{least:.2f} times" if f"{least:.2f}" == f"{most:.2f}" else f"{least:.2f} to {most:.2f} times"


TRANSFER = TransferTask(lab="06", cases=(_LINKS, _ORDERS, tuple(_KNOWN)), make=_review_task)
