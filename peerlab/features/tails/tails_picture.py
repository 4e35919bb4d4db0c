"""The runs of both data paths as dots piled on one time axis: percentiles as lines, the quiet run beside its pile."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from peerlab.base.units import PS_PER_MS, PS_PER_US
from peerlab.features.tails.percentiles import Percentile
from peerlab.features.tails.tails import Tails
from peerlab.features.tails.times import PathTimes
from peerlab.model.paths import data_path
from peerlab.picture.scale import Scale, linear, round_step
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette
from peerlab.study.many_runs import nearest_rank

_DOT, _LARGE_DOT = 4.6, 9.2
"""Width of a dot, pixels, and of one where runs are few."""
_FEW_RUNS, _LEAST_DOTS = 100, 5
_MOST_TICKS, _TICK = 9, 60.0
"""Ticks of the axis, at most, and pixels from one to the next, at least."""
_LETTERS = 12.5
"""Height of words, pixels: a sheet is shown no narrower than it is drawn, or hardly so."""
_WORD = 7.2
"""Width of a letter of these, about, where it is bold."""
_THIN_WORD = 6.6
_SIDE = 76.0
_HANDFULS = 24
"""Dots that come later fall in so many handfuls, in the order of their seeds."""


class Sheet(NamedTuple):
    """How the piles lie on a sheet: beside each other on one line, or each on a line of its own, one below the other."""

    width: float
    apart: bool
    """Whether each path has a line of its own."""
    dots: int
    """Dots of the highest pile; where more runs lie in one place, a dot stands for several."""
    dot: float = _DOT
    """Width of a dot, pixels."""
    head: float = 38.0
    """From the top of a path's room to the words of its percentiles: its name stands there."""
    words: int = 4
    """Lines of words above the dots."""

    @property
    def line(self) -> float:
        """What a path's words and dots take above its line, and what lies between two lines."""
        return self.head + 6 + self.words * _STEP + self.dots * self.dot

    def base(self, row: int) -> float:
        """Return the height of a path's line."""
        return self.line + 22 + row * (self.line + 44) * self.apart

    def height(self, rows: int) -> float:
        """Return the height of a sheet."""
        return self.base(rows - 1) + (68 if rows > 1 else 44)

    def fitted(self, tails: Tails) -> "Sheet":
        """Return a sheet for these runs: few have larger dots, and no room is left above the highest pile."""
        few = max(len(path.times_ps) for path in tails.paths) <= _FEW_RUNS
        larger = self._replace(dot=_LARGE_DOT) if few else self
        axis = _axis(tails, larger)
        columns = [Counter(_columns(axis, path, larger.dot)) for path in tails.paths]
        highest = max(count for counted in columns for place, count in counted.items() if place is not None)
        told = sum(1 for percentile in tails.paths[0].percentiles[:3] if not percentile.missing)
        most = int(self.dots * self.dot / larger.dot)
        # What two paths have between them stands between their piles.
        least = _LEAST_DOTS if self.apart or len(tails.paths) == 1 else most
        return larger._replace(
            dots=min(max(highest, least), most),
            head=self.head if len(tails.paths) > 1 else 10.0,
            words=min(3, told + 1),
        )


_STEP = 18.0
"""From the words of a percentile to those of the next."""
WIDE = Sheet(1120.0, apart=False, dots=30)


class Axis(NamedTuple):
    """A time axis."""

    low_ps: float
    high_ps: float
    right: float
    """Where it ends, pixels; it begins at `_SIDE`."""

    @property
    def x(self) -> Scale:
        """Where a time lies; whoever asks for many times takes it once."""
        return linear((self.low_ps, self.high_ps), (_SIDE, self.right))


def tails_svg(
    tails: Tails,
    theme: str = "light",
    colours: Mapping[str, str] | None = None,
    sheet: Sheet = WIDE,
    since: int | None = None,
) -> str:
    """Return the picture.

    The dots of all runs but the first `since` fall into their piles, on a page that has `FALLING`; None: none does.
    """
    paper, axis = Paper(colours or palette(theme)), _axis(tails, sheet)
    rows = in_order(tails)
    height = sheet.height(len(rows))
    paper.box((0, 0, sheet.width, height), "panel", radius=8)
    # The quicker pile first: where the two overlap, the slower one lies on top.
    for row, path_times in enumerate(rows):
        _pile(paper, axis, path_times, (sheet, row), len(path_times.times_ps) if since is None else since)
        if len(rows) > 1:
            _name(paper, axis, path_times, (sheet, sheet.base(row)))
        above = 0 if sheet.apart else 14 * row
        _beyond(paper, path_times, (sheet.width - 24, sheet.base(row) - 34 - above))
        if sheet.apart and row < len(rows) - 1:
            paper.line([(_SIDE, sheet.base(row)), (axis.right, sheet.base(row))], "edge", 1)
    base = sheet.base(len(rows) - 1)
    _draw_axis(paper, axis, base)
    _between(paper, axis, tails, (sheet, base))
    return paper.svg(sheet.width, height, alt(tails))


def in_order(tails: Tails) -> list[PathTimes]:
    """Return the paths from the quicker to the slower one."""
    return sorted(tails.paths, key=lambda path: path.quiet_ps)


def chosen_svg(tails: Tails, place: int, sheet: Sheet = WIDE) -> str:
    """Return the mark of one run of the first path, to lie over the picture: a dot of its own, and its name."""
    paper, axis, path_times = Paper(palette(PAGE)), _axis(tails, sheet), tails.paths[0]
    rows = in_order(tails)
    row = rows.index(path_times)
    base = sheet.base(row)
    # Where the ticks are, down to below them, where the words have room.
    below = 31 if not sheet.apart or row == len(rows) - 1 else 16
    ps, last = path_times.times_ps[place], _last(path_times)
    column = _columns(axis, path_times, sheet.dot)[place]
    x = axis.x(last) if column is None else _SIDE + column * sheet.dot  # on the lowest dot of its pile
    paper.line([(x, base), (x, base + below - 4)], "ink", 1.6)
    paper.square((x, base - 1 - 0.9 * sheet.dot), 5.5, "ink", "panel", 1.5, radius=5.5)
    beyond = ", beyond the axis" if ps > last else ""
    _label(paper, (x, base + below), f"this run{beyond}", sheet.width, ink="ink", bold=True)
    return paper.svg(sheet.width, sheet.height(len(rows)), f"This run took {say_short(ps)}.")


def alt(tails: Tails) -> str:
    """Return what is to be seen, in words."""
    parts = []
    for path_times in tails.paths:
        sentences = [f"{p.name} {say_short(p.value_ps)}" for p in path_times.percentiles if not p.missing]
        parts.append(
            f"{path_times.title}, {len(path_times.times_ps)} runs: quiet {say_short(path_times.quiet_ps)}, {', '.join(sentences) or 'too few for a percentile'}"
        )
    gain = tails.gain(500)
    more = f". {gain:.2f} times at p50" if gain else ""
    return "; ".join(parts) + more


def _axis(tails: Tails, sheet: Sheet) -> Axis:
    low = min(min(path.quiet_ps, path.ordered_ps[0]) for path in tails.paths)
    high = max(_last(path) for path in tails.paths)
    # Room at both ends, also where all runs take the same time.
    room = 0.08 * max(high - low, 0.02 * high)
    return Axis(low - room, high + room, sheet.width - _SIDE)


def _last(path_times: PathTimes) -> int:
    """Return up to where a path is drawn: its rarest runs may lie so far out that nothing else would be seen."""
    ordered = path_times.ordered_ps
    # A quarter beyond what 99.5 % of the runs take: an axis for the rarest would leave no room for all others.
    usual = ordered[max(0, -(-len(ordered) * 995 // 1000) - 1)]
    return min(ordered[-1], round(1.25 * usual))


def _role(path_times: PathTimes) -> str:
    return data_path(str(path_times.scenario.path)).role


def _pile(paper: Paper, axis: Axis, path_times: PathTimes, place: tuple[Sheet, int], since: int) -> None:
    """Draw the runs of a path, of which those after the first `since` fall into the pile, its percentiles and its quiet run."""
    role, (sheet, row), runs = _role(path_times), place, len(path_times.times_ps)
    base = sheet.base(row)
    # Runs beyond are counted in words (`_beyond`), not drawn.
    columns = _columns(axis, path_times, sheet.dot)
    # The highest pile is full: in all others a dot stands for as many runs.
    worth = max(1.0, max(Counter(column for column in columns if column is not None).values()) / sheet.dots)
    counts, first = Counter[int](), 0
    ends = [since + (runs - since) * number // _HANDFULS for number in range(_HANDFULS + 1)]
    for number, end in enumerate(dict.fromkeys(ends)):
        before = dict(counts)
        counts.update(column for column in columns[first:end] if column is not None)
        drawn = [
            (column, _high(before.get(column, 0), worth), _high(count, worth))
            for column, count in counts.items()
        ]
        if number and since < runs:
            delay_s = (number - 1) * (2.0 if since == 0 else 0.3) / _HANDFULS
            paper.shapes.append(f"<g class='pl-falls' style='animation-delay:{delay_s:.2g}s'>")
        for column, low, high in drawn:
            if high > low:
                lowest = (_SIDE + column * sheet.dot, base - 1 - (low + 0.9) * sheet.dot)
                _dots(paper, lowest, high - low, (role, sheet.dot))
        if number and since < runs:
            paper.shapes.append("</g>")
        first = end
    _percentiles(paper, axis, path_times, (sheet, base))
    x = axis.x(path_times.quiet_ps)
    paper.square((x, base - 6), 5, "panel", role, 2, radius=5)
    # To its left there are few dots: noise makes nearly every run slower.
    text = f"no noise {say_short(path_times.quiet_ps)}"
    fits = x > 16 + len(text) * _THIN_WORD
    at, align = (x + 5, "right") if fits else (16, "left")
    paper.text((at, base - 25), text, size=_LETTERS, ink=f"{role}-ink", align=align)


def _columns(axis: Axis, path_times: PathTimes, dot: float) -> list[int | None]:
    """Return for each run the pile that it lies in; None: it is beyond where its path is drawn."""
    scale, last = axis.x, _last(path_times)
    return [round((scale(ps) - _SIDE) / dot) if ps <= last else None for ps in path_times.times_ps]


def _high(count: int, worth: float) -> int:
    """Return how many dots stand for so many runs."""
    return max(min(1, count), round(count / worth))


def _name(paper: Paper, axis: Axis, path_times: PathTimes, place: tuple[Sheet, float]) -> None:
    """Write the name of a path above its pile; where piles lie one below the other, all names begin at the left."""
    (sheet, base), ink = place, f"{_role(path_times)}-ink"
    half = len(path_times.title) * 4.6
    median = axis.x(nearest_rank(path_times.ordered_ps, 0.5))
    middle = min(max(median, half + 24), sheet.width - half - 24)
    at, align = (24, "left") if sheet.apart else (middle, "center")
    paper.text((at, base - sheet.line + 10), path_times.title, size=16, bold=True, ink=ink, align=align)


def _dots(paper: Paper, lowest: tuple[float, float], count: int, look: tuple[str, float]) -> None:
    """Draw dots one above the other, of a role's colour and a width: a line of which each dash is one of them."""
    (x, y), (role, dot) = lowest, look
    paper.shapes.append(
        # a line without length has no dash
        f"<path d='M{x:.5g} {y:.5g}v{-(count - 1) * dot - 0.1:.4g}' stroke='{paper.colour(role)}' stroke-width='{dot - 0.8:g}'"
        f" stroke-linecap='round' stroke-dasharray='0 {dot:g}'/>"
    )


def _beyond(paper: Paper, path_times: PathTimes, at: tuple[float, float]) -> None:
    """Say how many runs of a path lie beyond where it is drawn: each path in its colour, or nobody knew whose they are."""
    beyond = len(path_times.ordered_ps) - bisect_right(path_times.ordered_ps, _last(path_times))
    if beyond:
        ink = f"{_role(path_times)}-ink"
        paper.text(at, f"{beyond} later", size=_LETTERS, ink=ink, align="right")


def _percentiles(paper: Paper, axis: Axis, path_times: PathTimes, place: tuple[Sheet, float]) -> None:
    ink, last, (sheet, base) = f"{_role(path_times)}-ink", _last(path_times), place
    x = median = axis.x(nearest_rank(path_times.ordered_ps, 0.5))
    # The rarest one lies beyond the axis most of the time: table and words tell it.
    for level, percentile in enumerate(path_times.percentiles[:3]):
        top = base - sheet.line + sheet.head + _STEP * level
        if percentile.missing:
            # It has no place of its own, so its words stand beside the last that has one, or before them all.
            text = lacking(percentile)
            if x + 6 + len(text) * _WORD > sheet.width - 16:
                paper.text((median - 6, top), text, size=_LETTERS, ink="muted", align="right")
            else:
                _label(paper, (x, top), text, sheet.width, ink="muted", bold=False)
            break  # rarer ones need more
        x = axis.x(min(percentile.value_ps, last))
        paper.line([(x, top), (x, base)], ink, 1.6, dash="" if level < 2 else "3 3")
        _label(
            paper,
            (x, top),
            f"{percentile.name} {say_short(percentile.value_ps)}",
            sheet.width,
            ink=ink,
            bold=True,
        )


def lacking(percentile: Percentile) -> str:
    """Return how many runs a percentile needs before it is told.

    >>> lacking(Percentile(500, 1)), lacking(Percentile(999, 9900))
    ('p50 needs 1 more run', 'p99.9 needs 9,900 more runs')
    """
    return f"{percentile.name} needs {percentile.missing:,} more run{'s' * (percentile.missing > 1)}"


def _label(
    paper: Paper, beside: tuple[float, float], text: str, width: float, *, ink: str, bold: bool
) -> None:
    """Write beside a line: at its right, or at its left where the right has no room."""
    x, y = beside
    fits = x + 6 + len(text) * _WORD < width - 16
    at, align = (x + 6, "left") if fits else (x - 6, "right")
    paper.text((at, y), text, size=_LETTERS, bold=bold, ink=ink, align=align)


def _draw_axis(paper: Paper, axis: Axis, base: float) -> None:
    paper.line([(_SIDE, base), (axis.right, base)], "edge", 1)
    unit, name = _unit(axis.high_ps)
    most = min(_MOST_TICKS, int((axis.right - _SIDE) / _TICK))
    step = round_step((axis.high_ps - axis.low_ps) / unit, most)
    tick = -(-axis.low_ps / unit // step) * step
    while tick * unit <= axis.high_ps:
        x = axis.x(tick * unit)
        paper.line([(x, base), (x, base + 5)], "edge", 1)
        paper.text((x, base + 17), f"{tick:g}", size=_LETTERS, ink="muted")
        # Steps such as 0.1 add up to 0.30000000000000004.
        tick = round(tick + step, 9)
    paper.text((axis.right + _SIDE - 20, base + 17), name, size=_LETTERS, ink="muted", align="right")


def _between(paper: Paper, axis: Axis, tails: Tails, place: tuple[Sheet, float]) -> None:
    """Write what the paths have between them, where their piles leave room; else below the axis."""
    gain, (sheet, base) = tails.gain(500), place
    if len(tails.paths) < 2 or gain is None:
        return
    first, then = in_order(tails)
    times = f"{gain if first is tails.paths[0] else 1 / gain:.2f} times as fast at p50"
    # Behind the tail of the quicker pile, below the words of both.
    left = axis.x(nearest_rank(first.ordered_ps, 0.99)) + 24
    right = axis.x(min(then.quiet_ps, then.ordered_ps[0])) - 24
    if sheet.apart or right - left < 290:
        paper.text(((_SIDE + axis.right) / 2, base + 50), f"{first.title}: {times}", size=14, bold=True)
        return
    middle, y = (left + right) / 2, base - 94
    paper.text((middle, y), times, size=20, bold=True)


def _unit(high_ps: float) -> tuple[int, str]:
    return (PS_PER_MS, "ms") if high_ps >= 10 * PS_PER_MS else (PS_PER_US, "µs")


def say_short(ps: float) -> str:
    """Return a time in four digits."""
    unit, name = _unit(ps)
    return f"{ps / unit:.4g} {name}"
