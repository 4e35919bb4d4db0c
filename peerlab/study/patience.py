"""Time limits of simulations that a user waits for, and which of them are too long to begin."""

import threading
import time

from peerlab.base.errors import Cancelled
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.recording import spans_of_all
from peerlab.engine.simulate import takes_every_node
from peerlab.engine.system import least
from peerlab.question.scenario import Scenario

_MOST_SPANS = 200_000
"""Spans that the full loop makes in five seconds."""


class TooSlow(Cancelled):
    """A simulation was given up because it takes longer than its caller wants to wait."""


def large(scenario: Scenario) -> bool:
    """Return whether simulating a scenario takes so long that nobody should wait for it."""
    system = least(scenario)
    # where one node stands for all, a thousand of them take no longer than eight
    return takes_every_node(system) and spans_of_all(system) > _MOST_SPANS


def patient(patience_s: float, stop: threading.Event | None = None) -> Progress:
    """Return a progress function that ends a simulation with `TooSlow` after so many seconds, or as soon as `stop` is set."""
    end = time.monotonic() + patience_s

    def progress(done: int, total: int) -> None:
        if stop and stop.is_set():
            raise Cancelled("stopped")
        if time.monotonic() > end:
            raise TooSlow(f"after {patience_s} s step {done} of {total} was reached")

    return progress
