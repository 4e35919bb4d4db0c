"""The loop's windows: pools of places, such as bounce buffers; a slice holds a place from one leg to another."""

from collections.abc import Sequence
from heapq import heappop, heappush


class Windows:
    """The slices that wait for a place, and how many places are free.

    Places are given out at the end of an instant: first come, first served, and of slices that came together the lowest key
    first.
    """

    def __init__(self) -> None:
        self.touched: set[int] = set()
        """Pools of which a place was asked for, or given back, in this instant."""
        self._places: list[int] = []
        self._queues: list[list[tuple[int, int]]] = []

    def meet(self, places: Sequence[int]) -> None:
        """Add the pools that the system has made since the last call, by the number of their places."""
        for count in places[len(self._places) :]:
            self._places.append(count)
            self._queues.append([])

    def hold(self, pool: int, count: int) -> None:
        """Note that slices of an exchange before this one hold so many places."""
        self._places[pool] -= count

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
            # a heap of (time, slice id): the order in which they came, and within an instant that of their ids
            queue = self._queues[pool]
            while queue and self._places[pool] > 0:
                self._places[pool] -= 1
                granted.append(heappop(queue)[1])
        self.touched.clear()
        return granted

    def state(self, now: int, base: int) -> tuple[object, ...]:
        """Return everything that later rows depend on, relative to `now` and slice id `base`."""
        queues = tuple(tuple(sorted((t - now, x - base) for t, x in queue)) for queue in self._queues)
        return (tuple(self._places), queues)
