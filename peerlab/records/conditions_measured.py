"""Repetitions of one measurement as one row: medians, and the quartiles of their times."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from peerlab.collectives.busbw import bus_factor
from peerlab.records.columns import table_of

if TYPE_CHECKING:
    import pandas as pd

CONDITIONS = (
    *("kind", "source", "collective", "variant", "size_bytes", "dtype", "op", "ranks", "nodes"),
    *("path", "registration", "capacity", "slice_bytes", "window"),
)
"""Columns that say what was measured; rows that agree in them are repetitions of one another."""

Row = Mapping[str, Any]


def condition_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return one row per condition, in the order measured; a repetition takes as long as its slowest rank."""
    runs = grouped(rows, (*CONDITIONS, "repetition"))
    # The slowest rank counts: the longest time, the least bandwidth, and false if it is false of any.
    slowest = [
        dict(zip(CONDITIONS, key, strict=False))
        | {
            "time_s": _of(max, ranks, "time_s"),
            "algbw_GBps": _of(min, ranks, "algbw_GBps"),
            "correct": _of(min, ranks, "correct"),
        }
        for key, ranks in runs.items()
    ]
    return [
        _condition(dict(zip(CONDITIONS, key, strict=True)), runs)
        for key, runs in grouped(slowest, CONDITIONS).items()
    ]


def condition_table(rows: Iterable[Row]) -> "pd.DataFrame":
    """Return the same as a table of pandas."""
    import pandas as pd  # noqa: PLC0415  (where a log is only read there is none)

    conditions = condition_rows(rows)
    names = (*CONDITIONS, "time_s", "algbw_GBps", "repetitions", "correct", "low_s", "high_s", "busbw_GBps")
    table = table_of({name: [row[name] for row in conditions] for name in names})
    kinds: Any = {"repetitions": "Int64", "low_s": "Float64", "high_s": "Float64"}
    return table.assign(**{name: pd.array(table[name], dtype=kind) for name, kind in kinds.items()})


def grouped(rows: Iterable[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows that agree in some columns, by what these hold, in the order of the first of each."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _condition(condition: dict[str, Any], runs: Sequence[Row]) -> dict[str, Any]:
    times, algbw = (_of(sorted, runs, name) or [] for name in ("time_s", "algbw_GBps"))
    rate = median(algbw) if algbw else None
    ranks = condition["ranks"]
    factor = None if ranks is None else bus_factor(condition["collective"], ranks)
    return condition | {
        "time_s": median(times) if times else None,
        "algbw_GBps": rate,
        "repetitions": len(runs),
        "correct": _of(min, runs, "correct"),
        "low_s": _quantile(times, 0.25),
        "high_s": _quantile(times, 0.75),
        "busbw_GBps": None if rate is None or factor is None else rate * factor,
    }


def _of(act: Callable[[list[Any]], Any], rows: Sequence[Row], name: str) -> Any:
    """Return what a function makes of the values of a column that are not missing; None where all are."""
    there = [row[name] for row in rows if row[name] is not None]
    return act(there) if there else None


def _quantile(ordered: Sequence[float], part: float) -> float | None:
    """Return what a part of some values in order does not exceed, as a straight line between two of them."""
    if not ordered:
        return None
    place, beyond = divmod(part * (len(ordered) - 1), 1)
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
    return low + (high - low) * beyond
