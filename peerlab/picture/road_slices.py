"""When each slice is on which stretch of an unrolled data path (`peerlab.picture.road`), as the trace says."""

from dataclasses import dataclass
from typing import Literal

from peerlab.answer.race import Slices, arrivals
from peerlab.answer.run import Run
from peerlab.answer.trace import Columns
from peerlab.base.numbers import NDArray, np
from peerlab.model.stages import Stage, stage_kind
from peerlab.picture.frames import PageRows, repeating, segment, spread
from peerlab.picture.shown_nodes import focus, shown_switch

TIMES = ("came", "enter", "out", "leave", "gone", "work")
"""Of a slice and a stretch: when it comes to its begin and waits; when its nose enters and comes out; when its tail
enters and comes out; and how long it would take alone, from nose to tail."""
_NEVER = np.iinfo(np.int64).max

Times = dict[str, NDArray[np.int64]]


@dataclass(frozen=True)
class RoadPart:
    """What of a stage one stretch shows."""

    stage: Stage
    part: Literal["all", "before", "wire", "behind"]
    """All of a stage on one side; of one between two nodes what lies before the wire, the wire, or what is behind it."""
    start: int
    """Level at which it begins: 1 in host memory, else 0."""
    end: int
    """Level at which it ends."""


def parts_of(run: Run) -> list[RoadPart]:
    """Return the stretches of a run's data path, first to last; adding up is none."""
    parts: list[RoadPart] = []
    for stage in run.scenario.stages:
        if stage_kind(stage.name).counts_as in ("reduction", "flight"):  # no way of its own
            continue
        start, end = _levels(stage)
        # A stage with a resource on either side is the one that crosses the wire.
        if {use.side for use in stage.uses} == {"source", "destination"}:
            parts += [
                RoadPart(stage, "before", start, 0),
                RoadPart(stage, "wire", 0, 0),
                RoadPart(stage, "behind", 0, end),
            ]
        else:
            parts.append(RoadPart(stage, "all", start, end))
    return parts


def kinds_on(part: RoadPart) -> list[str]:
    """Return the kinds of resources that work on a stretch."""
    # A copy at the sender is no work of the receiver's, though both are of one stage.
    sides = {"before": ("source",), "behind": ("destination",)}.get(part.part, ("source", "destination"))
    uses = [use.kind for use in part.stage.uses if use.side in sides]
    wire = [kind for kind in uses if kind.startswith(("nic_", "port_"))]
    # Two stretches of one stage: on the wire only what sends, beside it all but that.
    return wire if part.part == "wire" else [kind for kind in uses if kind not in wire] or wire


def _levels(stage: Stage) -> tuple[int, int]:
    """Return at which levels a stage begins and ends."""
    track = stage_kind(stage.name).track
    if track.startswith("through"):
        return 1, 1
    start, _, end = track.partition(" to ")
    return int(start == "host memory"), int(end == "host memory")


def slices_on(run: Run, parts: list[RoadPart]) -> PageRows:
    """Return one row for each slice on each stretch, for the PCIe switch that the picture of the run shows of its node."""
    recording, beside = run.recording, run.trace.devices_per_switch
    columns = repeating(recording)
    keep = (columns["node"] == focus(run)) & (columns["device"] // beside == shown_switch(run))
    columns = {name: values[keep] for name, values in columns.items()}
    columns["device"] = columns["device"] % beside
    slices = arrivals(run, columns)
    tables, came = [], None
    for number, part in enumerate(parts):
        times = _times(part, _Stage(run, part, columns, slices))
        # A slice comes when the stretch before lets go; to the first one, when it queues.
        times["came"] = np.minimum(times["enter"], times["queued"] if came is None else came)
        came = times["gone"]
        entries = {name: columns[name][slices.rows][slices.first] for name in ("step", "slice", "device")}
        tables.append(
            {**{name: times[name] for name in TIMES}, **entries, "stretch": np.full(len(came), number)}
        )
    rows = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    wide = spread(recording.spans, recording.blocks)
    return segment(rows, recording.blocks, by="came", wide=wide).page(
        (*TIMES, "stretch", "device", "slice"), TIMES
    )


class _Stage:
    """The spans of one stage, and which slice each is of."""

    def __init__(self, run: Run, part: RoadPart, columns: Columns, slices: Slices) -> None:
        which = np.repeat(np.arange(len(slices.first)), np.diff([*slices.first, len(slices.rows)]))
        mine = columns["stage"][slices.rows] == run.trace.stages.index(part.stage.name)
        rows = slices.rows[mine]
        self.which, self._count = which[mine], len(slices.first)
        self.spans = {name: columns[name][rows] for name in ("queued", "start", "end", "work")}
        self.kinds = np.array([resource.kind for resource in run.trace.resources])[columns["resource"][rows]]

    def first(self, name: str, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return for each slice the least of a column in some spans."""
        values = np.full(self._count, _NEVER)
        np.minimum.at(values, self.which[rows], self.spans[name][rows])
        return values

    def last(self, name: str, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return for each slice the most of a column in some spans; -1 where there is none."""
        values = np.full(self._count, -1)
        np.maximum.at(values, self.which[rows], self.spans[name][rows])
        return values


def _times(part: RoadPart, stage: _Stage) -> Times:
    """Return `TIMES` but ``came``, and ``queued``, picoseconds.

    A stretch without latency is crossed at once: it holds a slice from its first resource's begin to its last one's end.
    """
    source, destination = (
        [use.kind for use in part.stage.uses if use.side == side] for side in ("source", "destination")
    )
    every = np.ones(len(stage.kinds), bool)
    queued = stage.first("queued", every)
    if part.part == "all":
        return {**_held(stage.first("start", every), stage.last("end", every)), "queued": queued}
    # The sender's last and the receiver's first resource are the ends of the wire.
    sends, receives = stage.kinds == source[-1], stage.kinds == destination[0]
    sent, received = stage.first("start", sends), stage.last("end", receives)
    if part.part == "wire":
        work = stage.last("work", sends)
        out, leave = stage.first("start", receives), stage.last("end", sends)
        return {"enter": sent, "out": out, "leave": leave, "gone": received, "work": work, "queued": queued}
    # A kind may be on both sides: what began before it was sent lies before the wire.
    begun = stage.spans["start"] <= sent[stage.which]
    before, behind = begun & np.isin(stage.kinds, source[:-1]), ~begun & np.isin(stage.kinds, destination[1:])
    rows, there = (before, sent) if part.part == "before" else (behind, received)
    enter, gone = stage.first("start", rows), stage.last("end", rows)
    none = gone < 0  # nothing but the port itself: the slice is there at once
    return {**_held(np.where(none, there, enter), np.where(none, there, gone)), "queued": queued}


def _held(enter: NDArray[np.int64], gone: NDArray[np.int64]) -> Times:
    return {"enter": enter, "out": enter, "leave": gone, "gone": gone, "work": gone - enter}
