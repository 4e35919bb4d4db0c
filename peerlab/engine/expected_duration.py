"""How long a simulation will take, before it begins."""

# What takes long is forecast. `engine/expected_duration` divides the spans of a scenario by those that its
# engine makes in a second, before anything is simulated; where one node stands for all it says nothing, as
# nobody knows how soon the steps repeat. A pairwise exchange with one slow node is run by events, because
# no step waits for another there, and receivers meet the slow node's slices out of order: 6 million spans
# on 512 nodes, minutes in the loop and seconds as machine code.

from peerlab.engine.compiled import refusals as compiled
from peerlab.engine.recording import spans_of_all
from peerlab.engine.simulate import MOST_OF_ALL, fastest
from peerlab.engine.system import least
from peerlab.engine.warm_cache import ends_warm
from peerlab.question.scenario import Scenario

_SPANS_PER_S = {"loop": 40_000, "arrays": 4_000_000, "compiled": 4_000_000}
"""Spans that an engine makes in a second on one core, to within a factor of two (bench/engines.py)."""
_FLOWS_PER_S = 240_000
"""Spans of the loop over a contended fabric where each node sends to one other, without noise: a flow is served once and has a span for each of its links."""
_COMPILES_S = 12
"""What making machine code takes where none is on disk."""


def forecast_s(scenario: Scenario, *, engine: str = "auto", in_a_step: bool = False, alike: int = 1) -> float:
    """Return about how many seconds a simulation takes; 0 where one node stands for all: there, steps that repeat are left out.

    `engine`: which one runs it, as for `simulate`. `in_a_step`: whether it is an exchange of a step that nodes begin apart, so that none stands for all.
    `alike`: how many such runs there are; each has its share of what is loaded or compiled once.
    """
    system = least(scenario)
    if in_a_step:
        system = system.of_every_node()
    if system.folded:
        return 0.0
    spans = spans_of_all(system)
    if engine == "auto":
        engine = fastest(system, alike)
    # nodes of a step may begin apart, which the compiled loop runs of rings alone
    line = not compiled.keeps_few(system)
    if in_a_step and line and engine == "compiled" and spans <= MOST_OF_ALL:
        engine = "loop"
    iterations = 1 if ends_warm(scenario, system.plan.schedule) else scenario.runs
    before = _COMPILES_S if engine == "compiled" and compiled.compiles_first() else 0
    flows = scenario.fabric.contended and system.plan.schedule.is_ring and not scenario.noise
    rate = _FLOWS_PER_S if engine == "loop" and flows else _SPANS_PER_S[engine]
    return before / alike + iterations * spans / rate


def makes_too_many(scenario: Scenario) -> bool:
    """Return whether the loop would run every node, and has more spans than can be kept: it refuses."""
    system = least(scenario)
    return not system.folded and fastest(system) == "loop" and spans_of_all(system) > MOST_OF_ALL


def offer(scenario: Scenario) -> str:
    """Return what would make a simulation faster; empty if nothing is known to."""
    system = least(scenario)
    if system.folded or fastest(system) != "loop" or compiled.installed() or compiled.refuses(system):
        return ""
    if makes_too_many(scenario) and not compiled.keeps_few(system):
        return ""  # with numba it would be refused as well
    return "numba simulates this in a fraction of the time: pip install 'peerlab[compiled]'"
