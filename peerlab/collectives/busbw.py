"""Bus bandwidth as nccl-tests define it (doc/PERFORMANCE.md), by the name of a collective."""

from peerlab.model.collective import collective_of


def bus_factor(collective: str, ranks: int) -> float:
    """Return busbw / algbw of a collective; algbw counts the whole message, as nccl-tests' column "size" does.

    >>> bus_factor("allreduce", 8), bus_factor("allgather", 2), bus_factor("point-to-point", 2)
    (1.75, 0.5, 1.0)
    """
    return collective_of(collective).bus_factor(ranks)
