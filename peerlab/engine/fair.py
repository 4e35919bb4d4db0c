"""A shared resource in exact arithmetic: its capacity divided evenly among the engines that use it now.

Virtual time advances by the share that each engine gets, in units fine enough that every share is a whole number.
A slice is served when virtual time has advanced by its service time; that happens at the next whole picosecond.
"""

from collections import deque
from math import lcm
from typing import NamedTuple


class Job(NamedTuple):
    """One slice's use of a shared resource."""

    slice_id: int
    """Whose it is."""
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

    __slots__ = ("_active", "_queues", "_since", "_speeds", "_unit", "_virtual", "generation")

    def __init__(self, engines: int, copies: int) -> None:
        scale = lcm(*range(1, engines + 1))
        self._speeds = [0] + [scale // n for n in range(1, engines + 1)]
        self._unit = scale * copies
        self._virtual = 0
        self._since = 0
        self._active: dict[int, tuple[int, int, Job]] = {}  # engine: (virtual time of its end, start, job)
        self._queues: dict[int, deque[Job]] = {}
        self.generation = 0
        """Changes whenever the next end may have changed."""

    def arrive(self, now: int, engine: int, job: Job) -> None:
        """Take a job; it waits while its engine is busy with another."""
        if engine in self._active:
            self._queues.setdefault(engine, deque()).append(job)
            return
        self._advance(now)
        self._active[engine] = (self._virtual + job.duration_ps * self._unit, now, job)
        self.generation += 1

    def next_end(self) -> int:
        """Return when the next job will end if nothing arrives; there must be one."""
        left = min(entry[0] for entry in self._active.values()) - self._virtual
        return self._since - (-left // self._speeds[len(self._active)])

    @property
    def busy(self) -> bool:
        """Whether any engine is being served."""
        return bool(self._active)

    def finish(self, now: int) -> list[tuple[int, Job]]:
        """Return ``(start, job)`` of every job that has ended by `now`; waiting jobs of their engines start."""
        self._advance(now)
        self.generation += 1
        done = [engine for engine, entry in self._active.items() if entry[0] <= self._virtual]
        finished = []
        for engine in done:
            _, start, job = self._active.pop(engine)
            finished.append((start, job))
            queue = self._queues.get(engine)
            if queue:
                successor = queue.popleft()
                self._active[engine] = (self._virtual + successor.duration_ps * self._unit, now, successor)
        return finished

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return what decides about the future, relative to `now` and slice id `base`."""
        self._advance(now)
        active = sorted((e, v - self._virtual, job.slice_id - base) for e, (v, _, job) in self._active.items())
        queues = sorted((e, tuple(job.slice_id - base for job in q)) for e, q in self._queues.items() if q)
        return (*active, None, *queues)

    def _advance(self, now: int) -> None:
        self._virtual += (now - self._since) * self._speeds[len(self._active)]
        self._since = now
