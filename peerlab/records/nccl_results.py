"""What nccl-tests measured, however it was written: tests, their rows, and what holds for all rows of one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from peerlab.base.errors import RecordsError, nearest
from peerlab.base.units import say_count
from peerlab.model.collective import collective_of, programs_of
from peerlab.records.figures import Printed, contradiction, count_contradiction, cut_off
from peerlab.records.launch import Launch
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.ranks import Range, agreed, factors_of, rank_range, say_ranks

TOOL = "nccl-tests"
VARIANTS = ("out-of-place", "in-place")
_ROWS_AGAINST = 3
"""So many groups of figures outweigh a list of ranks."""


@dataclass(frozen=True, slots=True)
class Group:
    """One of the two ways to run a size, as it was printed."""

    variant: str
    time: Printed
    """Seconds."""
    algbw: Printed
    """GB/s."""
    busbw: Printed
    """GB/s."""
    correct: bool | None
    """Missing: not checked."""
    by_processor: bool = False
    """Whether the time is the processor's (-C 1), from which the bandwidths do not follow."""


@dataclass(frozen=True, slots=True)
class NcclRow:
    """A line of a table, or a result of a JSON file."""

    place: int
    """Its line, or its number among the results."""
    size: int
    count: int
    dtype: str
    op: str
    root: str
    groups: tuple[Group, ...]


@dataclass
class NcclRun:
    """One run of one program: logs of scripts hold several."""

    name: str = ""
    columns: tuple[str, ...] = ()
    """Of its table's head; none before it, or where it is lost."""
    devices: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Host and device of each rank."""
    rows: list[NcclRow] = field(default_factory=list)
    bounds: str = ""
    """The line about values out of bounds: the verdict where the column is "error"."""
    launch: Launch = field(default_factory=Launch)
    """What started it."""
    collective: str = ""
    numbers: dict[int, int] = field(default_factory=dict)
    """Number of the device of each rank on its host."""
    ranks: int | None = None
    """Number of ranks: that of the devices listed, of the figures, or of the command, in this order."""
    boxes: int | None = None
    """How many hosts there are if the last rank has the last device of its host."""

    @property
    def hosts(self) -> list[str]:
        """The host of each rank; none where the list of ranks is not whole."""
        whole = self.ranks in (None, len(self.devices))
        return [host for host, _ in self.devices.values()] if whole else []

    @property
    def nodes(self) -> int | None:
        """How many hosts took part."""
        return len(set(self.hosts)) or self.launch.nodes or self.boxes


def verdict(wrong: float | None) -> bool | None:
    """Return whether a number of wrong elements says that the result is right; None: it was not checked."""
    return wrong == 0 if wrong is not None and wrong.is_integer() else None


def settle(test: NcclRun, notes: list[str], damage: Damage) -> None:
    """Find collective and ranks of a test; add to the notes what was inferred, and doubt rows that contradict it."""
    test.collective = _collective(test, notes)
    groups = [group for row in test.rows for group in row.groups]
    ranges = [rank_range(test.collective, group.algbw, group.busbw) for group in groups]
    numbers, listed = agreed(ranges), len(test.devices) or None
    last = max(test.devices) + 1 if test.devices else None
    # The list has a gap, and its length does not fit the bandwidths: its last number may.
    if listed and last and listed < last and not numbers[0] <= listed <= numbers[1]:
        number = (
            last if numbers[0] <= last <= numbers[1] else numbers[0] if numbers[0] == numbers[1] else None
        )
    else:
        number = numbers[0] if numbers[0] == numbers[1] else listed
        # Several rows have to agree against a list, and none for it.
        if listed and number != listed and not _overrules(number, listed, ranges):
            number = listed
    if number and number != listed:
        lists = f"the log lists {say_count(listed, 'rank') if listed else 'no ranks'}"
        notes.append(f"{lists}; busbw / algbw says {number}")
    if listed and max(test.devices) + 1 != listed:
        notes.append(f"the log's list of ranks is not whole: {listed} of {max(test.devices) + 1}")
    test.ranks = number or test.launch.ranks
    _count_boxes(test, last, notes)
    for row in test.rows:
        _doubt(test, row, (number, number) if number else numbers, damage)


def _count_boxes(test: NcclRun, last: int | None, notes: list[str]) -> None:
    """Count the hosts where the list of ranks is not whole: the last rank has the last device of its host.

    A device 0 says nothing: a launcher may show each process its own device alone.
    """
    if not last or test.nodes or last != test.ranks or len(test.devices) == last:
        return
    each = test.numbers.get(last - 1, 0) + 1
    if each > 1 and last % each == 0:
        test.boxes = last // each
        notes.append(
            f"rank {last - 1}, the last, has device {each - 1}: {each} ranks a node are taken for all"
        )


def _overrules(known: int | None, listed: int, ranges: Sequence[Range | None]) -> bool:
    """Say whether the figures know the ranks better than a list of them: a trimmed one, which no row agrees with."""
    holding = [
        [low <= number <= high for low, high in filter(None, ranges)] for number in (known or 0, listed)
    ]
    against = sum(mine and not other for mine, other in zip(*holding, strict=True))
    return against >= _ROWS_AGAINST and not any(
        other and not mine for mine, other in zip(*holding, strict=True)
    )


def finished(test: NcclRun, source: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one settled test, as records have them."""
    # an error of rounding is no verdict by itself
    rounded = "error" in test.columns and test.bounds.endswith("OK")
    same = {
        "kind": "imported",
        "source": source,
        "collective": test.collective,
        "ranks": test.ranks,
        "nodes": test.nodes,
    }
    for row in test.rows:
        for group in row.groups:
            # a bandwidth of less than three printed digits follows better from size and time
            fine = not (test.ranks and group.time.value and group.algbw.value < 1)
            yield same | {
                "size_bytes": row.size,
                "dtype": row.dtype,
                "op": row.op,
                "variant": group.variant,
                "time_s": group.time.value,
                "algbw_GBps": group.algbw.value if fine else None,
                "busbw_GBps": group.busbw.value if fine else None,
                "correct": True if rounded else group.correct,
            }


def describe(tests: Sequence[NcclRun], launch: Launch) -> dict[str, Any]:
    """Return what a manifest says about some settled tests."""
    names = dict.fromkeys(test.name or test.launch.binary for test in tests)
    listed = next((test for test in tests if test.devices), tests[0])
    return {
        "test": " ".join(name for name in names if name),
        **describe_ranks(tests[0].ranks, listed.hosts or launch.hosts, launch.nodes or listed.boxes),
        "devices": list(dict.fromkeys(device for _, device in listed.devices.values() if device)),
        "validation": next((test.bounds for test in tests if test.bounds), ""),
    }


def doubt_digits(row: NcclRow, cells: Mapping[str, str], variant: str, damage: Damage) -> None:
    """Doubt a line of which a figure has lost its end.

    nccl-tests print two decimals as long as they fit: of times below 100 us in every version, below 10,000 us at least one;
    of bandwidths below 1000 GB/s (NVIDIA/nccl-tests a0b82b2 src/util.cu, getFloatStr; older ones in src/common.cu).
    """
    for name, text in cells.items():
        value = float(text)
        time = name.endswith("time")
        least = (2 if value < 100 else 1 if value < 10_000 else 0) if time else 2 if value < 1000 else 0
        damage.doubt(row.place, cut_off(f"{variant} {name}", text, least))


def _doubt(test: NcclRun, row: NcclRow, ranks: Range, damage: Damage) -> None:
    """Doubt a row whose figures contradict one another."""
    alone = not collective_of(
        test.collective
    ).shares  # else "count" has the elements of one rank, and "size" those of all
    shares = (1,) if alone else (1, ranks[0]) if ranks[0] == ranks[1] else None
    damage.doubt(row.place, count_contradiction(row.size, row.count, row.dtype, shares))
    factors, whose = factors_of(test.collective, ranks), say_ranks(test.collective, ranks)
    for group in row.groups:
        time = None if group.by_processor else group.time
        sentence = contradiction(row.size, time, group.algbw, group.busbw, factors=factors, whose=whose)
        damage.doubt(row.place, f"{group.variant}: {sentence}" if sentence else "")


def _collective(test: NcclRun, notes: list[str]) -> str:
    """Return the collective of a test, from its name or from what its figures leave possible."""
    name = test.name or (test.launch.binary if test.launch.binary.endswith("_perf") else "")
    entries = programs_of(TOOL)
    if name in entries:
        return entries[name]
    if name:
        raise RecordsError(f"test {name!r} is not read; {nearest(name, entries)}")
    # A bandwidth that was printed as 0 has no ratio.
    groups = [group for row in test.rows for group in row.groups if group.algbw.value]
    factor = median(group.busbw.value / group.algbw.value for group in groups) if groups else 1.0
    rooted = sum(row.root != "-1" for row in test.rows) * 2 > len(test.rows)
    # Most rows decide, as single ones may be damaged.
    if sum(row.op in ("none", "") for row in test.rows) * 2 > len(test.rows):
        guess = "broadcast" if rooted else "allgather"
    else:
        # busbw over algbw is (n-1)/n of a reduce-scatter, and 1 or more of an allreduce.
        guess = "reduce" if rooted else "reduce-scatter" if factor < 0.99 else "allreduce"
    notes.append(f"the log does not name its test; columns and factors fit {guess}")
    return guess
