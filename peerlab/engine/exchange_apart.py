"""One exchange that nodes begin apart: what happens in it, when each node is done, and which places are held then.

Times are those of the step, from wherever that counts. The engines leave out what a library does before the first slice; so a node's begin
is the same on their clock, and all that happens later is earlier by that opening.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from peerlab.answer.trace import REGISTRATION_COLUMNS, SPAN_COLUMNS, Recording
from peerlab.base.numbers import np
from peerlab.engine.arrays.ring_arrays import Batch
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.engine.begins import Begins, Held, done_of, held_of
from peerlab.engine.compiled import refusals as compiled
from peerlab.engine.loop.event_loop import Loop, Progress
from peerlab.engine.opening import opening
from peerlab.engine.recording import Rows, array_rows, compiled_rows, kept_lanes, later_rows, recorded
from peerlab.engine.registration_queue import Event, RegistrationQueue
from peerlab.engine.scaleup import exchange
from peerlab.engine.span_rows import columns, columns_of, events_of, scaleup_rows
from peerlab.engine.system import System

if TYPE_CHECKING:
    from peerlab.engine.compiled.compiled_line import CompiledLine

_FEW = 600_000
"""Spans of an exchange that are kept; more are made again when they are asked for."""


@dataclass(frozen=True)
class Ended:
    """An exchange that is over."""

    recording: Recording
    """Everything that happened."""
    done: tuple[int, ...]
    """When each node was done, picoseconds."""
    held: Held
    """Places that are held when their nodes are done."""


def by_loop(
    system: System, registration_queue: RegistrationQueue, begins: Begins, progress: Progress | None = None
) -> Ended:
    """Return the exchange, as the loop has it."""
    shift = sum(lasts for *_, lasts in opening(system))
    begins = earlier(begins, shift)
    traffic = exchange(system) if system.plan.exchanges else None
    own = traffic.ready.tolist() if traffic and system.plan.collects else None
    loop = Loop(system, registration_queue, own, progress, begins)
    loop.run()
    spans = loop.spans([])
    done = done_of(system, np.concatenate(spans), begins.at)
    if traffic:
        more, lasts = scaleup_rows(system, traffic, loop.readiness.finished, [], begins=begins.at)
        spans += more
        np.maximum.at(done, [lane.node for lane in system.lanes], lasts)
    rows = (
        columns_of(SPAN_COLUMNS, spans),
        columns(REGISTRATION_COLUMNS, events_of(system, loop.transfers.events, [])),
    )
    recording = recorded(system, registration_queue, rows, max(loop.end, int(done.max())), begins=begins.at)
    held = loop.apart.held_after(dict(enumerate(done.tolist()))) if loop.apart else ()
    return Ended(recording, tuple((done + shift).tolist()), later(held, shift))


def by_arrays(
    system: System, registration_queue: RegistrationQueue, begins: Begins, progress: Progress | None = None
) -> Ended:
    """Return the exchange, as the array engine has it; its spans are made when they are asked for, unless they are few.

    Raises
    ------
    OrderUnknownError
        If slices come to a resource in another order than the one that is assumed.
    """
    scenario, shift = system.scenario, sum(lasts for *_, lasts in opening(system))
    begins, kept = earlier(begins, shift), kept_lanes(system)
    few = len(kept) < len(system.lanes)
    hits = registration_queue.find_all() if scenario.registers else []
    batch = Batch(system, [scenario.seed], [scenario.jitter], kept if few else (), begins)
    end = int(batch.run(progress)[0])
    if not batch.orders.hold().all():
        raise OrderUnknownError("engine", "slices come in an order that is known only when they come")
    assert batch.apart  # noqa: S101  (it was given begins)
    done, held = batch.apart.ended(batch.traffic, batch.hand_out_free[0], batch.held)
    rows = later_rows(partial(array_rows, batch if few else None, system, scenario, kept, hits, begins))
    totals = batch.record.totals(kept, batch.traffic)[0]
    end = max(end, *done)
    made = recorded(system, registration_queue, rows, end, summed=totals, lanes=kept, begins=begins.at)
    return Ended(made, tuple(t + shift for t in done), later(held, shift))


def by_compiled_ring(
    system: System, registration_queue: RegistrationQueue, begins: Begins, progress: Progress | None = None
) -> Ended:
    """Return the exchange of a ring, as the compiled loop has it; spans of a few nodes are kept, where all are many."""
    from peerlab.engine.compiled.compiled_ring import CompiledRing  # noqa: PLC0415  (numba is loaded only where it is used)

    shift = sum(lasts for *_, lasts in opening(system))
    begins, kept = earlier(begins, shift), kept_lanes(system)
    ring = CompiledRing(system, kept, begins)
    ring.run(progress)
    done, held = ring.ended(begins)
    events = registration_queue.find_all() if system.scenario.registers else []
    rows = compiled_rows(ring, system, kept, events)
    made = recorded(system, registration_queue, rows, max(ring.end, *done), lanes=kept, begins=begins.at)
    return Ended(made, tuple(t + shift for t in done), later(held, shift))


def by_compiled(system: System, registration_queue: RegistrationQueue) -> Ended:
    """Return a pairwise exchange that all nodes begin at 0, and whose memory is registered, as the compiled loop has it (`refuses_together`).

    Its spans are made again when they are asked for, unless they are few: a step has many such exchanges, and 512 nodes 6 million spans in each.
    """
    loop = _compiled(system)
    table = loop.spans()
    between = table[:, : table.shape[1] - loop.inside].T
    done = done_of(system, between, (0,) * system.plan.nodes)
    if loop.lasts is not None:
        np.maximum.at(done, [lane.node for lane in system.lanes], loop.lasts)
    held = held_of(system, between, done)
    events = registration_queue.find_all() if system.scenario.registers else []
    few = table.shape[1] <= _FEW
    rows = later_rows(partial(_rows_again, system, events, loop if few else None))
    end, shift = max(loop.end, int(done.max())), sum(lasts for *_, lasts in opening(system))
    made = recorded(system, registration_queue, rows, end)
    return Ended(made, tuple((done + shift).tolist()), later(held, shift))


def _compiled(system: System) -> "CompiledLine":
    from peerlab.engine.compiled.compiled_line import CompiledLine  # noqa: PLC0415  (numba is loaded only where it is used)

    loop = CompiledLine(system)
    loop.run(None)
    return loop


def _rows_again(system: System, events: Sequence[tuple[Event, Event]], loop: "CompiledLine | None") -> Rows:
    """Return the rows of a run of the compiled loop; if it was not kept, run it again."""
    return compiled_rows(loop or _compiled(system), system, range(len(system.lanes)), events)


def refuses_together(system: System) -> str:
    """Return why `by_compiled` does not take an exchange; empty if it does."""
    if not compiled.installed() or compiled.broken():
        return "numba cannot be used"
    if compiled.keeps_few(system):
        return "spans of a few nodes alone are kept"
    if sum(bool(leg.flight) for leg in system.legs(0, 0, plain=True)[0]) > 1:
        return "which latency a span in flight is of cannot be told"
    return compiled.refuses(system)


def earlier(begins: Begins, shift: int) -> Begins:
    """Return begins on the clock of an engine, which leaves the opening out."""
    opens = tuple(t - shift for t in begins.opens) if begins.posted else begins.at
    return Begins(begins.at, opens, later(begins.held, -shift))


def later(held: Held, shift: int) -> Held:
    """Return places that are held so much later."""
    return tuple((pool, tuple(t + shift for t in until)) for pool, until in held)
