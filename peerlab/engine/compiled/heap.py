"""What is due, on a binary heap in the order of time; every item is on it once at most."""

from peerlab.engine.compiled.compiling import compiled
from peerlab.engine.compiled.state import State


@compiled
def put(s: State, time: int, item: int) -> None:
    """Say when an item is due; one that is on the heap is moved."""
    place = s.where[item]
    if place < 0:
        place = s.counts[0].entries
        s.counts[0].entries += 1
        _rise(s, place, time, item)
    elif time < s.heap[place].time:
        _rise(s, place, time, item)
    else:
        _sink(s, place, time, item)


@compiled
def pop(s: State) -> int:
    """Return the item that is due next, and take it off the heap."""
    first = s.heap[0].what
    s.where[first] = -1
    s.counts[0].entries -= 1
    last = s.heap[s.counts[0].entries]
    if s.counts[0].entries:
        _sink(s, 0, last.time, last.what)
    return first  # type: ignore[no-any-return]


@compiled
def _rise(s: State, place: int, time: int, item: int) -> None:
    heap = s.heap
    while place > 0:
        above = (place - 1) >> 1
        if heap[above].time <= time:
            break
        _set(s, place, heap[above].time, heap[above].what)
        place = above
    _set(s, place, time, item)


@compiled
def _sink(s: State, place: int, time: int, item: int) -> None:
    heap, entries = s.heap, s.counts[0].entries
    below = 2 * place + 1
    while below < entries:
        if below + 1 < entries and heap[below + 1].time < heap[below].time:
            below += 1
        if heap[below].time >= time:
            break
        _set(s, place, heap[below].time, heap[below].what)
        place = below
        below = 2 * place + 1
    _set(s, place, time, item)


@compiled
def _set(s: State, place: int, time: int, item: int) -> None:
    entry = s.heap[place]
    entry.time = time
    entry.what = item
    s.where[item] = place
