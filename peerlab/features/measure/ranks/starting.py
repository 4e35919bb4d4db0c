"""How processes of a measurement are started: fresh ones, never forks of a kernel with its threads."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peerlab.base.errors import MeasurementError, PeerlabError
from peerlab.machine import linux

_PROBLEM = "problem"
"""The key under which a process apart says what a user can mend."""
_PACKAGES = Path(__file__).parent.parent.parent.parent.parent


def environment() -> dict[str, str]:
    """Return the environment for a process of ours: it finds this very peerlab, and starts no threads of its own."""
    paths = [str(_PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}


def say_signal(number: int) -> str:
    """Return by which signal a process was killed, and who may have sent it."""
    name = signal.Signals(number).name
    hint = " (somebody's, or the kernel's for want of memory)" if name == "SIGKILL" else ""
    return f"killed by {name}{hint}"


def apart(module: str, what: str, *arguments: str) -> Any:
    """Run a module of ours in a process of its own, and return the JSON that it prints.

    Raises
    ------
    MeasurementError
        If it fails, or is killed (`what` says what has ended early), or answers with a problem of a user's.
    """
    done = subprocess.run(  # noqa: S603  (our own module)
        [sys.executable, "-P", "-m", module, *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:
        raise MeasurementError(f"{what} ended early: {say_signal(-done.returncode)}")
    if done.returncode:
        raise MeasurementError(f"{what} ended early: {done.stderr.strip().rpartition(chr(10))[2]}")
    answer = json.loads(done.stdout)
    if isinstance(answer, dict) and _PROBLEM in answer:
        raise MeasurementError(answer[_PROBLEM])
    return answer


def answer_on_a_gpu(work: Callable[[], object]) -> None:
    """Print as JSON what `work` returns, or the problem that it raises, for :func:`apart` to read.

    The process ends with whoever asked: it would go on using the GPU, or waiting for a driver that hangs, for nobody.
    """
    linux.die_with_parent()
    try:
        answer = work()
    except PeerlabError as problem:
        answer = {_PROBLEM: str(problem)}
    json.dump(answer, sys.stdout)
