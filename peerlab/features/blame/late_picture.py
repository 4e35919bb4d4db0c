"""Who is late, and from when on: nodes as rows, steps as columns, the more orange the later."""

from peerlab.answer.lateness import how_it_spreads, source
from peerlab.base.units import say_time
from peerlab.features.blame.blaming import Blame
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette

_WIDTH, _LEFT, _RIGHT, _TOP = 560.0, 86.0, 540.0, 54.0
_FEW, _ROW, _LOW_ROW = 16, 22.0, 14.0
"""The most nodes with rows of full height; the height of a row, and that of more nodes, pixels."""
_GAP = 3.0
_MOST_LABELS = 14
_LEAST_STEP = 6.0
"""Pixels of a step from which on cells have gaps."""


def late_svg(blame: Blame, theme: str = "light") -> str:
    """Return the picture; empty where nobody knows who was late in which step, or nobody was."""
    late = blame.late_ps
    if not late or not late[0] or max(map(max, late)) <= 0:
        return ""
    paper, most, high = Paper(palette(theme)), max(map(max, late)), _high(len(late))
    bottom = _TOP + high * len(late)
    height = bottom + 32
    paper.box((0, 0, _WIDTH, height), "panel", radius=8)
    paper.text(
        (16, 24),
        f"How late each node is in each step: orange is {say_time(most)}",
        size=14,
        bold=True,
        align="left",
    )
    _cells(paper, late, most, blame.named)
    _steps(paper, len(late[0]), bottom + 8)
    if cell := source(late, blame.scenario):
        left, right, top = *_across(cell[1], len(late[0])), _TOP + high * cell[0]
        paper.box((left, top, right, top + high - _GAP), "none", "ink", 1.8, radius=2)
    return paper.svg(_WIDTH, height, f"How late each node is in each step. {in_words(blame)}")


def in_words(blame: Blame) -> str:
    """Return in words what the picture shows."""
    return how_it_spreads(blame.late_ps, blame.scenario)


def _across(step: int, steps: int) -> tuple[float, float]:
    """Return the left and the right edge of a step, pixels."""
    wide = (_RIGHT - _LEFT) / steps
    return _LEFT + wide * step, _LEFT + wide * (step + 1) - (2.0 if wide >= _LEAST_STEP else 0.0)


def _high(nodes: int) -> float:
    """Return how high a row is, the gap below it included."""
    return _ROW if nodes <= _FEW else _LOW_ROW


def _cells(paper: Paper, late: tuple[tuple[int, ...], ...], most: int, named: tuple[int, ...]) -> None:
    high = _high(len(late))
    for node, row in enumerate(late):
        top, thick = _TOP + high * node, high - _GAP
        middle = top + thick / 2
        ink, bold = ("hot-ink", True) if node in named else ("muted", False)
        paper.text((_LEFT - 10, middle), f"node {node}", size=12.5, bold=bold, ink=ink, align="right")
        for step, late_ps in enumerate(row):
            left, right = _across(step, len(row))
            paper.box((left, top, right, top + thick), "faint")
            # A thick line may be thin in colour, which a box is not.
            if share := round(max(0, late_ps) / most, 2):
                paper.line([(left, middle), (right, middle)], "hot", thick, alpha=share)
        if bold:
            edges = (_LEFT - 2, top - 2, _across(len(row) - 1, len(row))[1] + 2, top + thick + 2)
            paper.box(edges, "none", "hot-ink", 1.5, radius=2)


def _steps(paper: Paper, steps: int, y: float) -> None:
    paper.text((_LEFT - 10, y), "step", size=12.5, ink="muted", align="right")
    every = -(-steps // _MOST_LABELS)
    for step in range(0, steps, every):
        left, right = _across(step, steps)
        paper.text(((left + right) / 2, y), str(step + 1), size=12.5, ink="muted")
