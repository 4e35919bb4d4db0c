"""What a feature of peerlab is: one record in its folder says what it asks, answers and shows, and how it is reached."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

LISTED_IN = "peerlab.features"
"""The package whose `features` returns every record.

It is asked by its name, when something is shown: a result lies below the features, and may import none of them. With `load`
below this is the only import by name within peerlab.
"""

Place = str
"""Where something is: ``"peerlab.features.race.race_page:race_frame"``."""


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One thing that somebody can do with peerlab.

    All places are text, so that the list of features loads none of them.

    >>> from peerlab.features import features
    >>> features()["why"].commands
    {'why': 'peerlab.features.why.why_command'}
    """

    asks: str
    """The question that a user has."""
    answers: str
    """What comes back."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Commands of the command line, by name: the module of each, with a function `add`."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Public names of `peerlab`, as in a notebook: the module that defines each."""
    shows: Mapping[str, Place] = field(default_factory=dict)
    """How a notebook shows a type of result, by its name: a function from the result to HTML."""
    traces: Mapping[str, Place] = field(default_factory=dict)
    """How a type of result is written as a trace of Perfetto: a function of the result and a path."""
    offers: Mapping[str, Place] = field(default_factory=dict)
    """What other features may ask for by a name, such as ``page of a race``: a function."""
    document: str = "docs/using.md"
    """The document that describes it."""


def load(place: Place) -> Any:
    """Return what stands at a place; its module is loaded."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def registered(table: str, name: str) -> Callable[..., Any]:
    """Return what some feature has in a table of its record (``shows``, ``traces``, ``offers``) under a name.

    Raises
    ------
    LookupError
        If none has it: a type of result is in no record.
    """
    for feature in import_module(LISTED_IN).features().values():
        if name in (places := getattr(feature, table)):
            made: Callable[..., Any] = load(places[name])
            return made
    raise LookupError(f"no feature has {name!r} in {table!r}")
