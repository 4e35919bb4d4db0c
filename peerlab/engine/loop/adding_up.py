"""Adding up what arrives in a pairwise exchange: the last that happens to a slice, and nothing but the sum waits for it.

So the loop leaves it out. When a slice is added up follows from when it has arrived: first come, first served, as soon as the node's own
contribution is there.
"""

from peerlab.answer.trace import Block, unroll
from peerlab.base.numbers import np
from peerlab.engine.legs import Leg
from peerlab.engine.scaleup import fifo
from peerlab.engine.span_rows import Whole, array, later, owners
from peerlab.engine.system import System
from peerlab.model.paths import REDUCE
from peerlab.model.stages import stage_number

ADDS = stage_number(REDUCE.name)
"""Number of the stage."""


def adds_last(system: System) -> list[Leg]:
    """Return for each lane the leg in which what it sends is added up, if nothing else has its resource; else nothing."""
    schedule = system.plan.schedule
    steps = range(min(schedule.reducing_steps, system.plan.devices))
    ways = [[system.legs(lane, step)[0] for step in steps] for lane in range(len(system.lanes))]
    last = [{legs[-1] for legs in each} for each in ways]
    if not steps or any(len(legs) != 1 for legs in last):
        return []
    legs = [leg for group in last for leg in group]
    used = {visit.resource for each in ways for way in each for leg in way[:-1] for visit in leg.visits}
    into = {schedule.receives(step) for step in range(schedule.reducing_steps)}
    alone = all(is_alone(system, leg) and leg.visits[0].resource not in used for leg in legs)
    return legs if alone and len(into) == 1 and len(next(iter(into))) == 1 else []


def is_alone(system: System, leg: Leg) -> bool:
    """Return whether a leg adds up and does nothing else, on a resource that takes one slice at a time."""
    if leg.stage != ADDS or len(leg.visits) != 1 or leg.flight or leg.acquire >= 0 or leg.release >= 0:
        return False
    visit, resource = leg.visits[0], system.resources[leg.visits[0].resource]
    return visit.engine < 0 and not visit.link and not resource.shared and resource.servers == 1


class AddingUp:
    """What has arrived to be added up, and when it is."""

    def __init__(self, system: System, legs: list[Leg], gathered: list[int] | None) -> None:
        self._system, self._legs = system, legs
        into = system.plan.schedule.receives(0)
        self._own_ps = system.own_ready(gathered, into, system.sizes(0))[0] if gathered else 0
        self.arrivals: list[tuple[int, int, int]] = []
        """``(slice id, lane that has it, when)``, on the loop's clock."""
        self.blocks: list[Block] = []
        """Of the arrivals: which occur again."""
        self._rows: dict[int, Whole] = {}

    def done(self, lane: int) -> tuple[int, int]:
        """Return which slice a lane adds up last, all having arrived, and when that is over, on the loop's clock."""
        rows = self._rows[lane] = self._added(lane)
        sender, step, end = rows[-1, 0], rows[-1, 1], int(rows[-1, 4])
        skipped = sum(block.repeats * block.period_steps for block in self.blocks)
        behind = sum(block.repeats * block.period_ps for block in self.blocks)
        return (int(step) - skipped) * len(self._system.lanes) + int(sender), end - behind

    def _added(self, lane: int) -> Whole:
        """Return sender, step, and when they were queued, begun and added up, of all that a lane adds up, in that order."""
        ids, to, at = array(self.arrivals, 3).T.copy()
        step, sender = np.divmod(ids, len(self._system.lanes))
        later(self.blocks, step, at)
        all_ = unroll({"step": step, "sender": sender, "lane": to, "end": at}, self.blocks)
        mine = all_["lane"] == lane
        step, sender, at = (all_[name][mine] for name in ("step", "sender", "end"))
        queued = np.maximum(at, self._own_ps)
        order = np.lexsort((sender, step, queued))
        step, sender, queued = step[order], sender[order], queued[order]
        work = np.array([leg.visits[0].duration_ps for leg in self._legs], np.int64)[sender]
        end = fifo(queued, work)
        return np.column_stack([sender, step, queued, end - work, end])

    def rows(self) -> Whole:
        """Return the spans, as a table of the columns of a trace."""
        sender, step, queued, start, end = np.concatenate(list(self._rows.values()) or [array((), 5)]).T
        node, device = owners(self._system, sender)
        visits = np.array(
            [(leg.visits[0].resource, leg.visits[0].nbytes, leg.visits[0].work_ps) for leg in self._legs],
            np.int64,
        )
        resource, nbytes, work = visits[sender].T
        piece, stage = np.zeros_like(step), np.full_like(step, ADDS)
        return np.column_stack([node, device, step, piece, stage, resource, queued, start, end, nbytes, work])
