"""The executors that can answer a sweep: this process, a pool of processes, the user's own executor, or a Dask cluster."""

# Every worker is an executor. This process, a pool, Dask are all a `concurrent.futures.Executor`
# (`features/sweep/executors`). A task is a base scenario and what differs from it, returns plain figures,
# and lasts 0.05 to 0.2 s, as measured: shorter ones lose more in sending, longer ones when stopped. Loaded
# clusters travel, not names of files. Pools spawn (a fork of a process with threads may hang), ignore
# Ctrl+C (the parent stops them within a step of the simulation), and end with a parent that is killed.
# Dask's workers may come late or go: the sweep says what it waits for, and gives up after a time limit. A
# combination that is impossible is a row with a reason; a value that no combination could have is refused
# before anything runs.

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from multiprocessing import get_context
from typing import Any

from peerlab.base.errors import PeerlabError
from peerlab.features.sweep.batch_worker import Stopped, answer, begin
from peerlab.features.sweep.batches import SweepWorkers, explained
from peerlab.features.sweep.on_dask import WAIT_S, dask_workers


@dataclass(frozen=True)
class Who:
    """The executor that the user asked for: one of these, or none for this process."""

    executor: Executor | None = None
    """An executor of the user's."""
    workers: int | None = None
    """So many processes."""
    dask: str | None = None
    """The workers of a Dask cluster: the scheduler's address, or its file."""
    dask_wait_s: float = WAIT_S
    """How long to wait for them, seconds."""

    @property
    def given(self) -> list[str]:
        """Which of them were asked for."""
        return [name for name in ("executor", "workers", "dask") if getattr(self, name) is not None]


def sweep_workers(who: Who, stopped: Stopped) -> AbstractContextManager[SweepWorkers]:
    """Return the workers that were asked for; leaving the context releases them.

    Raises
    ------
    PeerlabError
        If two are asked for at once, or one that is impossible.
    """
    if len(who.given) > 1:
        raise PeerlabError(f"{' and '.join(who.given)}: give one of them")
    wait: Any = who.dask_wait_s  # refused even where nobody waits: a slip would else show on the cluster only
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not 0 <= wait < inf:
        raise PeerlabError(f"dask_wait_s: {wait!r} is no number of seconds, such as 600")
    if who.dask is not None:
        return dask_workers(who.dask, who.dask_wait_s, stopped)
    if who.workers is not None:
        return _processes(who.workers)
    return _foreign(who.executor) if who.executor is not None else _here(stopped)


class _Here(Executor):
    """Does every task at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as problem:  # noqa: BLE001  (whoever asks for the result gets it)
            future.set_exception(problem)
        return future


@contextmanager
def _here(stopped: Stopped) -> Iterator[SweepWorkers]:
    yield SweepWorkers(_Here(), lambda: 1, partial(answer, stopped=stopped), ahead=1)


@contextmanager
def _foreign(executor: Executor) -> Iterator[SweepWorkers]:
    workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    with explained("the executor"):
        yield SweepWorkers(executor, lambda: workers, answer)


class _Pool(ProcessPoolExecutor):
    """A pool whose processes ignore Ctrl+C: the parent gets it, and tells them to stop."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if sys.platform == "win32":
            return super().submit(fn, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is started inherits it
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _processes(workers: Any) -> Iterator[SweepWorkers]:
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= 1024:
        raise PeerlabError(f"workers: {workers!r} is not a whole number from 1 to 1024")
    context = get_context("spawn")  # a fork of a process with threads may hang
    stop = context.Event()
    with (
        explained("the pool of processes"),
        _Pool(workers, mp_context=context, initializer=begin, initargs=(stop,)) as pool,
    ):
        try:
            yield SweepWorkers(pool, lambda: workers, answer, stop=stop.set, patience_s=60)
        finally:
            stop.set()
