"""Orders, places and counts of one array."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from peerlab.base.whole_numbers.rows import as_array, ndarray


def cumsum(values: Any) -> ndarray:
    """Return the running sums of a column."""
    return as_array(values).cumsum()


def flatnonzero(values: Any) -> ndarray:
    """Return the places of what is not zero."""
    return as_array(values).nonzero()[0]


def isin(values: ndarray, wanted: Any) -> ndarray:
    """Return of each value whether it is among those."""
    among = set(as_array(wanted).flat)
    return ndarray([value in among for value in values.flat], values.shape)


def argsort(values: ndarray, axis: int = -1, kind: str = "stable") -> ndarray:  # noqa: ARG001  sorted() is stable
    """Return the places of a column in the order of its values."""
    if values.ndim > 1:
        raise NotImplementedError("the order of rows needs numpy, which is not here")
    return ndarray(sorted(range(len(values.flat)), key=values.flat.__getitem__))


def lexsort(keys: Sequence[Any]) -> ndarray:
    """Return the places in the order of the last key, then of the one before it."""
    # numpy's last key is the first that counts, and a tuple's first is
    rows = list(zip(*(as_array(key).flat for key in reversed(list(keys))), strict=True))
    return ndarray(sorted(range(len(rows)), key=rows.__getitem__))


def sort(values: Any) -> ndarray:
    """Return a column in order."""
    return ndarray(sorted(as_array(values).flat))


def unique(values: Any, return_index: bool = False, return_inverse: bool = False) -> Any:
    """Return the values that differ, in order; also where each comes first, and which of them each value is."""
    flat = as_array(values).flat
    first: dict[Any, int] = {}
    for place, value in enumerate(flat):
        first.setdefault(value, place)
    kept = sorted(first)
    results = [ndarray(kept)]
    if return_index:
        results.append(ndarray([first[value] for value in kept]))
    if return_inverse:
        number = {value: place for place, value in enumerate(kept)}
        results.append(ndarray([number[value] for value in flat]))
    return results[0] if len(results) == 1 else tuple(results)


def searchsorted(values: ndarray, wanted: Any, side: str = "left") -> Any:
    """Return where values would be put into a column in order: before equal ones, or (right) behind them."""
    find = bisect_left if side == "left" else bisect_right
    if isinstance(wanted, ndarray | list | tuple):
        return ndarray([find(values.flat, value) for value in as_array(wanted).flat])
    return find(values.flat, wanted)


def bincount(values: ndarray, weights: ndarray | None = None, minlength: int = 0) -> ndarray:
    """Return how often each whole number comes, or the sum of its weights."""
    # floats where there are weights, as numpy's are
    counts: list[Any] = [0 if weights is None else 0.0] * max(minlength, values.max(initial=-1) + 1)
    for value, weight in zip(
        values.flat, [1] * values.size if weights is None else weights.flat, strict=True
    ):
        counts[value] += weight
    return ndarray(counts)


def interp(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the value at `x` of the line through points whose `xs` grow; the first or last value beyond them."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    before = bisect_right(xs, x) - 1
    slope = (ys[before + 1] - ys[before]) / (xs[before + 1] - xs[before])
    return slope * (x - xs[before]) + ys[before]


def rint(values: Any) -> Any:
    """Return the nearest whole numbers as floats; of two as near, the even one."""
    return _each(lambda value: float(round(value)), values)


def exp(values: Any, out: ndarray | None = None) -> Any:
    """Return e to the power of each value: of one in twenty the last bit is not numpy's, which moves a time of 10 us once in 10**10 draws."""
    powers = _each(math.exp, values)
    if out is not None:
        out.flat[:] = powers.flat
    return powers


def _each(act: Callable[[Any], Any], values: Any) -> Any:
    return ndarray(list(map(act, values.flat)), values.shape) if isinstance(values, ndarray) else act(values)


def prod(values: Any) -> Any:
    """Return the product of all values."""
    return math.prod(as_array(values).flat)
