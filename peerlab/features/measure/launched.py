"""The same sweep where mpirun or srun starts the ranks, on one machine or many.

Every rank runs this, in step with the others; rank 0 hears of every run and keeps the records.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from peerlab.base.errors import MeasurementError
from peerlab.base.units import say_count
from peerlab.collectives.ring_moves import MOST_RANKS, Numbers, RingLayout
from peerlab.features.measure.measured_rows import rows, shuffled
from peerlab.features.measure.mpi import ARMS, MpiPeers
from peerlab.features.measure.ranks import manifest, room
from peerlab.features.measure.ranks.arms import Arm, Bytes
from peerlab.features.measure.schedule import Measurement, say_command
from peerlab.features.measure.stream import Progress
from peerlab.features.measure.timing import timed
from peerlab.records import Records
from peerlab.records.judge import control_ratios


def plan_launched(peers: MpiPeers, given: Mapping[str, Any]) -> Measurement:
    """Return what to measure among these ranks, from what a user says.

    Raises
    ------
    MeasurementError
        If a value is impossible here.
    """
    for field in ("ranks", "registrations", "pins", "memory"):
        if field in given:
            raise MeasurementError(f"{field}: cannot be chosen with --mpi: the launcher starts the ranks")
    return Measurement.of(
        **{"arms": tuple(ARMS), **given},
        ranks=peers.size,
        registrations="none",
        most_ranks=MOST_RANKS,
        known=ARMS,
    )


def measure_launched(
    plan: Measurement, peers: MpiPeers, on_progress: Callable[[Progress], None]
) -> Records | None:
    """Measure, on every rank; return the records on rank 0 alone.

    Raises
    ------
    MeasurementError
        If memory lacks.
    """
    about = manifest.describe_machine()
    where = {"host": about["hosts"][0], "device": about["devices"][0]}
    everybody = peers.gather(where)
    # Only rank 0 hears where the others are: elsewhere the list is empty, and a rank checks the room for
    # itself.
    room.check(plan, [host["host"] for host in everybody].count(where["host"]) or 1)
    measured = _SizeSweep(plan, peers, on_progress).measure()
    if peers.rank:
        return None
    # `dict.fromkeys` keeps the order of the ranks, which a set would not.
    hosts, devices = (list(dict.fromkeys(host[name] for host in everybody)) for name in ("host", "device"))
    about |= {
        "command": f"{say_command(plan)} --mpi",
        "hosts": hosts,
        "devices": devices,
        "ranks": peers.size,
        "nodes": len(hosts),
        "transport": [*peers.transport, *(f"{arm}: {ARMS[arm]}" for arm in plan.arms)],
        "what_it_is": f"messages among processes on {say_count(len(hosts), 'node')}, from and to their own memory: "
        "no accelerator's",
        "load_after": manifest.load(),
    }
    # On nodes with unlike numbers of ranks there is no such figure: the record leaves it out.
    if peers.size % len(hosts) == 0:
        about["ranks_per_node"] = peers.size // len(hosts)
    source = {"source": manifest.source(about), "nodes": len(hosts)}
    # The A/A ratio is worked out from records, and belongs to their manifest: they are made twice.
    records = Records.of([source | row for row in measured], about)
    return Records.of([source | row for row in measured], about | {"a_a_ratio": control_ratios(records)})


class _SizeSweep:
    """All sizes, one after another, on one rank."""

    def __init__(self, plan: Measurement, peers: MpiPeers, on_progress: Callable[[Progress], None]) -> None:
        self._plan, self._peers, self._on_progress = plan, peers, on_progress
        self._numbers = Numbers(max(plan.sizes))
        self._runs = 0

    def measure(self) -> list[dict[str, Any]]:
        """Measure; return all rows, on rank 0."""
        return [row for size in self._plan.sizes for row in self._block(size)]

    def _block(self, size: int) -> list[dict[str, Any]]:
        plan, peers = self._plan, self._peers
        device = np.zeros(RingLayout(peers.size, size).footprint, np.uint8)
        arms = [peers.arm(case.arm, device, size, plan.slice_bytes) for case in plan.cases]
        by_case: dict[int, list[dict[str, Any]]] = {case: [] for case in range(len(arms))}
        for repetition in range(-1, plan.repetitions):  # the first one warms up
            # The order follows from the repetition alone: ranks in different arms would wait for each other
            # for ever.
            for case in shuffled(range(len(arms)), repetition):
                rank_rows = peers.gather(self._run(arms[case], device, size))
                if repetition >= 0 and rank_rows:
                    by_case[case] += rows(plan, plan.cases[case], size, repetition, rank_rows)
        block_rows = [row for mine in by_case.values() for row in mine]
        total = len(plan.sizes) * len(arms) * (plan.repetitions + 1)
        self._on_progress(
            Progress(done=self._runs, total=total, ranks=peers.size, size_bytes=size, rows=tuple(block_rows))
        )
        return block_rows

    def _run(self, arm: Arm, device: Bytes, size: int) -> dict[str, Any]:
        self._runs += 1
        peers, message = self._peers, device[:size].view(np.float32)
        # Filling and checking stand outside the clock, and each run has other numbers: what is left over
        # passes for nothing.
        self._numbers.fill(peers.rank, self._runs, message)
        took = timed(arm, RingLayout(peers.size, size).moves(peers.rank), peers.barrier)
        return took | {"correct": self._numbers.is_sum(peers.size, self._runs, message)}
