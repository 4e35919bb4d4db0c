"""Shards of a sweep: which rows belong to which, where several jobs answer one question without talking to each other."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from typing import Any

from peerlab.base.errors import PeerlabError

_MOST = 100_000
"""Shards of one sweep."""


@dataclass(frozen=True)
class Shard:
    """One of several shares of the rows."""

    number: int
    """Which, from 1."""
    of: int
    """How many there are."""

    @classmethod
    def read(cls, given: Any) -> "Shard":
        """Return the shard that ``"3/40"`` or ``(3, 40)`` stands for.

        Raises
        ------
        PeerlabError
            If there is no such shard.
        """
        parts = _parts(given)
        if parts is None:
            raise PeerlabError(
                f"shard: {repr(given)[:40]} is none; give I/N, as in 3/40 for the third of forty"
            )
        number, of = parts
        if not 1 <= of <= _MOST:
            raise PeerlabError(f"shard: {number}/{of}: there can be 1 to {_MOST} shards, not {of}")
        if not 1 <= number <= of:
            raise PeerlabError(
                f"shard: {number}/{of} is none; of {of} shards the first is 1/{of}, the last {of}/{of}"
            )
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, place: int) -> bool:
        """Return whether the row at a place of the question, from 0, is this shard's."""
        return shard_at(place, self.of) == self.number


def shard_at(place: int, of: int) -> int:
    """Return the number of the shard that a row belongs to.

    Rows are dealt out in rounds, one to each shard, in an order that is shuffled for each round, the same way everywhere. So
    shards are as alike as can be: in one order, every second of an even number of shards would have the second of two paths
    alone.
    """
    number, seat = divmod(place, of)
    return _order(number, of)[seat]


@lru_cache(maxsize=4)
def _order(number: int, of: int) -> tuple[int, ...]:
    """Return the shards in the order in which a round deals rows to them."""
    return tuple(sorted(range(1, of + 1), key=lambda shard: sha256(b"%d %d" % (number, shard)).digest()))


def say_numbers(numbers: Iterable[int]) -> str:
    """Return numbers as Slurm's ``--array`` takes them.

    >>> say_numbers([7, 12, 13, 14])
    '7,12-14'
    """
    # Along a run of numbers the difference to their places stays the same.
    runs = groupby(enumerate(sorted(set(numbers))), lambda pair: pair[1] - pair[0])
    ends = [[number for _, number in run] for _, run in runs]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in ends)


def _parts(given: Any) -> tuple[int, int] | None:
    if isinstance(given, str):
        match = re.fullmatch(r"\s*(-?\d{1,18})\s*/\s*(-?\d{1,18})\s*", given, re.ASCII)
        return (int(match[1]), int(match[2])) if match else None
    if not isinstance(given, Sequence) or len(given) != 2:
        return None
    if any(isinstance(part, bool) or not hasattr(part, "__index__") for part in given):
        return None
    return int(given[0]), int(given[1])
