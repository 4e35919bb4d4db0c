"""What a single field of a scenario may hold. What fields may hold together is the scenario's own to say.

Every check raises a ScenarioError: one line with the field, its value and what is allowed.
"""

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from peerlab.errors import ScenarioError, nearest
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.collective import COLLECTIVES
from peerlab.model.hardware import Cluster
from peerlab.model.library_record import Library
from peerlab.model.nccl_law import PROTOCOLS
from peerlab.model.nic_wiring import PLACES
from peerlab.units import KIB, parse_bytes, say_bytes

REGISTRATIONS = ("cached", "per-transfer", "pool")
DEPENDENCIES = ("auto", "slice", "step")
MEMORIES = ("device", "host")
PAGES = (4 * KIB, 64 * KIB, 2 * KIB * KIB)

MAX_NODES = 2**14
MAX_BYTES = 2**40
MAX_ITERATIONS = 1000

SIZES = (
    "message_bytes",
    "slice_bytes",
    "cache_bytes",
    "page_bytes",
    "memlock_bytes",
    "envelope_bytes",
    "mtu",
)
"""Fields that hold a size, as a number or as text."""
NUMBERS = {
    "nodes": (1, MAX_NODES),
    "message_bytes": (1, MAX_BYTES),
    "slice_bytes": (1, MAX_BYTES),
    "window": (1, 2**16),
    "iterations": (1, MAX_ITERATIONS),
    "buffers": (1, MAX_ITERATIONS),
    "cache_regions": (0, 2**24),
    "cache_bytes": (0, 2**50),
    "memlock_bytes": (0, 2**50),
    "seed": (0, 2**63 - 1),
    "envelope_bytes": (0, 2**20),
    "mtu": (1, 2**20),
    "hops": (0, 100),
}
"""Fields that hold a whole number: from, to."""
WORDS: dict[str, Collection[str]] = {
    "registration": REGISTRATIONS,
    "collective": COLLECTIVES,
    "algorithm": ALGORITHMS,
    "dependency": DEPENDENCIES,
    "memory": MEMORIES,
    "protocol": ("auto", *PROTOCOLS),
    "wiring": ("auto", *PLACES),
    "acs_redirect": ("auto", "on", "off"),
}
"""Fields that hold one of some words."""

_MORE_KINDS: dict[str, tuple[type, ...]] = {
    "cluster": (Path, Cluster),
    "library": (Path, Library),
    "placement": (tuple, list, Mapping),
    "slow_nodes": (tuple, list, Mapping),
}
"""What a field may be given beside text and numbers; the last two have words of their own for what is wrong."""
_NEVER_NONE = ("nodes", "message_bytes", "iterations", "buffers", "seed", "envelope_bytes")
_MAY_BE_AUTO = ("slice_bytes", "iterations")


def check_kind(name: str, value: object) -> None:
    """Refuse what no field takes, before anybody compares it or writes it out."""
    if not isinstance(value, (str, float, Integral, type(None), *_MORE_KINDS.get(name, ()))):
        raise ScenarioError(name, f"a value of type {type(value).__name__!r} is not possible here")
    if isinstance(value, Integral) and abs(int(value)) > 10**30:
        raise ScenarioError(name, "a number of more than 30 digits is out of range")


def checked_size(name: str, value: Any) -> Any:
    """Return one of `SIZES` in bytes; None and ``auto`` stay what they are."""
    if value is None or value == "auto":
        return value
    try:
        return parse_bytes(value)
    except ValueError as problem:
        raise ScenarioError(name, str(problem)) from None


def checked_whole(name: str, value: Any) -> Any:
    """Return one of `NUMBERS` as an integer of Python's own, or None or ``auto`` where the field may hold that."""
    if (value is None and name not in _NEVER_NONE) or (value == "auto" and name in _MAY_BE_AUTO):
        return value
    low, high = NUMBERS[name]
    allowed = (
        f"a whole number from {low} to {high}"
        if not name.endswith("_bytes")
        else f"{low} or more, at most {say_bytes(high)}"
    )
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ScenarioError(name, f"{value!r} is not {allowed}")
    if not low <= value <= high:
        raise ScenarioError(name, f"{value} is out of range; give {allowed}")
    return value.__index__()


def checked_word(name: str, value: Any, words: Iterable[str]) -> str:
    """Return a value that is one of some words."""
    words = tuple(words)
    # a list or an array is equal to no word, and asking costs an error of its own
    if not isinstance(value, str) or value not in words:
        raise ScenarioError(name, f"unknown {value!r:.60}; {nearest(value, words)}")
    return value


def check_switch(name: str, value: object) -> None:
    """Refuse what is neither on nor off."""
    if not isinstance(value, bool):
        raise ScenarioError(name, f"{value!r} is neither True nor False")


def check_page(value: object) -> None:
    """Refuse what is no page size."""
    if value not in PAGES:
        raise ScenarioError(
            "page_bytes", f"{value!r} is not a page size; use {', '.join(map(say_bytes, PAGES))}"
        )
