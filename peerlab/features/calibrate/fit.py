"""Robust least squares on the logarithms of times, with intervals from a bootstrap."""

# Calibration moves only what a file assumes, within its ranges. Residuals are logarithms of times, so that
# 8 bytes weigh as much as 64 MiB, under a loss that limits outliers: libraries choose badly at single
# sizes. A constant that no size feels, that acts only together with another, or that comes out as wide as
# its range is left as it was, and the report says so. Intervals are a bootstrap over the sizes with the
# model linearised around the fit; simulating each draw would take hours. Of a library, a fit moves what its
# transport adds to a hop and what a message costs.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from peerlab.diagnosis.observed import Floats
from peerlab.features.calibrate.model import Model

SCALE = 0.1
"""Relative error from which on a row counts as an outlier, whose weight fades (Cauchy loss)."""
_SAMPLES = 300
_MOST_STEPS = 15
_SILENT = "no size of this log feels it"
_TOGETHER = "only together with {}, "
_FITTED, _UNTOLD = "which was fitted instead", "which it cannot tell either"
_FLOOR = 0.001
"""Relative width of an interval, at least: what the fit resolves."""
_FELT = 0.02
"""A constant that changes no time by more than this share of its own change is not felt."""
_ALIKE = 0.995
"""Cosine of the effects of two constants from which on only both together can be told."""
_WIDE = 0.9
"""Share of its range from which on an interval says nothing."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Constants fitted on a log, as logarithms."""

    model: Model
    """With the constants that were fitted."""
    values: Floats
    low: Floats
    """Lower ends of the 95 % intervals."""
    high: Floats
    errors: Floats
    """Simulated over measured time, less 1, when the row itself is left out: one per size."""
    untold: Mapping[str, str]
    """Constants that the log cannot tell, and why; they stay as the file has them."""


def fit(model: Model, measured_s: Floats, seed: int, near: "Fitted | None" = None) -> Fitted:
    """Return the constants whose simulated times are nearest to the measured ones; those that the log cannot tell are left out, one after the other.

    `near` is a fit of nearly the same model, to begin with.
    """
    untold = _unfelt(model)
    left = model.without(untold)
    starts = _starts(left) if near is None else [_taken_over(left, near)]
    while True:
        values = _solve(left, measured_s, starts)
        slopes = left.slopes(values)
        residuals = np.log(left.times_s(values) / measured_s)
        low, high = _interval(left, values, residuals, slopes, seed)
        errors = _left_out(left, values, residuals, slopes)
        fitted = Fitted(left, values, low, high, errors, _as_it_came(untold))
        # One at a time: without the worst constant others may be told.
        more = _silent(left, slopes) or _wide(left, low, high)
        if not more:
            return fitted
        untold |= more
        left = model.without(untold)
        starts = [_taken_over(left, fitted)]


def _as_it_came(untold: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons: what was to be fitted instead of another may have been left out later."""
    gone = {_TOGETHER.format(key) for key in untold}
    return {
        key: why.replace(_FITTED, _UNTOLD) if why.removesuffix(_FITTED) in gone else why
        for key, why in untold.items()
    }


def _starts(model: Model) -> list[Floats]:
    """Return several starting points: where a resource does not limit, its rate has no slope that a fit could follow."""
    low, high = model.bounds
    return (
        [model.start, low + 0.75 * (high - low), low + 0.25 * (high - low)]
        if model.figures
        else [model.start]
    )


def _taken_over(model: Model, near: Fitted) -> Floats:
    """Return the values of another fit, and those of the file for constants that it had not."""
    values = {figure.key: value for figure, value in zip(near.model.figures, near.values, strict=True)}
    return np.array(
        [values.get(figure.key, begin) for figure, begin in zip(model.figures, model.start, strict=True)]
    )


def _unfelt(model: Model) -> dict[str, str]:
    """Return the constants that no size feels, wherever in their ranges they lie."""
    # At every start: where a resource does not limit, its rate has no slope, and elsewhere it may.
    most = (
        np.max([abs(model.slopes(start)).max(axis=0) for start in _starts(model)], axis=0)
        if model.figures
        else []
    )
    return {figure.key: _SILENT for figure, slope in zip(model.figures, most, strict=True) if slope < _FELT}


def cost(times_s: Floats, measured_s: Floats) -> float:
    """Return what the fit minimises: the sum over the rows of a robust loss of the relative error."""
    errors = np.log(times_s / measured_s) / SCALE
    return float(np.sum(np.log1p(errors**2)))


def _solve(model: Model, measured_s: Floats, starts: Sequence[Floats]) -> Floats:
    """Return the best values that the minimiser finds from any of the starting points."""
    from scipy.optimize import least_squares  # noqa: PLC0415  (slow to load, and nobody else needs it)

    if not model.figures:
        return model.start
    low, high = model.bounds
    ways = [
        least_squares(
            lambda values: np.log(model.times_s(values) / measured_s),
            # The minimiser wants to begin inside its bounds, and bounds that differ.
            np.clip(start, low + 1e-9, high - 1e-9),
            jac=model.slopes,
            bounds=(low, high + 1e-12),
            loss="cauchy",
            f_scale=SCALE,
            max_nfev=_MOST_STEPS,
            xtol=1e-5,
            ftol=1e-6,
        )
        for start in starts
    ]
    best: Floats = min(ways, key=lambda way: float(way.cost)).x
    return best


def _shift(model: Model, values: Floats, residuals: Floats, slopes: Floats) -> Floats:
    """Return by how much the values move to meet other rows, with the model taken as linear around the fit."""
    from scipy.optimize import least_squares  # noqa: PLC0415

    low, high = model.bounds
    moved: Floats = least_squares(
        lambda shift: residuals + slopes @ shift,
        np.zeros(len(values)),
        jac=lambda _shift: slopes,
        bounds=(np.minimum(low - values, -1e-9), np.maximum(high - values, 1e-9)),
        loss="cauchy",
        f_scale=SCALE,
    ).x
    return moved


def _interval(
    model: Model, values: Floats, residuals: Floats, slopes: Floats, seed: int
) -> tuple[Floats, Floats]:
    """Return the ends of the 95 % intervals: rows are drawn anew, with replacement, and met again."""
    if not len(values):
        return values, values
    # A seed: the same log gives the same intervals.
    random = np.random.default_rng(seed)
    rows = len(residuals)
    draws = (random.integers(0, rows, rows) for _ in range(_SAMPLES))
    moved = np.array([_shift(model, values, residuals[draw], slopes[draw]) for draw in draws])
    low, high = np.percentile(moved, [2.5, 97.5], axis=0)
    bottom, top = model.bounds
    # An interval is no narrower than the fit resolves, and no wider than the range it was looked for in.
    return np.maximum(values + np.minimum(low, -_FLOOR), bottom), np.minimum(
        values + np.maximum(high, _FLOOR), top
    )


def _left_out(model: Model, values: Floats, residuals: Floats, slopes: Floats) -> Floats:
    """Return the relative error of each row when the others alone are met."""
    errors = []
    for row in range(len(residuals)):
        others = np.arange(len(residuals)) != row
        moved = _shift(model, values, residuals[others], slopes[others]) if len(values) else values
        # Residuals are logarithms, errors are shares.
        errors.append(np.expm1(residuals[row] + slopes[row] @ moved))
    return np.array(errors)


def _silent(model: Model, slopes: Floats) -> dict[str, str]:
    """Return constants that no row feels; else one of two that only act together."""
    keys = [figure.key for figure in model.figures]
    silent = {key: _SILENT for key, column in zip(keys, slopes.T, strict=True) if abs(column).max() < _FELT}
    if silent:
        return silent
    # No column is nothing: those were returned above as silent.
    unit = slopes / np.linalg.norm(slopes, axis=0)
    # Without sign: two that undo each other are as little told apart as two that do the same.
    alike = np.abs(unit.T @ unit)
    for later in range(len(keys)):
        for first in range(later):
            if alike[first, later] > _ALIKE:
                return {keys[later]: _TOGETHER.format(keys[first]) + _FITTED}
    return {}


def _wide(model: Model, low: Floats, high: Floats) -> dict[str, str]:
    """Return the constant with the widest interval, if that fills nearly its whole range."""
    bottom, top = model.bounds
    shares = (high - low) / np.maximum(top - bottom, 1e-12)
    if not len(shares) or shares.max() < _WIDE:
        return {}
    return {model.figures[int(shares.argmax())].key: "its interval is as wide as its range"}
