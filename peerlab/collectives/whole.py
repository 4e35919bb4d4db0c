"""What schedules share that never cut the buffer."""


class Whole:
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

    def sends(self, step: int) -> range:  # noqa: ARG002  (the same in every step)
        """Return the whole buffer."""
        return range(1)

    def receives(self, step: int) -> range:  # noqa: ARG002  (the same in every step)
        """Return the whole buffer."""
        return range(1)

    def chunk(self, rank: int, position: int) -> int:  # noqa: ARG002  (the same on every rank)
        """Return the only chunk."""
        return position
