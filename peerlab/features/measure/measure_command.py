"""`peerlab measure`: data paths measured on this machine, by processes of its own."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import peerlab
from peerlab.base.document import document_text
from peerlab.base.errors import MeasurementError, nearest, one_line
from peerlab.base.outfile import check_place
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import command, end_at_once, end_in_order, number
from peerlab.base.units import say_bytes
from peerlab.features.measure.launched import measure_launched, plan_launched
from peerlab.features.measure.measure_text import print_block, print_end, say_condition
from peerlab.features.measure.memories import MEMORIES
from peerlab.features.measure.mpi import MpiPeers
from peerlab.features.measure.reports.copies_document import copies_document
from peerlab.features.measure.schedule import DEFAULT_RANKS, DEFAULT_SIZES, Measurement
from peerlab.features.measure.stream import Progress, Stream
from peerlab.records import Records
from peerlab.records.judge import WRONG, compare

_EXAMPLES = """\
examples:
  peerlab measure                                     2 and 4 ranks, 64 KiB to 8 MiB, every arm: some seconds
  peerlab measure --ranks 2 --sizes 1MiB,64MiB        other sizes
  peerlab measure --registrations lru,lru:4           caches of other capacities, even beyond the locked-memory limit
  peerlab measure --arms staged,direct,cma            one more arm, where the kernel allows it
  peerlab measure --save mine.csv                     every repetition of every rank
  peerlab measure --memory cuda                       between the memories of NVIDIA GPUs (pip install 'peerlab[cuda]')
  peerlab measure copies --save copies.json           how long copies between a GPU and its host take, and registering
  mpirun -n 4 peerlab measure --mpi                   over MPI, on a cluster; FI_PROVIDER and the like choose the transport

the arms: staged (device memory, bounce buffer, TCP, bounce buffer, device memory), tcp (no bounce buffers), staged-shm (bounce
buffers without TCP), direct (one-sided stores into the neighbour's memory), cma (the same through the kernel); of GPUs: staged (through pinned host
memory and TCP), staged-pageable (through ordinary host memory and TCP), direct (one copy into the neighbour's memory); over MPI: mpi (MPI_Allreduce), mpi-ring (our ring), mpi-staged (through
bounce buffers)

exit status: 0 measured; 1 it failed, or a sum was wrong; 2 wrong usage; 130 stopped with Ctrl+C
"""


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
    _add_what(sub.add_argument)
    _add_how(sub.add_argument)


def _add_what(add: Callable[..., Any]) -> None:
    """Add what is measured."""
    add(
        "what",
        nargs="?",
        metavar="copies",
        help="measure copies between a GPU and its host, not AllReduces; takes --sizes, --repetitions, --save FILE.json, --json",
    )
    add(
        "--memory",
        metavar="WHOSE",
        help="where messages lie: host (default), where host memory plays device memory; cuda: memory of NVIDIA GPUs",
    )
    add("--ranks", type=_numbers, metavar="N,N", help=f"processes (default: {_listed(DEFAULT_RANKS)})")
    add("--sizes", type=_texts, metavar="SIZE,SIZE", help=f"messages (default: {_listed(DEFAULT_SIZES)})")
    add(
        "--arms",
        type=_texts,
        metavar="ARM,ARM",
        help=f"data paths (default: {_listed(MEMORIES['host'].usual)})",
    )
    add(
        "--registrations",
        type=_texts,
        metavar="R,R",
        help="none, per-transfer, lru, lru:N, null (default: all, where the locked-memory limit allows)",
    )


def _add_how(add: Callable[..., Any]) -> None:
    """Add how it is measured, and where it is kept."""
    add("--repetitions", type=number, metavar="N", help="how often everything is measured (default: 7)")
    add("--slice", dest="slice_bytes", metavar="SIZE", help="most that is copied at once (default: 256 KiB)")
    add(
        "--pins",
        metavar="HOW",
        help="how regions are registered: mlock (default), an emulation; or io_uring, where the kernel allows it; of GPUs: dma-buf (default), host-register",
    )
    add("--mpi", action="store_true", help="over MPI, as one of the ranks that mpirun or srun started")
    add("--save", metavar="FILE.csv", help="write every repetition of every rank")
    add("--json", action="store_true", help="print the records and their manifest as JSON")


_NOT_FIELDS = ("run", "save", "json", "mpi", "what")
_OF_COPIES = ("sizes", "repetitions")


def _measure(options: argparse.Namespace) -> int:
    entries = {name: value for name, value in vars(options).items() if name not in _NOT_FIELDS}
    if "what" in options:
        return _measure_copies(entries, options)
    if "mpi" in options:
        return _measure_launched(entries, options)
    plan = Measurement.of(**entries)
    _check_place(options)
    with Stream(plan) as stream, _showing_progress(plan, options) as show:
        for progress in stream:
            show(progress)
        records = stream.records
    return _report(plan, records, options)


def _measure_copies(entries: dict[str, Any], options: argparse.Namespace) -> int:
    """Measure how long copies take, not AllReduces."""
    if options.what != "copies":
        raise MeasurementError(f"{options.what!r} is nothing to measure; {nearest(options.what, ['copies'])}")
    for name in entries:
        if name not in _OF_COPIES:
            raise MeasurementError(
                f"{name}: copies are measured without it; allowed: {', '.join(_OF_COPIES)}"
            )
    if "mpi" in options:
        raise MeasurementError("--mpi: copies are measured by one process")
    _check_place(options)
    cost = peerlab.copy_cost(**entries)
    if "json" in options:
        print(json.dumps(cost.as_dict(), indent=2))
    else:
        print(document_text(copies_document(cost)))
    if "save" in options:
        cost.save(options.save)
        print(
            f"saved: {one_line(options.save)}; peerlab calibrate takes it into a cluster's file",
            file=sys.stderr if "json" in options else sys.stdout,
        )
    return 0


def _measure_launched(given: dict[str, Any], options: argparse.Namespace) -> int:
    """Measure as one of several ranks; rank 0 speaks for all."""
    end_at_once()
    peers = MpiPeers()
    try:
        plan = plan_launched(peers, given)
    except MeasurementError:
        if peers.rank == 0:
            raise
        return 1  # every rank found the same
    try:
        if peers.rank == 0:
            _check_place(options)
        with _showing_progress(plan, options) as show:
            records = measure_launched(plan, peers, show)
    except MeasurementError as problem:
        print(f"peerlab: {problem}", file=sys.stderr, flush=True)
        peers.abort()
        return 1
    if records is None:
        return 0
    end_in_order()  # MPI is done with, and a file is written
    return _report(plan, records, options)


def _check_place(options: argparse.Namespace) -> None:
    """Refuse a place that cannot be written to before anything is measured for it."""
    if "save" in options:
        check_place(options.save, MeasurementError)


@contextmanager
def _showing_progress(plan: Measurement, options: argparse.Namespace) -> Iterator[Callable[[Progress], None]]:
    """Yield what shows progress: a bar on a terminal, and the table, line by line as it is measured."""
    with progress_bar("measure", "runs") as bar:

        def show(progress: Progress) -> None:
            bar(progress.done, progress.total or None)
            if progress.rows and "json" not in options:
                with bar.aside():
                    print_block(plan, progress)

        yield show


def _report(plan: Measurement, records: Records, options: argparse.Namespace) -> int:
    """Print what is left to print, save, and return the exit status."""
    if "json" in options:
        print(json.dumps(_document(records), indent=2))
    else:
        print_end(plan, records)
    if "save" in options:
        records.save(options.save)
        print(f"saved: {one_line(options.save)}", file=sys.stderr if "json" in options else sys.stdout)
    # Last, after all is printed and saved: whoever looks for the reason of wrong sums needs the records.
    wrong = [comparison for comparison in compare(records, plan.baseline) if comparison.verdict == WRONG]
    if wrong:
        raise MeasurementError(
            f"wrong sums: {say_condition(wrong[0])} at {say_bytes(wrong[0].size_bytes)}, and maybe more"
        )
    return 0


def _document(records: Records) -> dict[str, Any]:
    rows = json.loads(records.table.to_json(orient="records"))
    return {"manifest": dict(records.manifest), "warnings": list(records.warnings), "rows": rows}


def _texts(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _numbers(text: str) -> list[int | str]:
    return [number(word) for word in _texts(text)]


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values))
