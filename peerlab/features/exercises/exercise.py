"""An exercise: what is asked, what is true, and what to say to a typical wrong answer.

Every truth is computed when an answer is checked, from the simulation or from the learner's own measurement; none is
written down. A typical wrong answer is computed as well, so that feedback stays right when a figure changes.
"""

# Exercises are our own code, because no library computes the truth. Considered: *jupyterquiz* and
# *ipyquizjb* take questions, right answers and feedback as JSON written beforehand, answered in the page
# (the first says itself that an answer hardly comes back to Python); *nbgrader* and *otter-grader* grade
# handed-in code against an instructor's tests, by points. None computes truth and typical mistakes from a
# simulation or from the learner's own measurement, gives hints in steps, or takes a figure, a choice and
# code alike. Ours is small (`peerlab/features/exercises`, one widget in
# `features/exercises/exercise_widget`), and imports nothing of notebooks: a test answers every exercise,
# rightly and wrongly, without one. Solutions are the labs with one `...` replaced.

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from peerlab.base.errors import PeerlabError
from peerlab.features.exercises.figure import WrittenFigure, figure, scale, slips
from peerlab.features.exercises.wording import meant


@dataclass(frozen=True)
class Verdict:
    """What an answer is told."""

    right: bool
    """Whether the answer is right."""
    says: str
    """Feedback, one to three sentences; `code` in backticks."""


@dataclass(frozen=True)
class Mistake:
    """A typical wrong answer."""

    like: Callable[..., Any]
    """Computes the answer that one arrives at by this mistake."""
    says: str
    """What was overlooked, without giving the answer away."""


@dataclass(frozen=True)
class Bound:
    """A figure beyond which no answer can lie."""

    figure: Callable[..., float]
    """Computes it."""
    says: str
    """Why nothing can lie beyond."""
    above: bool = False
    """Whether the answer cannot lie above; else it cannot lie below."""

    def forbids(self, value: float) -> bool:
        """Tell whether an answer lies beyond."""
        return value > self.figure() if self.above else value < self.figure()


@dataclass(frozen=True, kw_only=True)
class Exercise(ABC):
    """What all exercises have."""

    name: str
    """The lab's number and a word: ``"01-copies"``."""
    question: str
    """The task in one to three sentences; `code` in backticks."""
    why: str
    """Said with a right answer: why it is so."""
    hints: Sequence[str]
    """From the method to nearly the answer; given one by one."""
    solution: str
    """Python that belongs where the lab has ``...``: an expression, or the lines of a function."""
    measured: bool = False
    """Whether it is about a measurement: what computes truths and mistakes then takes records, by default ones that came along."""
    further: bool = False
    """Whether it stands in a folded section of its lab, and not on the lab's core path."""
    seed: int | None = None
    """The number that a transfer task was drawn with; None if it is not drawn."""

    def about(self, records: Any) -> Self:  # noqa: ARG002  (most are about none)
        """Return the exercise about the learner's own records.

        Raises
        ------
        PeerlabError
            If it is about none.
        """
        raise PeerlabError(f"exercise: {self.name!r} is about no measurement; leave out records=")

    @property
    def lab(self) -> str:
        """The number of the lab: ``"01"``."""
        return self.name.partition("-")[0]

    @abstractmethod
    def judge(self, answer: Any) -> Verdict:
        """Return what an answer is told; whatever was answered, nothing is raised but :class:`PeerlabError`."""

    @abstractmethod
    def wrong(self) -> Sequence[tuple[Any, str]]:
        """Return typical wrong answers, each with what it is told."""

    def _right(self) -> Verdict:
        return Verdict(right=True, says=self.why)


@dataclass(frozen=True, kw_only=True)
class Number(Exercise):
    """A figure is asked for.

    Attributes
    ----------
    truth:
        Computes the figure.
    unit:
        Its unit, what is counted (``"copies"``), or ``""`` for a ratio.
    tolerance:
        How far off an answer may be, as a part of the truth.
    mistakes:
        Typical wrong figures; the one that an answer is nearest to is told.
    bounds:
        What is told to other figures that cannot be.
    """

    truth: Callable[..., float]
    unit: str = ""
    tolerance: float = 0.03
    mistakes: Sequence[Mistake] = ()
    bounds: Sequence[Bound] = ()

    def about(self, records: Any) -> Self:
        """Return the exercise about the learner's own records."""
        if not self.measured:
            return super().about(records)
        mistakes = [replace(mistake, like=partial(mistake.like, records)) for mistake in self.mistakes]
        bounds = [replace(bound, figure=partial(bound.figure, records)) for bound in self.bounds]
        return replace(self, truth=partial(self.truth, records), mistakes=mistakes, bounds=bounds)

    def judge(self, answer: Any) -> Verdict:
        """Compare with the truth, then with mistakes, then with what can be; who is further off is told the method."""
        try:
            reading = figure(answer, self.unit)
        except ValueError as problem:
            return Verdict(right=False, says=str(problem))
        truth = self.truth()
        if _near(reading.value, truth, self.tolerance):
            return self._right()
        # From what is surest to have been meant: a slip in the unit, a known mistake, what cannot be, and
        # else the method.
        return Verdict(
            right=False,
            says=self._in_its_unit(reading, truth)
            or self._mistaken(reading, truth)
            or self._impossible(reading.value)
            or self._method(reading.value, truth),
        )

    def _mistaken(self, reading: WrittenFigure, truth: float) -> str | None:
        """Return what the mistake overlooks that an answer is nearest to, if it is near to one; who named a unit did not mistake it."""
        near = max(self.tolerance, _ROUNDED)
        named = scale(self.unit) and reading.value != reading.written
        known = [*self.wrong(), *(() if named else slips(truth, self.unit))]
        off = [
            (abs(reading.value - wrong), reply) for wrong, reply in known if _near(reading.value, wrong, near)
        ]
        return min(off, key=lambda miss: miss[0])[1] if off else None

    def _in_its_unit(self, reading: WrittenFigure, truth: float) -> str | None:
        """Return what is wrong where the figure would be right in the unit that is asked for."""
        # As written and as meant are the same number where no other unit was named.
        if reading.value == reading.written or not _near(reading.written, truth, self.tolerance):
            return None
        asked = scale(self.unit)
        mind = (
            "1 ms is 1,000 µs" if asked and asked[0] == "time" else "a b is a bit, a B a byte, MiB are not MB"
        )
        return f"As written that is {self._say(reading.value)}. Mind the unit: {mind}."

    def _impossible(self, value: float) -> str | None:
        return next((bound.says for bound in self.bounds if bound.forbids(value)), None)

    def _method(self, value: float, truth: float) -> str:
        """Return the first hint, and which way an answer is off."""
        return f"{self.hints[0]} ({self._say(value)} is too {'high' if value > truth else 'low'}.)"

    def _say(self, value: float) -> str:
        written = f"{value:,.0f}" if _MANY <= abs(value) < _MANY**4 else f"{value:.4g}"
        return f"{written} {self.unit}".strip()

    def wrong(self) -> list[tuple[Any, str]]:
        """Return the figures of the typical mistakes."""
        return [(mistake.like(), mistake.says) for mistake in self.mistakes]


_MANY = 1000
"""From here on a figure is written with commas, and far beyond as a power of ten."""
_ROUNDED = 0.01
"""How far off a typical mistake may be written where the answer itself has to be exact."""


def _near(value: float, other: float, tolerance: float) -> bool:
    # A share of the truth, so of a truth of 0 only 0 itself is near.
    return abs(value - other) <= tolerance * abs(other)


@dataclass(frozen=True, kw_only=True)
class Choice(Exercise):
    """One of several sentences is asked for.

    Attributes
    ----------
    options:
        What can be chosen, each with what a learner is told who chooses it wrongly.
    truth:
        Computes which one is right.
    called:
        Other names of options, beside those that everybody's exercises know (`peerlab.features.exercises.wording`).
    """

    options: Mapping[str, str]
    truth: Callable[..., str]
    called: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def about(self, records: Any) -> Self:
        """Return the exercise about the learner's own records."""
        return replace(self, truth=partial(self.truth, records)) if self.measured else super().about(records)

    def judge(self, answer: Any) -> Verdict:
        """Compare with the option that is true; its beginning or another of its names will do."""
        sentence = meant(answer, {option: self.called.get(option, ()) for option in self.options})
        if sentence is None:
            return Verdict(right=False, says=f"Choose one of: {'; '.join(self.options)}.")
        return (
            self._right() if sentence == self.truth() else Verdict(right=False, says=self.options[sentence])
        )

    def wrong(self) -> list[tuple[Any, str]]:
        """Return the other options."""
        truth = self.truth()
        return [(option, reply) for option, reply in self.options.items() if option != truth]


@dataclass(frozen=True, kw_only=True)
class Code(Exercise):
    """A few lines are asked for: a function, a scenario, a table.

    Attributes
    ----------
    check:
        Tries what was written; returns None if it is right, else what is wrong with it.
    function:
        The name of the function that is to be written, if it is one; `check` then gets something to call.
    attempts:
        Typical wrong ways to fill in the lab's ``...``, each with a part of what it is told.
    """

    check: Callable[[Any], str | None]
    attempts: Mapping[str, str]
    function: str = ""

    def judge(self, answer: Any) -> Verdict:
        """Try it; what the learner's code raises is told, not raised."""
        if self.function and not callable(answer):
            return Verdict(
                right=False, says=f"`{self.function}` is no function any more; keep the line with `def`."
            )
        try:
            complaint = self.check(answer)
        except PeerlabError as problem:
            complaint = f"peerlab said: {problem}"
        # Somebody presses stop: the learner's loop has no end.
        except KeyboardInterrupt:
            complaint = "It was interrupted: does your code come to an end?"
        except (Exception, SystemExit) as problem:  # noqa: BLE001  (the learner's code may raise anything)
            complaint = f"Your code raised {type(problem).__name__}: {problem}"[:_LONGEST]
        return self._right() if complaint is None else Verdict(right=False, says=complaint)

    def wrong(self) -> list[tuple[Any, str]]:
        """Return the typical attempts, as source."""
        return list(self.attempts.items())


_LONGEST = 300
"""Characters of an error of the learner's code; some carry a whole table."""


def _stub() -> None: ...


_DOTS = 3
"""Columns of an ellipsis. What ``return None`` and ``pass`` compile to is the same, and is wider."""


def unanswered(answer: Any) -> bool:
    """Tell whether an answer is still the lab's ``...``, or a function of which nothing is written yet."""
    code = getattr(answer, "__code__", None)
    # A function of nothing but `...` has the bytecode of `_stub`, whatever it is called. So has one that only returns None.
    if code is None or code.co_code != _stub.__code__.co_code:
        return answer is ...
    *_, (_, _, begin, end) = code.co_positions()
    return begin is None or end is None or end - begin <= _DOTS


def fill_in(cell: str, solution: str) -> str:
    """Return a lab's cell with its ``...`` replaced.

    Raises
    ------
    ValueError
        If the cell does not have exactly one ``...``.
    """
    places = [
        node for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Constant) and node.value is ...
    ]
    # Two would be two answers, and none leaves nothing to replace.
    if len(places) != 1:
        raise ValueError(f"{len(places)} places for an answer in: {cell}")
    lines, line = cell.splitlines(), places[0].lineno - 1
    # The parser counts bytes: a letter such as µ before the place has two.
    column = len(lines[line].encode()[: places[0].col_offset].decode())
    indent = " " * (len(lines[line]) - len(lines[line].lstrip()))
    before, after = lines[line][:column], lines[line][column + 3 :]
    lines[line] = before + f"\n{indent}".join(solution.strip().splitlines()) + after
    return "\n".join(lines)
