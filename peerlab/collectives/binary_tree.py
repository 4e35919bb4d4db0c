"""The pipelined binary tree: sums go up to the root slice by slice, results come down."""

from dataclasses import dataclass

from peerlab.collectives.chunking import OneChunk


@dataclass(frozen=True, slots=True)
class BinaryTree(OneChunk):
    """Allreduce over one complete binary tree; the children of rank r are 2r+1 and 2r+2.

    Steps number the levels, two to each: what goes up from (or down to) the left children, then the right ones. A slice
    does not wait for its step but for its data, so the levels overlap.
    """

    ranks: int
    """Ranks, 1 or more."""
    chunk_bytes: int
    """Bytes of the buffer, which travels whole, in slices."""
    symmetric: bool = False
    """Leaves send once, the root twice, the others three times."""

    @property
    def _depth(self) -> int:
        return self.ranks.bit_length() - 1

    @property
    def steps(self) -> int:
        """Two for each level and direction."""
        return 4 * self._depth

    @property
    def transfers(self) -> int:
        """One to the parent and one from it for each rank but the root."""
        return 2 * (self.ranks - 1)

    @property
    def reducing_steps(self) -> int:
        """The way up."""
        return 2 * self._depth

    def to(self, rank: int, step: int) -> int:
        """Return the parent in the step of the rank's level on the way up, a child on the way down, or -1."""
        level, right = divmod(step, 2)
        # level of a rank, 0 at the root: ranks are numbered as in a heap
        mine = (rank + 1).bit_length() - 1
        if step < self.reducing_steps:
            # right children have even numbers
            goes_up = rank > 0 and mine == self._depth - level and right == (rank % 2 == 0)
            return (rank - 1) // 2 if goes_up else -1
        child = 2 * rank + 1 + right
        return child if mine == level - self._depth and child < self.ranks else -1

    def source(self, rank: int, step: int) -> int:
        """Return the child or the parent that sends to `rank` in `step`, or -1."""
        # the sender as it would have to be; `to` says whether it sends in this step
        other = 2 * rank + 1 + step % 2 if step < self.reducing_steps else (rank - 1) // 2
        return other if 0 <= other < self.ranks and self.to(other, step) == rank else -1

    def owned(self, rank: int) -> range:
        """Return the whole buffer at the root."""
        return range(rank == 0)
