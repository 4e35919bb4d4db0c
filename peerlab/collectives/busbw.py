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


def node_factor(collective: str, nodes: int, devices: int) -> float:
    """Return how many bytes a node of so many devices sends to the other nodes, per byte of the message.

    Of an all-to-all each device sends its own message, less what stays in the node; of any other collective the node sends one
    as a single rank would.

    >>> node_factor("allreduce", 8, 8), node_factor("alltoall", 8, 8)
    (1.75, 7.0)
    """
    return bus_factor(collective, nodes) * (devices if collective == "alltoall" else 1)
