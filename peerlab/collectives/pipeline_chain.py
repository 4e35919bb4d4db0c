"""The pipelined chain of a broadcast: slice by slice from the root to its right neighbour, and on to that one's."""

from dataclasses import dataclass

from peerlab.collectives.chunking import OneChunk


@dataclass(frozen=True, slots=True)
class PipelineChain(OneChunk):
    """Broadcast of `chunk_bytes` from rank 0 along all ranks.

    In step s rank s sends to the next one what came in the step before. A slice does not wait for its step but for its data, so all
    steps overlap: NCCL's only algorithm for a broadcast (a ring that nothing closes), and Open MPI's *pipeline*.
    """

    ranks: int
    """Ranks, 1 or more; one alone has no steps."""
    chunk_bytes: int
    """Bytes of the buffer, which travels whole, in slices."""
    symmetric: bool = False
    """The root receives nothing, and the last rank sends nothing."""
    reducing_steps: int = 0
    """None: nothing is added up."""

    @property
    def steps(self) -> int:
        """One for each rank but the last."""
        return self.ranks - 1

    @property
    def transfers(self) -> int:
        """One in each step."""
        return self.steps

    def to(self, rank: int, step: int) -> int:
        """Return the right neighbour in the rank's own step, or -1."""
        return rank + 1 if rank == step < self.steps else -1

    def source(self, rank: int, step: int) -> int:
        """Return the left neighbour in the step of that one, or -1."""
        return step if rank == step + 1 else -1

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return nothing: no sums are made."""
        return range(0)
