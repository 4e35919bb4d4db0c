"""A ring AllReduce as transfers between places in device memory, and numbers whose float32 sums are exact."""

from collections.abc import Iterator
from dataclasses import dataclass

from peerlab.base.numbers import NDArray, np

Floats = NDArray[np.float32]

FLOAT = 4
"""Bytes of a float32."""
PAGE = 4096

_BELOW = 10_000
"""What a rank's numbers begin below: small, so that sums stay whole numbers below 2**24."""
_SHIFTS = 10_000
"""Places in those numbers at which a run can begin."""
_PER_RANK = 16
"""What each rank's numbers are shifted by, so that a rank counted twice in place of another is noticed."""
# 10,000 x 900 of the drawn numbers and 16 x 900 x 899 / 2 of the shifts come to 15.5 million.
MOST_RANKS = 900
"""Of so many, every sum is still a whole number below 2**24."""
_AT_ONCE = 1 << 16
"""Numbers compared at once, so that comparing needs no second buffer."""


@dataclass(frozen=True, slots=True)
class RingMove:
    """One rank's part of a step: it sends to its right while its left neighbour sends to it. All in bytes."""

    source_at: int
    """Offset of what is sent, in the own device memory."""
    source_bytes: int
    """Its length; chunks differ by one number where the message does not divide."""
    there_at: int
    """Offset where that lands in the right neighbour's device memory."""
    lands_at: int
    """Offset where the left neighbour's bytes land here."""
    lands_bytes: int
    """Their length."""
    adds_to: int | None
    """Offset of the chunk that what landed is added to; None: it landed in place."""

    def slices(self, slice_bytes: int) -> Iterator[tuple[int, int, int]]:
        """Yield offset, bytes to send and bytes to receive of each slice."""
        for at in range(0, max(self.source_bytes, self.lands_bytes), slice_bytes):
            out, into = self.source_bytes - at, self.lands_bytes - at
            yield at, min(max(out, 0), slice_bytes), min(max(into, 0), slice_bytes)


@dataclass(frozen=True)
class RingLayout:
    """Where the chunks of a message lie in device memory, and who sends which of them when.

    The message comes first. Behind it every step of the reduce-scatter has its own scratch: a neighbour may run ahead.
    """

    ranks: int
    """Ranks in the ring."""
    nbytes: int
    """The message, bytes."""

    @property
    def steps(self) -> int:
        """Of the reduce-scatter, and again of the all-gather."""
        return self.ranks - 1

    @property
    def largest_chunk(self) -> int:
        """Bytes of the longest chunk."""
        return -(-self.nbytes // FLOAT // self.ranks) * FLOAT

    @property
    def footprint(self) -> int:
        """Bytes of device memory that a rank needs."""
        return self._scratch_at(self.steps)

    def chunk(self, index: int) -> tuple[int, int]:
        """Return offset and length of a chunk, bytes; the first ones take what does not divide."""
        each, left = divmod(self.nbytes // FLOAT, self.ranks)
        place = index % self.ranks
        return (each * place + min(place, left)) * FLOAT, (each + (place < left)) * FLOAT

    def moves(self, rank: int) -> tuple[RingMove, ...]:
        """Return what a rank does, step by step."""
        return (
            *(self._reduce(rank, step) for step in range(self.steps)),
            *(self._gather(rank, step) for step in range(self.steps)),
        )

    def _scratch_at(self, step: int) -> int:
        return _pages(self.nbytes) + step * _pages(self.largest_chunk)

    def _reduce(self, rank: int, step: int) -> RingMove:
        source_at, source_bytes = self.chunk(rank - step)
        adds_to, lands_bytes = self.chunk(rank - step - 1)
        scratch = self._scratch_at(step)
        return RingMove(source_at, source_bytes, scratch, scratch, lands_bytes, adds_to)

    def _gather(self, rank: int, step: int) -> RingMove:
        source_at, source_bytes = self.chunk(rank + 1 - step)
        lands_at, lands_bytes = self.chunk(rank - step)
        return RingMove(source_at, source_bytes, source_at, lands_at, lands_bytes, None)


def _pages(nbytes: int) -> int:
    return -(-nbytes // PAGE) * PAGE


class Numbers:
    """What the ranks add up, other numbers in every run, so that nothing left over passes for an arrival.

    They are drawn, not counted: with any regularity there is a wrong place that looks like the right one.
    """

    def __init__(self, most_bytes: int) -> None:
        # the same on every rank, so that no numbers have to be sent to compare with
        drawn = np.random.default_rng(0).integers(_BELOW, size=most_bytes // FLOAT + _SHIFTS, dtype=np.uint16)
        self._base = drawn.astype(np.float32)

    def fill(self, rank: int, run: int, message: Floats) -> None:
        """Write a rank's contribution of a run into `message`, float32."""
        begin = run % _SHIFTS
        np.add(self._base[begin : begin + len(message)], np.float32(_PER_RANK * rank), out=message)

    def is_sum(self, ranks: int, run: int, message: Floats) -> bool:
        """Return whether `message` holds, exactly, the sum of all ranks' contributions of a run."""
        begin, shift = run % _SHIFTS, np.float32(_PER_RANK * ranks * (ranks - 1) // 2)
        return all(
            np.array_equal(
                message[at : at + _AT_ONCE],
                self._base[begin + at : begin + min(at + _AT_ONCE, len(message))] * np.float32(ranks) + shift,
            )
            for at in range(0, len(message), _AT_ONCE)
        )
