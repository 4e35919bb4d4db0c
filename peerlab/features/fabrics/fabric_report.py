"""Several transports side by side: the table of the command and the page, and a still with a bar for each on one axis of time."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from peerlab.answer.race import delivery
from peerlab.answer.run import Run
from peerlab.base.document import Document, Table, Text
from peerlab.base.units import say_bytes, say_count, say_percent, say_time
from peerlab.picture.scale import linear, round_step
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palettes
from peerlab.study.fabric_comparison import FabricComparison, OnTransport

_WIDTH, _ROW, _HEAD, _FOOT = 1060.0, 40.0, 62.0, 34.0
_AXIS = (132.0, 590.0)
"""From where to where the axis of time lies."""
_COLUMNS = ((684.0, "time"), (762.0, "goodput"), (872.0, "busbw"), (1040.0, "messages of a NIC"))
"""Where the figures beside the bars end, and what they are."""
HEADINGS = ("transport", "time", "latency", "MTU", "goodput", "busbw", "messages of a NIC", "limited by")
"""Headings of the table."""
LATENCY = "latency: each transport's own between two nodes, or its library's; not that of the cluster's file"
_POINTS = 60
_LETTERS = 150
_MOST_TICKS = 8
_PIXEL = 1.0
"""What is narrower is not drawn."""


def fabrics_document(comparison: FabricComparison) -> Document:
    """Return what a `FabricComparison` says: its finding, and the figures of every transport."""
    rows = Table("", HEADINGS, list(map(cells, comparison.transports)), right=range(1, 7))
    return Document(heading(comparison), (Text(comparison.finding), rows, Text(LATENCY, quiet=True)))


def heading(comparison: FabricComparison) -> str:
    """Return what was asked, in words."""
    s = comparison.transports[0].run.scenario
    nodes = say_count(2 if s.collective_record.is_message else s.nodes, "node")
    what = f"{s.collective_record.title} of {say_bytes(s.nbytes)} on {nodes}"
    return f"{s.hardware.title}, {what}, {s.data_path.title}: transport by transport"


def fabrics_svg(comparison: FabricComparison, theme: str = "light") -> str:
    """Return the bars with their figures as a still that needs nothing beside it."""
    paper, rows = Paper(palettes()[theme]), comparison.transports
    # One rank exchanges nothing: its bar has no length, and the axis one all the same.
    longest = max(each.run.time_ps for each in rows) or 1
    end = _HEAD + len(rows) * _ROW
    paper.text((16, 20), heading(comparison), size=16, bold=True, align="left")
    _legend(paper)
    _beside(paper, 46, [name for _, name in _COLUMNS], size=12, ink="muted")
    _ticks(paper, longest, end)
    for at, each in enumerate(rows):
        _bar(paper, each, _HEAD + at * _ROW, longest)
    sentences = wrap(comparison.finding, _LETTERS)
    for at, line in enumerate(sentences):
        paper.text((16, end + _FOOT + 18 * at), line, size=13, align="left")
    sentence = "; ".join(f"{each.title} {say_time(each.run.time_ps)}" for each in rows)
    height = end + _FOOT + 18 * len(sentences)
    return paper.svg(_WIDTH, height, f"{heading(comparison)}. {sentence}. {comparison.finding}")


def _legend(paper: Paper) -> None:
    """Say what the colours of a bar are, and its line."""
    x, y = _AXIS[0], 46.0
    for role, meaning in (("network", "time"), ("edge", "headers"), ("ink", "bytes delivered, none to all")):
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


def _bar(paper: Paper, transport: OnTransport, top: float, longest: int) -> None:
    """Draw one row: name, time as a bar (its grey end is what headers cost), how bytes arrive, and the figures."""
    run, (left, right) = transport.run, _AXIS
    whole, y = (right - left) * run.time_ps / longest, top + _ROW / 2
    paper.text((left - 10, y), transport.title, size=13, bold=True, align="right")
    headers = (right - left) * transport.header_ps / longest
    # Headers lie at the end of the bar though they are sent all along: their length is what they cost
    # together.
    paper.box((left, top + 7, left + whole, top + _ROW - 7), "network")
    if headers >= _PIXEL:
        paper.box((left + whole - headers, top + 7, left + whole, top + _ROW - 7), "edge")
    paper.line(
        [(left + whole * x, top + _ROW - 8 - (_ROW - 16) * part) for x, part in _arrives(run)], "ink", 1.5
    )
    rate = f"{transport.messages_per_s:,.0f} /s" if transport.messages_per_s else "-"
    figures = (
        say_time(run.time_ps),
        say_percent(run.scenario.goodput, 1),
        f"{run.busbw_GBps:.3g} GB/s",
        rate,
    )
    _beside(paper, y, figures, size=13, bold=True)


def _beside(
    paper: Paper, y: float, words: Sequence[str], *, size: float, bold: bool = False, ink: str = "ink"
) -> None:
    """Write a line in the columns beside the bars, with `bold` the first of it."""
    for number, ((x, _), word) in enumerate(zip(_COLUMNS, words, strict=True)):
        paper.text((x, y), word, size=size, bold=bold and not number, ink=ink, align="right")


def _arrives(run: Run) -> Sequence[tuple[float, float]]:
    """Return which share of its bytes has arrived at which share of a run."""
    delivered = delivery(run)
    if not delivered.total:
        return [(0.0, 0.0), (1.0, 1.0)]
    # From none to all at even distances: a bar has no room for each arrival.
    shares = np.linspace(0, 1, _POINTS)
    return [(float(share), delivered.at(share * run.time_ps) / delivered.total) for share in shares]


def cells(transport: OnTransport) -> tuple[str, ...]:
    """Return a row of the table."""
    run = transport.run
    mtu, rate = run.scenario.hardware.mtu_bytes, transport.messages_per_s
    return (
        transport.title, say_time(run.time_ps), f"{transport.latency_us:.3g} µs", f"{mtu} B" if mtu else "-", say_percent(run.scenario.goodput, 1),
        f"{run.busbw_GBps:.3g} GB/s", f"{rate:,.0f} /s" if rate else "-", run.bottleneck.label if run.bottleneck else "-",
    )  # fmt: skip
