"""A shared resource in whole picoseconds, as `peerlab.engine.processor_sharing.FairShare`: engines are served in rounds, a picosecond each."""

from peerlab.engine.compiled.compiling import compiled
from peerlab.engine.compiled.queues import append, popleft
from peerlab.engine.compiled.state import Records, State


@compiled
def arrive(s: State, now: int, visit: Records, slot: int) -> int:
    """Take a slice; return when its engine begins with it, or -1 where that has another."""
    engine = s.engines[visit.engine]
    change(s, visit.resource)
    if engine.taken:
        append(s, engine, slot)
        return -1
    engine.taken = 1
    return _begin(s, now, visit.resource, visit.engine, slot)


@compiled
def free(s: State, now: int, resource: int, of: int) -> int:
    """Take the slice of an engine (`of` all) away; return the slot that has waited for it, or -1. Its begin is the resource's `since`."""
    engine = s.engines[of]
    change(s, resource)
    slot = popleft(s, engine)
    if slot < 0:
        engine.taken = 0
    else:
        _begin(s, now, resource, of, slot)
    return slot


@compiled
def _begin(s: State, now: int, resource: int, of: int, slot: int) -> int:
    server, engine, number = s.servers[resource], s.engines[of], s.slots[slot].taken
    advance(server, now)
    # a round serves each engine one picosecond, so that a slice is done as many rounds later as it needs picoseconds
    engine.over = server.rounds + s.works[slot, number]
    engine.slot = slot
    engine.number = number
    server.active += 1
    return server.since  # type: ignore[no-any-return]


@compiled
def next_end(s: State, server: Records) -> int:
    """Return when the next slice will be done if nothing arrives; there must be one."""
    first = -1
    for index in range(server.engine, server.engine + server.engines):
        over = s.engines[index].over
        if over >= 0 and (first < 0 or over < first):
            first = over
    return server.since + (first - server.rounds) * server.active * server.copies  # type: ignore[no-any-return]


@compiled
def advance(server: Records, now: int) -> None:
    """Go to the first end of a round that is not before now."""
    # `since` is always the end of a round, at or after the last change; a round in progress is not cut
    if now > server.since:
        length = server.active * server.copies
        if length:
            more = (now - server.since + length - 1) // length
            server.rounds += more
            server.since += more * length
        else:
            server.since = now


@compiled
def change(s: State, resource: int) -> None:
    """Note that the next end of a shared resource is to be found anew at the end of this instant."""
    if not s.servers[resource].changed:
        s.servers[resource].changed = 1
        s.changed[s.counts[0].changed] = resource
        s.counts[0].changed += 1
