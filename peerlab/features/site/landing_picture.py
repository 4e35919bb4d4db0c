"""What the site's first page shows at once: the way of a byte on each data path, as a road, with how fast it is."""

from collections.abc import Sequence
from html import escape

from peerlab.answer.run import Run
from peerlab.base.units import say_bytes, say_count
from peerlab.picture.road import HILLS, PORTS, road
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette, properties
from peerlab.picture.words import alt_text, waits_for

_WIDTHS = {"wide": 720.0, "slim": 340.0}
"""Of the drawing, pixels: of a page that has room, and of a phone."""
_CLIMB = 40.0
"""How far host memory lies above devices and NICs, pixels."""
_SIDE = 30.0
"""Room for half a name at both ends of the road, pixels."""
_NEAR = 0.1
"""How far from the middle of host memory a stop may be that stands in it, of the road's length."""


def landing_picture(runs: Sequence[Run]) -> str:
    """Return a row for each run: data path, bandwidth, what it waits for, and its road; colours follow the reader's theme."""
    s = runs[0].scenario
    asked = f"{s.collective_record.title} of {say_bytes(s.nbytes)} on {say_count(s.nodes, 'node')} of {s.hardware.title}, simulated."
    return (
        f"<style>{properties('figure')}</style>{''.join(map(_row, runs))}<p class='quiet'>{escape(asked)}</p>"
    )


def _row(run: Run) -> str:
    drawn = "".join(f"<div class='{name}'>{_road_svg(run, width)}</div>" for name, width in _WIDTHS.items())
    return (
        f"<div class='way'><p><b>{escape(run.scenario.data_path.title)}</b> <strong>{run.busbw_GBps:.3g} GB/s</strong>"
        f" <span>waits for {escape(waits_for(run))}</span></p>{drawn}</div>"
    )


def _road_svg(run: Run, width: float) -> str:
    """Return a road as wide as given: what a byte passes; host memory lies above it."""
    paper, way = Paper(palette(PAGE)), road(run)
    top = 30.0
    foot = top + (_CLIMB if any(stop["level"] for stop in way["stops"]) else 0)

    def at(part: float, level: float) -> tuple[float, float]:
        return _SIDE + part * (width - 2 * _SIDE), top if level else foot

    for stretch in way["stretches"]:
        paper.line([at(part, level) for part, level in stretch["points"]], stretch["role"], 8)
    for stop in way["stops"]:
        paper.square(at(stop["x"], stop["level"]), 7, "paper", "ink", 2, radius=7)
        if stop["name"] and not stop["level"]:
            paper.text((at(stop["x"], 0)[0], foot + 24), stop["name"], size=16, bold=True)
    for hill in HILLS:  # several stops may stand in one host memory
        if any(stop["level"] and abs(stop["x"] - hill) < _NEAR for stop in way["stops"]):
            paper.text((at(hill, 1)[0], top - 18), "host memory", size=16, bold=True)
    if any(stretch["flight"] for stretch in way["stretches"]):
        paper.text((at(sum(PORTS) / 2, 0)[0], foot - 16), "wire", size=16, ink="muted")
    return paper.svg(width, foot + 34, alt_text(run))
