"""Checks of a word and of a switch, wherever somebody gives one. What each field of a scenario may hold is its record's to say (`field_record`).

Every check raises a ScenarioError: one line with the field, its value and what is allowed.
"""

from collections.abc import Iterable
from typing import Any

from peerlab.base.errors import ScenarioError, nearest


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
