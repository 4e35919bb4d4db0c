"""The referee while it runs, in words: a line when a slice queues, begins and leaves, for whoever stops it in a debugger.

The lines go to the logger ``peerlab.referee``, which is silent unless its level is DEBUG::

    logging.basicConfig(format="%(message)s")
    logging.getLogger("peerlab.referee").setLevel(logging.DEBUG)
    peerlab.simulate(nodes=2, message_bytes="64 KiB", engine="referee")
"""

import logging

from peerlab.base.units import PS_PER_US
from peerlab.engine.referee.simpy_resources import Clock, Key
from peerlab.engine.system import System

_LOGGER = logging.getLogger("peerlab.referee")


class EventLog:
    """Says what happens to slices at the instant at which it happens."""

    def __init__(self, system: System, clock: Clock) -> None:
        self._system, self._clock = system, clock
        # asked once: a run has some hundred thousand events
        self._on = _LOGGER.isEnabledFor(logging.DEBUG)

    def note(self, key: Key, happens: str, resource: int = -1) -> None:
        """Write a line: a resource *begins*, or what a slice (step, piece and lane) does."""
        if not self._on:
            return
        step, piece, lane = key
        sender = self._system.lanes[lane]
        moving = f"slice {piece} of step {step} of device {sender.device}"
        if resource >= 0:
            line = f"{self._system.resources[resource].in_words} {happens} {moving}"
        else:
            line = f"{moving} of node {sender.node} {happens}"
        _LOGGER.debug("%.1f µs: %s", self._clock.now / PS_PER_US, line)
