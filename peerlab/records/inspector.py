"""NCCL Inspector: what NCCL's profiler plug-in writes of every collective of a job, one JSON object a line.

Fields are those of NVIDIA/nccl plugins/profiler/inspector, output format 4 and 5: ``header`` (rank, n_ranks, nnodes), ``metadata``
(hostname, version of the format) and ``coll_perf`` (collective, size, time in microseconds, algbw and busbw in GB/s, its source of time).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.collectives.busbw import bus_factor
from peerlab.records.nccl_collectives import COLLECTIVES
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.schema import Records
from peerlab.records.text import Log

TOOL = "NCCL Inspector"
_MARK = '"coll_perf"'
_OFF, _TINY = 0.002, 0.001
"""How far algbw may lie from size over time, and busbw / algbw from the factor of the collective."""


def looks_like(log: Log) -> bool:
    """Say whether a log has such lines."""
    # One MiB is enough: every line has the mark.
    return _MARK in log.text[: 1 << 20] and '"coll_msg_size_bytes"' in log.text


@dataclass(frozen=True, kw_only=True)
class RankCollective:
    """One collective of one rank."""

    communicator: str
    """Its id; ranks are counted in it."""
    rank: int
    ranks: int | None
    """How many take part."""
    host: str
    number: int | None
    """Which of the communicator's it is: the same one has the same number on all ranks."""
    seconds: float


def rank_collectives(log: Log) -> Iterator[RankCollective]:
    """Yield what every whole line says of a rank; what is damaged or of another kind is left out."""
    for line in log.text.splitlines():
        try:
            entry = _dict(json.loads(line[line.index("{") :]) if _MARK in line else None)
        except (ValueError, RecursionError):
            continue
        perf, header = _dict(entry.get("coll_perf")), _dict(entry.get("header")) or entry
        rank, took = _whole(header.get("rank"), least=0), _number(perf.get("coll_exec_time_us"))
        if rank is not None and took:
            yield RankCollective(
                communicator=str(header.get("id", ""))[:100],
                rank=rank,
                ranks=_whole(header.get("n_ranks")),
                host=str(_dict(entry.get("metadata")).get("hostname") or "")[:100],
                number=_whole(perf.get("coll_sn"), least=0),
                seconds=took / 1e6,
            )


def read(log: Log) -> Records:
    """Return one row for each collective of each rank, in the order of the file.

    Raises
    ------
    RecordsError
        If no line is whole.
    """
    damage = Damage(log)
    rows: list[dict[str, Any]] = []
    hosts: list[str] = []
    for number, line in enumerate(log.text.splitlines(), start=1):
        if not line.lstrip().startswith("{") and _MARK not in line:
            continue
        record = damage.take(number, partial(_row, line, f"{TOOL}: {log.name}"))
        if record:
            row, host, doubt = record
            rows.append(row)
            hosts += [host] if host and host not in hosts else []
            damage.doubt(number, doubt)
    if not rows:
        raise log.fail(f"output of {TOOL} without a whole line{damage.first()}")
    ranks, nodes = (next((row[name] for row in rows if row[name]), None) for name in ("ranks", "nodes"))
    all_there = len({row["rank"] for row in rows}) == ranks  # else there may be hosts that wrote nothing here
    manifest = {
        "tool": TOOL,
        "version": "",
        "command": "",
        "test": " ".join(dict.fromkeys(str(row["collective"]) for row in rows)),
        **describe_ranks(ranks, hosts if all_there else (), nodes),
        "hosts": hosts,
        "devices": [],
        "transport": [],
        "environment": {},
    }
    return Records.of(rows, manifest, [*damage.sentences(), *_notes(rows)])


def _row(line: str, source: str) -> tuple[dict[str, Any], str, str] | None:
    """Return a line's row, its host, and why it should be doubted; None for a record of another kind."""
    try:
        # A launcher may have put a label before it.
        record = json.loads(line[line.index("{") :])
    except (ValueError, RecursionError):
        raise RecordsError("it is damaged or cut off") from None
    if isinstance(record, dict) and "coll_perf" not in record:
        return None  # of a message between two ranks, which has its own record
    if not isinstance(record, dict) or not isinstance(record.get("coll_perf"), dict):
        raise RecordsError("it has no coll_perf")
    perf, header = record["coll_perf"], _dict(record.get("header")) or record
    name = str(perf.get("coll"))
    if name not in COLLECTIVES:
        raise RecordsError(f"{name[:40]!r} is no collective that is known")
    size, took = _whole(perf.get("coll_msg_size_bytes")), _number(perf.get("coll_exec_time_us"))
    if not size or not took:
        raise RecordsError("it has no size or no time above zero")
    collective, ranks = COLLECTIVES[name], _whole(header.get("n_ranks"))
    unknown = [
        f"{field} {str(header[field])[:20]} is none"
        for field, least in (("rank", 0), ("n_ranks", 1), ("nnodes", 1))
        if field in header and _whole(header[field], least) is None
    ]
    doubt = "; ".join(filter(None, [*unknown, _doubt(perf, collective, ranks)]))
    row = {
        "kind": "imported",
        "source": source,
        "collective": collective,
        "size_bytes": size,
        "ranks": ranks,
        "nodes": _whole(header.get("nnodes")),
        "rank": _whole(header.get("rank"), least=0),
        "time_s": took / 1e6,
        # Bytes per microsecond are MB/s.
        "algbw_GBps": size / took / 1e3,
        "busbw_GBps": size / took / 1e3 * bus_factor(collective, ranks) if ranks else None,
    }
    return row, str(_dict(record.get("metadata")).get("hostname") or "")[:100], doubt


def _doubt(perf: dict[str, Any], collective: str, ranks: int | None) -> str:
    """Return how far its bandwidths are from what their names mean; empty where they fit."""
    algbw, busbw = (_number(perf.get(name)) for name in ("coll_algobw_gbs", "coll_busbw_gbs"))
    if not algbw or not busbw or not ranks:
        return ""
    size, took = float(perf["coll_msg_size_bytes"]), float(perf["coll_exec_time_us"])
    # times are whole microseconds, and bandwidths are of the time before its fraction was left away
    if not took / (took + 1) - _OFF <= algbw * took * 1e3 / size <= 1 + _OFF:
        return f"algbw is {algbw:.4g} GB/s, and size over time {size / took / 1e3:.4g} GB/s"
    factor = bus_factor(collective, ranks)
    if factor and abs(busbw / algbw / factor - 1) <= _TINY:
        return ""
    return f"busbw is {busbw / algbw:.3g} times algbw; for {ranks} ranks it should be {factor:.3g} times"


def _notes(rows: list[dict[str, Any]]) -> Iterator[str]:
    if len({row["rank"] for row in rows}) > 1:
        yield "rows are of several ranks; a collective is over when its slowest rank is through"
    yield "these are the collectives of a job, not of a benchmark: what the job computes meanwhile is in their times"


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15
    return float(value) if good else None


def _whole(value: Any, least: int = 1) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**50
    return int(value) if good else None
