"""One iteration, by each engine: what it has noted, as a recording."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from peerlab.collectives.plan import neighbours
from peerlab.engine.arrays import Batch
from peerlab.engine.desk import Desk
from peerlab.engine.loop import Loop, Progress
from peerlab.engine.repeat import Repeats, Skip
from peerlab.engine.rows import array, columns, events_of, owners, scaleup_rows, spans_of
from peerlab.engine.scaleup import Exchange, exchange
from peerlab.engine.world import World
from peerlab.model.disturbance import slowest
from peerlab.trace import REGISTRATION_COLUMNS, SPAN_COLUMNS, Columns, Later, Recording

_MOST_SPANS = 600_000
"""Of an array run with more, only a node and its neighbours are recorded."""


def by_loop(world: World, desk: Desk, progress: Progress | None) -> Recording:
    """Return an iteration of the loop; where it may, it leaves out what repeats."""
    traffic = exchange(world) if world.plan.exchanges else None
    own = traffic.ready.tolist() if traffic and world.plan.collects else None
    loop = Loop(world, desk, own, progress)
    watch = None
    if world.folded and loop.supply.chain and not desk.may_evict():
        watch = Repeats(_gather_period(traffic, len(world.chunk_sizes)) if traffic else None)
    loop.run(watch)
    skips = watch.skips if watch else []
    spans = spans_of(world, loop.rows, [skip.spans for skip in skips])
    events = events_of(world, loop.transfers.events, [skip.events for skip in skips])
    end = loop.end + sum(skip.spans.repeats * skip.spans.period_ps for skip in skips)
    if traffic:
        more, last = scaleup_rows(world, traffic, loop.supply.finished, [skip.finished for skip in skips])
        spans = np.concatenate([spans, *more])
        end = max(end, last)
    return _recording(world, desk, columns(SPAN_COLUMNS, spans), events, end, skips)


def _recording(
    world: World,
    desk: Desk,
    spans: Columns | Later,
    events: NDArray[np.int64],
    end_ps: int,
    skips: Sequence[Skip] = (),
) -> Recording:
    return Recording(
        spans=spans,
        blocks=tuple(skip.spans for skip in skips),
        registrations=columns(REGISTRATION_COLUMNS, events),
        registration_blocks=tuple(skip.events for skip in skips),
        end_ps=end_ps,
        counters=desk.counters(),
        chunks=world.plan.schedule.chunks,
    )


def _gather_period(traffic: Exchange, pieces: int) -> int | None:
    """Return the time between the contributions to two chunks, or None where it varies."""
    if len(traffic.ready) < 2 * pieces:
        return None
    between = np.diff(traffic.ready.reshape(-1, pieces), axis=0)
    return int(between[0, 0]) if (between == between[0, 0]).all() else None


def by_arrays(world: World, desk: Desk, progress: Progress | None) -> Recording:
    """Return an iteration of the array engine; its spans are made when they are asked for, unless they are few."""
    s, kept = world.scenario, _kept(world)
    few = len(kept) < len(world.lanes)  # they are kept at once; else another run does, if anybody asks
    batch = Batch(world, [s.seed], [s.jitter], kept if few else ())
    end = int(batch.run(progress)[0])
    batch.meet()
    spans = _recorded(world, batch) if few else Later(lambda: _recorded(world, _again(world, kept)))
    return _recording(world, desk, spans, array((), len(REGISTRATION_COLUMNS)), end)


def _kept(world: World) -> tuple[int, ...]:
    """Return the lanes whose spans are recorded: all, or those of the slowest node (else node 0) and its neighbours."""
    if spans_of_all(world) <= _MOST_SPANS:
        return tuple(range(len(world.lanes)))
    shown = slowest(world.scenario.slow_nodes, world.plan.nodes)
    near = {shown} | neighbours(world.plan.schedule, shown)
    return tuple(lane for lane, one in enumerate(world.lanes) if one.node in near)


def spans_of_all(world: World) -> int:
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
    node, device = owners(world, rows[:, 0])
    spans = [np.column_stack([node, device, rows[:, 1:]])]
    if world.plan.exchanges:
        finished = [tuple(row) for block in batch.finished for row in block.tolist()]
        traffic = batch.traffic or exchange(world)
        spans += scaleup_rows(world, traffic, finished, [], batch.keep)[0]
    return columns(SPAN_COLUMNS, np.concatenate(spans))


def by_referee(world: World, desk: Desk, progress: Progress | None) -> Recording:
    """Return an iteration of the referee, which tells no progress."""
    from peerlab.engine.events import Referee  # noqa: PLC0415  (SimPy is loaded only where it is asked for)

    del progress
    referee = Referee(world, desk)
    referee.run()
    spans = columns(SPAN_COLUMNS, array(referee.spans, len(SPAN_COLUMNS)))
    return _recording(world, desk, spans, array(referee.events, len(REGISTRATION_COLUMNS)), referee.end)
