"""A figure as people write it: with its unit, another one or none, with a comma, as a product or a quotient."""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from peerlab.base.units import PS_PER_S, parse_bytes, parse_duration, parse_rate
from peerlab.features.exercises.wording import same

_NUMBER = r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?"
# Words that change nothing of a figure; several may stand before it, as in "about a factor of".
_ABOUT = re.compile(
    r"(~|\u2248|=|about|around|roughly|approximately|circa|ca\.?|(a )?factor( of)?)\s*", re.IGNORECASE
)
_WRITTEN = re.compile(rf"({_NUMBER}(?:\s*[*/]\s*{_NUMBER})*)\s*(\D.*)?", re.DOTALL)
# One comma before three digits: thousands for some, decimals for others.
_TWO_READINGS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3}){2,}")
# Looked for behind the first number: "5 - 7" and "5 to 7" are two numbers.
_RANGE = re.compile(r"(-|\u2013|\.\.|to\b)\s*\d")
_SIGNS = ("+", "-", "*", "/", "(")
_TIMES = re.compile(r"x|\u00d7|times|-?fold", re.IGNORECASE)
_AS_FAST = re.compile(rf"({_TIMES.pattern})?\s*(as fast|faster|quicker)?", re.IGNORECASE)
_PERCENT = re.compile(r"(%|per ?cent)\s*(as fast)?", re.IGNORECASE)
_PERCENT_MORE = re.compile(r"(%|per ?cent)\s*(faster|quicker|more)", re.IGNORECASE)
_COUNTED = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
)  # fmt: skip
_IN_WORDS = {word: number for number, word in enumerate(_COUNTED)} | {
    "none": 0,
    "zero": 0,
    "once": 1,
    "twice": 2,
}
_LONGEST = 100
"""Characters; what is longer is no figure."""
_SPELLED = (
    (re.compile(r" ?(/|\bper\b) ?s(ec(onds?)?)?$"), "/s"),
    (
        re.compile(r"(?<=[kmgtKMGT])bps$|(?<=[KMGT])b/s$"),
        "bit/s",
    ),  # "gb/s" in small letters is taken for GB/s
    (re.compile(r"Bps$"), "B/s"),
    (re.compile(r"\u03bc"), "\u00b5"),  # the Greek letter for the sign
    (re.compile(r"^(m|n)?(?:illi|ano)?sec(?:onds?)?$"), r"\1s"),
    (re.compile(r"^micro ?sec(?:onds?)?$"), "us"),
)
"""Ways to spell a unit, each with what stands in its place."""
_KINDS: dict[str, Callable[[str], float]] = {
    "rate": lambda unit: parse_rate(1, unit),
    # Seconds, so that units of time can be divided by each other.
    "time": lambda unit: parse_duration(1, unit) / PS_PER_S,
    "size": lambda unit: parse_bytes(f"1 {unit}"),
}
_OTHERS = {
    "rate": ("Gbit/s", "GiB/s", "MB/s", "B/s"),
    "size": ("B", "KiB", "MB", "GB", "GiB"),
    "time": ("s", "ms", "\u00b5s", "ns"),
}
"""Units in which a figure may be by mistake."""


@dataclass(frozen=True)
class WrittenFigure:
    """A figure that somebody wrote."""

    value: float
    """In the unit that was asked for."""
    written: float
    """As it stands there, whatever its unit is."""


def figure(answer: Any, unit: str) -> WrittenFigure:
    """Return the figure that somebody wrote: ``7.05``, ``"7,05"``, ``"7.05 GB/s"``, ``"56.4 Gbit/s"``, ``"14.1 / 2"``.

    Parameters
    ----------
    answer:
        What was answered.
    unit:
        What it is asked in: a rate, a size, a time, what is counted (``"copies"``), or ``""`` for a ratio.

    Raises
    ------
    ValueError
        If it is no figure, one that can be read in two ways, or one of something else.
    """
    # `str.__str__` itself: a text of a class of its own may say anything of itself.
    reading = _read(str.__str__(answer), unit) if isinstance(answer, str) else _converted(answer)
    if not math.isfinite(reading.value):
        raise ValueError(_ask(unit))
    return reading


def scale(unit: str) -> tuple[str, float] | None:
    """Return what a unit is of (``rate``, ``size``, ``time``) and how many B/s, bytes or seconds it is; None if it is none."""
    unit = " ".join(unit.split())
    for spelled, instead in _SPELLED:
        unit = spelled.sub(instead, unit)
    for kind, parse in _KINDS.items():
        with suppress(ValueError):
            return (kind, parse(unit)) if unit else None
    return None


def slips(truth: float, unit: str) -> Iterator[tuple[float, str]]:
    """Yield what a right figure becomes in another unit, or as another kind of ratio, each with the reply to it."""
    pair = scale(unit)
    if pair:
        for other in _OTHERS[pair[0]]:
            _, size = scale(other) or pair
            # In its own unit a figure is no slip.
            if size != pair[1]:
                bits = " A byte has eight bits." if "bit" in other else ""
                yield truth * pair[1] / size, f"That is in {other}; it is asked in {unit}.{bits}"
    # Ratios have slips of their own: the wrong way round, less 1, in per cent, or the time that is saved.
    elif not unit and truth:
        beyond = "That is what exceeds 1; asked is the factor itself. What is 50 % more is 1.5 times."
        yield 1 / truth, "That is the ratio upside down: turn the ratio round."
        yield truth - 1, beyond
        yield 100 * (truth - 1), beyond
        yield 100 * truth, "That is in per cent; asked is the factor. 150 % are 1.5 times."
        yield (
            1 - 1 / truth,
            "That is the share of the time that is saved. With half of it saved, it is 2 times as fast.",
        )


def _ask(unit: str) -> str:
    return f"Answer with a number in {unit}." if scale(unit) else "Answer with a number."


def _converted(answer: Any) -> WrittenFigure:
    """Return what is a number already, of whatever library; NaN if it is none."""
    try:
        # Python counts True as 1; it answers no question about a figure.
        value = math.nan if isinstance(answer, bool) else float(answer)
    except (Exception, SystemExit):  # noqa: BLE001  (anything may have been answered)
        value = math.nan
    return WrittenFigure(value, value)


def _read(text: str, unit: str) -> WrittenFigure:
    """Return the figure in a text."""
    # Before any pattern: none is tried on a text of a megabyte.
    if len(text := text.strip()) > _LONGEST:
        raise ValueError(_ask(unit))
    while about := _ABOUT.match(text):
        text = text[about.end() :]
    first = text.partition(" ")[0].lower()
    if first in _IN_WORDS:
        text = f"{_IN_WORDS[first]}{text[len(first) :]}"
    match = _WRITTEN.fullmatch(text)
    if not match:
        raise ValueError(_ask(unit))
    if _RANGE.match(match[2] or ""):
        raise ValueError("Answer with one number, not a range.")
    behind = (match[2] or "").strip()
    factor = _factor(behind, unit)
    # From left to right, as Python works out products and quotients.
    first, *rest = (part.strip() for part in re.split(r"([*/])", match[1]))
    value = _plain(first)
    for sign, other in zip(rest[::2], rest[1::2], strict=True):
        try:
            value = value * _plain(other) if sign == "*" else value / _plain(other)
        except ZeroDivisionError:
            raise ValueError("Answer with a number: this divides by zero.") from None
    return WrittenFigure(
        value * factor + bool(_PERCENT_MORE.fullmatch(behind)), value
    )  # 78 % faster is 1.78 times


def _plain(text: str) -> float:
    """Return one number; a comma stands before its decimals, or more than once between thousands."""
    if _TWO_READINGS.fullmatch(text):
        raise ValueError(
            f"{text} can be read in two ways: write {text.replace(',', '')} or {text.replace(',', '.')}."
        )
    # Groups of three behind more than one comma are thousands; else a comma stands before decimals.
    text = text.replace(",", "" if _THOUSANDS.fullmatch(text) else ".")
    try:
        return float(text)
    except ValueError:
        raise ValueError("Answer with a number.") from None


def _factor(written: str, unit: str) -> float:
    """Return what a figure is to be multiplied with, by what stands behind it.

    Raises
    ------
    ValueError
        If that is neither the unit nor another one of its kind.
    """
    pair, given = scale(unit), scale(written)
    if not written:
        return 1.0
    # Another unit of the same kind: the figure is turned into the one that is asked for.
    if pair and given and pair[0] == given[0]:
        return given[1] / pair[1]
    if not pair and (same(written, unit) or (_TIMES if unit else _AS_FAST).fullmatch(written)):
        return 1.0
    if not unit and (_PERCENT.fullmatch(written) or _PERCENT_MORE.fullmatch(written)):
        return 0.01
    if written.startswith(_SIGNS):
        raise ValueError(
            "Answer with one number, a product or a quotient; Python works out the rest in the cell."
        )
    if not unit:
        raise ValueError("Answer with a number without a unit.")
    raise ValueError(f"Answer in {unit}." if pair else f"Answer with a number of {unit}.")
