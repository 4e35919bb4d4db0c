"""Queues of slots: first come first served at a resource, and for places in a window."""

from peerlab.engine.compiled.compiling import compiled
from peerlab.engine.compiled.state import Records, State, Whole


@compiled
def append(s: State, queue: Records, slot: int) -> None:
    """Let a slot wait behind those that came before it."""
    _link(s, queue, queue.last, slot)


@compiled
def popleft(s: State, queue: Records) -> int:
    """Return the slot that has waited longest, no more waiting; -1: none does."""
    first = queue.first
    if first >= 0:
        queue.first = s.slots[first].after
        if queue.first < 0:
            queue.last = -1
        else:
            s.slots[queue.first].before = -1
    return first  # type: ignore[no-any-return]


@compiled
def ask(s: State, now: int, pool: int, slot: int) -> None:
    """Let a slice wait for a place in a window: first come first served, and of one instant the lowest key first."""
    slots, queue = s.slots, s.pools[pool]
    slots[slot].asked = now
    before = queue.last
    while before >= 0 and slots[before].asked == now and slots[before].slice_id > slots[slot].slice_id:
        before = slots[before].before
    _link(s, queue, before, slot)
    touch(s, pool)


@compiled
def touch(s: State, pool: int) -> None:
    """Note that places of a window are to be given out at the end of this instant."""
    if not s.pools[pool].touched:
        s.pools[pool].touched = 1
        s.touched[s.counts[0].touched] = pool
        s.counts[0].touched += 1


@compiled
def _link(s: State, queue: Records, before: int, slot: int) -> None:
    """Put a slot into a queue behind `before`; -1: at its head."""
    slots = s.slots
    after = slots[before].after if before >= 0 else queue.first
    slots[slot].before = before
    slots[slot].after = after
    if before >= 0:
        slots[before].after = slot
    else:
        queue.first = slot
    if after >= 0:
        slots[after].before = slot
    else:
        queue.last = slot


@compiled
def sort(values: Whole, count: int) -> None:
    """Put the first so many values into order; they are few, or nearly in order."""
    for index in range(1, count):
        value, place = values[index], index
        while place and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value
