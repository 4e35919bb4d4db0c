"""Chooses an engine, runs every iteration, and puts the trace together."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from peerlab.collectives.plan import is_chain
from peerlab.engine.arrays import Batch, refuses
from peerlab.engine.desk import KIND, Contents, Desk
from peerlab.engine.loop import Loop, Progress
from peerlab.engine.repeat import Repeats
from peerlab.engine.scaleup import Exchange, Finished, broadcast_rows, exchange, gather_rows
from peerlab.engine.world import World, foldable
from peerlab.errors import ScenarioError, nearest
from peerlab.model.scenario import Scenario
from peerlab.run import Run
from peerlab.trace import (
    REGISTRATION_COLUMNS,
    SPAN_COLUMNS,
    Block,
    Columns,
    Iteration,
    Later,
    Ran,
    Recording,
    Trace,
    freeze,
    unroll,
)

ENGINES = ("auto", "loop", "arrays", "loop-nodes", "loop-full", "simpy", "simpy-folded")


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
    if engine != "arrays" and not world.folded and _spans(world) > _MOST_OF_ALL:
        raise ScenarioError(
            "nodes",
            f"{scenario.nodes} nodes that differ make about {_spans(world) / 1e6:.0f} million spans, and {_MOST_OF_ALL // 10**6} "
            "million can be kept; give fewer nodes, larger slices, or leave out what makes nodes differ",
        )
    record = {"simpy": _referee, "arrays": _arrays}.get(engine.partition("-")[0], _loop)
    warm = Desk(world, warm=True)
    iterations: Callable[[], tuple[Iteration, ...]]
    if engine == "loop" and _ends_warm(world, warm):
        warm.begin((scenario.runs - 1) % scenario.buffers)
        last = record(world, warm, progress)
        # nobody may ever ask for the cold runs
        iterations = cache(lambda: _iterate(world, lambda desk: record(world, desk, None)))
    else:
        ran = _iterate(world, lambda desk: record(world, desk, progress))
        last, iterations = ran[-1].recording, Ran(ran)
    machine = scenario.hardware
    trace = Trace(
        resources=tuple(world.resources),
        last=last,
        all_iterations=iterations,
        folded=world.folded,
        one_switch=world.one_switch,
        nodes=world.plan.nodes,
        switches=machine.numa_domains * machine.switches_per_numa,
        devices_per_switch=machine.devices_per_switch,
    )
    return Run(scenario, trace, engine, simulate)


def fastest(scenario: Scenario) -> str:
    """Return the engine that ``auto`` chooses."""
    if foldable(scenario):
        return "loop"
    if not refuses(scenario):
        return "arrays"
    return "loop-full" if scenario.jitter or scenario.collective == "point-to-point" else "loop-nodes"


def _ends_warm(world: World, desk: Desk) -> bool:
    """Return whether the last iteration finds all its memory registered, whatever happened before."""
    s = world.scenario
    kept = s.registers and s.registration == "cached" and not desk.may_evict()
    return kept and s.runs > s.buffers and is_chain(world.plan.schedule)


def _iterate(world: World, record: Callable[[Desk], Recording]) -> tuple[Iteration, ...]:
    """Run every iteration; what begins with the same registrations goes the same way, and is recorded once."""
    desk, known = Desk(world), dict[object, tuple[Recording, Contents]]()
    iterations: list[Iteration] = []
    begin = 0
    for index in range(world.scenario.runs):
        desk.begin(index % world.scenario.buffers)
        state = (desk.buffer_set, desk.contents())
        if state not in known:
            known[state] = (record(desk), desk.contents())
        recording, after = known[state]
        desk.restore(after)
        iterations.append(Iteration(begin, recording))
        begin += recording.end_ps
    return tuple(iterations)


def _loop(world: World, desk: Desk, progress: Progress | None) -> Recording:
    traffic = exchange(world) if world.plan.exchanges else None
    own = traffic.ready.tolist() if traffic and world.plan.collects else None
    loop = Loop(world, desk, own, progress)
    watch = None
    if world.folded and loop.chain and not desk.may_evict():
        watch = Repeats(_gather_period(traffic, len(world.chunk_sizes)) if traffic else None)
    loop.run(watch)
    skips = watch.skips if watch else []
    spans = _spans_of(world, loop.rows, [skip.spans for skip in skips])
    events = _events_of(world, loop, [skip.events for skip in skips])
    end = loop.end + sum(skip.spans.repeats * skip.spans.period_ps for skip in skips)
    if traffic:
        more, last = _scaleup_rows(world, traffic, loop.finished, [skip.finished for skip in skips])
        spans = np.concatenate([spans, *more])
        end = max(end, last)
    return Recording(
        spans=_columns(SPAN_COLUMNS, spans),
        blocks=tuple(skip.spans for skip in skips),
        registrations=_columns(REGISTRATION_COLUMNS, events),
        registration_blocks=tuple(skip.events for skip in skips),
        end_ps=end,
        counters=desk.counters(),
        chunks=world.plan.schedule.chunks,
    )


def _gather_period(traffic: Exchange, pieces: int) -> int | None:
    """Return the time between the contributions to two chunks, or None where it varies."""
    if len(traffic.ready) < 2 * pieces:
        return None
    between = np.diff(traffic.ready.reshape(-1, pieces), axis=0)
    return int(between[0, 0]) if (between == between[0, 0]).all() else None


def _columns(names: Sequence[str], rows: NDArray[np.int64]) -> Columns:
    return freeze({name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(names)})


def _array(rows: Sequence[tuple[int, ...]], width: int) -> NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, width)


def _decoded(
    world: World, ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return step, slice and lane of slice ids."""
    rest, lane = np.divmod(ids, len(world.lanes))
    step, piece = np.divmod(rest, world.pieces)
    return step, piece, lane


def _later(blocks: list[Block], step: NDArray[np.int64], *times: NDArray[np.int64]) -> None:
    """Move what was recorded after a skip to where it belongs, in place."""
    for block in blocks:
        step[block.last :] += block.repeats * block.period_steps
        for values in times:
            values[block.last :] += block.repeats * block.period_ps


def _owners(world: World, lane: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    nodes, devices = (
        np.array([getattr(way, name) for way in world.lanes], np.int64) for name in ("node", "device")
    )
    return nodes[lane], devices[lane]


def _spans_of(world: World, rows: Sequence[tuple[int, ...]], blocks: list[Block]) -> NDArray[np.int64]:
    ids, stage, resource, queued, start, end, nbytes = _array(rows, 7).T.copy()
    step, piece, lane = _decoded(world, ids)
    _later(blocks, step, queued, start, end)
    piece[np.isin(stage, world.registration_stages)] = -1
    node, device = _owners(world, lane)
    return np.column_stack([node, device, step, piece, stage, resource, queued, start, end, nbytes])


def _events_of(world: World, loop: Loop, blocks: list[Block]) -> NDArray[np.int64]:
    flat = [
        (x, nic, e.kind, side, e.position, e.nbytes, start, end)
        for x, nic, side, e, start, end in loop.events
    ]
    ids, nic, kind, side, position, nbytes, start, end = _array(flat, 8).T.copy()
    step, lane = np.divmod(ids, len(world.lanes))
    _later(blocks, step, start, end)
    # a region that was registered before a skip and released after it belongs to its step, not to the loop's
    if blocks:
        chunks = world.plan.schedule.chunks
        of_step = np.where((side == 0) & (step == 0), -1, (step + side) % chunks)
        position = np.where(kind == KIND["evict"], position, of_step)
    node, device = _owners(world, lane)
    return np.column_stack([node, nic, device, step, kind, side, position, nbytes, start, end])


def _scaleup_rows(
    world: World,
    traffic: Exchange,
    finished: Sequence[tuple[int, ...]],
    blocks: list[Block],
    lanes: Sequence[int] | None = None,
) -> tuple[list[NDArray[np.int64]], int]:
    """Return the spans inside the nodes and when the last of them is over."""
    plan = world.plan
    ids, owner, at = _array(finished, 3).T.copy()
    step, piece, _ = _decoded(world, ids)
    _later(blocks, step, at)
    final = unroll({"step": step, "slice": piece, "lane": owner, "end": at}, blocks)
    nbytes = _sizes_of(world, final["step"])
    rows, last = [], int(traffic.ready[-1])
    for index in range(len(world.lanes)) if lanes is None else lanes:
        if plan.collects:
            rows += gather_rows(world, index, traffic)
        if not plan.hands_out:
            continue
        mine = final["lane"] == index
        done = Finished(final["step"][mine], final["slice"][mine], nbytes[mine], final["end"][mine])
        if plan.schedule.steps == 0 or not plan.adds:
            done = _with_own(world, traffic, done)
        more, end = broadcast_rows(world, index, traffic, done)
        rows.append(more)
        last = max(last, end)
    return rows, last


def _sizes_of(world: World, step: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bytes of slices of these steps; those of one step are equal."""
    steps, which = np.unique(step, return_inverse=True)
    return np.array([world.sizes(s)[0] for s in steps.tolist()], np.int64)[which]


def _with_own(world: World, traffic: Exchange, done: Finished) -> Finished:
    """Return what is finished with what is so without the ring: one node's sums, an allgather's own chunk."""
    sizes = np.array(world.chunk_sizes, np.int64)
    pieces = np.arange(len(sizes))
    if world.plan.schedule.steps == 0:
        return Finished(np.zeros_like(pieces), pieces, sizes, traffic.ready)
    return Finished(
        np.concatenate([np.full_like(pieces, -1), done.step]),
        np.concatenate([pieces, done.piece]),
        np.concatenate([sizes, done.nbytes]),
        np.concatenate([np.zeros_like(pieces), done.at]),
    )


_MOST_OF_ALL = 10_000_000
"""Spans of a run that records every node, at most: about 2.5 GiB while it runs."""
_MOST_SPANS = 600_000
"""Of an array run with more, only a node and its neighbours are recorded."""


def _arrays(world: World, desk: Desk, progress: Progress | None) -> Recording:
    s, none = world.scenario, np.zeros((0, len(REGISTRATION_COLUMNS)), np.int64)
    kept = _kept(world)
    few = len(kept) < len(
        world.lanes
    )  # so few that they are kept at once; else another run does, if anybody asks
    batch = Batch(world, [s.seed], [s.jitter], kept if few else ())
    end = int(batch.run(progress)[0])
    batch.meet()
    return Recording(
        spans=_recorded(world, batch) if few else Later(lambda: _recorded(world, _again(world, kept))),
        blocks=(),
        registrations=_columns(REGISTRATION_COLUMNS, none),
        registration_blocks=(),
        end_ps=end,
        counters=desk.counters(),
        chunks=world.plan.schedule.chunks,
    )


def _kept(world: World) -> tuple[int, ...]:
    """Return the lanes whose spans are recorded: all, or those of the slowest node (else node 0) and its neighbours."""
    s, nodes = world.scenario, world.plan.nodes
    if _spans(world) <= _MOST_SPANS:
        return tuple(range(len(world.lanes)))
    shown = min(range(nodes), key=lambda node: (s.node_speed(node), node))
    near = {(shown + step) % nodes for step in (-1, 0, 1)}
    return tuple(lane for lane, one in enumerate(world.lanes) if one.node in near)


def _spans(world: World) -> int:
    """Return about how many spans all lanes together have."""
    visits = sum(len(stage.uses) + bool(stage.flight) for stage in world.scenario.stages) + 1
    return world.plan.schedule.steps * world.pieces * visits * len(world.lanes)


def _again(world: World, kept: tuple[int, ...]) -> Batch:
    batch = Batch(world, [world.scenario.seed], [world.scenario.jitter], kept)
    batch.run()
    return batch


def _recorded(world: World, batch: Batch) -> Columns:
    """Return the spans that an array run has kept."""
    rows = np.concatenate(batch.rows) if batch.rows else np.zeros((0, 9), np.int64)
    node, device = _owners(world, rows[:, 0])
    spans = [np.column_stack([node, device, rows[:, 1:]])]
    if world.plan.exchanges:
        finished = [tuple(row) for block in batch.finished for row in block.tolist()]
        traffic = batch.traffic or exchange(world)
        spans += _scaleup_rows(world, traffic, finished, [], batch.keep)[0]
    return _columns(SPAN_COLUMNS, np.concatenate(spans))


def _referee(world: World, desk: Desk, progress: Progress | None) -> Recording:
    from peerlab.engine.events import Referee  # noqa: PLC0415  (SimPy is loaded only where it is asked for)

    del progress
    referee = Referee(world, desk)
    referee.run()
    return Recording(
        spans=_columns(SPAN_COLUMNS, _array(referee.spans, len(SPAN_COLUMNS))),
        blocks=(),
        registrations=_columns(REGISTRATION_COLUMNS, _array(referee.events, len(REGISTRATION_COLUMNS))),
        registration_blocks=(),
        end_ps=referee.end,
        counters=desk.counters(),
        chunks=world.plan.schedule.chunks,
    )
