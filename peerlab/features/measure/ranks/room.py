"""How much memory there is, and whether a measurement fits into it."""

from collections.abc import Iterator
from pathlib import Path

from peerlab.base.errors import MeasurementError
from peerlab.base.units import KIB, say_bytes, say_count
from peerlab.collectives.ring_moves import RingLayout
from peerlab.features.measure.schedule import Measurement
from peerlab.machine.files import number, text

_SHARE = 0.8
"""Of the free memory; the rest is left to whatever else runs."""
_NO_LIMIT = 2**60
"""From here on a cgroup's number says that there is none."""


def needed_bytes(plan: Measurement) -> int:
    """Return the host memory that each rank of a measurement takes."""
    footprint = max(RingLayout(ranks, size).footprint for ranks, size in plan.blocks)
    # Of an accelerator's memory the host has what goes in and comes out, and what an arm stages in.
    copies = [case.arm for case in plan.cases].count(plan.kind.copied_by)
    device = max(plan.sizes) + copies * footprint if plan.kind.accelerator else footprint
    numbers = max(plan.sizes) * 3 // 2  # float32, drawn as half of that
    return device + numbers + 2 * plan.slice_bytes + plan.kind.process_bytes


def free_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory that may still be taken: the machine's, or what is left of a control group's limit."""
    numbers = [_available(root), *(_left(group) for group in _groups(root))]
    return min((limit for limit in numbers if limit is not None), default=None)


def check(plan: Measurement, processes: int, root: Path = Path("/")) -> None:
    """Refuse what does not fit, with so many ranks on this machine.

    Raises
    ------
    MeasurementError
        If it needs more than the free memory, with how much there is.
    """
    what = f"{say_bytes(max(plan.sizes))} on {say_count(processes, 'rank')}"
    check_bytes(processes * needed_bytes(plan), what, "choose smaller sizes or fewer ranks", root)


def check_bytes(need: int, what: str, helps: str, root: Path = Path("/")) -> None:
    """Refuse `what` if it needs more bytes than fit; `helps` says what to choose instead.

    Raises
    ------
    MeasurementError
        If it needs more than the free memory, with how much there is.
    """
    free = free_bytes(root)
    if free is not None and need > _SHARE * free:
        raise MeasurementError(
            f"sizes: {what} needs {say_bytes(need)} of memory, {say_bytes(free)} are free; {helps}"
        )


def _available(root: Path) -> int | None:
    for line in (text(root / "proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * KIB
    return None


def _groups(root: Path) -> Iterator[Path]:
    """Yield this process's control groups up to the top, each of which may have a limit; a container sees its own at the top."""
    top = root / "sys/fs/cgroup"
    yield from (top, top / "memory")
    for line in (text(root / "proc/self/cgroup") or "").splitlines():
        # The path is last, as it may hold colons.
        _, kinds, path = line.split(":", 2)
        if kinds in ("", "memory"):  # version 2, version 1
            own = top / kinds / path.lstrip("/")
            yield from (own, *own.parents[: len(Path(path).parts) - 1])


def _left(group: Path) -> int | None:
    """Return what a control group may still take; files that the kernel caches give way."""
    most = number(group / "memory.max") or number(group / "memory.limit_in_bytes")
    now = number(group / "memory.current") or number(group / "memory.usage_in_bytes") or 0
    if most is None or most >= _NO_LIMIT:
        return None
    # Version 1 counts a group with those below it under `total_`, version 2 always does.
    counts = dict(line.split() for line in (text(group / "memory.stat") or "").splitlines())
    cached = counts.get("total_inactive_file") or counts.get("inactive_file") or 0
    return max(most - now + int(cached), 0)
