"""The key of a still picture: what its colours mean, and its thin, hollow and dotted marks."""

from peerlab.model.paths import REDUCE
from peerlab.picture.drawing import Point
from peerlab.picture.moment import Moment, Slice, Train
from peerlab.picture.sketch import Sketch
from peerlab.picture.svg import Paper
from peerlab.picture.theme import stage_role
from peerlab.picture.words import colours

THIN = 3.0
"""Width of a slice of other nodes."""
_HOLLOW, _WAY, _OF_OTHERS = "", "dotted ", "thin "
"""Signs that are no square of a colour; the last stands before the colour of its line."""


def draw_key(
    paper: Paper,
    sketch: Sketch,
    y: float,
    width: float,
    size: float = 12.0,
    *,
    seen: Moment | None = None,
    short: bool = False,
    way: bool = False,
    left: float = 2.0,
) -> float:
    """Say what the colours in the picture mean, from a height on, or only those that are `seen`; return the height of the last line.

    `short`: as a picture of one node has it, of its own slices: in one row; `way`: and with the dotted lines; `left`: where its rows begin.
    """
    drawn = {stage_role(stage) for stage in (*sketch.drawn, REDUCE.name)}
    if seen:
        drawn = set(map(slice_role, seen.trains)) | set(map(slice_role, seen.slices))
    entries = [(role, meaning) for role, meaning in colours(sketch.run) if role in drawn]
    if short:
        entries = [(role, meaning.partition(",")[0]) for role, meaning in entries]
        entries += [(_WAY, "the way of a slice")] if way else []
    # With a switch that adds up nobody's neighbours are shown.
    elif not sketch.geometry.sums and sketch.run.scenario.domains > 1:
        entries += _others(seen)
    x, letters = left, max(size, paper.smallest) / 12
    for role, meaning in entries:
        # About 6.4 units a letter of size 12, and 16 for the square before it.
        if x + (16 + 6.4 * len(meaning)) * letters > width:
            x, y = left, y + 18
        _sign(paper, (x + 5, y), role)
        paper.text((x + 16, y), meaning, size=size, ink="muted", align="left")
        x += 16 + (18 + 6.4 * len(meaning)) * letters
    return y


def _others(seen: Moment | None) -> list[tuple[str, str]]:
    """Return the entry of a key for slices of other nodes, as they are seen: thin on a link, hollow where they stand."""
    if seen is None:
        return [(_HOLLOW, "thin or hollow: other nodes")]
    thin = [slice_role(train) for train in seen.trains if train.hollow]
    hollow = any(mark.hollow for mark in seen.slices)
    if not thin:
        return [(_HOLLOW, "hollow: other nodes")] if hollow else []
    words = "thin or hollow: other nodes" if hollow else "thin: other nodes"
    return [(_OF_OTHERS + thin[0], words)]


def slice_role(mark: Slice | Train) -> str:
    """Return the colour of a slice."""
    return stage_role(REDUCE.name if mark.summed else mark.stage)


def _sign(paper: Paper, at: Point, sign: str) -> None:
    """Draw what stands before the words of a key."""
    x, y = at
    if sign == _HOLLOW:
        paper.square(at, 3.5, "none", "edge", 1.5)
    elif sign == _WAY:
        paper.line([(x - 5, y), (x + 7, y)], "muted", 2, dash="2 3")
    elif sign.startswith(_OF_OTHERS):
        paper.line([(x - 5, y), (x + 7, y)], sign.removeprefix(_OF_OTHERS), THIN)
    else:
        paper.square(at, 5, sign, radius=2)
