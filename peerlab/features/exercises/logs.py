"""Logs to practise on: figures that others measured (data/measured), put together in the layout of their tool.

The figures, the ranks, the settings and the names of devices are those of the source. Its command line is put together from
them; where it does not say the type of an element, the tool's own (float) stands. Hosts, PCI addresses and processes are made
up, and a first line says so: no log of somebody else is kept here.
"""

# Practice logs are published figures in a tool's layout. No user's log is kept. `features/exercises/logs`
# writes the text of nccl-tests or OSU from a table in `data/measured`; a test reads it back and finds the
# source's figures. Hosts are made up, and the first line says so.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from peerlab.base.data_frames import pd
from peerlab.base.display import shown
from peerlab.base.errors import RecordsError, nearest
from peerlab.model.paths import path_titles
from peerlab.records import Records
from peerlab.records.benchmarks import benchmark
from peerlab.records.library import measured_library

Row = dict[str, Any]

_LINES = {
    "A": ("alps/nccl-2n8r-tcp", 2),
    "B": ("juliet/osu-latency-staged", 2),
    "C": ("p5/nccl-2n16r-efa", 2),
    "D": ("p4d/nccl-1gib-1-to-4-nodes", 2),
    "F": ("h100-ndr/nccl-2n16r-ib", 2),
    "G": ("azure-nd-a100-v4/nccl-2n16r-ib", 2),
    "H": ("p4d/nccl-1gib-1-to-4-nodes", 4),
    "I": ("alps/nccl-2n8r-tcp", 2),
    "J": ("gb200-nvl72/nccl-18n72r-mnnvl", 18),
}
"""Table in data/measured of each log, and how many nodes its curve is of."""

_REMARK = (
    "# Real figures in the layout of {tool}, put together by peerlab from data/measured; hosts are made up."
)


@dataclass(frozen=True)
class LabLog:
    """A log of a lab; a notebook shows its text."""

    name: str
    """``"A"`` to ``"D"`` of lab 05, ``"F"`` to ``"J"`` of lab 09."""
    measured: Records
    """The figures, with what their source says; their path too, where the source gives it away."""

    @cached_property
    def text(self) -> str:
        """The log as a tool would have printed it."""
        tool = self.measured.manifest["tool"]
        lines = {"nccl-tests": _nccl, "osu": _osu}[tool](self.measured)
        return "\n".join([_REMARK.format(tool=benchmark(tool).says), *lines]) + "\n"

    @property
    def source(self) -> str:
        """Who measured it."""
        return str(self.measured.manifest["source"])

    @property
    def note(self) -> str:
        """What the source, or whoever read it, says about the run."""
        return str(self.measured.manifest.get("note", ""))

    _repr_html_ = shown


def lab_log(name: str) -> LabLog:
    """Return a log of lab 05 or 09.

    Raises
    ------
    RecordsError
        If there is none of this name.
    """
    if name not in _LINES:
        raise RecordsError(f"no log {name!r}; {nearest(name, _LINES)}")
    table, nodes = _LINES[name]
    return LabLog(name, _of_nodes(measured_library()[table], nodes))


def sources(logs: Sequence[LabLog]) -> pd.DataFrame:
    """Return a table of logs: who measured each, and the path that its author names."""
    rows = [
        {
            "path": ", ".join(
                path_titles().get(path, path) for path in sorted({*log.measured.columns["path"]} - {""})
            ),
            "source": log.source,
            "note": log.note,
        }
        for log in logs
    ]
    return pd.DataFrame(rows, index=pd.Index([log.name for log in logs]))


def _of_nodes(records: Records, nodes: int) -> Records:
    """Return the rows of so many nodes, with a manifest that says so."""
    # By place, as a column is a list: no table is made for it.
    own = records.some(place for place, count in enumerate(records.columns["nodes"]) if count == nodes)
    return Records(own.columns, {**records.manifest, "nodes": nodes, "ranks": own.columns["ranks"][0]})


def _nccl(records: Records) -> Iterator[str]:
    """Yield the lines of nccl-tests: its command where settings are known, its devices where the source names them."""
    entries, rows = records.manifest, records.rows
    ranks, nodes = entries["ranks"], entries["nodes"]
    if settings := _settings(entries.get("environment", {})):
        low, high = (end(records.columns["size_bytes"]) for end in (min, max))
        # Settings, as a reader of logs finds them: in the command line.
        yield f"$ mpirun -np {ranks} -npernode {ranks // nodes} {settings} all_reduce_perf -b {low} -e {high} -g 1"
    if test := entries.get("test"):
        yield f"# Collective test starting: {test}"
    if devices := entries.get("devices"):
        yield "# Using devices"
        yield from _devices(ranks, nodes, devices[0])
    yield "#"
    yield f"#{'out-of-place':>74}{'in-place':>27}"
    columns = f"{'time':>9}{'algbw':>8}{'busbw':>8}{'#wrong':>8}"
    yield f"#{'size':>12}{'count':>13}{'type':>9}{'redop':>8}{'root':>8}{columns}{columns}"
    unit = f"{'(us)':>9}{'(GB/s)':>8}{'(GB/s)':>8}{'':>8}"
    yield f"#{'(B)':>12}{'(elements)':>13}{'':>25}{unit}{unit}".rstrip()
    for size in dict.fromkeys(row["size_bytes"] for row in rows):
        cells = "".join(_cells(row) for row in rows if row["size_bytes"] == size)
        # Bytes over four: elements are floats.
        yield f"{size:>13}{size // 4:>13}{'float':>9}{'sum':>8}{'-1':>8}{cells}"
    if bounds := entries.get("validation"):
        yield f"# {bounds}"


def _cells(row: Row) -> str:
    """Return the cells of one way to run a size; the tables hold out-of-place first, as the tool prints it."""
    algbw, busbw = (f"{row[rate] or 0.0:>8.2f}" for rate in ("algbw_GBps", "busbw_GBps"))
    # Where nobody checked the sums the tool prints N/A.
    wrong = "0" if row["correct"] is True else "N/A"
    return f"{row['time_s'] * 1e6:>9.6g}{algbw}{busbw}{wrong:>8}"


def _devices(ranks: int, nodes: int, device: str) -> Iterator[str]:
    per_node = ranks // nodes
    for rank in range(ranks):
        node, own = divmod(rank, per_node)
        yield f"#  Rank {rank:>2} Group  0 Pid {4000 + rank} on host-{node} device {own:>2} [{own:04x}:01:00] {device}"


def _osu(records: Records) -> Iterator[str]:
    """Yield the lines of osu_latency between device buffers."""
    entries = records.manifest
    yield f"$ mpirun -np 2 -H host-0,host-1 {_settings(entries['environment'])} {entries['test']} -d cuda D D"
    yield f"# OSU MPI-CUDA Latency Test v{entries['version']}"
    yield "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)"
    yield f"{'# Size':<10}{'Latency (us)':>22}"
    yield "# Datatype: MPI_CHAR."
    for row in records.rows:
        yield f"{row['size_bytes']:<10}{row['time_s'] * 1e6:>22.2f}"


def _settings(environment: dict[str, str]) -> str:
    return " ".join(f"-x {name}={value}" for name, value in environment.items())


def times(table: str) -> "pd.Series[float]":
    """Return the times of a table in data/measured (``"juliet/osu-latency-direct"``) by size, seconds."""
    medians = measured_library()[table].medians()
    series: pd.Series[float] = (
        medians.drop_duplicates("size_bytes").set_index("size_bytes")["time_s"].astype(float)
    )
    return series


def said(table: str) -> pd.DataFrame:
    """Return what the library said about its transport when the figures of a table were measured, line by line."""
    return pd.DataFrame({"line": measured_library()[table].manifest["transport"]})
