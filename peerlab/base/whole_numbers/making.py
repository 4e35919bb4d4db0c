"""Arrays from numbers, shapes and other arrays."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from peerlab.base.whole_numbers.kinds import converter, int64
from peerlab.base.whole_numbers.rows import Shape, as_array, ndarray


def array(values: Any, dtype: Any = None) -> ndarray:
    """Return an array of values, a copy of those that are an array already."""
    made = as_array(values if isinstance(values, ndarray | int | float | bool) else list(values))
    if dtype is None or dtype is int64:
        return made.copy()
    return made.astype(dtype)


asarray = array


def _lengths(shape: Any) -> Shape:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    """Return an array of one value."""
    lengths = _lengths(shape)
    return ndarray([value if dtype is None else converter(dtype)(value)] * prod(lengths), lengths)


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    """Return zeros of that kind."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = float) -> ndarray:
    """Return ones of that kind."""
    return full(shape, 1, dtype)


# numpy leaves in it what was in memory; whoever takes it writes all of it.
empty = zeros


def zeros_like(values: ndarray) -> ndarray:
    """Return zeros of that shape."""
    return full(values.shape, 0)


empty_like = zeros_like


def ones_like(values: ndarray) -> ndarray:
    """Return ones of that shape."""
    return full(values.shape, 1)


def full_like(values: ndarray, value: Any) -> ndarray:
    """Return one value in that shape."""
    return full(values.shape, value)


def arange(*bounds: Any, dtype: Any = None) -> ndarray:  # noqa: ARG001  whole numbers are all that is asked for
    """Return the whole numbers of a range."""
    return ndarray(list(range(*map(int, bounds))))


def ascontiguousarray(values: ndarray) -> ndarray:
    """Return the array: it is contiguous."""
    return values


def concatenate(parts: Iterable[Any], axis: int = 0) -> ndarray:
    """Return arrays one behind the other, along the first axis."""
    arrays = [as_array(part) for part in parts]
    if axis:
        raise NotImplementedError(
            "concatenate along another axis than the first needs numpy, which is not here"
        )
    rest = {part.shape[1:] for part in arrays if part.shape != (0,)} or {()}
    if len(rest) != 1:
        raise ValueError("parts of different widths")
    flat = [value for part in arrays for value in part.flat]
    return ndarray(flat, (sum(part.shape[0] for part in arrays), *rest.pop()))


def column_stack(columns: Sequence[Any]) -> ndarray:
    """Return the rows that columns make; an array of rows gives all of its columns."""
    lists = []
    for column in map(as_array, columns):
        lists += [column.flat] if column.ndim == 1 else [part.flat for part in column.T]
    rows = list(zip(*lists, strict=True))
    return ndarray([value for row in rows for value in row], (len(rows), len(lists)))


def stack(arrays: Sequence[Any], axis: int = 0) -> ndarray:
    """Return arrays as rows (axis 0) or as columns (axis 1)."""
    return column_stack(arrays) if axis == 1 else as_array([as_array(row) for row in arrays])


def hstack(parts: Sequence[ndarray]) -> ndarray:
    """Return arrays of rows side by side."""
    return column_stack(parts)


def tile(values: Any, times: int) -> ndarray:
    """Return a column so many times."""
    return ndarray(as_array(values).flat * int(times))


def repeat(values: Any, times: Any, axis: int = 0) -> ndarray:
    """Return each value so many times; along axis 1, each column of rows."""
    if axis == 1:
        flat = [value for value in values.flat for _ in range(times)]
        return ndarray(flat, (values.shape[0], values.shape[1] * times))
    flat = as_array(values).flat
    counts = as_array(times).flat
    counts = counts * len(flat) if len(counts) == 1 else counts
    return ndarray([value for value, count in zip(flat, counts, strict=True) for _ in range(count)])


def outer(left: Any, right: Any) -> ndarray:
    """Return the product of each value with each other."""
    rows, columns = as_array(left).flat, as_array(right).flat
    return ndarray([row * column for row in rows for column in columns], (len(rows), len(columns)))


def eye(count: int, dtype: Any = float) -> ndarray:
    """Return the unit matrix."""
    convert = converter(dtype)
    return ndarray(
        [convert(row == column) for row in range(count) for column in range(count)], (count, count)
    )


def diff(values: Any, axis: int = -1) -> ndarray:
    """Return each value less the one before it; along axis 0, each row less the row before."""
    array_ = as_array(values)
    if array_.ndim > 1 and axis != 0:
        raise NotImplementedError("differences along the columns need numpy, which is not here")
    width = prod(array_.shape[1:])
    flat = [after - before for before, after in zip(array_.flat, array_.flat[width:], strict=False)]
    return ndarray(flat, (max(0, array_.shape[0] - 1), *array_.shape[1:]))
