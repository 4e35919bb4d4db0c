"""The process that measures: it starts the ranks, asks them in turn, and tells what comes as lines of JSON.

It ends when its input is closed: whoever wanted to know has gone.
"""

import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from peerlab.base.errors import Cancelled, MeasurementError, PeerlabError
from peerlab.collectives.conditions import say_block
from peerlab.collectives.ring_moves import PAGE, RingLayout
from peerlab.features.measure.cuda.gpus import GpuHere, check, doubts, gpus_here, mps_runs
from peerlab.features.measure.measured_rows import rows, shuffled
from peerlab.features.measure.ranks import manifest, probe, room
from peerlab.features.measure.ranks.memory.locked_memory import limit_bytes, say_limit
from peerlab.features.measure.ranks.rank_processes import RankProcesses, rank_processes
from peerlab.features.measure.schedule import UNREGISTERED, Measurement, Registration
from peerlab.machine.attempts import why_not

Tell = Callable[[dict[str, Any]], None]

# Seconds between two tellings: the cores that would print more often are the ones being measured.
_TELL_EVERY_S = 0.3


class _BlockSweep:
    """All blocks of a measurement, one after another."""

    def __init__(self, plan: Measurement, ranks: RankProcesses, tell: Tell, forbidden: str) -> None:
        self._plan, self._ranks, self._tell, self._forbidden = plan, ranks, tell, forbidden
        self._runs = 0
        self._told = time.monotonic()

    def measure(self) -> None:
        """Measure block after block, telling the rows of each as it ends."""
        blocks = [
            (ranks, size, fitting(self._plan, ranks, size, self._forbidden))
            for ranks, size in self._plan.blocks
        ]
        total = sum(len(cases) for _, _, cases in blocks) * (self._plan.repetitions + 1)
        left_out = [
            say_block(ranks, size) for ranks, size, cases in blocks if len(cases) < len(self._plan.cases)
        ]
        warnings = [_say_left_out(left_out, self._forbidden)] if left_out else []
        self._tell({"total": total, "warnings": warnings})
        for ranks, size, cases in blocks:
            self._tell({"rows": self._block(ranks, size, cases), "done": self._runs, "block": [ranks, size]})

    def _block(self, ranks: int, size: int, cases: Sequence[int]) -> list[dict[str, Any]]:
        doing = f"getting ready for {say_block(ranks, size)}"
        self._ranks.ask([{"do": "prepare", "ranks": ranks, "nbytes": size, "cases": cases}] * ranks, doing)
        entries: dict[int, list[dict[str, Any]]] = {case: [] for case in cases}
        for repetition in range(-1, self._plan.repetitions):  # the first one warms up
            for case in shuffled(cases, repetition):
                rank_rows = self._run(ranks, size, case)
                if repetition >= 0:
                    entries[case] += rows(self._plan, self._plan.cases[case], size, repetition, rank_rows)
        self._ranks.ask([{"do": "finish", "ranks": ranks}] * ranks, doing)
        return [row for mine in entries.values() for row in mine]

    def _run(self, ranks: int, size: int, case: int) -> list[dict[str, Any]]:
        self._runs += 1
        if time.monotonic() - self._told > _TELL_EVERY_S:
            self._told = time.monotonic()
            self._tell({"done": self._runs, "block": [ranks, size]})
        doing = f"measuring {self._plan.cases[case]}, {say_block(ranks, size)}"
        order = {"do": "run", "ranks": ranks, "case": case, "run": self._runs}
        return self._ranks.ask([order] * ranks, doing)


def forbidden(plan: Measurement, gpus: Sequence[GpuHere]) -> str:
    """Return why regions cannot be registered here as planned; empty if they can."""
    if not plan.kind.accelerator:
        return why_not(plan.pins)
    lacking = [gpu.name for gpu in gpus if not gpu.dma_buf] if plan.kind.pinnings[plan.pins].exports else []
    return f"the driver exports no DMA-BUF of {lacking[0]}" if lacking else ""


def fitting(plan: Measurement, ranks: int, size: int, forbidden: str = "") -> list[int]:
    """Return which cases to measure: registrations only where the limit has room for all of them, unless the user insists."""
    everything = list(range(len(plan.cases)))
    # A GPU's driver pins without counting against the limit.
    limit = None if plan.kind.accelerator else limit_bytes()
    registrations = [case.registration for case in plan.cases]
    locked = sum(
        locked_bytes(registration, RingLayout(ranks, size))
        for registration in registrations
        if registration.pins
    )
    sharing = ranks if plan.pins == "io_uring" else 1  # what counts per user, and what per process
    if plan.insist or ((limit is None or sharing * locked <= limit) and not forbidden):
        return everything
    return [i for i in everything if registrations[i] == UNREGISTERED]


def locked_bytes(registration: Registration, ring: RingLayout) -> int:
    """Return the most bytes that a rank has registered at once."""
    region = ring.largest_chunk + 2 * PAGE  # chunks begin and end anywhere
    everything = 2 * ring.ranks - 1  # each chunk, and the scratch of each step
    # At least both ends of the transfer at hand, which are registered even without a cache.
    return region * max(2, min(registration.capacity or 0, everything))


def _say_left_out(blocks: Sequence[str], forbidden: str) -> str:
    if forbidden:
        return f"no registration: it does not work here: {forbidden}"
    return (
        f"no registration at {'; '.join(blocks)}: it takes more than the locked-memory limit, {say_limit()}; "
        "raise it ('ulimit -l'), or name registrations to have them tried"
    )


def measure(plan: Measurement, stop_fd: int, tell: Tell) -> None:
    """Measure, telling first the manifest, then rows and progress, and last the load."""
    probe.check(plan)
    gpus = gpus_here() if plan.kind.accelerator else ()
    why_unregistered = forbidden(plan, gpus)
    if gpus:
        _check(plan, gpus, why_unregistered)
    room.check(plan, max(plan.ranks))
    # Before the ranks are started: the load of the machine is to be that without them.
    about = manifest.describe(plan)
    tell({"manifest": about | accelerators(gpus, about["devices"][0]), "warnings": doubts(plan, gpus)})
    with rank_processes(plan, stop_fd) as ranks:
        _BlockSweep(plan, ranks, tell, why_unregistered).measure()
    tell({"manifest": {"load_after": manifest.load()}, "complete": True})


def _check(plan: Measurement, gpus: tuple[GpuHere, ...], why_unregistered: str) -> None:
    check(plan, gpus)
    if plan.insist and why_unregistered and any(case.registration.pins for case in plan.cases):
        raise MeasurementError(f"pins: {plan.pins!r} does not work here: {why_unregistered}")


def accelerators(gpus: Sequence[GpuHere], processor: str) -> dict[str, Any]:
    """Return what of a manifest names accelerators in place of the processor, which is named beside them; nothing without any."""
    if not gpus:
        return {}
    return {
        "devices": [gpu.name for gpu in gpus],
        "accelerators": [str(gpu) for gpu in gpus],
        "processor": processor,
        "mps": mps_runs(),
    }


def _stop(*_: Any) -> None:
    """End in good order, once: ending must not be disturbed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def _print(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)  # noqa: T201  (the pipe to whoever wanted to know)


def main(asked: str) -> int:
    """Measure what is asked for; return the exit status."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        plan = Measurement.from_plain(json.loads(asked))
        measure(plan, sys.stdin.fileno(), _print)
    # A cancelled measurement is a `PeerlabError`, too, but no problem to tell of: this comes first.
    except (Cancelled, BrokenPipeError):
        return 0
    except PeerlabError as problem:
        _print({"problem": str(problem)})
        return 1
    except (OSError, MemoryError) as problem:
        _print({"problem": f"the measurement cannot go on: {problem or 'no memory'}"})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
