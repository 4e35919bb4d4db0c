"""`peerlab measure`."""

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from tqdm import tqdm

from peerlab.cli.words import command, number
from peerlab.errors import MeasurementError
from peerlab.measurement.manifest import WHAT_IT_IS
from peerlab.measurement.plan import DEFAULT_ARMS, DEFAULT_RANKS, DEFAULT_SIZES, PINS, Measurement
from peerlab.measurement.stream import Progress, Stream
from peerlab.records import Records
from peerlab.records.judge import NOISE, WRONG, Comparison, compare
from peerlab.units import PS_PER_S, say_bytes, say_time

_EXAMPLES = """\
examples:
  peerlab measure                                     2 and 4 ranks, 64 KiB to 8 MiB, every arm: some seconds
  peerlab measure --ranks 2 --sizes 1MiB,64MiB        other sizes
  peerlab measure --registrations lru,lru:4           caches of other capacities, even beyond the locked-memory limit
  peerlab measure --arms staged,direct,cma            one more arm, where the kernel allows it
  peerlab measure --save mine.csv                     every repetition of every rank

the arms: staged (device memory, bounce buffer, TCP, bounce buffer, device memory), tcp (no bounce buffers), staged-shm (bounce
buffers without TCP), direct (one-sided stores into the neighbour's memory), cma (the same through the kernel)

exit status: 0 measured; 1 it failed, or a sum was wrong; 2 wrong usage; 130 stopped with Ctrl+C
"""

_LEGEND = "[ ]: quartiles of the repetitions. ~: within the noise, as staged differs as much from itself (A/A); no verdict"
_PINNING = dict(
    zip(
        PINS,
        (
            "registered by mlock: an emulation, whose pages may still move; it costs and counts as pinning does",
            "registered as fixed buffers of an io_uring: the kernel pins the pages",
        ),
        strict=True,
    )
)


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "measure",
        "run real AllReduces on this machine, staged and direct",
        _measure,
        epilog=_EXAMPLES,
        argument_default=argparse.SUPPRESS,  # what is not given is the measurement's to decide
    )
    add = sub.add_argument
    add("--ranks", type=_numbers, metavar="N,N", help=f"processes (default: {_said(DEFAULT_RANKS)})")
    add("--sizes", type=_texts, metavar="SIZE,SIZE", help=f"messages (default: {_said(DEFAULT_SIZES)})")
    add("--arms", type=_texts, metavar="ARM,ARM", help=f"data paths (default: {_said(DEFAULT_ARMS)})")
    add(
        "--registrations",
        type=_texts,
        metavar="R,R",
        help="none, per-transfer, lru, lru:N, null (default: all, where the locked-memory limit allows)",
    )
    add("--repetitions", type=number, metavar="N", help="of everything (default: 7)")
    add("--slice", dest="slice_bytes", metavar="SIZE", help="most that is copied at once (default: 256 KiB)")
    add(
        "--pins", metavar="HOW", help="mlock (default), an emulation; or io_uring, where the kernel allows it"
    )
    add("--save", metavar="FILE.csv", help="write every repetition of every rank")
    add("--json", action="store_true", help="print the records and their manifest as JSON")


_NOT_FIELDS = ("run", "save", "json")


def _measure(options: argparse.Namespace) -> int:
    given = {name: value for name, value in vars(options).items() if name not in _NOT_FIELDS}
    plan = Measurement.of(**given)
    records = _watched(plan, table="json" not in options)
    if "json" in options:
        print(json.dumps(_document(records), indent=2))
    else:
        _print_end(plan, records)
    if "save" in options:
        records.save(options.save)
        print(f"saved: {options.save}", file=sys.stderr if "json" in options else sys.stdout)
    wrong = [one for one in compare(records, plan.arms[0]) if one.verdict == WRONG]
    if wrong:
        raise MeasurementError(
            f"wrong sums: {_name(wrong[0])} at {say_bytes(wrong[0].size_bytes)}, and maybe more"
        )
    return 0


def _texts(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")]


def _numbers(text: str) -> list[int | str]:
    return [number(one) for one in _texts(text)]


def _said(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values))


def _document(records: Records) -> dict[str, Any]:
    rows = json.loads(records.table.to_json(orient="records"))
    return {"manifest": dict(records.manifest), "warnings": list(records.warnings), "rows": rows}


def _watched(plan: Measurement, *, table: bool) -> Records:
    """Measure with a bar on a terminal; the table gets each line as soon as it is measured."""
    if table:
        first, *others = (case for case in plan.cases if case.registration.kind == "none")
        print(f"AllReduce on this machine: time of {first}, and how many times as fast the others are")
        print(_line("ranks", "size", [str(first), *(other.variant or other.arm for other in others)]))
    with Stream(plan) as stream, tqdm(unit="run", leave=False, disable=None) as bar:
        for progress in stream:
            bar.total = progress.total
            bar.update(progress.done - bar.n)
            if progress.rows and table:
                with bar.external_write_mode():
                    _print_progress(plan, progress)
        return stream.records


def _print_progress(plan: Measurement, progress: Progress) -> None:
    found = compare(Records.of(progress.rows), plan.arms[0])
    first, *others = (one for one in found if one.registration == "none")
    cells = [say_time(first.time_s * PS_PER_S), *map(_cell, others)]
    print(_line(str(progress.ranks), say_bytes(progress.size_bytes), cells), flush=True)


def _print_end(plan: Measurement, records: Records) -> None:
    """Print what registration costs, and what all this is."""
    found = [one for one in compare(records, "direct") if one.registration != "none"]
    if found:
        names = list(dict.fromkeys(map(_name, found)))
        print("\ndirect with registered memory, how many times as fast as direct without")
        print(_line("ranks", "size", names))
        for (ranks, size), block in groupby(found, lambda one: (one.ranks, one.size_bytes)):
            cells = {_name(one): _cell(one) for one in block}
            print(_line(str(ranks), say_bytes(size), [cells.get(name, "-") for name in names]))
    print()
    for sentence in (
        _LEGEND,
        *[_PINNING[plan.pins]] * bool(found),
        *records.warnings,
        f"what it is: {WHAT_IT_IS}",
    ):
        print(sentence)


def _name(one: Comparison) -> str:
    if one.registration == "none":
        return one.variant or one.path
    return f"lru:{one.capacity}" if one.registration == "lru" else one.registration


def _cell(one: Comparison) -> str:
    mark = {NOISE: "~", WRONG: "!"}.get(one.verdict, " ")
    return f"{one.ratio:.2f} [{one.low:.2f}-{one.high:.2f}]{mark}"


def _line(ranks: str, size: str, cells: Sequence[str]) -> str:
    """Return a line in columns of one width, as a line is printed before the next is known."""
    return f"  {ranks:>5}  {size:>8}" + "".join(f"  {cell:>18}" for cell in cells)
