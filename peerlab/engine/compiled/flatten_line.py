"""From a system to the arrays of lanes whose slices stand in line; what it has in common with a ring is in `flatten`."""

from collections.abc import Callable

import numpy as np

from peerlab.answer.trace import SPAN_COLUMNS
from peerlab.engine import jitter
from peerlab.engine.compiled.flatten import (
    check_horizon,
    counts_of,
    detours_of,
    factors_of,
    finished_of,
    handed_ps,
    lanes_of,
    none_begun,
    pools_of,
    records,
    servers_of,
)
from peerlab.engine.compiled.flatten_legs import Ways, leg_row, tables_of, visit_row
from peerlab.engine.compiled.state import ENTRY, SLOT, InLine, Records, State, Whole
from peerlab.engine.legs import Leg
from peerlab.engine.loop.adding_up import ADDS
from peerlab.engine.scaleup import Exchange
from peerlab.engine.system import System


def flatten_line(system: System, traffic: Exchange | None, more_rows: int) -> State:
    """Return the arrays of a system at time 0, with room for so many spans more than the loop writes."""
    lanes, ways = len(system.lanes), _ways(system)
    servers, engines = servers_of(system, ways)
    visits = len(ways.visits) // lanes
    # under way is what holds a place, and the first of each line
    slots, kept = _slots(system, ways), np.arange(lanes)
    line, most = _line(system, traffic, ways, len(slots)), len(slots)
    state = State(
        counts=_counts(system, ways, most),
        slots=slots,
        queued=np.zeros((most, visits), np.int64),
        starts=np.zeros((most, visits), np.int64),
        works=np.zeros((most, visits), np.int64),
        heap=records(2 * most + len(servers), ENTRY),
        where=np.full(2 * most + len(servers), -1, np.int64),
        servers=servers,
        engines=engines,
        pools=pools_of(system),
        ways=np.zeros((0, 2, 2), np.int64),
        legs=_for_each(ways.legs, lanes, most),
        visits=_for_each(ways.visits, lanes, most),
        factors=factors_of(system),
        detours=detours_of(system),
        lanes=_lanes(system, traffic, kept),
        own_ps=_own_ps(system, traffic),
        handed_ps=handed_ps(system),
        posted=np.zeros((0, lanes), np.int64),
        arriving=np.zeros((2, most), np.int64),
        freed=np.zeros((most * visits, 2), np.int64),
        changed=np.zeros(len(servers), np.int64),
        touched=np.zeros(2 * len(system.places) + 1, np.int64),
        spans=np.empty((len(SPAN_COLUMNS), _spans(system, ways) + more_rows), np.int64),
        finished=np.empty((3, finished_of(system, kept)), np.int64),
        line=line,
        apart=none_begun(),
    )
    _begin(state)
    check_horizon(state)
    return state


def added_up(system: System) -> list[Leg]:
    """Return by sending lane the leg in which what comes in the first step is added up; none if nothing is added."""
    last = [system.legs(lane, 0, plain=True)[0][-1] for lane in range(len(system.lanes))]
    return last if last[0].stage == ADDS else []


def _ways(system: System) -> Ways:
    """Return the legs of what every lane sends in the first step, without that in which it is added up."""
    legs: list[tuple[int, ...]] = []
    visits: list[tuple[int, ...]] = []
    for lane in range(len(system.lanes)):
        way = [leg for leg in system.legs(lane, 0, plain=True)[0] if leg.stage != ADDS]
        for number, leg in enumerate(way):
            legs.append(leg_row(leg, number, len(visits), ends=number == len(way) - 1))
            visits += [visit_row(visit, frozenset()) for visit in leg.visits]
    none = np.zeros((0, 2, 2), np.int64)
    return Ways(none, none, *tables_of(legs, visits))


def _for_each(first: Records, lanes: int, slots: int) -> Records:
    """Return legs or visits of every slot: those of the first step, and room for as many of each further slot."""
    each = len(first) // lanes
    rows = first[np.concatenate([np.arange(len(first)), np.tile(np.arange(each), slots - lanes)])]
    if "visit" in (first.dtype.names or ()):
        at = np.arange(len(first), len(rows))
        rows.visit[at] += at // each * int(first.visits[:each].sum())
    return rows


def _slots(system: System, ways: Ways) -> Records:
    """Return room for what is under way: all that holds a place, and the first of each line; those are there at time 0."""
    lanes, each = len(system.lanes), len(ways.legs) // len(system.lanes)
    # a lane sends and gets one slice a step, so a window of more places than steps is never full
    held = sum(min(places, system.plan.schedule.steps) for places in system.places)
    slots = records(lanes + held + 1, SLOT, before=-1, after=-1)
    first = np.arange(lanes)
    slots.slice_id[:lanes], slots.lane[:lanes], slots.leg[:lanes] = first, first, first * each
    slots.to[:lanes] = [system.receiver(lane, 0) for lane in range(lanes)]
    return slots


def _counts(system: System, ways: Ways, slots: int) -> Records:
    scenario, lanes = system.scenario, len(system.lanes)
    counts = counts_of(system, lanes, gates=system.plan.collects)
    row = counts[0]
    # all memory is found registered, when the data is there
    row.registers, row.in_line, row.unused = 0, 1, slots - lanes
    row.lookup_ps = scenario.registration_cost.lookup_ps if scenario.registers else 0
    row.legs, row.visits = len(ways.legs) // lanes, len(ways.visits) // lanes
    return counts


def _lanes(system: System, traffic: Exchange | None, kept: Whole) -> Records:
    lanes = lanes_of(system, traffic, kept)
    lanes.next = 1
    lanes.feeder[lanes.receiver] = kept
    return lanes


def _adds_ps(system: System, partners: Whole) -> Whole:
    """Return how long it takes to add up what each lane sends in each step: that of its receiver, with the slice's own noise."""
    steps, lanes, adding = system.plan.schedule.reducing_steps, len(system.lanes), added_up(system)
    if not adding:
        return np.zeros((steps, lanes), np.int64)
    by_receiver = np.zeros(lanes, np.int64)
    by_receiver[[system.receiver(lane, 0) for lane in range(lanes)]] = [
        leg.visits[0].duration_ps for leg in adding
    ]
    nodes = np.array([lane.node for lane in system.lanes])
    adds_ps: Whole = by_receiver[np.arange(lanes) - nodes + partners[:steps, nodes]]
    # adding up is the last stage of a slice, and each step has one slice of every lane
    if (factors := system.factors) is not None:
        adds_ps = jitter.all_slowed(adds_ps, factors[:steps, 0, -1])
    if (detours := system.detours) is not None and adding[0].visits[0].held_up:
        adds_ps = adds_ps + detours[:steps, 0, -1]
    return adds_ps


def _own_ps(system: System, traffic: Exchange | None) -> Whole:
    """Return when the node's own contribution to what each step adds is there."""
    return _own(system, traffic, system.plan.schedule.receives)


def _own(system: System, traffic: Exchange | None, positions: Callable[[int], range]) -> Whole:
    schedule = system.plan.schedule
    if not (traffic and system.plan.collects):
        return np.zeros(schedule.reducing_steps, np.int64)
    ready = traffic.ready.tolist()
    moments = [
        system.own_ready(ready, positions(step), system.sizes(step))[0]
        for step in range(schedule.reducing_steps)
    ]
    return np.array(moments, np.int64)


def _line(system: System, traffic: Exchange | None, ways: Ways, slots: int) -> InLine:
    schedule, lanes = system.plan.schedule, len(system.lanes)
    each, nodes = len(ways.legs) // lanes, range(schedule.ranks)
    legs, to = ways.legs[:each], system.lanes[system.receiver(0, 0)].node
    pools = {index: node for (_, node, _), index in system.pools.items()}
    resource = [resource_record.node for resource_record in system.resources]
    cost = system.scenario.registration_cost if system.scenario.registers else None
    unused = np.zeros(slots, np.int64)
    unused[: slots - lanes] = np.arange(lanes, slots)[::-1]
    partners = np.array(
        [[schedule.to(node, step) for node in nodes] for step in range(schedule.steps)], np.int64
    )
    return InLine(
        from_ps=_own(system, traffic, schedule.sends) + (cost.lookup_ps if cost else 0),
        partners=partners,
        legs=ways.legs,
        visits=ways.visits,
        leg_ends=np.array(
            [
                (
                    leg.wire >= 0 and resource[leg.wire] == to,
                    pools.get(leg.acquire) == to,
                    pools.get(leg.release) == to,
                )
                for leg in legs
            ],
            np.int64,
        ),
        visit_ends=np.array(
            [resource[visited] == to for visited in ways.visits.resource[: len(ways.visits) // lanes]],
            np.int64,
        ),
        unused=unused,
        came=np.zeros((schedule.reducing_steps, lanes), np.int64),
        adds_ps=_adds_ps(system, partners),
    )


def _spans(system: System, ways: Ways) -> int:
    """Return how many spans the loop writes."""
    lanes = len(system.lanes)
    each = len(ways.visits) // lanes + int((ways.legs.flight_ps[: len(ways.legs) // lanes] > 0).sum())
    return each * lanes * system.plan.schedule.steps


def _begin(s: State) -> None:
    """Put the first of each line on the heap, all at the same time."""
    lanes = len(s.lanes)
    s.heap.time[:lanes] = s.line.from_ps[0] if len(s.line.from_ps) else s.counts[0].lookup_ps
    s.heap.what[:lanes] = s.where[:lanes] = np.arange(lanes)
