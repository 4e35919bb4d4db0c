"""What waits at the port that everybody shares, fabric by fabric on one axis of time: whose bytes, and when the victim's host may not send."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from peerlab.base.units import say_bytes, say_share, say_time
from peerlab.engine.ports.port_laws import trunk_of
from peerlab.engine.ports.port_scene import PortScene
from peerlab.engine.ports.port_trace import CellSpan
from peerlab.picture.scale import linear
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette
from peerlab.study.port_answer import PortAnswer
from peerlab.study.port_question import OWN

WIDTH = 1060.0
_LEFT, _RIGHT, _TOP, _ROW, _GLASS, _STRIP = 148.0, 1044.0, 44.0, 92.0, 66.0, 7.0
_POINTS = 448
"""Columns of a queue, each two pixels wide and as high as the queue is in the mean of its time."""
_LONGER = 1.25
"""A scene that was cut is drawn up to so many times the longest that ended."""
_LOW = "kmin"
_LINES = {_LOW: "Kmin", "kmax": "Kmax", "queue": "full"}
_LEGENDS = {
    "victim": (
        ("network", "the victim's bytes at the port"),
        ("gather", "its neighbours'"),
        ("hot", "the victim's host may not send"),
    ),
    "AllReduce": (
        ("network", "the AllReduce's bytes at the port"),
        ("hot", "the host that sends into it may not send"),
    ),
    "receiver": (
        ("gather", "the senders' bytes at the port"),
        ("hot", "the first of them may not send"),
    ),
}
"""What the colours mean, by whose the share is."""
_Heights = NDArray[np.float64]


def neighbours_svg(comparison: Any, theme: str = "light", colours: Mapping[str, str] | None = None) -> str:
    """Return the picture of a `PortComparison`."""
    paper, answers = Paper(colours or palette(theme)), comparison.answers
    end = shown_ps(answers)
    queues = [_queues(answer, end) for answer in answers]
    # An empty picture has a height to divide by, too.
    highest = max(float((own + others).max()) for own, others in queues) or 1.0
    _legend(paper, answers[0].who, highest)
    for row, (answer, (own, others)) in enumerate(zip(answers, queues, strict=True)):
        _glass(paper, answer, own, others, highest, _TOP + row * _ROW, end)
    bottom = _TOP + len(answers) * _ROW
    paper.text((_LEFT, bottom + 4), "0", size=12, ink="muted")
    paper.text((_RIGHT, bottom + 4), say_time(end), size=12, ink="muted", align="right")
    return paper.svg(WIDTH, bottom + 18, f"{alt(comparison)} {comparison.finding}")


def shown_ps(answers: Sequence[PortAnswer]) -> int:
    """Return how much of the time of several answers a picture shows."""
    # A scene that was cut has no end of its own: it must not squeeze those that have one.
    longest = max(answer.time_ps for answer in answers)
    ended = [answer.time_ps for answer in answers if answer.ends or not answer.alone_ps]
    return int(min(longest, _LONGER * max(ended, default=longest)))


def alt(comparison: Any) -> str:
    """Return what is to be seen, in words."""
    parts = [
        f"{answer.title}: {_most(answer)} at most, the {answer.who} has {say_share(answer.share)}"
        for answer in comparison.answers
    ]
    return f"Bytes that wait at the shared port in time. {'; '.join(parts)}."


def _most(answer: PortAnswer) -> str:
    own, others = _queues(answer, answer.time_ps)
    return say_bytes(float((own + others).max()))


def shared_port(answer: PortAnswer) -> int:
    """Return the port that the victim shares: its trunk towards leaf 1, or where there is none that of the host into which most send."""
    scene = answer.trace.scene
    # Links are numbered: one up from each host, one down to each, then the trunks (`PortScene.links`).
    if not scene.trunk_Bps or len(set(scene.leaves)) == 1:
        return scene.hosts + _fullest(scene)
    mine = next(
        (
            number
            for number, flow in enumerate(scene.flows)
            if flow.job == OWN and flow.src == victim_host(answer)
        ),
        0,
    )
    # where each cell takes the emptiest trunk, the first stands for all
    return max(2 * scene.hosts, trunk_of(scene, mine, scene.flows[mine]))


def victim_host(answer: PortAnswer) -> int:
    """Return the port of the host whose flow crosses the trunk with the neighbours', or below one switch goes where most go."""
    scene = answer.trace.scene
    leaves, own = scene.leaves, [flow for flow in scene.flows if flow.job == OWN]
    # The victim is the host below leaf 0 whose flow goes up through the shared trunk.
    crossing = [flow.src for flow in own if leaves[flow.src] < leaves[flow.dst]]
    into = [flow.src for flow in own if flow.dst == _fullest(scene)]
    return next(iter(crossing or into), 0)


def _fullest(scene: PortScene) -> int:
    """Return the host into which most flows go."""
    flows = Counter(flow.dst for flow in scene.flows)
    return max(flows, key=lambda host: (flows[host], host))


def _queues(answer: PortAnswer, end: int) -> tuple[_Heights, _Heights]:
    """Return the bytes of the victim and of its neighbours at the shared port, in the mean of each column."""
    flows = answer.trace.scene.flows
    cells = [
        *answer.trace.on(shared_port(answer)),
        # What still waits when the scene is cut came and never left: it stands in the queue to the end.
        *(cell for cell in answer.trace.left if cell.link == shared_port(answer)),
    ]
    own = [cell for cell in cells if flows[cell.flow].job == OWN]
    others = [cell for cell in cells if flows[cell.flow].job != OWN]
    return _mean_heights(own, end), _mean_heights(others, end)


def _mean_heights(cells: Sequence[CellSpan], end: int) -> _Heights:
    """Return the mean height of a queue in each column, from when its cells came and left."""
    edges = np.linspace(0, end, _POINTS + 1)
    if not cells:
        return np.zeros(_POINTS)
    moments = np.array([cell.queued_ps for cell in cells] + [cell.end_ps for cell in cells], dtype=np.float64)
    changes = np.array([cell.wire for cell in cells] + [-cell.wire for cell in cells], dtype=np.float64)
    # Stable, so that what comes and leaves at one moment keeps its order.
    order = np.argsort(moments, kind="stable")
    moments, heights = moments[order], np.cumsum(changes[order])
    # The queue's integral: a mean over a column is the difference at its edges, however many cells come in
    # between.
    area = np.concatenate([[0.0], np.cumsum(heights[:-1] * np.diff(moments))])  # up to each moment
    until = np.interp(edges, moments, area, left=0.0, right=float(area[-1]))
    means: _Heights = np.diff(until) / (edges[1] - edges[0])
    return means


def _legend(paper: Paper, who: str, highest: float) -> None:
    paper.text(
        (_RIGHT, 22), f"each row is {say_bytes(round(highest))} high", size=12, ink="muted", align="right"
    )
    x = _LEFT
    for role, meaning in _LEGENDS[who]:
        paper.square((x + 5, 22), 5, role, radius=2)
        paper.text((x + 15, 22), meaning, size=12, ink="muted", align="left")
        x += 40 + 6.6 * len(meaning)


def _glass(paper: Paper, answer: PortAnswer, own: _Heights, others: _Heights, highest: float, top: float, end: int) -> None:  # fmt: skip
    """Draw one fabric: its queue from the bottom up, thresholds as lines, and the strip below."""
    base = top + _GLASS
    paper.text((_LEFT - 10, top + 18), answer.title, size=13, bold=True, align="right")
    # The victim's share stands at every row: the picture tells when, this how much.
    paper.text(
        (_LEFT - 10, top + 38), f"{answer.who} {say_share(answer.share)}", size=12, ink="muted", align="right"
    )
    cut = "> " if answer.alone_ps and not answer.ends else ""
    paper.text(
        (_LEFT - 10, top + 56), f"{cut}{say_time(answer.time_ps)}", size=12, ink="muted", align="right"
    )
    paper.box((_LEFT, top, _RIGHT, base), "panel")
    _stack(paper, np.zeros(_POINTS), own, highest, base, "network")
    _stack(paper, own, others, highest, base, "gather")
    _thresholds(paper, answer, highest, top)
    at = linear((0, end), (_LEFT, _RIGHT))
    for start, stop in _stops(answer):
        if start < end:
            left, right = at(start), at(min(stop, end))
            # A pause of a few nanoseconds is seen, too.
            paper.box((left, base + 4, max(right, left + 0.4), base + 4 + _STRIP), "hot")
    if answer.time_ps < end:
        # Where this fabric ended before the axis does: what follows is nobody's time.
        x = at(answer.time_ps)
        paper.line([(x, top), (x, base + 4 + _STRIP)], "ink", 1.5)


def _stack(paper: Paper, below: _Heights, heights: _Heights, highest: float, base: float, role: str) -> None:
    """Draw heights as steps upon what is below them."""
    if not heights.any():
        return
    edges = np.repeat(np.linspace(_LEFT, _RIGHT, _POINTS + 1), 2)[1:-1]
    tops, feet = (base - _GLASS / highest * np.repeat(edge, 2) for edge in (below + heights, below))
    way = [*zip(edges, tops, strict=True), *zip(edges[::-1], feet[::-1], strict=True)]
    points = " ".join(f"{x:.5g},{y:.4g}" for x, y in way)
    paper.shapes.append(f"<polygon points='{points}' fill='{paper.colour(role)}'/>")


def _thresholds(paper: Paper, answer: PortAnswer, highest: float, top: float) -> None:
    fabric, rule = answer.trace.scene.fabric, answer.trace.scene.fabric.marking
    values = {"queue": fabric.queue, _LOW: rule.kmin if rule else 0, "kmax": rule.kmax if rule else 0}
    for name, value in values.items():
        if 0 < value <= highest:
            y = top + _GLASS * (1 - value / highest)
            paper.line([(_LEFT, y), (_RIGHT, y)], "edge", 1, "4 3")
            x = _RIGHT - (60 if name == _LOW else 4)  # beside the other, which may be as high
            paper.text((x, y - 7), _LINES[name], size=12, ink="muted", align="right")


def _stops(answer: PortAnswer) -> list[tuple[int, int]]:
    """Return when the victim's host was paused or had no credits."""
    port = victim_host(answer)
    pauses = [(span.start_ps, span.end_ps) for span in answer.trace.pauses if span.link == port]
    return pauses + [(span.start_ps, span.end_ps) for span in answer.trace.starved if span.link == port]
