"""Time limits of simulations that a user waits for, and which of them are too long to begin."""

import threading
import time
from collections.abc import Callable

from peerlab.base.errors import Cancelled, TooManySpansError
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.recording import spans_kept, spans_of_all
from peerlab.engine.simulate import takes_every_node
from peerlab.engine.system import least
from peerlab.question.scenario import Scenario

MOST_SPANS = 200_000
"""Spans that the full loop makes in five seconds."""
_MOST_SHOWN = 300_000
"""Spans of a run that an explorer shows: it holds that of the run before, too, and those of the next one while it is simulated."""


class TooSlow(Cancelled):
    """A simulation was given up because it takes longer than its caller wants to wait."""


def large(scenario: Scenario, most_spans: int = MOST_SPANS) -> bool:
    """Return whether simulating a scenario takes so long that nobody should wait for it: more than so many spans of every node."""
    system = least(scenario)
    # where one node stands for all, a thousand of them take no longer than eight
    return takes_every_node(system) and spans_of_all(system) > most_spans


def refuse_too_many_to_show(scenario: Scenario) -> None:
    """Refuse a scenario of which a notebook's kernel would have to keep more than its memory is meant for.

    Raises
    ------
    TooManySpansError
        If that is so.
    """
    system = least(scenario)
    if system.folded:
        return
    spans = spans_kept(system)
    if spans > _MOST_SHOWN:
        raise TooManySpansError(
            "nodes",
            f"{scenario.nodes} nodes that differ leave about {round(spans, -4):,} spans to keep, and the explorer keeps "
            f"{_MOST_SHOWN:,} (a kernel of 400 MiB); give fewer nodes, larger slices, or leave out what makes nodes differ; "
            "peerlab simulate answers more",
        )


def patient(
    patience_s: float, stop: threading.Event | None = None, clock: Callable[[], float] = time.monotonic
) -> Progress:
    """Return a progress function that ends a simulation with `TooSlow` after so many seconds of a clock, or as soon as `stop` is set."""
    end = clock() + patience_s

    def progress(done: int, total: int) -> None:
        if stop and stop.is_set():
            raise Cancelled("stopped")
        if clock() > end:
            raise TooSlow(f"after {patience_s} s step {done} of {total} was reached")

    return progress
