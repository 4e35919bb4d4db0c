"""Steps without a barrier between them: one is composed after the other, until the next would be as one before, only later.

What comes after a step depends on nothing but when each node ended it and was done with its last exchange, which places are held then, and
what the registration caches hold. Where that comes back, all that follows comes back too; so a thousand steps cost what a few do.
"""

from collections.abc import Hashable

from peerlab.training.step_trace import StepsInARow

Ends = tuple[int, ...]
"""When each node ended a step, picoseconds."""


class Row:
    """A row of steps, as far as it is composed."""

    def __init__(self, count: int, state: Hashable) -> None:
        """`count`: steps in all; `state`: what the first one begins with, None where each step draws noise of its own."""
        self._count = self._last = count
        self._ends: list[Ends] = []
        self._states = {} if state is None else {state: 0}
        self._repeats = self._steady_from = 0

    @property
    def turn(self) -> int:
        """How many steps are over."""
        return len(self._ends)

    @property
    def goes_on(self) -> bool:
        """Whether another step has to be composed: the last in all, or one that is as the last, only sooner."""
        return self.turn < self._last

    @property
    def end_ps(self) -> int:
        """When the last node ended the last step that is over."""
        return max(self._ends[-1]) if self._ends else 0

    def add(self, ends: Ends, state: Hashable) -> None:
        """Note that a step is over; `state` is what the next one begins with, on the clock of the first node that begins it."""
        self._ends.append(ends)
        if state is None or self._repeats:
            return
        before = self._states.setdefault(state, self.turn)
        if before < self.turn:
            self._repeats, self._steady_from = self.turn - before, before + 1
            self._last = self.turn + (self._count - self.turn) % self._repeats

    def whole(self) -> StepsInARow:
        """Return all steps of the row, those that were not composed as well."""
        ends, period = list(self._ends), self._repeats
        if period:
            before = ends[self._steady_from - 2] if self._steady_from > 1 else (0,) * len(ends[0])
            # All nodes end a step of the next turn by as much later.
            later = ends[self._steady_from - 2 + period][0] - before[0]
            while len(ends) < self._count:
                ends.append(tuple(end + later for end in ends[-period]))
        return StepsInARow(tuple(ends), period, self._steady_from)
