"""Pairwise exchange: every rank sends each other rank its chunk directly, as Gaudi's scale-out over host NICs does."""

# Pairwise is DL1's default, because HCL does that over host NICs. No public log of it exists: what a
# message costs (0 to 20 us), what a hop adds (0 to 18 us) and which share of the exchange inside a node
# does not overlap (0 to 1) are assumed, best ends first, and in every band.

from dataclasses import dataclass

from peerlab.collectives.chunking import Halves


@dataclass(frozen=True, slots=True)
class Pairwise(Halves):
    """Collective of `nbytes`: a reduce-scatter in N-1 direct exchanges, then an allgather in as many.

    In step s a rank sends to the one s+1 further on and receives from the one s+1 before. Nothing is passed on, so the
    steps of a reduce-scatter wait for nothing; HCL's loop over boxes works like this (hcl_collective_routines.cpp).
    """

    def _distance(self, step: int) -> int:
        return step % (self.ranks - 1) + 1

    def to(self, rank: int, step: int) -> int:
        """Return the rank so much further on."""
        return (rank + self._distance(step)) % self.ranks

    def source(self, rank: int, step: int) -> int:
        """Return the rank so much before."""
        return (rank - self._distance(step)) % self.ranks

    def sends(self, step: int) -> range:
        """Return the partner's chunk, or the rank's own."""
        at = self._distance(step) if step < self.reducing_steps else 0
        return range(at, at + 1)

    def receives(self, step: int) -> range:
        """Return the receiver's own chunk, or the sender's."""
        at = 0 if step < self.reducing_steps else self.ranks - self._distance(step)
        return range(at, at + 1)

    def chunk(self, rank: int, position: int) -> int:
        """Return the chunk of the rank so much further on."""
        return (rank + position) % self.ranks

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return the rank's own chunk."""
        return range(1)
