"""Results of a validation in words: the cells of its table, on the screen and in docs/validation.md."""

import math
from collections import Counter
from collections.abc import Sequence

from peerlab.base.units import say_range, say_unit
from peerlab.features.validate.validation import SimulatedPoint, SimulatedRow

CELLS = ("row", "expected", "simulated", "error", "allowed", "")
"""Headings of the table."""


def cells(result: SimulatedRow, answer: SimulatedPoint | None = None) -> tuple[str, ...]:
    """Return the cells of a row, or of one of its points."""
    row = result.row
    if answer is not None:
        error = "-" if answer.problem else say_error(answer.error)
        name = "    " + (answer.point.label or row.name)
        simulated = say_value(answer.simulated, row.unit) + _say_band([answer], row.unit)
        return (name, say_expected(answer, row.unit), simulated, error, "", "")
    tolerance = "in the range" if _ranged(result) else say_error(row.tolerance)
    return (
        row.name,
        _span([say_expected(end, "1") for end in _ends(result, "expected")], row.unit),
        _span([say_value(end.simulated, "1") for end in _ends(result, "simulated")], row.unit)
        + _say_band(result.answers, row.unit),
        _say_errors(result),
        tolerance,
        _verdict(result) + (", fitted" if row.fitted else ""),
    )


def _say_band(answers: Sequence[SimulatedPoint], unit: str) -> str:
    """Return from where to where the figures may lie; empty where nobody asked."""
    ends = [end for answer in answers if answer.band for end in answer.band]
    return f", band {say_range(min(ends), max(ends))}{say_unit(unit)}" if ends else ""


def _verdict(result: SimulatedRow) -> str:
    if not result.passed:
        return "NOT MET"
    return "met in the median" if result.beyond else "met"


def say_value(value: float, unit: str) -> str:
    """Return a figure with its unit; a dash where there is none."""
    if math.isnan(value):
        return "-"
    # Four digits, and from 10,000 on all that stand before the point.
    digits = f"{value:.4g}" if abs(value) < 10**4 else f"{value:.0f}"
    return digits + say_unit(unit)


def say_expected(answer: SimulatedPoint, unit: str) -> str:
    """Return what is expected of a point, with its unit."""
    wanted = answer.point.expected
    if isinstance(wanted, tuple):
        return f"{wanted[0]:g} to {say_value(wanted[1], unit)}"
    return say_value(wanted, unit)


def say_error(error: float) -> str:
    """Return a relative error: in per cent from a hundredth of one on, else as a power of ten, 0 below 1e-14.

    >>> say_error(0.0331), say_error(-2.5e-7), say_error(0), say_error(1e-9)
    ('3.3 %', '-2.5e-07', '0', '1e-09')
    """
    if math.isinf(error):
        return "no answer"
    if abs(error) < 1e-14:  # a picosecond in a hundred seconds
        return "0"
    return f"{100 * error:.2g} %" if abs(error) >= 1e-4 else f"{error:.2g}"


def _say_errors(result: SimulatedRow) -> str:
    """Return what is held to the tolerance; of a median also what it hides."""
    if result.row.judged != "median":
        return say_error(result.error)
    beyond, count = len(result.beyond), len(result.answers)
    outside = f"{beyond} of {count} beyond {say_error(result.row.tolerance)}"
    return f"median {say_error(result.error)}, worst {say_error(result.worst.error)}, {outside}"


def say_score(results: Sequence[SimulatedRow]) -> str:
    """Return how many rows are met, and how many of them constants were fitted on: those predict nothing."""
    met, free = (
        sum(result.passed for result in results),
        [result.row for result in results if not result.row.fitted],
    )
    groups = Counter(row.group for row in free)
    rest = ", ".join(f"{count} {group}" for group, count in groups.items())
    fitted = len(results) - len(free)
    sentence = f"{met} of {len(results)} rows met; {fitted} of them fitted: those are no predictions"
    return sentence + (f"; the others: {rest}" if rest else "")


def _ranged(result: SimulatedRow) -> bool:
    return isinstance(result.answers[0].point.expected, tuple)


def _ends(result: SimulatedRow, what: str) -> list[SimulatedPoint]:
    """Return the answers with the smallest and the largest figure."""

    def size(answer: SimulatedPoint) -> float:
        wanted = answer.point.expected
        value = (
            answer.simulated if what == "simulated" else wanted[0] if isinstance(wanted, tuple) else wanted
        )
        # A point without an answer stands last, so that it is seen as an end of the range.
        return math.inf if math.isnan(value) else value

    return [min(result.answers, key=size), max(result.answers, key=size)]


def _span(ends: list[str], unit: str) -> str:
    """Return the range of a figure over the points of a row."""
    return " to ".join(dict.fromkeys(ends)) + say_unit(unit)
