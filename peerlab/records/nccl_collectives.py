"""The collectives of a job as NCCL logs them (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=COLL): their order and sizes, and no times.

A line is ``HOST:PID:TID [DEVICE] NCCL INFO AllReduce: opCount N sendbuff .. recvbuff .. count N datatype N op N root N comm .. [nranks=N] ..``,
with the count in elements: of an AllGather those that a rank sends, of a ReduceScatter those that it gets.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.base.units import say_count
from peerlab.model.collective import collective_of, programs_of
from peerlab.records import nccl
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.schema import Records
from peerlab.records.text import Log
from peerlab.records.transport import environment_lines, transport_lines

TOOL = "NCCL_DEBUG=INFO"
COLLECTIVES = programs_of("NCCL")
"""NCCL's names of the collectives that are known here."""
_LINE = re.compile(
    r"(?P<who>\S{1,100}:\d{1,10}:\d{1,10} \[\d{1,3}\]) NCCL INFO (?P<name>\w{1,20}): opCount (?P<op>[0-9a-f]{1,16}) "
    r".{0,120}?\bcount (?P<count>\d{1,15}) datatype (?P<type>\d{1,2}) .{0,200}?\[nranks=(?P<ranks>\d{1,7})\]"
)
_BEGINS = re.compile(r"NCCL INFO \w{1,20}: opCount ")
_BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)
_TYPES = (
    "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "fp8", "fp8",
)  # fmt: skip
"""Elements by ncclDataType_t (nccl.h)."""


@dataclass(frozen=True, slots=True)
class JobCollective:
    """One line."""

    place: int
    """Line of the log."""
    who: str
    op: str
    """Its number, the same on all ranks of a communicator."""
    collective: str
    size: int
    dtype: str
    ranks: int


def looks_like(log: Log) -> bool:
    """Say whether a log has such lines and no table of nccl-tests, which tells more."""
    return any(_BEGINS.search(line.text) for line in log.lines) and not (
        nccl.looks_like(log) or nccl.looks_like_rows(log)
    )


def read(log: Log) -> Records:
    """Return one row for each collective of the rank that logs most, in the order of the job.

    Raises
    ------
    RecordsError
        If no line is whole.
    """
    damage = Damage(log)
    collectives = [
        collective
        for line in log.lines
        if _BEGINS.search(line.text)
        and (collective := damage.take(line.number, partial(_collective, line.number, line.text)))
    ]
    if not collectives:
        raise log.fail(f"a log of NCCL's collectives without a whole line{damage.first()}")
    _compare(collectives, damage)
    counts = {collective.who: 0 for collective in collectives}
    for collective in collectives:
        counts[collective.who] += 1
    who = max(counts, key=lambda name: counts[name])
    mine = [collective for collective in collectives if collective.who == who]
    rows = [_row(record, place, f"{TOOL}: {log.name}") for place, record in enumerate(mine)]
    manifest = _manifest(log, mine, counts)
    notes = [
        "NCCL's log has order and sizes of a job's collectives, and no times: NCCL Inspector or a trace of the profiler has them"
    ]
    if len(counts) > 1:
        notes.append(f"of {len(counts)} processes the one that logs most is taken: all of a job do the same")
    if alone := _logged_alone(collectives, mine):
        notes.append(
            f"{alone} of {say_count(len(mine), 'collective')} stand in the log of one process alone: nothing there says their counts twice"
        )
    return Records.of(rows, manifest, [*damage.sentences(), *notes])


def _logged_alone(job_collectives: list[JobCollective], mine: list[JobCollective]) -> int:
    """Return how many of a process's collectives no other process logs, so that a count that is cut off cannot be seen."""
    others = {collective.op for collective in job_collectives if collective.who != mine[0].who}
    return sum(collective.op not in others for collective in mine)


def _row(job_collective: JobCollective, place: int, source: str) -> dict[str, Any]:
    return {
        "kind": "imported",
        "source": source,
        "collective": job_collective.collective,
        "size_bytes": job_collective.size,
        "dtype": job_collective.dtype,
        "ranks": job_collective.ranks,
        "repetition": place,
    }


def _manifest(log: Log, mine: list[JobCollective], processes: Collection[str]) -> dict[str, Any]:
    hosts = list(dict.fromkeys(name.partition(":")[0] for name in processes))
    all_there = len(processes) == mine[0].ranks  # else there may be hosts that wrote nothing here
    return {
        "tool": TOOL,
        "version": "",
        "command": "",
        "test": " ".join(dict.fromkeys(collective.collective for collective in mine)),
        **describe_ranks(mine[0].ranks, hosts if all_there else (), None),
        "hosts": hosts,
        "devices": [],
        "transport": transport_lines(log.lines),
        "environment": environment_lines(log.lines),
    }


def _compare(job_collectives: list[JobCollective], damage: Damage) -> None:
    """Doubt lines of one process that say something else than those of another with the same number."""
    first: dict[tuple[str, int], JobCollective] = {}
    nth: dict[tuple[str, str], int] = {}
    for collective in job_collectives:
        # Each communicator counts for itself, so a number comes again: the n-th is compared with the n-th.
        key = (collective.op, nth.setdefault((collective.who, collective.op), 0))
        nth[collective.who, collective.op] += 1
        other = first.setdefault(key, collective)
        if (other.collective, other.size, other.dtype, other.ranks) != (
            collective.collective, collective.size, collective.dtype, collective.ranks,
        ):  # fmt: skip
            for mine, its in (
                (collective, other),
                (other, collective),
            ):  # nobody knows which of them is damaged
                damage.doubt(
                    mine.place, f"it differs from line {its.place} of another process, with the same number"
                )


def _collective(place: int, text: str) -> JobCollective:
    match = _LINE.search(text)
    if not match:
        raise RecordsError("it is damaged or cut off")
    name, kind, ranks = match["name"], int(match["type"]), int(match["ranks"])
    if name not in COLLECTIVES:
        raise RecordsError(f"{name!r} is no collective that is known")
    if kind >= len(_BYTES) or not ranks:
        raise RecordsError(f"datatype {kind} with {ranks} ranks is not possible")
    collective = COLLECTIVES[name]
    # The count is in elements, and of these collectives one rank's share.
    size = int(match["count"]) * _BYTES[kind] * (ranks if collective_of(collective).shares else 1)
    return JobCollective(place, match["who"], match["op"], collective, size, _TYPES[kind], ranks)
