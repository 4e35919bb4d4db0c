"""The function of a worker, on whichever machine: take a batch of scenarios, return plain figures."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.synchronize import Event
from typing import Any

from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.base.version import __version__
from peerlab.engine.arrays.side_by_side import SideBySide
from peerlab.question.scenario import Scenario

Stopped = Callable[[], bool]
"""Says whether the sweep was stopped."""


@dataclass(frozen=True)
class SweepBatch:
    """Some scenarios that differ in a few fields from the same base."""

    base: Scenario
    """Gives the fields that do not vary, and is sent once."""
    changes: tuple[dict[str, Any], ...]
    """For each scenario what differs."""
    version: str
    """Version of peerlab that asks: another one may answer with other figures."""
    iteration_times: bool = False
    """Whether the times of all iterations are asked for too."""


@dataclass(frozen=True)
class BatchAnswer:
    """What a worker returns for a batch."""

    seconds: float
    """How long it took."""
    figures: tuple[dict[str, Any] | str, ...]
    """`Run.as_dict` of each scenario, or why it is impossible; fewer than were asked if the sweep was stopped."""


def never() -> bool:
    """Return False, for a sweep that cannot be stopped."""
    return False


_stopped: Stopped = never
"""In a process of a pool: whether the sweep was stopped."""


def begin(stop: Event) -> None:
    """Prepare a process of a pool: it sees when the sweep is stopped, and ends if its parent is killed."""
    global _stopped  # noqa: PLW0603  (what a process pool hands to its tasks has no other place)
    _stopped = stop.is_set
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.join,), daemon=True).start()


def _end_with(wait: Callable[[], None]) -> None:
    wait()
    os._exit(1)  # a pool's process would wait for its next task for ever


_batch_sizes: list[int] = []
"""How many scenarios each batch had that this worker has answered."""


def answer(batch: SweepBatch, stopped: Stopped | None = None) -> BatchAnswer:
    """Return the figures of a batch.

    Raises
    ------
    PeerlabError
        If this is not the version of peerlab that asks.
    """
    if __version__ != batch.version:
        raise PeerlabError(
            f"a worker has peerlab {__version__} and this is {batch.version}; install the same on both"
        )
    begin_s = time.perf_counter()
    scenarios = [batch.base.with_(**change) for change in batch.changes]
    figures = tuple(
        answer_together(
            scenarios, stopped or _stopped, iteration_times=batch.iteration_times, before=sum(_batch_sizes)
        )
    )
    _batch_sizes.append(len(scenarios))
    return BatchAnswer(time.perf_counter() - begin_s, figures)


def answer_together(
    scenarios: Sequence[Scenario], stopped: Stopped, *, iteration_times: bool = False, before: int = 0
) -> Iterator[dict[str, Any] | str]:
    """Yield for each scenario its figures, or why it is impossible; end early if the sweep is stopped. `before`: as of `SideBySide`.

    Scenarios that an engine can run side by side are answered in one call.
    """

    def progress(_done: int, _total: int) -> None:
        if stopped():
            raise Cancelled("the sweep was stopped")

    runs = SideBySide(scenarios, progress, before)
    for index in range(len(scenarios)):
        if stopped():
            return
        try:
            yield runs.run(index).as_dict(iteration_times=iteration_times)
        except Cancelled:
            return
        except PeerlabError as problem:
            yield str(problem)
