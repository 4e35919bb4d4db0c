"""The way in: recognises whose log it is, and has it read."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from peerlab.base.errors import RecordsError
from peerlab.records import nccl, nccl_results
from peerlab.records.benchmarks import BENCHMARKS, TOOLS
from peerlab.records.copy_times import holds_copies
from peerlab.records.schema import Records
from peerlab.records.text import Log, open_log

_READERS: tuple[tuple[str, Callable[[Log], bool], Callable[[Log], Records]], ...] = tuple(
    sorted(
        (
            (benchmark.name, looks_like, read)
            for benchmark in BENCHMARKS.values()
            for looks_like, read in benchmark.readers
        ),
        key=lambda reader: reader[2] is nccl.read,
    )
)
"""Tools, in the order in which they are asked; tables of nccl-tests last, whose lines others print as well."""
DEFECT = "a defect in peerlab's reader"
"""How an error begins that a reader of ours should have put in words."""
_FOREIGN = {
    # perftest writes "#bytes", too, and is read.
    "#repetitions": "IMB (the Intel MPI benchmarks)",
    "usec/xfer": "libfabric's fabtests",
    "iperf": "iperf",
    "NetPIPE": "NetPIPE",
}
"""What others' output holds; peerlab reads none of it, but says whose it is."""


def load(source: str | Path, nodes: int | None = None) -> Records:
    """Return the measurements in a log, or in a file that :meth:`Records.save` wrote.

    Parameters
    ----------
    source:
        A file, or the text itself (whatever holds a newline): output of nccl-tests, the OSU micro-benchmarks, hccl_demo,
        nccom-test, perftest (ib_write_bw and its like), NCCL Inspector or NCCL_DEBUG=INFO, or peerlab's own CSV.
    nodes:
        How many nodes took part, for a log that does not say; few do without NCCL_DEBUG or their command line.

    Raises
    ------
    RecordsError
        If it cannot be read, is none of these, holds no good row, or says another number of nodes. Single damaged rows
        are left out with a warning.
    """
    records = read_log(open_log(source))
    return records if nodes is None else records.on_nodes(nodes)


def read_log(log: Log) -> Records:
    """Return the measurements in a log, whoever's it is.

    Raises
    ------
    RecordsError
        If nobody reads it, or it holds no good row.
    """
    fitting = [(tool, read) for tool, looks_like, read in _READERS if looks_like(log)]
    # Asked last: rows without a head may be anybody's.
    if not fitting and nccl.looks_like_rows(log):
        fitting = [(nccl_results.TOOL, nccl.read)]
    if not fitting and holds_copies(log.text):
        raise log.fail(
            "holds what copies took, as `peerlab measure copies` saves it, and is no log of a collective; peerlab calibrate takes it"
        )
    if not fitting:
        whose = next((f"it looks like {tool}'s" for mark, tool in _FOREIGN.items() if mark in log.text), "")
        raise log.fail(f"not the output of {TOOLS}, or a table saved by peerlab{'; ' * bool(whose)}{whose}")
    try:
        records = fitting[0][1](log)
    except RecordsError as problem:
        # A reader may have put the log's name in front already.
        raise problem if str(problem).startswith(log.name) else log.fail(str(problem)) from None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        sentence = f"{type(problem).__name__}: {problem}"
        raise log.fail(
            f"{DEFECT} of the output of {fitting[0][0]}, please report it ({sentence:.200})"
        ) from problem
    others = [tool for tool, _ in fitting[1:] if tool != fitting[0][0]]
    also = [f"output of {tool} in the same log is not read; give it as a log of its own" for tool in others]
    return replace(records, warnings=(*records.warnings, *also))
