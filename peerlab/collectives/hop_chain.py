"""A library's tree or ring as a chain: every rank passes its buffer on once, and what it crosses on its way are hops.

In a double tree all nodes carry the same load, half of it upwards and half downwards. So all walk alike and end together: each sends its
share of the bytes once, and each slice flies as many hops as the tree is deep, up and down again (`LibraryChoice.hops`).
"""

# A tree is a chain of hops. In a double tree all nodes carry the same load, so all walk alike and end
# together: each sends its share once, and a slice flies as many hops as the tree is deep, up and down
# (`collectives/hop_chain`). So it folds. A ring's hops of each way are one flight.

from dataclasses import dataclass

from peerlab.collectives.chunking import OneChunk


@dataclass(frozen=True, slots=True)
class HopChain(OneChunk):
    """One pass of a buffer of `chunk_bytes` to the right neighbour."""

    ranks: int
    """Ranks, 1 or more; one alone has no steps."""
    chunk_bytes: int
    """Bytes of the buffer, which travels whole, in slices."""
    symmetric: bool = True
    """All ranks do the same."""

    @property
    def steps(self) -> int:
        """One, if there is anybody to send to."""
        return int(self.ranks > 1)

    @property
    def transfers(self) -> int:
        """One of each rank in each step."""
        return self.steps * self.ranks

    @property
    def reducing_steps(self) -> int:
        """That one."""
        return self.steps

    def to(self, rank: int, step: int) -> int:  # noqa: ARG002  (the same in every step)
        """Return the right neighbour."""
        return (rank + 1) % self.ranks

    def source(self, rank: int, step: int) -> int:  # noqa: ARG002  (the same in every step)
        """Return the left neighbour."""
        return (rank - 1) % self.ranks

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return the whole buffer."""
        return range(1)
