"""Answers are kept for whoever asks again: the latest ones, as many as their number and what they weigh allow."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf
from threading import RLock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Latest(Generic[Key, Value]):
    """Values by key; where there are too many, or they weigh too much, those that were asked for longest ago are dropped.

    Threads may share it. `weigh` returns what a value weighs, in the unit of `most_weight`; the latest `always` values are kept whatever they weigh.

    >>> letters = Latest(most=2)
    >>> [letters.get(word, lambda: len(word)) for word in ("ring", "tree", "chain")]
    [4, 4, 5]
    >>> letters.find("ring"), letters.find("chain")
    (None, 5)
    """

    def __init__(
        self,
        most: int,
        most_weight: float = inf,
        weigh: Callable[[Value], int] = lambda _: 0,
        always: int = 1,
    ) -> None:
        self.most, self.most_weight = most, most_weight
        self._weigh, self._always = weigh, always
        self._values: OrderedDict[Key, Value] = OrderedDict()  # asked for longest ago first
        self._weights: dict[Key, int] = {}
        self._lock = RLock()

    def find(self, key: Key) -> Value | None:
        """Return the value of a key if it is kept."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._weigh_last()
                self._values.move_to_end(key)
            return value

    def keep(self, key: Key, value: Value) -> Value:
        """Keep a value; what was asked for longest ago gives way."""
        with self._lock:
            self._weigh_last()
            self._values[key] = value
            self._values.move_to_end(key)  # another thread may have computed it, too
            self._weigh_last()
            while len(self._values) > self.most or (
                len(self._values) > self._always and self.weight > self.most_weight
            ):
                oldest, _ = self._values.popitem(last=False)
                self._weights.pop(oldest, None)
            return value

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computed and kept if need be."""
        value = self.find(key)
        # computed outside of the lock: who asks for another key does not wait
        return self.keep(key, compute()) if value is None else value

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._values.clear()
            self._weights.clear()

    def __len__(self) -> int:
        return len(self._values)

    def _weigh_last(self) -> None:
        """Weigh the value that was asked for last: it may have grown since."""
        if self._values and self.most_weight < inf:
            key = next(reversed(self._values))
            self._weights[key] = self._weigh(self._values[key])

    @property
    def weight(self) -> int:
        """What all values weigh together."""
        return sum(self._weights.values())
