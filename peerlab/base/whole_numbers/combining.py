"""Operations of two arrays at a time: sums, comparisons, the larger of two, a choice by truth."""

import operator
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from peerlab.base.whole_numbers.rows import Shape, as_array, common_shape, ndarray, stretched


def broadcast_to(value: Any, shape: Shape) -> ndarray:
    """Return an array of that shape, values repeated along axes of length 1."""
    return stretched(value, shape)


def broadcast_arrays(*values: Any) -> list[ndarray]:
    """Return arrays of one shape."""
    arrays = list(map(as_array, values))
    shape = common_shape(array.shape for array in arrays)
    return [stretched(array, shape) for array in arrays]


def _by_pairs(act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def acted(left: Any, right: Any) -> Any:
        if isinstance(left, ndarray):
            # the two usual cases, without making an array of one value or of copies
            if isinstance(right, int | float | str):
                return ndarray([act(value, right) for value in left.flat], left.shape)
            if isinstance(right, ndarray) and left.shape == right.shape:
                return ndarray(list(map(act, left.flat, right.flat)), left.shape)
        first, second = broadcast_arrays(left, right)
        values = list(map(act, first.flat, second.flat))
        return ndarray(values, first.shape) if first.shape else values[0]

    return acted


def _swapped(act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return _by_pairs(lambda left, right: act(right, left))


def _inverted(values: ndarray) -> ndarray:
    # ~True is -2 to Python, and False to numpy
    return ndarray([not value if isinstance(value, bool) else ~value for value in values.flat], values.shape)


def _negative(values: ndarray) -> ndarray:
    return ndarray([-value for value in values.flat], values.shape)


_ARITHMETIC = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "truediv": operator.truediv,
    "mod": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
for _name, _act in _ARITHMETIC.items():
    setattr(ndarray, f"__{_name}__", _by_pairs(_act))
    setattr(ndarray, f"__r{_name}__", _swapped(_act))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ndarray, f"__{_name}__", _by_pairs(getattr(operator, _name)))
setattr(ndarray, "__invert__", _inverted)  # noqa: B010  as those above
setattr(ndarray, "__neg__", _negative)  # noqa: B010


class _Extreme:
    """`maximum` or `minimum`, with its `accumulate`, `reduceat` and `at`."""

    def __init__(self, pick: Callable[..., Any]) -> None:
        self._pick, self._of_pairs = pick, _by_pairs(pick)

    def __call__(self, left: Any, right: Any, out: ndarray | None = None) -> Any:
        values = self._of_pairs(left, right)
        if out is not None:
            out.flat[:] = values.flat
        return values

    def accumulate(self, values: ndarray) -> ndarray:
        return ndarray(list(accumulate(values.flat, self._pick)))

    def reduceat(self, values: ndarray, first: ndarray) -> ndarray:
        flat, ends = values.flat, [*first.flat[1:], len(values.flat)]
        pairs = zip(first.flat, ends, strict=True)
        # as numpy: an empty stretch gives the value at its begin
        return ndarray([self._pick(flat[begin:end]) if end > begin else flat[begin] for begin, end in pairs])

    def at(self, into: ndarray, places: ndarray, values: Any) -> None:
        for place, value in zip(places.flat, stretched(values, places.shape).flat, strict=True):
            into.flat[place] = self._pick(into.flat[place], value)


maximum, minimum = _Extreme(max), _Extreme(min)


class add:  # noqa: N801  numpy's name
    """`numpy.add.at` alone."""

    @staticmethod
    def at(into: ndarray, places: ndarray, values: Any) -> None:
        """Add a value at each place of a column, also where a place comes twice."""
        if len(into.shape) != 1:
            raise NotImplementedError("add.at on rows needs numpy, which is not here")
        for place, value in zip(places.flat, stretched(values, places.shape).flat, strict=True):
            into.flat[place] += value


def divmod(values: Any, by: Any) -> tuple[Any, Any]:  # noqa: A001  numpy's name
    """Return quotients and remainders."""
    return values // by, values % by


def where(truth: Any, left: Any, right: Any) -> Any:
    """Return `left` where it is true, `right` elsewhere."""
    truths, first, second = broadcast_arrays(truth, left, right)
    pairs = zip(truths.flat, first.flat, second.flat, strict=True)
    return ndarray([value if yes else other for yes, value, other in pairs], truths.shape)
