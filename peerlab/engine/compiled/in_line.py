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
    chain, node = s.slots[slot], s.lanes[lane].node
    chain.to = lane - node + s.line.partners[step, node]
    chain.slice_id = step * counts.lanes + lane
    chain.step = step
    chain.lane = lane
    chain.leg = slot * counts.legs
    _legs(s, slot)
    _visits(s, slot)
    return slot  # type: ignore[no-any-return]


@compiled
def _legs(s: State, slot: int) -> None:
    counts, chain = s.counts[0], s.slots[slot]
    mine, theirs = chain.lane * counts.legs, s.lanes[chain.to].feeder * counts.legs
    for number in range(counts.legs):
        leg = s.legs[chain.leg + number]
        ends = s.line.leg_ends[number]
        leg.wire = s.line.legs[(theirs if ends[0] else mine) + number].wire
        leg.acquire = s.line.legs[(theirs if ends[1] else mine) + number].acquire
        leg.release = s.line.legs[(theirs if ends[2] else mine) + number].release


@compiled
def _visits(s: State, slot: int) -> None:
    counts, chain = s.counts[0], s.slots[slot]
    mine, theirs = chain.lane * counts.visits, s.lanes[chain.to].feeder * counts.visits
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
    chain, counts = s.slots[slot], s.counts[0]
    lane = s.lanes[chain.to]
    s.line.came[chain.step, chain.lane] = now
    # the node's own contribution comes first
    queued = max(now, s.own_ps[chain.step]) if counts.gates else now
    lane.last = max(lane.last, chain.slice_id) if queued == lane.queued else chain.slice_id
    lane.queued = queued
    lane.added = max(lane.added, queued) + s.line.adds_ps[chain.step, chain.lane]
    lane.arrived += 1
    if lane.arrived < counts.reducing:
        return False
    counts.end = max(counts.end, lane.added)
    if counts.hands_out:
        note(s, lane.last, chain.to, lane.added)
    return True


@compiled
def note(s: State, slice_id: int, to: int, now: int) -> None:
    """Write when a lane has a slice with its final value."""
    row = s.counts[0].finished
    s.counts[0].finished += 1
    s.finished[0, row] = slice_id
    s.finished[1, row] = to
    s.finished[2, row] = now
