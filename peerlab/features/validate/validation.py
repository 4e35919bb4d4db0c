"""Compares the model with its expected figures: simulates every row and says by how much it differs."""

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from peerlab.answer.run import Run
from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.features.validate.comparison import answered, drawn, forget
from peerlab.features.validate.expected_figures import ExpectedPoint, ExpectedRow, scenario
from peerlab.study.bands import gain_band_of


@dataclass(frozen=True)
class SimulatedPoint:
    """The simulated figure of one point."""

    point: ExpectedPoint
    """What was asked."""
    simulated: float
    """The figure in the row's unit; not a number where the scenario is impossible."""
    problem: str = ""
    """Why there is no figure."""
    band: tuple[float, float] | None = None
    """From where to where it may lie while assumed figures go through their ranges; None: not asked."""

    @property
    def error(self) -> float:
        """Relative difference from what is expected, signed; from a range, that to its nearer end, 0 inside.

        Where 0 is expected, the difference itself; infinite where there is no figure.
        """
        if math.isnan(self.simulated):
            return math.inf
        wanted = self.point.expected
        if isinstance(wanted, tuple):
            # The nearer end of a range, or the value itself where it lies inside: then the error is 0.
            wanted = min(max(self.simulated, wanted[0]), wanted[1])
        return (self.simulated - wanted) / (abs(wanted) or 1.0)


@dataclass(frozen=True)
class SimulatedRow:
    """The simulated figures of one row."""

    row: ExpectedRow
    """What was asked."""
    answers: tuple[SimulatedPoint, ...]
    """One per point."""

    @cached_property
    def error(self) -> float:
        """The error that is compared with the tolerance: the largest of the points, or their median; never negative."""
        # Without sign: a median of signed errors would hide a row that is wrong both ways.
        errors = [abs(answer.error) for answer in self.answers]
        return statistics.median(errors) if self.row.judged == "median" else max(errors)

    @property
    def worst(self) -> SimulatedPoint:
        """The point with the largest error."""
        return max(self.answers, key=lambda answer: abs(answer.error))

    @property
    def beyond(self) -> list[SimulatedPoint]:
        """The points beyond the tolerance; where the median is judged, a row may be met with some."""
        return [answer for answer in self.answers if abs(answer.error) > self.row.tolerance]

    @property
    def passed(self) -> bool:
        """Whether the row is met."""
        # A point without an answer fails its row even where a median would bear it.
        return self.error <= self.row.tolerance and not self.problems

    @property
    def problems(self) -> list[str]:
        """Why points could not be simulated, each reason once."""
        return list(dict.fromkeys(answer.problem for answer in self.answers if answer.problem))

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values; None where a point could not be simulated."""
        row = self.row
        return {
            "name": row.name,
            "group": row.group,
            "what": row.what,
            "compare": row.compare,
            "unit": row.unit,
            "judged": row.judged,
            "tolerance": row.tolerance,
            "error": _plain(self.error),
            "worst_error": _plain(self.worst.error),
            "points_beyond": len(self.beyond),
            "passed": self.passed,
            "fitted": row.fitted,
            "source": row.source,
            "note": row.note,
            "points": [
                {
                    "scenario": dict(answer.point.scenario),
                    "over": answer.point.over and dict(answer.point.over),
                    "expected": answer.point.expected,
                    "simulated": _plain(answer.simulated),
                    "error": _plain(answer.error),
                    "problem": answer.problem,
                    "band": answer.band,
                }
                for answer in self.answers
            ],
        }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def validate(rows: Iterable[ExpectedRow]) -> Iterator[SimulatedRow]:
    """Yield the result of each row, in order, as soon as it is simulated."""
    try:
        for row in rows:
            yield SimulatedRow(row, tuple(_answer(row, point) for point in row.points))
    finally:
        forget()


def _band(slow: Run, fast: Run) -> tuple[float, float]:
    gain_band = gain_band_of(slow, fast)
    return gain_band.low, gain_band.high


def _answer(row: ExpectedRow, point: ExpectedPoint) -> SimulatedPoint:
    try:
        scenarios = [scenario(fields) for fields in (point.scenario, point.over) if fields]
        runs = [answered(question) for question in scenarios]
        return SimulatedPoint(
            point, drawn(row.compare, row.unit, runs), band=_band(*runs) if row.band else None
        )
    # It is a `PeerlabError`, too: Ctrl+C must end all rows, not become the reason of one.
    except Cancelled:
        raise
    except PeerlabError as problem:
        return SimulatedPoint(point, math.nan, str(problem))
