"""Runs that were simulated already, and simulations that take too long to wait for."""

# Heavy settings go to a thread. A scenario that takes more than 0.15 s is simulated in the background with
# progress and *Cancel*; the last picture stays, dimmed.
#
# The next state is computed ahead, for each switch, 0.3 s after the last change, and sent to the page. A
# press is then painted in about 50 ms instead of 150 ms (`make bench ARGS=ahead` presses both ways in
# turn); below half was the condition for keeping it.

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from peerlab.answer.run import Run
from peerlab.app.weight import weight
from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.base.latest import Latest
from peerlab.base.progress_bar import say_seconds
from peerlab.base.units import MIB, say_percent
from peerlab.engine.expected_duration import forecast_s
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.simulate import simulate
from peerlab.model.hardware import Cluster  # noqa: TC001  (a key of a dictionary, at home beside Scenario)
from peerlab.question.scenario import Scenario
from peerlab.study.patience import MOST_SPANS, TooSlow, large, patient

PATIENCE_S = 0.15
"""Seconds that a user waits for a picture; a longer simulation goes on in the background."""
MOST_S = 3.0
"""Seconds that a background takes for a run which a picture can do without, such as another path's."""
_AT_ONCE_S = 0.05
"""A simulation that only a curve needs goes to a thread after so many seconds."""
_YIELD_S = 0.004
_TURNS = 8
"""So many turns of its loop a kernel takes from a message of the page to the change that it asks for."""


async def give_turns() -> None:
    """Let what the user has just done go first: a long sequence of short computations calls this between them."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


_MOST_BYTES = 32 * MIB
"""Of all runs that are kept. The spans of 30 nodes that differ are 25 to 90 MiB, those of nodes alike a hundredth: 200 of the one kind
would fill a machine that 200 of the other do not notice."""
_ALWAYS = 2
"""What is shown and what was shown before are kept whatever they hold."""


class Runs:
    """The most recent runs, by scenario."""

    def __init__(self, most: int = 200, most_bytes: int = _MOST_BYTES) -> None:
        # by cluster, too: its file may change
        self._kept: Latest[tuple[Scenario, Cluster], Run] = Latest(most, most_bytes, weight, _ALWAYS)

    def find(self, scenario: Scenario) -> Run | None:
        """Return the run of a scenario if it is known."""
        return self._kept.find((scenario, scenario.hardware))

    def keep(self, run: Run) -> Run:
        """Keep a run; if there are too many, or they hold too much, the oldest are dropped."""
        return self._kept.keep((run.scenario, run.scenario.hardware), run)

    def get(self, scenario: Scenario, patience_s: float = float("inf")) -> Run:
        """Return the run of a scenario, simulated if need be.

        Raises
        ------
        TooSlow
            If that takes longer than `patience_s`.
        """
        run = self.find(scenario)
        # It is known beforehand that nobody would wait so long.
        if run is None and patience_s < float("inf") and large(scenario):
            raise TooSlow("every transfer of every node")
        return run or self.keep(simulate(scenario, progress=patient(patience_s)))

    async def get_patiently(self, scenario: Scenario, most_s: float, most_spans: int = MOST_SPANS) -> Run:
        """Return the run of a scenario; a long simulation goes to a thread, so that a switch need not wait for it.

        Raises
        ------
        TooSlow
            If that takes longer than `most_s` of its thread's own time, or, on every machine alike, has more spans of every node than `most_spans`.
        """
        if self.find(scenario) is None and large(scenario, most_spans):
            raise TooSlow("every transfer of every node")
        try:
            return self.get(scenario, _AT_ONCE_S)
        except TooSlow:
            stop = threading.Event()
            try:
                run = await asyncio.to_thread(
                    lambda: simulate(scenario, progress=patient(most_s, stop, time.thread_time))
                )
            finally:
                stop.set()  # the thread ends soon after its caller is cancelled
            return self.keep(run)


class GivingWay:
    """Lets computations in threads wait while the user's own change needs the processor."""

    def __init__(self, rest_s: float) -> None:
        self._rest_s, self._until = rest_s, 0.0

    def rest(self) -> None:
        """Let them wait for a moment."""
        self._until = time.monotonic() + self._rest_s

    def progress(self, stop: threading.Event) -> Progress:
        """Return what a simulation reports to, so that whoever waits for the interpreter gets it, and that `stop` ends it."""

        def progress(_done: int, _total: int) -> None:
            stop.wait(_YIELD_S)
            while time.monotonic() < self._until and not stop.is_set():
                stop.wait(0.02)
            if stop.is_set():
                raise Cancelled("something else is wanted")

        return progress


_LONG_S = 3.0
"""A simulation that takes longer is forecast."""


def in_all(scenario: Scenario) -> str:
    """Say how long a simulation will take, behind a comma; nothing where that is short."""
    expected_s = forecast_s(scenario)
    return f", about {say_seconds(expected_s)} in all" if expected_s >= _LONG_S else ""


_LEAST_PART = 0.01
"""Less is no progress to tell: where a library sends all in one step, there is none before the end."""


def so_far(part: float, begun: float) -> str:
    """Say behind *Simulating* which part is done, or for how long it has run since `begun`, on the monotonic clock."""
    return (
        f", {say_percent(part)} done"
        if part >= _LEAST_PART
        else f" for {say_seconds(time.monotonic() - begun)}"
    )


class Background:
    """One simulation in a thread of its own; it reports in that thread."""

    def __init__(
        self,
        scenario: Scenario,
        on_progress: Callable[[float], None],
        on_end: Callable[[Run | PeerlabError], None],
    ) -> None:
        self.scenario = scenario
        self._on_progress, self._on_end = on_progress, on_end
        self._stop = threading.Event()
        self._told = 0.0
        try:
            threading.Thread(target=self._work, name="peerlab-simulate", daemon=True).start()
        except RuntimeError:  # where there are no threads, in a browser's Python, it is waited for
            self._work()

    def cancel(self) -> None:
        """Stop as soon as possible."""
        self._stop.set()

    def _work(self) -> None:
        try:
            end: Run | PeerlabError = simulate(self.scenario, progress=self._progress)
        except PeerlabError as problem:
            # its traceback leads to this frame, and this frame to it: all that was simulated would stay until the collector comes by
            end = problem.with_traceback(None)
        self._on_end(end)

    def _progress(self, done: int, total: int) -> None:
        if self._stop.is_set():
            raise Cancelled("stopped")
        # Five reports a second are enough for a page.
        if time.monotonic() - self._told > 0.2:
            self._told = time.monotonic()
            self._on_progress(done / max(total, 1))


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs; None where there is no page, so that nobody waits."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def call_in(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: Any) -> None:
    """Have an event loop call it, from another thread; not where the loop has ended, since no page is left to be told."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *arguments)
