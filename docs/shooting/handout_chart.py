"""The handout's chart: bus bandwidth against nodes, with the bands of what is assumed."""

import math

from peerlab.base.units import say_bytes
from peerlab.engine.simulate import simulate
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palettes
from peerlab.question.scenario import Scenario

NODES = (2, 4, 8, 16, 32, 64, 128)
_WIDTH, _HEIGHT = 560.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 408.0, 12.0, 206.0
_SIZE = 14


def growth(base: Scenario) -> str:
    """Return the chart as SVG."""
    lines = {
        "Peer Direct": (base.with_(path="peer-direct"), "direct", "direct-ink"),
        "through the host": (base, "copy", "copy-ink"),
        "without a cache": (base.with_(path="peer-direct", registration="per-transfer"), "register", "register-ink"),
    }  # fmt: skip
    bands = {
        name: [simulate(asked.with_(nodes=nodes)).sensitivity_band() for nodes in NODES]
        for name, (asked, _, _) in lines.items()
    }
    limit = [simulate(base.with_(nodes=nodes)).wire_limit_GBps for nodes in NODES]
    highest = 20 * math.ceil(max(limit) / 20)

    def at(nodes: int, value: float) -> tuple[float, float]:
        along = math.log(nodes / NODES[0]) / math.log(NODES[-1] / NODES[0])
        return _LEFT + (_RIGHT - _LEFT) * along, _BOTTOM - (_BOTTOM - _TOP) * value / highest

    paper = Paper(palettes()["light"])
    for value in range(0, highest + 1, 20):
        y = at(NODES[0], value)[1]
        paper.line([(_LEFT, y), (_RIGHT, y)], "faint", 1)
        paper.text((_LEFT - 7, y), str(value), size=_SIZE, ink="muted", align="right")
    for nodes in NODES:
        paper.text((at(nodes, 0)[0], _BOTTOM + 14), str(nodes), size=_SIZE, ink="muted")
    paper.text(
        (_LEFT, _BOTTOM + 30),
        f"nodes, messages of {say_bytes(base.nbytes)}",
        size=_SIZE,
        ink="muted",
        align="left",
    )
    paper.line([at(n, v) for n, v in zip(NODES, limit, strict=True)], "edge", 1.6, dash="5 4")
    ends = [("the wire's limit", at(NODES[-1], limit[-1])[1], "muted")]
    for name, (_, role, ink) in lines.items():
        upper = [at(n, band.high_GBps) for n, band in zip(NODES, bands[name], strict=True)]
        lower = [at(n, band.low_GBps) for n, band in zip(NODES, bands[name], strict=True)]
        paper.area([*upper, *lower[::-1]], role)
        points = [at(n, band.value_GBps) for n, band in zip(NODES, bands[name], strict=True)]
        paper.line(points, role, 3)
        ends.append((name, points[-1][1], ink))
    _name(paper, sorted(ends, key=lambda end: end[1]))
    said = ", ".join(f"{name} {found[-1].value_GBps:.3g} GB/s" for name, found in bands.items())
    return paper.svg(_WIDTH, _HEIGHT, f"Bus bandwidth against nodes; at {NODES[-1]} nodes: {said}.")


def _name(paper: Paper, ends: list[tuple[str, float, str]]) -> None:
    """Write the names at the ends of the lines, a line's distance apart."""
    lowest = -math.inf
    for name, y, ink in ends:
        lowest = max(y, lowest + _SIZE * 1.25)
        paper.text((_RIGHT + 8, lowest), name, size=_SIZE, bold=ink != "muted", ink=ink, align="left")
