"""From the rows that an engine wrote to the columns of a recording."""

from collections.abc import Callable, Sequence

from peerlab.answer.trace import Block, Columns, freeze, unroll
from peerlab.base.numbers import NDArray, np
from peerlab.engine.registration_queue import KIND, Event
from peerlab.engine.scaleup import Exchange, Finished, broadcast_rows, gather_rows
from peerlab.engine.system import System

Whole = NDArray[np.int64]
"""Whole numbers: a column, or a table of shape ``(rows, columns)``."""
_AT_ONCE = 65_536
"""Rows that are converted in one call, during which no other thread runs: a lab would not answer."""
MANY = 16_384
"""Spans that become a table: 4 MB as Python's numbers, a third of that as a table."""
QueueEvent = tuple[int, int, int, Event, int, int]
"""``(transfer id, NIC, side, event, start, end)``."""


def columns(names: Sequence[str], rows: Whole) -> Columns:
    """Return the columns of a table by name, read-only."""
    return freeze({name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(names)})


def columns_of(names: Sequence[str], tables: list[Whole]) -> Columns:
    """Return the columns of tables one behind the other; the list is empty then, as both would be twice the memory."""
    values = {name: np.empty(sum(map(len, tables)), np.int64) for name in names}
    at = 0
    while tables:
        rows = tables.pop(0)
        for i, name in enumerate(names):
            values[name][at : at + len(rows)] = rows[:, i]
        at += len(rows)
    return freeze(values)


def array(rows: Sequence[tuple[int, ...]] | Whole, width: int) -> Whole:
    """Return rows as a table of so many columns, however few rows there are."""
    parts = [np.array(rows[n : n + _AT_ONCE], np.int64) for n in range(0, len(rows), _AT_ONCE)]
    return np.concatenate([part.reshape(-1, width) for part in parts] or [np.zeros((0, width), np.int64)])


def _decoded(system: System, ids: Whole) -> tuple[Whole, Whole, Whole]:
    """Return step, slice and lane of slice ids."""
    rest, lane = np.divmod(ids, len(system.lanes))
    step, piece = np.divmod(rest, system.pieces)
    return step, piece, lane


def later(blocks: list[Block], step: Whole, *times: Whole) -> None:
    """Add the steps and the time of each skip to the rows that were recorded after it, in place."""
    # blocks are in the order of time, so a row after two skips is moved by both
    for block in blocks:
        step[block.last :] += block.repeats * block.period_steps
        for values in times:
            values[block.last :] += block.repeats * block.period_ps


def owners(system: System, lane: Whole) -> tuple[Whole, Whole]:
    """Return node and device of lanes."""
    nodes, devices = (
        np.array([getattr(way, name) for way in system.lanes], np.int64) for name in ("node", "device")
    )
    return nodes[lane], devices[lane]


def spans_of(system: System, rows: Sequence[tuple[int, ...]], blocks: list[Block]) -> Whole:
    """Return the spans that a loop wrote (`Loop.rows`), of which `blocks` repeat, as a table of `SPAN_COLUMNS`."""
    ids, stage, resource, queued, start, end, nbytes, work = array(rows, 8).T.copy()
    step, piece, lane = _decoded(system, ids)
    later(blocks, step, queued, start, end)
    # a registration belongs to a transfer; the loop keeps it under the id of its first slice
    piece[np.isin(stage, system.registration_stages)] = -1
    node, device = owners(system, lane)
    return np.column_stack([node, device, step, piece, stage, resource, queued, start, end, nbytes, work])


def later_spans(
    system: System, tables: Sequence[Whole], rows: Sequence[tuple[int, ...]], blocks: list[Block]
) -> Callable[[], list[Whole]]:
    """Return what makes the tables of a loop's spans: many runs are asked for their time alone. Many rows become a table at once."""
    if len(rows) <= MANY:
        return lambda: [*tables, spans_of(system, rows, blocks)]
    made = [*tables, spans_of(system, rows, blocks)]
    return lambda: made


def events_of(system: System, events: Sequence[QueueEvent], blocks: list[Block]) -> Whole:
    """Return the registrations of a loop (`Transfers.events`), of which `blocks` repeat, as a table of `REGISTRATION_COLUMNS`."""
    flat = [
        (x, nic, e.kind, side, e.position, e.nbytes, start, end) for x, nic, side, e, start, end in events
    ]
    ids, nic, kind, side, position, nbytes, start, end = array(flat, 8).T.copy()
    step, lane = np.divmod(ids, len(system.lanes))
    later(blocks, step, start, end)
    # a region that was registered before a skip and released after it belongs to its step, not to the loop's
    if blocks:
        chunks = system.plan.schedule.chunks
        of_step = np.where((side == 0) & (step == 0), -1, (step + side) % chunks)
        position = np.where(kind == KIND["evict"], position, of_step)
    node, device = owners(system, lane)
    return np.column_stack([node, nic, device, step, kind, side, position, nbytes, start, end])


def hits_of(
    system: System, lanes: Sequence[int], found: Sequence[tuple[Event, Event]], asked: Sequence[Whole]
) -> Whole:
    """Return what some lanes found in a warm cache as a table of `REGISTRATION_COLUMNS`.

    Parameters
    ----------
    found:
        For each step what both ends of every transfer find.
    asked:
        For each step when each of these lanes asks.
    """
    if not found:
        return array((), 10)
    sender, schedule = np.array(lanes, np.int64), system.plan.schedule
    node, device = owners(system, sender)
    queue = np.array([lane.registration_queue for lane in system.lanes], np.int64)
    if system.folded or schedule.is_ring:  # whom a lane sends to changes with the turn, if at all
        alike = [schedule.turn(step) for step in range(len(found))]
        some = range(min(len(found), system.plan.devices))
    else:
        alike, some = list(range(len(found))), range(len(found))
    turns = {
        alike[step]: [queue[sender], queue[[system.receiver(lane, step) for lane in lanes]]] for step in some
    }
    steps, sides = np.arange(len(found))[:, None, None], np.arange(2)[:, None]
    nics = np.array([turns[turn] for turn in alike])
    kind, position, nbytes, work = (
        np.array([[getattr(end, name) for end in ends] for ends in found])[:, :, None]
        for name in ("kind", "position", "nbytes", "work_ps")
    )
    at = np.array(asked)[:, None, :]
    table = np.broadcast_arrays(node, nics, device, steps, kind, sides, position, nbytes, at, at + work)
    return np.stack([column.reshape(-1) for column in table], axis=1)


def scaleup_rows(
    system: System,
    traffic: Exchange,
    finished: Sequence[tuple[int, ...]] | Whole,
    blocks: list[Block],
    lanes: Sequence[int] | None = None,
    begins: Sequence[int] = (),
) -> tuple[list[Whole], Whole]:
    """Return the spans inside the nodes, and for each of the lanes when the last of them is over; `begins`: when nodes begin, if not at 0."""
    plan = system.plan
    ids, owner, at = array(finished, 3).T.copy()
    step, piece, _ = _decoded(system, ids)
    later(blocks, step, at)
    final = unroll({"step": step, "slice": piece, "lane": owner, "end": at}, blocks)
    nbytes = _sizes_of(system, final["step"], final["slice"])
    # in the order of lanes, once: to look for each lane among all slices would take their product
    order = np.argsort(final["lane"], kind="stable")
    first = np.searchsorted(final["lane"][order], np.arange(len(system.lanes) + 1))
    rows, lasts, from_0 = list[Whole](), list[int](), traffic
    for index in range(len(system.lanes)) if lanes is None else lanes:
        lane = system.lanes[index]
        traffic = from_0.begun(begins[lane.node]) if begins else from_0
        lasts.append(int(traffic.ready[-1]))
        if plan.collects or (plan.scatters and plan.is_root(lane.node, lane.device)):
            rows += gather_rows(system, index, traffic)
        if not (plan.hands_out or plan.hands_own) or _root_alone(system, index):
            continue
        mine = order[first[index] : first[index + 1]]
        done = Finished(final["step"][mine], final["slice"][mine], nbytes[mine], final["end"][mine])
        if plan.schedule.steps == 0 or plan.hands_own or (plan.scatters and lane.node == 0):
            done = _with_own(system, done, _own_at(system, traffic, index))
        more, end = broadcast_rows(system, index, traffic, done)
        rows.append(more)
        lasts[-1] = max(lasts[-1], end)
    return rows, np.array(lasts, np.int64)


def _sizes_of(system: System, step: Whole, piece: Whole) -> Whole:
    """Return the bytes of slices of these steps."""
    # few steps differ in their slices, and there may be a million rows
    steps, which = np.unique(step, return_inverse=True)
    table = np.zeros((len(steps), system.pieces), np.int64)
    for row, number in enumerate(steps.tolist()):
        sizes = system.sizes(number)
        table[row, : len(sizes)] = sizes
    values: Whole = table[which, piece]
    return values


def _root_alone(system: System, lane: int) -> bool:
    """Return whether nobody is left to whom a device could hand something: one beside the root, of which it got all that it has."""
    sender = system.lanes[lane]
    return system.plan.spares_root(sender.node, sender.device) and system.plan.devices == 2


def _own_at(system: System, traffic: Exchange, lane: int) -> Whole:
    """Return when a device can hand out each slice that no transfer from another node brings."""
    sender, plan = system.lanes[lane], system.plan
    if plan.is_root(sender.node, sender.device):  # its links first hand the others their shards
        return np.full_like(traffic.ready, traffic.link_end[-1])
    return (
        traffic.ready
        if plan.schedule.steps == 0 or plan.rooted
        else np.full_like(traffic.ready, traffic.begin)
    )


def _with_own(system: System, done: Finished, at: Whole) -> Finished:
    """Return the finished slices, with those that no transfer brings: a single node's sums, or what devices hand out of their own."""
    sizes = np.array(system.chunk_sizes, np.int64)
    pieces = np.arange(len(sizes))
    if system.plan.schedule.steps == 0:
        return Finished(np.zeros_like(pieces), pieces, sizes, at)
    return Finished(
        np.concatenate([np.full_like(pieces, -1), done.step]),
        np.concatenate([pieces, done.piece]),
        np.concatenate([sizes, done.nbytes]),
        np.concatenate([at, done.at]),
    )
