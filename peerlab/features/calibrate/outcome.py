"""The outcome of a fit: each constant, and the cluster with the fitted ones."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from peerlab.base.units import say_bytes
from peerlab.diagnosis.observed import Observed
from peerlab.features.calibrate.constants import Constant
from peerlab.features.calibrate.fit import Fitted
from peerlab.model.hardware import Cluster, Figure

_AT_END = 0.01
"""Relative distance from an end of its range below which a constant lies at it."""


def constant(figure: Figure, fitted: Fitted) -> Constant:
    """Return one constant as it came out."""
    bounds = figure.range or (figure.value, figure.value)
    same: dict[str, Any] = {"key": figure.key, "unit": figure.unit, "before": figure.value, "bounds": bounds}
    keys = [fitted_figure.key for fitted_figure in fitted.model.figures]
    if figure.key not in keys:
        return Constant(
            **same,
            value=figure.value,
            low=bounds[0],
            high=bounds[1],
            identified=False,
            remark=fitted.untold[figure.key],
        )
    place = keys.index(figure.key)
    value, low, high = (float(np.exp(ends[place])) for ends in (fitted.values, fitted.low, fitted.high))
    # A range may begin at 0, which has no logarithm.
    at_end = bool(min(abs(np.log(value / max(end, 1e-300))) for end in bounds) < _AT_END)
    remark = "at the end of its range: is the range too narrow, or the path another one?" if at_end else ""
    return Constant(**same, value=value, low=low, high=high, identified=True, remark=remark, at_end=at_end)


def described(
    base: Cluster, outcomes: Sequence[Constant], seen: Observed, sizes: NDArray[np.int64], today: date
) -> Cluster:
    """Return the cluster with the constants that the log tells, each with its provenance."""
    what = f"{seen.collective} of {say_bytes(sizes[0])} to {say_bytes(sizes[-1])}, {seen.source or seen.tool or 'a log'}"
    cluster = base
    for outcome in (outcome for outcome in outcomes if outcome.identified):
        # At an end the interval is cut off, and the range itself says what is left open.
        ends = outcome.bounds if outcome.at_end else (outcome.low, outcome.high)
        value, low, high = (_rounded(end) for end in (outcome.value, *ends))
        sentence = (
            "came out at the end of it, and may be beyond"
            if outcome.at_end
            else "the range is a 95 % interval"
        )
        cluster = cluster.with_figure(
            outcome.key,
            value,
            source=f"{what}, calibrated on {today.isoformat()}",
            assumption=f"fitted on this log within {outcome.bounds[0]:g} to {outcome.bounds[1]:g}; {sentence}",
            # Rounding to five digits must not put the value outside of its own range.
            range=(min(low, value), max(high, value)),
        )
    earlier = f"; before that, {base.fitted_on}" if base.fitted_on else ""
    return replace(
        cluster, name=f"{base.name}-calibrated", title=f"{base.title}, calibrated", fitted_on=what + earlier
    )


def _rounded(value: float) -> float:
    """Return a value with as many digits as a fit has at most."""
    return float(f"{value:.5g}")
