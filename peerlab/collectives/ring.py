"""The ring: N-1 steps of reduce-scatter, N-1 steps of allgather, or both, always to the right neighbour."""

from dataclasses import dataclass

from peerlab.collectives.chunking import Halves


@dataclass(frozen=True, slots=True)
class Ring(Halves):
    """Collective of `nbytes` over a ring of `ranks`.

    AllReduce: in step s < N-1, rank i sends chunk i-s, and its neighbour adds it; then the finished chunks go round once
    more. A reduce-scatter is the first half, with the chunks numbered so that rank i ends with chunk i; an allgather, in
    which rank i begins with chunk i, the second.
    """

    @property
    def is_ring(self) -> bool:
        """Yes."""
        return True

    def to(self, rank: int, step: int) -> int:  # noqa: ARG002  (the same in every step)
        """Return the right neighbour."""
        return (rank + 1) % self.ranks

    def source(self, rank: int, step: int) -> int:  # noqa: ARG002  (the same in every step)
        """Return the left neighbour."""
        return (rank - 1) % self.ranks

    def sends(self, step: int) -> range:
        """Return the position that arrived last."""
        at = step % self.ranks
        return range(at, at + 1)

    def receives(self, step: int) -> range:
        """Return the next position."""
        at = (step + 1) % self.ranks
        return range(at, at + 1)

    def chunk(self, rank: int, position: int) -> int:
        """Return the chunk that is so many ranks to the left."""
        # one further to the left in a reduce-scatter alone, so that rank i ends with chunk i
        return (rank - position - (not self.spreads)) % self.ranks

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return the last position, which has seen every rank."""
        return range(self.ranks - 1, self.ranks)
