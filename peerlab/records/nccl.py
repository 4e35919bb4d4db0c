"""Output of nccl-tests, and of rccl-tests, which print the same."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.records.figures import Printed, printed
from peerlab.records.launch import Launch, Launches, benchmark_of
from peerlab.records.nccl_results import (
    TOOL,
    VARIANTS,
    Group,
    NcclRow,
    NcclRun,
    describe,
    doubt_digits,
    finished,
    settle,
    verdict,
)
from peerlab.records.notes import Damage
from peerlab.records.schema import Records
from peerlab.records.table import Shape
from peerlab.records.text import Line, Log, is_number, quote, whole
from peerlab.records.transport import environment_lines, transport_lines

# Twice, as every size runs out of place and in place.
_COLUMNS = ("size", "count", "type", "redop", "root", *("time", "algbw", "busbw", "#wrong") * 2)
"""Of a log whose head is lost."""
_OLD_COLUMNS = ("size", "count", "type", "redop", *("time", "algbw", "busbw", "error") * 2)
"""The same, of older versions."""
_TEXTS = ("type", "redop", "date", "timestamp")
"""Columns that are no figures; a timestamp is two words."""
_TYPES = (
    *("int8", "char", "uint8", "int32", "int", "uint32", "int64", "uint64"),
    *("half", "float16", "float", "float32", "double", "bfloat16", "bf16"),
    *("f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"),
)
_TIMES = ("time", "cputime")
_FIGURES = (*_TIMES, "algbw", "busbw")
_TEST = re.compile(r"# Collective test starting: (\S{1,80})")
_SETTINGS = re.compile(r"#\s+nThread \d+ nGpus \d+ .*validation: (\d)")
_VERSION = re.compile(r"# nccl-tests version (\S{1,40})|NCCL version (\S{1,60})")
_RANK = re.compile(
    r"\bRank\s+(\d{1,7}) .{0,80}? on\s+(\S{1,300}) device\s+(\d{1,4}) \[[^\]]{0,40}\](?: (.{1,200}))?"
)
_OF_A_RANK = ("Rank ", " Pid ", " on ", " device ")
_INFO = re.compile(r"([\w.-]{1,200}):\d{1,9}:\d{1,9} \[\d{1,4}\] NCCL INFO ")
_BOUNDS = re.compile(r"#\s+(Out of bounds values\s*: \d+ \w+)")
_FAILED = re.compile(r"Test (?:NCCL|CUDA) failure.*|NCCL WARN .*")


def looks_like(log: Log) -> bool:
    """Say whether a log holds a table of nccl-tests, or the beginning of one."""
    return any(_is_head(line.text) or _SETTINGS.match(line.text) for line in log.lines)


def looks_like_rows(log: Log) -> bool:
    """Say whether a log holds rows of such a table whose head is lost."""
    return _first_row(log.lines) is not None


def read(log: Log) -> Records:
    """Return the rows of all tables in a log.

    Raises
    ------
    RecordsError
        If there is no row, or the test is none that peerlab knows.
    """
    damage = Damage(log)
    launches = Launches(log.lines, damage)
    tests = [test for test in _tests(log.lines, launches, damage) if test.rows]
    if not tests:
        raise log.fail(f"output of nccl-tests without a row of figures{damage.first()}")
    notes: list[str] = []
    logging = [(line.number, match[1]) for line in log.lines if (match := _INFO.match(line.text))]
    begins = 0
    for test in tests:  # each run of a script has hosts of its own
        # The length of the text is more than any line's number: the last run has all that follows.
        ends = test.rows[-1].place if test is not tests[-1] else len(log.text)
        test.launch = _with_hosts(test.launch, _between(logging, begins, ends))
        settle(test, notes, damage)
        begins = ends
    if not any(test.bounds for test in tests):
        notes.append('the end of the log is missing (no line "Out of bounds values")')
    launch = _with_hosts(launches.last, _between(logging, 0, len(log.text)))
    manifest = {"tool": TOOL, **_manifest(log.lines, launch), **describe(tests, launch)}
    rows = (row for test in tests for row in finished(test, f"{TOOL}: {log.name}"))
    return Records.of(rows, manifest, [*damage.sentences(), *dict.fromkeys(notes)])


def _tests(lines: Sequence[Line], launches: Launches, damage: Damage) -> Iterator[NcclRun]:
    """Yield every test; a line that looks like a row of its table is one, or damaged."""
    columns, below = _first_columns(lines), False
    test, shape = NcclRun(columns=columns), _shape(columns)
    for line in lines:
        text = line.text
        # Rows were there: so this beginning is that of the next test.
        if (match := _TEST.match(text)) or (test.rows and _begins(text)):
            yield test
            test, below = NcclRun(_test_name(match), columns), False
        if _is_head(text):
            columns, below = tuple(text.lstrip("#").split()), True
            test.columns, shape = columns, _shape(columns)
        elif all(word in text for word in _OF_A_RANK):
            _add_rank(test, line, damage)
        elif "Out of bounds values" in text:
            _add_bounds(test, line, damage)
        elif match := _FAILED.search(text):
            damage.said(line, match[0])
        elif shape.resembles(words := text.split(), below=below) and (
            row := damage.take(line.number, partial(_row, columns, shape, words, line.number, damage))
        ):
            test.launch = test.launch if test.rows else launches.at(line.number)
            test.rows.append(row)
            below = True
    yield test


def _test_name(match: re.Match[str] | None) -> str:
    return (benchmark_of(match[1]) or match[1]) if match else ""


def _begins(text: str) -> bool:
    """Say whether a line is among the first that a test prints."""
    return _is_head(text) or bool(_SETTINGS.match(text)) or all(word in text for word in _OF_A_RANK)


def _add_rank(test: NcclRun, line: Line, damage: Damage) -> None:
    match = _RANK.search(line.text)
    if not match:
        damage.row(line.number, "it is no rank with its host and device")
    elif int(match[1]) in test.devices:
        damage.row(line.number, f"rank {match[1]} stands there twice")
    else:
        test.devices[int(match[1])] = (
            match[2],
            (match[4] or "").strip(),
        )  # some drivers of AMD name no device
        test.numbers[int(match[1])] = int(match[3])


def _is_head(text: str) -> bool:
    return "busbw" in text and text.lstrip("#").split()[:3] == ["size", "count", "type"]


def _shape(columns: Sequence[str]) -> Shape:
    wide = [("date", "timestamp") if name == "timestamp" else (name,) for name in columns]
    return Shape.of([name for names in wide for name in names], _TEXTS)


def _first_columns(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the columns of the first head; of a log without one, those that its first row has."""
    head = next((line.text for line in lines if _is_head(line.text)), None)
    if head is not None:
        return tuple(head.lstrip("#").split())
    return _OLD_COLUMNS if len(_first_row(lines) or ()) == len(_OLD_COLUMNS) else _COLUMNS


def _first_row(lines: Sequence[Line]) -> list[str] | None:
    """Return the words of the first line that can only be a row."""
    for line in lines:
        words = line.text.split()
        if (
            len(words) >= len(_OLD_COLUMNS)
            and words[2] in _TYPES
            and None not in (whole(words[0]), whole(words[1]))
        ):
            return words
    return None


def _row(columns: Sequence[str], shape: Shape, words: Sequence[str], place: int, damage: Damage) -> NcclRow:
    """Return a line of the table."""
    shape.check(words)
    starts = [i for i, name in enumerate(columns) if name in _TIMES]
    named = dict(zip(columns[: starts[0]] if starts else columns, words, strict=False))
    size, count = whole(named["size"]), whole(named["count"])
    if size is None or named["type"] not in _TYPES:
        raise RecordsError(f"{quote(named['size'])} is not a size")
    if count is None:
        raise RecordsError(f"count {quote(named['count'])} is not a whole number")
    places = zip(VARIANTS, starts, [*starts[1:], len(columns)], strict=False)
    cells = {name: dict(zip(columns[a:b], words[a:b], strict=True)) for name, a, b in places}
    root = named.get("root", "-1")
    if not re.fullmatch("-?[0-9]{1,7}", root):
        raise RecordsError(f"root {quote(root)} is not a rank")
    groups = tuple(_group(name, rows) for name, rows in cells.items())
    row = NcclRow(place, size, count, named["type"], named.get("redop", ""), root, groups)
    for variant, entries in cells.items():
        doubt_digits(row, {name: entries[name] for name in entries if name in _FIGURES}, variant, damage)
    return row


def _group(variant: str, cells: Mapping[str, str]) -> Group:
    time, algbw, busbw = (
        _figure(name, cells.get(name, "")) for name in (next(iter(cells)), "algbw", "busbw")
    )
    wrong = cells.get("#wrong", "N/A")
    if wrong != "N/A" and not is_number(wrong):
        raise RecordsError(f"#wrong {quote(wrong)} is not a number")
    right = verdict(None if wrong == "N/A" else float(wrong))
    return Group(variant, time, algbw, busbw, right, by_processor="cputime" in cells)


def _figure(name: str, text: str) -> Printed:
    figure = printed(text, power=-6 if name in _TIMES else 0)
    if figure is None:
        raise RecordsError(f"{name} {quote(text)} is not a number")
    return figure


def _add_bounds(test: NcclRun, line: Line, damage: Damage) -> None:
    if match := _BOUNDS.search(line.text):
        test.bounds = " ".join(match[1].split())
    else:
        damage.row(line.number, "it does not say how many values are out of bounds")


def _between(logging: Sequence[tuple[int, str]], first: int, last: int) -> list[str]:
    """Return the hosts that wrote lines between two, each once."""
    return list(dict.fromkeys(host for number, host in logging if first < number <= last))


def _with_hosts(launch: Launch, hosts: Sequence[str]) -> Launch:
    """Return a launch with the hosts that log with NCCL_DEBUG, where the command names none."""
    if launch.nodes or len(hosts) < 2:  # one host may be the only one that was told to log
        return launch
    return replace(launch, hosts=tuple(hosts), nodes=len(hosts))


def _manifest(lines: Sequence[Line], launch: Launch) -> dict[str, Any]:
    versions = [match for line in lines if (match := _VERSION.search(line.text))]
    return {
        "version": next((version[1] or version[2] for version in versions), ""),
        "command": launch.command,
        "transport": transport_lines(lines),
        "environment": {**launch.environment, **environment_lines(lines)},
    }
