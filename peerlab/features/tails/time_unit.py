"""The unit of all times of many runs: one thing has one unit, in the picture, its table and the buttons below it."""

from math import ceil, log10
from typing import NamedTuple

from peerlab.base.units import PS_PER_MS, PS_PER_S, PS_PER_US, say_time
from peerlab.features.tails.tails import Tails
from peerlab.study.many_runs import nearest_rank

_MOST_DIGITS = 5
_UNITS = ((PS_PER_S, "s"), (PS_PER_MS, "ms"), (PS_PER_US, "µs"), (1000, "ns"))


class Unit(NamedTuple):
    """What all times of many runs are told in."""

    ps: int
    name: str
    digits: int = 3

    def text(self, ps: float) -> str:
        """Return a time in so many digits; in a unit of its own where this one would need more than five, or two zeros behind the point.

        >>> ms = Unit(10**9, "ms")
        >>> ms.text(5_518_000_000), ms.text(5_500_000_000), ms.text(1_234_000_000_000), ms.text(2_000_000)
        ('5.52 ms', '5.50 ms', '1,234 ms', '2 µs')
        """
        value = ps / self.ps
        if not 0.01 <= value < 99_999.5:
            return say_time(ps)
        if value >= 999.5:
            return f"{value:,.0f} {self.name}"
        # With its zeros: beside each other all have as many digits.
        return f"{value:#.{self.digits}g}".rstrip(".") + f" {self.name}"


def unit_of(tails: Tails) -> Unit:
    """Return the unit of all times of some runs: one that the slower path's median is told in, with digits that tell p90 from it."""
    slower = max((path.ordered_ps for path in tails.paths), key=lambda ordered: nearest_rank(ordered, 0.5))
    median = nearest_rank(slower, 0.5)
    further = nearest_rank(slower, 0.9) - median
    digits = min(_MOST_DIGITS, max(3, 1 + ceil(log10(median / further)))) if further else 3
    ps, name = next((unit for unit in _UNITS if median >= unit[0]), _UNITS[-1])
    return Unit(ps, name, digits)
