"""Scenarios answered by a Dask cluster, whose scheduler and workers may come up later than the sweep."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from peerlab.base.errors import Cancelled, PeerlabError, WorkersLost
from peerlab.base.extras import extra_needed
from peerlab.base.textfile import read_text
from peerlab.features.sweep.batch_worker import Stopped, answer
from peerlab.features.sweep.batches import SweepWorkers, explained

WAIT_S = 600.0
"""How long a sweep waits for a worker, unless it is told otherwise."""
_SAY_AGAIN_S = 60.0
_CONNECT_S = 4.0
"""How long a Dask scheduler may take to answer."""
_LOOK_UP_S = 0.2
_LARGEST = 2**20
_log = logging.getLogger("peerlab.sweep")


@contextmanager
def dask_workers(where: str, wait_s: float, stopped: Stopped) -> Iterator[SweepWorkers]:
    """Give the workers of a cluster, however many it has at any time.

    Parameters
    ----------
    where:
        Address of the scheduler, or the file in which it says its address (``dask scheduler --scheduler-file``).
    wait_s:
        How long to wait for that file, and whenever there is no worker, for one.

    Raises
    ------
    PeerlabError
        If there is no such scheduler.
    WorkersLost
        If the wait was in vain, or the scheduler goes away.
    """
    distributed = _distributed()
    address = _address_in(Path(where), wait_s, stopped) if where.endswith(".json") else where
    client = _connect(distributed, address)
    who = f"the Dask cluster at {address}"
    wait = _Wait(f"worker at {who}", f"start some, as in: dask worker {address} --nthreads 1", wait_s)
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(
        logging.CRITICAL
    )  # Dask logs a lost connection with tracebacks; the sweep says it in one line

    def threads() -> int:
        count = sum(
            int(count) for count in client.nthreads().values()
        )  # a cluster may grow, or shrink to nothing
        wait.over() if count else wait.on()
        return max(count, 1)

    try:
        with explained(who, distributed.KilledWorker, OSError):
            yield SweepWorkers(client.get_executor(pure=False), threads, answer)
    finally:
        client.close()
        log.setLevel(before)


class _Wait:
    """Says at once, and then every minute, what the sweep waits for; gives up after the time limit."""

    def __init__(self, wanted: str, hint: str, longest_s: float) -> None:
        self._wanted, self._hint, self._longest_s = wanted, hint, longest_s
        self._since_s = self._said_s = math.nan

    def on(self) -> None:
        """Wait on.

        Raises
        ------
        WorkersLost
            If it has been too long.
        """
        now = time.monotonic()
        if math.isnan(self._since_s):
            self._since_s = self._said_s = now
            self._say(f"no {self._wanted}; waiting up to {self._longest_s:g} s ({self._hint})")
        waited = now - self._since_s
        if waited >= self._longest_s:
            raise WorkersLost(
                f"no {self._wanted} for {self._longest_s:g} s ({self._hint}; --dask-wait or dask_wait_s=... waits longer)"
            )
        if now - self._said_s >= _SAY_AGAIN_S:
            self._said_s = now
            self._say(f"no {self._wanted} for {waited:.0f} s; waiting up to {self._longest_s:g} s")

    def over(self) -> None:
        """End waiting: the scheduler or worker is there."""
        if not math.isnan(self._since_s):
            self._since_s = math.nan
            self._say(f"there is a {self._wanted}; going on")

    @staticmethod
    def _say(what: str) -> None:
        _log.warning("peerlab: %s", what)  # on stderr, unless the program that sweeps has a log


def _address_in(file: Path, wait_s: float, stopped: Stopped) -> str:
    """Return the address that a scheduler has written, or will write soon."""
    wait = _Wait(
        f"scheduler's address in {file}",
        f"dask scheduler --scheduler-file {file} writes it",
        wait_s,
    )
    while True:
        text = _said_in(file)
        if text:
            wait.over()
            return text
        if stopped():
            raise Cancelled("the sweep was stopped")
        wait.on()
        time.sleep(_LOOK_UP_S)


def _said_in(file: Path) -> str:
    """Return the address in a scheduler's file; empty if it is not there, or not written to its end."""
    if not file.exists():
        return ""
    text = read_text(file, what="scheduler file", most_bytes=_LARGEST, error=PeerlabError)
    try:
        return str(json.loads(text)["address"])
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""


def _distributed() -> Any:
    with extra_needed("a sweep on Dask"):
        return import_module("distributed")


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
