"""An exercise: what is asked, what is true, and what to say to a typical wrong answer.

Every truth is computed when an answer is checked, from the simulation or from the learner's own measurement; none is
written down. A typical wrong answer is computed as well, so that feedback stays right when a figure changes.
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from peerlab.errors import PeerlabError
from peerlab.lessons.figure import number


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
    """From a nudge to nearly the answer; given one by one."""
    solution: str
    """Python that belongs where the lab has ``...``: an expression, or the lines of a function."""
    measured: bool = False
    """Whether it is about a measurement: what computes truths and mistakes then takes records, by default ones that came along."""

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
        Its unit, ``""`` for a count or a ratio.
    tolerance:
        How far off an answer may be, as a part of the truth.
    mistakes:
        Typical wrong figures; the one that an answer is nearest to, if within the tolerance, is told.
    """

    truth: Callable[..., float]
    unit: str = ""
    tolerance: float = 0.03
    mistakes: Sequence[Mistake] = ()

    def about(self, records: Any) -> Self:
        """Return the exercise about the learner's own records."""
        if not self.measured:
            return super().about(records)
        mistakes = [replace(one, like=partial(one.like, records)) for one in self.mistakes]
        return replace(self, truth=partial(self.truth, records), mistakes=mistakes)

    def judge(self, answer: Any) -> Verdict:
        """Compare with the truth, then with the typical mistakes."""
        try:
            said = number(answer, self.unit)
        except ValueError as problem:
            return Verdict(right=False, says=str(problem))
        truth = self.truth()
        if self._near(said, truth):
            return self._right()
        off = [(abs(said - figure), says) for figure, says in self.wrong() if self._near(said, figure)]
        if off:
            return Verdict(right=False, says=min(off, key=lambda one: one[0])[1])
        figure = f"{said:.4g} {self.unit}".strip()
        return Verdict(right=False, says=f"{figure} is too {'high' if said > truth else 'low'}.")

    def _near(self, said: float, figure: float) -> bool:
        return abs(said - figure) <= self.tolerance * abs(figure)

    def wrong(self) -> list[tuple[Any, str]]:
        """Return the figures of the typical mistakes."""
        return [(mistake.like(), mistake.says) for mistake in self.mistakes]


@dataclass(frozen=True, kw_only=True)
class Choice(Exercise):
    """One of several sentences is asked for.

    Attributes
    ----------
    options:
        What can be chosen, each with what a learner is told who chooses it wrongly.
    truth:
        Computes which one is right.
    """

    options: Mapping[str, str]
    truth: Callable[..., str]

    def about(self, records: Any) -> Self:
        """Return the exercise about the learner's own records."""
        return replace(self, truth=partial(self.truth, records)) if self.measured else super().about(records)

    def judge(self, answer: Any) -> Verdict:
        """Compare with the option that is true; the beginning of an option will do."""
        said = answer.strip().casefold() if isinstance(answer, str) else None
        meant = [one for one in self.options if one.casefold() == said]
        meant = meant or [one for one in self.options if said and one.casefold().startswith(said)]
        if len(meant) != 1:
            return Verdict(right=False, says=f"Choose one of: {'; '.join(self.options)}.")
        if meant[0] == self.truth():
            return self._right()
        return Verdict(right=False, says=self.options[meant[0]])

    def wrong(self) -> list[tuple[Any, str]]:
        """Return the other options."""
        truth = self.truth()
        return [(option, says) for option, says in self.options.items() if option != truth]


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


def unanswered(answer: Any) -> bool:
    """Tell whether an answer is still the lab's ``...``, or a function of which nothing is written yet."""
    code = getattr(answer, "__code__", None)
    return answer is ... or (code is not None and code.co_code == _stub.__code__.co_code)


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
    if len(places) != 1:
        raise ValueError(f"{len(places)} places for an answer in: {cell}")
    line, column = places[0].lineno - 1, places[0].col_offset
    lines = cell.splitlines()
    indent = " " * (len(lines[line]) - len(lines[line].lstrip()))
    before, after = lines[line][:column], lines[line][column + 3 :]
    lines[line] = before + f"\n{indent}".join(solution.strip().splitlines()) + after
    return "\n".join(lines)
