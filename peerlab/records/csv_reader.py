"""Reads a file of records back, and refuses any other in words."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from peerlab.base.errors import RecordsError, nearest
from peerlab.model.collective import MEASURED
from peerlab.records.columns import COLUMNS
from peerlab.records.csv_file import ALWAYS, FORMAT
from peerlab.records.figures import contradiction, printed
from peerlab.records.notes import Damage
from peerlab.records.ranks import factors_of, say_ranks
from peerlab.records.schema import Records
from peerlab.records.text import Log, clean, quote

_ANY_FORMAT = FORMAT.rpartition(" ")[0]
# So many digits fit a column of 64 bits.
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_FLOAT = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:e[+-]?[0-9]{1,3})?")


def looks_like(log: Log) -> bool:
    """Say whether a text begins as the file does."""
    return log.text.startswith(_ANY_FORMAT)


def read(log: Log) -> Records:
    """Return the records in a file.

    Raises
    ------
    RecordsError
        Naming the line that is damaged.
    """
    about, rows, before = _opened(log)
    damage = Damage(log, "row")
    records = Records.of(_rows(log, rows, before, damage), about["manifest"])
    names = [clean(warning) for warning in about["warnings"]]
    # What was noticed before the file was saved is noticed again, and told once.
    return replace(
        records, warnings=(*names, *(sentence for sentence in damage.sentences() if sentence not in names))
    )


def manifest_of(log: Log) -> dict[str, Any]:
    """Return where a file's records come from; its rows are not read.

    Raises
    ------
    RecordsError
        If it is not such a file, or its head is damaged.
    """
    manifest: dict[str, Any] = _opened(log)[0]["manifest"]
    return manifest


def _opened(log: Log) -> tuple[dict[str, Any], str, int]:
    """Return what stands at a file's head, the text of its rows, and how many lines are before them."""
    first, *rest = log.text.split("\n")
    if first.rstrip() != FORMAT:
        raise log.fail(f"{quote(first)} is not a format that this version reads, which is {FORMAT[2:]!r}")
    comments = next((i for i, line in enumerate(rest) if not line.startswith("#")), len(rest))
    about = _about(log, "\n".join(line[2:] for line in rest[:comments]))
    # A line's number counts from the top: the format's line, then the comments.
    return about, "\n".join(rest[comments:]), 1 + comments


def _about(log: Log, text: str) -> dict[str, Any]:
    try:
        # Python's reader takes NaN and Infinity, which are no JSON.
        about = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as problem:
        raise log.fail(f"line {1 + problem.lineno}: damaged: {problem.msg}") from None
    except (ValueError, RecursionError) as problem:
        raise log.fail(f"the comments at its head are damaged: {problem}") from None
    if not isinstance(about, dict) or not isinstance(about.get("manifest"), dict):
        raise log.fail("the comments at its head hold no manifest")
    warnings = about.get("warnings")
    if not isinstance(warnings, list) or not all(isinstance(warning, str) for warning in warnings):
        raise log.fail("the comments at its head hold no list of warnings")
    return about


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _rows(log: Log, text: str, before: int, damage: Damage) -> Iterator[Mapping[str, Any]]:
    # Else a torn quotation would swallow the lines behind it.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = next(reader, [])
        _check_names(log, names, before + 1)
        for place, cells in enumerate(filter(None, reader), start=1):
            row = _row(names, cells)
            damage.doubt(place, _contradiction(row, dict(zip(names, cells, strict=True))))
            yield row
    except (csv.Error, RecordsError) as problem:
        if isinstance(problem, RecordsError) and str(problem).startswith(log.name):
            raise
        raise log.fail(f"line {before + reader.line_num}: {problem}") from None


def _check_names(log: Log, names: Sequence[str], line: int) -> None:
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise log.fail(f"line {line}: column {quote(unknown[0])} is unknown; {nearest(unknown[0], COLUMNS)}")
    missing = [name for name in ALWAYS if name not in names]
    if missing or len(set(names)) < len(names):
        problem = f"column {missing[0]} is missing" if missing else "a column stands there twice"
        raise log.fail(f"line {line}: {problem}")


def _row(names: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    if len(cells) != len(names):
        raise RecordsError(f"{len(cells)} cells for {len(names)} columns")
    return {name: _value(name, cell) for name, cell in zip(names, cells, strict=True)}


def _value(name: str, cell: str) -> Any:
    """Return the value of a cell as its column has it; nothing is a missing value."""
    kind = COLUMNS[name]
    if kind == "str" or not cell:
        return cell if kind == "str" else None
    if kind == "boolean" and cell in ("true", "false"):
        return cell == "true"
    if kind == "Int64" and _WHOLE.fullmatch(cell):
        return int(cell)
    if kind == "Float64" and _FLOAT.fullmatch(cell) and math.isfinite(float(cell)):
        return float(cell)
    what = {"boolean": "true or false", "Int64": "a whole number"}.get(kind, "a number")
    raise RecordsError(f"{name} {quote(cell)} is not {what}")


def _contradiction(row: Mapping[str, Any], cells: Mapping[str, str]) -> str:
    """Return how the figures of a row contradict one another, or nothing; its place is told, as a line's number changes."""
    time, algbw, busbw = (printed(cells.get(name, "")) for name in ("time_s", "algbw_GBps", "busbw_GBps"))
    if algbw is None or (time is None and busbw is None):
        return ""
    collective, ranks = row["collective"], row.get("ranks")
    factors = None
    if ranks and collective in MEASURED:
        factors = factors_of(collective, (ranks, ranks))
    whose = say_ranks(collective, (ranks or 0, ranks or 0))
    return contradiction(row.get("size_bytes"), time, algbw, busbw, factors=factors, whose=whose)
