"""Blocking code: a rank takes part in one step at a time, and a transfer needs both of its ends.

A rank comes to its next step when its transfers of this one, sent and received, are over. A transfer begins when its
sender and its receiver have both come to its step.
"""

# Blocking code has workers. Under `dependency="step"` a rank is in one step at a time, a transfer begins
# when both of its ends are in that step (`engine/loop/blocking_steps`), and each stage of a rank takes one
# slice at a time, latency included, as blocking calls do. On `wire` messages then go whole.

from peerlab.engine.system import System

Begin = list[tuple[int, int]]
"""Transfers that may begin: ``(step, sending lane)``."""


class BlockingSteps:
    """In which step every lane of a system is, and how many of its transfers there are not over."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._at = [-1] * len(system.lanes)
        self._left = [0] * len(system.lanes)

    def begin(self, lane: int) -> Begin:
        """Let a lane come to its first step; return the transfers that may begin."""
        return self._come(lane, 0, self._system.plan.schedule.steps)

    def over(self, step: int, sender: int, receiver: int, steps: int) -> Begin:
        """Note that a transfer is over; return those that may begin. The schedule has so many `steps`, those left out excluded."""
        rows: Begin = []
        for lane in sorted({sender, receiver}):
            self._left[lane] -= 1
            if not self._left[lane]:
                rows += self._come(lane, step + 1, steps)
        return rows

    def state(self, step: int) -> tuple[object, ...]:
        """Return in which step every lane is, relative to `step`, and how many of its transfers are not over."""
        return (tuple(at - step for at in self._at), tuple(self._left))

    def _come(self, lane: int, first: int, steps: int) -> Begin:
        for step in range(first, steps):
            to, source = self._system.receiver(lane, step), self._system.sender(lane, step)
            others = {(step, lane): to, (step, source): source}  # by transfer: the lane at its other end
            transfers = {transfer: other for transfer, other in others.items() if other >= 0}
            if transfers:
                self._at[lane], self._left[lane] = step, len(transfers)
                # a transfer begins when the later of its two ends comes to its step, so only that one finds the other there
                return sorted(transfer for transfer, other in transfers.items() if self._at[other] == step)
        self._at[lane] = steps
        return []
