"""Windows of the fast engine: pools of places, of which a slice holds one while it is under way."""

from collections.abc import Sequence
from heapq import heappop, heappush


class Windows:
    """Who waits for a place, and how many are free; places are given out at the end of an instant, lowest key first."""

    def __init__(self) -> None:
        self.touched: set[int] = set()
        """Pools that somebody came to, or left, in this instant."""
        self._places: list[int] = []
        self._queues: list[list[tuple[int, int]]] = []

    def meet(self, places: Sequence[int]) -> None:
        """Get to know the pools that were made since, by the number of their places."""
        for count in places[len(self._places) :]:
            self._places.append(count)
            self._queues.append([])

    def ask(self, now: int, pool: int, slice_id: int) -> None:
        """Let a slice wait for a place."""
        heappush(self._queues[pool], (now, slice_id))
        self.touched.add(pool)

    def give_back(self, pool: int) -> None:
        """Take a place back."""
        self._places[pool] += 1
        self.touched.add(pool)

    def grant(self) -> list[int]:
        """Give out free places; return the slices that have got one."""
        granted = []
        for pool in self.touched:
            queue = self._queues[pool]
            while queue and self._places[pool]:
                self._places[pool] -= 1
                granted.append(heappop(queue)[1])
        self.touched.clear()
        return granted

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return what decides about the future, relative to `now` and slice id `base`."""
        queues = tuple(tuple(sorted((t - now, x - base) for t, x in queue)) for queue in self._queues)
        return (tuple(self._places), queues)
