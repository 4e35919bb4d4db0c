"""What `peerlab measure` prints for people."""

from collections.abc import Sequence
from itertools import groupby

from peerlab.base.units import PS_PER_S, say_bytes, say_time
from peerlab.features.measure.schedule import Measurement
from peerlab.features.measure.stream import Progress
from peerlab.records import Records
from peerlab.records.judge import NOISE, WRONG, Comparison, compare, gist

_LEGEND = "[ ]: quartiles of the repetitions. ~: within the noise, as an arm differs as much from itself (A/A); no verdict"


def print_block(plan: Measurement, progress: Progress) -> None:
    """Print the line of what was just measured; the first one has a head."""
    comparisons = [
        comparison
        for comparison in compare(Records.of(progress.rows), plan.baseline)
        # Registered arms have a table at the end, where they are compared with `direct` without registration.
        if comparison.registration == "none"
    ]
    # The control is the same arm, but goes by its variant: so this finds the first of the two.
    baseline = next(comparison for comparison in comparisons if say_condition(comparison) == plan.baseline)
    others = [comparison for comparison in comparisons if comparison is not baseline]
    if (progress.ranks, progress.size_bytes) == plan.blocks[0]:
        print(f"AllReduce, measured: time of {plan.baseline}, and how many times as fast the others are")
        print(_line("ranks", "size", [plan.baseline, *map(say_condition, others)]))
    cells = [say_time(baseline.time_s * PS_PER_S), *map(_cell, others)]
    print(_line(str(progress.ranks), say_bytes(progress.size_bytes), cells), flush=True)


def print_end(plan: Measurement, records: Records) -> None:
    """Print what registration costs, and what all this is."""
    comparisons = [
        comparison for comparison in compare(records, plan.registers) if comparison.registration != "none"
    ]
    if comparisons:
        names = list(dict.fromkeys(map(say_condition, comparisons)))
        print(
            f"\n{plan.registers} with registered memory, how many times as fast as {plan.registers} without"
        )
        print(_line("ranks", "size", names))
        for (ranks, size), block in groupby(
            comparisons, lambda comparison: (comparison.ranks, comparison.size_bytes)
        ):
            cells = {say_condition(comparison): _cell(comparison) for comparison in block}
            print(_line(str(ranks), say_bytes(size), [cells.get(name, "-") for name in names]))
    if text := gist(compare(records)):
        print(f"\n{text}")
    print()
    pinning = [plan.kind.pinnings[plan.pins].says] if comparisons else []
    for sentence in (_LEGEND, *pinning, *records.warnings, f"what it is: {records.manifest['what_it_is']}"):
        print(sentence)


def say_condition(comparison: Comparison) -> str:
    """Return what was measured in a word: arm, control or registration."""
    if comparison.registration == "none":
        return comparison.variant or comparison.path
    return f"lru:{comparison.capacity}" if comparison.registration == "lru" else comparison.registration


def _cell(comparison: Comparison) -> str:
    mark = {NOISE: "~", WRONG: "!"}.get(comparison.verdict, " ")
    return f"{comparison.ratio:.2f} [{comparison.low:.2f}-{comparison.high:.2f}]{mark}"


def _line(ranks: str, size: str, cells: Sequence[str]) -> str:
    """Return a line in columns of one width, as a line is printed before the next is known."""
    return f"  {ranks:>5}  {size:>8}" + "".join(f"  {cell:>18}" for cell in cells)
