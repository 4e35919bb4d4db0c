"""Point to point: rank 0 sends its buffer to rank 1, whole."""

from dataclasses import dataclass

from peerlab.collectives.plan import Transfer


@dataclass(frozen=True, slots=True)
class PointToPoint:
    """One transfer of `nbytes` from rank 0 to rank 1."""

    nbytes: int
    """Bytes sent."""
    ranks: int = 2
    """Two."""
    steps: int = 1
    """One."""
    reducing_steps: int = 0
    """None: the receiver keeps what it gets."""
    chunks: int = 1
    """One."""

    @property
    def transfer_bytes(self) -> int:
        """The whole message."""
        return self.nbytes

    @property
    def senders(self) -> range:
        """Rank 0."""
        return range(1)

    def to(self, rank: int) -> int:
        """Return rank 1."""
        return rank + 1

    def transfer(self, rank: int, step: int) -> Transfer:
        """Return the one transfer."""
        return Transfer(step, rank, self.to(rank), 0, self.nbytes, reduces=False)
