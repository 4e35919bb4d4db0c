"""Several transports side by side, without a script: a bar for each on one axis of time, how its bytes arrive, and its figures."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from peerlab.answer.race import delivery
from peerlab.base.document import Document, Graphic, Table, Text
from peerlab.base.units import say_bytes, say_count, say_time
from peerlab.page.document_html import document_html
from peerlab.picture.scale import linear, round_step
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palettes

_WIDTH, _ROW, _HEAD, _FOOT = 1060.0, 40.0, 62.0, 34.0
_TICK = 20.0
"""Room below the bars for the axis."""
_AXIS = (132.0, 590.0)
"""From where to where the axis of time lies."""
_COLUMNS = ((684.0, "time"), (762.0, "goodput"), (872.0, "busbw"), (1040.0, "messages of a NIC"))
"""Where the figures beside the bars end, and what they are."""
_NEAR = 2
"""So many of them are there in a narrow window, too."""
_HEADINGS = ("transport", "time", "hop", "MTU", "goodput", "busbw", "messages of a NIC", "limits most")
_HOP = "hop: each transport's own latency, a library's where one is named; not that of the cluster's file"
_POINTS = 60
_LETTERS = 150
_MOST_TICKS = 8
_PIXEL = 1.0
"""What is narrower is not drawn."""
_PLAYS = """
.pl-report.pl-fabrics { max-width: 1640px; }
.pl-fabrics .pl-clock { display: block; cursor: pointer; overflow: auto hidden; }
.pl-fabrics .pl-clock svg { display: block; width: 100%; min-width: 980px; height: auto; margin-top: -20px; } /* no word below 11 pixels */
@media (max-width: 1019px) { .pl-fabrics .pl-further { visibility: hidden; } } /* the table has them, too */
.pl-fabrics :is(.pl-pause, .pl-again) { accent-color: var(--pl-network); margin: 0 6px 0 0; vertical-align: -2px; }
.pl-fabrics :is(.pl-pause, .pl-again):focus-visible { outline: 2px solid var(--pl-ink); outline-offset: 2px; }
.pl-fabrics .pl-replay { float: left; margin-right: 18px; }
.pl-fabrics .pl-handle { font-size: 13px; color: var(--pl-muted); }
.pl-fabrics .pl-sweep { transform: translateX(100%); }
.pl-report.pl-fabrics table { table-layout: auto; font-variant-numeric: tabular-nums; }
.pl-report.pl-fabrics tbody :is(th, td) { white-space: nowrap; }
@media (prefers-reduced-motion: reduce) { .pl-fabrics :is(.pl-handle, .pl-pause, .pl-again) { display: none; } }
@media (prefers-reduced-motion: no-preference) {
  @keyframes pl-sweep { from { transform: translateX(0); } to { transform: translateX(100%); } }
  @keyframes pl-sweep-again { from { transform: translateX(0); } to { transform: translateX(100%); } }
  .pl-fabrics .pl-sweep { animation: pl-sweep 5s linear 1s 1; }
  .pl-fabrics:has(.pl-again:checked) .pl-sweep { animation-name: pl-sweep-again; animation-delay: 0s; }
  .pl-fabrics:has(.pl-pause:checked) .pl-sweep { animation-play-state: paused; }
}
"""
"""One clock sweeps over the axis once, after a second; what it has not reached yet is veiled, no word is. Boxes that are ticked hold it and
start it again: the second of two names of the same motion begins it anew."""
_HANDLES = (
    "<label class='pl-handle pl-replay'><input type='checkbox' class='pl-again'>Play again</label>"
    "<label class='pl-clock'><span class='pl-handle'><input type='checkbox' class='pl-pause' aria-label='Pause the clock'>"
    "Pause (a click on the picture does it too)</span>{}</label>"
)


def fabrics_document(comparison: Any) -> Document:
    """Return what a `FabricComparison` says: its bars, its finding, and the figures of every transport."""
    colours = {role: f"var(--pl-{role})" for role in palettes()["light"]}  # of the theme around it
    picture = _HANDLES.format(_picture(comparison, colours, plays=True))
    rows = Table("", _HEADINGS, list(map(_row, comparison.found)), right=range(1, 7))
    parts = (
        Graphic(f"<style>{_PLAYS}</style>{picture}"),
        Text(comparison.finding),
        rows,
        Text(_HOP, quiet=True),
    )
    return Document(_asked(comparison), parts)


def fabrics_html(comparison: Any) -> str:
    """Return a `FabricComparison` as HTML that brings its own style; all text is escaped."""
    return document_html(fabrics_document(comparison), "fabrics")


def fabrics_svg(one: Any, theme: str = "light") -> str:
    """Return the bars with their figures as a still that needs nothing beside it."""
    return _picture(one, palettes()[theme], plays=False)


def _asked(one: Any) -> str:
    s = one.found[0].run.scenario
    nodes = say_count(2 if s.collective_record.is_message else s.nodes, "node")
    what = f"{s.collective_record.title} of {say_bytes(s.nbytes)} on {nodes}"
    return f"{s.hardware.title}, {what}, {s.data_path.title}: transport by transport"


def _picture(one: Any, colours: Mapping[str, str], *, plays: bool) -> str:
    paper, rows = Paper(colours), one.found
    # One rank exchanges nothing: its bar has no length, and the axis one all the same.
    longest = max(each.run.time_ps for each in rows) or 1
    end = _HEAD + len(rows) * _ROW
    if not plays:  # the page has it as its heading
        paper.text((16, 20), _asked(one), size=16, bold=True, align="left")
    _legend(paper, plays=plays)
    _beside(paper, 46, [name for _, name in _COLUMNS], size=12, ink="muted")
    _ticks(paper, longest, end)
    for at, each in enumerate(rows):
        _bar(paper, each, _HEAD + at * _ROW, longest)
    if plays:
        paper.shapes.append(_sweep(paper, end))
    sentences = [] if plays else wrap(one.finding, _LETTERS)  # the page says it below
    for at, line in enumerate(sentences):
        paper.text((16, end + _FOOT + 18 * at), line, size=13, align="left")
    height = end + (_TICK if plays else _FOOT) + 18 * len(sentences)
    sentence = "; ".join(f"{each.title} {say_time(each.run.time_ps)}" for each in rows)
    return paper.svg(_WIDTH, height, f"{_asked(one)}. {sentence}. {one.finding}")


def _legend(paper: Paper, *, plays: bool) -> None:
    """Say what the colours of a bar are, and its line."""
    x, y = _AXIS[0], 46.0
    meanings = [("network", "time"), ("edge", "headers"), ("ink", "bytes delivered, none to all")]
    for role, meaning in [*meanings, *([("network-wash", "not yet played")] if plays else [])]:
        if role == "ink":
            paper.line([(x, y), (x + 10, y)], role, 1.5)
        else:
            paper.square((x + 5, y), 5, role, radius=2)
        paper.text((x + 15, y), meaning, size=12, ink="muted", align="left")
        x += 30 + 6.4 * len(meaning)


def _ticks(paper: Paper, longest: int, end: float) -> None:
    """Draw the axis: a tick at every round share of the longest time."""
    step = int(round_step(longest, _MOST_TICKS)) or 1
    at = linear((0, longest), _AXIS)
    for moment in range(0, longest + 1, step):
        x = at(moment)
        paper.line([(x, _HEAD - 4), (x, end)], "faint", 1)
        paper.text((x, end + 10), say_time(moment) if moment else "0", size=12, ink="muted")


def _bar(paper: Paper, one: Any, top: float, longest: int) -> None:
    """Draw one row: name, time as a bar (its grey end is what headers cost), how bytes arrive, and the figures."""
    run, (left, right) = one.run, _AXIS
    whole, y = (right - left) * run.time_ps / longest, top + _ROW / 2
    paper.text((left - 10, y), one.title, size=13, bold=True, align="right")
    headers = (right - left) * one.header_ps / longest
    # Headers lie at the end of the bar though they are sent all along: their length is what they cost
    # together.
    paper.box((left, top + 7, left + whole, top + _ROW - 7), "network")
    if headers >= _PIXEL:
        paper.box((left + whole - headers, top + 7, left + whole, top + _ROW - 7), "edge")
    paper.line(
        [(left + whole * x, top + _ROW - 8 - (_ROW - 16) * part) for x, part in _arrives(run)], "ink", 1.5
    )
    rate = f"{one.messages_per_s:,.0f} /s" if one.messages_per_s else "-"
    figures = (say_time(run.time_ps), f"{run.scenario.goodput:.1%}", f"{run.busbw_GBps:.3g} GB/s", rate)
    _beside(paper, y, figures, size=13, bold=True)


def _beside(
    paper: Paper, y: float, words: Sequence[str], *, size: float, bold: bool = False, ink: str = "ink"
) -> None:
    """Write a line in the columns beside the bars, with `bold` the first of it; the page hides the further ones in a narrow window."""
    columns = [(x, word) for (x, _), word in zip(_COLUMNS, words, strict=True)]
    for number, (x, word) in enumerate(columns[:_NEAR]):
        paper.text((x, y), word, size=size, bold=bold and not number, ink=ink, align="right")
    # One group, so that the page can hide what has no room in a narrow window.
    paper.shapes.append("<g class='pl-further'>")
    for x, word in columns[_NEAR:]:
        paper.text((x, y), word, size=size, ink=ink, align="right")
    paper.shapes.append("</g>")


def _arrives(run: Any) -> Sequence[tuple[float, float]]:
    """Return which share of its bytes has arrived at which share of a run."""
    found = delivery(run)
    if not found.total:
        return [(0.0, 0.0), (1.0, 1.0)]
    # From none to all at even distances: a bar has no room for each arrival.
    shares = np.linspace(0, 1, _POINTS)
    return [(float(share), found.at(share * run.time_ps) / found.total) for share in shares]


def _sweep(paper: Paper, end: float) -> str:
    """Return the clock: a line, and a veil over what it has not reached yet."""
    left, right = _AXIS
    # Wider than the axis by the clock's line, which stands beyond it at the end.
    width, height = right - left + 2, end - _HEAD
    return (
        f"<svg x='{left:g}' y='{_HEAD:g}' width='{width:g}' height='{height:g}' overflow='hidden' aria-hidden='true'><g class='pl-sweep'>"
        f"<rect width='{width:g}' height='{height:g}' fill='{paper.colour('paper')}' fill-opacity='0.8'/>"
        f"<rect width='2' height='{height:g}' fill='{paper.colour('hot')}'/></g></svg>"
    )


def _row(one: Any) -> tuple[str, ...]:
    run = one.run
    mtu, rate = run.scenario.hardware.mtu_bytes, one.messages_per_s
    return (
        one.title, say_time(run.time_ps), f"{one.latency_us:.3g} µs", f"{mtu} B" if mtu else "-", f"{run.scenario.goodput:.1%}",
        f"{run.busbw_GBps:.3g} GB/s", f"{rate:,.0f} /s" if rate else "-", run.bottleneck.label if run.bottleneck else "-",
    )  # fmt: skip
