"""A step of a training as a picture: the compute lane, and below it for each data path its buckets and the exposed time.

A bucket fills while its gradients are computed, is ready and waits for the one before it, and is in flight. The time that the devices wait is
hatched in the colour of the path that causes it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from peerlab.base.units import PS_PER_MS, say_time
from peerlab.model.collective import collective_of
from peerlab.model.paths import data_path, path_title
from peerlab.picture.scale import round_step
from peerlab.picture.svg import Paper
from peerlab.training.program import BACKWARD, FORWARD
from peerlab.training.step_run import StepRun
from peerlab.training.step_trace import Interval

WIDTH = 1120
_LEFT, _RIGHT = 150, 1100
# Heights in pixels: of the computing lane, of a gap, and of what one data path has.
_LANE, _GAP, _PATH = 24, 10, 92
_HATCH = 7
# Pixels; what is narrower joins its neighbour, or a thousand layers would be a thousand boxes.
_LEAST_PX = 0.4
_TICKS = 6


@dataclass(frozen=True)
class StepBox:
    """Something that lasts, as it is drawn."""

    begin_ps: int
    """When it begins."""
    end_ps: int
    """When it is over."""
    says: str
    """Words for a reader who points at the bar."""
    even: bool
    """Whether it is the second, fourth ... of its row: neighbours differ in shade."""


@dataclass(frozen=True)
class StepLanes:
    """The rows of one run's picture."""

    computing: tuple[tuple[str, StepBox], ...]
    """Phase and box of each operation of the compute lane."""
    filling: tuple[StepBox, ...]
    """Buckets whose gradients are being computed."""
    waiting: tuple[StepBox, ...]
    """Buckets that are ready and wait for the one before."""
    in_flight: tuple[StepBox, ...]
    """Exchanges under way."""
    exposed: tuple[Interval, ...]
    """When the devices wait."""
    end_ps: int
    """When the step is over."""


def lanes_of(run: StepRun) -> StepLanes:
    """Return the rows of a run's picture."""
    trace = run.trace
    computing = tuple(
        (
            computed.op.phase,
            StepBox(
                computed.begin_ps, computed.end_ps, f"{computed.op.phase}, {computed.op.name}", bool(n % 2)
            ),
        )
        for n, computed in enumerate(trace.computed)
    )
    filling, waiting, flight = [], [], []
    # The first bucket fills from when backward begins, any other from when the one before it was full.
    begun = next((computed.begin_ps for computed in trace.computed if computed.op.phase == BACKWARD), 0)
    for n, placed_span in enumerate(trace.placed):
        even = bool(n % 2)
        # A gather brings parameters, which fill nothing.
        if collective_of(placed_span.op.collective).adds:
            filling.append(
                StepBox(
                    min(begun, placed_span.ready_ps),
                    placed_span.ready_ps,
                    f"{placed_span.op.name} fills",
                    even,
                )
            )
            begun = placed_span.ready_ps
        if placed_span.begin_ps > placed_span.ready_ps:
            waiting.append(
                StepBox(
                    placed_span.ready_ps,
                    placed_span.begin_ps,
                    f"{placed_span.op.name} is ready and waits",
                    even,
                )
            )
        flight.append(
            StepBox(placed_span.begin_ps, placed_span.end_ps, f"{placed_span.op.name} in flight", even)
        )
    return StepLanes(computing, tuple(filling), tuple(waiting), tuple(flight), trace.waits, trace.end_ps)


def step_svg(run: StepRun, *others: StepRun, palette: Mapping[str, str] | None = None) -> str:
    """Return the picture of a step on one path or several, the same time axis for all; a picture without a script."""
    runs = (run, *others)
    paper = Paper(_Follows() if palette is None else palette)
    longest = max(step_run.time_ps for step_run in runs) or 1
    scale = _TimeAxis(longest)
    _draw_computing(paper, run, scale)
    top = _LANE + 2 * _GAP
    for step_run in runs:
        _draw_path(paper, step_run, scale, top)
        top += _PATH + _GAP
    _draw_axis(paper, scale, top)
    return paper.svg(WIDTH, top + 26, alt_text(runs))


def alt_text(runs: Sequence[StepRun]) -> str:
    """Return what the picture shows, in words."""
    first = runs[0].step
    sentences = [
        f"{path_title(str(run.step.scenario.path))}: a step of {say_time(run.time_ps)}, {say_time(run.trace.exposed_ps)} exposed, "
        f"{len(run.trace.placed)} exchanges of {say_time(sum(x.lasts_ps for x in run.trace.placed))} altogether"
        for run in runs
    ]
    return f"A step of {first.model.title}: forward and backward take {say_time(first.compute.ps * first.accumulate)}. {'. '.join(sentences)}."


class _Follows(dict[str, str]):
    """Colours that follow the theme of the page that they are on."""

    def __missing__(self, role: str) -> str:
        return role if role == "none" else f"var(--pl-{role})"

    def get(self, role: str, default: object = None) -> str:
        # The dictionary's own would pass `__missing__` by.
        del default
        return self[role]


@dataclass(frozen=True)
class _TimeAxis:
    longest_ps: int

    def x(self, ps: int) -> float:
        return _LEFT + (_RIGHT - _LEFT) * ps / self.longest_ps

    def drawn(self, boxes: Iterable[StepBox]) -> Iterator[tuple[float, float, StepBox]]:
        """Yield left, right and box of those that are seen; what is narrower than a part of a pixel joins its neighbour."""
        last = -1.0
        for box in boxes:
            left, right = self.x(box.begin_ps), self.x(box.end_ps)
            if right - max(left, last) >= _LEAST_PX:
                yield left, right, box
                last = right


def _draw_computing(paper: Paper, run: StepRun, scale: _TimeAxis) -> None:
    paper.text((_LEFT - 10, _GAP + _LANE / 2), "computing", bold=True, align="right")
    for phase, shades in (
        (FORWARD, ("gather", "faint")),
        (BACKWARD, ("inside", "edge")),
        ("optimizer", ("muted", "muted")),
    ):
        boxes = [box for of, box in lanes_of(run).computing if of == phase]
        for left, right, box in scale.drawn(boxes):
            paper.box((left, _GAP, right, _GAP + _LANE), shades[box.even])
        if boxes:
            middle = (scale.x(boxes[0].begin_ps) + scale.x(boxes[-1].end_ps)) / 2
            # Below 80 pixels the name is wider than its phase.
            if scale.x(boxes[-1].end_ps) - scale.x(boxes[0].begin_ps) > 80:
                half = 4.0 * len(phase)
                paper.box((middle - half, _GAP + 4, middle + half, _GAP + _LANE - 4), "box", radius=3)
                paper.text((middle, _GAP + _LANE / 2), phase)


def _draw_path(paper: Paper, run: StepRun, scale: _TimeAxis, top: float) -> None:
    lanes, role = lanes_of(run), data_path(str(run.step.scenario.path)).role
    paper.box((_LEFT, top, _RIGHT, top + _PATH), "panel", radius=4)
    paper.text(
        (_LEFT - 10, top + 14),
        path_title(str(run.step.scenario.path)),
        bold=True,
        ink=f"{role}-ink",
        align="right",
    )
    paper.text(
        (_LEFT - 10, top + 32), f"{len(run.trace.placed)} exchanges", ink="muted", align="right", size=12
    )
    for name, boxes, begin, end, shades in (
        ("filling", lanes.filling, 6, 20, ("inside", "gather")),
        ("ready, waits", lanes.waiting, 25, 33, ("ink", "ink")),
        ("in flight", lanes.in_flight, 38, 70, (role, role)),
    ):
        first = min((box.begin_ps for box in boxes), default=None)
        if first is None:
            continue
        paper.text(
            (max(_LEFT + 74, scale.x(first) - 8), top + (begin + end) / 2),
            name,
            ink="muted",
            align="right",
            size=12,
        )
        for left, right, box in scale.drawn(boxes):
            # A gap keeps neighbours apart: one pixel, or a quarter of a box that is narrow.
            paper.box((left, top + begin, right - min(1.0, (right - left) / 4), top + end), shades[box.even])
    for begin_ps, end_ps in lanes.exposed:
        _hatch(paper, (scale.x(begin_ps), top + 2, scale.x(end_ps), top + _PATH - 2), role)
    paper.line([(scale.x(lanes.end_ps), top), (scale.x(lanes.end_ps), top + _PATH)], role)
    sentence = f"{say_time(run.time_ps)} a step, {say_time(run.trace.exposed_ps)} exposed"
    paper.text((_LEFT + 8, top + _PATH - 10), sentence, bold=True, ink=f"{role}-ink", align="left")


def _hatch(paper: Paper, corners: tuple[float, float, float, float], role: str) -> None:
    """Add slanted lines inside a box."""
    left, top, right, bottom = corners
    high = bottom - top
    # Lines rise at 45 degrees: to hatch the whole box they begin left of it.
    start = left - high
    while start < right:
        begin, end = max(start, left), min(start + high, right)
        if end > begin:
            paper.line([(begin, bottom - (begin - start)), (end, bottom - (end - start))], role, width=1.6)
        start += _HATCH


def _draw_axis(paper: Paper, scale: _TimeAxis, top: float) -> None:
    whole = scale.longest_ps / PS_PER_MS
    each = round_step(whole, _TICKS)
    at = 0.0
    while at <= whole:
        x = scale.x(round(at * PS_PER_MS))
        paper.line([(x, top - 4), (x, top)], "edge", width=1)
        paper.text((x, top + 10), f"{at:g}" + (" ms" if not at else ""), ink="muted", size=12)
        at += each
