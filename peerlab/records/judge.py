"""What a measurement says: ratios between its conditions, and whether they exceed the noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from peerlab.base.numbers import NDArray, np
from peerlab.base.units import TIMES_SIGN, say_bytes, say_count
from peerlab.collectives.conditions import CONTROL, say_block
from peerlab.records.schema import Records

if TYPE_CHECKING:
    import pandas as pd

LEAST_NOISE = 1.15
"""A factor that no ratio below means anything, however quiet the control: a quartile of equal things lay there, from 1 MiB
on, in the measurements that this rule was made for (a busy virtual machine with two processors)."""

_LEAST_REPETITIONS = 3

FASTER, SLOWER, NOISE, WRONG = "faster", "slower", "within the noise", "wrong sums"
NO_CONTROL, TOO_FEW = "cannot say: no A/A control", "cannot say: too few repetitions"

_CONDITION = ["path", "variant", "registration", "capacity"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One condition against a baseline, at one number of ranks and one size."""

    ranks: int
    """Ranks."""
    size_bytes: int
    """Message."""
    path: str
    """The arm."""
    variant: str
    """`CONTROL` for the baseline's second time."""
    registration: str
    """How its regions got registered."""
    capacity: int | None
    """Regions that its cache keeps."""
    time_s: float
    """Median of its repetitions."""
    ratio: float
    """How many times as fast as the baseline: the median of the ratios within each repetition."""
    low: float
    """Their lower quartile."""
    high: float
    """Their upper quartile."""
    noise: float | None
    """The factor that a ratio must exceed to mean something; None: no control was measured."""
    verdict: str
    """One of the words above."""


def compare(records: Records, path: str = "staged") -> list[Comparison]:
    """Compare all conditions with this path without registration, where it was measured, in the order measured.

    Repetitions are compared in pairs, as they ran one after another. The control, an arm against itself, says how much two
    equal things differ here and now; a ratio whose quartiles do not leave that behind is within the noise.
    """
    comparisons = []
    blocks: Any = records.table.groupby(["ranks", "size_bytes"], sort=False)
    for (ranks, size), block in blocks:
        runs = {_key(key): _runs(rows) for key, rows in block.groupby(_CONDITION, sort=False, dropna=False)}
        baseline = next((runs[key] for key in runs if key[:3] == (path, "", "none")), None)
        if baseline is None:
            continue
        noise = _noise(runs)
        for key, mine in runs.items():
            # Divided repetition by repetition: pandas pairs rows by their index.
            ratios = (baseline["time_s"] / mine["time_s"]).dropna().to_numpy(float)
            low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75]) if len(ratios) else [np.nan] * 3
            comparisons.append(
                Comparison(
                    ranks=int(ranks),
                    size_bytes=int(size),
                    path=key[0],
                    variant=key[1],
                    registration=key[2],
                    capacity=key[3],
                    time_s=float(mine["time_s"].median()),
                    ratio=float(ratio),
                    low=float(low),
                    high=float(high),
                    noise=noise,
                    verdict=_verdict(mine, ratios, noise, low, high),
                )
            )
    return comparisons


def gist(comparisons: Sequence[Comparison]) -> str:
    """Return what going direct brings over ``staged`` at the largest message, in one line; empty where it was not measured.

    The arm with the largest registration cache speaks: a NIC can reach no memory that is not registered. Where that was
    not measured, the arm without any does, and it is said.
    """
    direct = [
        comparison for comparison in comparisons if comparison.path == "direct" and not comparison.variant
    ]
    cached = [comparison for comparison in direct if comparison.registration == "lru"]
    unpinned = [comparison for comparison in direct if comparison.registration == "none"]
    if not (cached or unpinned):
        return ""
    comparison = max(cached or unpinned, key=lambda row: (row.ranks, row.size_bytes, row.capacity or 0))
    arm = f"direct, cache of {comparison.capacity} regions" if cached else "direct, unpinned, as no NIC can"
    where = f"at {say_bytes(comparison.size_bytes)}, {say_count(comparison.ranks, 'rank')}"
    larger = any(
        other.ranks == comparison.ranks and other.size_bytes > comparison.size_bytes for other in unpinned
    )
    short = "; more could not be registered (locked-memory limit)" if larger else ""
    if comparison.verdict == NOISE:
        return f"{arm}: no faster than staged beyond the noise {where}{short}"
    against = "no A/A control" if comparison.noise is None else f"noise {comparison.noise:.2f}"
    return f"{arm}: {comparison.ratio:.1f}{TIMES_SIGN} staged {where} ({against}){short}"


def control_ratios(records: Records) -> dict[str, float]:
    """Return how many times as fast as itself an arm is, by ranks and size in words: 1 but for noise."""
    paths = records.table.loc[records.table["variant"] == CONTROL, "path"].unique()
    comparisons = [
        comparison for path in paths for comparison in compare(records, path) if comparison.variant == CONTROL
    ]
    return {
        say_block(comparison.ranks, comparison.size_bytes): round(comparison.ratio, 3)
        for comparison in comparisons
    }


def _key(key: Any) -> tuple[str, str, str, int | None]:
    from pandas import isna  # noqa: PLC0415  (who only reads a log has no table, and waits for no pandas)

    path, variant, registration, capacity = key
    return path, variant, registration, None if isna(capacity) else int(capacity)


def _runs(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return time and correctness by repetition: a repetition takes as long as its slowest rank."""
    return rows.groupby("repetition").agg(time_s=("time_s", "max"), correct=("correct", "min"))


def _noise(runs: dict[tuple[str, str, str, int | None], "pd.DataFrame"]) -> float | None:
    """Return the factor by which equal things differ, at the quartiles, at least `LEAST_NOISE`."""
    control = next((key for key in runs if key[1] == CONTROL), None)
    if control is None or (control[0], "", *control[2:]) not in runs:
        return None
    data_frame, other = runs[control[0], "", control[2], control[3]], runs[control]
    spread = np.quantile((data_frame["time_s"] / other["time_s"]).dropna().to_numpy(float), [0.25, 0.5, 0.75])
    # Either way round: of two equal things nobody knows the slower.
    return float(max(LEAST_NOISE, *spread, *(1 / spread)))


def _verdict(
    mine: "pd.DataFrame", ratios: NDArray[np.float64], noise: float | None, low: float, high: float
) -> str:
    # What was not checked is not wrong.
    if not mine["correct"].fillna(value=True).all():
        return WRONG
    if noise is None:
        return NO_CONTROL
    if len(ratios) < _LEAST_REPETITIONS:
        return TOO_FEW
    return FASTER if low > noise else SLOWER if high * noise < 1 else NOISE
