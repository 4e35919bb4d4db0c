"""How schedules cut the buffer: not at all, or into a chunk for each rank."""

# Chunks are padded to equal size, slices are not. Padded chunks keep the schedule symmetric for sizes that
# do not divide, as in vendors' libraries. A transfer is cut into full slices and a remainder. Were it
# divided anew into equal slices, one byte more would change the size of all: two slices became three, and a
# message could get 40 % faster by a byte. A full slice is the library's largest one, or less, so that a
# transfer has about eight (`Scenario.least_slices`; one in an all-to-all and where a library's messages are
# known), none below 2 KiB; `collectives/choose.py` (`slices`) says what results. The reference executor
# (`collectives/reference`) runs such plans with real numbers and checks the sums.

from dataclasses import dataclass


class OneChunk:
    """The buffer is one chunk, which every rank has at position 0."""

    __slots__ = ()

    @property
    def is_ring(self) -> bool:
        """No."""
        return False

    @property
    def chunks(self) -> int:
        """One."""
        return 1

    def turn(self, step: int) -> int:  # noqa: ARG002  (the same in every step)
        """Return 0: every device stays on its rail."""
        return 0

    def sends(self, step: int) -> range:  # noqa: ARG002  (the same in every step)
        """Return the whole buffer."""
        return range(1)

    def receives(self, step: int) -> range:  # noqa: ARG002  (the same in every step)
        """Return the whole buffer."""
        return range(1)

    def chunk(self, rank: int, position: int) -> int:  # noqa: ARG002  (the same on every rank)
        """Return the only chunk."""
        return position


@dataclass(frozen=True, slots=True)
class Halves:
    """Collective of `nbytes`, a chunk for each rank: a half of the steps adds, a half hands out; an allreduce has both."""

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

    def turn(self, step: int) -> int:  # noqa: ARG002  (the same in every step)
        """Return 0: every device stays on its rail."""
        return 0

    @property
    def half_steps(self) -> int:
        """Steps of one half: N-1, to deal with every other rank."""
        # fewer where partners pass on what others gave them, as in halving
        return self.ranks - 1

    @property
    def steps(self) -> int:
        """Those of the halves there are."""
        return (self.adds + self.spreads) * self.half_steps

    @property
    def transfers(self) -> int:
        """One of each rank in each step."""
        return self.steps * self.ranks

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
