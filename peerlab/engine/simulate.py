"""Chooses an engine, runs every iteration, and puts the trace together."""

# What a simulation is made of is made once. Plan and system are made first; which engine is the fastest,
# what each refuses and whether the caches end warm is asked of them. From `simulate` to its engine an
# AllReduce's default question walks 29 stays in 9 modules of engine and collectives
# (`tests/engine/test_made_once.py` counts).

from collections.abc import Callable
from functools import cache, partial

from peerlab.answer.run import Run
from peerlab.answer.trace import Iteration, Ran, Recording, Trace
from peerlab.base.checks import check_switch, checked_word
from peerlab.base.errors import ScenarioError, TooManySpansError
from peerlab.engine import recording
from peerlab.engine.arrays.ring_arrays import refuses
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.engine.compiled import refusals as compiled
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.registration_queue import Contents, RegistrationQueue
from peerlab.engine.system import System, least
from peerlab.engine.warm_cache import ends_warm
from peerlab.question.scenario import Scenario, checked_scenario

Engine = Callable[[System, RegistrationQueue, Progress | None], Recording]
"""Runs one iteration."""

ENGINES = ("auto", "referee", "loop", "arrays", "compiled")

MOST_OF_ALL = 10_000_000
"""Spans of a run that records every node, at most: about 2.5 GiB while it runs."""
_MOST_BY_ITSELF = 100_000_000
"""Spans for which ``auto`` takes the compiled loop, at most: it keeps a few nodes, but so many take a minute."""


def simulate(
    scenario: Scenario, engine: str = "auto", progress: Progress | None = None, *, every_node: bool = False
) -> Run:
    """Return the run of a scenario.

    Parameters
    ----------
    engine:
        ``referee``: SimPy, slow and plain; ``loop``: the fast loop, which leaves out steps that repeat; ``arrays``: all
        nodes of a ring at once, where the order in which resources serve is known; ``compiled``: the loop for a ring or a
        pairwise exchange on which nodes differ, as machine code, which needs numba (``pip install 'peerlab[compiled]'``); ``auto``: the fastest of them
        that gives exactly what the referee would.
    progress:
        Called with steps done and steps in all; may raise `peerlab.base.errors.Cancelled`.
    every_node:
        Whether the trace holds every device of every node, and every step. By default it holds the least that is exact: where all
        nodes do the same, one PCIe switch of one node; where only nodes differ, one PCIe switch of every node. Of more than
        300,000 spans it holds those of the slowest node (else of node 0) and of the nodes that exchange slices with it.

    Raises
    ------
    ScenarioError
        If it is no scenario, the engine is unknown or cannot run the scenario, or the collective takes longer than can be counted
        (106 days).

    >>> simulate(Scenario(path="peer-direct")).time_ps
    2541669584
    """
    checked_scenario(scenario)
    check_switch("every_node", every_node)
    checked_word("engine", engine, ENGINES)
    try:
        return _simulate(scenario, engine, progress, every_node=every_node)
    except OverflowError:
        raise _too_long() from None


def _simulate(scenario: Scenario, engine: str, progress: Progress | None, *, every_node: bool) -> Run:
    system = System(scenario, folded=False) if every_node else least(scenario)
    return simulate_system(system, engine, progress, every_node=every_node)


def _too_long() -> ScenarioError:
    return ScenarioError(
        "message_bytes", "on this cluster it takes longer than the simulation can count (106 days)"
    )


def simulate_one_of(
    scenario: Scenario, alike: int, engine: str = "auto", progress: Progress | None = None
) -> Run:
    """Simulate one of so many scenarios that differ little, as `simulate`: what has to be loaded is loaded once for all."""
    try:
        return simulate_system(least(scenario), engine, progress, alike=alike)
    except OverflowError:
        raise _too_long() from None


def simulate_system(
    system: System,
    engine: str = "auto",
    progress: Progress | None = None,
    *,
    every_node: bool = False,
    alike: int = 1,
) -> Run:
    """Return the run of a scenario that was made ready to run, one of so many `alike`."""
    if engine == "auto":
        engine = fastest(system, alike)
        if engine == "arrays":
            try:
                return _run(system, engine, progress, every_node=every_node)
            except OrderUnknownError:  # known only when it has run
                engine = of_events(system, alike)
        if engine == "compiled":
            try:
                return _run(system, engine, progress, every_node=every_node)
            except compiled.TimesMayNotFitError:  # known only when its tables are made
                engine = "loop"
    return _run(system, engine, progress, every_node=every_node)


def _run(system: System, engine: str, progress: Progress | None, *, every_node: bool) -> Run:
    scenario = system.scenario
    if engine == "compiled":
        _check_compiled(system)
    if engine in ("arrays", "compiled"):
        system = system.of_every_node()
    # the others keep the spans of a few nodes, where all are many
    keeps_all = engine in ("referee", "loop") or (engine == "compiled" and not compiled.keeps_few(system))
    if every_node or (keeps_all and not system.folded):
        refuse_too_many(system)
    engines: dict[str, Engine] = {
        "referee": recording.by_referee,
        "loop": partial(recording.by_loop, every_lane=every_node),
        "arrays": partial(recording.by_arrays, every_lane=every_node),
        "compiled": partial(recording.by_compiled, every_lane=every_node),
    }
    recorded = engines[engine]
    iterations: Callable[[], tuple[Iteration, ...]]
    # the last iteration, which is reported, then does not depend on those before it
    if engine != "referee" and ends_warm(scenario, system.plan.schedule):
        last = recorded(system, warm_queue(system), progress)
        iterations = cache(lambda: _with_cold_runs(system))  # simulated only if somebody asks
    else:
        ran = _iterate(system, lambda registration_queue: recorded(system, registration_queue, progress))
        last, iterations = ran[-1].recording, Ran(ran)
    return Run(scenario, trace(system, last, iterations), engine, simulate)


def _check_compiled(system: System) -> None:
    """Refuse what the compiled loop cannot run."""
    if not compiled.installed():
        raise ScenarioError("engine", "'compiled' needs numba: pip install 'peerlab[compiled]'")
    if compiled.broken():
        raise ScenarioError(
            "engine", f"'compiled' needs numba, which cannot be used: {compiled.broken()}; use 'auto'"
        )
    reason = compiled.refuses(system)
    if reason:
        raise ScenarioError("engine", f"'compiled' cannot run this: {reason}; use 'auto'")


def warm_queue(system: System) -> RegistrationQueue:
    """Return the registration queue of a scenario's last iteration, in which every request is a hit."""
    registration_queue = RegistrationQueue(system, warm=True)
    registration_queue.begin((system.scenario.runs - 1) % system.scenario.buffers)
    return registration_queue


def _with_cold_runs(system: System) -> tuple[Iteration, ...]:
    """Return every iteration. The loop runs them, because those that register queue for it."""
    if not system.folded:
        refuse_too_many(system)
    return _iterate(system, lambda registration_queue: recording.by_loop(system, registration_queue, None))


def trace(system: System, last: Recording, iterations: Callable[[], tuple[Iteration, ...]]) -> Trace:
    """Return the trace of a system's iterations."""
    hardware = system.scenario.hardware
    return Trace(
        resources=tuple(system.resources),
        last=last,
        all_iterations=iterations,
        folded=system.folded,
        one_switch=system.one_switch,
        nodes=system.plan.nodes,
        switches=hardware.numa_domains * hardware.switches_per_numa,
        devices_per_switch=hardware.devices_per_switch,
    )


def refuse_too_many(system: System, *, in_a_step: bool = False) -> None:
    """Refuse a run of which so many spans would be kept that memory may not suffice; an exchange `in_a_step` has no engine to choose.

    Raises
    ------
    TooManySpansError
        If they are more than ten million.
    """
    spans = recording.spans_of_all(system)
    if spans > MOST_OF_ALL:
        slow = compiled.installed() and not compiled.refuses(system) and compiled.keeps_few(system)
        by_compiled = (
            "; engine='compiled' keeps a few nodes, and takes minutes" if slow and not in_a_step else ""
        )
        raise TooManySpansError(
            "nodes",
            f"{system.scenario.nodes} nodes that differ make about {spans / 1e6:.0f} million spans, and {MOST_OF_ALL // 10**6} "
            "million can be kept; give fewer nodes, larger slices, or leave out what makes nodes differ"
            + by_compiled,
        )


def fastest(system: System, alike: int = 1) -> str:
    """Return the engine that ``auto`` chooses for a system: the least of its scenario, or every node of it."""
    if system.folded:
        return "loop"
    return of_events(system, alike) if refuses(system) else "arrays"


def of_events(system: System, alike: int = 1) -> str:
    """Return which loop ``auto`` chooses, where nodes differ and the order of service is not known beforehand.

    Machine code is loaded once for all runs `alike`, so that many small ones pay for it together.
    """
    if not compiled.installed():
        return "loop"
    spans = recording.spans_of_all(system.of_every_node() if system.folded else system)
    if not compiled.pays(spans * alike) or compiled.refuses(system):
        return "loop"
    most = _MOST_BY_ITSELF if compiled.keeps_few(system) else MOST_OF_ALL
    return "compiled" if spans <= most and not compiled.broken() else "loop"


def takes_every_node(system: System) -> bool:
    """Return whether each node is simulated, since they differ, and not as arrays; it takes seconds."""
    return not system.folded and bool(refuses(system))


def _iterate(system: System, run: Callable[[RegistrationQueue], Recording]) -> tuple[Iteration, ...]:
    """Run every iteration; iterations that begin with the same registrations are equal, and are run and recorded once."""
    registration_queue, entries = RegistrationQueue(system), dict[object, tuple[Recording, Contents]]()
    iterations: list[Iteration] = []
    begin = 0
    for index in range(system.scenario.runs):
        registration_queue.begin(index % system.scenario.buffers)
        state = (registration_queue.buffer_set, registration_queue.contents())
        # an iteration depends on nothing else of those before it
        if state not in entries:
            entries[state] = (run(registration_queue), registration_queue.contents())
        recording, after = entries[state]
        registration_queue.restore(after)
        iterations.append(Iteration(begin, recording))
        begin += recording.end_ps
    return tuple(iterations)
