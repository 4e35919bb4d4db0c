"""Output of hccl_demo: blocks of one size, tables of a range of sizes, and the lines of its CSV result file."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from peerlab.collectives.busbw import bus_factor
from peerlab.errors import RecordsError, nearest
from peerlab.records.launch import Launch, find_launch
from peerlab.records.notes import Damage, describe_ranks
from peerlab.records.ranks import infer_ranks
from peerlab.records.schema import Records
from peerlab.records.text import Line, Log, number, quote, whole
from peerlab.records.transport import environment_lines, transport_lines
from peerlab.units import say_count

TOOL = "hccl_demo"

_COLLECTIVES = {
    "allreduce": "allreduce",
    "allgather": "allgather",
    "reducescatter": "reduce-scatter",
    "alltoall": "alltoall",
    "all2all": "alltoall",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "point-to-point",
}
_POWERS = {"GB/s": 0, "MB/s": -3, "s": 0, "seconds": 0, "ms": -3, "us": -6}
_ELEMENT_BYTES = {"float": 4, "fp32": 4, "float32": 4, "bf16": 2, "bfloat16": 2, "fp16": 2, "half": 2}
_RESOLUTION = 1e-6
"""Bandwidths are printed with six decimals of a GB/s."""

_BLOCK = re.compile(r"\[BENCHMARK\]\s*(hccl\w{2,40})\((.{0,400})", re.DOTALL)
_FIGURE = re.compile(r"\[BENCHMARK\]\s*([A-Z]\w{1,10}(?: \w{1,12})?)\s*:\s*(\S{1,40}) (\S{1,10})\s*\Z")
_ARGUMENT = re.compile(r"(\w{1,30})=([^,()]{1,60})")
_SIZES = ("dataSize", "data_size", "InputSizeInBytes")
_REPORT = re.compile(r"\[(?:\w{1,20} )?SUMMARY REPORT\]")
_OF_REPORT = re.compile(r"\(.{0,60}\bcollective=(\w{2,30})")
_HEAD = ("size", "count", "type")
_NAMES = {"time": "time", "algoBW": "algo", "algo_bw": "algo", "nw_bw": "bus", "nwBW": "bus"}
_RESULT = re.compile(
    r'([a-z][a-z2_]{3,20}),\d{1,7},\w{2,20},\d{1,15},\d{1,9},"?[0-9.]{1,20} ?(?:[GM]B/s|ms)"?'
)


def looks_like(log: Log) -> bool:
    """Say whether a log holds a result of hccl_demo in any of its forms."""
    return any(
        _BLOCK.match(line.text) or _REPORT.search(line.text) or _RESULT.match(line.text) for line in log.lines
    )


def read(log: Log) -> Records:
    """Return the results in a log.

    The time is size over algorithm bandwidth wherever there is one: some versions print another, in a wrong unit.

    Raises
    ------
    RecordsError
        If there is no result, or the test is none that peerlab knows.
    """
    launch, damage = find_launch(log.lines), Damage()
    results = [*_blocks(log, damage), *_report(log, damage), *_result_lines(log, damage)]
    ranks, notes = _given(launch, "HCCL_NRANKS", "--nranks"), []
    if ranks is None and (ranks := _inferred(results)):
        notes.append(f"the log does not say how many ranks; its two bandwidths say {ranks}")
    rows = [row for result in results for row in _rows(result, ranks)]
    if not rows:
        raise RecordsError(f"output of hccl_demo without a result{damage.first()}")
    per_node = _given(launch, "HCCL_RANKS_PER_NODE", "--ranks_per_node")
    nodes = ranks // per_node if ranks and per_node and ranks % per_node == 0 else None
    fine = sum("which is fine" in line.text for line in log.lines)
    same = {"kind": "imported", "source": f"{TOOL}: {log.name}", "ranks": ranks, "nodes": nodes}
    manifest = {
        "tool": TOOL,
        "version": "",
        "command": launch.command,
        "test": launch.binary or TOOL,
        **describe_ranks(ranks, launch.hosts, nodes),
        "devices": [],
        "transport": transport_lines(log.lines),
        "environment": {**launch.environment, **environment_lines(log.lines)},
        "validation": f"{say_count(fine, 'buffer')} fine" if fine else "",
    }
    return Records.of([same | row for row in rows], manifest, [*damage.sentences(), *notes])


def _blocks(log: Log, damage: Damage) -> Iterator[dict[str, Any]]:
    """Return what stands after each ``[BENCHMARK] hccl...(``."""
    lines = log.lines
    starts = [place for place, line in enumerate(lines) if _BLOCK.match(line.text)]
    for start, end in pairwise([*starts, len(lines)]):
        head = lines[start].text
        if ")" not in head:  # as wide pages print it: two lines
            head += " ".join(line.text.removeprefix("[BENCHMARK]") for line in lines[start + 1 : start + 3])
        found = _BLOCK.match(head)
        given = dict(_ARGUMENT.findall(found[2])) if found else {}
        try:
            block = _described(log, lines[start], found[1].removeprefix("hccl") if found else "", given)
            yield block | _block_figures(lines[start + 1 : end])
        except RecordsError as problem:
            damage.row(lines[start].number, str(problem))


def _described(log: Log, line: Line, name: str, given: Mapping[str, str]) -> dict[str, Any]:
    dtype = given.get("dtype", "").strip()
    size = next((whole(given[name].strip()) for name in _SIZES if name in given), None)
    if size is None:
        count, each = whole(given.get("count", "").strip()), _ELEMENT_BYTES.get(dtype)
        size = count * each if count is not None and each else None
    if size is None:
        raise RecordsError("neither a size nor a count of a known type")
    return {"collective": _collective(log, line, name), "size_bytes": size, "dtype": dtype}


def _collective(log: Log, line: Line, name: str) -> str:
    known = _COLLECTIVES.get(re.sub("[^a-z0-9]", "", name.lower()))
    if known is None:
        raise log.fail(f"hccl_demo's test {name!r} is not read; {nearest(name, _COLLECTIVES)}", line)
    return known


def _block_figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return algo, bus, host and device of a block: GB/s and seconds."""
    names = {"NW Bandwidth": "bus", "Bandwidth": "bus", "Algo Bandwidth": "algo"}
    names |= {"Host Latency": "host", "Device Latency": "device"}
    found = (_FIGURE.match(line.text) for line in lines)
    figures = {names[one[1]]: _figure(one[2], one[3]) for one in found if one and one[1] in names}
    if not figures:
        raise RecordsError("neither a bandwidth nor a latency with its unit follows")
    return figures


def _figure(cell: str, unit: str) -> float:
    figure = number(cell, power=_POWERS.get(unit, 0))
    if figure is None or unit not in _POWERS:
        raise RecordsError(f"{quote(f'{cell} {unit}')} is not a figure with a unit")
    return figure


def _report(log: Log, damage: Damage) -> Iterator[dict[str, Any]]:
    """Return the rows of summary reports."""
    inside, name, columns = False, "", tuple[str, ...]()
    for line in log.lines:
        words = tuple(line.text.removeprefix("[BENCHMARK]").split())
        if _REPORT.search(line.text):
            inside, name, columns = True, "", ()
        elif inside and (found := _OF_REPORT.search(line.text)):
            name = found[1]
        elif inside and words[:3] == _HEAD:
            columns = words
        elif columns and words and re.match(r"-?\d", words[0]):
            collective = _collective(log, line, name)
            try:
                yield {"collective": collective, **_report_row(columns, words)}
            except RecordsError as problem:
                damage.row(line.number, str(problem))


def _report_row(columns: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """Return a row of a report, whose figures are two words each: number and unit."""
    texts = [name for name in columns if name not in _NAMES]
    names = [_NAMES[name] for name in columns if name in _NAMES]
    cells, figures = words[: len(texts)], words[len(texts) :]
    if len(cells) < len(texts) or len(figures) != 2 * len(names):
        raise RecordsError(
            f"{len(words)} words for {len(columns)} columns, of which {len(names)} have a unit"
        )
    if not {"algo", "bus"} & {*names}:
        raise RecordsError("its table has no column algoBW or nw_bw")
    row = dict(zip(texts, cells, strict=True))
    size = whole(row["size"])
    if size is None:
        raise RecordsError(f"{quote(row['size'])} is not a size")
    found = {
        name: _figure(cell, unit) for name, cell, unit in zip(names, figures[::2], figures[1::2], strict=True)
    }
    return {"size_bytes": size, "dtype": row["type"], "op": row.get("redop", ""), **found}


def _result_lines(log: Log, damage: Damage) -> Iterator[dict[str, Any]]:
    """Return the lines of a CSV result file: test, rank, type, size, iterations, and one or two figures."""
    for line in log.lines:
        if not (found := _RESULT.match(line.text)):
            continue
        collective = _collective(log, line, found[1])
        try:
            yield {"collective": collective, **_result(next(csv.reader([line.text], skipinitialspace=True)))}
        except (RecordsError, csv.Error) as problem:
            damage.row(line.number, str(problem))


def _result(cells: Sequence[str]) -> dict[str, Any]:
    """Return a line of a result file; bandwidths are bus and algorithm, latencies host and device."""
    _, rank, dtype, size, _, *figures = cells
    names = ("host", "device") if figures[0].endswith("ms") else ("bus", "algo")
    given = {
        name: _figure(*cell.rpartition(" ")[::2]) for name, cell in zip(names, figures, strict=False) if cell
    }
    return {"size_bytes": whole(size), "dtype": dtype, "rank": whole(rank), **given}


def _given(launch: Launch, variable: str, option: str) -> int | None:
    """Return a count that the command sets by a variable or an option."""
    words = launch.words
    given = words[words.index(option) + 1 : words.index(option) + 2] if option in words else ()
    return whole(next(iter(given), launch.environment.get(variable, ""))) or None


def _inferred(results: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the number of ranks that network and algorithm bandwidth of the fastest result say."""
    both = [result for result in results if result.get("algo") and result.get("bus")]
    if not both:
        return None
    best = max(both, key=lambda result: float(result["bus"]))
    if best["collective"] == "allgather":  # its size is one rank's share, so that the factor is n - 1
        others = best["bus"] / best["algo"]
        return round(others) + 1 if abs(others - round(others)) < 1e-3 else None
    return infer_ranks(best["collective"], best["algo"], best["bus"], resolution=_RESOLUTION)


def _rows(result: Mapping[str, Any], ranks: int | None) -> Iterator[dict[str, Any]]:
    """Return a result as rows of records: one for each latency, or one for the bandwidths."""
    figures = ("algo", "bus", "time", "host", "device")
    row = {name: value for name, value in result.items() if name not in figures}
    algo, bus = result.get("algo"), result.get("bus")
    shares = ranks if row["collective"] == "allgather" else 1
    if shares is None:
        raise RecordsError(
            "an allgather's size is one rank's share: the log does not say how many ranks there are"
        )
    size = row["size_bytes"] * shares
    row["size_bytes"] = size
    for name in ("host", "device"):
        if name in result:
            yield row | {"variant": f"{name} latency", "time_s": result[name]}
    if algo is None and bus is not None and ranks and (factor := bus_factor(row["collective"], ranks)):
        algo = bus / factor / shares
    if algo or bus:
        time = size / shares / (algo * 1e9) if algo else result.get("time")
        yield row | {
            "variant": "",
            "time_s": time,
            "algbw_GBps": algo * shares if algo else None,
            "busbw_GBps": bus,
        }
