"""The resources of a stage, as `peerlab.engine.loop.loop_resources.Serving`: they take slices, and a span is written when one is through.

Where all resources upstream are known to be through at some time, an exclusive resource is known to be through when it begins; then
nothing waits for an event. Behind a shared resource that is not so: such a resource is *held* until an event frees it.
"""

from peerlab.engine import jitter, standing_still
from peerlab.engine.compiled import fair_share
from peerlab.engine.compiled.compiling import compiled
from peerlab.engine.compiled.heap import put
from peerlab.engine.compiled.queues import append, popleft, sort
from peerlab.engine.compiled.state import SEVERAL, SHARED, STAGE_OVER, THROUGH, Records, State
from peerlab.model.stages import stage_number

_FLIGHT = stage_number("flight")
_slowed = compiled(jitter.slowed)
_through = compiled(standing_still.through)


@compiled
def _done(s: State, visit: Records, start: int, work: int) -> int:
    """Return when a resource is done with work that it begins at `start`."""
    if visit.phase < 0:
        return start + work
    counts = s.counts[0]
    return _through(start, work, visit.phase, counts.period_ps, counts.pause_ps)  # type: ignore[no-any-return]


@compiled
def enter(s: State, slot: int) -> None:
    """Let a slice begin with a stage: it arrives at its first resource in this instant."""
    chain = s.slots[slot]
    leg = s.legs[chain.leg]
    factor = s.factors[chain.step, chain.piece, leg.number, chain.lane] if s.counts[0].jitters else 1.0
    detour = s.detours[chain.step, chain.piece, leg.number, chain.lane] if s.counts[0].detours else 0
    for number in range(leg.visits):
        visit = s.visits[leg.visit + number]
        lasts = visit.lasts if factor == 1.0 else _slowed(visit.lasts, factor)
        s.works[slot, number] = lasts + detour * visit.held_up
    chain.taken = 0
    chain.through = 0
    chain.ready = 0
    chain.worked = 0
    arrives(s, slot)


@compiled
def arrives(s: State, slot: int) -> None:
    """Note that a slice arrives at the next resource of its stage in this instant."""
    chain, counts = s.slots[slot], s.counts[0]
    # step and number twice, as the receiver serves behind what it sends itself; then the lane
    place = chain.slice_id // counts.lanes * counts.lanes + chain.slice_id
    if s.visits[s.legs[chain.leg].visit + chain.taken].behind:
        place += counts.lanes
    s.arriving[counts.row, counts.arriving] = place * len(s.slots) + slot
    counts.arriving += 1


# ---- the end of an instant -------------------------------------------------------------------------------------


@compiled
def take(s: State, now: int) -> None:
    """Let free resources begin with those that have waited, then with what arrives, lowest key first, round by round."""
    counts = s.counts[0]
    for index in range(counts.freed):
        _free(s, now, s.freed[index, 0], s.freed[index, 1])
    counts.freed = 0
    while counts.arriving:
        many, here = counts.arriving, s.arriving[counts.row]
        counts.arriving = 0
        counts.row = 1 - counts.row
        sort(here, many)
        for index in range(many):
            _arrive(s, now, here[index] % len(s.slots))


@compiled
def _free(s: State, now: int, resource: int, engine: int) -> None:
    """Let the next slice have a resource that is through."""
    server = s.servers[resource]
    if server.kind == SHARED:
        slot = fair_share.free(s, now, resource, engine)
        if slot >= 0:
            _begun(s, now, slot, server.since)
    elif server.kind == SEVERAL:
        slot = popleft(s, server)
        if slot >= 0:
            _begun(s, now, slot, now)
        else:
            server.idle += 1
    else:
        server.held = 0
        server.free = now
        while server.first >= 0 and not server.held:
            _begin(s, now, popleft(s, server), max(now, server.free))


@compiled
def _arrive(s: State, now: int, slot: int) -> None:
    number = s.slots[slot].taken
    visit = s.visits[s.legs[s.slots[slot].leg].visit + number]
    server = s.servers[visit.resource]
    s.queued[slot, number] = now
    if server.kind == SHARED:
        begins = fair_share.arrive(s, now, visit, slot)
        if begins >= 0:
            _begun(s, now, slot, begins)
    elif server.kind == SEVERAL and server.idle:
        server.idle -= 1
        _begun(s, now, slot, now)
    elif server.kind == SEVERAL or server.held:
        append(s, server, slot)
    else:
        _begin(s, now, slot, max(now, server.free))


# ---- a resource begins -----------------------------------------------------------------------------------------


@compiled
def _begin(s: State, now: int, slot: int, start: int) -> None:
    """Let an exclusive resource begin with a slice; and those behind it, as far as their order is known beforehand."""
    chain = s.slots[slot]
    leg = s.legs[chain.leg]
    while True:
        number = chain.taken
        visit = s.visits[leg.visit + number]
        server = s.servers[visit.resource]
        s.starts[slot, number] = start
        chain.taken += 1
        if chain.through == number:  # the one upstream is known to be through
            end = max(_done(s, visit, start, s.works[slot, number]), chain.ready)
            server.free = end
            _past(s, slot, leg, visit, end)
            if chain.through == leg.visits:
                chain.due = STAGE_OVER
                put(s, chain.ready, slot)
                return
        else:
            server.held = 1
        number += 1
        if number == leg.visits:
            return
        there = start + (leg.flight_ps if leg.after == number else 0)
        following = s.visits[leg.visit + number]
        if not following.follows:
            _next(s, now, slot, there)
            return
        s.queued[slot, number] = there
        start = max(there, s.servers[following.resource].free)


@compiled
def _begun(s: State, now: int, slot: int, start: int) -> None:
    """Note that a shared resource, or one of several servers, begins with a slice; when it is through is an event."""
    chain = s.slots[slot]
    leg, number = s.legs[chain.leg], chain.taken
    s.starts[slot, number] = start
    chain.taken += 1
    visit = s.visits[leg.visit + number]
    if s.servers[visit.resource].kind == SEVERAL and chain.through == number:
        chain.due = THROUGH
        put(s, max(_done(s, visit, start, s.works[slot, number]), chain.ready), slot)
    if chain.taken < leg.visits:
        _next(s, now, slot, start + (leg.flight_ps if leg.after == chain.taken else 0))


@compiled
def _next(s: State, now: int, slot: int, there: int) -> None:
    if there == now:
        arrives(s, slot)
    else:
        put(s, there, len(s.slots) + slot)


# ---- a resource is through -------------------------------------------------------------------------------------


@compiled
def _past(s: State, slot: int, leg: Records, visit: Records, end: int) -> None:
    """Note that a resource is through with a slice at `end`: the next may be, when the latency between is over."""
    chain = s.slots[slot]
    number = chain.through
    start = s.starts[slot, number]
    record(
        s,
        slot,
        leg.stage,
        visit.resource,
        (s.queued[slot, number], start, end),
        visit.nbytes,
        s.works[slot, number],
    )
    chain.through += 1
    chain.ready = end
    if s.counts[0].apart:
        owner = s.servers[visit.resource].owner
        if owner >= 0:
            s.apart.done[owner] = max(s.apart.done[owner], end)
    if leg.flight_ps and leg.after == chain.through:
        chain.ready = end + leg.flight_ps
        left = start if chain.through < leg.visits else end
        record(s, slot, _FLIGHT, leg.wire, (left, left, chain.ready), 0, leg.flight_ps)


@compiled
def through(s: State, now: int, slot: int) -> None:
    """Let a resource be through with a slice, and those behind it that were only waiting for this."""
    chain, counts = s.slots[slot], s.counts[0]
    leg = s.legs[chain.leg]
    while True:
        index = leg.visit + chain.through
        visit = s.visits[index]
        s.freed[counts.freed, 0] = visit.resource
        s.freed[counts.freed, 1] = visit.engine
        counts.freed += 1
        _past(s, slot, leg, visit, now)
        number, end = chain.through, chain.ready
        if number == leg.visits:
            chain.due = STAGE_OVER
            put(s, end, slot)
            return
        if chain.taken == number:  # what has not begun will know it when it does
            return
        following = s.visits[index + 1]
        if s.servers[following.resource].kind == SHARED:
            if not chain.worked >> number & 1:
                return
        else:
            end = max(end, _done(s, following, s.starts[slot, number], s.works[slot, number]))
        if end > now:
            chain.due = THROUGH
            put(s, end, slot)
            return


@compiled
def alarm(s: State, now: int, resource: int) -> None:
    """End the work of a shared resource that is done now."""
    server = s.servers[resource]
    fair_share.advance(server, now)
    fair_share.change(s, resource)
    for index in range(server.engine, server.engine + server.engines):
        engine = s.engines[index]
        if engine.over != server.rounds:
            continue
        engine.over = -1
        server.active -= 1
        chain = s.slots[engine.slot]
        if chain.through < engine.number:
            chain.worked |= 1 << engine.number
        elif chain.ready > now:
            chain.due = THROUGH
            put(s, chain.ready, engine.slot)
        else:
            through(s, now, engine.slot)


@compiled
def set_alarms(s: State) -> None:
    """Set the alarm for the next end of every shared resource that has changed in this instant."""
    for index in range(s.counts[0].changed):
        resource = s.changed[index]
        server = s.servers[resource]
        server.changed = 0
        if server.active:
            put(s, fair_share.next_end(s, server), 2 * len(s.slots) + resource)
    s.counts[0].changed = 0


@compiled
def record(
    s: State, slot: int, stage: int, resource: int, times: tuple[int, int, int], nbytes: int, work: int
) -> None:
    """Write a span, where the spans of its lane are kept."""
    chain = s.slots[slot]
    lane = s.lanes[chain.lane]
    if not lane.kept:
        return
    row = s.counts[0].spans
    s.counts[0].spans += 1
    queued, start, end = times
    values = (
        lane.node,
        lane.device,
        chain.step,
        chain.piece,
        stage,
        resource,
        queued,
        start,
        end,
        nbytes,
        work,
    )
    for column in range(len(values)):
        s.spans[column, row] = values[column]
