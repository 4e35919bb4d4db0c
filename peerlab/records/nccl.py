"""Output of nccl-tests, and of rccl-tests, which print the same."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from peerlab.errors import RecordsError, nearest
from peerlab.records.launch import Launch, find_launch
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.ranks import infer_ranks
from peerlab.records.schema import Records
from peerlab.records.text import Line, Log, number, quote, whole
from peerlab.records.transport import environment_lines, transport_lines

TOOL = "nccl-tests"

COLLECTIVES = {
    "all_reduce_perf": "allreduce",
    "all_gather_perf": "allgather",
    "reduce_scatter_perf": "reduce-scatter",
    "alltoall_perf": "alltoall",
    "broadcast_perf": "broadcast",
    "reduce_perf": "reduce",
    "gather_perf": "gather",
    "scatter_perf": "scatter",
    "sendrecv_perf": "point-to-point",
}
VARIANTS = ("out-of-place", "in-place")

_COLUMNS = ("size", "count", "type", "redop", "root", *("time", "algbw", "busbw", "#wrong") * 2)
"""Of a log whose head is lost."""
_OLD_COLUMNS = ("size", "count", "type", "redop", *("time", "algbw", "busbw", "error") * 2)
"""The same, of older versions."""
_TYPES = (
    *("int8", "char", "uint8", "int32", "int", "uint32", "int64", "uint64"),
    *("half", "float16", "float", "float32", "double", "bfloat16", "bf16"),
    *("f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"),
)
_TIMES = ("time", "cputime")
_TEST = re.compile(r"# Collective test starting: (\w{1,60})")
_SETTINGS = re.compile(r"#\s+nThread \d+ nGpus \d+ .*validation: (\d)")
_VERSION = re.compile(r"# nccl-tests version (\S{1,40})|NCCL version (\S{1,60})")
_RANK = re.compile(r"#\s+Rank\s+(\d{1,7}) .{0,80}? on\s+(\S{1,300}) device\s+\d+ \[[^\]]*\] (.{1,200})")
_INFO = re.compile(r"([\w.-]{1,200}):\d{1,9}:\d{1,9} \[\d{1,4}\] NCCL INFO ")
_BOUNDS = re.compile(r"#\s+(Out of bounds values\s*: \d+ \w+)")
_FAILED = re.compile(r"Test (?:NCCL|CUDA) failure.*|NCCL WARN .*")


@dataclass
class Test:
    """One run of one program: logs of scripts hold several."""

    name: str = ""
    columns: tuple[str, ...] = ()
    """Of its table's head; none before it, or where it is lost."""
    ranks: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Host and device of each rank."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    bounds: str = ""
    """The line about values out of bounds: the verdict where the column is "error"."""


def looks_like(log: Log) -> bool:
    """Say whether a log holds a table of nccl-tests, or the beginning of one."""
    return any(_is_head(line.text) or _SETTINGS.match(line.text) for line in log.lines)


def looks_like_rows(log: Log) -> bool:
    """Say whether a log holds rows of such a table whose head is lost."""
    return any(_is_row(line.text) and len(line.text.split()) >= len(_OLD_COLUMNS) for line in log.lines)


def read(log: Log) -> Records:
    """Return the rows of all tables in a log.

    Raises
    ------
    RecordsError
        If there is no row, or the test is none that peerlab knows.
    """
    launch, damage = _with_hosts(find_launch(log.lines), log.lines), Damage()
    tests = [test for test in _tests(log.lines, damage) if test.rows]
    if not tests:
        raise log.fail(f"output of nccl-tests without a row of figures{damage.first()}")
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for test in tests:
        rows += finish_test(test, launch, f"{TOOL}: {log.name}", notes)
    if not any(test.bounds for test in tests):
        notes.append('the end of the log is missing (no line "Out of bounds values")')
    manifest = {"tool": TOOL, **_manifest(log.lines, launch), **describe(tests, launch, rows)}
    return Records.of(rows, manifest, [*damage.sentences(), *dict.fromkeys(notes)])


def finish_test(test: Test, launch: Launch, source: str, notes: list[str]) -> list[dict[str, Any]]:
    """Return the rows of one test with what holds for all of them; add to the notes what was inferred."""
    collective, ranks = _collective(test, launch, notes), len(test.ranks) or None
    if ranks is None and test.rows:
        best = max(test.rows, key=lambda row: row["busbw_GBps"])
        ranks = infer_ranks(collective, best["algbw_GBps"], best["busbw_GBps"], resolution=0.01)
        if ranks:
            notes.append(f"the log lists no ranks; busbw / algbw says {ranks}")
    hosts = {host for host, _ in test.ranks.values()}
    if "error" in test.columns and test.bounds.endswith("OK"):  # an error of rounding is no verdict
        test.rows = [row | {"correct": True} for row in test.rows]
    same = {
        "kind": "imported",
        "source": source,
        "collective": collective,
        "ranks": ranks or launch.ranks,
        "nodes": len(hosts) or launch.nodes,
    }
    return [same | _sharpened(row, known=bool(same["ranks"])) for row in test.rows]


def describe(tests: Sequence[Test], launch: Launch, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a manifest says about the tests and their finished rows."""
    names = dict.fromkeys(test.name or launch.binary for test in tests)
    ranks = next((test.ranks for test in tests if test.ranks), {})
    hosts, devices = [host for host, _ in ranks.values()], [device for _, device in ranks.values()]
    return {
        "test": " ".join(name for name in names if name),
        **describe_ranks(rows[0]["ranks"], hosts or launch.hosts, launch.nodes),
        "devices": list(dict.fromkeys(devices)),
        "validation": next((test.bounds for test in tests if test.bounds), ""),
    }


def group(
    row: Mapping[str, Any], variant: str, figures: Sequence[float], wrong: float | None
) -> dict[str, Any]:
    """Return a row for one of the two ways to run a size; the figures are seconds, algbw and busbw in GB/s."""
    time, algbw, busbw = figures
    return {
        **row,
        "variant": variant,
        "time_s": time,
        "algbw_GBps": algbw,
        "busbw_GBps": busbw,
        "correct": wrong == 0 if wrong is not None and wrong.is_integer() else None,
    }


def _tests(lines: Sequence[Line], damage: Damage) -> Iterator[Test]:
    test = Test()
    for line in lines:
        text = line.text
        if (found := _TEST.match(text)) or (test.rows and (_SETTINGS.match(text) or _is_head(text))):
            yield test
            test = Test(found[1] if found else "")
        if _is_head(text):
            test.columns = tuple(text.lstrip("#").split())
        elif found := _RANK.match(text):
            test.ranks[int(found[1])] = (found[2], found[3].strip())
        elif found := _BOUNDS.match(text):
            test.bounds = " ".join(found[1].split())
        elif found := _FAILED.search(text):
            damage.said(line, found[0])
        elif _is_row(text) or (test.columns and re.match(r"\s*-?\d+\s", text)):
            _add_row(test, line, damage)
    yield test


def _is_head(text: str) -> bool:
    words = text.lstrip("#").split()
    return words[:3] == ["size", "count", "type"] and "busbw" in words


def _is_row(text: str) -> bool:
    words = text.split(maxsplit=3)
    return len(words) == 4 and words[2] in _TYPES and all(whole(word) is not None for word in words[:2])


def _add_row(test: Test, line: Line, damage: Damage) -> None:
    words = line.text.split()
    columns = test.columns or (_OLD_COLUMNS if len(words) == len(_OLD_COLUMNS) else _COLUMNS)
    try:
        test.rows += _row(columns, words)
    except RecordsError as problem:
        damage.row(line.number, str(problem))


def _row(columns: Sequence[str], words: Sequence[str]) -> list[dict[str, Any]]:
    """Return a line of the table as one row for each way to run it."""
    if len(words) < len(columns):
        raise RecordsError(f"{len(words)} of {len(columns)} columns")
    starts = [i for i, name in enumerate(columns) if name in _TIMES]
    named = dict(zip(columns[: starts[0]] if starts else columns, words, strict=False))
    size = whole(named["size"])
    if size is None or named["type"] not in _TYPES:
        raise RecordsError(f"{quote(named['size'])} is not a size")
    row = {"size_bytes": size, "dtype": named["type"], "op": named.get("redop", "")}
    row["root"] = named.get("root", "-1")
    ends = [*starts[1:], len(columns)]
    places = zip(VARIANTS, starts, ends, strict=False)
    return [
        group(row, variant, *_figures(columns[start:end], words[start:end])) for variant, start, end in places
    ]


def _figures(columns: Sequence[str], words: Sequence[str]) -> tuple[list[float], float | None]:
    cells = dict(zip(columns, words, strict=True))
    figures = []
    for name in (columns[0], "algbw", "busbw"):
        figure = number(cells.get(name, ""), power=-6 if name in _TIMES else 0)
        if figure is None:
            raise RecordsError(f"{name} {quote(cells.get(name, ''))} is not a number")
        figures.append(figure)
    wrong = cells.get("#wrong", "N/A")
    if wrong != "N/A" and number(wrong) is None:
        raise RecordsError(f"#wrong {quote(wrong)} is not a number")
    return figures, number(wrong)


def _collective(test: Test, launch: Launch, notes: list[str]) -> str:
    """Return the collective of a test, from its name or from what its figures leave possible."""
    name = test.name or (launch.binary if launch.binary.endswith("_perf") else "")
    if name in COLLECTIVES:
        return COLLECTIVES[name]
    if name:
        raise RecordsError(f"test {name!r} is not read; {nearest(name, COLLECTIVES)}")
    last = test.rows[-1] if test.rows else {}
    factor = (last.get("busbw_GBps") or 1) / (last.get("algbw_GBps") or 1)
    rooted = last.get("root", "-1") != "-1"
    if last.get("op", "none") in ("none", ""):
        guess = "broadcast" if rooted else "allgather"
    else:
        guess = "reduce" if rooted else "reduce-scatter" if factor < 0.99 else "allreduce"
    if test.rows:
        notes.append(f"the log does not name its test; columns and factors fit {guess}")
    return guess


def _sharpened(row: dict[str, Any], *, known: bool) -> dict[str, Any]:
    """Return a row without bandwidths of less than three printed digits, which size and time say better."""
    row.pop("root")
    if known and row["time_s"] and (row["algbw_GBps"] or 0) < 1:
        row |= {"algbw_GBps": None, "busbw_GBps": None}
    return row


def _with_hosts(launch: Launch, lines: Sequence[Line]) -> Launch:
    """Return a launch with the hosts that log with NCCL_DEBUG, where the command names none."""
    found = dict.fromkeys(match[1] for line in lines if (match := _INFO.match(line.text)))
    if launch.nodes or len(found) < 2:  # one host may be the only one that was told to log
        return launch
    return replace(launch, hosts=tuple(found), nodes=len(found))


def _manifest(lines: Sequence[Line], launch: Launch) -> dict[str, Any]:
    versions = [found for line in lines if (found := _VERSION.search(line.text))]
    return {
        "version": next((found[1] or found[2] for found in versions), ""),
        "command": launch.command,
        "transport": transport_lines(lines),
        "environment": {**launch.environment, **environment_lines(lines)},
    }
