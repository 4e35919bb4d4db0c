"""Bus bandwidth as nccl-tests define it (doc/PERFORMANCE.md)."""

_SHARES = {"allreduce": 2, "allgather": 1, "reduce-scatter": 1, "alltoall": 1, "gather": 1, "scatter": 1}
"""How often a rank sends all shares of the message but one."""
_WHOLE = ("broadcast", "reduce", "point-to-point")
"""What passes every link once, whole."""

MEASURED_COLLECTIVES = (*_SHARES, *_WHOLE)
"""What tools measure; the simulation knows fewer."""


def bus_factor(collective: str, ranks: int) -> float:
    """Return busbw / algbw of a collective; algbw counts the whole message, as nccl-tests' column "size" does.

    >>> bus_factor("allreduce", 8), bus_factor("allgather", 2), bus_factor("point-to-point", 2)
    (1.75, 0.5, 1.0)
    """
    return 1.0 if collective in _WHOLE else _SHARES[collective] * (ranks - 1) / ranks
