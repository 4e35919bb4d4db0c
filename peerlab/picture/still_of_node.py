"""One node of a run's data path, for a report or a slide: its own slices, the dotted way where none is on it, and the wire to its partner."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from peerlab.answer.run import Run
from peerlab.picture.drawing import HEIGHT, WAY_OF_OTHERS, WIDTH, Columns, Drawing, Point
from peerlab.picture.geometry import BOX_TOP, NIC, NODE_WIDTH
from peerlab.picture.moment import Moment, Train, fullest, moment, step_at
from peerlab.picture.picture import Picture
from peerlab.picture.scene_host import arrows
from peerlab.picture.shown_nodes import unit
from peerlab.picture.sketch import Sketch
from peerlab.picture.static_scene import draw
from peerlab.picture.still import draw_slices, say_waiting
from peerlab.picture.still_key import draw_key, slice_role
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette
from peerlab.picture.trains import BAR, BAR_PITCH, BAR_WIDTH
from peerlab.picture.wire import sends
from peerlab.picture.words import alt_text

_SIZE = 12.5
"""Of its smallest words: a notebook shows it at about its own size."""
_LETTER = 7.4
"""How wide a letter of a partner's name is."""
_PARTED = 8.0
"""Between the edge of the node and the name of its partner."""
_CLEAR = 9.0
"""A dotted way so near to a slice, or nearer, is hidden by it: both side by side would read as two ways."""
_SIDES = ("left", "top", "right", "bottom")
_SHORTEST = 14.0
"""A dotted line that is shorter is a speck."""
_LARGE = {"stretch": 1.22, "smallest": 14.0}
"""For one of two nodes on a slide, shown 550 pixels wide: no word is smaller than 18 pixels."""
_EDGE = 405.0
"""Right edge of the node's frame."""
_NODE = 424.0
"""Width of the node with the beginning of its wire, where no card ends it."""


def keyed_node_svg(picture: Picture, at: int, *, theme: str) -> str:
    """Return the first node of a data path at a moment, picoseconds from the start of the run, with the key of its colours below it."""
    sketch, paper = picture.sketch, Paper(palette(theme), smallest=_SIZE)
    partner = _partner(sketch, at)
    # The wire fades below the name of where it goes: it goes on.
    end = NODE_WIDTH + (_PARTED + _LETTER * len(partner) if partner else 0.0)
    instant = _own(moment(sketch.run, at), end)
    drawing = _to(sketch.drawing, end, instant.trains)
    paper.drawing(drawing, right=NODE_WIDTH)
    if partner:
        x, _, y = sketch.geometry.names()["node"]
        paper.text(
            (x, y), f"{unit(sketch.run.scenario)} {sketch.sight.node}", size=12, bold=True, align="left"
        )
        paper.text((NODE_WIDTH + _PARTED, _above_wire(sketch)), partner, size=12, bold=True, align="left")
    _below_nic(paper, sketch, instant)
    beside = [queue for queue in instant.queues if not _stands_low(queue.first)]
    passing = [train for train in instant.trains if not _is_low_bar(train)]
    draw_slices(paper, sketch, replace(instant, trains=passing, queues=beside), own=True)
    _fade(paper, sketch, end)
    width, machine = end + 4, sketch.cluster
    way = bool(drawing.lines["xs"])
    y = draw_key(paper, sketch, HEIGHT + 14, width, _SIZE, seen=instant, short=True, way=way, left=0.0)
    if machine.assumptions:
        y += 20
        paper.text((0, y), f"† {machine.counted}", size=_SIZE, ink="muted", align="left")
    return paper.svg(width, y + 8, alt_text(picture.run))


def way_svg(run: Run, *, theme: str = "light") -> str:
    """Return the first node of a run's data path as SVG for a slide: the way of a byte without the slices on it, to the node's edge."""
    sketch, paper = _unqueued(run), Paper(palette(theme), **_LARGE)
    paper.drawing(_to(sketch.drawing, NODE_WIDTH), right=NODE_WIDTH)
    for x, y, arrow, ink in arrows(sketch):
        if x < _EDGE:
            paper.text((x, y), arrow, size=12, bold=True, ink=ink)
    return paper.svg(_EDGE, HEIGHT * paper.stretch, alt_text(run))


def node_svg(run: Run, *, theme: str = "light", large: bool = False) -> str:
    """Return the first node of a run's data path as SVG, at the moment of `still_svg`: small, for two beside each other; `large`: on a slide, to the node's edge."""
    instant = moment(run, fullest(run))
    if large:
        sketch, paper, instant = _unqueued(run), Paper(palette(theme), **_LARGE), _own(instant, NODE_WIDTH)
        paper.drawing(_to(sketch.drawing, NODE_WIDTH, instant.trains), right=NODE_WIDTH)
    else:
        sketch, paper = Picture(run).sketch, Paper(palette(theme), smallest=11.0)
        paper.drawing(sketch.drawing, right=_NODE)
    draw_slices(paper, sketch, instant, own=large)
    return paper.svg(_EDGE if large else _NODE, HEIGHT * paper.stretch, alt_text(run))


def _unqueued(run: Run) -> Sketch:
    """Return the static scene for a slide of one node, which has no queues beside the uplink and no other nodes."""
    sketch = Sketch(run, slices=False)
    draw(sketch)
    return sketch


def _to(drawing: Drawing, end: float, trains: Sequence[Train] = ()) -> Drawing:
    """Return a scene whose wire ends there, and its dotted ways where no slice is on them."""
    pipes, loads = _until(drawing.pipes, end), _until(drawing.loads, end)
    return replace(drawing, pipes=pipes, loads=loads, lines=_free(drawing.lines, trains, end))


def _fade(paper: Paper, sketch: Sketch, end: float) -> None:
    """Let what leaves the node fade into the paper."""
    pipes = cast("dict[str, list[float]]", sketch.drawing.pipes)
    leaving = [
        (top, bottom)
        for left, top, right, bottom in zip(*(pipes[side] for side in _SIDES), strict=True)
        if left < NODE_WIDTH < right
    ]
    if not leaving:
        return
    high, low = min(top for top, _ in leaving) - 2, max(bottom for _, bottom in leaving) + 2
    begin, colour = NODE_WIDTH + 1, paper.colour("paper")
    stops = "".join(
        f"<stop offset='{share}' stop-color='{colour}' stop-opacity='{share}'/>" for share in (0, 1)
    )
    paper.shapes.append(
        # One surface: many thin ones above each other were darker than the paper. Drawings of several themes may stand in one document.
        f"<linearGradient id='fade-{colour[1:]}'>{stops}</linearGradient>"
        f"<rect x='{begin:g}' y='{high:g}' width='{end + 1 - begin:g}' height='{low - high:g}' fill='url(#fade-{colour[1:]})'/>"
    )


def _partner(sketch: Sketch, at: int) -> str:
    """Return what the node's wire leads to at a moment: nothing where no wire is drawn."""
    scenario, partners = sketch.run.scenario, sketch.sight.partner
    if scenario.domains == 1 or not sends(scenario):
        return ""
    if scenario.sums_between:
        return "switch"
    number = partners[min(step_at(sketch.run, at), len(partners) - 1)]
    return f"{unit(scenario)} {number}" if number >= 0 else "partner"


def _above_wire(sketch: Sketch) -> float:
    """Return where words stand clear above the wire, or the first of several."""
    pipes = cast("dict[str, list[float]]", sketch.drawing.pipes)
    rows = zip(pipes["left"], pipes["top"], pipes["right"], strict=True)
    return min(top for left, top, right in rows if left < NODE_WIDTH < right) - 10


def _own(instant: Moment, end: float) -> Moment:
    """Return what of a moment is the node's own and in sight, its slices on the wire as far as that is drawn."""
    trains = [
        replace(train, points=[(min(x, end), y) for x, y in train.points])
        for train in instant.left_of(end).trains
        if not train.hollow
    ]
    return replace(
        instant,
        slices=[mark for mark in instant.slices if mark.at[0] < NODE_WIDTH and not mark.hollow],
        trains=trains,
        queues=[queue for queue in instant.queues if queue.first[0] < WIDTH / 2],
    )


def _until(columns: Columns, end: float) -> Columns:
    """Return boxes that end where the picture does."""
    shown = [i for i, left in enumerate(cast("list[float]", columns["left"])) if left < end]
    kept = {name: [values[i] for i in shown] for name, values in columns.items()}
    return {**kept, "right": [min(right, end) for right in cast("list[float]", kept["right"])]}


def _stands_low(at: Point) -> bool:
    """Return whether slices wait there between the boxes of devices and NIC, where there is no room for them in a small picture."""
    return at[1] > BOX_TOP


def _is_low_bar(train: Train) -> bool:
    return train.width == BAR_WIDTH and _stands_low(train.points[0])


def _below_nic(paper: Paper, sketch: Sketch, instant: Moment) -> None:
    """Draw the slices that wait for the NIC in a row below it, and say beside them how many they are."""
    bars, y = [train for train in instant.trains if _is_low_bar(train)], sketch.geometry.foot
    for number, train in enumerate(bars):
        x = NIC[0] + BAR_WIDTH / 2 + number * BAR_PITCH
        paper.line([(x, y - BAR / 2), (x, y + BAR / 2)], slice_role(train), BAR_WIDTH)
    for queue in filter(lambda queue: _stands_low(queue.first), instant.queues):
        x = NIC[0] + len(bars) * BAR_PITCH + 4
        words = say_waiting(queue.count, NODE_WIDTH - x)
        paper.text((x, y), words, size=_SIZE, ink="muted", align="left")


def _free(lines: Columns, trains: Sequence[Train], end: float) -> Columns:
    """Return the dotted ways as far as no slice is on them."""
    kept: Columns = {name: [] for name in lines}
    drawn = dict.fromkeys(pair for train in trains for pair in pairwise(train.points))
    for xs, ys, role, width in zip(*lines.values(), strict=True):
        if role == WAY_OF_OTHERS:
            continue
        points = zip(cast("list[float]", xs), cast("list[float]", ys), strict=True)
        for leg in pairwise(points):
            for a, b in _uncovered(leg, list(drawn)):
                if a[0] < end:
                    row = ([min(a[0], end), min(b[0], end)], [a[1], b[1]], role, width)
                    for values, value in zip(kept.values(), row, strict=True):
                        values.append(value)
    return kept


def _uncovered(
    leg: tuple[Point, Point], slices: Sequence[tuple[Point, Point]]
) -> Iterator[tuple[Point, Point]]:
    """Yield the parts of a line, across or up, beside which no slice is.

    >>> list(_uncovered(((0, 0), (100, 0)), [((40, 4), (60, 4)), ((90, 0), (90, 50))]))
    [((0.0, 0), (40.0, 0)), ((60.0, 0), (100.0, 0))]
    """
    (x, y), (x2, y2) = leg
    along = 0 if abs(x2 - x) >= abs(y2 - y) else 1
    begin, last = sorted((leg[0][along], leg[1][along]))
    beside = leg[0][1 - along]
    taken = sorted(
        sorted((a[along], b[along]))
        for a, b in slices
        if a[1 - along] == b[1 - along] and abs(a[1 - along] - beside) <= _CLEAR
    )
    at = float(begin)
    for low, high in (*taken, [last, last]):
        upto = min(float(low), float(last))
        if upto - at >= _SHORTEST:
            yield ((at, beside), (upto, beside)) if along == 0 else ((beside, at), (beside, upto))
        at = max(at, float(high))
