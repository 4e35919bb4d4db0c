"""A figure as people write it: with its unit or without, with a comma, as a product or a quotient."""

import math
import re
from typing import Any

_NUMBER = r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?"
_WRITTEN = re.compile(rf"[~≈]?\s*({_NUMBER}(?:\s*[*/]\s*{_NUMBER})*)\s*(\D.*)?", re.DOTALL)
_TWO_READINGS = re.compile(r"[-+]?\d{1,3},\d{3}")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3}){2,}")
_RANGE = re.compile(r"(-|\u2013|\.\.|to\b)\s*\d")
_SIGNS = ("+", "-", "*", "/", "(")
_BITS = re.compile(r"[kMGT]i?b(it)?(/s|ps)?$")
_MICRO = re.compile("^(us|\u03bcs)$")
"""Ways to write microseconds beside µs: on a keyboard without it, and with the Greek letter."""
_TIMES = ("x", "\u00d7", "times")
_LONGEST = 100
"""Characters; what is longer is no figure."""


def number(answer: Any, unit: str) -> float:
    """Return the figure that somebody wrote: ``7.05``, ``"7,05"``, ``"7.05 GB/s"``, ``"14.1 / 2"``.

    Raises
    ------
    ValueError
        If it is no figure, one that can be read in two ways, or one in another unit.
    """
    said = _value(answer, unit) if isinstance(answer, str) else _converted(answer)
    if not math.isfinite(said):
        raise ValueError("Answer with a number.")
    return said


def _converted(answer: Any) -> float:
    """Return what is a number already, of whatever library; NaN if it is none."""
    try:
        return math.nan if isinstance(answer, bool) else float(answer)
    except Exception:  # noqa: BLE001  (anything may have been answered)
        return math.nan


def _value(text: str, unit: str) -> float:
    """Return the figure in a text."""
    text = text.strip()
    found = _WRITTEN.fullmatch(text) if len(text) <= _LONGEST else None
    if not found:
        raise ValueError("Answer with a number.")
    if _RANGE.match(found[2] or ""):
        raise ValueError("Answer with one number, not a range.")
    if (found[2] or "").startswith(_SIGNS):
        raise ValueError(
            "Answer with one number, a product or a quotient; Python works out the rest in the cell."
        )
    _same_unit(found[2] or "", unit)
    first, *rest = re.split(r"\s*([*/])\s*", found[1])
    value = _plain(first)
    for sign, other in zip(rest[::2], rest[1::2], strict=True):
        try:
            value = value * _plain(other) if sign == "*" else value / _plain(other)
        except ZeroDivisionError:
            raise ValueError("Answer with a number: this divides by zero.") from None
    return value


def _plain(text: str) -> float:
    """Return one number; a comma stands before its decimals, or more than once between thousands."""
    if _TWO_READINGS.fullmatch(text):
        raise ValueError(
            f"{text} can be read in two ways: write {text.replace(',', '')} or {text.replace(',', '.')}."
        )
    text = text.replace(",", "" if _THOUSANDS.fullmatch(text) else ".")
    try:
        return float(text)
    except ValueError:
        raise ValueError("Answer with a number.") from None


def _same_unit(written: str, unit: str) -> None:
    """Raise ValueError if something is written behind a figure that is not its unit, in the singular or the plural."""
    written = _MICRO.sub("µs", written).replace("Bps", "B/s")
    known = _TIMES if not unit else (unit.lower(), unit.lower().rstrip("s"))
    if not written or (written.lower() in known and not ("B" in unit and _BITS.match(written))):
        return
    if "B" in unit and _BITS.match(written):
        raise ValueError(f"Answer in {unit}: b is a bit, B a byte.")
    raise ValueError(f"Answer in {unit}." if unit else "Answer with a number without a unit.")
