"""What somebody can do with peerlab: one folder each, none imports another.

Each folder has its record, ``FEATURE``, which says what it asks, answers and shows, and by which command and which public names it
is reached. The command line, `import peerlab`, what a notebook shows and the documents read this list.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from peerlab.base.feature import Feature

NAMES = (
    "simulate", "why", "fabrics", "neighbours", "step", "sweep", "tails", "blame", "export", "deck", "clusters", "validate", "measure", "logs", "diagnose", "expect", "suspects",
    "choices", "calibrate", "trial", "doctor", "lab", "race", "wall", "exercises", "site",
)  # fmt: skip
"""The folders, in the order in which the command line lists their commands."""


@cache
def features() -> Mapping[str, Feature]:
    """Return the record of every feature by its folder's name; nothing else of them is loaded."""
    return {name: import_module(f"{__name__}.{name}").FEATURE for name in NAMES}
