"""A shared resource in whole picoseconds: engines are served in rounds, a picosecond each.

With n engines a round takes n picoseconds. An engine that arrives within a round joins at its end; one whose job is done
leaves at its end. So the capacity is divided evenly to within a round, none of it is lost to rounding, identical users end at
the same time, and a load that repeats repeats exactly.
"""

from collections import deque
from typing import NamedTuple


class Job(NamedTuple):
    """One slice's use of a shared resource."""

    slice_id: int
    """Id of the slice."""
    stage: int
    """In which stage."""
    duration_ps: int
    """Service time, alone."""
    nbytes: int
    """Bytes that cross the resource."""
    queued: int
    """When it arrived."""


class FairShare:
    """Serves one job per engine at a time, all at the same rate."""

    __slots__ = ("_active", "_copies", "_queues", "_round", "_since", "generation")

    def __init__(self, copies: int) -> None:
        self._copies = copies
        self._round = 0  # rounds until `_since`, which is the first end of a round not before now
        self._since = 0
        self._active: dict[int, tuple[int, int, Job]] = {}  # engine: (round of its end, start, job)
        self._queues: dict[int, deque[Job]] = {}
        self.generation = 0
        """Changes whenever the next end may have changed."""

    @property
    def busy(self) -> bool:
        """Whether any engine is being served."""
        return bool(self._active)

    def arrive(self, now: int, engine: int, job: Job) -> None:
        """Take a job; it waits while its engine is busy with another."""
        if engine in self._active:
            self._queues.setdefault(engine, deque()).append(job)
            return
        self._advance(now)
        # a round serves each engine one picosecond, so that a job ends as many rounds later as it needs picoseconds
        self._active[engine] = (self._round + job.duration_ps, self._since, job)
        self.generation += 1

    def next_end(self) -> int:
        """Return when the next job will end if nothing arrives; there must be one."""
        left = min(entry[0] for entry in self._active.values()) - self._round
        return self._since + left * len(self._active) * self._copies

    def finish(self, now: int) -> list[tuple[int, Job]]:
        """Return ``(start, job)`` of every job that ends `now`; waiting jobs of their engines start."""
        self._advance(now)
        self.generation += 1
        finished = []
        for engine in [engine for engine, entry in self._active.items() if entry[0] == self._round]:
            _, start, job = self._active.pop(engine)
            finished.append((start, job))
            queue = self._queues.get(engine)
            if queue:
                successor = queue.popleft()
                self._active[engine] = (self._round + successor.duration_ps, now, successor)
        return finished

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return everything that later rows depend on, relative to `now` and slice id `base`."""
        self._advance(now)
        active = sorted(
            (e, last - self._round, job.slice_id - base, start - now, job.queued - now)
            for e, (last, start, job) in self._active.items()
        )  # `start` and `queued` change no later time, but they are recorded, and a repetition must record the same
        queues = sorted(
            (e, tuple((job.slice_id - base, job.queued - now) for job in q))
            for e, q in self._queues.items()
            if q
        )
        return (self._since - now if active else 0, *active, None, *queues)

    def _advance(self, now: int) -> None:
        """Go to the first end of a round that is not before now."""
        # `_since` is always the end of a round, at or after the last change; a round in progress is not cut
        if now > self._since:
            length = len(self._active) * self._copies
            rounds = -(-(now - self._since) // length) if length else 0
            self._round += rounds
            self._since = self._since + rounds * length if length else now
