"""From when to when the times of many runs are drawn."""

from typing import NamedTuple

from peerlab.features.tails.tails import Tails
from peerlab.features.tails.times import PathTimes
from peerlab.picture.scale import Scale, linear
from peerlab.study.many_runs import nearest_rank

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
