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
    """Carry numbers through an AllReduce, step by step.

    Parameters
    ----------
    algorithm:
        One of a scenario's, between single devices.
    ranks:
        2 to `MOST_RANKS`; `numbers` decides where they are given.
    numbers:
        What each rank contributes, a row of whole numbers per rank. Without them, rank r contributes 1, 2, 3, ... times
        10 to the power of r, so that the digits of a sum tell whose contributions are in it.

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
    if numbers is not None:
        try:
            start = np.array(numbers, dtype=np.int64)
        except (TypeError, ValueError, OverflowError):
            start = np.empty(0)
        if start.ndim != 2 or not start.size:
            raise ScenarioError("numbers", "give a row of whole numbers per rank, all of the same length")
        ranks = len(start)
        if start.shape[1] > 2 * MOST_RANKS:
            raise ScenarioError(
                "numbers", f"{start.shape[1]} boxes are too many to look at; give {2 * MOST_RANKS} or fewer"
            )
    if not isinstance(ranks, int) or not 2 <= ranks <= MOST_RANKS:
        raise ScenarioError("ranks", f"{ranks!r} cannot be looked at together; give 2 to {MOST_RANKS}")
    if numbers is not None:
        return start
    return np.outer(10 ** np.arange(ranks), np.arange(1, ranks + 1))
