"""What schedules share that cut the buffer into a chunk for each rank: a half that adds, and one that hands out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Halves:
    """Collective of `nbytes` in halves of equally many steps: both for an allreduce, one for the others."""

    ranks: int
    """Ranks, 1 or more; one alone has no steps."""
    nbytes: int
    """Bytes of the buffer that all chunks together fill."""
    adds: bool = True
    """Whether there is a half that adds (an allgather has none)."""
    spreads: bool = True
    """Whether there is a half that hands out (a reduce-scatter has none)."""
    symmetric: bool = True
    """All ranks do the same."""

    @property
    def is_ring(self) -> bool:
        """No."""
        return False

    @property
    def half_steps(self) -> int:
        """Steps of one half: N-1, to deal with every other rank."""
        return self.ranks - 1

    @property
    def steps(self) -> int:
        """Those of the halves there are."""
        return (self.adds + self.spreads) * self.half_steps

    @property
    def reducing_steps(self) -> int:
        """Those of the half that adds, if there is one."""
        return self.adds * self.half_steps

    @property
    def chunks(self) -> int:
        """N."""
        return self.ranks

    @property
    def chunk_bytes(self) -> int:
        """An N-th of the buffer, padded."""
        return -(-self.nbytes // self.ranks)
