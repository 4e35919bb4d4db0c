"""The compute lane of one node: operations in order, slower while the node's own exchange is under way; whole picoseconds."""

from collections.abc import Sequence

from peerlab.engine.noise_draws import Pauses
from peerlab.engine.standing_still import stood_still, through
from peerlab.training.program import Exchanging, Program
from peerlab.training.training_step import PER_MILLE


class NodeLane:
    """What one node computes, as far as it is known; exchanges are told one after the other."""

    def __init__(
        self,
        program: Program,
        durations: Sequence[int],
        slowdown: int,
        begin: int = 0,
        pauses: Pauses | None = None,
    ) -> None:
        """`durations`: how long each operation takes alone; `slowdown`: thousandths that computing is slower beside an exchange.

        `begin`: when the node begins the step, picoseconds; `pauses`: when it stands still.
        """
        # Work is counted in thousandths of a picosecond, so that slower by thousandths leaves it whole.
        self._program, self._slow = program, PER_MILLE - slowdown
        self.durations, self.pauses = durations, pauses
        self.begin = begin
        """When the node begins the step."""
        self.computed: list[tuple[int, int]] = []
        """When each operation began and ended."""
        self.placed: list[tuple[int, int]] = []
        """When the node began each exchange, and was done with it."""

    def ready(self, exchange: Exchanging) -> int:
        """Return when all is computed that an exchange needs."""
        # What the lane waits for up to here are exchanges before this one, and those have been placed.
        self._advance(max(exchange.after, default=-1) + 1)
        return max((self.computed[number][1] for number in exchange.after), default=self.begin)

    def finish(self) -> int:
        """Compute the rest; return when the node's step is over."""
        self._advance(len(self._program.computing))
        # Lane and stream are in order, so the last of each is its latest.
        return max(
            [self.begin, *(end for _, end in self.computed[-1:]), *(end for _, end in self.placed[-1:])]
        )

    def waits(self) -> list[tuple[int, int]]:
        """Return when the lane had nothing to do, once all is computed."""
        rows, at = [], self.begin
        # The last pair is the end of the step: what the lane waits for after its last operation counts.
        for begin, end in [*self.computed, (self.finish(), 0)]:
            if begin > at:
                rows.append((at, begin))
            at = max(at, end)
        return rows

    def exposed(self) -> list[int]:
        """Return for each exchange how long the lane waited while it was under way."""
        waits = self.waits()
        return [sum(max(0, min(end, e) - max(begin, b)) for begin, end in waits) for b, e in self.placed]

    def _advance(self, count: int) -> None:
        while len(self.computed) < count:
            number = len(self.computed)
            free = self.computed[-1][1] if self.computed else self.begin
            begin = max(
                [free, *(self.placed[exchange][1] for exchange in self._program.computing[number].after)]
            )
            self.computed.append((begin, self._end(begin, self.durations[number])))

    def _end(self, begin: int, duration: int) -> int:
        """Return when an operation is over that begins now: it is slower between begin and end of each exchange."""
        now, left = begin, duration * PER_MILLE
        # A node's exchanges are in order and never overlap, so one walk over them is enough.
        for b, e in self.placed:
            for until, rate in ((b, PER_MILLE), (e, self._slow)):
                if until <= now:
                    continue
                # Rounded up, as in the referee: an operation is over at a whole picosecond.
                end = self._through(now, -(-left // rate))
                if end <= until:
                    return end
                left -= self._goes_on(now, until) * rate
                now = until
        return self._through(now, -(-left // PER_MILLE))

    def _through(self, now: int, work: int) -> int:
        """Return when work is through that goes on whenever the node does not stand still; none is through at once."""
        return int(through(now, work, *self.pauses)) if self.pauses and work else now + work

    def _goes_on(self, now: int, until: int) -> int:
        """Return for how long of that time the node does not stand still."""
        return until - now - (stood_still(now, until, *self.pauses) if self.pauses else 0)
