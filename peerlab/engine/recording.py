"""Runs one iteration on each engine, and makes a recording of the rows that the engine wrote."""

# SimPy is the referee; the others equal it or refuse. `engine/referee` says the semantics in the most
# readable way. `engine/loop` gives the same without coroutines. Referee and loop simulate the least that is
# exact: one switch of one node where all nodes do the same, one switch of every node where only nodes
# differ; with `every_node=True` all of them. `engine/arrays` runs all nodes of a ring at once, and many
# seeds side by side (`arrays/side_by_side`). It takes a scenario where the order of service is known
# beforehand: no two stages share a resource, and no two senders, save devices that share a NIC. For those
# it assumes that no slice overtakes one of an earlier step or of a lower number, and looks at every arrival
# whether that is so (`arrays/service_order`). Where it is not, the run is thrown away, and the loop takes
# over. `engine="auto"` takes the fastest that is exact, and `run.engine` says which; tests hold all of them
# to the referee, span by span.

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from peerlab.answer.trace import REGISTRATION_COLUMNS, SPAN_COLUMNS, Columns, Later, Recording, Totals, freeze
from peerlab.base.numbers import np
from peerlab.collectives.plan import neighbours
from peerlab.engine.arrays.ring_arrays import Batch
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.engine.begins import Begins
from peerlab.engine.compiled.refusals import keeps_few
from peerlab.engine.loop.adding_up import ADDS
from peerlab.engine.loop.event_loop import Loop, Progress
from peerlab.engine.loop.few_lanes import FewLanes
from peerlab.engine.loop.steady_state import Repeats, Skip
from peerlab.engine.loop.waiting_line import WaitingLine
from peerlab.engine.opening import begin, behind, opened, opening, with_opening
from peerlab.engine.registration_queue import Event, RegistrationQueue
from peerlab.engine.scaleup import Exchange, exchange
from peerlab.engine.span_rows import (
    Whole,
    array,
    columns,
    columns_of,
    events_of,
    hits_of,
    later_spans,
    owners,
    scaleup_rows,
)
from peerlab.engine.system import System
from peerlab.engine.warm_cache import may_evict
from peerlab.model.disturbance import most_disturbed
from peerlab.question.scenario import Scenario

if TYPE_CHECKING:
    from peerlab.engine.compiled.compiled_line import CompiledLine
    from peerlab.engine.compiled.compiled_ring import CompiledRing

Rows = tuple[Columns | Later, Columns | Later]
"""Columns of the spans, and of the registrations."""

_MOST_SPANS = 300_000
"""Of a run with more, only a node and its neighbours are recorded."""


def by_loop(
    system: System,
    registration_queue: RegistrationQueue,
    progress: Progress | None,
    *,
    repeats: bool = True,
    every_lane: bool = False,
) -> Recording:
    """Return an iteration of the loop; of a folded chain without evictions, repetitions are left out, unless `repeats` is False.

    `every_lane`: whether all lanes are recorded, however many spans they have.
    """
    traffic = exchange(system) if system.plan.exchanges else None
    comes = system.plan.collects or system.plan.scatters
    own = traffic.ready.tolist() if traffic and comes else None
    kept = kept_lanes(system) if not (every_lane or system.folded) else ()
    few = FewLanes(system, kept) if 0 < len(kept) < len(system.lanes) else None
    loop = Loop(system, registration_queue, own, progress)
    loop.few = few
    watch = _watch(loop, traffic) if repeats else None
    loop.run(watch)
    skips = watch.skips if watch else []
    blocks = [skip.spans for skip in skips]
    added, more = loop.adding.rows() if loop.adding else None, list[Whole]()
    # the loop's clock ran on without the periods left out
    end = loop.end + sum(block.repeats * block.period_ps for block in blocks)
    # the ring waits for no scale-up link, so spans inside the node follow from when each slice is finished
    if traffic:
        more, lasts = scaleup_rows(
            system, traffic, loop.readiness.finished, [skip.finished for skip in skips]
        )
        end = max(end, int(lasts.max()))
    behind_loop = [*([] if added is None else [added]), *more]
    options = _registrations(system, registration_queue, loop, skips)
    if few:
        spans = [*loop.spans(blocks), *map(few.take, behind_loop)]
        rows = columns_of(SPAN_COLUMNS, spans), options
        return recorded(system, registration_queue, rows, end, summed=few.totals(), lanes=kept)
    make = partial(_columns_of, later_spans(system, loop.tables, loop.rows, blocks), behind_loop)
    whole = (ADDS,) if loop.adding and skips else ()
    return recorded(system, registration_queue, (Later(make), options), end, skips, whole=whole)


def _columns_of(make: Callable[[], list[Whole]], behind: Sequence[Whole]) -> Columns:
    """Return the columns of what a loop wrote, and of what comes behind it."""
    tables = make()
    tables += behind
    return columns_of(SPAN_COLUMNS, tables)


def _watch(loop: Loop, traffic: Exchange | None) -> Repeats | None:
    """Return what finds repetitions, where steps may repeat."""
    system = loop.system
    # with evictions the cache's contents decide about later steps, and they do not repeat with the steps
    if (
        not system.folded
        or not (loop.readiness.chain or loop.line)
        or may_evict(system.scenario, system.plan.schedule)
    ):
        return None
    return Repeats(_gather_period(traffic, len(system.chunk_sizes)) if traffic else None)


def _registrations(
    system: System, registration_queue: RegistrationQueue, loop: Loop, skips: Sequence[Skip]
) -> Columns | Later:
    """Return the columns of the registrations."""
    if loop.line and system.scenario.registers:
        registration_queue.count_hits()
        adding = [skip.spans for skip in skips if skip.spans.after_step < system.plan.schedule.reducing_steps]
        loop.line.left_out_ps = sum(block.repeats * block.period_ps for block in adding)
        return Later(partial(_found_in_line, system, registration_queue.buffer_set, loop.line))
    events, blocks = loop.transfers.events, [skip.events for skip in skips]
    return Later(lambda: columns(REGISTRATION_COLUMNS, events_of(system, events, blocks)))


def _found_in_line(system: System, buffer_set: int, line: WaitingLine) -> Columns:
    """Return the registrations of what stood in line: all were found, when the data was there."""
    registration_queue, lanes = RegistrationQueue(system, warm=True), range(len(system.lanes))
    registration_queue.begin(buffer_set)
    asked = [
        np.array([line.asked_ps(step, lane) for lane in lanes]) for step in range(system.plan.schedule.steps)
    ]
    return columns(REGISTRATION_COLUMNS, hits_of(system, lanes, registration_queue.found(), asked))


def recorded(
    system: System,
    registration_queue: RegistrationQueue,
    rows: Rows,
    end_ps: int,
    skips: Sequence[Skip] = (),
    summed: Totals | None = None,
    lanes: Sequence[int] | None = None,
    whole: tuple[int, ...] = (),
    begins: Sequence[int] = (),
) -> Recording:
    """Return the recording of an engine's rows, moved behind what the library does before the first slice.

    `begins`: when nodes begin, if not at 0.
    """
    parts = opening(system)
    shift = sum(lasts for *_, lasts in parts)
    if parts:
        kept = range(len(system.lanes)) if lanes is None else lanes
        begin(system, kept)
        spans, events = rows
        held = spans if isinstance(spans, Later) else dict(spans)  # what was moved is not kept beside it
        rows = (
            Later(lambda: opened(system, held, kept, parts, begins)),
            Later(lambda: behind(events, shift)),
        )
        summed = with_opening(system, summed, kept, parts) if summed else None
    return Recording(
        spans=rows[0],
        blocks=tuple(skip.spans for skip in skips),
        registrations=rows[1],
        registration_blocks=tuple(skip.events for skip in skips if skip.events.first < skip.events.last),
        end_ps=end_ps + shift,
        counters=registration_queue.counters(),
        chunks=system.plan.schedule.chunks,
        summed=summed,
        whole=whole,
    )


def _gather_period(traffic: Exchange, pieces: int) -> int | None:
    """Return the time between the contributions to two chunks, or None where it varies."""
    if len(traffic.ready) < 2 * pieces:
        return None
    # by chunk, as a step of the ring sends one
    between = np.diff(traffic.ready.reshape(-1, pieces), axis=0)
    return int(between[0, 0]) if (between == between[0, 0]).all() else None


def by_arrays(
    system: System,
    registration_queue: RegistrationQueue,
    progress: Progress | None,
    *,
    every_lane: bool = False,
) -> Recording:
    """Return an iteration of the array engine; its spans are made when they are asked for, unless they are few.

    `every_lane`: whether all lanes are recorded, however many spans they have.

    Raises
    ------
    OrderUnknownError
        If slices come to a resource in another order than the one that is assumed.
    """
    kept = tuple(range(len(system.lanes))) if every_lane else None
    recording = side_by_side(system, registration_queue, [system.scenario], progress, kept)[0]
    if recording is None:
        why = "slices come in an order that is known only when they come"
        raise OrderUnknownError("engine", f"'arrays' cannot run this: {why}; use 'auto'")
    return recording


def side_by_side(
    system: System,
    registration_queue: RegistrationQueue,
    scenarios: Sequence[Scenario],
    progress: Progress | None,
    kept: tuple[int, ...] | None = None,
) -> list[Recording | None]:
    """Return an iteration of each scenario; they are of one system, and differ in seed and jitter alone.

    None where slices came to a resource in another order than the one that is assumed.

    `kept` are the lanes whose spans are recorded; without it, all where their spans are not too many.
    """
    kept = kept_lanes(system) if kept is None else kept
    # rows of all lanes are made later, by a run of their own; those of a few cost little while this one runs
    few = len(kept) < len(system.lanes) and len(scenarios) == 1
    hits = registration_queue.find_all() if system.scenario.registers else []
    batch = Batch(system, [s.seed for s in scenarios], [s.jitter for s in scenarios], kept if few else ())
    ends = batch.run(progress).tolist()
    recordings: list[Recording | None] = []
    totals = batch.record.totals(kept, batch.traffic)
    for scenario, end, summed, exact in zip(scenarios, ends, totals, batch.orders.hold(), strict=True):
        if not exact:
            recordings.append(None)
            continue
        rows = later_rows(partial(array_rows, batch if few else None, system, scenario, kept, hits))
        recordings.append(recorded(system, registration_queue, rows, end, summed=summed, lanes=kept))
    return recordings


def later_rows(make: Callable[[], Rows]) -> Rows:
    """Return the columns of spans and registrations, which are made together when one of them is asked for."""
    once = cache(make)
    return Later(lambda: once()[0]), Later(lambda: once()[1])


def kept_lanes(system: System) -> tuple[int, ...]:
    """Return the lanes whose spans are recorded: all, or those of the node that pictures show and its neighbours."""
    if spans_of_all(system) <= _MOST_SPANS:
        return tuple(range(len(system.lanes)))
    shown = most_disturbed(system.scenario, system.plan.nodes)
    near = {shown} | neighbours(system.plan.schedule, shown)
    return tuple(lane for lane, sender in enumerate(system.lanes) if sender.node in near)


def spans_of_all(system: System) -> int:
    """Return about how many spans all lanes together have."""
    visits = sum(len(stage.uses) + bool(stage.flight) for stage in system.scenario.stages) + 1
    schedule = system.plan.schedule
    transfers = (
        schedule.transfers * len(system.lanes) // schedule.ranks
    )  # in a tree or a chain a rank sends in few of the steps
    return transfers * system.pieces * visits


def spans_kept(system: System) -> int:
    """Return about how many spans a run keeps that simulates every node."""
    return spans_of_all(system) * len(kept_lanes(system)) // max(len(system.lanes), 1)


def array_rows(
    batch: Batch | None,
    system: System,
    scenario: Scenario,
    kept: tuple[int, ...],
    found: Sequence[tuple[Event, Event]],
    begins: Begins | None = None,
) -> Rows:
    """Return the rows that an array run has kept; if it kept none (`batch` is None), run the scenario again with rows."""
    if batch is None:
        batch = Batch(system, [scenario.seed], [scenario.jitter], kept, begins)
        batch.run()
    record = batch.record
    rows = np.concatenate(record.rows) if record.rows else np.zeros((0, 10), np.int64)
    node, device = owners(system, rows[:, 0])
    spans = [np.column_stack([node, device, rows[:, 1:]])]
    if system.plan.exchanges:
        finished = [tuple(row) for block in record.finished for row in block.tolist()]
        traffic = batch.traffic or exchange(system)
        at = begins.at if begins else ()
        spans += scaleup_rows(system, traffic, finished, [], kept, at)[0]
    values = hits_of(system, kept, found, record.opened)
    return columns_of(SPAN_COLUMNS, spans), columns(REGISTRATION_COLUMNS, values)


def by_compiled(
    system: System,
    registration_queue: RegistrationQueue,
    progress: Progress | None,
    *,
    every_lane: bool = False,
) -> Recording:
    """Return an iteration of the compiled loop; `every_lane`: whether all lanes are recorded, however many spans they have."""
    from peerlab.engine.compiled.compiled_line import compiled_run  # noqa: PLC0415  (numba is loaded only where it is used)

    every_lane = every_lane or not keeps_few(system)
    kept = tuple(range(len(system.lanes))) if every_lane else kept_lanes(system)
    loop = compiled_run(system, kept)
    loop.run(progress)
    events = registration_queue.find_all() if system.scenario.registers else []
    rows = compiled_rows(loop, system, kept, events)
    return recorded(system, registration_queue, rows, loop.end, lanes=kept)


def compiled_rows(
    loop: "CompiledRing | CompiledLine",
    system: System,
    kept: Sequence[int],
    events: Sequence[tuple[Event, Event]],
) -> Rows:
    """Return the rows of the lanes that are kept, of a run of the compiled loop that found all its memory registered (`events`)."""
    at = loop.asked() if events else []
    spans = freeze(dict(zip(SPAN_COLUMNS, loop.spans(), strict=True)))
    return spans, Later(lambda: columns(REGISTRATION_COLUMNS, hits_of(system, kept, events, at)))


def by_referee(system: System, registration_queue: RegistrationQueue, progress: Progress | None) -> Recording:
    """Return an iteration of the referee, which reports no progress."""
    from peerlab.engine.referee.processes import Referee  # noqa: PLC0415  (SimPy is loaded only where it is asked for)

    del progress
    referee = Referee(system, registration_queue)
    referee.run()
    spans = columns(SPAN_COLUMNS, array(referee.spans, len(SPAN_COLUMNS)))
    events = columns(REGISTRATION_COLUMNS, array(referee.events, len(REGISTRATION_COLUMNS)))
    return recorded(system, registration_queue, (spans, events), referee.end)
