"""Figures as tools print them: how exact they are, and whether those of a row contradict one another.

A tool that prints size, time, algorithm and bus bandwidth says the same several times. The law holds for all of them: within
what rounding leaves open, size over time is algbw, and algbw times the factor of the collective is busbw.
"""

import math
from collections.abc import Collection
from typing import NamedTuple

from peerlab.base.units import PS_PER_S, say_count, say_time
from peerlab.records.text import is_number, quote

_EXACT = 1e-9
"""Relative: figures that follow from one another differ so little however they were computed."""
_ELEMENT_BYTES = {
    **dict.fromkeys(("int8", "char", "uint8", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("half", "float16", "fp16", "bfloat16", "bf16", "int16", "uint16"), 2),
    **dict.fromkeys(("float", "float32", "fp32", "int32", "int", "uint32"), 4),
    **dict.fromkeys(("double", "float64", "fp64", "int64", "uint64"), 8),
}


class Printed(NamedTuple):
    """A figure of 0 or more, and how far from it the exact one may lie."""

    value: float
    half: float
    """Half a unit of its last digit, in its own unit."""

    @property
    def low(self) -> float:
        """The least that it may stand for."""
        return max(0.0, self.value - self.half) * (1 - _EXACT)

    @property
    def high(self) -> float:
        """The most that it may stand for."""
        return (self.value + self.half) * (1 + _EXACT)

    def times(self, factor: float) -> "Printed":
        """Return it in another unit."""
        return Printed(self.value * factor, self.half * factor)


def printed(text: str, power: int = 0) -> Printed | None:
    """Return a figure times a power of ten, or None for what is no number of 0 or more; digits without end are none.

    >>> printed("1907.8", power=-6).value, printed("-1"), printed("1e400")
    (0.0019078, None, None)
    >>> f"{printed('6.55').low:.3f} to {printed('6.55').high:.3f}"
    '6.545 to 6.555'
    """
    if not is_number(text):
        return None
    digits, _, exponent = text.lower().partition("e")
    power += int(exponent or 0)
    return Printed(float(f"{digits}e{power}"), 0.5 * 10.0 ** (power - decimals(digits)))


def decimals(text: str) -> int:
    """Return how many digits a figure has after its point."""
    return len(text.partition(".")[2])


def element_bytes(dtype: str) -> int | None:
    """Return how long an element of a type is, by the name that a tool gives it; None for one that is not known."""
    return _ELEMENT_BYTES.get(dtype)


def count_contradiction(
    size: int, count: int | None, dtype: str, shares: Collection[int] | None = (1,)
) -> str:
    """Return how size and number of elements contradict each other, or nothing.

    Parameters
    ----------
    count:
        None: nobody says; then a size is a whole number of elements.
    shares:
        The size may be so many times what is counted: all ranks', where a tool counts the elements of one. None: any
        whole number of times.
    """
    each = _ELEMENT_BYTES.get(dtype)
    if each is None:
        return ""
    if count is None:
        return f"{size} B are no whole number of elements of {dtype}" if size % each else ""
    counted = count * each
    fits = (
        size % counted == 0 if shares is None and counted else size in {counted * n for n in shares or (1,)}
    )
    return (
        "" if fits else f"{say_count(count, 'element')} of {dtype} are {counted} B, and its size is {size} B"
    )


def contradiction(
    size: int | None,
    time: Printed | None,
    algbw: Printed | None,
    busbw: Printed | None,
    *,
    unit: float = 1e9,
    factors: tuple[float, float] | None = None,
    whose: str = "",
) -> str:
    """Return how the figures of a row contradict one another, or nothing; what is missing contradicts nothing.

    Parameters
    ----------
    size, time, algbw, busbw:
        Bytes, seconds, and bandwidths in `unit` bytes per second.
    factors:
        The least and the most that busbw / algbw can be; None: not known.
    whose:
        Whose factor that is, such as ``"allreduce of 8 ranks"``.
    """
    if size is not None and time and algbw:
        # The longest time gives the least bandwidth.
        low = size / unit / time.high if time.high else 0.0
        high = size / unit / time.low if time.low else math.inf
        if algbw.high < low or algbw.low > high * (1 + _EXACT):
            rate, text = _apart(size / unit / time.value if time.value else math.inf, algbw.value)
            took = say_time(time.value * PS_PER_S)
            return f"{size} B in {took} are {rate} {_names(unit)}, and algbw says {text}"
    if algbw and busbw and factors:
        low, high = algbw.low * factors[0], algbw.high * factors[1]
        if busbw.high < low or busbw.low > high:
            ratio, usual = _apart(busbw.value / algbw.value if algbw.value else math.inf, factors[0])
            usual = usual if factors[0] == factors[1] else f"{usual} to {factors[1]:.4g}"
            return (
                f"busbw {busbw.value:g} is {ratio} times algbw {algbw.value:g}, and {whose} has {usual} times"
            )
    return ""


def cut_off(name: str, text: str, least: int) -> str:
    """Return that a figure has fewer decimals than its tool prints, or nothing."""
    if "e" in text.lower() or decimals(text) >= least:
        return ""
    return f"{name} {quote(text)} has fewer than the {say_count(least, 'decimal')} that its tool prints: is it cut off?"


def _apart(number: float, other: float) -> tuple[str, str]:
    """Return two numbers with as many digits as it takes to tell them apart."""
    # Four digits as a rule; sixteen tell nearly any two numbers apart.
    generator = ((f"{number:.{digits}g}", f"{other:.{digits}g}") for digits in range(4, 17))
    return next((pair for pair in generator if pair[0] != pair[1]), (repr(number), repr(other)))


def _names(unit: float) -> str:
    return "GiB/s" if unit == 2**30 else "GB/s"
