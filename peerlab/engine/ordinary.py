"""A run in which some part had been ordinary: what it would have taken. That is how much of a delay the part explains."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from math import exp

from peerlab.base.errors import ScenarioError
from peerlab.base.numbers import np
from peerlab.engine import jitter, recording
from peerlab.engine.noise_draws import USUAL_SIGMAS, Whole
from peerlab.engine.simulate import warm_queue
from peerlab.engine.system import System
from peerlab.engine.warm_cache import ends_warm
from peerlab.question.scenario import Scenario

Way = tuple[int, int]
"""The node that sends, and the one that receives."""


@dataclass(eq=False)
class OrdinarySystem(System):
    """A system in which the slices of some ways meet no more noise than nineteen of twenty do, and no detour."""

    ways: Collection[Way] = ()
    """Their sending and receiving nodes."""

    def _mine(self, step: int) -> list[int]:
        lanes = range(len(self.lanes))
        ends = {lane: (self.lanes[lane].node, self.receiver(lane, step)) for lane in lanes}
        return [
            lane for lane, (node, to) in ends.items() if to >= 0 and (node, self.lanes[to].node) in self.ways
        ]

    @cached_property
    def factors(self) -> jitter.Factors | None:
        """Factors on service times, those of the ways cut."""
        drawn = super().factors
        if drawn is None:
            return None
        sigma = self.scenario.jitter
        values = drawn.copy()
        for step in range(len(values)):
            mine = self._mine(step)
            values[step][..., mine] = np.minimum(
                values[step][..., mine], exp(USUAL_SIGMAS * sigma - sigma**2 / 2)
            )
        return values

    @cached_property
    def detours(self) -> Whole | None:
        """How long slices are held up; those of the ways are not."""
        drawn = super().detours
        if drawn is None:
            return None
        values = drawn.copy()
        for step in range(len(values)):
            values[step][..., self._mine(step)] = 0
        return values


def time_if_ordinary(scenario: Scenario, ways: Collection[Way], nodes: Collection[int] = ()) -> int:
    """Return how long a scenario would take, picoseconds, had some ways and nodes been ordinary.

    Raises
    ------
    ScenarioError
        If it cannot be told: transfers queue for registration, or links of the fabric are shared.
    """
    slow = {node: share for node, share in (scenario.slow_nodes or {}).items() if node not in nodes}
    asked = scenario.with_(slow_nodes=slow or None)
    system = OrdinarySystem(asked, folded=False, one_switch=False, ways=ways)
    system.ordinary_nodes = frozenset(nodes)
    if asked.registers and not ends_warm(asked, system.plan.schedule):
        raise ScenarioError(
            "registration", "who is to blame is not told where transfers queue for registration; give 'pool'"
        )
    if asked.fabric.contended:
        raise ScenarioError(
            "cluster", "who is to blame is not told where transfers share links of the fabric"
        )
    return recording.by_loop(system, warm_queue(system), None, repeats=False).end_ps
