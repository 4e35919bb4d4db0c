"""A measurement seen from outside: a process of its own that is listened to, may be cancelled, and leaves nothing."""

# The processes of a measurement leave nothing behind. `features/measure/stream` starts one process that
# measures (never a fork of a notebook's kernel) and listens to its lines of JSON; that one starts the
# ranks. Device memory is memfd, the rest eventfds and sockets, all inherited and none with a name, so that
# the kernel clears up after any kill. A rank that dies closes its line, which names it. When the process
# that measures dies, the kernel kills the ranks; when the process that asked dies, an input of the
# measuring process closes. The output ends when the last process has.

import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import IO, Any, Self

from peerlab.base.errors import MeasurementError
from peerlab.features.measure.ranks import manifest
from peerlab.features.measure.ranks.starting import environment
from peerlab.features.measure.schedule import Measurement, say_command
from peerlab.records import Records
from peerlab.records.judge import control_ratios

_PATIENCE_S = 2.0
"""How long processes that were asked to end may take."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a measurement is."""

    done: int
    """AllReduces run, those that warm up included."""
    total: int
    """AllReduces to run in all; 0: not known yet."""
    ranks: int
    """What is being measured, or was just: the number of ranks; 0 before the first."""
    size_bytes: int
    """And the size."""
    rows: tuple[dict[str, Any], ...] = ()
    """New rows, with the columns of records: all of these ranks and this size."""


class Stream:
    """A running measurement: iterate over it for its progress, then ask for its records.

    It runs in processes of its own, which end when it is closed, cancelled or forgotten, or when this process ends.

    >>> with Stream(Measurement.of(ranks=2, sizes="64 KiB")) as stream:  # doctest: +SKIP
    ...     for progress in stream:
    ...         print(progress.done, progress.total)
    ...     stream.records
    """

    def __init__(self, plan: Measurement) -> None:
        self.plan = plan
        self._rows: list[dict[str, Any]] = []
        self._manifest: dict[str, Any] = {"command": say_command(plan)}
        self._warnings: list[str] = []
        self._done = self._total = self._blocks = 0
        self._cancelled = self._complete = False
        try:
            # A file and not a pipe: nobody has to empty it while it is written, and no name of it is left
            # behind.
            self._complaints = os.fdopen(os.memfd_create("peerlab-complaints"), "w+b")
            self._process = _started(plan, self._complaints)
        except OSError as problem:
            raise MeasurementError(
                f"cannot start to measure: no memfd, or no process: {problem.strerror}"
            ) from problem
        self._forgotten = weakref.finalize(self, self._process.terminate)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Progress]:
        """Yield progress until the measurement ends or is cancelled.

        Raises
        ------
        MeasurementError
            If it fails, in one line.
        """
        for line in self._process.stdout or ():  # it ends when the last process has
            if not line.endswith(b"\n"):  # killed while it said so
                break
            told = json.loads(line)
            if "problem" in told:
                raise self._failed(told["problem"])
            yield self._noted(told)
        if not self._complete and not self._cancelled:
            raise self._failed(self._why_it_ended())

    @property
    def pid(self) -> int:
        """Process id of what measures, and the session that all ranks are in."""
        return self._process.pid

    def cancel(self) -> None:
        """Stop; may be called from another thread. Iterating ends, and the records hold what was measured."""
        # Before the end: whoever iterates must not take it for a failure.
        self._cancelled = True
        self._process.terminate()

    def close(self) -> None:
        """End every process, and wait until they have."""
        self._forgotten()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()  # first, as nobody reads any more
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()

    @property
    def records(self) -> Records:
        """What has been measured so far, with its manifest."""
        stopped = [] if self._complete else [f"stopped after {self._blocks} of {len(self.plan.blocks)} sizes"]
        records = Records.of(self._rows, self._manifest, [*self._warnings, *stopped])
        return replace(records, manifest={**records.manifest, "a_a_ratio": control_ratios(records)})

    def _noted(self, told: dict[str, Any]) -> Progress:
        self._manifest |= told.get("manifest", {})
        self._warnings += told.get("warnings", [])
        self._total = told.get("total", self._total)
        self._done = told.get("done", self._done)
        self._complete = told.get("complete", False)
        ranks, size = told.get("block", (0, 0))
        # The manifest comes before any row: the source is named after this machine's processor.
        about = {"source": manifest.source(self._manifest), "nodes": 1}
        rows = tuple(about | row for row in told.get("rows", ()))
        self._rows += rows
        self._blocks += bool(rows)
        return Progress(done=self._done, total=self._total, ranks=ranks, size_bytes=size, rows=rows)

    def _why_it_ended(self) -> str:
        status = self._process.wait()
        if status < 0:
            return f"the process that measures was killed by {signal.Signals(-status).name}"
        last = self._complaint().rpartition("\n")[2]
        return f"the process that measures ended with status {status}: {last or 'it said nothing'}"

    def _complaint(self) -> str:
        """Return what the processes wrote to their error output: nothing, but for defects."""
        self._complaints.seek(0)
        return self._complaints.read().decode(errors="replace").strip()

    def _failed(self, problem: str) -> MeasurementError:
        error = MeasurementError(problem)
        if self._complaint():
            error.add_note(self._complaint())  # for whoever mends the defect; the message is one line
        return error


def _started(plan: Measurement, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  (our own module)
        [sys.executable, "-P", "-m", "peerlab.features.measure.ranks.coordinator", json.dumps(asdict(plan))],
        stdin=subprocess.PIPE,  # that it closes tells the other end that we have gone
        stdout=subprocess.PIPE,
        stderr=complaints,
        env=environment(),
        start_new_session=True,  # Ctrl+C is for us to hear, and to pass on
    )
