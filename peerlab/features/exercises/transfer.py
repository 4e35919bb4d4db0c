"""A transfer task: what a lab taught, asked of a machine, log or trace that nobody has shown; drawn by the learner's own seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import gcd, isclose, prod
from typing import Any

from peerlab.features.exercises.exercise import Choice, Exercise, Mistake, Number

EXAMPLE = 0
"""The seed of the task that documents and solutions show."""
_ALIKE = 1e-6
"""By what part of it two figures differ at most that are one."""
_GOLDEN = 0.618
"""Steps of this share of all tasks: seeds beside each other get tasks that have little in common."""


@dataclass(frozen=True, kw_only=True)
class TransferTask:
    """Draws one of many tasks of a kind.

    Attributes
    ----------
    lab:
        The lab's number.
    cases:
        What may differ, each with all its values. A task is one value of each.
    make:
        Makes the exercise of such values, in their order; its name and seed are set here.

    Examples
    --------
    >>> from peerlab.features.exercises.catalogue import transfer_of
    >>> transfer_of("01").drawn(7).name
    '01-transfer'
    """

    lab: str
    cases: Sequence[Sequence[Any]]
    make: Callable[..., Number | Choice]

    @property
    def name(self) -> str:
        """The name of each of its tasks."""
        return f"{self.lab}-transfer"

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return prod(len(case) for case in self.cases)

    def values(self, seed: int) -> list[Any]:
        """Return the values of a seed's task; as many seeds in a row as there are tasks get different ones."""
        # A stride that has no factor in common with the count comes to each task before any comes twice.
        place = seed * _stride(self.count) % self.count
        drawn = []
        for case in self.cases:
            place, at = divmod(place, len(case))
            drawn.append(case[at])
        return drawn

    def drawn(self, seed: int) -> Exercise:
        """Return the task of a seed, without mistakes that lead to its truth by chance; those that lead to one figure are one."""
        made = replace(self.make(*self.values(seed)), name=self.name, seed=seed)
        return replace(made, mistakes=_apart(made)) if isinstance(made, Number) else made


def _apart(made: Number) -> list[Mistake]:
    """Return the mistakes of an exercise whose figures differ from its truth; what several lead to is told all of them."""
    truth, kept = made.truth(), dict[float, Mistake]()
    for mistake in made.mistakes:
        figure = mistake.like()
        # A mistake that comes to the truth would tell a right answer what was overlooked.
        if abs(figure - truth) <= made.tolerance * abs(truth):
            continue
        number = next((other for other in kept if isclose(figure, other, rel_tol=_ALIKE)), None)
        if number is None:
            kept[figure] = mistake
        else:
            kept[number] = replace(mistake, says=f"{kept[number].says} Or: {mistake.says}")
    return list(kept.values())


def _stride(count: int) -> int:
    """Return a step that comes to each of so many places before it comes to one again."""
    step = round(_GOLDEN * count) or 1
    while gcd(step, count) > 1:
        step += 1
    return step
