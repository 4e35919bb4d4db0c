"""Output of hccl_demo: blocks of one size, tables of a range of sizes, and the lines of its CSV result file."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from peerlab.base.errors import RecordsError, nearest
from peerlab.base.units import say_count
from peerlab.model.collective import programs_of
from peerlab.records.figures import Printed, cut_off, element_bytes, printed
from peerlab.records.hccl_results import HcclResult, doubt, rows_of
from peerlab.records.launch import Launch, Launches
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.ranks import agreed
from peerlab.records.schema import Records
from peerlab.records.table import Shape
from peerlab.records.text import Line, Log, quote, whole
from peerlab.records.transport import environment_lines, transport_lines

TOOL = "hccl_demo"

_POWERS = {"GB/s": 0, "MB/s": -3, "s": 0, "seconds": 0, "ms": -3, "us": -6}
_DECIMALS = {"GB/s": 6, "ms": 6}
"""Of every figure in these units (HabanaAI/hccl_demo f623d69 common.h, formatBW and formatTime)."""

_MARK = "[BENCHMARK]"
_BLOCK = re.compile(r"\[BENCHMARK\]\s*(hccl\w{2,40})\((.{0,400})", re.DOTALL)
_FIGURE = re.compile(r"\[BENCHMARK\]\s*([A-Z]\w{1,10}(?: \w{1,12})?)\s*:\s*(\S{1,40}) (\S{1,10})\s*\Z")
_FIGURES = {
    "NW Bandwidth": "bus",
    "Bandwidth": "bus",
    "Algo Bandwidth": "algo",
    "Host Latency": "host",
    "Device Latency": "device",
    "Time": "time",
}
_ARGUMENT = re.compile(r"(\w{1,30})=(.{0,60}?)(?=, *\w{1,30}=|\)|\Z)")
_SIZES = ("dataSize", "data_size", "InputSizeInBytes")
_REPORT = re.compile(r"\[(?:\w{1,20} )?SUMMARY REPORT\]")
_OF_REPORT = re.compile(r"\(.{0,60}\bcollective=(\w{2,30})")
_HEAD = ("size", "count", "type")
_NAMES = {
    "time": "time",
    "algoBW": "algo",
    "algo_bw": "algo",
    "nw_bw": "bus",
    "nwBW": "bus",
    "HostLatency": "host",
    "DeviceLatency": "device",
}
_RESULT = re.compile(
    r'([a-z][a-z2_]{3,20}),\d{1,7},\w{2,20},\d{1,15},\d{1,9},"?[0-9.]{1,20} ?(?:[GM]B/s|ms)"?'
)
_LIKE_A_RESULT = re.compile(r'(?:[^,]{0,60},){4,8} ?"?[^,]{1,40}(?:[GM]B/s|ms)"?\s*\Z')


def looks_like(log: Log) -> bool:
    """Say whether a log holds a result of hccl_demo in any of its forms."""
    return any(
        _BLOCK.search(line.text) or _REPORT.search(line.text) or _RESULT.match(line.text)
        for line in log.lines
    )


def read(log: Log) -> Records:
    """Return the results in a log.

    Raises
    ------
    RecordsError
        If there is no result, or the test is none that peerlab knows.
    """
    damage = Damage(log)
    launches = Launches(log.lines, damage)
    results = [*_blocks(log, damage), *_report(log, damage), *_result_lines(log, damage)]
    numbers, notes, rows = agreed(result.ranks for result in results), list[str](), list[dict[str, Any]]()
    for result in results:
        launch = launches.at(result.place)
        ranks = _count_of_command(launch, "HCCL_NRANKS", "--nranks")
        # Nobody gives the ranks: two bandwidths do, where their rounding leaves one number.
        if ranks is None and numbers[0] == numbers[1]:
            ranks = numbers[0]
            notes.append(f"the log does not say how many ranks; its two bandwidths say {ranks}")
        doubt(result, (ranks, ranks) if ranks else numbers, damage)
        same = {
            "kind": "imported",
            "source": f"{TOOL}: {log.name}",
            "ranks": ranks,
            "nodes": _nodes(launch, ranks),
        }
        rows += [same | row for row in damage.take(result.place, partial(_rows, result, ranks)) or ()]
    if not rows:
        raise RecordsError(f"output of hccl_demo without a result{damage.first()}")
    manifest = _manifest(log.lines, launches.last, rows)
    return Records.of(rows, manifest, [*damage.sentences(), *dict.fromkeys(notes)])


def _manifest(lines: Sequence[Line], launch: Launch, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    fine = sum("which is fine" in line.text for line in lines)
    return {
        "tool": TOOL,
        "version": "",
        "command": launch.command,
        "test": launch.binary or TOOL,
        **describe_ranks(rows[0]["ranks"], launch.hosts, rows[0]["nodes"]),
        "devices": [],
        "transport": transport_lines(lines),
        "environment": {**launch.environment, **environment_lines(lines)},
        "validation": f"{say_count(fine, 'buffer')} fine" if fine else "",
    }


def _blocks(log: Log, damage: Damage) -> Iterator[HcclResult]:
    """Yield what stands after each ``[BENCHMARK] hccl...(``; of these lines none is stepped over."""
    lines = log.lines
    starts = [place for place, line in enumerate(lines) if _BLOCK.search(line.text)]
    for line in filter(_says_a_figure, lines[: starts[0] if starts else None]):
        damage.row(line.number, "no test is named above it")
    for start, end in pairwise([*starts, len(lines)]):
        head, after = lines[start].text, start + 1
        while ")" not in head and after < min(end, start + 3):  # as wide pages print it: two lines
            head, after = head + " " + lines[after].text.removeprefix(_MARK).strip(), after + 1
        figures = _block_figures(lines[after:end], damage)
        block = damage.take(lines[start].number, partial(_block, lines[start].number, head, figures))
        if block:
            yield block


def _block(place: int, head: str, figures: Mapping[str, Printed]) -> HcclResult:
    match = _BLOCK.search(head)
    options = dict(_ARGUMENT.findall(match[2])) if match else {}
    dtype, count = options.get("dtype", "").strip(), whole(options.get("count", "").strip())
    size = next((whole(options[name].strip()) for name in _SIZES if name in options), None)
    each = element_bytes(dtype)
    if size is None and count is not None and each:
        size = count * each
    if size is None:
        raise RecordsError("neither a size nor a count of a known type")
    if not figures.keys() - {"time"}:
        raise RecordsError("neither a bandwidth nor a latency with its unit follows")
    name = match[1].removeprefix("hccl") if match else ""
    return HcclResult(place, _collective(name), size, count, dtype, figures=figures)


def _collective(name: str) -> str:
    tests = programs_of(TOOL)
    # Versions write all_reduce, AllReduce and all-reduce.
    known = tests.get(re.sub("[^a-z0-9]", "", name.lower()))
    if known is None:
        raise RecordsError(f"hccl_demo's test {name!r} is not read; {nearest(name, tests)}")
    return known


def _block_figures(lines: Sequence[Line], damage: Damage) -> dict[str, Printed]:
    """Return the figures of a block by their short names."""
    figures: dict[str, Printed] = {}
    for line in filter(_says_a_figure, lines):
        match = _FIGURE.search(line.text)
        name = _FIGURES.get(match[1]) if match else None
        if match is None or name is None or name in figures:
            damage.row(line.number, f"{quote(line.text)} is no figure of this test, or stands there twice")
        elif figure := damage.take(line.number, partial(_figure, match[2], match[3])):
            damage.doubt(line.number, _cut(match[1], match[2], match[3]))
            figures[name] = figure
    return figures


def _says_a_figure(line: Line) -> bool:
    """Say whether a line has a figure of a block, or had one; those of a report have no colon."""
    return _MARK in line.text and ":" in line.text


def _figure(cell: str, unit: str) -> Printed:
    figure = printed(cell, power=_POWERS.get(unit, 0))
    if figure is None or unit not in _POWERS:
        raise RecordsError(f"{quote(f'{cell} {unit}')} is not a figure with a unit")
    return figure


def _cut(name: str, cell: str, unit: str) -> str:
    return cut_off(name, cell, _DECIMALS.get(unit, 0))


def _report(log: Log, damage: Damage) -> Iterator[HcclResult]:
    """Yield the rows of summary reports; a line that looks like a row is one, or damaged."""
    inside, name, columns = False, "", tuple[str, ...]()
    for line in log.lines:
        text = line.text.removeprefix(_MARK)
        # The heading is two words and its column one.
        words = re.sub(r"\b(Host|Device) Latency\b", r"\1Latency", text).split()
        if _REPORT.search(text):
            inside, name, columns = True, "", ()
        elif inside and (match := _OF_REPORT.search(text)):
            name = match[1]
        elif inside and tuple(words[:3]) == _HEAD:
            columns = tuple(words)
        elif columns and _shape(columns).resembles(words):
            row = damage.take(line.number, partial(_report_row, line.number, name, columns, words))
            if row is None:
                continue
            for place, unit in enumerate(words):
                if unit in _DECIMALS:
                    damage.doubt(line.number, _cut("its figure", words[place - 1], unit))
            yield row


def _shape(columns: Sequence[str]) -> Shape:
    """Return the words of a row: a figure that has a unit is two."""
    wide = [(name, "unit") if name in _NAMES else (name,) for name in columns]
    return Shape.of([name for names in wide for name in names], ("type", "redop", "unit"))


def _report_row(place: int, name: str, columns: Sequence[str], words: Sequence[str]) -> HcclResult:
    _shape(columns).check(words)
    texts = [column for column in columns if column not in _NAMES]
    names = [_NAMES[column] for column in columns if column in _NAMES]
    if not {"algo", "bus", "host", "device"} & {*names}:
        raise RecordsError("its table has no column algoBW, nw_bw or latency")
    row, cells = dict(zip(texts, words, strict=False)), words[len(texts) :]
    size, count = whole(row["size"]), whole(row["count"])
    if size is None or count is None:
        raise RecordsError(f"{quote(row['size'])} of {quote(row['count'])} elements is not a size")
    triples = zip(names, cells[::2], cells[1::2], strict=False)
    figures = {kind: _figure(cell, unit) for kind, cell, unit in triples}
    return HcclResult(
        place, _collective(name), size, count, row["type"], row.get("redop", ""), figures=figures
    )


def _result_lines(log: Log, damage: Damage) -> Iterator[HcclResult]:
    """Yield the lines of a CSV result file: test, rank, type, size, iterations, and one or two figures."""
    if not any(_RESULT.match(line.text) for line in log.lines):
        return
    for line in log.lines:
        # Lines of a block have commas and units, too.
        if _MARK not in line.text and _LIKE_A_RESULT.match(line.text):
            row = damage.take(line.number, partial(_result, line, damage))
            if row:
                yield row


def _result(line: Line, damage: Damage) -> HcclResult:
    """Return a line of a result file; bandwidths are bus and algorithm, latencies host and device."""
    try:
        cells = next(csv.reader([line.text], skipinitialspace=True))
    except csv.Error as problem:
        raise RecordsError(str(problem)) from None
    if not 6 <= len(cells) <= 7:
        raise RecordsError(f"{len(cells)} cells; a result has 6 or 7")
    name, rank, dtype, size, _, *texts = cells
    if whole(size) is None or whole(rank) is None:
        raise RecordsError(f"size {quote(size)} or rank {quote(rank)} is not a whole number")
    names = ("host", "device") if texts[0].endswith("ms") else ("bus", "algo")
    figures = {}
    for kind, text in zip(names, texts, strict=False):
        cell, _, unit = text.rpartition(" ")
        figures[kind] = _figure(cell, unit)
        damage.doubt(line.number, _cut("its figure", cell, unit))
    return HcclResult(
        line.number, _collective(name), whole(size) or 0, None, dtype, rank=whole(rank), figures=figures
    )


def _count_of_command(launch: Launch, variable: str, option: str) -> int | None:
    """Return a count that the command sets by a variable or an option."""
    words = launch.words
    given = words[words.index(option) + 1 : words.index(option) + 2] if option in words else ()
    return whole(next(iter(given), launch.environment.get(variable, ""))) or None


def _nodes(launch: Launch, ranks: int | None) -> int | None:
    per_node = _count_of_command(launch, "HCCL_RANKS_PER_NODE", "--ranks_per_node")
    return ranks // per_node if ranks and per_node and ranks % per_node == 0 else None


def _rows(result: HcclResult, ranks: int | None) -> list[dict[str, Any]]:
    return list(rows_of(result, ranks))
