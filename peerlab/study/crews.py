"""Who answers the scenarios of a sweep: this process, a pool of processes, an executor of yours, or a Dask cluster."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from peerlab.errors import PeerlabError, WorkersLost
from peerlab.study.batches import Crew
from peerlab.study.work import Stopped, answer, begin

_CONNECT_S = 4.0
"""How long a Dask scheduler may take to answer."""


def crew(
    executor: Executor | None, workers: int | None, dask: str | None, stopped: Stopped
) -> AbstractContextManager[Crew]:
    """Return the crew that was asked for; leaving its context lets it go.

    Raises
    ------
    PeerlabError
        If two are asked for at once, or one that is impossible.
    """
    asked = {"executor": executor, "workers": workers, "dask": dask}
    given = [name for name, value in asked.items() if value is not None]
    if len(given) > 1:
        raise PeerlabError(f"{' and '.join(given)}: give one of them")
    if dask is not None:
        return _dask(dask)
    if workers is not None:
        return _processes(workers)
    return _foreign(executor) if executor is not None else _here(stopped)


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
def _here(stopped: Stopped) -> Iterator[Crew]:
    yield Crew(_Here(), lambda: 1, partial(answer, stopped=stopped), ahead=1)


@contextmanager
def _foreign(executor: Executor) -> Iterator[Crew]:
    workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    with _explained("the executor"):
        yield Crew(executor, lambda: workers, answer)


class _Pool(ProcessPoolExecutor):
    """Starts its processes deaf to Ctrl+C: the parent hears it, and stops them in good order."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if sys.platform == "win32":
            return super().submit(fn, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is started inherits it
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _processes(workers: Any) -> Iterator[Crew]:
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= 1024:
        raise PeerlabError(f"workers: {workers!r} is not a whole number from 1 to 1024")
    context = get_context("spawn")  # a fork of a process with threads may hang
    stop = context.Event()
    with (
        _explained("the pool of processes"),
        _Pool(workers, mp_context=context, initializer=begin, initargs=(stop,)) as pool,
    ):
        try:
            yield Crew(pool, lambda: workers, answer, stop=stop.set, patience_s=60)
        finally:
            stop.set()


@contextmanager
def _dask(address: str) -> Iterator[Crew]:
    distributed = _distributed()
    client = _connect(distributed, address)
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(
        logging.CRITICAL
    )  # what it would say of a lost connection, with tracebacks, we say in one line
    try:

        def threads() -> int:
            return max(sum(int(count) for count in client.nthreads().values()), 1)  # a cluster may grow

        with _explained(f"the Dask cluster at {address}", distributed.KilledWorker, OSError):
            yield Crew(client.get_executor(pure=False), threads, answer)
    finally:
        client.close()
        log.setLevel(before)


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ModuleNotFoundError as problem:
        raise PeerlabError(f"a sweep on Dask needs {problem.name}: pip install 'peerlab[dask]'") from None


def _connect(distributed: Any, address: str) -> Any:
    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop of its own in this one
            thread.submit(asyncio.run, _knock(distributed, address)).result()
        return distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    except ValueError as problem:
        why = str(problem)
    except OSError:
        why = f"no Dask scheduler answers within {_CONNECT_S:g} s"
    except Exception:  # noqa: BLE001  (what a stranger's bytes do to Dask's protocol)
        why = "what answers there is no Dask scheduler"
    raise PeerlabError(f"dask: {address!r}: {why}; an address looks like tcp://10.0.0.1:8786")


async def _knock(distributed: Any, address: str) -> None:
    """Connect and leave: a client that fails to connect would complain about it for seconds."""
    comm = await distributed.comm.connect(address, timeout=_CONNECT_S)
    await comm.close()


@contextmanager
def _explained(who: str, *lost: type[Exception]) -> Iterator[None]:
    """Say in one line that somebody else's process ended, or has no peerlab."""
    kinds: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, *lost)
    try:
        yield
    except kinds as problem:
        hint = "; in a script, sweep below `if __name__ == '__main__':`" if who.startswith("the pool") else ""
        raise WorkersLost(f"{who} went away before all was answered{hint}") from problem
    except ModuleNotFoundError as problem:
        raise PeerlabError(f"{who} lacks {problem.name}: install peerlab on its workers") from problem
