"""The compiled loop itself, as `peerlab.engine.loop.event_loop.Loop`: slices from when their data is there to their arrival.

Per instant, in this order, as in the referee: everything that ends; then places in windows are given out; then resources that are free
again, and slices that arrive. What ends in one instant ends in any order: nothing is decided before all of it has. What is decided
goes by the lowest key: step, then slice, then lane.
"""

from collections.abc import Callable

from peerlab.engine.compiled.compiling import compiled, kept
from peerlab.engine.compiled.heap import pop, put
from peerlab.engine.compiled.in_line import add, give_slot, note, take_slot
from peerlab.engine.compiled.queues import ask, popleft, touch
from peerlab.engine.compiled.serving import alarm, arrives, enter, set_alarms, take, through
from peerlab.engine.compiled.state import (
    BEGUN,
    ENTERED,
    ENTERS,
    GATED,
    READY,
    STAGE_OVER,
    THROUGH,
    State,
)

LAST_PS = 2**62
"""A clock beyond this might overflow."""


def make_run(name: str) -> Callable[[State, int], bool]:
    """Return the function that runs the loop; its machine code is kept under this name."""

    def run(s: State, most: int) -> bool:
        """Run for about so many events; return whether anything is left."""
        counts = s.counts[0]
        until = counts.events + most
        while counts.entries and counts.events < until and counts.now <= LAST_PS:
            _instant(s)
        return counts.entries > 0  # type: ignore[no-any-return]

    run.__qualname__ = name
    return kept(run)


@compiled
def _instant(s: State) -> None:
    counts = s.counts[0]
    now = s.heap[0].time
    counts.now = now
    # an event may cause others at this very instant; they belong to it, and come before what is decided at its end
    while counts.entries and s.heap[0].time == now:
        item = pop(s)
        counts.events += 1
        if item >= 2 * len(s.slots) + len(s.servers):
            _give_back(s, s.apart.held[item - 2 * len(s.slots) - len(s.servers)])
        elif item >= 2 * len(s.slots):
            alarm(s, now, item - 2 * len(s.slots))
        elif item >= len(s.slots):
            arrives(s, item - len(s.slots))
        else:
            _due(s, now, item)
    _settle(s, now)
    # a begin comes last in its instant: everything else that happens then has happened
    if counts.beginning and not (counts.entries and s.heap[0].time == now):
        _begin_apart(s, now)


@compiled
def _due(s: State, now: int, slot: int) -> None:
    due = s.slots[slot].due
    if due == STAGE_OVER:
        _over(s, now, slot)
    elif due == THROUGH:
        through(s, now, slot)
    elif due == READY:
        _deliver(s, now, slot)
    elif due == GATED:
        enter(s, slot)
    elif due == ENTERED:
        _start_leg(s, now, slot)
    else:
        s.apart.beginning[s.counts[0].beginning] = slot
        s.counts[0].beginning += 1


@compiled
def _begin_apart(s: State, now: int) -> None:
    """Let slices that have waited for a node to begin go on in this instant, behind all else of it."""
    counts = s.counts[0]
    for index in range(counts.beginning):
        slot = s.apart.beginning[index]
        s.slots[slot].due = READY if s.slots[slot].due == BEGUN else ENTERED
        put(s, now, slot)
    counts.beginning = 0
    counts.passed = now


@compiled
def _waits(s: State, now: int, slot: int, until: int, due: int) -> bool:
    """Return whether a slice has to wait for a node to begin; if so, put it on the heap."""
    # what comes in the instant of a begin waits for it, too; that of a begin before has passed by
    if until < now or (until == now and s.counts[0].passed == now):
        return False
    s.slots[slot].due = due
    put(s, until, slot)
    return True


@compiled
def _give_back(s: State, pool: int) -> None:
    s.pools[pool].places += 1
    touch(s, pool)


@compiled
def _settle(s: State, now: int) -> None:
    """End an instant: windows, then resources decide about all that came in it."""
    counts = s.counts[0]
    index = 0
    while index < counts.touched:  # who comes up in a line asks for a place in this instant
        pool = s.pools[s.touched[index]]
        index += 1
        pool.touched = 0
        while pool.places and pool.first >= 0:
            pool.places -= 1
            slot = popleft(s, pool)
            enter(s, slot)
            if counts.in_line and not s.legs[s.slots[slot].leg].number:
                _come_up(s, now, s.slots[slot].lane)
    counts.touched = 0
    take(s, now)
    set_alarms(s)


@compiled
def _deliver(s: State, now: int, slot: int) -> None:
    """Take a slice whose data is there, as soon as its nodes have begun."""
    if s.counts[0].apart and _waits(s, now, slot, s.lanes[s.slots[slot].lane].gate, BEGUN):
        return
    _take_slice(s, now, slot)


@compiled
def _take_slice(s: State, now: int, slot: int) -> None:
    """Take a slice that may go; it waits until its transfer finds its memory registered."""
    chain, counts = s.slots[slot], s.counts[0]
    counts.begun = max(counts.begun, chain.step)
    if counts.registers:
        # the first slice of a transfer that is there begins it, and perhaps the next one
        for step in range(chain.step, min(chain.step + 1 + counts.prefetches, counts.steps)):
            if s.posted[step, chain.lane] < 0:
                s.posted[step, chain.lane] = now + counts.lookup_ps
        if s.posted[chain.step, chain.lane] > now:
            chain.due = READY
            put(s, s.posted[chain.step, chain.lane], slot)
            return
    if not counts.in_line:
        adds, last = chain.step < counts.reducing, chain.piece == counts.pieces - 1
        chain.leg = s.ways[chain.lane, int(adds), int(last)]
    _start_leg(s, now, slot)


@compiled
def _come_up(s: State, now: int, lane: int) -> None:
    """Let the next slice of a lane be the first of its line: it asks for a place as soon as its data is there."""
    lane_record, counts = s.lanes[lane], s.counts[0]
    lane_record.parked = 0
    if lane_record.next == counts.steps:
        return
    if lane_record.next < counts.reducing:
        from_ps = s.line.from_ps[lane_record.next]
    elif lane_record.arrived == counts.reducing:
        from_ps = lane_record.added + counts.lookup_ps
    else:
        lane_record.parked = 1
        return
    slot = take_slot(s, lane, lane_record.next)
    lane_record.next += 1
    if from_ps > now:
        s.slots[slot].due = READY
        put(s, from_ps, slot)
    else:
        _deliver(s, now, slot)


@compiled
def _start_leg(s: State, now: int, slot: int) -> None:
    chain, counts = s.slots[slot], s.counts[0]
    leg = s.legs[chain.leg]
    if counts.ahead and leg.there and _waits(s, now, slot, s.lanes[chain.lane].there, ENTERS):
        return
    if leg.gated and counts.gates:
        # gathered in the order of the ring's steps, from when the receiver begins
        ready = s.own_ps[chain.step * counts.pieces + chain.piece] + s.lanes[chain.lane].there
        if ready > now:
            chain.due = GATED
            put(s, ready, slot)
            return
    if leg.acquire >= 0:
        ask(s, now, leg.acquire, slot)
    else:
        enter(s, slot)


@compiled
def _over(s: State, now: int, slot: int) -> None:
    """End the stage, latency included, and begin the next."""
    leg = s.legs[s.slots[slot].leg]
    if leg.release >= 0:
        _give_back(s, leg.release)
        if s.counts[0].apart:
            pool = s.pools[leg.release]
            s.apart.given[leg.release, pool.given % s.apart.given.shape[1]] = now
            pool.given += 1
    if leg.ends:
        _arrived(s, now, slot)
    else:
        s.slots[slot].leg += 1
        _start_leg(s, now, slot)


@compiled
def _arrived(s: State, now: int, slot: int) -> None:
    """Note that a slice has arrived, perhaps with its final value; its receiver sends it on as the same slice of the next step."""
    chain, counts = s.slots[slot], s.counts[0]
    counts.end = max(counts.end, now)
    if counts.in_line:
        if chain.step >= counts.reducing:
            if counts.hands_out:
                note(s, chain.slice_id, chain.to, now)
        elif add(s, now, slot) and s.lanes[chain.to].parked:
            _come_up(s, now, chain.to)
        give_slot(s, slot)
        return
    to = s.lanes[chain.lane].receiver
    if counts.apart:
        s.apart.done[s.lanes[to].node] = max(s.apart.done[s.lanes[to].node], now)
        if counts.waits:
            s.apart.done[s.lanes[chain.lane].node] = max(s.apart.done[s.lanes[chain.lane].node], now)
    if counts.hands_out and chain.step >= counts.reducing - 1:
        _finish(s, now, slot, to)
    if chain.step + 1 < counts.steps:
        chain.step += 1
        chain.slice_id += counts.pieces * counts.lanes + to - chain.lane
        chain.lane = to
        _deliver(s, now, slot)


@compiled
def _finish(s: State, now: int, slot: int, to: int) -> None:
    """Hand a final slice out over the scale-up links of its node, first come first served."""
    lane = s.lanes[to]
    lasts = s.handed_ps[s.slots[slot].piece]
    if now <= lane.at:  # before its node begins, and so before the node's own
        lane.early = max(lane.early, now) + lasts
        lane.handed_out = max(lane.handed_out, lane.early + lane.own)
    else:
        lane.handed_out = max(lane.handed_out, now) + lasts
    if lane.kept:
        note(s, s.slots[slot].slice_id, to, now)
