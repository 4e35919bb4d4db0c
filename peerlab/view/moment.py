"""Where every shown slice is at one moment, for a still picture."""

from collections.abc import Iterator
from dataclasses import dataclass

from peerlab.analysis.run import Run
from peerlab.model.stages import stage_kind
from peerlab.view.drawing import Point
from peerlab.view.frames import PASSED, Segments, moves
from peerlab.view.geometry import Geometry, along, gone, stops, waiting_places, ways
from peerlab.view.shown_nodes import OWN, shown_nodes


@dataclass(frozen=True)
class Slice:
    """A slice in the picture."""

    at: Point
    """Where its middle is."""
    stage: str
    """Key of `STAGES`."""
    hollow: bool
    """Whether it is the neighbours' and not the left node's own."""


@dataclass(frozen=True)
class Moment:
    """The slices that are shown at one moment."""

    slices: list[Slice]
    """Slices on their way, and the first of those that wait."""
    waiting: dict[str, int]
    """How many of the left node's slices wait, by the stage they wait for."""


def moment(run: Run, time_ps: int) -> Moment:
    """Return the slices that are shown at a moment, picoseconds from the start of the run."""
    return _placed(run, moves(run.trace, shown_nodes(run)), time_ps)


def fullest(run: Run) -> int:
    """Return the moment, of some in the middle of a run, at which most slices are shown, picoseconds."""
    found = moves(run.trace, shown_nodes(run))
    moments = [run.time_ps * tenths // 20 for tenths in range(6, 15)]
    return max(moments, key=lambda time_ps: len(_placed(run, found, time_ps).slices))


def _placed(run: Run, found: Segments, time_ps: int) -> Moment:
    geometry = Geometry(run.scenario.hardware, run.scenario.data_path.uses_own_ports)
    placed: list[Slice] = []
    queues: dict[tuple[str, int], int] = {}
    for row, shift in _present(found, time_ps):
        one = {name: int(values[row]) for name, values in found.rows.items()}
        stage, device, now = run.trace.stages[one["stage"]], one["device"], time_ps - shift
        track = stage_kind(stage).track
        if now < one["start"]:
            if one["whose"] & OWN:
                queues[stage, device] = queues.get((stage, device), 0) + 1
            continue
        times = [one[name] for name in PASSED]
        both = zip(ways(geometry, track, device), stops(geometry, track, device), strict=True)
        for variant, (points, passing) in enumerate(both):
            here = one["whose"] & (1 << variant) and (variant == 0 or now <= one["end"])
            if points and here and (passing[0] != 0 or now >= one["sent"]):
                placed.append(Slice(along(points, gone(now, times, passing)), stage, hollow=variant > 0))
    waiting: dict[str, int] = {}
    for (stage, device), count in queues.items():
        placed += [
            Slice(at, stage, hollow=False)
            for at in waiting_places(geometry, stage_kind(stage).track, device)[:count]
        ]
        waiting[stage] = waiting.get(stage, 0) + count
    return Moment(placed, waiting)


def _present(found: Segments, time_ps: int) -> Iterator[tuple[int, int]]:
    """Yield the rows that have entered a stage and not left it at a moment, each with how much later it occurs."""
    enter, until = found.rows["enter"], found.rows["until"]
    for first, last, times, period, _ in found.segments:
        here = slice(first, last)
        low, high = 0, 0
        if times > 1:
            low = max(0, -(-(time_ps - int(until[here].max())) // period))
            high = min(times - 1, (time_ps - int(enter[here].min())) // period)
        for again in range(low, high + 1):
            shift = again * period
            there = (enter[here] + shift <= time_ps) & (time_ps < until[here] + shift)
            yield from ((first + int(row), shift) for row in there.nonzero()[0])
