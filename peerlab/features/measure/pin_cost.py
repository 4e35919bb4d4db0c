"""What registering memory costs on this machine: regions of several sizes are pinned and let go of, by the clock.

No NIC takes part, so what a NIC's own tables cost is not in it; the kernel's share, pinning page by page, is real.
"""

import json
import mmap
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerlab.base.display import shown
from peerlab.base.errors import MeasurementError
from peerlab.base.units import KIB, MIB, parse_bytes, say_bytes, say_count
from peerlab.features.measure.ranks.memory.locked_memory import limit_bytes, say_limit, say_refusal
from peerlab.features.measure.ranks.pins import KINDS
from peerlab.features.measure.ranks.starting import apart
from peerlab.features.measure.schedule import PINS
from peerlab.machine import linux
from peerlab.machine.attempts import why_not
from peerlab.model.registration import Region

if TYPE_CHECKING:
    import pandas as pd

_HUGE = 2 * MIB
_SMALL = mmap.PAGESIZE
_MOST_BYTES = 256 * MIB
_MOST_SECONDS = 0.3
"""How long a region is pinned again and again; a large one on a slow machine is pinned three times at least."""
# How often a region is pinned at least and at most, beside the first time.
_LEAST, _MOST = 3, 15


@dataclass(frozen=True, eq=False)
class PinCost:
    """What registering cost here; a notebook shows it as a table."""

    table: "pd.DataFrame"
    """One row per way and size: ``pins``, ``page_bytes``, ``size_bytes``; medians ``register_us`` and ``deregister_us``."""
    notes: Sequence[str]
    """What could not be tried here, and why."""

    _repr_html_ = shown

    def __repr__(self) -> str:
        return f"PinCost({say_count(len(self.table), 'row')}: {', '.join(self.table['pins'].unique())})"


def pin_cost(
    sizes: Iterable[int | str] = ("64 KiB", "1 MiB", "4 MiB"), pins: Iterable[str] = PINS
) -> PinCost:
    """Register and deregister regions on this machine, in a process of its own, and return how long that takes.

    Each region is written to first, so that its pages are there. Where the kernel gives huge pages, they are tried too.

    Parameters
    ----------
    sizes:
        Sizes of the regions, bytes or text, at most 256 MiB; what the locked-memory limit forbids is left out, and said.
    pins:
        ``mlock``, an emulation, and ``io_uring``, where the kernel allows it.

    Raises
    ------
    MeasurementError
        If a value is impossible.
    """
    import pandas as pd  # noqa: PLC0415  (the process that pins needs no tables)

    wanted = [_size(size) for size in sizes]
    ways = list(pins)
    for way in ways:
        if way not in PINS:
            raise MeasurementError(f"pins: {way!r} is unknown; known: {', '.join(PINS)}")
    refused = {way: why_not(way) for way in ways}
    notes = [f"{way} does not work here: {reason}" for way, reason in refused.items() if reason]
    limit = limit_bytes()
    fitting = [size for size in wanted if limit is None or size < limit]  # the table of pins takes some too
    if left_out := [say_bytes(size) for size in wanted if size not in fitting]:
        notes.append(f"{', '.join(left_out)}: not tried, as the locked-memory limit is {say_limit()}")
    working = [way for way in ways if not refused[way]]
    # a process of its own: a notebook's kernel locks no memory
    rows, failed = apart(__name__, "registering", json.dumps([working, fitting]))
    notes += failed
    if not any(row["page_bytes"] == _HUGE for row in rows) and any(size >= _HUGE for size in fitting):
        notes.append(f"huge pages of {say_bytes(_HUGE)}: the kernel gave none")
    columns = ["pins", "page_bytes", "size_bytes", "register_us", "deregister_us"]
    return PinCost(pd.DataFrame(rows, columns=columns), notes)


def _size(value: int | str) -> int:
    try:
        nbytes = parse_bytes(value)
    except ValueError as problem:
        raise MeasurementError(f"sizes: {problem}") from None
    if not _SMALL <= nbytes <= _MOST_BYTES or nbytes % _SMALL:
        raise MeasurementError(
            f"sizes: {value!r} is no multiple of {say_bytes(_SMALL)} up to {say_bytes(_MOST_BYTES)}"
        )
    return nbytes


def _measured(ways: Sequence[str], sizes: Sequence[int]) -> tuple[list[dict[str, Any]], list[str]]:
    rows, failed = [], []
    for way, page, size in product(ways, (_SMALL, _HUGE), sizes):
        if size < page:
            continue
        # Room to move the start up to a boundary of a huge page.
        with mmap.mmap(-1, size + _HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as ground:
            start = _prepared(ground, size, huge=page == _HUGE)
            if page == _HUGE and not _has_huge(start, size):
                continue
            try:
                took = _timed(way, Region(start, start + size))
            except OSError as problem:
                failed.append(f"{way}: {say_refusal(problem, size, size)}")
            else:
                rows.append({"pins": way, "page_bytes": page, "size_bytes": size, **took})
    return rows, failed


def _prepared(ground: mmap.mmap, size: int, *, huge: bool) -> int:
    """Return the address of `size` bytes whose pages are there, of the kind that is asked for."""
    base = linux.address_of(ground)
    offset = -base % _HUGE
    advice = getattr(mmap, "MADV_HUGEPAGE" if huge else "MADV_NOHUGEPAGE", None)
    if advice is not None:
        with suppress(OSError):  # a kernel without huge pages has small ones alone
            ground.madvise(advice)
    # After the advice, which holds for pages that come later; before the clock, which is not to count their
    # coming.
    linux.touch(ground, offset, offset + size)
    return base + offset


def _has_huge(start: int, size: int) -> bool:
    """Return whether the kernel really gave huge pages: it only tries."""
    with Path("/proc/self/smaps").open(encoding="ascii", errors="replace") as lines:
        inside = False
        for line in lines:
            first = line.split(maxsplit=1)[0]
            # A mapping begins with its addresses, `low-high`; every other line begins with a name and a
            # colon.
            if "-" in first and not first.endswith(":"):
                low, high = (int(end, 16) for end in first.split("-"))
                inside = low <= start < high
            elif inside and first == "AnonHugePages:":
                # The file writes kB and counts in KiB.
                return int(line.split()[1]) * KIB >= size
    return False


def _timed(way: str, region: Region) -> dict[str, float]:
    """Return the median microseconds of registering a region and of letting go of it; the first time does not count."""
    taken: list[tuple[float, float]] = []
    with closing(KINDS[way]()) as pins:
        until = time.perf_counter() + _MOST_SECONDS
        while len(taken) <= _LEAST or (len(taken) <= _MOST and time.perf_counter() < until):
            began = time.perf_counter()
            pins.pin(region)
            pinned = time.perf_counter()
            pins.unpin(region)
            taken.append((pinned - began, time.perf_counter() - pinned))
    register, deregister = (1e6 * statistics.median(column) for column in zip(*taken[1:], strict=True))
    return {"register_us": register, "deregister_us": deregister}


if __name__ == "__main__":
    json.dump(_measured(*json.loads(sys.argv[1])), sys.stdout)
