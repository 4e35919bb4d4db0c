"""Kinds of numbers: what `dtype` may be, and how a column is packed into bytes."""

from collections.abc import Callable
from typing import Any


class NumberKind:
    """A kind of number, such as `int64`; calling it converts a value.

    >>> int64(3.0), float64(3), bool_(1)
    (3, 3.0, True)
    """

    def __init__(self, name: str, convert: Callable[[Any], Any]) -> None:
        self.name, self.convert = name, convert

    def __call__(self, value: Any = 0) -> Any:
        return self.convert(value)

    def __getitem__(self, _: object) -> "NumberKind":
        return self  # a type, such as NDArray[int64]

    def __or__(self, _: object) -> "NumberKind":
        return self

    __ror__ = __or__


int8, int16, int32, int64, intp, uint8, uint32, uint64 = (
    NumberKind(name, int) for name in ("int8", "int16", "int32", "int64", "intp", "uint8", "uint32", "uint64")
)
float32, float64 = NumberKind("float32", float), NumberKind("float64", float)
bool_ = NumberKind("bool", bool)

PACKED = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}
"""Letters of `array.array` for the kinds of which a page gets columns."""


def converter(kind: Any) -> Callable[[Any], Any]:
    """Return what converts a value to a `dtype`: a `NumberKind`, a type of Python, or a name such as ``"<i4"``."""
    if isinstance(kind, str):
        if kind not in PACKED:
            raise NotImplementedError(f"numbers of kind {kind!r} need numpy, which is not here")
        return float if "f" in kind else int
    if isinstance(kind, NumberKind):
        return kind.convert
    if kind in (int, float, bool):
        return kind  # type: ignore[no-any-return]
    raise NotImplementedError(f"numbers of kind {kind!r} need numpy, which is not here")


class iinfo:  # noqa: N801  numpy's name
    """The bounds of whole numbers of 64 bits, the only ones that are asked for."""

    def __init__(self, kind: Any) -> None:
        if kind is not int64:
            raise NotImplementedError(f"bounds of {kind!r} need numpy, which is not here")
        self.max, self.min = 2**63 - 1, -(2**63)


class errstate:  # noqa: N801  numpy's name
    """Does nothing: Python's own numbers raise where numpy warns."""

    def __init__(self, **_: Any) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...
