"""What the compiled engine does not take, in words, and when it pays; asking loads no compiler."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from peerlab.base.errors import ScenarioError
from peerlab.collectives.plan import is_chain, overlaps
from peerlab.engine.compiled.machine_code import on_disk
from peerlab.engine.legs import Leg
from peerlab.engine.loop.adding_up import ADDS, is_alone
from peerlab.engine.loop.waiting_line import waits_for_sums
from peerlab.engine.system import System
from peerlab.engine.warm_cache import ends_warm
from peerlab.model.paths import PROXY
from peerlab.question.scenario import Scenario

MOST_VISITS = 60
"""Resources of one stage; one bit of an integer each."""
_PAYS = 100_000
"""Spans for which the loop takes a second; loading numba and the machine code takes half of one."""
_PAYS_TO_COMPILE = 1_500_000
"""Spans for which the loop takes longer than compiling, which takes twelve seconds."""


class TimesMayNotFitError(ScenarioError):
    """Times may need more than 64 bits; the other engines count on."""


def installed() -> bool:
    """Return whether numba, which compiles the loop, is installed."""
    return find_spec("numba") is not None


@cache
def broken() -> str:
    """Return why numba, which is installed, cannot be used, if need be in its own words; empty if it can. Loading it takes a third of a second."""
    try:
        from peerlab.engine.compiled import compiling  # noqa: PLC0415  (the one door to numba)
    except Exception as error:  # noqa: BLE001  (a numba that does not fit its NumPy raises errors of many types)
        return (str(error).splitlines() or [type(error).__name__])[0]
    # as Python the loop would be slower than the one that it copies, and NumPy's records have other fields than numba's
    return "NUMBA_DISABLE_JIT is set" if compiling.switched_off() else ""


def refuses(system: System) -> str:
    """Return why the compiled engine cannot say exactly what happens in a system; empty if it can."""
    scenario, schedule = system.scenario, system.plan.schedule
    if not overlaps(schedule) and (not schedule.is_ring or not is_chain(schedule)):
        hops = "the hops of the library's ring or tree are one flight after the other, not steps"
        return hops if scenario.choice else "it is no ring"
    if scenario.blocking:
        return "its steps block"
    if scenario.registers and not ends_warm(scenario, schedule):
        return "transfers queue for registration"
    if scenario.fabric.contended:
        return "transfers contend for links of the fabric"
    if not all(stage.uses for stage in scenario.stages):
        return "a stage takes no time"
    return _refuses_uses(scenario) or (overlaps(schedule) and _refuses_line(system)) or ""


def keeps_few(system: System) -> bool:
    """Return whether of many spans those of a node and its neighbours are kept; in a line all nodes are neighbours."""
    return not overlaps(system.plan.schedule)


def _refuses_line(system: System) -> str:
    """Return why slices do not stand in line, or not each with a way that its two ends alone decide; empty if they do."""
    scenario, schedule = system.scenario, system.plan.schedule
    if scenario.noise.tick_period_ps:
        return "nodes of a pairwise exchange stand still"
    if scenario.slow_links:
        return "a link between two nodes is slow, and whom a node sends to changes"
    if any(schedule.turn(step) for step in range(min(schedule.steps, system.plan.devices))):
        return "whom a device sends to changes within a node"
    if not waits_for_sums(system) or (scenario.registers and scenario.prefetch):
        return "slices of a pairwise exchange wait for more than a place"
    legs = system.legs(0, 0, plain=True)[0]
    way, added = ([leg for leg in legs if (leg.stage == ADDS) == adds] for adds in (False, True))
    if len(added) != bool(schedule.reducing_steps) or not all(_adds_alone(system, leg, way) for leg in added):
        return "adding up shares a resource"
    return "" if _holds_a_place(system, way) else "a slice holds no place on its way"


def _adds_alone(system: System, adds: Leg, way: Sequence[Leg]) -> bool:
    kinds = {system.resources[visit.resource].kind for leg in way for visit in leg.visits}
    return is_alone(system, adds) and system.resources[adds.visits[0].resource].kind not in kinds


def _holds_a_place(system: System, way: Sequence[Leg]) -> bool:
    """Return whether a slice holds a place from the first leg to the last, the first of its own lane's and of a kind of its own."""
    names, held = {index: pool for pool, index in system.pools.items()}, set[int]()
    for number, leg in enumerate(way):
        held |= {leg.acquire} - {-1}
        held -= {leg.release}
        if number < len(way) - 1 and not held:
            return False
    if way[0].acquire < 0:
        return False
    (kind, *end), sender = names[way[0].acquire], system.lanes[0]
    others = {names[leg.acquire][0] for leg in way[1:] if leg.acquire >= 0}
    return end == [sender.node, sender.device] and kind not in others


def _refuses_uses(scenario: Scenario) -> str:
    if any(use.kind == PROXY.kind for stage in scenario.stages for use in stage.uses):
        return "the library's proxy holds what its NIC sends"
    return "a stage has too many resources" if any(len(s.uses) > MOST_VISITS for s in scenario.stages) else ""


def compiles_first() -> bool:
    """Return whether a run begins with making its machine code."""
    return not on_disk()


def pays(spans: int) -> bool:
    """Return whether a run of so many spans is over sooner than in the loop; without machine code on disk it begins with compiling."""
    return spans >= _PAYS_TO_COMPILE or (spans >= _PAYS and on_disk())
