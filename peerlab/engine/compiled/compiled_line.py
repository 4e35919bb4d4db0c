"""One iteration of a pairwise exchange on which nodes differ, in the compiled loop; or of an all-to-all between nodes of one device."""

# A pairwise exchange is no ring: whom a lane sends to changes from step to step, and receivers meet what a
# slow node sends out of order. With one slow node of 512 no other stands for any, and the loop takes
# minutes. Here it takes two seconds: its slices stand in line (`in_line`), so that what is under way is no
# more than what holds a place.

from collections.abc import Sequence

import numpy as np

from peerlab.engine.compiled.compiled_ring import CompiledRing, rows_inside, run_to_the_end
from peerlab.engine.compiled.flatten_line import added_up, flatten_line
from peerlab.engine.compiled.refusals import keeps_few
from peerlab.engine.compiled.state import State, Whole
from peerlab.engine.loop.adding_up import ADDS
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.scaleup import exchange, fifo
from peerlab.engine.span_rows import owners, scaleup_rows
from peerlab.engine.system import System


def compiled_run(system: System, keep: Sequence[int]) -> "CompiledRing | CompiledLine":
    """Return the run of a ring, of which some lanes are kept, or of a pairwise exchange, of which all are."""
    return CompiledRing(system, keep) if keeps_few(system) else CompiledLine(system)


class CompiledLine:
    """A run of a system whose scenario `refusals.refuses` does not refuse; the spans of all lanes are kept."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._traffic = exchange(system) if system.plan.exchanges else None
        lanes, schedule = len(system.lanes), system.plan.schedule
        more = lanes * (schedule.reducing_steps + rows_inside(system))
        self._state: State = flatten_line(system, self._traffic, more)
        self._inside: list[Whole] = []
        self.end = 0
        """When the last slice had arrived."""
        self.lasts: Whole | None = None
        """When what goes on inside its node is over, for each lane; None: nothing does."""

    def run(self, progress: Progress | None) -> None:
        """Run to the end.

        Raises
        ------
        OverflowError
            If it takes longer than can be counted.
        """
        run_to_the_end(self._state, progress)
        self.end = int(self._state.counts[0].end)
        if self._traffic:
            self._inside, self.lasts = scaleup_rows(self._system, self._traffic, self._state.finished.T, [])
            self.end = max(self.end, int(self.lasts.max()))

    def spans(self) -> Whole:
        """Return all spans, shape ``(columns, rows)``; those inside the nodes come last, so many rows as `inside` says."""
        spans, written = self._state.spans, int(self._state.counts[0].spans)
        for rows in [*self._added(), *self._inside]:
            spans[:, written : written + len(rows)] = rows.T
            written += len(rows)
        assert written == spans.shape[1]  # noqa: S101  (else what is left of it would be noise)
        return spans

    @property
    def inside(self) -> int:
        """How many spans lie inside the nodes."""
        return sum(map(len, self._inside))

    def asked(self) -> list[Whole]:
        """Return for each step when each lane asked for its memory."""
        line, lanes, schedule = self._state.line, self._state.lanes, self._system.plan.schedule
        lookup = int(self._state.counts[0].lookup_ps)
        adding = [np.full(len(lanes), from_ps - lookup) for from_ps in line.from_ps.tolist()]
        summed = np.array(lanes.added)
        return adding + [summed] * (schedule.steps - schedule.reducing_steps)

    def _added(self) -> list[Whole]:
        """Return the spans of what was added up."""
        system, s, legs = self._system, self._state, added_up(self._system)
        if not legs:
            return []
        steps, lanes = s.line.came.shape
        step, sender = np.divmod(np.arange(steps * lanes), lanes)
        nodes = s.lanes.node[sender]
        to = sender - nodes + s.line.partners[step, nodes]
        queued = np.maximum(s.line.came.reshape(-1), s.own_ps[step])
        order = np.lexsort(
            (sender, step, queued, to)
        )  # first come first served, and each has as many to add up
        step, sender, queued = step[order], sender[order], queued[order]
        visits, work = np.zeros((lanes, 2), np.int64), s.line.adds_ps.reshape(-1)[order]
        visits[s.lanes.receiver] = [(leg.visits[0].resource, leg.visits[0].nbytes) for leg in legs]
        resource, nbytes = visits[to[order]].T
        end = np.concatenate(
            [fifo(queued[n : n + steps], work[n : n + steps]) for n in range(0, len(to), steps)]
        )
        node, device = owners(system, sender)
        piece, stage = np.zeros_like(step), np.full_like(step, ADDS)
        return [
            np.column_stack(
                [node, device, step, piece, stage, resource, queued, end - work, end, nbytes, work]
            )
        ]
