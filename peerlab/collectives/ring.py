"""The ring: N-1 steps of reduce-scatter, then N-1 steps of all-gather, always to the right neighbour."""

from dataclasses import dataclass

from peerlab.collectives.plan import Transfer


@dataclass(frozen=True, slots=True)
class Ring:
    """AllReduce of `nbytes` over a ring of `ranks`.

    In step s < N-1, rank i sends chunk i-s, and its neighbour adds it; then the finished chunks go round once more.
    """

    ranks: int
    """Ranks in the ring, 1 or more; a ring of one has no steps."""
    nbytes: int
    """Bytes each rank contributes."""

    @property
    def steps(self) -> int:
        """2 (N-1)."""
        return 2 * (self.ranks - 1)

    @property
    def reducing_steps(self) -> int:
        """N-1."""
        return self.ranks - 1

    @property
    def chunks(self) -> int:
        """N."""
        return self.ranks

    @property
    def transfer_bytes(self) -> int:
        """One chunk, padded."""
        return -(-self.nbytes // self.ranks)

    @property
    def senders(self) -> range:
        """All of them."""
        return range(self.ranks)

    def to(self, rank: int) -> int:
        """Return the right neighbour."""
        return (rank + 1) % self.ranks

    def transfer(self, rank: int, step: int) -> Transfer:
        """Return what `rank` sends in `step`."""
        chunk = (rank - step) % self.ranks
        start = min(chunk * self.transfer_bytes, self.nbytes)
        end = min(start + self.transfer_bytes, self.nbytes)
        return Transfer(step, rank, self.to(rank), start, end, reduces=step < self.reducing_steps)
