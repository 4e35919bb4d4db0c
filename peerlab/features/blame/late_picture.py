"""Who is late, and from when on: nodes as rows, steps as columns, the more orange the later."""

from peerlab.answer.lateness import how_it_spreads, source
from peerlab.base.units import say_time
from peerlab.features.blame.blaming import Blame
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette

WIDTHS = (520.0, 430.0, 326.0)
"""Widths of the pictures, pixels: on a page, in half a window and on a phone their words have the same size."""
_LEFT, _RIGHT, _TOP = 86.0, 20.0, 54.0
_SHADES = 5
"""Shades of the key."""
_FEW, _ROW, _LOW_ROW = 16, 22.0, 14.0
"""The most nodes with rows of full height; the height of a row, and that of more nodes, pixels."""
_GAP = 3.0
_MOST_LABELS, _LEAST_LABEL = 14, 30.0
"""Figures of steps, at most, and pixels from one to the next, at least."""
_LEAST_STEP = 6.0
"""Pixels of a step from which on cells have gaps."""


def late_svg(blame: Blame, theme: str = "light", width: float = WIDTHS[0]) -> str:
    """Return the picture; empty where nobody knows who was late in which step, or nobody was."""
    late = blame.late_ps
    if not late or not late[0] or max(map(max, late)) <= 0:
        return ""
    paper, most, high = Paper(palette(theme)), max(map(max, late)), row_height(len(late))
    bottom, right = _TOP + high * len(late), width - _RIGHT
    begins = source(late, blame.scenario)
    height = bottom + (76 if begins else 56)
    paper.box((0, 0, width, height), "panel", radius=8)
    paper.text((16, 24), "How late each node is in each step", size=14, bold=True, align="left")
    _cells(paper, late, right, blame.named)
    _steps(paper, len(late[0]), right, bottom + 8)
    _key(paper, f"{say_time(most)} late", bottom + 34)
    if begins:
        node, step = begins
        left, end = _across(step, len(late[0]), right)
        top = _TOP + high * node
        for outlined in (
            (left, top, end, top + high - _GAP),
            (_LEFT, bottom + 48, _LEFT + 14, bottom + 60),
        ):
            paper.box(outlined, "none", "ink", 1.8, radius=2)
        paper.text((_LEFT + 22, bottom + 54), "where it begins", size=12.5, ink="muted", align="left")
    return paper.svg(width, height, f"How late each node is in each step. {in_words(blame)}")


def _key(paper: Paper, latest: str, y: float) -> None:
    """Say what the shades mean, from on time to the latest of all."""
    paper.text((_LEFT - 10, y), "on time", size=12.5, ink="muted", align="right")
    for shade in range(_SHADES):
        left, right = _LEFT + 14 * shade, _LEFT + 14 * (shade + 1)
        paper.box((left, y - 6, right, y + 6), "faint")
        if shade:
            paper.line([(left, y), (right, y)], "hot", 12, alpha=shade / (_SHADES - 1))
    paper.text((_LEFT + 14 * _SHADES + 8, y), latest, size=12.5, ink="muted", align="left")


def in_words(blame: Blame) -> str:
    """Return in words what the picture shows."""
    return how_it_spreads(blame.late_ps, blame.scenario)


def _across(step: int, steps: int, right: float) -> tuple[float, float]:
    """Return the left and the right edge of a step, pixels."""
    wide = (right - _LEFT) / steps
    return _LEFT + wide * step, _LEFT + wide * (step + 1) - (2.0 if wide >= _LEAST_STEP else 0.0)


def row_height(nodes: int) -> float:
    """Return how high a row is, the gap below it included."""
    return _ROW if nodes <= _FEW else _LOW_ROW


def _cells(paper: Paper, late: tuple[tuple[int, ...], ...], edge: float, named: tuple[int, ...]) -> None:
    high, most = row_height(len(late)), max(map(max, late))
    for node, row in enumerate(late):
        top, thick = _TOP + high * node, high - _GAP
        middle = top + thick / 2
        ink, bold = ("hot-ink", True) if node in named else ("muted", False)
        paper.text((_LEFT - 10, middle), f"node {node}", size=12.5, bold=bold, ink=ink, align="right")
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
