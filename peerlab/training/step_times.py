"""When the operations of a step begin and end, from how long each exchange lasts: one compute lane and one stream, each in order."""

from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.training.program import Program
from peerlab.training.training_step import PER_MILLE


@dataclass(frozen=True)
class StepTimes:
    """When everything happens, picoseconds from the beginning of the step."""

    computed: tuple[tuple[int, int], ...]
    """Of each operation of the compute lane when it begins and ends."""
    placed: tuple[tuple[int, int], ...]
    """Of each exchange when it is ready and when it begins."""
    end_ps: int
    """When all is over."""


def timed(program: Program, lasts: Sequence[int], slowdown: int) -> StepTimes:
    """Return when everything happens: compute lane and stream, each in order, each waiting for what it needs of the other.

    `lasts` says how long each exchange takes, picoseconds; `slowdown` how many thousandths slower devices compute meanwhile.
    """
    computed: list[tuple[int, int]] = []
    placed: list[tuple[int, int]] = []
    now, flying, working = 0, 0, -1  # when the stream is through, and when the lane began; -1: it rests
    left = 0  # of the lane's operation, thousandths of a picosecond of work
    flies = False
    while True:
        at = len(computed)
        if working < 0 and at < len(program.computing):
            op = program.computing[at]
            # An exchange under way has been placed, but is not over.
            if all(number < len(placed) - flies for number in op.after):
                working, left = now, op.duration_ps * PER_MILLE
        if not flies and len(placed) < len(program.exchanging):
            exchange = program.exchanging[len(placed)]
            if all(other < at for other in exchange.after):
                flies, flying = True, now + lasts[len(placed)]
                # It may have been ready long before now: the stream was busy.
                placed.append((max((computed[other][1] for other in exchange.after), default=0), now))
        # Both rest only when all is done: no program waits for itself.
        if working < 0 and not flies:
            return StepTimes(tuple(computed), tuple(placed), now)
        rate = PER_MILLE - slowdown if flies else PER_MILLE
        # Rounded up, as in the referee: an operation is over at a whole picosecond.
        ends = now - (-left // rate) if working >= 0 else flying
        # Whichever is first: an exchange that ends changes how fast the lane computes.
        then = min(ends, flying) if flies else ends
        left -= (then - now) * rate
        now = then
        # By rounding up, a little more may be done than was left.
        if working >= 0 and left <= 0:
            computed.append((working, now))
            working = -1
        if flies and now == flying:
            flies = False
