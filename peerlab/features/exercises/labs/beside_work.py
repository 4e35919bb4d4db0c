"""Other work on this machine while something is measured, so that a learner sees what it does to noise."""

import subprocess
import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_BUSY = "while True: pass"


def beside_work(measured: Callable[[], T], processes: int = 2) -> T:
    """Return what a function returns while so many processes keep cores busy; they end with it.

    Parameters
    ----------
    measured:
        What is done meanwhile.
    processes:
        How many compute.
    """
    working = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(processes)]  # noqa: S603  (our own words)
    try:
        return measured()
    finally:
        # Killed, not asked: they never end by themselves.
        for process in working:
            process.kill()
        for process in working:
            process.wait()
