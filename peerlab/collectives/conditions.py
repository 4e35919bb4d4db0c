"""How ranks and size of a measurement are said. It loads no tables, as the ranks of a measurement need none."""

from peerlab.base.units import say_bytes, say_count

CONTROL = "A/A"
"""The variant of the baseline measured a second time: what it differs by from the first is noise."""


def say_block(ranks: int, nbytes: int) -> str:
    """Return ranks and size in words.

    >>> say_block(2, 1048576)
    '2 ranks, 1 MiB'
    """
    return f"{say_count(ranks, 'rank')}, {say_bytes(nbytes)}"
