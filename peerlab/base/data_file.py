"""Files of ``data/`` that hold a table of facts: read once, damage said in a line."""

from collections.abc import Callable
from typing import Any, TypeVar

from peerlab.base.errors import HardwareError
from peerlab.base.places import folder
from peerlab.base.textfile import read_text, read_toml

_Facts = TypeVar("_Facts")
_MOST_BYTES = 2**18


def read_facts(name: str, what: str, read: Callable[[dict[str, Any]], _Facts]) -> _Facts:
    """Return what `read` makes of ``data/NAME``; `what` says what the file should be, such as ``file of distances``.

    Raises
    ------
    HardwareError
        If the file is damaged.
    """
    path = folder("data") / name
    text = read_text(path, what=what, most_bytes=_MOST_BYTES, error=HardwareError)
    document = read_toml(text, "this is not a TOML file", HardwareError)
    try:
        return read(document)
    # what reading a damaged table raises: an entry that is missing, of another kind, or impossible
    except (KeyError, TypeError, ValueError) as problem:
        raise HardwareError(f"{path}: {problem!r} is missing or not understood") from None
