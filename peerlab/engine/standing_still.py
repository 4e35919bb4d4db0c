"""When work is through on a node that stands still for a moment again and again: plain arithmetic, for numbers, arrays and machine code."""

from typing import Any


def through(start: Any, work: Any, phase: Any, period: Any, length: Any) -> Any:
    """Return when work that begins at `start` is through, where nothing goes on for `length` from ``phase + k * period`` on.

    All in picoseconds; numbers or arrays. Work that would end as a pause begins has ended.

    >>> through(0, 10, 5, 100, 20), through(0, 5, 5, 100, 20), through(7, 10, 5, 100, 20)
    (30, 5, 35)
    """
    turn = (start - phase) // period
    since = start - phase - turn * period
    done = (since - length) * (since > length) + work  # of what fits between two pauses
    pauses = (done - (done > 0)) // (period - length)
    return phase + turn * period + length + done + pauses * length


def stood_still(since: int, until: int, phase: int, period: int, length: int) -> int:
    """Return for how long of the time between two moments nothing went on, picoseconds.

    >>> stood_still(0, 30, 5, 100, 20), stood_still(10, 110, 5, 100, 20)
    (20, 20)
    """

    def paused(t: int) -> int:
        turns, rest = divmod(t - phase, period)
        return turns * length + min(rest, length)

    return paused(until) - paused(since)
