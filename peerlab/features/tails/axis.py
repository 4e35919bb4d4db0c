"""From when to when the times of many runs are drawn."""

from typing import NamedTuple

from peerlab.features.tails.tails import Tails
from peerlab.features.tails.time_unit import Unit
from peerlab.features.tails.times import PathTimes
from peerlab.picture.scale import Scale, linear, multiples, round_step
from peerlab.study.many_runs import nearest_rank

LETTER = 7.2
"""Width of a letter beside the axis, about, where it is bold."""
_MOST_TICKS, _TICK = 9, 30.0
"""Ticks of the axis, at most, and pixels from one to the next, at least."""
_REACH, _LEAST_REACH = 3.0, 0.02
"""The axis reaches so many times as far as from a path's fastest run to its p90, and so large a part of the fastest run at least."""


class Axis(NamedTuple):
    """A time axis."""

    low_ps: float
    high_ps: float
    last_ps: float
    """The latest time that is drawn."""
    left: float
    """Where it begins, pixels."""
    right: float

    @property
    def x(self) -> Scale:
        """Where a time lies; whoever asks for many times takes it once."""
        return linear((self.low_ps, self.high_ps), (self.left, self.right))


def axis_of(tails: Tails, left: float, right: float) -> Axis:
    """Return the axis of all paths from one place to another, pixels."""
    low = min(min(path.quiet_ps, path.ordered_ps[0]) for path in tails.paths)
    last = max(max(path.quiet_ps, _end(path)) for path in tails.paths)
    # Room at both ends, also where all runs take the same time; no time is below zero.
    room = max(0.04 * (last - low), 0.01 * last)
    return Axis(max(0.0, low - room), last + room, last, left, right)


def _end(path_times: PathTimes) -> int:
    """Return up to where the axis goes for a path.

    Three times as far from the fastest run as p90 is: of normal times that is all of them, of exponential ones 999 in 1,000. Where delays
    are rare and long nothing of the pile would be seen on an axis that went on to the slowest. And p90 hardly moves when more runs come,
    which the slowest does.
    """
    ordered = path_times.ordered_ps
    fastest = ordered[0]
    usual = max(nearest_rank(ordered, 0.9) - fastest, round(_LEAST_REACH * fastest))
    return min(ordered[-1], round(fastest + _REACH * usual))


def ticks(axis: Axis, unit: Unit) -> list[float]:
    """Return the values at which the axis has a figure: as many as have room beside each other, since one alone is no scale."""
    low, high, wide = axis.low_ps / unit.ps, axis.high_ps / unit.ps, axis.right - axis.left
    values: list[float] = []
    for most in range(min(_MOST_TICKS, int(wide / _TICK)), 1, -1):
        step = round_step(high - low, most)
        values = multiples(step, low, high)
        letters = max((len(f"{value:.6g}") for value in values), default=0) + 1 + len(unit.name)
        if step * wide > (letters * LETTER + 8) * (high - low):
            break
    if len(values) < 2:  # five steps at most are more than two: the first and the last of their values
        values = multiples(round_step(high - low, 5), low, high)
        values = [values[0], values[-1]]
    return values
