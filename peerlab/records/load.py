"""The way in: recognises whose log it is, and has it read."""

from collections.abc import Callable
from pathlib import Path

from peerlab.records import csv_reader, hccl, nccl, nccl_json, osu
from peerlab.records.schema import Records
from peerlab.records.text import Log, open_log

_READERS: tuple[tuple[Callable[[Log], bool], Callable[[Log], Records]], ...] = (
    (csv_reader.looks_like, csv_reader.read),
    (nccl_json.looks_like, nccl_json.read),
    (osu.looks_like, osu.read),
    (hccl.looks_like, hccl.read),
    (nccl.looks_like, nccl.read),
)


def load(source: str | Path) -> Records:
    """Return the measurements in a log, or in a file that :meth:`Records.save` wrote.

    Parameters
    ----------
    source:
        A file, or the text itself (whatever holds a newline): output of nccl-tests, of the OSU micro-benchmarks, of
        hccl_demo, or peerlab's own CSV.

    Raises
    ------
    RecordsError
        If it cannot be read, is none of these, or holds no good row. Single damaged rows are left out with a warning.
    """
    log = open_log(source)
    for looks_like, read in _READERS:
        if looks_like(log):
            return read(log)
    raise log.fail(
        "not the output of nccl-tests, the OSU micro-benchmarks or hccl_demo, nor a table saved by peerlab"
    )
