"""A ring in which single transfers are held up: how much later it ends, simulated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from peerlab.base.numbers import np
from peerlab.engine import recording
from peerlab.engine.noise_draws import Whole
from peerlab.engine.simulate import simulate, warm_queue
from peerlab.engine.system import System
from peerlab.question.scenario import Scenario

BLOCKING, PIPELINED = "step", "slice"
"""What a transfer waits for: that of both neighbours in the step before, or the data that it passes on."""
RING = Scenario(cluster="ideal-100g", nodes=8, message_bytes="64 MiB")
_PS_PER_US = 10**6
_SELDOM = 1e-12
"""A rate of detours that is not none: a system looks for those that it has."""
Late = Mapping[tuple[int, int], float]
"""By step and sending node: how much longer a transfer takes, microseconds."""


@dataclass(eq=False)
class HeldUpSystem(System):
    """A system of a ring in which these transfers, and no others, are held up."""

    late: Late = field(default_factory=dict)

    @cached_property
    def detours(self) -> Whole:
        """How long each slice is held up, picoseconds: the first of a transfer that is late, at its first stage."""
        places = self.noise_places
        delays = np.zeros((places.steps, places.pieces, places.stages, len(self.lanes)), np.int64)
        for (step, node), microseconds in self.late.items():
            delays[step, 0, 0, node] = round(microseconds * _PS_PER_US)
        return delays


def later_us(late: Late, dependency: str = BLOCKING, ring: Scenario = RING) -> float:
    """Return how much later a ring ends, microseconds, in which these transfers are held up.

    >>> later_us({(7, 3): 250})
    250.0
    """
    asked = ring.with_(dependency=dependency)
    system = HeldUpSystem(asked.with_(detours=_SELDOM), folded=False, late=late)
    ends = recording.by_loop(system, warm_queue(system), None, repeats=False).end_ps
    return (ends - simulate(asked).time_ps) / _PS_PER_US
