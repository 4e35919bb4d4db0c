"""The record of a run of the array engine: rows of the lanes that are kept, and totals of any."""

from collections.abc import Sequence

from peerlab.answer.trace import Totals
from peerlab.base.numbers import NDArray, np
from peerlab.engine.arrays.service_order import Times
from peerlab.engine.legs import Leg
from peerlab.engine.scaleup import Exchange
from peerlab.engine.system import System
from peerlab.model.stages import stage_number

Visited = tuple[int, int]
"""Index of a stage, and which of its resources."""


class ArrayRecord:
    """The record of one `Batch`. All lanes go through the same kinds of resources, so lane 0's legs tell those of all."""

    def __init__(self, system: System, runs: int, keep: Sequence[int]) -> None:
        self._system = system
        self._shape = (runs, len(system.lanes))
        self._kept = np.array(keep, np.int64)
        self._resource_ids: dict[tuple[str, int], NDArray[np.int64]] = {}
        self.rows: list[NDArray[np.int64]] = []
        """Blocks of rows ``(lane, step, slice, stage, resource, queued, start, end, bytes, work)`` of the lanes that are kept."""
        self.finished: list[NDArray[np.int64]] = []
        """Blocks of ``(slice id, lane that has it, when)`` of slices that have reached their final value."""
        self.opened: list[NDArray[np.int64]] = []
        """For each step when each kept lane asked for registered memory."""
        self.served: dict[Visited, Times] = {}
        """How long a resource of each lane has served."""
        self._nbytes: dict[Visited, int] = {}
        self._at: dict[Visited, int] = {}
        self._flown: dict[int, int] = {}
        self._flown_first = 0
        self._handed_out = [0, 0]

    # ---- while it runs -----------------------------------------------------------------------------------------

    def visit(self, key: Visited, leg: Leg) -> None:
        """Count a slice that a resource of every lane serves; `served` has the times."""
        visit = leg.visits[key[1]]
        self._at[key] = visit.resource
        self._nbytes[key] = self._nbytes.get(key, 0) + visit.nbytes

    def serve(
        self, step: int, piece: int, key: Visited, leg: Leg, times: tuple[Times, Times, Times, Times]
    ) -> None:
        """Keep the rows of a slice that ``(queued, began, was through)`` at a resource, and the resource's own work on it."""
        visit = leg.visits[key[1]]
        *spans, work = times
        self._write(step, piece, leg.stage, self.resources(visit.resource), spans, visit.nbytes, work)

    def fly(self, step: int, piece: int, leg: Leg, times: tuple[Times, Times, Times]) -> None:
        """Record that a slice of every lane is in flight, ``(queued, begun, over)``."""
        if not leg.flight:
            return
        wire, lasts = leg.flight.wire, leg.flight.duration_ps
        self._flown[wire] = self._flown.get(wire, 0) + lasts
        self._flown_first += (
            0 if piece else lasts
        )  # of the first slice of each step, as `Totals.flown_ps` counts
        if len(self._kept):
            work = np.full(self._shape, lasts, np.int64)
            self._write(step, piece, stage_number("flight"), self.resources(wire), times, 0, work)

    def hand_out(self, lasts: int, nbytes: int) -> None:
        """Record that every lane hands a slice to the other devices of its node."""
        self._handed_out[0] += lasts
        self._handed_out[1] += nbytes

    def finish(self, ids: NDArray[np.int64], at: Times) -> None:
        """Record when slices, given for every lane that gets one, have reached their final value there."""
        kept = self._kept
        if len(kept):
            self.finished.append(np.column_stack([ids[kept], kept, at[0][kept]]))

    def ask(self, at: Times) -> None:
        """Record when every lane asks for the registered memory of its next transfer."""
        if len(self._kept):
            self.opened.append(at[0][self._kept])

    def _write(
        self,
        step: int,
        piece: int,
        stage: int,
        resources: NDArray[np.int64],
        times: Sequence[Times],
        nbytes: int,
        work: Times,
    ) -> None:
        kept = self._kept
        fixed = [np.full(len(kept), value, np.int64) for value in (step, piece, stage)]
        size = np.full(len(kept), nbytes, np.int64)
        columns = [resources[kept], *(t[0][kept] for t in times), size, work[0][kept]]
        self.rows.append(np.column_stack([kept, *fixed, *columns]))

    def resources(self, resource: int) -> NDArray[np.int64]:
        """Return for every lane the resource in the place of this one of lane 0: its own, or its receiver's."""
        resource_record, lanes = self._system.resources[resource], self._system.lanes
        # a leg has resources of its sender and of its receiver, and on a ring these are two nodes
        destination = int(resource_record.node != lanes[0].node)
        key = (resource_record.kind, destination)
        if key not in self._resource_ids:
            ends = [lanes[self._system.receiver(i, 0)] if destination else way for i, way in enumerate(lanes)]
            self._resource_ids[key] = np.array(
                [self._system.resource(resource_record.kind, end.node, end.device) for end in ends], np.int64
            )
        return self._resource_ids[key]

    # ---- when it is over ---------------------------------------------------------------------------------------

    def totals(self, lanes: Sequence[int], traffic: Exchange | None) -> list[Totals]:
        """Return for each run the totals of some lanes: what their spans, written out, would add up to."""
        some = np.array(lanes, np.int64)
        where = {resource: self.resources(resource)[some] for resource in (*self._at.values(), *self._flown)}
        ends = [self._system.lanes[lane].scaleup for lane in lanes] if traffic else []
        count = len(self._system.resources)  # now that all were asked for
        served, nbytes = np.zeros((self._shape[0], count)), np.zeros(count, np.int64)
        for key, resource in self._at.items():  # lanes may share one
            np.add.at(served.T, where[resource], self.served[key][:, some].T)
            np.add.at(nbytes, where[resource], self._nbytes[key])
        for wire, lasts in self._flown.items():
            served += lasts * np.bincount(where[wire], minlength=count)
        for links, reduce in ends:
            self._inside(served, nbytes, (links, reduce), traffic)
        # only node 0 tells how long a slice has flown, and it may not be among the lanes
        first = [i for i in lanes if self._system.lanes[i].node == self._system.lanes[i].device == 0]
        return [Totals(size, nbytes, self._flown_first if first else 0) for size in served]

    def _inside(
        self,
        served: NDArray[np.float64],
        nbytes: NDArray[np.int64],
        ends: tuple[int, int],
        traffic: Exchange | None,
    ) -> None:
        """Add the work of a device's scale-up links and of its reduction."""
        links, reduce = ends
        served[:, links] += self._handed_out[0]
        nbytes[links] += self._handed_out[1]
        if traffic and self._system.plan.collects:
            served[:, links] += int(traffic.link_ps.sum())
            served[:, reduce] += int(traffic.reduce_ps.sum())
            nbytes[links] += int(traffic.slices.sum()) * traffic.way.collects
            nbytes[reduce] += int(traffic.slices.sum()) * traffic.way.adds
