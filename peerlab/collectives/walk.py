"""A collective step by step, with the numbers that every rank holds: what the reference executor does, written down."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from peerlab.collectives.choose import plan
from peerlab.collectives.reference import Numbers, rounds, sent
from peerlab.errors import ScenarioError
from peerlab.model.scenario import Scenario

MOST_RANKS = 8
"""Ranks that can be looked at together."""


@dataclass(frozen=True)
class Move:
    """What one rank sends in one step."""

    rank: int
    """Who sends."""
    to: int
    """Who receives."""
    boxes: tuple[int, ...]
    """Which boxes of the buffer."""


@dataclass(frozen=True)
class Step:
    """All that moves together."""

    adds: bool
    """Whether the receiver adds what arrives to its own; else it puts it in its place."""
    moves: tuple[Move, ...]
    """What is sent, by rank."""
    before: Numbers
    """What every rank held: ``[rank, box]``."""
    after: Numbers
    """What every rank holds now."""


@dataclass(frozen=True)
class Walk:
    """A collective from what every rank contributes to what every rank holds in the end."""

    scenario: Scenario
    """What was asked, on the bare reference fabric."""
    start: Numbers
    """What the ranks contribute: ``[rank, box]``."""
    steps: tuple[Step, ...]
    """First to last."""

    @property
    def ranks(self) -> int:
        """Ranks that take part."""
        return len(self.start)

    @property
    def total(self) -> Numbers:
        """The finished sum, box by box."""
        result: Numbers = self.start.sum(axis=0)
        return result

    def held(self, after: int) -> Numbers:
        """Return what every rank holds after so many steps (0: what it contributes)."""
        return self.steps[after - 1].after if after else self.start

    def sent(self, after: int) -> list[float]:
        """Return how much each rank has sent after so many steps, in buffers."""
        count = [0] * self.ranks
        for step in self.steps[:after]:
            for move in step.moves:
                count[move.rank] += len(move.boxes)
        return [boxes / self.start.shape[1] for boxes in count]


def walk(algorithm: str = "ring", ranks: int = 4, numbers: Sequence[Sequence[int]] | None = None) -> Walk:
    """Carry numbers through an AllReduce, step by step; see :func:`peerlab.reports.steps.steps`, which shows it.

    Raises
    ------
    ScenarioError
        If there are too few or too many ranks, or the algorithm is not for so many.
    """
    start = _start(ranks, numbers)
    ranks, boxes = start.shape
    asked = Scenario(cluster="ideal-100g", nodes=ranks, message_bytes=boxes, algorithm=algorithm)
    schedule = plan(asked).schedule
    steps, before = [], start
    for index, after in enumerate(rounds(schedule, start.copy())):
        moves = []
        for rank in range(ranks):
            parts = sent(schedule, rank, index)
            found = tuple(box for part in parts for box in range(*part.indices(boxes)))
            if found:
                moves.append(Move(rank, schedule.to(rank, index), found))
        steps.append(Step(index < schedule.reducing_steps, tuple(moves), before, after.copy()))
        before = steps[-1].after
    return Walk(asked, start, tuple(steps))


def _start(ranks: int, numbers: Sequence[Sequence[int]] | None) -> Numbers:
    """Return what the ranks contribute, checked."""
    given = None if numbers is None else _whole(numbers)
    count = ranks if given is None else len(given)
    if not isinstance(count, int) or not 2 <= count <= MOST_RANKS:
        raise ScenarioError("ranks", f"{count!r} cannot be looked at together; give 2 to {MOST_RANKS}")
    return np.outer(10 ** np.arange(count), np.ones(count, np.int64)) if given is None else given


def _whole(numbers: Sequence[Sequence[int]]) -> Numbers:
    try:
        given = np.array(numbers, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0, np.int64)
    if given.ndim != 2 or not given.size:
        raise ScenarioError("numbers", "give a row of whole numbers per rank, all of the same length")
    if given.shape[1] > 2 * MOST_RANKS:
        raise ScenarioError(
            "numbers", f"{given.shape[1]} boxes are too many to look at; give {2 * MOST_RANKS} or fewer"
        )
    return given
