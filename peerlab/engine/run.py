"""Chooses an engine, runs every iteration, and puts the trace together."""

from collections.abc import Callable
from functools import cache

from peerlab.engine import record
from peerlab.engine.arrays import refuses
from peerlab.engine.desk import Contents, Desk
from peerlab.engine.loop import Progress
from peerlab.engine.warm_cache import ends_warm
from peerlab.engine.world import World, foldable
from peerlab.errors import ScenarioError, nearest
from peerlab.model.scenario import Scenario
from peerlab.run import Run
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
    world = World(scenario, folded=engine in ("loop", "simpy-folded"), one_switch=engine == "loop-nodes")
    if engine != "arrays" and not world.folded:
        _refuse_too_many(world)
    run = {"simpy": record.by_referee, "arrays": record.by_arrays}.get(
        engine.partition("-")[0], record.by_loop
    )
    iterations: Callable[[], tuple[Iteration, ...]]
    if engine in ("loop", "arrays") and ends_warm(scenario):
        last = run(world, warm_desk(world), progress)
        iterations = cache(lambda: _with_cold_runs(world))  # nobody may ever ask for them
    else:
        ran = _iterate(world, lambda desk: run(world, desk, progress))
        last, iterations = ran[-1].recording, Ran(ran)
    return Run(scenario, trace(world, last, iterations), engine, simulate)


def warm_desk(world: World) -> Desk:
    """Return the registration of a scenario's last iteration, where all that it asks for was registered before."""
    desk = Desk(world, warm=True)
    desk.begin((world.scenario.runs - 1) % world.scenario.buffers)
    return desk


def _with_cold_runs(world: World) -> tuple[Iteration, ...]:
    """Return every iteration, those that register by the loop: they queue for it."""
    if not world.folded:
        _refuse_too_many(world)
    return _iterate(world, lambda desk: record.by_loop(world, desk, None))


def trace(world: World, last: Recording, iterations: Callable[[], tuple[Iteration, ...]]) -> Trace:
    """Return the trace of a world's iterations."""
    machine = world.scenario.hardware
    return Trace(
        resources=tuple(world.resources),
        last=last,
        all_iterations=iterations,
        folded=world.folded,
        one_switch=world.one_switch,
        nodes=world.plan.nodes,
        switches=machine.numa_domains * machine.switches_per_numa,
        devices_per_switch=machine.devices_per_switch,
    )


def _refuse_too_many(world: World) -> None:
    spans = record.spans_of_all(world)
    if spans > _MOST_OF_ALL:
        raise ScenarioError(
            "nodes",
            f"{world.scenario.nodes} nodes that differ make about {spans / 1e6:.0f} million spans, and {_MOST_OF_ALL // 10**6} "
            "million can be kept; give fewer nodes, larger slices, or leave out what makes nodes differ",
        )


def fastest(scenario: Scenario) -> str:
    """Return the engine that ``auto`` chooses."""
    if foldable(scenario):
        return "loop"
    if not refuses(scenario):
        return "arrays"
    return "loop-full" if scenario.jitter or scenario.collective == "point-to-point" else "loop-nodes"


def _iterate(world: World, run: Callable[[Desk], Recording]) -> tuple[Iteration, ...]:
    """Run every iteration; what begins with the same registrations goes the same way, and is recorded once."""
    desk, known = Desk(world), dict[object, tuple[Recording, Contents]]()
    iterations: list[Iteration] = []
    begin = 0
    for index in range(world.scenario.runs):
        desk.begin(index % world.scenario.buffers)
        state = (desk.buffer_set, desk.contents())
        if state not in known:
            known[state] = (run(desk), desk.contents())
        recording, after = known[state]
        desk.restore(after)
        iterations.append(Iteration(begin, recording))
        begin += recording.end_ps
    return tuple(iterations)
