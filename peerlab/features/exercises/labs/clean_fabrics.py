"""Exercises of lab 08: fabrics side by side, and what limits a link where nobody else sends."""

from functools import cache

from peerlab.answer.metrics import messages_per_s
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Choice, Mistake, Number
from peerlab.features.exercises.labs.quoted_tables import LINE, carried
from peerlab.features.exercises.labs.unseen import unseen_link
from peerlab.question.scenario import Scenario
from peerlab.study.fabric_comparison import compare_fabrics

RING = LINE
# Every slice is a message of its own, and so many may be in flight that only NIC or wire can limit.
WRITES = Scenario(
    cluster="ideal-100g", collective="point-to-point", nodes=2, message_bytes=80_000, slice_bytes=8, window=16384,
    dependency="slice", transport="roce",
)  # fmt: skip


@cache
def writes() -> float:
    """Return the million messages of 8 bytes that a NIC sends a second over RoCE."""
    run = simulate(WRITES)
    return messages_per_s(run.trace, run.recording) / 1e6


@cache
def in_switch(nodes: int = 8, size: str = "64 MiB") -> float:
    """Return how many times as fast an AllReduce is that the switches add up, against a ring."""
    ring = RING.with_(nodes=nodes, message_bytes=size)
    return simulate(ring).time_s / simulate(ring.with_(algorithm="sharp")).time_s


def apart(size: str) -> float:
    """Return how many times as long a ring takes on the slowest transport as on the fastest."""
    times = compare_fabrics(RING.with_(message_bytes=size)).table["time_s"]
    return float(times.max() / times.min())


_GAP = (
    "the size of the packets",
    "InfiniBand's credits",
    "RoCE's congestion control",
    "the length of the cable",
)


# By how much more, so that two spreads compare whatever their rates.
def _spread(low: float, high: float) -> float:
    return high / low - 1


def gap() -> str:
    """Return what moves the payload more than the protocol does: the packet, on a link where nobody else sends."""
    packet = _spread(carried("roce", 1024), carried("roce", 4096))
    protocol = _spread(carried("roce", 4096), carried("infiniband", 4096))
    return _GAP[0] if packet > protocol else _GAP[1]


EXERCISES = (
    Number(
        name="08-goodput",
        question="RoCE v2 in packets of 1024 bytes, 100 Gb/s: how much payload does a NIC carry?",
        truth=lambda: 8 * carried("roce", 1024),
        unit="Gb/s",
        tolerance=0.01,
        mistakes=(
            Mistake(lambda: 100.0, "That is the line's rate. Is all of a packet payload?"),
            Mistake(lambda: 8 * carried("roce", 4096), "That is with packets of 4096 bytes, which an Ethernet MTU of 1500 does not allow."),
            Mistake(lambda: 8 * carried("infiniband", 1024), "That is InfiniBand, with headers of 26 bytes."),
        ),
        hints=(
            "What share of a packet on the wire is payload?",
            "On the wire a packet is its payload and its headers. The text above says how long these are.",
            "`scenario.goodput` is that share of 100 Gb/s.",
        ),
        why="So the overview's lower figures are small packets, and 98 of 100 are large ones, on the same protocol.",
        solution='100 * clean_fabrics.RING.with_(transport="roce", mtu=1024).goodput',
    ),
    Choice(
        name="08-gap",
        question="Where nobody else sends, what moves the payload of a RoCE link most?",
        options={
            _GAP[0]: "",
            _GAP[1]: "Credits act when a buffer is full. Where every port has one sender, no queue forms.",
            _GAP[2]: "It acts on marks, and a port with one sender marks nothing.",
            _GAP[3]: "A metre adds 5 ns once; it takes nothing from the rate.",
        },
        truth=gap,
        called={_GAP[0]: ("mtu", "packets"), _GAP[1]: ("credits",), _GAP[2]: ("congestion",), _GAP[3]: ("cable", "metres")},
        hints=(
            "Compare the two columns of one protocol with one column of two protocols.",
            "RoCE goes from 92.6 to 98.0 Gb/s with its packets; at 4096 bytes InfiniBand is 1.3 ahead.",
        ),
        why="From small packets to large ones RoCE gains more than InfiniBand is ahead of it at the same size.",
        solution='"the size of the packets"',
    ),
    Number(
        name="08-writes",
        further=True,
        question="Writes of 8 bytes over RoCE v2 at 100 Gb/s; the NIC could count 215 million a second. How many million a second are there?",
        truth=writes,
        unit="million",
        mistakes=(
            Mistake(lambda: 215.0, "So many the NIC counts. Does the wire carry as many, with their headers?"),
            # 12,500 million bytes a second are 100 Gb/s.
            Mistake(lambda: 12500 / 8, "That is without headers: on the wire a write of 8 bytes is much longer."),
            Mistake(lambda: 12500 / 50, "50 bytes are InfiniBand's."),
        ),
        hints=("A write is 8 + 82 + 16 bytes on the wire; the 16 say where it goes.", "12,500 million bytes a second divided by that."),
        why="So for tiny messages a NIC on RoCE is limited by its wire, and on InfiniBand by the messages it counts.",
        solution="12500 / (8 + 82 + 16)",
    ),
    Number(
        name="08-sharp",
        question="Switches that add up: how many times as fast is an AllReduce of 64 MiB on 8 nodes, against a ring?",
        truth=in_switch,
        mistakes=(
            Mistake(lambda: 2.0, "A ring sends 2(N-1)/N of the message: twice as many bytes only on very many nodes. Here are 8."),
            Mistake(lambda: in_switch(64), "That is with 64 nodes. Here are 8."),
            Mistake(lambda: in_switch(64, "8 KiB"), "So much is it for 8 KiB on 64 nodes. Large messages are limited by the wire."),
        ),
        hints=("A ring moves 2(N-1)/N of the message over each link, the switches 1.", "Work out 2 x 7/8, or divide the two runs."),
        why=(
            "2 x 7/8 are the bytes. A ring also pays 2(N-1) latencies, where the switches pay 2: so it may be more than twice on many nodes, "
            "and far more for small messages, for which nobody takes a ring."
        ),
        solution="around.time_s / sharp.time_s",
    ),
)  # fmt: skip
TRANSFER = unseen_link.TRANSFER
