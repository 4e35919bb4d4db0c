"""Who is late in a run, as a field: nodes from top to bottom, time from left to right, the later the darker."""

from collections.abc import Iterator
from itertools import groupby

from peerlab.answer.lateness import Lateness
from peerlab.answer.run import Run
from peerlab.base.units import say_time
from peerlab.features.deck.blocks import paper_without_ground
from peerlab.picture.late import dots, in_words
from peerlab.picture.shown_nodes import unit
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette

_WIDE, _HIGH, _LEFT, _TOP = 1144.0, 490.0, 120.0, 8.0
_BOTTOM = _HIGH - 78
_MOMENTS = 128
"""Columns of the field."""
_GAP = 4.0
_NAMED = 12
"""Of more rows every second or third has a name."""
_LEAST = 0.05
"""Share of the most, from one shade to the next."""


def late_field(found: Lateness, run: Run) -> str:
    """Draw how late each node is at each moment, and what the colours mean."""
    paper, nodes = Paper(palette(PAGE)), dots(found, 0)
    pitch, step = (_BOTTOM - _TOP) / len(nodes), (_WIDE - _LEFT) / _MOMENTS
    every = -(-len(nodes) // _NAMED)
    moments = [found.at(round(run.time_ps * (column + 0.5) / _MOMENTS)) for column in range(_MOMENTS)]
    for row, node in enumerate(nodes):
        top, bottom = _TOP + pitch * row, _TOP + pitch * (row + 1) - min(_GAP, pitch / 4)
        if row % every == 0:
            name = f"{unit(run.scenario)} {node}"
            paper.text((0, (top + bottom) / 2), name, size=18, bold=node == found.latest[0], align="left")
        paper.box((_LEFT, top, _WIDE, bottom), "box", radius=3)
        for first, last, share in _runs([late_ps[node] / found.most_ps for late_ps in moments]):
            # A thick line may be thin in colour, which a box is not.
            ends, middle = (_LEFT + step * first, _LEFT + step * last), (top + bottom) / 2
            paper.line([(x, middle) for x in ends], "hot", bottom - top, alpha=min(1.0, share))
    most = max(range(_MOMENTS), key=lambda column: moments[column][found.latest[0]])
    at = nodes.index(found.latest[0]) if found.latest[0] in nodes else None
    if at is not None:  # what the title is about
        x, top = _LEFT + step * most, _TOP + pitch * at
        paper.box(
            (x - 4, top - 3, min(x + 3 * step, _WIDE), top + pitch - min(_GAP, pitch / 4) + 3),
            "none",
            "ink",
            2.5,
            4,
        )
    y = _BOTTOM + 20
    paper.text((_LEFT, y), "0", size=18, ink="muted", align="left")
    paper.text((_WIDE, y), say_time(run.time_ps), size=18, ink="muted", align="right")
    _key(paper, found, y + 38)
    return paper_without_ground(paper, _WIDE, _HIGH, in_words(run, found))


def _runs(shares: list[float]) -> Iterator[tuple[int, int, float]]:
    """Yield from which moment to which it is how late, as a share of the most; where it is on time nothing."""
    column = 0
    for shade, some in groupby(round(share / _LEAST) for share in shares):
        count = len(list(some))
        if shade > 0:
            yield column, column + count, shade * _LEAST
        column += count


def _key(paper: Paper, delays: Lateness, y: float) -> None:
    paper.text((_LEFT, y), "on time", size=18, ink="muted", align="left")
    left, wide = _LEFT + 90, 30.0
    for place in range(_SHADES + 1):
        x = left + wide * place
        paper.line([(x, y), (x + wide, y)], "hot", 18, alpha=max(_LEAST, place / _SHADES))
    most = f"{say_time(delays.most_ps)} late"
    paper.text((left + wide * (_SHADES + 1) + 12, y), most, size=18, ink="muted", align="left")


_SHADES = 5
