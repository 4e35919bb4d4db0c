"""From a system to the arrays that the compiled loop runs on."""

from collections.abc import Sequence

import numpy as np

from peerlab.answer.trace import SPAN_COLUMNS
from peerlab.engine.begins import Begins, owners_of, waits_for_arrival
from peerlab.engine.compiled.flatten_legs import Ways, ways_of
from peerlab.engine.compiled.refusals import TimesMayNotFitError
from peerlab.engine.compiled.state import (
    COUNTS,
    ENGINE,
    ENTRY,
    EXCLUSIVE,
    LANE,
    LEG,
    POOL,
    SERVER,
    SEVERAL,
    SHARED,
    SLOT,
    VISIT,
    InLine,
    NodesBegun,
    Records,
    State,
    Whole,
)  # fmt: skip
from peerlab.engine.scaleup import Exchange
from peerlab.engine.system import System
from peerlab.model.resources import service

_READY = 0  # what every slot's first entry is about: `state.READY`


def flatten(
    system: System,
    traffic: Exchange | None,
    keep: Sequence[int],
    more_rows: int,
    begins: Begins | None = None,
) -> State:
    """Return the arrays of a system at time 0.

    Parameters
    ----------
    traffic:
        What goes on inside the nodes, if anything does.
    keep:
        Lanes whose spans are kept.
    more_rows:
        Room for so many spans more, behind those of the loop.
    begins:
        When nodes begin; None: all together, at 0.
    """
    ways, slots, kept = ways_of(system), _slots(system), np.array(keep, np.int64)
    servers, engines = servers_of(system, ways)
    own = traffic.ready if traffic and system.plan.collects else np.zeros(0, np.int64)
    of_lanes, pools, apart = _begun(system, lanes_of(system, traffic, kept), begins, len(slots))
    heap, where = _heap(slots, own, of_lanes, len(servers), begins)
    most = int(ways.legs.visits.max())
    counts = counts_of(system, len(slots) + len(apart.held), gates=len(own) > 0, begins=begins)
    state = State(
        counts=counts,
        slots=slots,
        queued=np.zeros((len(slots), most), np.int64),
        starts=np.zeros((len(slots), most), np.int64),
        works=np.zeros((len(slots), most), np.int64),
        heap=heap,
        where=where,
        servers=servers,
        engines=engines,
        pools=pools,
        ways=ways.first,
        legs=ways.legs,
        visits=ways.visits,
        factors=factors_of(system),
        detours=detours_of(system),
        lanes=of_lanes,
        own_ps=np.array(own[len(system.chunk_sizes) :], np.int64),  # what comes in a step is sent in the next
        handed_ps=handed_ps(system),
        posted=np.full((counts[0].steps if counts[0].registers else 0, counts[0].lanes), -1, np.int64),
        arriving=np.zeros((2, len(slots)), np.int64),
        freed=np.zeros((len(slots) * most, 2), np.int64),
        changed=np.zeros(len(servers), np.int64),
        touched=np.zeros(max(1, len(system.places)), np.int64),
        spans=np.empty((len(SPAN_COLUMNS), spans_to_write(system, ways, kept) + more_rows), np.int64),
        finished=np.empty((3, finished_of(system, kept)), np.int64),
        line=no_line(),
        apart=apart,
    )
    check_horizon(state)
    return state


def no_line() -> InLine:
    """Return the arrays of lines where no slices stand in line."""
    row, table = np.zeros(0, np.int64), np.zeros((0, 0), np.int64)
    return InLine(row, table, records(0, LEG), records(0, VISIT), table, row, row, table, table)


def none_begun() -> NodesBegun:
    """Return the arrays of nodes that begin apart where all begin together."""
    row = np.zeros(0, np.int64)
    return NodesBegun(row, row, row, np.zeros((0, 0), np.int64))


def records(count: int, dtype: np.dtype[np.void], **columns: object) -> Records:
    """Return records of zeros, but for these columns."""
    recarray = np.zeros(count, dtype).view(np.recarray)
    for name, values in columns.items():
        recarray[name] = values
    return recarray


def counts_of(system: System, entries: int, *, gates: bool, begins: Begins | None = None) -> Records:
    """Return the counts at time 0, with so much on the heap."""
    plan, scenario = system.plan, system.scenario
    return records(
        1,
        COUNTS,
        entries=entries,
        lanes=len(system.lanes),
        pieces=len(system.chunk_sizes),
        steps=plan.schedule.steps,
        reducing=plan.schedule.reducing_steps,
        lookup_ps=scenario.registration_cost.lookup_ps if scenario.registers else 0,
        registers=scenario.registers,
        prefetches=scenario.registers and scenario.prefetch,
        gates=gates,
        jitters=scenario.jitter > 0,
        detours=scenario.noise.detours > 0,
        period_ps=scenario.noise.tick_period_ps,
        pause_ps=scenario.noise.tick_ps,
        hands_out=plan.hands_out,
        apart=begins is not None,
        ahead=begins is not None and begins.posted,
        waits=begins is not None and waits_for_arrival(system),
        passed=-1,
    )


def _slots(system: System) -> Records:
    """Return the slices of the first step."""
    pieces, lanes = len(system.chunk_sizes), len(system.lanes)
    ids = np.arange(pieces * lanes)
    return records(
        len(ids), SLOT, slice_id=ids, piece=ids // lanes, lane=ids % lanes, due=_READY, before=-1, after=-1
    )


def _heap(
    slots: Records, own: Whole, lanes: Records, servers: int, begins: Begins | None
) -> tuple[Records, Whole]:
    """Return slots and held places on a heap, in the order of when the data is there and the place is free; and where each item is."""
    there = own[slots.piece] if len(own) else np.zeros(len(slots), np.int64)
    given = np.array([t for _, until in begins.held for t in until] if begins else [], np.int64)
    items = 2 * len(slots) + servers
    due = np.concatenate([there + lanes.at[slots.lane], given])
    what = np.concatenate([np.arange(len(slots)), items + np.arange(len(given))])
    order = np.argsort(due, kind="stable")  # what is sorted is a heap
    heap = records(items + len(given), ENTRY)
    heap.time[: len(due)], heap.what[: len(due)] = due[order], what[order]
    where = np.full(len(heap), -1, np.int64)
    where[what[order]] = np.arange(len(order))
    return heap, where


def _begun(
    system: System, lanes: Records, begins: Begins | None, slots: int
) -> tuple[Records, Records, NodesBegun]:
    """Return lanes and windows with what they owe to when nodes begin, and what else there is of it."""
    if not begins:
        return lanes, pools_of(system), none_begun()
    held = [
        system.pool(kind, (node, device), system.scenario.places)
        for (kind, node, device), until in begins.held
        for _ in until
    ]
    pools = pools_of(system)
    np.subtract.at(pools.places, np.array(held, np.int64), 1)
    at = np.array(begins.at, np.int64)
    lanes.at, lanes.there = at[lanes.node], at[lanes.node[lanes.receiver]]
    lanes.gate = [begins.gate(system, lane, 0) for lane in range(len(lanes))]
    lanes.handed_out += lanes.at
    given = np.zeros((len(system.places), max(system.places, default=0)), np.int64)
    return lanes, pools, NodesBegun(np.zeros(slots, np.int64), at.copy(), np.array(held, np.int64), given)


def lanes_of(system: System, traffic: Exchange | None, kept: Whole) -> Records:
    """Return the lanes, some of which are kept."""
    ways, plan = system.lanes, system.plan
    lanes = records(
        len(ways),
        LANE,
        node=[lane.node for lane in ways],
        device=[lane.device for lane in ways],
        receiver=[system.receiver(lane, 0) for lane in range(len(ways))],
        handed_out=int(traffic.link_end[-1]) if traffic else 0,
    )
    lanes.kept[kept] = 1
    if traffic and plan.hands_out and not plan.adds:  # its own chunk is final from the beginning
        lanes.own[:] = int(traffic.link_ps[: len(system.chunk_sizes)].sum())
        lanes.handed_out += lanes.own
    return lanes


def handed_ps(system: System) -> Whole:
    """Return how long the links inside a node take to hand out each slice of a chunk."""
    cluster, sizes = system.scenario.cluster_for_message, system.chunk_sizes
    if not system.plan.hands_out:
        return np.zeros(len(sizes), np.int64)
    link = service(cluster, "scaleup")
    return np.array([link(size * (cluster.devices - 1)) for size in sizes], np.int64)


def factors_of(system: System) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the jitter of every slice, or one that nothing has."""
    factors = system.factors
    if factors is not None:
        return factors
    none = np.ones((1, 1, 1, 1))
    none.flags.writeable = False  # as those of a jitter, so that one machine code does for both
    return none


def detours_of(system: System) -> Whole:
    """Return how long every slice is held up, or one that nothing is."""
    detours = system.detours
    if detours is not None:
        return detours
    none = np.zeros((1, 1, 1, 1), np.int64)
    none.flags.writeable = False
    return none


def pools_of(system: System) -> Records:
    """Return the windows, nobody waiting."""
    return records(len(system.places), POOL, places=system.places, first=-1, last=-1)


def servers_of(system: System, ways: Ways) -> tuple[Records, Records]:
    """Return the resources, and the engines of the shared ones."""
    engines = np.array([ways.engines.get(index, 0) for index in range(len(system.resources))], np.int64)
    kinds = [
        SHARED if resource.shared else SEVERAL if resource.servers > 1 else EXCLUSIVE
        for resource in system.resources
    ]
    servers = records(
        len(system.resources),
        SERVER,
        kind=kinds,
        idle=[resource.servers for resource in system.resources],
        copies=[resource.copies for resource in system.resources],
        engine=np.cumsum(engines) - engines,
        engines=engines,
        first=-1,
        last=-1,
        owner=owners_of(system),
    )
    # a visit names an engine by its place among all
    through = ways.visits.engine >= 0
    ways.visits.engine[through] += servers.engine[ways.visits.resource[through]]
    return servers, records(int(engines.sum()), ENGINE, over=-1, first=-1, last=-1)


# ---- how many, and how long ------------------------------------------------------------------------------------


def spans_to_write(system: System, ways: Ways, kept: Whole) -> int:
    """Return how many spans the loop writes of these lanes."""
    schedule, pieces = system.plan.schedule, len(system.chunk_sizes)
    steps = np.array([schedule.steps - schedule.reducing_steps, schedule.reducing_steps])
    slices = steps[:, None] * np.array([pieces - 1, 1])
    return int((ways.rows[kept] * slices).sum())


def finished_of(system: System, kept: Whole) -> int:
    """Return how many slices these lanes get with their final value."""
    schedule, pieces = system.plan.schedule, len(system.chunk_sizes)
    final = schedule.steps - max(0, schedule.reducing_steps - 1)
    return final * pieces * len(kept) if system.plan.hands_out else 0


def check_horizon(s: State) -> None:
    """Refuse service times so long that a time might exceed 64 bits before the clock is seen to be late.

    Raises
    ------
    TimesMayNotFitError
        If they are.
    """
    longest = int(s.visits.lasts.max()) * float(s.factors.max()) + int(s.legs.flight_ps.max())
    longest += int(s.detours.max())
    period, pause = int(s.counts[0].period_ps), int(s.counts[0].pause_ps)
    if period:
        longest = longest * period / (period - pause) + period
    # a resource may have promised itself to every slice, and each engine of a shared one slows the others
    at_once = len(s.slots) * s.works.shape[1] + int((s.servers.engines * s.servers.copies).max())
    if longest * at_once > 2**61:
        raise TimesMayNotFitError(
            "engine", "'compiled' counts in 64 bits, and these times may need more; use 'loop'"
        )
