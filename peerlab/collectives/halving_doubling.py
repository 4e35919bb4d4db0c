"""Recursive halving and doubling: partners at distances that are powers of two. The ranks must be a power of two."""

from dataclasses import dataclass

from peerlab.collectives.chunking import Halves, OneChunk


@dataclass(frozen=True, slots=True)
class HalvingDoubling(Halves):
    """Rabenseifner's allreduce of `nbytes`, or one half of it.

    While halving, a rank sends the half of its part that it gives up and adds what its partner gives up, until one chunk
    is left; doubling undoes this. As in MPICH an allreduce begins with the nearest partner; a reduce-scatter or an
    allgather alone begins or ends with the farthest, so that rank i has chunk i.

    What the partner will pass on first is sent first: positions go down while halving and up while doubling.
    """

    @property
    def half_steps(self) -> int:
        """Steps of one half: log2 N."""
        return self.ranks.bit_length() - 1

    def _moved(self, step: int) -> int:
        """Return how many chunks a step moves."""
        if step < self.reducing_steps:
            return int(self.ranks >> (step + 1))
        return 1 << (step - self.reducing_steps)

    def _reversed(self, number: int) -> int:
        """Return the bits of a rank in reverse where the nearest partner is the first."""
        if not (self.adds and self.spreads):
            # alone, a half ends or begins with chunk i at rank i, so no number is turned round
            return number
        bits = self.half_steps
        return int(f"{number:0{bits}b}"[::-1], 2) if bits else 0

    def to(self, rank: int, step: int) -> int:
        """Return the partner, who sends at the same time."""
        return rank ^ self._reversed(self._moved(step))

    def source(self, rank: int, step: int) -> int:
        """Return the partner."""
        return self.to(rank, step)

    def sends(self, step: int) -> range:
        """Return the upper half of what is left, downwards; or all that is finished."""
        half = self._moved(step)
        if step >= self.reducing_steps:
            return range(half)
        return range(2 * half - 1, half - 1, -1) if half > 1 else range(1, 2)

    def receives(self, step: int) -> range:
        """Return the lower half, downwards; or as much again as is finished."""
        half = self._moved(step)
        if step >= self.reducing_steps:
            return range(half, 2 * half)
        return range(half - 1, -1, -1) if half > 1 else range(1)

    def chunk(self, rank: int, position: int) -> int:
        """Return the chunk whose number differs from the rank's own in the bits of the position."""
        return self._reversed(rank) ^ position

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return the first position."""
        return range(1)


@dataclass(frozen=True, slots=True)
class RecursiveDoubling(OneChunk):
    """Allreduce in log2 N exchanges of the whole buffer, each added by both partners: few steps, many bytes."""

    ranks: int
    """Ranks, a power of two."""
    chunk_bytes: int
    """Bytes of the buffer, which travels whole."""
    symmetric: bool = True
    """All ranks do the same."""

    @property
    def steps(self) -> int:
        """log2 N."""
        return self.ranks.bit_length() - 1

    @property
    def transfers(self) -> int:
        """One of each rank in each step."""
        return self.steps * self.ranks

    @property
    def reducing_steps(self) -> int:
        """All of them."""
        return self.steps

    def to(self, rank: int, step: int) -> int:
        """Return the partner, who sends at the same time."""
        return rank ^ (1 << step)

    def source(self, rank: int, step: int) -> int:
        """Return the partner."""
        return self.to(rank, step)

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return the whole buffer."""
        return range(1)
