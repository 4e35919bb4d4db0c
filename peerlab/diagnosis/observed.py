"""The part of a log that tells about the path: one curve, and the lines and settings around it."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.base.numbers import NDArray, np
from peerlab.base.textfile import printable
from peerlab.base.units import MIB, say_bytes, say_count
from peerlab.library.library_laws import NcclLaw
from peerlab.model.collective import Collective, collective_of
from peerlab.records import Records, checked_records
from peerlab.records.benchmarks import benchmark
from peerlab.records.conditions_measured import Row, condition_rows, grouped

Floats = NDArray[np.float64]

# What makes one curve: in place and out of place are two of them.
_WHAT = ["source", "collective", "variant", "dtype", "op", "ranks", "nodes", "path", "registration"]
_LONGEST = 2000
"""Characters of a text that are looked at."""
_MOST_GBPS = 10**6
"""No machine is faster: a higher figure is an error of the log."""
_BUFFERS = re.compile(r"(?<![\w-])([DHM]) ([DHM])(?![\w-])|Send Buffer on (DEVICE|HOST|MANAGED)")
_ON_DEVICE = re.compile(r"MPI-(?:CUDA|ROCM|OPENACC)|-d (?:cuda|rocm|openacc|managed)\b", re.IGNORECASE)
_SMALL = 256
"""Bytes up to which a message takes as long as an empty one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Observed:
    """One curve of a log, with the lines and settings around it."""

    tool: str
    """``nccl-tests``, ``osu``, ``hccl_demo``, ``nccom-test``, ... or empty."""
    collective: str
    """As in the records."""
    variant: str
    """``bandwidth``: many messages in flight, times are per message; else one after the other."""
    ranks: int | None
    nodes: int | None
    path: str
    """The path it took, if the records say so; else empty."""
    registration: str
    """How memory was registered, if the records say so; else empty."""
    source: str
    """Tool and file."""
    memory: str
    """``device`` or ``host``: where the buffers are."""
    memory_known: bool
    """Whether the log says so."""
    sizes: NDArray[np.int64]
    """Message sizes, bytes, ascending."""
    times_s: Floats
    """Time of one collective (or, for bandwidth, of one message) at each size, seconds."""
    algbw_GBps: Floats  # noqa: N815
    """Algorithm bandwidth at each size, GB/s."""
    others: int
    """Further curves in the records (of other collectives, ranks or nodes), which are left aside."""
    devices: tuple[str, ...]
    """Names of accelerators."""
    said: tuple[str, ...]
    """Lines about the transport, the command line, settings as ``NAME=value``."""

    command: str = ""
    """The command line, if the log has it."""
    version: str = ""
    """Of the library, or of the tool; empty where the log does not say it."""
    apart: float = 1.0
    """How many times as long the slowest row of a size takes as the quickest, the median of all sizes; 1 where each has one row."""

    @property
    def says(self) -> str:
        """What was measured, in one line."""
        who = [say_count(n, what) for n, what in ((self.ranks, "rank"), (self.nodes, "node")) if n]
        what = " ".join(word for word in (self.collective, self.variant) if word)
        ends = dict.fromkeys(say_bytes(int(size)) for size in (self.sizes[0], self.sizes[-1]))
        return f"{self.tool or 'log'}: {what}, {', '.join(who) or 'ranks unknown'}, buffers in {self.memory} memory, {' to '.join(ends)}"

    @property
    def collective_record(self) -> Collective:
        """What is known of the collective."""
        return collective_of(self.collective)

    @property
    def nccl(self) -> bool:
        """Whether a benchmark of NCCL wrote the log."""
        return benchmark(self.tool).nccl

    @property
    def per_node(self) -> int | None:
        """Ranks of a node, where it is known and the same for all."""
        if self.collective_record.is_message:
            return 1
        return (
            self.ranks // self.nodes if self.ranks and self.nodes and self.ranks % self.nodes == 0 else None
        )

    @property
    def by_nccl_law(self) -> bool:
        """Whether NCCL's law says how long it takes."""
        return self.nccl and self.collective in NcclLaw.collectives

    @property
    def large(self) -> NDArray[np.bool_]:
        """Which sizes tell about rates: 1 MiB and more, or, of shorter logs, none."""
        return self.sizes >= MIB

    @property
    def small_s(self) -> float:
        """Time of the smallest messages, seconds; not a number where the log has none."""
        small = self.sizes <= _SMALL
        return float(median(self.times_s[small])) if small.any() else math.nan

    @property
    def fastest_GBps(self) -> float:  # noqa: N802
        """Highest algorithm bandwidth, GB/s."""
        return float(self.algbw_GBps.max())

    @property
    def plateau_GBps(self) -> float:  # noqa: N802
        """Algorithm bandwidth at the three largest sizes, GB/s; not a number where fewer are large."""
        large = self.algbw_GBps[self.large]
        # not a number compares false with any limit, so that no evidence follows
        return float(median(large[-3:])) if len(large) >= 3 else math.nan

    def node_rate(self, algbw: float, nodes: int) -> float:
        """Return what a node sends per second to others, at an algorithm bandwidth, in its unit."""
        if self.collective_record.is_message:
            return algbw
        return algbw * self.collective_record.node_factor(nodes, (self.ranks or nodes) // nodes)


def fullest(runs: Sequence[Records]) -> Records:
    """Return the run of a log that tells most about its path: of most nodes, among those with half as many rows as the longest."""
    # A short run of many nodes, such as one that broke off, must not stand for a log.
    least = max(len(run) for run in runs) / 2

    def size(run: Records) -> tuple[int, int, int]:
        return run.manifest.get("nodes") or 0, run.manifest.get("ranks") or 0, len(run)

    return max((run for run in runs if len(run) >= least), key=size)


def say_runs(runs: Sequence[Records]) -> str:
    """Return how many runs a log holds, and of whom.

    As in ``2 runs in one log: 8 ranks on 1 node; 16 ranks on 2 nodes``.
    """
    return f"{len(runs)} runs in one log: {'; '.join(map(_say_run, runs))}"


def _say_run(run: Records) -> str:
    ranks, nodes = run.manifest.get("ranks"), run.manifest.get("nodes")
    who = say_count(ranks, "rank") if ranks else "ranks unknown"
    return f"{who} on {say_count(nodes, 'node')}" if nodes else who


def observe(records: Records) -> Observed:
    """Return the longest curve of some records.

    Raises
    ------
    RecordsError
        If no row has a size and a time, only one rank took part, or the records are of several logs.
    """
    table = _with_figures(records)
    rows = _longest(table)
    first = rows[0]
    # a benchmark of messages counts all ranks that were started, of which two take part
    two = collective_of(first["collective"]).is_message
    ranks = 2 if two else first["ranks"]
    if ranks is not None and ranks < 2:
        raise RecordsError(_alone(_text(records.manifest.get("tool"))))
    memory, known = _memory(records.manifest)
    times, algbw = zip(*map(_figures, rows), strict=True)
    return Observed(
        tool=_text(records.manifest.get("tool")),
        collective=first["collective"],
        variant=first["variant"],
        ranks=ranks,
        nodes=first["nodes"],
        path=first["path"],
        registration=first["registration"],
        source=_text(first["source"]),
        memory=memory,
        memory_known=known,
        sizes=np.array([row["size_bytes"] for row in rows], dtype=np.int64),
        times_s=np.array(times, dtype=np.float64),
        algbw_GBps=np.array(algbw, dtype=np.float64),
        # without variant and type: those of one run are no other curves to a reader
        others=len(grouped(table, ("source", "collective", "ranks", "nodes", "path"))) - 1,
        devices=_texts(records.manifest.get("devices")),
        said=_settings_of(records.manifest),
        command=_text(records.manifest.get("command")),
        version=_text(records.manifest.get("version")),
        apart=_apart(records, first),
    )


def _apart(records: Records, first: Row) -> float:
    """Return how far rows of one size and curve are apart; `first` is a row of the curve."""
    curve = tuple(first[name] for name in _WHAT)
    timed = [row for row in records.rows if row["size_bytes"] and row["time_s"]]
    times = [
        [row["time_s"] for row in rows]
        for key, rows in grouped(timed, (*_WHAT, "size_bytes")).items()
        if key[:-1] == curve
    ]
    return median(max(each) / min(each) for each in times) if times else 1.0


def _with_figures(records: Records) -> list[Row]:
    """Return the medians of one log, those with a size and a time or a bandwidth that can be."""
    if len(checked_records(records).parts) > 1:
        raise RecordsError(f"these records are of {len(records.parts)} logs; give them one by one")
    rows: list[Row] = [
        row
        for row in condition_rows(records.rows)
        if row["size_bytes"] and (row["time_s"] or row["algbw_GBps"])
    ]
    if not rows:
        raise RecordsError("nothing to go by: no row has both a size and a time")
    # One rank may "send" at any rate, which is no sign of a wrong unit.
    if any((row["algbw_GBps"] or 0) > _MOST_GBPS and row["ranks"] != 1 for row in rows):
        raise RecordsError(
            f"a bandwidth of more than {_MOST_GBPS:g} GB/s is no machine's: is the time in another unit?"
        )
    return rows


def _alone(tool: str) -> str:
    """Return why a log of one rank tells nothing, and what is usually the matter where several were started."""
    joined = (
        "; if several were started, each ran alone: nccl-tests join them by MPI (make MPI=1)"
        if benchmark(tool).nccl
        else ""
    )
    return f"one rank exchanges nothing: there is nothing to learn from it{joined}"


def _longest(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of one curve, one per size: that with most sizes; of several, the first in the log."""
    # backwards, so that of two rows of one size the first of the log stays
    curves = [{row["size_bytes"]: row for row in reversed(curve)} for curve in grouped(rows, _WHAT).values()]
    sizes = max(
        curves, key=lambda curve: (len(curve), next(iter(curve.values()))["variant"] == "out-of-place")
    )
    return [sizes[size] for size in sorted(sizes)]


def _figures(row: Row) -> tuple[float, float]:
    """Return time and algorithm bandwidth of a row; the one follows from the other where it is missing or damaged."""
    size, time, algbw = row["size_bytes"], row["time_s"] or 0.0, row["algbw_GBps"] or 0.0
    # a row has one of them at least (`_with_figures`)
    algbw = algbw if algbw > 0 else size / time / 1e9
    return (time if time > 0 else size / algbw / 1e9), algbw


def _text(value: object) -> str:
    """Return a text from outside as it can be shown: a file may hold anything."""
    text = value if isinstance(value, str) else ""
    return printable(text[:_LONGEST])


def _texts(value: object) -> tuple[str, ...]:
    texts = map(_text, value) if isinstance(value, (list, tuple)) else ()
    return tuple(text for text in texts if text)


def _settings_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    environment = manifest.get("environment")
    given = environment.items() if isinstance(environment, Mapping) else ()
    settings = [f"{name}={value}" for name, value in given]
    return _texts(
        [*_texts(manifest.get("transport")), manifest.get("command"), manifest.get("test"), *settings]
    )


def _memory(manifest: Mapping[str, Any]) -> tuple[str, bool]:
    """Return where the buffers are, and whether the log says so."""
    if manifest.get("memory") in ("host", "device"):
        return str(manifest["memory"]), True
    buffers = benchmark(str(manifest.get("tool"))).buffers
    if buffers != "host":
        return "device", buffers == "device"
    text = "\n".join(_settings_of(manifest))
    if match := _BUFFERS.search(text):
        # one side on a device is enough; managed memory (M) counts as device memory
        return ("host" if (match[1] or match[3][0]) == "H" and match[2] in (None, "H") else "device"), True
    return ("device", True) if _ON_DEVICE.search(text) else ("host", bool(text))
