"""The columns of a table of measurements, and how rows become one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from peerlab.base.errors import RecordsError, nearest
from peerlab.collectives.busbw import bus_factor
from peerlab.model.collective import MEASURED
from peerlab.records.text import clean

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

_EMPTY: Mapping[str, tuple[Any, Any]] = {
    "Int64": (pd.arrays.IntegerArray, np.int64),
    "Float64": (pd.arrays.FloatingArray, np.float64),
    "boolean": (pd.arrays.BooleanArray, np.bool_),
}


def table_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows that name only the columns they know as a table; bandwidths are filled in from size and time.

    Rows are taken one by one, so that they need not be held beside their table. Text is kept as one line that tells a
    terminal nothing.

    Raises
    ------
    RecordsError
        If a row names an unknown column, or holds what its column cannot.
    """
    try:
        columns = _columns(rows)
        _check_names(columns)
        table = pd.DataFrame({name: _array(name, values) for name, values in columns.items()})
        _check_figures(table)
    except RecordsError:
        raise
    except (TypeError, ValueError, OverflowError) as problem:
        raise RecordsError(f"a value does not fit its column: {problem}") from None
    _fill(table)
    return table


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of all columns; rows may come one by one, and none is kept."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    known: dict[Any, str] = {}  # texts repeat
    count = 0
    for row in rows:
        for name, value in row.items():
            column = columns.get(name)
            if column is None:
                raise RecordsError(f"unknown column {name!r}; known: {', '.join(COLUMNS)}")
            missing = "" if COLUMNS[name] == "str" else None
            column.extend([missing] * (count - len(column)))
            if missing is None:
                column.append(value)
                continue
            if value not in known:
                known[value] = "" if pd.isna(value) else clean(str(value))
            column.append(known[value])
        count += 1
    for name, column in columns.items():
        column.extend(["" if COLUMNS[name] == "str" else None] * (count - len(column)))
    return columns


def _check_names(columns: Mapping[str, Sequence[str]]) -> None:
    for name, known in (("kind", KINDS), ("collective", MEASURED)):
        for value in {*columns[name]} - {*known}:
            raise RecordsError(f"{name} {value[:40]!r} is unknown; {nearest(value[:40], known)}")


def _array(name: str, values: Sequence[Any]) -> Any:
    """Return a column as pandas has it; one in which no row has anything is common, and made without looking."""
    kind: Any = COLUMNS[name]
    if kind in _EMPTY and values.count(None) == len(values):
        array, what = _EMPTY[kind]
        return array(np.zeros(len(values), what), np.ones(len(values), bool))
    return pd.array(values, dtype=kind)


def _check_figures(table: pd.DataFrame) -> None:
    for name in (name for name, kind in COLUMNS.items() if kind in ("Int64", "Float64")):
        given = table[name].dropna()
        least = 1 if name in ("ranks", "nodes") else 0
        wrong = given[(given < least) | (given == math.inf)]
        if len(wrong):
            raise ValueError(f"{name} {wrong.iloc[0]} is out of range; a measurement has {least} or more")


def _fill(table: pd.DataFrame) -> None:
    """Fill in the bandwidths that follow from size, time and ranks, where a row has none of its own."""
    size, time, algbw, busbw, ranks = (
        table[name].to_numpy(dtype=float, na_value=math.nan, copy=True)
        for name in ("size_bytes", "time_s", "algbw_GBps", "busbw_GBps", "ranks")
    )
    with np.errstate(all="ignore"):
        rate = size / time / 1e9
    algbw = np.where(np.isnan(algbw) & np.isfinite(rate), rate, algbw)
    todo = np.flatnonzero(np.isnan(busbw) & ~np.isnan(algbw) & ~np.isnan(ranks))
    factor = cache(bus_factor)
    collectives = table["collective"].to_numpy()
    busbw[todo] = [algbw[i] * factor(str(collectives[i]), int(ranks[i])) for i in todo]
    table["algbw_GBps"], table["busbw_GBps"] = pd.array(algbw, "Float64"), pd.array(busbw, "Float64")
