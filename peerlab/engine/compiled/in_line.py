"""Lanes whose slices stand in line, as `peerlab.engine.loop.waiting_line`: the steps of a pairwise exchange, which wait for no other.

A slice's way depends on whom its lane sends to in that step. So a slot has legs of its own, put together of what the first step tells of
every lane: as one that sends, and as one that receives. Adding up is the last that happens to a slice, and nothing but the sum waits
for it; so it is no leg, and follows from the arrivals.
"""

from peerlab.engine.compiled.compiling import compiled
from peerlab.engine.compiled.state import State


@compiled
def take_slot(s: State, lane: int, step: int) -> int:
    """Return a slot with the slice of a step, and with its way."""
    counts = s.counts[0]
    counts.unused -= 1
    slot = s.line.unused[counts.unused]
    one, node = s.slots[slot], s.lanes[lane].node
    one.to = lane - node + s.line.partners[step, node]
    one.slice_id = step * counts.lanes + lane
    one.step = step
    one.lane = lane
    one.leg = slot * counts.legs
    _legs(s, slot)
    _visits(s, slot)
    return slot  # type: ignore[no-any-return]


@compiled
def _legs(s: State, slot: int) -> None:
    counts, one = s.counts[0], s.slots[slot]
    mine, theirs = one.lane * counts.legs, s.lanes[one.to].feeder * counts.legs
    for number in range(counts.legs):
        leg = s.legs[one.leg + number]
        ends = s.line.leg_ends[number]
        leg.wire = s.line.legs[(theirs if ends[0] else mine) + number].wire
        leg.acquire = s.line.legs[(theirs if ends[1] else mine) + number].acquire
        leg.release = s.line.legs[(theirs if ends[2] else mine) + number].release


@compiled
def _visits(s: State, slot: int) -> None:
    counts, one = s.counts[0], s.slots[slot]
    mine, theirs = one.lane * counts.visits, s.lanes[one.to].feeder * counts.visits
    for number in range(counts.visits):
        visit = s.visits[slot * counts.visits + number]
        other = s.line.visits[(theirs if s.line.visit_ends[number] else mine) + number]
        visit.resource = other.resource
        visit.lasts = other.lasts
        visit.engine = other.engine


@compiled
def give_slot(s: State, slot: int) -> None:
    """Take the slot of a slice that has arrived."""
    counts = s.counts[0]
    s.line.unused[counts.unused] = slot
    counts.unused += 1


@compiled
def add(s: State, now: int, slot: int) -> bool:
    """Add up what has arrived; return whether that makes the sum of its lane final."""
    one, counts = s.slots[slot], s.counts[0]
    lane = s.lanes[one.to]
    s.line.came[one.step, one.lane] = now
    # the node's own contribution comes first
    queued = max(now, s.own_ps[one.step]) if counts.gates else now
    lane.last = max(lane.last, one.slice_id) if queued == lane.queued else one.slice_id
    lane.queued = queued
    lane.added = max(lane.added, queued) + s.line.adds_ps[one.step, one.lane]
    lane.arrived += 1
    if lane.arrived < counts.reducing:
        return False
    counts.end = max(counts.end, lane.added)
    if counts.hands_out:
        note(s, lane.last, one.to, lane.added)
    return True


@compiled
def note(s: State, slice_id: int, to: int, now: int) -> None:
    """Write when a lane has a slice with its final value."""
    row = s.counts[0].finished
    s.counts[0].finished += 1
    s.finished[0, row] = slice_id
    s.finished[1, row] = to
    s.finished[2, row] = now
