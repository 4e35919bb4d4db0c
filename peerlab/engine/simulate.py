"""Chooses an engine, runs every iteration, and puts the trace together."""

from collections.abc import Callable
from functools import cache

from peerlab.analysis.run import Run
from peerlab.engine import recording
from peerlab.engine.arrays.ring_arrays import refuses
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.registration_queue import Contents, RegistrationQueue
from peerlab.engine.system import System, foldable
from peerlab.engine.warm_cache import ends_warm
from peerlab.errors import ScenarioError, nearest
from peerlab.model.scenario import Scenario
from peerlab.trace import Iteration, Ran, Recording, Trace

ENGINES = ("auto", "loop", "arrays", "loop-nodes", "loop-full", "simpy", "simpy-folded")

_MOST_OF_ALL = 10_000_000
"""Spans of a run that records every node, at most: about 2.5 GiB while it runs."""


def simulate(scenario: Scenario, engine: str = "auto", progress: Progress | None = None) -> Run:
    """Return the run of a scenario.

    Parameters
    ----------
    engine:
        ``loop``: the fast loop, folded, leaving out what repeats; ``arrays``: all nodes of a ring at once, where no
        two share a resource; ``loop-nodes``: one PCIe switch of every node; ``loop-full``: every node, every step;
        ``simpy``: the referee, every node, every step; ``simpy-folded``: the referee on one switch of one node;
        ``auto``: the first of these that gives exactly what the referee would.
    progress:
        Called with steps done and steps in all; may raise `peerlab.errors.Cancelled`.

    Raises
    ------
    ScenarioError
        If the engine cannot run the scenario, or takes longer than can be counted (106 days).
    """
    try:
        return _simulate(scenario, engine, progress)
    except OverflowError:
        raise ScenarioError(
            "message_bytes", "on this cluster it takes longer than the simulation can count (106 days)"
        ) from None


def _simulate(scenario: Scenario, engine: str, progress: Progress | None) -> Run:
    if engine not in ENGINES:
        raise ScenarioError("engine", f"unknown {engine!r}; {nearest(engine, ENGINES)}")
    if engine == "auto":
        engine = fastest(scenario)
    system = System(scenario, folded=engine in ("loop", "simpy-folded"), one_switch=engine == "loop-nodes")
    if engine != "arrays" and not system.folded:
        _refuse_too_many(system)
    run = {"simpy": recording.by_referee, "arrays": recording.by_arrays}.get(
        engine.partition("-")[0], recording.by_loop
    )
    iterations: Callable[[], tuple[Iteration, ...]]
    # the last iteration, which is reported, then does not depend on those before it
    if engine in ("loop", "arrays") and ends_warm(scenario):
        last = run(system, warm_queue(system), progress)
        iterations = cache(lambda: _with_cold_runs(system))  # simulated only if somebody asks
    else:
        ran = _iterate(system, lambda registration_queue: run(system, registration_queue, progress))
        last, iterations = ran[-1].recording, Ran(ran)
    return Run(scenario, trace(system, last, iterations), engine, simulate)


def warm_queue(system: System) -> RegistrationQueue:
    """Return the registration queue of a scenario's last iteration, in which every request is a hit."""
    registration_queue = RegistrationQueue(system, warm=True)
    registration_queue.begin((system.scenario.runs - 1) % system.scenario.buffers)
    return registration_queue


def _with_cold_runs(system: System) -> tuple[Iteration, ...]:
    """Return every iteration. The loop runs them, because those that register queue for it."""
    if not system.folded:
        _refuse_too_many(system)
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


def _refuse_too_many(system: System) -> None:
    spans = recording.spans_of_all(system)
    if spans > _MOST_OF_ALL:
        raise ScenarioError(
            "nodes",
            f"{system.scenario.nodes} nodes that differ make about {spans / 1e6:.0f} million spans, and {_MOST_OF_ALL // 10**6} "
            "million can be kept; give fewer nodes, larger slices, or leave out what makes nodes differ",
        )


def fastest(scenario: Scenario) -> str:
    """Return the engine that ``auto`` chooses."""
    # by how much has to be simulated: one switch, arrays of all nodes, one switch of each node, everything
    if foldable(scenario):
        return "loop"
    if not refuses(scenario):
        return "arrays"
    return "loop-full" if scenario.jitter or scenario.collective == "point-to-point" else "loop-nodes"


def _iterate(system: System, run: Callable[[RegistrationQueue], Recording]) -> tuple[Iteration, ...]:
    """Run every iteration; iterations that begin with the same registrations are equal, and are run and recorded once."""
    registration_queue, known = RegistrationQueue(system), dict[object, tuple[Recording, Contents]]()
    iterations: list[Iteration] = []
    begin = 0
    for index in range(system.scenario.runs):
        registration_queue.begin(index % system.scenario.buffers)
        state = (registration_queue.buffer_set, registration_queue.contents())
        # an iteration depends on nothing else of those before it
        if state not in known:
            known[state] = (run(registration_queue), registration_queue.contents())
        recording, after = known[state]
        registration_queue.restore(after)
        iterations.append(Iteration(begin, recording))
        begin += recording.end_ps
    return tuple(iterations)
