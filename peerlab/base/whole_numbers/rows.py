"""The array: a flat list of numbers, and the length of every axis."""

import operator
import sys
from array import array as packed
from collections.abc import Iterable, Iterator
from itertools import accumulate, product
from math import prod
from typing import Any

from peerlab.base.whole_numbers.kinds import PACKED, converter

Shape = tuple[int, ...]


class _Flags:
    writeable = True


class ndarray:  # noqa: N801  numpy's name
    """Numbers in rows and columns, the last axis closest together.

    >>> ndarray([1, 2, 3, 4], (2, 2))[:, 1].tolist()
    [2, 4]
    """

    __slots__ = ("flat", "packed_as", "shape")
    # as numpy's: `==` gives an array, so two of them cannot be told equal
    __hash__ = None  # type: ignore[assignment]
    # `freeze` may ask for read-only arrays; here nothing heeds it
    flags = _Flags()

    def __init__(self, flat: list[Any], shape: Shape | None = None, packed_as: str = "") -> None:
        self.flat, self.shape, self.packed_as = flat, (len(flat),) if shape is None else shape, packed_as

    def __class_getitem__(cls, _: object) -> type["ndarray"]:
        return cls

    # ---- the whole ----

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        return len(self.flat)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.flat) if len(self.shape) == 1 else (self[row] for row in range(self.shape[0]))

    def __repr__(self) -> str:
        return f"array({self.tolist()})"

    def __bool__(self) -> bool:
        if len(self.flat) != 1:
            raise ValueError("whether several values are true is not one answer: use any() or all()")
        return bool(self.flat[0])

    def __int__(self) -> int:
        (value,) = self.flat
        return int(value)

    def __float__(self) -> float:
        (value,) = self.flat
        return float(value)

    def tolist(self) -> list[Any]:
        return list(self.flat) if len(self.shape) == 1 else [row.tolist() for row in self]

    def tobytes(self) -> bytes:
        if self.packed_as not in PACKED:
            raise NotImplementedError(
                "bytes of an array that astype('<i4') or another packed kind did not make"
            )
        values = packed(PACKED[self.packed_as], self.flat)
        # a page reads little-endian, whatever machine wrote it
        if sys.byteorder == "big":
            values.byteswap()
        return values.tobytes()

    def astype(self, kind: Any, copy: bool = True) -> "ndarray":  # noqa: ARG002  numpy's signature
        return ndarray(
            list(map(converter(kind), self.flat)), self.shape, kind if isinstance(kind, str) else ""
        )

    def copy(self) -> "ndarray":
        return ndarray(list(self.flat), self.shape)

    def reshape(self, *shape: Any) -> "ndarray":
        lengths = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        others = prod(length for length in lengths if length >= 0)
        rest = len(self.flat) // others if others else 0
        filled = tuple(length if length >= 0 else rest for length in lengths)
        if prod(filled) != len(self.flat):
            raise ValueError(f"{len(self.flat)} values do not fill {filled}")
        return ndarray(list(self.flat), filled)

    @property
    def T(self) -> "ndarray":  # noqa: N802  numpy's name
        if len(self.shape) == 1:
            return self.copy()
        rows, width = self.shape
        turned = [value for column in range(width) for value in self.flat[column::width]]
        return ndarray(turned if rows else [], (width, rows))

    # ---- parts ----

    def _places(self, key: Any) -> tuple[Any, Shape]:
        """Return the places in `flat` that a key names, and the shape of what it names: () for one value."""
        if len(self.shape) == 1 and not isinstance(key, tuple):
            length = self.shape[0]
            if isinstance(key, slice):
                places = range(*key.indices(length))
                return places, (len(places),)
            if isinstance(key, ndarray | list):
                return _listed(key, length)
            return _place(key, length), ()
        keys = list(key) if isinstance(key, tuple) else [key]
        if len(keys) == 2 and len(self.shape) == 2 and all(isinstance(part, ndarray) for part in keys):
            width = self.shape[1]  # a row and a column for each value
            rows, columns = keys
            return [
                row * width + column for row, column in zip(rows.flat, columns.flat, strict=True)
            ], rows.shape
        keys += [slice(None)] * (len(self.shape) - sum(part is not None for part in keys))
        return self._crossed(keys)

    def _crossed(self, keys: list[Any]) -> tuple[Any, Shape]:
        """Return the places where what the keys name on every axis crosses."""
        strides = [prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        shape: list[int] = []
        axes: list[list[int]] = []
        for key in keys:
            if key is None:
                shape.append(1)
                continue
            length, stride = self.shape[len(axes)], strides[len(axes)]
            chosen: Iterable[int]
            if isinstance(key, slice):
                chosen = range(*key.indices(length))
                shape.append(len(chosen))
            elif isinstance(key, ndarray | list):
                chosen, wide = _listed(key, length)
                shape += wide
            else:
                chosen = (_place(key, length),)
            axes.append([place * stride for place in chosen])
        if not shape:
            return sum(places[0] for places in axes), ()
        return [sum(at) for at in product(*axes)], tuple(shape)

    def __getitem__(self, key: Any) -> Any:
        places, shape = self._places(key)
        if shape == ():
            return self.flat[places]
        # a slice of a list is much faster than its places one by one
        if isinstance(places, range) and places.step == 1:
            return ndarray(self.flat[places.start : places.stop] if len(places) else [], shape)
        flat = self.flat
        return ndarray([flat[place] for place in places], shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        places, shape = self._places(key)
        if shape == ():
            self.flat[places] = value
        elif isinstance(value, int | float):
            for place in places:
                self.flat[place] = value
        else:
            for place, part in zip(places, stretched(value, shape).flat, strict=True):
                self.flat[place] = part

    # ---- sums ----

    def sum(self) -> Any:
        return sum(self.flat)

    def max(self, initial: Any = None) -> Any:
        return max(self.flat) if initial is None else max(max(self.flat, default=initial), initial)

    def min(self, initial: Any = None) -> Any:
        return min(self.flat) if initial is None else min(min(self.flat, default=initial), initial)

    def any(self, axis: int | None = None) -> Any:
        if axis is None:
            return any(self.flat)
        if axis != 0 or len(self.shape) != 2:
            raise NotImplementedError(
                "any() along another axis than the first of two needs numpy, which is not here"
            )
        width = self.shape[1]
        return ndarray([any(self.flat[column::width]) for column in range(width)])

    def all(self) -> bool:
        return all(self.flat)

    def cumsum(self) -> "ndarray":
        return ndarray(list(accumulate(self.flat)))

    def argmax(self) -> int:
        return self.flat.index(max(self.flat))

    def nonzero(self) -> tuple["ndarray"]:
        return (ndarray([place for place, value in enumerate(self.flat) if value]),)


def _place(key: Any, length: int) -> int:
    place = operator.index(key)
    if not -length <= place < length:
        raise IndexError(f"place {place} of {length}")
    return place % length


def _listed(key: Any, length: int) -> tuple[list[int], Shape]:
    """Return the places that a list names: by number, or by a truth for each."""
    flat, shape = (key.flat, key.shape) if isinstance(key, ndarray) else (key, (len(key),))
    if flat and isinstance(flat[0], bool):
        if len(flat) != length:
            raise IndexError(f"{len(flat)} truths for {length} values")
        places = [place for place, kept in enumerate(flat) if kept]
        return places, (len(places),)
    return [place if place >= 0 else place + length for place in flat], shape


def as_array(value: Any) -> ndarray:
    """Return an array of a value, of a list of values or rows, or of an array (itself)."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, list | tuple | range):
        return ndarray(*_flattened(list(value)))
    return ndarray([value], ())


def _flattened(values: list[Any]) -> tuple[list[Any], Shape]:
    if not values or not isinstance(values[0], list | tuple | range | ndarray):
        return values, (len(values),)
    rows = [as_array(row) for row in values]
    if len({row.shape for row in rows}) > 1:
        raise ValueError("rows of different lengths")
    return [value for row in rows for value in row.flat], (len(rows), *rows[0].shape)


def common_shape(shapes: Iterable[Shape]) -> Shape:
    """Return the shape that all shapes stretch to: an axis of length 1 takes any other length."""
    shapes = list(shapes)
    deep = max(map(len, shapes))
    lengths = []
    for axis in zip(*((1,) * (deep - len(shape)) + shape for shape in shapes), strict=True):
        others = {length for length in axis if length != 1}
        if len(others) > 1:
            raise ValueError(f"shapes {shapes} do not fit")
        lengths.append(others.pop() if others else 1)
    return tuple(lengths)


def stretched(value: Any, shape: Shape) -> ndarray:
    """Return an array of that shape, values repeated along axes of length 1."""
    values = as_array(value)
    if values.shape == shape:
        return values
    padded = (1,) * (len(shape) - len(values.shape)) + values.shape
    if common_shape([padded, shape]) != shape:
        raise ValueError(f"{values.shape} does not fit {shape}")
    if len(values.flat) == 1:
        return ndarray(values.flat * prod(shape), shape)
    strides = [0 if length == 1 else prod(padded[axis + 1 :]) for axis, length in enumerate(padded)]
    axes = [
        [place * stride for place in range(length)] for length, stride in zip(shape, strides, strict=True)
    ]
    return ndarray([values.flat[sum(at)] for at in product(*axes)], shape)
