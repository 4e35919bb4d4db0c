"""The way in for whatever somebody measured: a log of a benchmark, or a profiler's trace of a training."""

from pathlib import Path

from peerlab.base.errors import RecordsError
from peerlab.records import load as logs
from peerlab.records.kineto import looks_like_json_trace, looks_like_trace, read_events
from peerlab.records.schema import Records
from peerlab.training.profiled import ProfiledTraining, profiled


def load(source: str | Path, nodes: int | None = None) -> Records | ProfiledTraining:
    r"""Return the measurements in a log, or the steps in a trace of PyTorch's profiler.

    Parameters
    ----------
    source:
        A file, or a log's text itself (whatever holds a newline): output of nccl-tests, the OSU micro-benchmarks, hccl_demo,
        nccom-test, perftest (ib_write_bw and its like), NCCL Inspector or NCCL_DEBUG=INFO, or peerlab's own CSV; or a
        file that PyTorch's profiler wrote (``.json``, ``.json.gz``).
    nodes:
        How many nodes took part, for a log that does not say; few do without NCCL_DEBUG or their command line.

    Returns
    -------
    `Records` of a log; a `ProfiledTraining` of a trace. A trace is read event by event: 2 million events at most, in 200 MB.

    Raises
    ------
    RecordsError
        If it cannot be read, is none of these, holds no good row or step, or says another number of nodes. Single damaged rows
        and events are left out with a warning.

    >>> load("# OSU MPI Allreduce Latency Test v7.0\n# Size       Avg Latency(us)\n1048576            512.25\n").rows[0]["size_bytes"]
    1048576
    """
    path = Path(source) if isinstance(source, (str, Path)) and "\n" not in str(source) else None
    if path is None or not _is_file(path) or not looks_like_trace(path.expanduser()):
        return logs(source, nodes)
    if nodes is not None:
        raise RecordsError(
            f"nodes: {path.name} is a trace, which says how many ranks took part; leave it out"
        )
    return profiled(read_events(path, path.name))


def load_trace(source: str) -> ProfiledTraining:
    """Return the steps in a trace of PyTorch's profiler.

    Raises
    ------
    RecordsError
        If it cannot be read, or is something else.
    """
    path = Path(source)
    # What is no file is refused by its reader.
    if not _is_file(path) or looks_like_trace(path.expanduser()):
        loaded = load(source)
        if isinstance(loaded, ProfiledTraining):
            return loaded
    raise RecordsError(
        f"trace: {path.name} is not a trace of PyTorch's profiler, as its export_chrome_trace writes it; a log is for peerlab diagnose"
    )


def trace_in(held: str | bytes, name: str) -> ProfiledTraining | None:
    """Return the steps in what somebody uploaded; None if it is no trace.

    Raises
    ------
    RecordsError
        If it is one, and cannot be read.
    """
    data = held.encode() if isinstance(held, str) else held
    # The first two bytes of gzip: only traces are zipped, no log is.
    zipped = data[:2] == b"\x1f\x8b"
    # Its head is enough to tell what it is; an upload may have 200 MB.
    if not zipped and not looks_like_json_trace(data[: 2**16]):
        return None
    return profiled(read_events(data, name))


def _is_file(path: Path) -> bool:
    try:
        return path.expanduser().is_file()
    # Too long, with a null byte, in a home that nobody has: no name of a file, but a log may be so.
    except (OSError, ValueError, RuntimeError):
        return False
