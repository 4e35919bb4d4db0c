"""What the compiled engine does not take, in words, and when it pays; asking loads no compiler."""

from functools import cache
from importlib.util import find_spec

from peerlab.collectives.plan import is_chain
from peerlab.engine.compiled.machine_code import on_disk
from peerlab.engine.system import System
from peerlab.engine.warm_cache import ends_warm
from peerlab.model.paths import PROXY
from peerlab.question.scenario import Scenario

MOST_VISITS = 60
"""Resources of one stage; one bit of an integer each."""
_PAYS = 100_000
"""Spans for which the loop takes a second; loading numba and the machine code takes half of one."""
_PAYS_TO_COMPILE = 3_000_000
"""Spans for which the loop takes longer than compiling, which takes fifteen seconds or more."""


def installed() -> bool:
    """Return whether numba, which compiles the loop, is installed."""
    return find_spec("numba") is not None


@cache
def broken() -> str:
    """Return why numba, which is installed, cannot be loaded, in its own words; empty if it can. Loading it takes a third of a second."""
    try:
        from peerlab.engine.compiled import compiling  # noqa: F401, PLC0415  (the one door to numba)
    except Exception as error:  # noqa: BLE001  (a numba that does not fit its NumPy raises errors of many types)
        return (str(error).splitlines() or [type(error).__name__])[0]
    return ""


def refuses(system: System) -> str:
    """Return why the compiled engine cannot say exactly what happens in a system; empty if it can."""
    scenario, schedule = system.scenario, system.plan.schedule
    if not schedule.is_ring or not is_chain(schedule):
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
    return _refuses_uses(scenario)


def _refuses_uses(scenario: Scenario) -> str:
    if any(use.kind == PROXY.kind for stage in scenario.stages for use in stage.uses):
        return "the library's proxy holds what its NIC sends"
    return "a stage has too many resources" if any(len(s.uses) > MOST_VISITS for s in scenario.stages) else ""


def pays(spans: int) -> bool:
    """Return whether a run of so many spans is over sooner than in the loop; without machine code on disk it begins with compiling."""
    return spans >= (_PAYS if on_disk() else _PAYS_TO_COMPILE)
