"""Which slices a slice waits for: those with which the bytes that it sends arrived.

A slice is an interval of bytes in its rank's positions. It may be sent when every earlier slice that overlaps it has arrived
(and been added). So slices of a large step need not match those of a small one, as in halving and doubling.
"""

from collections.abc import Callable
from functools import cached_property

from peerlab.collectives.plan import Schedule, waits

Interval = tuple[int, int]


def intervals(positions: range, chunk: int, sizes: tuple[int, ...]) -> list[Interval]:
    """Return the bytes of each slice of a transfer, padding excluded; where the positions go down, so do the slices.

    >>> intervals(range(1, 3), 10, (12, 12)), intervals(range(2, 0, -1), 10, (12, 12))
    ([(10, 22), (22, 30)], [(18, 30), (10, 18)])
    """
    rows, done = [], 0
    low, high = min(positions) * chunk, (max(positions) + 1) * chunk
    for size in sizes:
        rest = min(size, high - low - done)  # the last slices may be padding, whole or in part
        begin = low + done if positions.step > 0 else high - done - rest
        rows.append((begin, begin + rest))
        done += rest
    return rows


class Order:
    """The order of one rank's slices (of every rank's, if the schedule is symmetric)."""

    def __init__(self, schedule: Schedule, rank: int, sizes: Callable[[int], tuple[int, ...]]) -> None:
        self._schedule, self._sizes = schedule, sizes
        self.waits = waits(schedule, rank)
        self._rank = rank
        self._feeds: dict[tuple[int, int], list[list[int]]] = {}
        self._needs: dict[int, list[int]] = {}

    @cached_property
    def leaders(self) -> dict[int, list[int]]:
        """For each step in which something arrives, the steps that wait for it; of several that send the same bytes, the first."""
        entries: dict[int, list[int]] = {}
        for step, needed in enumerate(self.waits):
            if needed and step not in self._followed:
                for before in needed:
                    entries.setdefault(before, []).append(step)
        return entries

    @cached_property
    def followers(self) -> dict[int, list[int]]:
        """For such a first step the later ones that send the same bytes, as when a tree's node sends to two children."""
        entries: dict[int, list[int]] = {}
        for step, leader in self._followed.items():
            entries.setdefault(leader, []).append(step)
        return entries

    @cached_property
    def _followed(self) -> dict[int, int]:
        first: dict[tuple[int, range], int] = {}
        entries = {}
        for step in range(self._schedule.steps):
            if self.waits[step]:
                # `waits` gives steps that wait for the same arrivals one tuple, so its id tells them
                leader = first.setdefault((id(self.waits[step]), self._schedule.sends(step)), step)
                if leader != step:
                    entries[step] = leader
        return entries

    def _sent(self, step: int) -> list[Interval]:
        """Return the slices of what a step sends; after the last step, of what the rank owns."""
        schedule = self._schedule
        positions = schedule.sends(step) if step < schedule.steps else schedule.owned(self._rank)
        return intervals(positions, schedule.chunk_bytes, self._sizes(len(positions)))

    def _received(self, step: int) -> list[Interval]:
        positions = self._schedule.receives(step)
        return intervals(positions, self._schedule.chunk_bytes, self._sizes(len(positions)))

    def feeds(self, before: int, step: int) -> list[list[int]]:
        """Return for each slice that arrives in step `before` which slices of `step` wait for it."""
        key = (before, step)
        if key not in self._feeds:
            sent, received = self._sent(step), self._received(before)
            if sent == received:  # as in every ring: slice for slice
                self._feeds[key] = [[piece] for piece in range(len(sent))]
            else:
                self._feeds[key] = [
                    [k for k, (low, high) in enumerate(sent) if low < to and begin < high]
                    for begin, to in received
                ]
        return self._feeds[key]

    def needs(self, step: int) -> list[int]:
        """Return for how many arrivals each slice of `step` waits."""
        if step not in self._needs:
            counts = [0] * len(self._sent(step))
            for before in self.waits[step]:
                for fed in self.feeds(before, step):
                    for piece in fed:
                        counts[piece] += 1
            self._needs[step] = counts
        return self._needs[step]
