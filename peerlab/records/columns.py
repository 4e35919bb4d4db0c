"""The columns of a table of measurements, and how rows become one.

They are Python's own lists, of which a notebook gets a table of pandas: where a log is only read, in a browser tab, there is no pandas.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from peerlab.base.errors import RecordsError, nearest
from peerlab.collectives.busbw import bus_factor
from peerlab.model.collective import MEASURED
from peerlab.records.text import clean

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("measured", "imported", "simulated")
"""Run here by peerlab; read from somebody's log; told by the model."""

COLUMNS: dict[str, str] = {
    "kind": "str",  # one of KINDS
    "source": "str",  # tool and file or machine, e.g. "nccl-tests: run.log"
    "collective": "str",  # one of MEASURED
    "variant": "str",  # "in-place", "out-of-place", "latency", "bandwidth", "" where the tool has one way
    "size_bytes": "Int64",  # the message, as nccl-tests count it (an allgather: what every rank has in the end)
    "dtype": "str",
    "op": "str",
    "ranks": "Int64",
    "nodes": "Int64",
    "path": "str",  # a path of a scenario, an arm of a measurement, or "" where the log does not say
    "registration": "str",
    "capacity": "Int64",  # regions of the registration cache
    "slice_bytes": "Int64",
    "window": "Int64",
    "repetition": "Int64",
    "rank": "Int64",  # missing: the row is for all ranks
    "time_s": "Float64",  # of one collective, the slowest rank's
    "algbw_GBps": "Float64",  # as the tool says, else size / time; GB = 10**9 bytes
    "busbw_GBps": "Float64",
    "user_s": "Float64",  # CPU time of the rank
    "system_s": "Float64",
    "copied_bytes": "Int64",
    "registration_s": "Float64",
    "hits": "Int64",
    "misses": "Int64",
    "evictions": "Int64",
    "correct": "boolean",  # whether the result was checked and right; missing: not checked
}
"""Name and pandas type of every column; what a tool does not say is missing (``""`` in text)."""

Columns = Mapping[str, Sequence[Any]]
"""Every name of `COLUMNS` to its values, one per row; None where one is missing (``""`` in text)."""


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Columns:
    """Return the columns of rows that name only those they know; bandwidths are filled in from size and time.

    Rows are taken one by one, so that they need not be held beside their columns. Text is kept as one line that tells a
    terminal nothing.

    Raises
    ------
    RecordsError
        If a row names an unknown column, or holds what its column cannot.
    """
    try:
        columns = _columns(rows)
        _check_names(columns)
        _check_figures(columns)
    except RecordsError:
        raise
    except (TypeError, ValueError, OverflowError) as problem:
        raise RecordsError(f"a value does not fit its column: {problem}") from None
    _fill(columns)
    return columns


def table_of(columns: Columns) -> "pd.DataFrame":
    """Return columns as a table of pandas; names that `COLUMNS` lacks are left to pandas."""
    import pandas as pd  # noqa: PLC0415  (where a log is only read there is none)

    held = {
        name: pd.array(values, dtype=COLUMNS[name]) if name in COLUMNS else values  # type: ignore[call-overload]
        for name, values in columns.items()
    }
    return pd.DataFrame(held)


def plain_columns(table: "pd.DataFrame") -> Columns:
    """Return a table of pandas as columns: whoever works on one may give it back."""
    return {str(name): [_plain(str(name), value) for value in table[name].tolist()] for name in table}


def _plain(name: str, value: Any) -> Any:
    """Return a value as its column has it; None where it is missing."""
    kind = COLUMNS.get(name, "str")
    if value is None or type(value).__name__ == "NAType" or value != value:  # noqa: PLR0124  (not a number)
        return "" if kind == "str" else None
    return _CONVERT[kind](value)


def _whole(value: Any) -> int:
    # `int` would read text, and a number in a column of text would pass for a figure.
    if isinstance(value, str) or int(value) != value:
        raise TypeError(f"{value!r:.60} is no whole number")
    # What 64 bits hold, which is what pandas' columns have.
    if abs(value) >= 2**63:
        raise OverflowError(f"{value!r:.60} is larger than a table can hold")
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no number")
    return float(value)


def _truth(value: Any) -> bool:
    # By value, so that 1, 0 and numpy's truths are taken.
    if value not in (True, False):
        raise TypeError(f"{value!r:.60} is neither true nor false")
    return bool(value)


_CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "str": lambda value: clean(str(value)), "Int64": _whole, "Float64": _number, "boolean": _truth,
}  # fmt: skip


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of all columns; rows may come one by one, and none is kept."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    texts: dict[Any, str] = {}  # they repeat
    count = 0
    for row in rows:
        for name, value in row.items():
            column = columns.get(name)
            if column is None:
                raise RecordsError(f"unknown column {name!r}; known: {', '.join(COLUMNS)}")
            text = COLUMNS[name] == "str"
            # No row before this one named the column: it is filled up to here.
            column.extend(["" if text else None] * (count - len(column)))
            if not text:
                column.append(_plain(name, value))
                continue
            if value not in texts:
                texts[value] = _plain(name, value)
            column.append(texts[value])
        count += 1
    for name, column in columns.items():
        column.extend(["" if COLUMNS[name] == "str" else None] * (count - len(column)))
    return columns


def _check_names(columns: Mapping[str, Sequence[str]]) -> None:
    for name, known in (("kind", KINDS), ("collective", MEASURED)):
        for value in {*columns[name]} - {*known}:
            raise RecordsError(f"{name} {value[:40]!r} is unknown; {nearest(value[:40], known)}")


def _check_figures(columns: Columns) -> None:
    for name in (name for name, kind in COLUMNS.items() if kind in ("Int64", "Float64")):
        least = 1 if name in ("ranks", "nodes") else 0
        for value in columns[name]:
            if value is not None and (value < least or value == math.inf):
                raise ValueError(f"{name} {value} is out of range; a measurement has {least} or more")


def _fill(columns: dict[str, list[Any]]) -> None:
    """Fill in the bandwidths that follow from size, time and ranks, where a row has none of its own."""
    # A log has few collectives and numbers of ranks, and thousands of rows.
    factor = cache(bus_factor)
    names = ("collective", "size_bytes", "time_s", "algbw_GBps", "busbw_GBps", "ranks")
    for place, (collective, size, time, algbw, busbw, ranks) in enumerate(
        zip(*(columns[name] for name in names), strict=True)
    ):
        # A time of 0 was too short to print: no bandwidth follows from it.
        if algbw is None and size is not None and time:
            rate = size / time / 1e9
            columns["algbw_GBps"][place] = rate if math.isfinite(rate) else None
        known = columns["algbw_GBps"][place]
        if busbw is None and known is not None and ranks is not None:
            columns["busbw_GBps"][place] = known * factor(collective, ranks)
