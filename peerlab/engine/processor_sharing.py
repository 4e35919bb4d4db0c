"""A shared resource in whole picoseconds: engines are served in rounds, a picosecond each.

With n engines a round takes n picoseconds. An engine that arrives within a round joins at its end; one whose job is done
leaves at its end. So the capacity is divided evenly to within a round, none of it is lost to rounding, identical users end at
the same time, and a load that repeats repeats exactly.
"""

# Fair sharing in rounds of whole picoseconds. A max-min fair resource with n users serves each of them one
# picosecond of work in a round of n picoseconds; a user that arrives joins at the next round. The error is
# below one round, no capacity is lost, and identical users end together. What decided it: a periodic load
# gives an exactly periodic schedule, where sharing with fractions would drift by a picosecond and never
# repeat.

from collections import deque
from functools import partial
from typing import NamedTuple


class Job(NamedTuple):
    """One slice's use of a shared resource."""

    slice_id: int
    """Id of the slice."""
    number: int
    """Place of the resource in the stage's chain."""
    duration_ps: int
    """Service time, alone."""


# a record's own `__new__` is a function of Python's, and takes three times as long
new_job = partial(tuple.__new__, Job)


class FairShare:
    """Has one job per engine, and works on all at the same rate.

    A job on which the work is done takes no share any more; its engine has it until it is freed.
    """

    __slots__ = ("_active", "_copies", "_has", "_queues", "_round", "_since", "generation")

    def __init__(self, copies: int) -> None:
        self._copies = copies
        self._round = 0  # rounds until `_since`, which is the first end of a round not before now
        self._since = 0
        self._active: dict[int, tuple[int, Job]] = {}  # engine: (round of its end, job)
        self._has: set[int] = set()  # engines that have a job, done or not
        self._queues: dict[int, deque[Job]] = {}
        self.generation = 0
        """Changes whenever the next end may have changed."""

    def arrive(self, now: int, engine: int, job: Job) -> int:
        """Take a job; return when it begins, or -1 where its engine has another."""
        if engine in self._has:
            self._queues.setdefault(engine, deque()).append(job)
            return -1
        self._has.add(engine)
        return self._begin(now, engine, job)

    def _begin(self, now: int, engine: int, job: Job) -> int:
        self._advance(now)
        # a round serves each engine one picosecond, so that a job ends as many rounds later as it needs picoseconds
        self._active[engine] = (self._round + job.duration_ps, job)
        self.generation += 1
        return self._since

    def free(self, now: int, engine: int) -> tuple[int, int] | None:
        """Take the job of an engine away; of the one that has waited, return slice id and when it begins."""
        queue = self._queues.get(engine)
        if queue:
            job = queue.popleft()
            return job.slice_id, self._begin(now, engine, job)
        self._has.remove(engine)
        return None

    def next_end(self) -> int:
        """Return when the next job will end if nothing arrives; -1: there is none."""
        active = self._active
        if not active:
            return -1
        # by the round of their ends first
        return self._since + (min(active.values())[0] - self._round) * len(active) * self._copies

    def finish(self, now: int) -> list[tuple[int, int]]:
        """Return slice id and number of the jobs whose work is done `now`."""
        self._advance(now)
        self.generation += 1
        active, last = self._active, self._round
        ended = [engine for engine, entry in active.items() if entry[0] == last]
        return [active.pop(engine)[1][:2] for engine in ended]

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return everything that later rows depend on, relative to `now` and slice id `base`."""
        self._advance(now)
        active = sorted(
            (e, last - self._round, job.slice_id - base) for e, (last, job) in self._active.items()
        )
        queues = sorted((e, tuple(job.slice_id - base for job in q)) for e, q in self._queues.items() if q)
        return (self._since - now if active else 0, *active, None, *sorted(self._has), None, *queues)

    def _advance(self, now: int) -> None:
        """Go to the first end of a round that is not before now."""
        # `_since` is always the end of a round, at or after the last change; a round in progress is not cut
        if now > self._since:
            length = len(self._active) * self._copies
            rounds = -(-(now - self._since) // length) if length else 0
            self._round += rounds
            self._since = self._since + rounds * length if length else now
