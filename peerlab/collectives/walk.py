"""A collective step by step, with the numbers that every rank holds: what the reference executor does, written down."""

from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.base.checks import checked_word
from peerlab.base.errors import ScenarioError
from peerlab.base.numbers import NDArray, np
from peerlab.collectives.choose import plan
from peerlab.collectives.reference import Numbers, received, rounds, sent
from peerlab.model.collective import COLLECTIVES, Collective, collective_of
from peerlab.question.scenario import Scenario

MOST_RANKS = 8
"""Ranks that can be looked at together."""


@dataclass(frozen=True)
class Move:
    """A transfer: what a rank sends to another in one step."""

    rank: int
    """Who sends."""
    to: int
    """Who receives."""
    boxes: tuple[int, ...]
    """Which boxes of the buffer."""
    into: tuple[int, ...]
    """Into which boxes of the receiver: the same, except in an all-to-all."""


@dataclass(frozen=True)
class WalkedStep:
    """All that moves together."""

    adds: bool
    """Whether the receiver adds the numbers that arrive to its own; else they take their place."""
    moves: tuple[Move, ...]
    """What is sent, by rank."""
    before: Numbers
    """What every rank held: ``[rank, box]``."""
    after: Numbers
    """What every rank holds now."""


@dataclass(frozen=True)
class Walk:
    """A collective from what every rank contributes to what every rank holds in the end.

    In an all-to-all the boxes that a rank receives follow those that it sends; its own box is there from the beginning.
    """

    scenario: Scenario
    """What was asked, on the bare reference fabric."""
    start: Numbers
    """What the ranks contribute: ``[rank, box]``."""
    steps: tuple[WalkedStep, ...]
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

    @property
    def sends(self) -> int:
        """Boxes of a rank's message; an all-to-all has as many again, to receive in."""
        boxes: int = self.start.shape[1]
        return boxes // 2 if self.exchanges else boxes

    @property
    def exchanges(self) -> bool:
        """Whether it is an all-to-all."""
        return self.scenario.collective_record.exchanges

    def there(self, after: int) -> NDArray[np.bool_]:
        """Return whether anything is in each box after so many steps, ``[rank, box]``: at first nothing has been received."""
        values: NDArray[np.bool_] = np.ones(self.start.shape, bool)
        if self.exchanges:
            values[:, self.sends :] = np.repeat(
                np.eye(self.ranks, dtype=bool), self.sends // self.ranks, axis=1
            )
            for step in self.steps[:after]:
                for move in step.moves:
                    values[move.to, list(move.into)] = True
        return values

    def final(self, after: int) -> NDArray[np.bool_]:
        """Return whether each box holds its final value after so many steps, ``[rank, box]``; what an all-to-all sends has none."""
        if not self.exchanges:
            finished: NDArray[np.bool_] = self.held(after) == self.total
            return finished
        values = self.there(after)
        values[:, : self.sends] = False
        return values

    def held(self, after: int) -> Numbers:
        """Return what every rank holds after so many steps (0: what it contributes)."""
        return self.steps[after - 1].after if after else self.start

    def sent(self, after: int) -> list[float]:
        """Return how much each rank has sent after so many steps, in buffers."""
        count = [0] * self.ranks
        for step in self.steps[:after]:
            for move in step.moves:
                count[move.rank] += len(move.boxes)
        return [boxes / self.sends for boxes in count]


def walk(
    algorithm: str | None = None,
    ranks: int = 4,
    numbers: Sequence[Sequence[int]] | None = None,
    collective: str = "allreduce",
) -> Walk:
    """Carry numbers through a collective, step by step; see :func:`peerlab.features.exercises.lessons.steps.steps`, which shows it.

    Raises
    ------
    ScenarioError
        If there are too few or too many ranks, the algorithm is not for so many or not for the collective, or the collective is
        neither an AllReduce nor an all-to-all.
    """
    checked_word("collective", collective, [name for name, record in COLLECTIVES.items() if _walks(record)])
    exchanges = collective_of(collective).exchanges
    start = _start(ranks, numbers, exchanges=exchanges)
    ranks, boxes = start.shape
    scenario = Scenario(
        cluster="ideal-100g",
        nodes=ranks,
        # a box is a byte of the plan, and a node of this cluster has one device: so ranks are nodes
        message_bytes=boxes,
        collective=collective,
        algorithm=algorithm or ("direct" if exchanges else "ring"),
    )
    if exchanges:
        start = np.hstack([start, _kept(start)])
    schedule = plan(scenario).schedule
    steps, before = [], start
    for index, after in enumerate(rounds(schedule, start.copy())):
        moves = []
        for rank in range(ranks):
            to = schedule.to(rank, index)
            out, into = (
                tuple(box for part in parts for box in range(*part.indices(start.shape[1])))
                for parts in (sent(schedule, rank, index), received(schedule, to, index))
            )
            if out:
                moves.append(Move(rank, to, out, into))
        if moves:  # a tree's level may be without right children
            steps.append(WalkedStep(index < schedule.reducing_steps, tuple(moves), before, after.copy()))
            before = steps[-1].after
    return Walk(scenario, start, tuple(steps))


def _walks(collective: Collective) -> bool:
    """Return whether a collective is walked through: where every rank has in the end what all contributed, or a box from each."""
    return (collective.adds and collective.spreads) or collective.exchanges


def _kept(start: Numbers) -> Numbers:
    """Return the receive buffers of an all-to-all at the start: each rank's own part, and nothing else."""
    ranks, boxes = start.shape
    own: Numbers = start * np.repeat(np.eye(ranks, dtype=np.int64), boxes // ranks, axis=1)
    return own


def _start(ranks: int, numbers: Sequence[Sequence[int]] | None, *, exchanges: bool) -> Numbers:
    """Return what the ranks contribute, checked."""
    given = None if numbers is None else _whole(numbers)
    count = ranks if given is None else len(given)
    if not isinstance(count, int) or not 2 <= count <= MOST_RANKS:
        raise ScenarioError("ranks", f"{count!r} cannot be looked at together; give 2 to {MOST_RANKS}")
    if exchanges and given is not None and given.shape[1] % count:
        raise ScenarioError("numbers", f"{given.shape[1]} boxes do not divide among {count} ranks")
    if exchanges and given is None:  # tens say whose it is, units for whom
        return 10 * np.arange(count)[:, None] + np.arange(count)
    # a power of ten for each rank: the digits of a sum say who is in it
    return np.outer(10 ** np.arange(count), np.ones(count, np.int64)) if given is None else given


def _whole(numbers: Sequence[Sequence[int]]) -> Numbers:
    try:
        values = np.array(numbers, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0, np.int64)
    if values.ndim != 2 or not values.size:
        raise ScenarioError("numbers", "give a row of whole numbers per rank, all of the same length")
    if values.shape[1] > 2 * MOST_RANKS:
        raise ScenarioError(
            "numbers", f"{values.shape[1]} boxes are too many to look at; give {2 * MOST_RANKS} or fewer"
        )
    return values
