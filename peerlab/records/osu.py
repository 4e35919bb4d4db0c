"""Output of the OSU micro-benchmarks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from peerlab.errors import RecordsError, nearest
from peerlab.records.launch import Launch, find_launch
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.schema import Records
from peerlab.records.text import Line, Log, number, quote, whole
from peerlab.records.transport import environment_lines, transport_lines

TOOL = "osu"

_TITLE = re.compile(r"# OSU (\w{2,10}(?:-\w{2,12})?) (.{3,80}?)(?: Test)? v(\d[\w.]{0,20})")
_HEAD = re.compile(r"# ?Size\s+\S")
_POINT_TO_POINT = {
    "Latency": ("point-to-point", "latency"),
    "Bandwidth": ("point-to-point", "bandwidth"),
    "Bi-Directional Bandwidth": ("point-to-point", "bidirectional bandwidth"),
}
_COLLECTIVE = {
    "Allreduce": "allreduce",
    "All-to-All Personalized Exchange": "alltoall",
    "Allgather": "allgather",
    "Reduce_scatter": "reduce-scatter",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
    "Gather": "gather",
    "Scatter": "scatter",
}
_TESTS = _POINT_TO_POINT | {f"{name} Latency": (c, "latency") for name, c in _COLLECTIVE.items()}
_TESTS |= {f"Non-blocking {name} Latency": (c, "non-blocking latency") for name, c in _COLLECTIVE.items()}
_TIMES = ("Latency", "Avg Latency", "Pure Comm.")
_PER_PAIR = ("alltoall", "allgather", "gather", "scatter")
"""Here OSU counts what one rank sends to one other, nccl-tests (and the records) what a rank has of all."""
_BUFFERS = re.compile(r"Send Buffer on \w+ \((\w)\) and Receive Buffer on \w+ \((\w)\)")
_WHOLE_END = re.compile(r"\.\d\d\Z|[a-z]\Z")
_FAILED = re.compile(
    r"\*\*\* Process received signal \*\*\*|srun: error: .*|.*(?:Segmentation fault|Aborted).*"
)


@dataclass
class _Test:
    title: str
    build: str
    version: str
    columns: tuple[str, ...] = ()
    rows: list[dict[str, Any]] = field(default_factory=list)


def looks_like(log: Log) -> bool:
    """Say whether a log holds a title of the OSU micro-benchmarks."""
    return any(_TITLE.match(line.text) for line in log.lines)


def read(log: Log) -> Records:
    """Return the rows of all tables in a log.

    A bandwidth test has many messages under way, so its rows have no time.

    Raises
    ------
    RecordsError
        If there is no row, or the test is none that peerlab knows.
    """
    launch, damage = find_launch(log.lines), Damage()
    notes: list[str] = []
    tests = list(_tests(log, damage))
    if not any(test.rows for test in tests):
        raise log.fail(f"output of the OSU micro-benchmarks without a row of figures{damage.first()}")
    rows = [row for test in tests for row in _finished(test, launch, f"{TOOL}: {log.name}", notes)]
    return Records.of(rows, _manifest(log.lines, tests, launch, rows), [*damage.sentences(), *notes])


def _tests(log: Log, damage: Damage) -> Iterator[_Test]:
    test: _Test | None = None
    for line in log.lines:
        text = line.text
        if found := _TITLE.match(text):
            if test:
                yield test
            test = _Test(found[2], found[1], found[3]) if found[2] in _TESTS else None
            if test is None:
                damage.row(
                    line.number,
                    f"OSU's test {found[2]!r} is not read; {nearest(found[2], (*_POINT_TO_POINT, *_COLLECTIVE))}",
                )
        elif test and _HEAD.match(text):
            test.columns = tuple(re.split(r"\s{2,}", re.sub(r"\s*\(", "(", text.lstrip("# "))))
        elif test and test.columns and re.match(r"\s*-?\d+\s", text):
            _add_row(test, line, damage, last=line is log.lines[-1] and not log.ends_whole)
        elif found := _FAILED.search(text):
            damage.said(line, found[0])
    if test:
        yield test


def _add_row(test: _Test, line: Line, damage: Damage, *, last: bool) -> None:
    try:
        test.rows.append(_row(test, line.text.split(), last=last))
    except RecordsError as problem:
        damage.row(line.number, str(problem))


def _row(test: _Test, words: Sequence[str], *, last: bool) -> dict[str, Any]:
    if len(words) < len(test.columns):
        raise RecordsError(f"{len(words)} of {len(test.columns)} columns")
    if last and not _WHOLE_END.search(words[-1]):
        raise RecordsError(f"{quote(words[-1])} is the end of the log, and OSU prints two decimals")
    cells = {name.partition("(")[0].strip(): word for name, word in zip(test.columns, words, strict=False)}
    units = {name.partition("(")[0].strip(): name.partition("(")[2].rstrip(") ") for name in test.columns}
    size = cells.get("Size", "")
    row = {"size_bytes": whole(size)}
    if row["size_bytes"] is None:
        raise RecordsError(f"{quote(size)} is not a size")
    name = next((name for name in (*_TIMES, "Bandwidth") if name in cells), "")
    figure = number(cells.get(name, ""), power=-3 if name == "Bandwidth" else -6)
    if figure is None or units[name] not in ("us", "MB/s"):
        raise RecordsError(f"{name or 'latency'} {quote(cells.get(name, ''))} is not a number")
    verdict = cells.get("Validation")
    if verdict not in (None, "Pass", "Fail"):
        raise RecordsError(f"validation {quote(verdict)} is neither Pass nor Fail")
    measured = {"algbw_GBps" if name == "Bandwidth" else "time_s": figure}
    return row | measured | {"correct": None if verdict is None else verdict == "Pass"}


def _finished(test: _Test, launch: Launch, source: str, notes: list[str]) -> list[dict[str, Any]]:
    collective, variant = _TESTS[test.title]
    ranks = 2 if collective == "point-to-point" else launch.ranks
    same = {
        "kind": "imported",
        "source": source,
        "collective": collective,
        "variant": variant,
        "ranks": ranks,
        "nodes": launch.nodes,
    }
    if collective not in _PER_PAIR:
        return [same | row for row in test.rows]
    if ranks is None:
        notes.append(f"sizes are per pair of ranks: the log does not say how many ranks the {collective} has")
        return [same | row for row in test.rows]
    notes.append(f"sizes are {ranks} times those in the log, which counts what one rank sends to one other")
    return [same | row | {"size_bytes": row["size_bytes"] * ranks} for row in test.rows]


def _manifest(
    lines: Sequence[Line], tests: Sequence[_Test], launch: Launch, rows: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    first = tests[0]
    checked = [row["correct"] for row in rows if row["correct"] is not None]
    return {
        "tool": TOOL,
        "version": first.version,
        "command": launch.command,
        "test": launch.binary or first.title,
        **describe_ranks(rows[0]["ranks"], launch.hosts, launch.nodes),
        "devices": [],
        "transport": [first.build, *_buffers(lines, launch), *transport_lines(lines)],
        "environment": {**launch.environment, **environment_lines(lines)},
        "validation": f"{sum(checked)} of {len(checked)} rows pass" if checked else "",
    }


def _buffers(lines: Sequence[Line], launch: Launch) -> list[str]:
    """Return where the buffers lie, as the command says it (``-d cuda``, ``D D``) or the head of the output."""
    words = launch.words
    device = [f"{a} {b}" for a, b in pairwise(words) if a == "-d"]
    sides = [f"{a} {b}" for a, b in pairwise(words) if {a, b} <= {"D", "H", "M"}]
    told = [f"{found[1]} {found[2]}" for line in lines if (found := _BUFFERS.search(line.text))]
    return list(dict.fromkeys([*device, *sides, *told]))
