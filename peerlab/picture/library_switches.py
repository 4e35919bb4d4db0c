"""Where a communication library switches along a curve: to another algorithm or protocol, or so that a larger message is faster."""

from collections.abc import Sequence
from itertools import pairwise

from peerlab.answer.run import Run
from peerlab.base.units import say_bytes
from peerlab.question.scenario_fields import FIELDS

SWITCHES = "library switches"
"""Legend of the points that `switches_of` tells, which are large dots."""


def switches_of(axis: str, runs: Sequence[Run | None]) -> list[str]:
    """Return for each point whether the library does something else there than at the size before, in words."""
    notes = [""] * len(runs)
    for place, (before, run) in enumerate(pairwise(runs), 1):
        if not FIELDS[axis].size or not before or not run:
            continue
        was, now = before.scenario.choice, run.scenario.choice
        faster = run.time_ps < before.time_ps
        if was and now and (was.course.key != now.course.key or faster):
            notes[place] = (
                f"<br>the library's own switch: {before.scenario.library_words.what} at {say_bytes(before.scenario.nbytes)}, {run.scenario.library_words.what} here"
                + (", and the larger message is faster" if faster else "")
            )
    return notes
