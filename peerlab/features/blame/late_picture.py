"""Who is late, and from when on: nodes as rows, steps as columns, the more orange the later; of a single step a bar for each node."""

from collections.abc import Iterable

from peerlab.answer.lateness import how_it_spreads, source
from peerlab.base.units import say_time
from peerlab.features.blame.blaming import Blame
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette

WIDTHS = (520.0, 430.0, 326.0)
"""Widths of the pictures, pixels: on a page, in half a window and on a phone their words have the same size."""
_LEFT, _RIGHT, _TOP = 86.0, 20.0, 54.0
RIGHT_OF_BARS = 84.0
"""Room of a bar's figure, pixels."""
RADIUS = 4.0
"""Of the corners of a bar."""
_ROOM_FOR_KEY, _BEGINS = 420.0, 124.0
"""From which width on all words of the key are in one row, and the room of its last ones, pixels."""
_SHADES = 5
"""Shades of the key."""
_FEW, _ROW, _LOW_ROW = 16, 22.0, 14.0
"""The most nodes with rows of full height; the height of a row, and that of more nodes, pixels."""
_GAP = 3.0
FOLDED = 3
"""So many rows of nothing, or more, are one."""
_MOST_LABELS, _LEAST_LABEL = 14, 30.0
"""Figures of steps, at most, and pixels from one to the next, at least."""
_LEAST_STEP = 6.0
"""Pixels of a step from which on cells have gaps."""


def late_svg(blame: Blame, theme: str = "light", width: float = WIDTHS[0]) -> str:
    """Return the picture; empty where nobody knows who was late in which step, or nobody was."""
    late = blame.late_ps
    if not late or not late[0] or max(map(max, late)) <= 0:
        return ""
    single, begins = len(late[0]) == 1, source(late, blame.scenario)
    shown, rest = list(range(len(late))), 0
    if single:
        shown, rest = without_nothing(say_time(max(0, row[0])) == "0 s" for row in late)
    count = len(shown) + (rest > 0)
    paper, most, high = Paper(palette(theme)), max(map(max, late)), row_height(count)
    bottom, right = _TOP + high * count, width - (RIGHT_OF_BARS if single else _RIGHT)
    # One row of words below the picture where they have room beside each other.
    beside = single or width >= _ROOM_FOR_KEY
    height = bottom + (32 if single else 56 if beside or not begins else 76)
    title = "How late each node is" + ("" if single else " in each step")
    paper.box((0, 0, width, height), "panel", radius=8)
    paper.text((16, 24), title, size=14, bold=True, align="left")
    names = [f"node {node}" for node in shown] + [others(rest)] * (rest > 0)
    bold = (begins[0],) if begins and begins[0] in blame.named else blame.named
    _names(paper, names, [place for place, node in enumerate(shown) if node in bold])
    if single:
        bars = [late[node][0] for node in shown] + [0] * (rest > 0)
        _bars(paper, bars, right, shown.index(begins[0]) if begins else None)
    else:
        _cells(paper, late, right)
        _steps(paper, len(late[0]), right, bottom + 8)
        _key(paper, f"{say_time(most)} late", bottom + 34)
    if begins and single:
        _key_of_bars(
            paper, begins[0], [row[0] for row in late], (_LEFT if width >= _ROOM_FOR_KEY else 16, bottom + 10)
        )
    elif begins:
        node, step = begins
        left, end = _across(step, len(late[0]), right)
        top, y = _TOP + high * node, bottom + (34 if beside else 54)
        key = width - _RIGHT - _BEGINS if beside else _LEFT
        for outlined in ((left, top, end, top + high - _GAP), (key, y - 6, key + 14, y + 6)):
            paper.box(outlined, "none", "ink", 1.8, radius=2)
        paper.text((key + 22, y), "where it begins", size=12.5, ink="muted", align="left")
    return paper.svg(width, height, f"{title}. {in_words(blame)}")


def _key(paper: Paper, latest: str, y: float) -> None:
    """Say what the shades mean, from on time to the latest of all."""
    paper.text((_LEFT - 10, y), "on time", size=12.5, ink="muted", align="right")
    for shade in range(_SHADES):
        left, right = _LEFT + 14 * shade, _LEFT + 14 * (shade + 1)
        paper.box((left, y - 6, right, y + 6), "faint")
        if shade:
            paper.line([(left, y), (right, y)], "hot", 12, alpha=shade / (_SHADES - 1))
    paper.text((_LEFT + 14 * _SHADES + 8, y), latest, size=12.5, ink="muted", align="left")


def _key_of_bars(paper: Paper, begins: int, late: list[int], at: tuple[float, float]) -> None:
    """Say what the colours of bars mean: the node where it begins, and those that it makes late."""
    x, y = at
    for ink, words, there in (
        ("hot", "it begins here", True),
        ("edge", "late because of that", any(ps > 0 for node, ps in enumerate(late) if node != begins)),
    ):
        if there:
            paper.box((x, y - 6, x + 12, y + 6), ink, radius=2)
            paper.text((x + 18, y), words, size=12.5, ink="muted", align="left")
            x += 122


def in_words(blame: Blame) -> str:
    """Return in words what the picture shows."""
    return how_it_spreads(blame.late_ps, blame.scenario)


def _across(step: int, steps: int, right: float) -> tuple[float, float]:
    """Return the left and the right edge of a step, pixels."""
    wide = (right - _LEFT) / steps
    return _LEFT + wide * step, _LEFT + wide * (step + 1) - (2.0 if wide >= _LEAST_STEP else 0.0)


def row_height(rows: int) -> float:
    """Return how high a row is, the gap below it included."""
    return _ROW if rows <= _FEW else _LOW_ROW


def without_nothing(nothing: Iterable[bool]) -> tuple[list[int], int]:
    """Return which rows are shown, of those that say nothing or something, and how many are folded into one at their end.

    >>> without_nothing([True, False, True, True]), without_nothing([True, False, True])
    (([1], 3), ([0, 1, 2], 0))
    """
    empty = list(nothing)
    if sum(empty) < FOLDED or all(empty):
        return list(range(len(empty))), 0
    return [place for place, folded in enumerate(empty) if not folded], sum(empty)


def others(count: int) -> str:
    """Return the name of a row that is `count` rows."""
    return f"{count} others"


def _names(paper: Paper, names: list[str], to_blame: list[int]) -> None:
    """Write each node's name at its row: those to blame bold, and of a way to blame the end where it begins; the other end is who suffers."""
    high = row_height(len(names))
    for place, name in enumerate(names):
        ink, bold = ("hot-ink", True) if place in to_blame else ("muted", False)
        at = (_LEFT - 10, _TOP + high * place + (high - _GAP) / 2)
        paper.text(at, name, size=12.5, bold=bold, ink=ink, align="right")


def _bars(paper: Paper, late: list[int], right: float, begins: int | None) -> None:
    """Draw how late each node is where there is one step: a bar each, grey unless it begins there, and its time."""
    high, most = row_height(len(late)), max(late)
    paper.line([(_LEFT, _TOP), (_LEFT, _TOP + high * len(late) - _GAP)], "faint", 1)
    for node, late_ps in enumerate(late):
        share, middle = max(0, late_ps) / most, _TOP + high * node + (high - _GAP) / 2
        end, first = _LEFT + (right - _LEFT) * share, node == begins
        if end >= _LEFT + 2:  # less would be a stub that looks like something
            half = (high - _GAP) / 2
            ink_of_bar = "hot" if first or begins is None else "edge"
            paper.box((_LEFT, middle - half, end, middle + half), ink_of_bar, radius=RADIUS)
        words = say_time(max(0, late_ps))
        ink = "hot-ink" if first else "muted"
        paper.text((right + 10, middle), words, size=12.5, bold=first, ink=ink, align="left")


def _cells(paper: Paper, late: tuple[tuple[int, ...], ...], edge: float) -> None:
    high, most = row_height(len(late)), max(map(max, late))
    for node, row in enumerate(late):
        top, thick = _TOP + high * node, high - _GAP
        middle = top + thick / 2
        for step, late_ps in enumerate(row):
            left, right = _across(step, len(row), edge)
            paper.box((left, top, right, top + thick), "faint")
            # A thick line may be thin in colour, which a box is not.
            if share := round(max(0, late_ps) / most, 2):
                paper.line([(left, middle), (right, middle)], "hot", thick, alpha=share)


def _steps(paper: Paper, steps: int, edge: float, y: float) -> None:
    paper.text((_LEFT - 10, y), "step", size=12.5, ink="muted", align="right")
    every = -(-steps // min(_MOST_LABELS, int((edge - _LEFT) / _LEAST_LABEL)))
    for step in range(0, steps, every):
        left, right = _across(step, steps, edge)
        paper.text(((left + right) / 2, y), str(step + 1), size=12.5, ink="muted")
