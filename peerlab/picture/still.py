"""A run as one still picture with its figures: no kernel, no script, no style sheet, no browser."""

from collections import Counter
from collections.abc import Iterable
from textwrap import wrap

from peerlab.answer.lateness import Lateness, lateness
from peerlab.answer.run import Run
from peerlab.base.units import say_bytes, say_count, say_time
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import HEIGHT, WIDTH, Point
from peerlab.picture.geometry import BOX_TOP
from peerlab.picture.headline import cards
from peerlab.picture.late import dots, in_words, legend
from peerlab.picture.moment import Moment, Train, fullest, moment
from peerlab.picture.picture import Picture
from peerlab.picture.scene_host import arrows
from peerlab.picture.shown_nodes import unit
from peerlab.picture.sketch import Sketch
from peerlab.picture.still_key import THIN, draw_key, slice_role
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette
from peerlab.picture.trains import BAR, BAR_WIDTH, beside_nics
from peerlab.picture.waiting import badge_place
from peerlab.picture.words import alt_text, caption, title, waits_for

_HEAD, _FOOT = 34.0, 60.0
"""Room above the data path for the title, and below it for the colours and the caption."""
SIZE = (round(WIDTH), round(_HEAD + HEIGHT + _FOOT))
"""Width and height of the picture, in its own units: CSS pixels."""
_TITLE, _LINE = 120, 168
"""Characters that the title and a line of the caption have room for."""
_LARGE = {"stretch": 1.25, "smallest": 16.0}
"""For a slide that shows it 1200 pixels wide: no word is smaller than 18 pixels."""
_BARE = {"stretch": 1.86}
"""The same without title and caption, so that it fills the slide."""
_FREE = 82.0
"""Height at which nothing is beside the uplink: the nodes' names there touch no memory."""
_PALE = 0.62
"""Every other slice is paler, but where a slide shows one node: two tints would need a name there."""
_QUEUE = 3
"""So many slices that wait in memory, or more, have their number written beside them, as in the lab."""
_BOLD_LETTER = 6.6
"""How wide a bold letter of 12 px is."""
_ARROW = 12.0
"""Room for the arrow beside the uplink, from where slices wait."""
_NEAR = (40.0, 14.0)
"""Words whose ends are so near, across and down, would lie on each other."""
_READ = 12.0
"""Size of the smallest words where no slide is drawn."""


def still_svg(
    run: Run, *, moment_ps: int | None = None, theme: str = "light", large: bool = False, bare: bool = False
) -> str:
    """Return the data path of a run at a moment, with its figures, as SVG.

    Parameters
    ----------
    moment_ps:
        Picoseconds from the start of the run; default: one in its middle at which many slices are in sight.
    theme:
        ``light`` or ``dark``.
    large:
        Whether words are large enough for the last row; the picture is higher then.
    bare:
        Whether title and caption are left out, because a slide has its own.
    """
    nodes_late = lateness(run, run.simulate) if run.simulate else None
    at = fullest(run) if moment_ps is None else moment_ps
    return _still(Picture(run), at, theme, large=large, bare=bare, nodes_late=nodes_late)


def _still(
    picture: Picture,
    at: int,
    theme: str,
    *,
    large: bool = False,
    bare: bool = False,
    nodes_late: Lateness | None = None,
) -> str:
    """Return the data path at a moment, picoseconds from the start of the run; `nodes_late`: and below it how late the nodes are."""
    run, sketch = picture.run, picture.sketch
    how = {**(_LARGE if large else {}), **(_BARE if large and bare else {})}
    paper, named = Paper(palette(theme), **how), title(run.scenario)
    head = 0.0 if bare else _HEAD
    if not bare:  # a long title becomes smaller, so that it ends inside
        paper.text((2, 16), named, size=min(15, 15 * _TITLE / len(named)), bold=True, align="left")
    paper.shapes.append(f"<g transform='translate(0 {head * paper.stretch:g})'>")
    paper.drawing(picture.drawing)
    _names(paper, sketch, bare=bare)
    _figures(paper, run, at, bare=bare)
    draw_slices(paper, sketch, moment(sketch.run, at))
    paper.shapes.append("</g>")
    words = alt_text(run) + (f" {in_words(run, nodes_late)}" if nodes_late else "")
    end = _foot(paper, picture, nodes_late, at, head=head, bare=bare)
    height = round(end * paper.stretch)
    return paper.svg(SIZE[0], height if large else max(SIZE[1], height), words)


def _late(paper: Paper, run: Run, nodes_late: Lateness, at: int, y: float) -> float:
    """Draw a square for each node, the more orange the later it is at the moment shown; return the height of that line."""
    nodes, late_ps, y = dots(nodes_late, 0), nodes_late.at(at), y + 18
    x, most = 2.0, max(range(len(late_ps)), key=late_ps.__getitem__)
    for node in nodes:
        paper.box((x, y - 6, x + 12, y + 6), "faint", radius=2)
        # A thick line may be thin in colour, which a box is not.
        if share := round(late_ps[node] / nodes_late.most_ps, 2):
            paper.line([(x, y), (x + 12, y)], "hot", 12, alpha=min(1.0, share))
        x += 15
    few = "" if len(nodes) == len(late_ps) else ", each square the latest of a few"
    each = f"{unit(run.scenario)}s 0 to {len(late_ps) - 1}{few}"
    now = (
        f"{unit(run.scenario)} {most} is {say_time(late_ps[most])} late now"
        if late_ps[most]
        else "nobody is late yet"
    )
    letters = 6.4 * max(12.0, paper.smallest) / 12
    for line in wrap(f"{each}: {now}; {legend(nodes_late)}", int((WIDTH - x - 6) / letters)):
        paper.text((x + 6, y), line, size=12, ink="muted", align="left")
        y += 18
    return y - 18


_LETTERS = 28
"""Characters of a line between the nodes."""


def figures(run: Run) -> list[tuple[str, str, str]]:
    """Return the figures of the headline: name, value with unit, note."""
    bandwidth, *others = cards(run)
    busbw = f"{run.busbw_GBps:.3g} GB/s" if run.time_ps else "none"
    first = (str(bandwidth["label"]), busbw, str(bandwidth["note"]))
    return [first, *((str(card["label"]), str(card["value"]), str(card["note"])) for card in others)]


def _names(paper: Paper, sketch: Sketch, *, bare: bool) -> None:
    """Name the nodes in the picture; a partner that changes from step to step has no number."""
    x, other, y = sketch.geometry.names()["node"]
    if bare:
        y = _FREE
    partners = sketch.sight.partner
    paper.text((x, y), f"{unit(sketch.run.scenario)} {sketch.sight.node}", size=12, bold=True, align="left")
    if partners != (-1,):
        right = f"{unit(sketch.run.scenario)} {partners[0]}" if len(partners) == 1 else "partner"
        paper.text((other, y), right, size=12, bold=True, align="right")


def _figures(paper: Paper, run: Run, at: int, *, bare: bool) -> None:
    """Write the figures between the nodes; a slide's title says what a run waits for."""
    s, middle = run.scenario, WIDTH / 2
    if not run.time_ps:
        paper.text((middle, 60), "one rank exchanges nothing", size=14, bold=True)
        return
    is_message = s.collective_record.is_message
    paper.text((middle, 32), f"{run.busbw_GBps:.3g} GB/s", size=30, bold=True)
    paper.text((middle, 58), "from node 0 to node 1" if is_message else "bus bandwidth", size=13, ink="muted")
    paper.text((middle, 84), f"{say_time(run.time_ps)} for {say_bytes(s.nbytes)}", size=15, bold=True)
    waits = [] if bare else wrap(waits_for(run), _LETTERS)
    for number, line in enumerate(waits):
        paper.text((middle, 106 + 16 * number), line, size=14, bold=True, ink="hot-ink")
    paper.text(
        (middle, 110 + 16 * len(waits)),
        f"{say_count(s.ranks, 'rank')}, shown at {say_time(at)}",
        size=12,
        ink="muted",
    )


def draw_slices(paper: Paper, sketch: Sketch, seen: Moment, *, own: bool = False) -> None:
    """Draw the slices, of other nodes only if not `own`, and say how many wait where a queue has built up."""
    slide = paper.smallest > _READ  # it has no room for a number at each queue, so that none is drawn
    trains = [mark for mark in seen.trains if not (slide and mark.width == BAR_WIDTH)]
    # thin ones are seen on broad ones in a port
    for train in sorted((mark for mark in trains if not (own and mark.hollow)), key=lambda mark: mark.hollow):
        width = max(THIN, train.width / 2) if train.hollow else train.width
        pale = train.odd and not train.hollow and not own
        for points in beside_nics(train.points):
            if pale:  # on a ground of white, in a dark theme as well: on a dark one amber is brown
                paper.line(points, "tint", width)
            paper.line(points, slice_role(train), width, alpha=_PALE if pale else 1.0)
    for dot in (mark for mark in seen.slices if not (own and mark.hollow)):
        colour = slice_role(dot)
        fill, line = ("box", colour) if dot.hollow else (colour, "box")
        paper.square(dot.at, 3.75 if dot.hollow else 4.5, fill, line, 1.5)
    for x, y, arrow, ink in arrows(sketch):
        paper.text((x, y), arrow, size=12, bold=True, ink=ink)
    if own and slide:
        return
    numbers = [] if slide else _queues(paper, sketch, seen)
    waiting = Counter[tuple[float, float, str]]()  # in one memory slices may wait for several stages
    for stage, count in seen.waiting.items():
        waiting[badge_place(sketch.geometry, stage_kind(stage).track)] += count
    for (x, y, align), count in waiting.items():
        if count >= _QUEUE and not any(abs(x - a) < _NEAR[0] and abs(y - b) < _NEAR[1] for a, b in numbers):
            beside = _beside(seen.trains, (x, y)) if align == "right" else x
            room = beside if align == "right" else WIDTH - beside
            words = say_waiting(count, 0 if slide else room)
            paper.text((beside, y), words, size=12, ink="muted", align=align)


def _queues(paper: Paper, sketch: Sketch, seen: Moment) -> list[Point]:
    """Say how many slices wait on their way, above them, or below them where they stand beside a NIC; return where that is written."""
    places = []
    at_first = {(queue.first, queue.count) for queue in seen.queues}
    for queue in seen.queues:
        (x, first), (_, last) = queue.first, queue.last
        if queue.more:
            paper.text(queue.more, "\u22ee", size=12, bold=True, ink="muted")
        if x > WIDTH / 2 and ((WIDTH - x, first), queue.count) in at_first:
            continue  # the first of two nodes says it
        left, down = x < WIDTH / 2, first > BOX_TOP
        end = x + BAR / 2 if left else x - BAR / 2
        if first < BOX_TOP:  # clear of the arrow beside the uplink
            end += -_ARROW if left else _ARROW
        # Below a stack there is room on both sides of it.
        place = (x, sketch.geometry.foot) if down else (end, last - 9)
        align = "center" if down else "right" if left else "left"
        paper.text(place, say_waiting(queue.count), size=11, ink="muted", align=align)
        places.append(place)
    return places


def say_waiting(count: int, room: float = WIDTH) -> str:
    """Return how many slices wait, as it is written beside them; in short where the whole has no room.

    >>> say_waiting(1), say_waiting(6), say_waiting(6, room=60)
    ('1 slice waits', '6 slices wait', '6 wait')
    """
    end = f" wait{'s' * (count == 1)}"
    words = say_count(count, "slice") + end
    return words if len(words) * _BOLD_LETTER <= room else f"{count}{end}"


def _beside(trains: Iterable[Train], at: Point) -> float:
    """Return where words end that would end at a point: left of slices that stand there, as words over them are hard to read."""
    x, y = at
    stand = [
        left for train in trains for left, high in train.points if x - 20 < left < x and abs(high - y) < 10
    ]
    return min([x, *(left - 4 for left in stand)])


def _foot(
    paper: Paper, picture: Picture, nodes_late: Lateness | None, at: int, *, head: float, bare: bool
) -> float:
    """Say what the colours in the picture mean and what was simulated; return where that ends."""
    sketch, letters = picture.sketch, max(12.0, paper.smallest) / 12
    seen = moment(sketch.run, at) if bare else None
    y = draw_key(paper, sketch, head + HEIGHT + 16, WIDTH, seen=seen)
    if nodes_late:
        y = _late(paper, sketch.run, nodes_late, at, y)
    if bare:
        return y + 8
    machine = sketch.cluster
    rests = f" † {machine.counted}."
    sentence = caption(sketch.run, picture) + (rests if machine.assumptions else "")
    for line in wrap(sentence, int(0.93 * _LINE / letters)):
        y += 18
        paper.text((2, y), line, size=12, ink="muted", align="left")
    return y + 8
