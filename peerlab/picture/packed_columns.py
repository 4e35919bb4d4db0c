"""How columns of rows travel beside or within JSON: apart from it and numbered, or in base64."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any


def numbered(value: Any, columns: list[bytes]) -> Any:
    """Return a value as JSON can hold it: its bytes go to `columns`, and ``{"buffer": number}`` stands in their places.

    >>> columns = [b"first"]
    >>> numbered({"rows": [b"second", 3]}, columns), columns
    ({'rows': [{'buffer': 1}, 3]}, [b'first', b'second'])
    """

    def moved(column: bytes) -> dict[str, int]:
        columns.append(column)
        return {"buffer": len(columns) - 1}

    return _with(value, moved)


def in_base64(value: Any) -> Any:
    """Return a value as JSON can hold it: ``{"base64": text}`` stands for its bytes.

    >>> in_base64([b"abc"])
    [{'base64': 'YWJj'}]
    """
    return _with(value, lambda column: {"base64": b64encode(column).decode()})


def _with(value: Any, put: Callable[[bytes], object]) -> Any:
    if isinstance(value, bytes):
        return put(value)
    if isinstance(value, Mapping):
        return {key: _with(part, put) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with(part, put) for part in value]
    return value
