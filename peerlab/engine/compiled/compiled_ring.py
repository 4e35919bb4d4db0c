"""One iteration of a ring in the compiled loop."""

# Where nodes differ, the loop is compiled. With jitter or a slow node every node is simulated: 8 million
# spans for the detour on 64 jittered nodes of DL1, more than a minute in Python. `engine/compiled` is the
# loop for a ring, function by function, on arrays of integers; numba makes machine code of it, and the run
# takes two seconds. A slice that arrives gives its slot to the one that its receiver sends, so what is
# under way fits into a processor's cache. Numba is an extra (`peerlab[compiled]`) that is looked for when a
# run is large enough to pay: 100,000 spans where the machine code is on disk, else 1.5 million, because
# compiling takes 12 seconds. `make lab` does not install it: what the lab shows by default folds, and numba
# with its compiler would make the lab's installation 200 MB larger. What arrays and compiled loop have in
# common: of more than 300,000 spans of a ring they keep those of one node and its neighbours.

from collections.abc import Sequence
from functools import cache

import numpy as np

from peerlab.engine.begins import Begins, Held
from peerlab.engine.compiled.compiled_loop import LAST_PS, make_run
from peerlab.engine.compiled.flatten import flatten
from peerlab.engine.compiled.machine_code import name
from peerlab.engine.compiled.state import State, Whole
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.scaleup import exchange
from peerlab.engine.span_rows import scaleup_rows
from peerlab.engine.system import System

_EVENTS = 200_000
"""Events between two reports of progress: less than a tenth of a second."""

_run = cache(lambda: make_run(name()))


class CompiledRing:
    """A run of a system whose scenario `refusals.refuses` does not refuse."""

    def __init__(self, system: System, keep: Sequence[int], begins: Begins | None = None) -> None:
        self._system, self._keep, self._begins = system, keep, begins
        self.traffic = exchange(system) if system.plan.exchanges else None
        self._inside = rows_inside(system) * len(keep)
        self._state: State = flatten(system, self.traffic, keep, self._inside, begins)
        self.end = 0
        """When the last slice had arrived."""

    def run(self, progress: Progress | None) -> None:
        """Run to the end.

        Raises
        ------
        OverflowError
            If it takes longer than can be counted.
        """
        state = self._state
        counts = state.counts[0]
        run_to_the_end(state, progress)
        self.end = int(counts.end)
        if self.traffic:
            self.end = max(self.end, int(self.traffic.ready[-1]))
            if self._system.plan.hands_out:
                self.end = max(self.end, int(state.lanes.handed_out.max()) + self.traffic.latency_ps)

    def spans(self) -> Whole:
        """Return the spans of the lanes that are kept, shape ``(columns, rows)``."""
        spans, state = self._state.spans, self._state
        if self.traffic:
            at = self._begins.at if self._begins else ()
            inside = scaleup_rows(self._system, self.traffic, state.finished.T, [], self._keep, at)[0]
            # there is room for them behind those of the loop, as all together may be most of the memory
            np.concatenate([rows.T for rows in inside], axis=1, out=spans[:, spans.shape[1] - self._inside :])
        return spans

    def ended(self, begins: Begins) -> tuple[tuple[int, ...], Held]:
        """Return when each node was done, and which places are held then, where nodes begin apart."""
        system, lanes, done = self._system, self._state.lanes, self._state.apart.done.copy()
        if self.traffic:
            inside = int(self.traffic.ready[-1]) + lanes.at
            if system.plan.hands_out:
                inside = np.maximum(inside, lanes.handed_out + self.traffic.latency_ps)
            np.maximum.at(done, lanes.node, inside)
        entries = {pool: [t for t in until if t > done[pool[1]]] for pool, until in begins.held}
        for pool, index in system.pools.items():
            # of a window no more are held than it has places, so the latest that were given back are all of them
            latest = self._state.apart.given[index].tolist() if index < len(self._state.apart.given) else []
            entries.setdefault(pool, []).extend(sorted(t for t in latest if t > done[pool[1]]))
        held = tuple(sorted((pool, tuple(until)) for pool, until in entries.items() if until))
        return tuple(done.tolist()), held

    def asked(self) -> list[Whole]:
        """Return for each step when each lane that is kept asked for its memory."""
        lookup = int(self._state.counts[0].lookup_ps)
        return list(self._state.posted[:, list(self._keep)] - lookup)


def run_to_the_end(state: State, progress: Progress | None) -> None:
    """Run the compiled loop until nothing is left.

    Raises
    ------
    OverflowError
        If it takes longer than can be counted.
    """
    run, counts = _run(), state.counts[0]
    while run(state, _EVENTS):
        if counts.now > LAST_PS:
            raise OverflowError("the times do not fit")
        if progress:
            progress(int(counts.begun), int(counts.steps))


def rows_inside(system: System) -> int:
    """Return how many spans a device's exchange with the others of its node has."""
    plan, pieces = system.plan, len(system.chunk_sizes)
    if not plan.exchanges:
        return 0
    schedule = plan.schedule
    collected = 2 * schedule.chunks * pieces if plan.collects else 0
    # an allgather's own chunk is final from the beginning
    steps = schedule.steps - max(0, schedule.reducing_steps - 1) + (not plan.adds)
    return collected + (steps * pieces if plan.hands_out else 0)
