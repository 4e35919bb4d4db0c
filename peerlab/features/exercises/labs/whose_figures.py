"""Exercises of lab 08: tables that articles quote, beside what peerlab simulates or works out."""

from functools import cache

import pandas as pd

from peerlab.answer.metrics import messages_per_s
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Choice, Mistake, Number
from peerlab.features.exercises.labs import fabric_forms as forms
from peerlab.features.exercises.labs.halo import HaloStep, halo_steps
from peerlab.features.exercises.labs.quoted_tables import LINE, carried
from peerlab.model.hardware import Cluster
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.study.fabric_comparison import compare_fabrics

RING = LINE
WRITES = Scenario(
    cluster="ideal-100g", collective="point-to-point", nodes=2, message_bytes=80_000, slice_bytes=8, window=16384,
    dependency="slice", transport="roce",
)  # fmt: skip
COPY_START_US = 10
"""What starting a copy and waiting for it takes, microseconds (assumed; 5 to 20)."""
SHARE, NODES, WATTS = 0.01, 64, 4010
"""A cluster to work with: exposed share of a step, nodes, and what each of them draws while it waits."""
GPUS = (8, 27, 64, 125, 216, 512, 1000)
"""How many share a box of 64,000 particles: cubes, so that each has neighbours in three directions."""


def writes() -> float:
    """Return the million messages of 8 bytes that a NIC sends a second over RoCE."""
    run = simulate(WRITES)
    return messages_per_s(run.trace, run.recording) / 1e6


@cache
def in_switch(nodes: int = 8, size: str = "64 MiB") -> float:
    """Return how many times as fast an AllReduce is that the switches add up, against a ring."""
    ring = RING.with_(nodes=nodes, message_bytes=size)
    return simulate(ring).time_s / simulate(ring.with_(algorithm="sharp")).time_s


def _juliet(start_us: float) -> Cluster:
    cluster = load_cluster("juliet")
    return cluster.with_figure("device.copy_start", start_us) if start_us else cluster


@cache
def halo(domains: int, start_us: float) -> dict[str, HaloStep]:
    """Return a step of 64,000 particles on each path, where each staged copy waits so long to start."""
    return {one.path: one for one in halo_steps(_juliet(start_us), domains)}


def halo_gain(domains: int, start_us: float) -> float:
    """Return how many times as fast a step of 64,000 particles is by Peer Direct, where each staged copy waits so long to start."""
    steps = halo(domains, start_us)
    return steps["host-rdma"].step_s / steps["peer-direct"].step_s


def halo_table() -> pd.DataFrame:
    """Return the step of 64,000 particles by devices, microseconds, on both paths where copies must be started, and the gain of Peer Direct.

    The last column is the gain where gdrcopy spares the start.
    """
    rows = {}
    for n in GPUS:
        steps = halo(n, COPY_START_US)
        rows[n] = {
            "a face, kB": steps["peer-direct"].face_bytes / 1e3,
            "RDMA through host, µs": steps["host-rdma"].step_s * 1e6, "Peer Direct, µs": steps["peer-direct"].step_s * 1e6,
            "times as fast": halo_gain(n, COPY_START_US), "quoted": "up to 2", "times as fast with gdrcopy": halo_gain(n, 0),
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("GPUs")


def apart(size: str) -> float:
    """Return how many times as long a ring takes on the slowest transport as on the fastest."""
    times = compare_fabrics(RING.with_(message_bytes=size)).table["time_s"]
    return float(times.max() / times.min())


_HALO = {
    "few": "8 GPUs share 64,000 particles, and each staged copy must be started",
    "many": "64 GPUs share 64,000 particles, and each staged copy must be started",
    "no_start": "8 GPUs share 64,000 particles, and gdrcopy spares the start",
    "copied": "64 GPUs share 64,000 particles, and gdrcopy spares the start",
}
_GAP = (
    "the size of the packets",
    "InfiniBand's credits",
    "RoCE's congestion control",
    "the length of the cable",
)


def _spread(low: float, high: float) -> float:
    return high / low - 1


def gap() -> str:
    """Return what moves the payload more than the protocol does: the packet, on a link where nobody else sends."""
    packet = _spread(carried("roce", 1024), carried("roce", 4096))
    protocol = _spread(carried("roce", 4096), carried("infiniband", 4096))
    return _GAP[0] if packet > protocol else _GAP[1]


def year_kwh(share: float = SHARE, nodes: int = NODES) -> float:
    """Return the kWh that waiting draws in a year."""
    return forms.waiting_year(share, 1.0, nodes, WATTS, 0)[0]


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
        solution='100 * whose_figures.RING.with_(transport="roce", mtu=1024).goodput',
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
        question="Writes of 8 bytes over RoCE v2 at 100 Gb/s; the NIC could count 215 million a second. How many million a second are there?",
        truth=writes,
        unit="million",
        mistakes=(
            Mistake(lambda: 215.0, "So many the NIC counts. Does the wire carry as many, with their headers?"),
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
    Choice(
        name="08-halo",
        question='"Up to 2 times as the number of nodes grows." When is a particle code nearly so?',
        options={
            _HALO["few"]: "The exchange is a small part of a step yet: each GPU has 8,000 particles to compute.",
            _HALO["many"]: "",
            _HALO["no_start"]: "Neither is true then: few devices, and nothing to start.",
            _HALO["copied"]: "Then a staged message takes hardly longer than a direct one: faces are small.",
        },
        truth=lambda: _HALO["many"] if halo_gain(64, COPY_START_US) > 1.6 > halo_gain(64, 0) else _HALO["copied"],
        called={case: (name,) for name, case in _HALO.items()},
        hints=("It is a latency effect: bytes are few.", "Open the table below: read row and column of the larger gains."),
        why="It is the start of copies that goes away, and it counts at the end of strong scaling.",
        solution='"many"',
    ),
    Number(
        name="08-year",
        question="64 nodes wait for a hundredth of every step; each of them draws 4,010 W while it waits. How many kWh are that in a year of 8,766 hours?",
        truth=year_kwh,
        unit="kWh",
        mistakes=(
            Mistake(lambda: year_kwh(nodes=1), "That is one node. Each of the 64 draws 4,010 W."),
            Mistake(lambda: year_kwh(share=1.0), "That is if they waited all the time."),
            Mistake(lambda: year_kwh() * 1000, "Those are Wh."),
        ),
        hints=("kW times nodes times hours times the share.", "4.01 kW x 64 x 8,766 h is waiting all the time."),
        why="Waiting draws about 60 per cent of what computing does; so a share of time saved is less than that share of energy.",
        solution="0.01 * 64 * 4.010 * 8766",
    ),
)  # fmt: skip
