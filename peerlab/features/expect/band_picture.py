"""Band, floor and ceiling over sizes, logarithmic both ways, with the points of a log: vermilion only below the floor."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from peerlab.base.units import KIB, say_bytes
from peerlab.features.expect.closest_size import LabelBox, closest_label
from peerlab.features.expect.expectation import figure
from peerlab.picture.scale import Scale, apart, logarithmic

_HIGH = 360
_WIDTHS = (440, 560, 700, 860, 1020, 1240)
"""Widths that it is drawn for, so that its letters keep their size: a page shows the widest that it has room for."""
_LETTER = 13
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 148, 32, 30
_BAND, _KEY = "9 of 10 healthy runs", 104
"""The name of the band, and where its key begins beside that of the axis, pixels."""
_LOG_KEY = 280
"""Where the key of the log's points begins, pixels."""
_POINT, _SMALL = 7.0, 4.5
"""Radius of a point of a log, pixels: heavier than any line; and where many sizes are close together."""
_LOG = "3.2"
"""Width of the line that joins the points of a log, pixels: broader than any curve."""
_LOG_NAME = 16
"""Size of what a log reaches at its end: the largest words of the picture."""
_STUB, _BEND, _NAME = 8, 19, 23
"""Right of the last size, pixels: so far a curve goes on, that no point hides its end; to there a thin line leads to its name; the name."""
_FILLED = "fill='var(--pl-good-wash)'"
"""How the band is filled: seen on paper of either colour, and lighter than whatever is drawn on it."""
_TICK = 76
"""Pixels from one size that is written at the axis to the next, at least."""
_LINES = 6
"""Lines of the grid, at most."""
_CLEAR = 10
"""Pixels between a line of the grid and the ceiling at its right end, at least: nearer it would look like the ceiling's figure."""
Row = Mapping[str, Any]
"""A size with floor, low, expected, high and ceiling, GB/s; of a log with what was measured, and whether that is below, too."""
# Below this size all curves are one line on these axes, unless so few sizes are larger.
_FROM, _ENOUGH = 64 * KIB, 4
_APART = 19
"""Pixels between two words at the right edge."""
_SIDE, _LOW = 44, 104
"""Of the picture of one size: room for half a name at both ends, and the height, pixels."""
_NAMES = 82
"""From the middle of one of its names to the next, pixels."""


def band_html(
    rows: Sequence[Row],
    judged: Sequence[Row] = (),
    faults: Sequence[Sequence[tuple[int, float]]] = (),
    closest: Row | None = None,
) -> str:
    """Return the picture at each width, of which the page shows one; `closest` is the row of a log that a sentence is about."""
    return _at_each_width(lambda wide: band_svg(rows, judged, faults, closest, wide=wide))


def one_size_html(row: Row) -> str:
    """Return the picture of one size at each width, of which the page shows one."""
    return _at_each_width(lambda wide: _one_size_svg(row, wide))


def _at_each_width(draw: Callable[[int], str]) -> str:
    return f"<div class='pl-picture'>{''.join(map(draw, _WIDTHS))}</div>"


def _opened(wide: int, high: int, sentence: str) -> str:
    """Return the beginning of a picture, with the class by which a page shows that of its width."""
    return (
        f"<svg class='pl-band pl-at-{wide}' viewBox='0 0 {wide} {high}' width='{wide}' role='img' aria-label='{escape(sentence, quote=True)}' "
        f"font-size='{_LETTER}' fill='var(--pl-muted)' style='height:auto'>"
    )


def _band_key(left: float) -> str:
    """Return what the band is, beside the name of the axis."""
    return (
        f"<rect x='{left}' y='2' width='16' height='11' rx='2' {_FILLED} stroke='var(--pl-direct)'/>"
        f"<text x='{left + 22}' y='12'>{_BAND}</text>"
    )


def band_svg(
    rows: Sequence[Row],
    judged: Sequence[Row] = (),
    faults: Sequence[Sequence[tuple[int, float]]] = (),
    closest: Row | None = None,
    *,
    wide: int = _WIDTHS[2],
) -> str:
    """Return the picture as SVG in the colours of the page around it; hovering a point says its figures.

    `faults`: what each fault would leave, a curve of sizes and GB/s that is hidden until its cause is pointed at.
    """
    rows, judged = _drawn(rows, judged), _drawn(judged, judged)
    # Axis and sentence name the sizes that were asked for, not those added to draw a line through one.
    told, rows = rows, _broadened(rows)
    right = wide - _RIGHT
    across, up = _across(rows, right), _up(rows, judged)
    measured = [row for row in judged if row["measured"] > 0]
    parts = [_area(across, up, [(row["size"], row["low"], row["high"]) for row in rows], _FILLED)]
    parts += _grid(across, up, right, (told, judged))
    for edge in ("low", "high"):
        parts.append(_line(across, up, [(row["size"], row[edge]) for row in rows], "direct", "1", ""))
    short = [row for row in judged if row["below"]]
    parts += [_missing(across, up, run) for run in _neighbours(short, rows)]
    curves = [
        ("expected", "direct-ink", "1.5", "", [(row["size"], row["expected"]) for row in rows]),
        ("floor", "muted", "1.6", "3 3", [(row["size"], row["floor"]) for row in rows if row["floor"]]),
        ("ceiling", "muted", "1.4", "6 4", [(row["size"], row["ceiling"]) for row in rows]),
    ]
    parts += [_line(across, up, points, role, width, dash) for _, role, width, dash, points in curves]
    ends = [_End(name, role, way[-1][1], dash, width) for name, role, width, dash, way in curves if way]
    parts += _ends([*ends, *(_log_end(row) for row in measured[-1:])], up, right)
    parts += _faults(across, up, rows, faults)
    parts += _log(across, up, judged, right) or [_answer((right, up(rows[-1]["expected"])))]
    if closest and closest in judged[:-1]:  # what the last one reaches stands at its end
        ways = _ways(rows, measured)
        parts.append(closest_label(closest, across, up, ways, LabelBox(_LEFT, right, _TOP, _HIGH - _BOTTOM)))
    sentence = f"Bus bandwidth by size, {say_bytes(told[0]['size'])} to {say_bytes(told[-1]['size'])}: band, floor and ceiling"
    return f"{_opened(wide, _HIGH, sentence)}{''.join(parts)}</svg>"


def _ways(rows: Sequence[Row], measured: Sequence[Row]) -> list[list[tuple[float, float]]]:
    """Return sizes and rates of all lines that are drawn."""
    names = ("low", "high", "expected", "floor", "ceiling")
    ways = [[(row["size"], row[name]) for row in rows if row[name]] for name in names]
    return [*ways, [(row["size"], row["measured"]) for row in measured]]


def _faults(
    across: Scale, up: Scale, rows: Sequence[Row], faults: Sequence[Sequence[tuple[int, float]]]
) -> Iterator[str]:
    """Yield what each fault would leave, hidden until its cause is pointed at."""
    drawn = {row["size"] for row in rows}
    for place, curve in enumerate(faults):
        # A fault is simulated at every size of the log, the picture shows only some.
        points = [(size, GBps) for size, GBps in curve if size in drawn]
        line = _line(across, up, points, "copy-ink", "2.5", "2 4")
        yield f"<g class='pl-fault' data-fault='{place}'>{line}</g>"


def _drawn(rows: Sequence[Row], judged: Sequence[Row]) -> Sequence[Row]:
    """Return the rows that are drawn: below 64 KiB all curves are one line, so they are left out unless a log is slow there."""
    # A log that is slow at small sizes is shown there, too: that is what its reader looks for.
    least = min([_FROM, *(row["size"] for row in judged if row["below"] or row["disturbed"])])
    large = [row for row in rows if row["size"] >= least]
    return large if len(large) >= _ENOUGH else rows


def _broadened(rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows that lines can be drawn through: a single size has its figures at half and twice of it, too."""
    if len(rows) > 1:
        return rows
    return [{**rows[0], "size": rows[0]["size"] * times} for times in (0.5, 1, 2)]


def _across(rows: Sequence[Row], right: float) -> Scale:
    first, last = rows[0]["size"], max(rows[-1]["size"], 2 * rows[0]["size"])
    return logarithmic((first, last), (_LEFT, right))


def _figures(rows: Sequence[Row], judged: Sequence[Row]) -> list[float]:
    drawn = [figure for row in rows for figure in (row["low"], row["ceiling"], row["floor"]) if figure]
    return drawn + [row["measured"] for row in judged if row["measured"] > 0]


def _up(rows: Sequence[Row], judged: Sequence[Row]) -> Scale:
    low, high = _ends_of_scale(rows, judged)
    return logarithmic((_rates(low, high)[0], high), (_HIGH - _BOTTOM, _TOP))


def _ends_of_scale(rows: Sequence[Row], judged: Sequence[Row]) -> tuple[float, float]:
    # A margin above and below, so that no curve lies on an edge.
    figures = _figures(rows, judged)
    return min(figures) / 1.15, max(figures) * 1.15


def _grid(across: Scale, up: Scale, right: float, drawn: tuple[Sequence[Row], Sequence[Row]]) -> list[str]:
    rows, judged = drawn
    parts = ["<text x='0' y='12'>busbw, GB/s</text>", _band_key(_KEY), _log_key(judged)]
    ceiling = up(rows[-1]["ceiling"])
    for rate in _rates(*_ends_of_scale(rows, judged)):
        y = up(rate)
        if abs(y - ceiling) < _CLEAR:
            continue
        parts.append(
            f"<path d='M{_LEFT} {y:.1f}H{right}' stroke='var(--pl-faint)'/>"
            f"<text x='{_LEFT - 8}' y='{y + 4:.1f}' text-anchor='end'>{figure(rate)}</text>"
        )
    step = math.ceil(len(rows) * _TICK / (right - _LEFT))
    parts += [
        f"<text x='{across(row['size']):.1f}' y='{_HIGH - 8}' text-anchor='middle'>{say_bytes(row['size'])}</text>"
        # From the largest down: its word is always there, and no step leaves it out.
        for row in rows[::-step]
    ]
    return parts


def _rates(low: float, high: float) -> list[float]:
    """Return the rates that have a line: twice, four or ten times the one before, whichever are few enough; the first bounds what is drawn."""
    for step, base in ((2.0, 2.0), (4.0, 2.0), (10.0, 10.0)):
        first = base ** math.floor(math.log(low, base))
        rates = [first * step**power for power in range(math.floor(math.log(high / first, step)) + 1)]
        if len(rates) <= _LINES:
            break
    return rates


def _area(across: Scale, up: Scale, ends: Sequence[tuple[int, float, float]], fill: str) -> str:
    upper = [f"{across(size):.1f} {up(high):.1f}" for size, _, high in ends]
    lower = [f"{across(size):.1f} {up(low):.1f}" for size, low, _ in reversed(ends)]
    return f"<path d='M{'L'.join([*upper, *lower])}Z' {fill}/>"


def _missing(across: Scale, up: Scale, run: Sequence[Row]) -> str:
    """Return what lies between the points of neighbouring sizes and their floor."""
    ends = [(row["size"], row["measured"], row["floor"]) for row in run if row["floor"]]
    return _area(across, up, ends, "fill='var(--pl-hot-wash)'")


def _neighbours(short: Sequence[Row], rows: Sequence[Row]) -> list[list[Row]]:
    # Places among all sizes drawn: a healthy size between two short ones must part their areas.
    places = {row["size"]: place for place, row in enumerate(rows)}
    runs: list[list[Row]] = [[short[0]]] if short else []
    for before, after in pairwise(short):
        if places[after["size"]] == places[before["size"]] + 1:
            runs[-1].append(after)
        else:
            runs.append([after])
    return runs


def _line(
    across: Scale, up: Scale, points: Sequence[tuple[int, float]], role: str, width: str, dash: str
) -> str:
    way = "L".join(f"{across(size):.1f} {up(GBps):.1f}" for size, GBps in points)
    dashed = f" stroke-dasharray='{dash}'" if dash else ""
    return (
        f"<path d='M{way}' fill='none' stroke='var(--pl-{role})' stroke-width='{width}'{dashed}/>"
        if points
        else ""
    )


@dataclass(frozen=True)
class _End:
    """What stands at the right end of a curve, or of a log, which has no line."""

    name: str
    role: str
    GBps: float
    dash: str = ""
    width: str = ""


def _log_end(last: Row) -> _End:
    """Return what stands at a log's last point, in the colour of a warning where that is below the floor."""
    return _End("log", "hot-ink" if last["below"] else "ink", last["measured"])


def _ends(ends: Sequence[_End], up: Scale, right: float) -> list[str]:
    """Return the names of the curves, apart from one another, each led to from its curve's right end; their figures end at one edge.

    That of the log is bold: it is what the reader looks for.
    """
    ends = sorted(ends, key=lambda end: up(end.GBps))
    heights = apart([up(end.GBps) for end in ends], _APART)
    parts = []
    for end, y in zip(ends, heights, strict=True):
        at, stroke = up(end.GBps), f"stroke='var(--pl-{end.role})' stroke-dasharray='{end.dash or 'none'}'"
        if end.width:
            parts.append(f"<path d='M{right} {at:.1f}h{_STUB}' {stroke} stroke-width='{end.width}'/>")
        bold = "" if end.width else f" font-weight='700' font-size='{_LOG_NAME}'"
        parts.append(
            f"<path d='M{right + _STUB} {at:.1f}L{right + _BEND} {y:.1f}' {stroke} stroke-width='1.2'/>"
            # The figure is a part of its name, so that both are read in one go.
            f"<text x='{right + _NAME}' y='{y + 4:.1f}' fill='var(--pl-{end.role})'{bold}>{end.name}"
            f" <tspan x='{right + _RIGHT}' text-anchor='end'>{figure(end.GBps)}</tspan></text>"
        )
    return parts


def _log_key(judged: Sequence[Row]) -> str:
    """Return what the points of a log are, beside the key of the band."""
    measured = [row for row in judged if row["measured"] > 0]
    if not measured:
        return ""
    colour = f"var(--pl-{_role(measured)})"
    return (
        f"<path d='M{_LOG_KEY} 7.5H{_LOG_KEY + 4 * _POINT:.0f}' stroke='{colour}' stroke-width='{_LOG}'/>"
        f"<circle cx='{_LOG_KEY + 2 * _POINT:.0f}' cy='7.5' r='{_POINT - 0.5}' fill='{colour}'/>"
        f"<text x='{_LOG_KEY + 4 * _POINT + 6:.0f}' y='12'>log, each size</text>"
    )


def _role(measured: Sequence[Row]) -> str:
    """Return the colour of what joins the points of a log."""
    return "hot" if measured and all(row["below"] for row in measured) else "ink"


def _log(across: Scale, up: Scale, judged: Sequence[Row], right: float) -> list[str]:
    """Return the line that joins the points of a log, and the points; those of many sizes are smaller."""
    if not judged:
        return []
    measured = [row for row in judged if row["measured"] > 0]
    radius = min(_POINT, max(_SMALL, 0.4 * (right - _LEFT) / len(judged)))
    line = [(row["size"], row["measured"]) for row in measured]
    points = [_point(across, up, row, radius) for row in judged]
    return [_line(across, up, line, _role(measured), _LOG, ""), *points]


def _point(across: Scale, up: Scale, row: Row, radius: float) -> str:
    if row["measured"] <= 0:
        return ""
    colour = "hot" if row["below"] else "ink"
    fill = f"var(--pl-{colour})" if row["below"] or not row["disturbed"] else "var(--pl-paper)"
    should = f", should be {figure(row['expected'])}" if row["expected"] else ""
    return (
        f"<circle cx='{across(row['size']):.1f}' cy='{up(row['measured']):.1f}' r='{radius - 0.75:.2f}' fill='{fill}' stroke='var(--pl-{colour})' stroke-width='1.5'>"
        f"<title>{say_bytes(row['size'])}: {figure(row['measured'])} GB/s{should}</title></circle>"
    )


def _answer(at: tuple[float, float]) -> str:
    """Return the dot of the figure that a page without a log begins with."""
    return f"<circle cx='{at[0]}' cy='{at[1]:.1f}' r='4' fill='var(--pl-direct-ink)'/>"


def _one_size_svg(row: Row, wide: int) -> str:
    """Return floor, band and ceiling of one size on one axis, each with its figure."""
    marks = [
        (name, row[name], role)
        for name, role in (("floor", "ink"), ("expected", "direct-ink"), ("ceiling", "muted"))
        if row[name]
    ]
    rates = [rate for _, rate, _ in marks] + [row["low"], row["high"]]
    at = logarithmic((min(rates), max(rates)), (_SIDE, wide - _SIDE))
    parts = [
        _band_key(_SIDE),
        f"<path d='M{_SIDE} 42H{wide - _SIDE}' stroke='var(--pl-faint)' stroke-width='2'/>",
        f"<rect x='{at(row['low']):.1f}' y='30' width='{at(row['high']) - at(row['low']):.1f}' height='24' rx='3' {_FILLED} stroke='var(--pl-direct)'/>",
    ]
    middles = apart([at(rate) for _, rate, _ in marks], _NAMES)
    for (name, rate, role), middle in zip(marks, middles, strict=True):
        dashed = " stroke-dasharray='5 3'" if name == "ceiling" else ""
        parts.append(
            f"<path d='M{at(rate):.1f} 26V58' stroke='var(--pl-{role})' stroke-width='2'{dashed}/>"
            f"<text x='{middle:.1f}' y='78' text-anchor='middle' fill='var(--pl-{role})' font-weight='650'>{figure(rate)}</text>"
            f"<text x='{middle:.1f}' y='95' text-anchor='middle' fill='var(--pl-{role})'>{name}</text>"
        )
    says = f"Bus bandwidth at {say_bytes(row['size'])}, GB/s: " + ", ".join(
        f"{name} {figure(rate)}" for name, rate, _ in marks
    )
    return f"{_opened(wide, _LOW, says)}{''.join(parts)}</svg>"
