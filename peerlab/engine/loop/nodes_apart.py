"""What the loop does where nodes begin apart: slices wait for both of their nodes, and places may be held from exchanges before.

A begin comes last in its instant, as in the referee: everything else that happens then has happened.
"""

from collections.abc import Mapping
from heapq import heappush

from peerlab.engine.begins import Begins, Held, Pool, meet_all
from peerlab.engine.legs import Leg
from peerlab.engine.loop.loop_resources import BEGUN, ENTERS, GIVEN, Heap
from peerlab.engine.loop.windows import Windows
from peerlab.engine.system import System


class NodesApart:
    """The begins of a run, and when places were given back."""

    def __init__(self, system: System, begins: Begins, windows: Windows, heap: Heap) -> None:
        self._system, self._begins, self._windows, self._heap = system, begins, windows, heap
        self._lanes, self._pieces = len(system.lanes), system.pieces
        self.posted = begins.posted
        """Whether slices come to a node before it begins."""
        self.beginning: list[tuple[int, bool]] = []
        """Slices that may go on in this instant, and whether they are at their receiver by now."""
        self._given: dict[int, list[int]] = {}
        self._gates: dict[tuple[int, int], int] = {}
        self._passed = -1
        """The instant in which nodes began last."""
        meet_all(system)
        held = [(system.pool(*_owner_and_places(system, pool)), until) for pool, until in begins.held]
        windows.meet(system.places)
        for pool, until in held:
            windows.hold(pool, len(until))
            for t in until:
                heappush(heap, (t, GIVEN, pool, 0))

    def wait(self, now: int, slice_id: int) -> bool:
        """Return whether a slice has to wait for one of its nodes; if so, note when it may go."""
        rest, lane = divmod(slice_id, self._lanes)
        key = (lane, rest // self._pieces)
        if key not in self._gates:
            self._gates[key] = self._begins.gate(self._system, *key)
        return self._wait(now, self._gates[key], BEGUN, slice_id)

    def wait_to_enter(self, now: int, slice_id: int, leg: Leg) -> bool:
        """Return whether a slice that comes to its receiver has to wait until that has begun."""
        rest, lane = divmod(slice_id, self._lanes)
        to = self._system.receiver(lane, rest // self._pieces)
        if not self._system.at_receiver(leg, to):
            return False
        return self._wait(now, self._begins.at[self._system.lanes[to].node], ENTERS, slice_id)

    def _wait(self, now: int, until: int, kind: int, slice_id: int) -> bool:
        # what comes in the instant of a begin waits for it, too; that of a begin before has passed by
        if until < now or (until == now and self._passed == now):
            return False
        heappush(self._heap, (until, kind, slice_id, 0))
        return True

    def come(self, kind: int, what: int) -> None:
        """Take an entry of the heap: a place is given back, or a slice may go on at the end of this instant."""
        if kind == GIVEN:
            self._windows.give_back(what)
        else:
            self.beginning.append((what, kind == ENTERS))

    def begin(self, now: int) -> list[tuple[int, bool]]:
        """Return the slices that may go on now."""
        rows, self.beginning, self._passed = self.beginning, [], now
        return rows

    def note(self, now: int, pool: int) -> None:
        """Note that a place was given back."""
        self._given.setdefault(pool, []).append(now)

    def held_after(self, done: Mapping[int, int]) -> Held:
        """Return the places that are held when their nodes are done; `done` by node."""
        names = {index: pool for pool, index in self._system.pools.items()}
        entries: dict[Pool, tuple[int, ...]] = {
            pool: tuple(t for t in until if t > done[pool[1]]) for pool, until in self._begins.held
        }
        for index, times in self._given.items():
            pool = names[index]
            entries[pool] = (*entries.get(pool, ()), *(t for t in times if t > done[pool[1]]))
        return tuple(sorted((pool, until) for pool, until in entries.items() if until))


def _owner_and_places(system: System, pool: Pool) -> tuple[str, tuple[int, int], int]:
    kind, node, device = pool
    return kind, (node, device), system.scenario.places
