"""How many ranks a log is about: bus bandwidth over algorithm bandwidth tells."""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from peerlab.collectives.busbw import bus_factor
from peerlab.records.figures import Printed

MOST = 1 << 16
"""No job has more."""
Range = tuple[int, int]
"""The fewest and the most ranks."""
ANY: Range = (1, MOST)


def rank_range(collective: str, algbw: Printed, busbw: Printed, *, of_shares: bool = False) -> Range | None:
    """Return which numbers of ranks the rounding of two bandwidths leaves open; None: no number fits.

    Parameters
    ----------
    of_shares:
        Whether algbw counts one rank's share of the message, as hccl_demo's does for an allgather.

    >>> rank_range("allreduce", Printed(259.78, 0.005), Printed(487.09, 0.005))
    (16, 16)
    """
    low = busbw.low / algbw.high if algbw.high else 0.0
    high = busbw.high / algbw.low if algbw.low else math.inf
    if of_shares:  # the factor is n - 1
        # Up and down to whole ranks, but for what a division is off by.
        fewest, most = math.ceil(low + 1 - 1e-9), math.floor(min(high, MOST) + 1 + 1e-9)
    # One factor for any number of ranks, as of a broadcast: it tells nothing.
    elif bus_factor(collective, 2) == bus_factor(collective, MOST):
        return ANY if low <= bus_factor(collective, 2) <= high else None
    else:
        whole = bus_factor(collective, 2) * 2  # the factor is `whole` times (n - 1) / n
        fewest = math.ceil(whole / (whole - low) - 1e-9) if low < whole else MOST + 1
        most = math.floor(whole / (whole - high) + 1e-9) if high < whole else MOST
    return (max(fewest, 1), min(most, MOST)) if fewest <= min(most, MOST) else None


def agreed(ranges: Iterable[Range | None]) -> Range:
    """Return what most of some ranges have in common: a row that is damaged does not decide.

    >>> agreed([(8, 9), (8, 8), None, (2, 2), (1, 65536)])
    (8, 8)
    """
    # By how much more or fewer ranges hold from a number on: one walk finds where most overlap.
    change: Counter[int] = Counter()
    for bounds in ranges:
        if bounds:
            change[bounds[0]] += 1
            change[bounds[1] + 1] -= 1
    best, most, agree = ANY, 0, 0
    for fewest, after in pairwise(sorted(change)):
        agree += change[fewest]
        if agree > most:
            best, most = (fewest, after - 1), agree
    return best


def factors_of(collective: str, ranks: Range, *, of_shares: bool = False) -> tuple[float, float]:
    """Return the least and the most that busbw / algbw can be."""
    if of_shares:
        return ranks[0] - 1.0, ranks[1] - 1.0
    return bus_factor(collective, ranks[0]), bus_factor(collective, ranks[1])


def say_ranks(collective: str, ranks: Range) -> str:
    """Return whose factor that is.

    >>> say_ranks("allreduce", (8, 8)), say_ranks("broadcast", ANY)
    ('allreduce of 8 ranks', 'broadcast')
    """
    if ranks == ANY:
        return collective
    return f"{collective} of {ranks[0]} {f'to {ranks[1]} ' * (ranks[0] < ranks[1])}ranks"
