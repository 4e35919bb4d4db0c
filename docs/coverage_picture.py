"""The picture of docs/validation.md: which share of measured times a band is to hold, and which share it holds, each machine left out."""

from collections.abc import Sequence

from peerlab.base.units import say_percent
from peerlab.features.validate.held_out.law_errors import coverage, left_out
from peerlab.features.validate.held_out.unseen import Unseen
from peerlab.picture.drawing import Point
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palettes

PICTURE = "coverage.svg"
SHARES = tuple(share / 100 for share in (50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 97, 99))
WIDTH, HEIGHT = 680.0, 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 440.0, 60.0, 360.0
_GROUPS = (("where accuracy is promised", "direct-ink", ""), ("all machines", "network-ink", "6 4"))
"""Rows of the coverage, the colour of each line, and its dashes."""


def coverage_svg(found: Sequence[Unseen]) -> str:
    """Return the picture as SVG, from machines that were left out of the fit."""
    paper = Paper(palettes()["light"])
    paper.text(
        (_LEFT - 50, 26),
        "How many of the measured times lie inside the band",
        size=14,
        bold=True,
        align="left",
    )
    _axes(paper)
    times = left_out(found)
    observed: dict[str, list[float]] = {name: [] for name, *_ in _GROUPS}
    for share in SHARES:
        for row in coverage(times, share):
            if row.group in observed:
                observed[row.group].append(row.by_law / row.times)
    placed: list[float] = []
    for name, ink, dash in _GROUPS:
        line = [_at(*pair) for pair in zip(SHARES, observed[name], strict=True)]
        paper.line(line, ink, 2.5, dash=dash)
        y = line[-1][1] + 4
        y = y if all(abs(y - other) > 34 for other in placed) else placed[-1] + 36
        placed.append(y)
        paper.text((_RIGHT + 10, y), name, size=13, ink=ink, bold=True, align="left")
        at_90 = observed[name][SHARES.index(0.9)]
        paper.text(
            (_RIGHT + 10, y + 16),
            f"{say_percent(at_90)} where 90 % is to be held",
            size=12,
            ink="muted",
            align="left",
        )
    best = observed[_GROUPS[0][0]]
    return paper.svg(
        WIDTH,
        HEIGHT,
        f"Observed over expected share, 50 to 99 %. Where accuracy is promised the band that is to hold 90 % holds {say_percent(best[SHARES.index(0.9)])}.",
    )


def _at(expected: float, observed: float) -> Point:
    x = _LEFT + (expected - 0.5) / 0.5 * (_RIGHT - _LEFT)
    return x, _BOTTOM - (observed - 0.5) / 0.5 * (_BOTTOM - _TOP)


def _axes(paper: Paper) -> None:
    for percent in range(50, 101, 10):
        share = percent / 100
        left, right, below = _at(0.5, share), _at(1.0, share), _at(share, 0.5)
        paper.line([left, right], "faint", 1)
        paper.text((left[0] - 8, left[1]), f"{percent} %", size=12, ink="muted", align="right")
        paper.text((below[0], below[1] + 18), f"{percent} %", size=12, ink="muted", align="center")
    paper.line([_at(0.5, 0.5), _at(1.0, 1.0)], "muted", 1.5, dash="2 4")
    x, y = _at(0.7, 0.655)
    paper.text((x, y), "as many as expected", size=12, ink="muted", align="left")
    paper.text(
        (_LEFT - 50, _TOP - 16), "observed, each machine left out in turn", size=12, ink="muted", align="left"
    )
    paper.text(
        ((_LEFT + _RIGHT) / 2, _BOTTOM + 42),
        "share that the band is to hold",
        size=12,
        ink="muted",
        align="center",
    )
