"""Exercises of lab 12: claims that articles make, beside what peerlab simulates or works out."""

from functools import cache

from peerlab.base.data_frames import pd
from peerlab.features.exercises.exercise import Choice, Mistake, Number
from peerlab.features.exercises.labs import fabric_forms as forms
from peerlab.features.exercises.labs.halo import HaloStep, halo_steps
from peerlab.features.exercises.labs.quoted_tables import storage_rows
from peerlab.features.exercises.labs.unseen import unseen_claim
from peerlab.model.hardware import Cluster
from peerlab.question.presets import load_cluster

COPY_START_US = 10
"""What starting a copy and waiting for it takes, microseconds (assumed; 5 to 20, of which an H200 takes 7.1 to 9.2)."""
SHARE, NODES, WATTS = 0.01, 64, 4010
"""A cluster to work with: exposed share of a step, nodes, and what each of them draws while it waits."""
# Cubes of 2 to 10, and 6^3: a box divides evenly in three directions.
GPUS = (8, 27, 64, 125, 216, 512, 1000)
"""How many share a box of 64,000 particles: cubes, so that each has neighbours in three directions."""


def _juliet(start_us: float) -> Cluster:
    cluster = load_cluster("juliet")
    return cluster.with_figure("device.copy_start", start_us) if start_us else cluster


@cache
def halo(domains: int, start_us: float) -> dict[str, HaloStep]:
    """Return a step of 64,000 particles on each path, where each staged copy waits so long to start."""
    return {halo_step.path: halo_step for halo_step in halo_steps(_juliet(start_us), domains)}


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


_HALO = {
    "few": "8 GPUs share 64,000 particles, and each staged copy must be started",
    "many": "64 GPUs share 64,000 particles, and each staged copy must be started",
    "no_start": "8 GPUs share 64,000 particles, and gdrcopy spares the start",
    "copied": "64 GPUs share 64,000 particles, and gdrcopy spares the start",
}
_SLOW_COPY, _BUSY, _ENGINE, _FEW = (
    "a core copies, at 8 GB/s",
    "a copy engine copies, and the uplink carries both ways",
    "a copy engine copies, and the uplink is its own",
    "two drives of 3.5 GB/s",
)
_CASES = {
    _SLOW_COPY: "copy by one core, 8 GB/s",
    _BUSY: "uplink shared both ways",
    _ENGINE: "copy engine, uplink its own",
    _FEW: "two drives of 3.5 GB/s",
}
"""What is offered, with its row in the table of storage."""


def _loads_so_much_faster() -> str:
    """Return the case in which the direct way is two to three times as fast, as the overview says."""
    gains = {case: row["times as fast"] for case, row in storage_rows().items()}
    # Exactly one, else the question has no answer, and this fails.
    (text,) = (case for case, row in _CASES.items() if 2 <= gains[row] <= 3.2)
    return text


def year_kwh(share: float = SHARE, nodes: int = NODES) -> float:
    """Return the kWh that waiting draws in a year."""
    # Of a step of one second: only the share counts.
    return forms.waiting_year(share, 1.0, nodes, WATTS, 0)[0]


EXERCISES = (
    Choice(
        name="12-halo",
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
    Choice(
        name="12-storage",
        question='"Two to three times faster data loading." Drives read 25 GB/s, and an uplink carries 28.2 GB/s. Where is it so?',
        options={
            _SLOW_COPY: "",
            _BUSY: "Then half of the uplink is left to each way. How much is that, beside 25 GB/s?",
            _ENGINE: "A copy engine of 23 GB/s is hardly slower than the drives.",
            _FEW: "Then the drives are the slowest part, on both ways.",
        },
        truth=_loads_so_much_faster,
        called={_SLOW_COPY: ("core", "a core"), _BUSY: ("uplink",), _ENGINE: ("copy engine",), _FEW: ("drives",)},
        hints=(
            "A rate is that of the slowest part. Which part is the slowest on the detour, and which without it?",
            "The detour has to be at half of the drives' rate or below.",
        ),
        why="One core copies a third of what the drives read. Any other copy is too fast for the claim.",
        solution=f'"{_SLOW_COPY}"',
    ),
    Number(
        name="12-year",
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
TRANSFER = unseen_claim.TRANSFER
