"""How much memory there is, and whether a measurement fits into it."""

from pathlib import Path

from peerlab.errors import MeasurementError
from peerlab.machine.files import number, text
from peerlab.measurement.plan import Measurement
from peerlab.measurement.ring import Ring
from peerlab.units import KIB, MIB, say_bytes, say_count

_PROCESS_BYTES = 64 * MIB
"""A rank's interpreter with NumPy; an estimate, on the large side."""
_SHARE = 0.8
"""Of the free memory; the rest is left to whatever else runs."""
_NO_LIMIT = 2**60
"""From here on a cgroup's number says that there is none."""


def needed_bytes(plan: Measurement) -> int:
    """Return the memory that each rank of a measurement takes."""
    device = max(Ring(ranks, size).footprint for ranks, size in plan.blocks)
    numbers = max(plan.sizes) * 3 // 2  # float32, drawn as half of that
    return device + numbers + 2 * plan.slice_bytes + _PROCESS_BYTES


def free_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory that may still be taken: the machine's, or what is left of its control group's limit."""
    found = [_available(root), _left(root, "memory.max", "memory.current")]
    found.append(_left(root, "memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
    known = [one for one in found if one is not None]
    return min(known) if known else None


def check(plan: Measurement, processes: int, root: Path = Path("/")) -> None:
    """Refuse what does not fit, with so many ranks on this machine.

    Raises
    ------
    MeasurementError
        If it needs more than the free memory, with how much there is.
    """
    free, need = free_bytes(root), processes * needed_bytes(plan)
    if free is not None and need > _SHARE * free:
        largest = say_bytes(max(plan.sizes))
        raise MeasurementError(
            f"sizes: {largest} on {say_count(processes, 'rank')} needs {say_bytes(need)} of memory, "
            f"{say_bytes(free)} are free; choose smaller sizes or fewer ranks"
        )


def _available(root: Path) -> int | None:
    for line in (text(root / "proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * KIB
    return None


def _left(root: Path, limit: str, used: str) -> int | None:
    """Return what a control group may still take; a container sees its own at the top."""
    group = root / "sys/fs/cgroup"
    most, now = number(group / limit), number(group / used)
    return None if most is None or now is None or most >= _NO_LIMIT else max(most - now, 0)
