"""Where every shown slice is at one moment, for a still picture."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from peerlab.answer.run import Run
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import Point
from peerlab.picture.frames import PASSED, Segments, moves
from peerlab.picture.geometry import Geometry, geometry_of, stops, ways
from peerlab.picture.shown_nodes import OWN, shown_nodes
from peerlab.picture.trains import (
    BAR,
    BAR_WIDTH,
    WIDE,
    Part,
    beside,
    beside_switch,
    breadth,
    occupied,
    queues,
    rises,
    stretch,
    waits,
)
from peerlab.picture.waiting import waiting_places


@dataclass(frozen=True)
class Slice:
    """A slice in the picture."""

    at: Point
    """Where its middle is."""
    stage: str
    """Key of `STAGES`."""
    hollow: bool
    """Whether it is the neighbours' and not the left node's own."""
    summed: bool = False
    """Whether a switch on its way has added it to those of the other nodes."""


@dataclass(frozen=True)
class Train:
    """A slice, or a part of it, as long as what it fills."""

    points: list[Point]
    """The broken line that it fills."""
    stage: str
    """Key of `STAGES`."""
    hollow: bool
    """Whether it is the neighbours' and not the left node's own."""
    odd: bool
    """Every other slice is paler, so that the seam between two is seen."""
    width: float
    """How broad it is."""
    summed: bool = False
    """Whether a switch on its way has added it to those of the other nodes."""


@dataclass(frozen=True)
class Queue:
    """Slices that wait on their way in front of one link."""

    first: Point
    """Where the first of them stands."""
    last: Point
    """Where the last stands for which there is a place."""
    count: int
    """How many there are, with or without a place."""
    more: Point | None = None
    """Where the sign of more stands, if there are more than places."""


@dataclass(frozen=True)
class Moment:
    """The slices that are shown at one moment."""

    slices: list[Slice]
    """Slices that stand: in memory or a device, and the first of those that wait there."""
    trains: list[Train]
    """Slices that fill links, and those that wait on their way in front of the next one."""
    waiting: dict[str, int]
    """How many of the left node's slices wait, by the stage they wait for."""
    queues: list[Queue]
    """Where slices wait on their way."""

    def left_of(self, edge: float) -> "Moment":
        """Return what of it is seen in a picture that ends there."""
        return replace(
            self,
            slices=[mark for mark in self.slices if mark.at[0] < edge],
            trains=[train for train in self.trains if any(x < edge for x, _ in train.points)],
        )


def moment(run: Run, time_ps: int) -> Moment:
    """Return the slices that are shown at a moment, picoseconds from the start of the run."""
    return _placed(run, moves(run.trace, shown_nodes(run)), time_ps)


def fullest(run: Run) -> int:
    """Return the moment, of some in the middle of a run, at which most slices are shown, picoseconds."""
    segments = moves(run.trace, shown_nodes(run))
    # Not at its ends, where links fill and empty.
    moments = [run.time_ps * twentieths // 20 for twentieths in range(6, 15)]
    return max(moments, key=lambda time_ps: len(_placed(run, segments, time_ps).trains))


def step_at(run: Run, time_ps: int) -> int:
    """Return the step of the schedule that the left node is in at a moment: the latest of which it has begun a slice."""
    segments = moves(run.trace, shown_nodes(run))
    own = (
        int(segments.rows["step"][row]) + step
        for row, shift, step in _present(segments, time_ps)
        if segments.rows["whose"][row] & OWN and segments.rows["start"][row] + shift <= time_ps
    )
    return max(own, default=0)


def _placed(run: Run, segments: Segments, time_ps: int) -> Moment:
    geometry = geometry_of(run)
    drawn = [stage.name for stage in run.scenario.stages if stage_kind(stage.name).track]
    broad = breadth(geometry, drawn)
    placed: list[Slice] = []
    trains: list[Train] = []
    stuck: list[tuple[int, list[Point], Train]] = []
    queued: dict[tuple[str, int], int] = {}
    for row, shift, step in _present(segments, time_ps):
        segment = {name: int(values[row]) for name, values in segments.rows.items()}
        stage, device, now = run.trace.stages[segment["stage"]], segment["device"], time_ps - shift
        track, times = stage_kind(stage).track, [segment[name] for name in PASSED]
        if now < segment["start"]:
            # Those of its neighbours wait out of sight.
            if segment["whose"] & OWN:
                queued[stage, device] = queued.get((stage, device), 0) + 1
            continue
        there = beside(geometry, drawn, stage, device)
        both = zip(ways(there, track, device), stops(there, track, device), strict=True)
        for variant, (points, passing) in enumerate(both):
            if not points or not segment["whose"] & (1 << variant):
                continue
            if now >= segment["through"] or len(points) == 1:
                # The neighbours' vanish at the end of their way; its own stand there.
                seen = now < segment["through"] or not variant
                hollow = variant > 0 and not geometry.sums
                placed += [Slice(points[-1], stage, hollow, geometry.sums and not variant)] * seen
            odd = (segment["slice"] + segment["step"] + step) % 2 == 1
            whole = Train(points, stage, variant > 0, odd, broad)
            for part, wire in occupied(now, times, passing) if len(points) > 1 else []:
                crosses = wire or rises(geometry, variant, part, passing)
                trains += _under_way(geometry, whole, variant, part, crosses=crosses)
            phase = waits(now, times, passing)
            if phase is not None:
                since, line = (
                    segment["landed" if phase else "freed"] + shift,
                    queues(geometry, track)[phase][variant],
                )
                stuck.append((since, line, Train([], stage, variant > 0, odd, BAR_WIDTH)))
    waiting, (standing, lines) = _stand(geometry, placed, queued), _stand_in_line(stuck)
    return Moment(placed, trains + standing, waiting, lines)


def _under_way(geometry: Geometry, whole: Train, variant: int, part: Part, *, crosses: bool) -> list[Train]:
    """Return a part of a way as a slice fills it, which may cross the wire; where a switch adds up, on both sides of it."""
    line = stretch(whole.points, part)
    if crosses:
        whole = replace(whole, width=WIDE)
    if not geometry.sums:
        return [replace(whole, points=line)]
    sides = beside_switch(line, variant)
    return [replace(whole, points=side, hollow=False, summed=summed) for side, summed in sides]


def _stand(geometry: Geometry, placed: list[Slice], queued: dict[tuple[str, int], int]) -> dict[str, int]:
    """Add the slices that have not begun with a stage, and return how many those are."""
    waiting: dict[str, int] = {}
    for (stage, device), count in queued.items():
        places = waiting_places(geometry, stage_kind(stage).track, device)[:count]
        placed += [Slice(at, stage, hollow=False) for at in places]
        waiting[stage] = waiting.get(stage, 0) + count
    return waiting


def _stand_in_line(stuck: list[tuple[int, list[Point], Train]]) -> tuple[list[Train], list[Queue]]:
    """Return the slices that wait on their way, first come first, as far as there is room in front of what they wait for; and these queues."""
    trains, taken = [], Counter[tuple[Point, ...]]()
    counts = Counter(tuple(places) for _, places, _ in stuck)
    for _, places, train in sorted(stuck, key=lambda entry: entry[0]):
        at, count = taken[tuple(places)], counts[tuple(places)]
        taken[tuple(places)] += 1
        # In the place of the last two of a longer queue stands the sign that there are more.
        if at < (count if count <= len(places) else len(places) - 2):
            x, y = places[at]
            trains.append(replace(train, points=[(x - BAR / 2, y), (x + BAR / 2, y)]))
    lines = [
        Queue(places[0], places[min(count, len(places)) - 1], count, _more(places, count))
        for places, count in taken.items()
        if places
    ]
    return trains, lines


def _more(places: Sequence[Point], count: int) -> Point | None:
    """Return where the sign of more stands in a queue: between its last two places, if there are more slices than places."""
    (x, y), (_, above) = places[-2:]
    return (x, (y + above) / 2) if count > len(places) else None


def _present(segments: Segments, time_ps: int) -> Iterator[tuple[int, int, int]]:
    """Yield the rows that have entered a stage and not left it at a moment, each with how much and how many steps later it occurs."""
    enter, until = segments.rows["enter"], segments.rows["until"]
    for first, last, times, period, steps in segments.segments:
        here = slice(first, last)
        low, high = 0, 0
        # Only the repetitions are looked at of which some row may be under way now.
        if times > 1:
            low = max(0, -(-(time_ps - int(until[here].max())) // period))
            high = min(times - 1, (time_ps - int(enter[here].min())) // period)
        for again in range(low, high + 1):
            shift = again * period
            there = (enter[here] + shift <= time_ps) & (time_ps < until[here] + shift)
            yield from ((first + int(row), shift, again * steps) for row in there.nonzero()[0])
