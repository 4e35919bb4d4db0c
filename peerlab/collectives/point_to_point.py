"""Point to point: rank 0 sends its buffer to rank 1, whole."""

from dataclasses import dataclass

from peerlab.collectives.chunking import OneChunk


@dataclass(frozen=True, slots=True)
class PointToPoint(OneChunk):
    """One transfer of `chunk_bytes` from rank 0 to rank 1."""

    chunk_bytes: int
    """Bytes sent."""
    ranks: int = 2
    """Two."""
    steps: int = 1
    """One."""
    reducing_steps: int = 0
    """None: the receiver keeps what it gets."""
    transfers: int = 1
    """One."""
    symmetric: bool = False
    """Rank 1 sends nothing."""

    def to(self, rank: int, step: int) -> int:
        """Return rank 1 for rank 0."""
        return 1 if rank == step == 0 else -1

    def source(self, rank: int, step: int) -> int:
        """Return rank 0 for rank 1."""
        return 0 if rank == 1 and step == 0 else -1

    def owned(self, rank: int) -> range:  # noqa: ARG002  (the same on every rank)
        """Return nothing: no sums are made."""
        return range(0)
