"""A measurement of this machine from within the lab: processes of its own measure, a thread reads their results."""

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from peerlab.app.runs import call_in
from peerlab.base.errors import PeerlabError
from peerlab.base.units import say_percent
from peerlab.collectives.conditions import say_block
from peerlab.features.measure.schedule import Measurement
from peerlab.features.measure.this_machine import ABOUT, here
from peerlab.records import Records
from peerlab.records.judge import Comparison, compare, gist
from peerlab.records.library import measured_library

if TYPE_CHECKING:
    from peerlab.features.measure.stream import Progress, Stream

KNOWN_GPU = "own/h200-mps"
"""What is shown where there is no GPU to measure."""


class Measuring:
    """Measures when asked and hands what there is to `show`, size by size; one measurement at a time.

    Attributes
    ----------
    records:
        What was measured last, stopped or complete.
    """

    def __init__(self, show: Callable[[dict[str, object]], None], plan: Measurement | None = None) -> None:
        self._show, self._plan = show, plan or Measurement.of()
        self._stream: Stream | None = None
        self._found: list[Comparison] = []
        self._about = ABOUT
        self.records: Records | None = None

    def obey(self, command: str) -> None:
        """Do what a button of the page asks for."""
        {
            "measure": self.start,
            "measure gpu": self.start_on_gpu,
            "stop measuring": self.stop,
            "save measured": self.save,
        }[command]()

    def start(self) -> None:
        """Begin to measure; may be called in a running event loop only, which gets the progress."""
        self._start(self._plan)

    def start_on_gpu(self) -> None:
        """Begin to measure between GPUs' memories; where there is none, what was measured here stays, else a known GPU's is shown."""
        self._start(Measurement.of(memory="cuda"))

    def _start(self, plan: Measurement) -> None:
        from peerlab.features.measure.stream import Stream  # noqa: PLC0415

        if self._stream:
            return
        loop = asyncio.get_running_loop()
        self._tell("Starting", [])
        try:
            self._stream = stream = Stream(plan)
        except PeerlabError as problem:
            self._show_own(str(problem))
            return
        # A kernel that ends does not wait for it.
        threading.Thread(target=self._listen, args=(stream, loop), daemon=True).start()

    def stop(self) -> None:
        """Stop measuring; records that were measured already stay."""
        if self._stream:
            self._stream.cancel()

    def save(self) -> None:
        """Write the records beside the notebook, and say where."""
        if self.records is None:
            return
        name = f"measured-{datetime.now(UTC).astimezone():%Y%m%d-%H%M%S}.csv"
        try:
            self.records.save(name)
            sentence = f"saved as {name}, beside the notebook"
        except PeerlabError as problem:
            sentence = str(problem)
        self._show(here(self._found, sentence))

    def _listen(self, stream: "Stream", loop: asyncio.AbstractEventLoop) -> None:
        with stream:
            try:
                for progress in stream:
                    comparisons = compare(stream.records) if progress.rows else None
                    call_in(loop, self._heard, stream, progress, comparisons)
                problem = ""
            except PeerlabError as failed:
                problem = str(failed)
            records = stream.records
        call_in(loop, self._ended, stream, records, problem)

    def _heard(self, stream: "Stream", progress: "Progress", comparisons: list[Comparison] | None) -> None:
        # It was stopped, and another one begun.
        if self._stream is not stream:
            return
        part = progress.done / progress.total if progress.total else 0
        what = say_block(progress.ranks, progress.size_bytes) if progress.ranks else ""
        self._tell(f"{say_percent(part)} {what}" if part else "Starting the ranks", comparisons)

    def _ended(self, stream: "Stream", records: Records, problem: str) -> None:
        if self._stream is not stream:
            return
        self._stream = None
        if problem and stream.plan.kind.accelerator and not len(records.table):
            if self.records is None:
                self._show_known(problem)
            else:  # perhaps not saved yet: the page saves what it shows
                self._show_own(f"{problem}. Shown: what was measured before")
            return
        self.records = records
        self._about = stream.plan.kind.what_it_is if stream.plan.kind.accelerator else ABOUT
        self._show_own(problem)

    def _show_own(self, text: str) -> None:
        """Show what was measured here last, with this text or what it comes to."""
        records = self.records
        self._found = compare(records) if records is not None else []
        warnings = "; ".join(records.warnings) if records is not None else ""
        sentence = text or gist(self._found) or warnings or "nothing was measured"
        self._show(here(self._found, sentence, about=self._about))

    def _show_known(self, problem: str) -> None:
        """Show what a known GPU measured, and why it is not this machine's."""
        gpu_records = measured_library()[KNOWN_GPU]
        self._found = compare(gpu_records)
        gpu, day = ", ".join(gpu_records.manifest["devices"]), gpu_records.manifest["date"]
        text = f"{problem}. Shown: {gpu}, {day}: {gist(self._found)}"
        self._show(here(self._found, text, about=gpu_records.manifest["what_it_is"], other_machine=gpu))

    def _tell(self, text: str, comparisons: list[Comparison] | None) -> None:
        if comparisons is not None:
            self._found = comparisons
        self._show(here(self._found, text, busy=True))
