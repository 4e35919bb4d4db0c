"""The ring: N-1 steps of reduce-scatter, N-1 steps of allgather, or both, always to the right neighbour."""

from dataclasses import dataclass

from peerlab.collectives.plan import Transfer


@dataclass(frozen=True, slots=True)
class Ring:
    """Collective of `nbytes` over a ring of `ranks`.

    AllReduce: in step s < N-1, rank i sends chunk i-s, and its neighbour adds it; then the finished chunks go round once
    more. A reduce-scatter is the first half, with the chunks numbered so that rank i ends with chunk i; an allgather, in
    which rank i begins with chunk i, the second.
    """

    ranks: int
    """Ranks in the ring, 1 or more; a ring of one has no steps."""
    nbytes: int
    """Bytes of the buffer that all chunks together fill."""
    adds: bool = True
    """Whether there is a first half."""
    spreads: bool = True
    """Whether there is a second half."""

    @property
    def steps(self) -> int:
        """N-1 for each half."""
        return (self.adds + self.spreads) * (self.ranks - 1)

    @property
    def reducing_steps(self) -> int:
        """N-1, or 0 for an allgather."""
        return self.adds * (self.ranks - 1)

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
        chunk = (rank - step - (not self.spreads)) % self.ranks
        start = min(chunk * self.transfer_bytes, self.nbytes)
        end = min(start + self.transfer_bytes, self.nbytes)
        return Transfer(step, rank, self.to(rank), start, end, reduces=step < self.reducing_steps)
