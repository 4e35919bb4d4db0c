"""The runs of each data path as dots piled on a line of its own, over one time axis: percentiles as lines, and the quiet run."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from peerlab.base.units import TIMES_SIGN, say_count
from peerlab.features.tails.axis import LETTER, Axis, axis_of, ticks
from peerlab.features.tails.percentiles import lacking
from peerlab.features.tails.tails import Tails
from peerlab.features.tails.time_unit import Unit, unit_of
from peerlab.features.tails.times import NamedTime, PathTimes, named_times
from peerlab.model.paths import data_path
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette

_DOT, _LARGE_DOT = 4.6, 9.2
"""Width of a dot, pixels, and of one where runs are few."""
_APART, _RIM = 0.6, 0.6
"""Between two dots, pixels, and how thick the rim of a dot is."""
_FEW_RUNS, _LEAST_DOTS = 100, 5
_LETTERS = 12.5
"""Height of words, pixels: a sheet is shown no narrower than it is drawn, or hardly so."""
_EDGE, _BEYOND = 16.0, 136.0
"""What a sheet leaves beside its axis, and what its axis leaves where runs lie beyond it, for the words that count them."""
_BREAK = 20.0
"""How far behind the end of the axis a run is drawn that lies beyond it, and its break."""
_BESIDE = 12.0
"""From there to words beside it."""
_CHOSEN = "this run"
_STEP = 18.0
"""From the words of a percentile to those of the next."""
_BELOW = 24.0
"""From a path's line to the room of the next."""
_ANSWER = 50.0
"""Room above the paths for how many times as fast one is."""
_HANDFULS = 24
"""Dots that come later fall in so many handfuls, in the order of their seeds."""


class Sheet(NamedTuple):
    """How the piles lie on a sheet: each on a line of its own, one below the other."""

    width: float
    dots: int = 16
    """Dots of the highest pile; where more runs lie in one place, a dot stands for several."""
    names: float = 0.0
    """Room for the paths' names at the left of the piles, pixels; 0: they stand above them."""
    dot: float = _DOT
    """Width of a dot, pixels."""
    head: float = 42.0
    """From the top of a path's room to the words of its first time: its name stands there, unless it stands at the left."""
    words: int = 4
    """Lines of words above the dots."""
    foot: int = 1
    """Lines of words below the axis."""
    top: float = _ANSWER
    """Room for what the paths have between them, pixels: it stands above them."""

    @property
    def line(self) -> float:
        """What a path's words and dots take above its line."""
        return self.head + self.words * _STEP + self.dots * self.dot

    @property
    def left(self) -> float:
        """Where the axis begins."""
        return _EDGE + self.names

    @property
    def right(self) -> float:
        """Where its words end."""
        return self.width - _EDGE

    def base(self, row: int) -> float:
        """Return the height of a path's line."""
        return self.top + self.line + row * (self.line + _BELOW)

    def height(self, rows: int) -> float:
        """Return the height of a sheet."""
        return self.base(rows - 1) + 36 + 16 * self.foot

    def with_mark(self) -> "Sheet":
        """Return a sheet that has room for the words of a chosen run, right above the dots."""
        return self._replace(words=self.words + 1)

    def growing(self, tails: Tails) -> "Sheet":
        """Return a sheet for these runs and for those that come: one path alone has no name, and a name at the left takes no height."""
        alone = len(tails.paths) == 1
        return self._replace(
            names=0.0 if alone else self.names,
            head=20.0 if alone or self.names else self.head,
            top=0.0 if alone else _ANSWER,
        )

    def fitted(self, tails: Tails) -> "Sheet":
        """Return a sheet for these runs: few have larger dots, and no room is left above the highest pile."""
        few = max(len(path.times_ps) for path in tails.paths) <= _FEW_RUNS
        larger = self._replace(dot=_LARGE_DOT) if few else self
        axis = _axis(tails, larger)
        columns = [Counter(_columns(axis, path, larger.dot)) for path in tails.paths]
        highest = max(count for counted in columns for place, count in counted.items() if place is not None)
        most = int(self.dots * self.dot / larger.dot)
        return larger.growing(tails)._replace(
            dots=min(max(highest, _LEAST_DOTS), most),
            words=max(len(named_times(path)) for path in tails.paths),
            foot=len(needs_more(tails)),
            top=_ANSWER if tails.gain(500) else 0.0,
        )


WIDE = Sheet(1120.0, names=190.0)


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
    paper, axis, unit = (
        Paper(colours or palette(theme)),
        _axis(tails, sheet),
        unit_of(tails),
    )
    rows = in_order(tails)
    height = sheet.height(len(rows))
    paper.box((0, 0, sheet.width, height), "panel", radius=8)
    if sheet.top and len(rows) > 1:
        _answer(paper, tails)
    for row, path_times in enumerate(rows):
        base = sheet.base(row)
        paper.line([(axis.left, base), (axis.right, base)], "edge", 1)
        _times(paper, axis, path_times, (sheet, base), unit)  # behind the dots
        _pile(paper, axis, path_times, (sheet, row), len(path_times.times_ps) if since is None else since)
        quiet = (axis.x(path_times.quiet_ps), base - 6)
        paper.square(quiet, 5, "panel", f"{_role(path_times)}-ink", 2, radius=5)
        if len(rows) > 1:
            y = base - 9 if sheet.names else base - sheet.line + 20
            paper.text(
                (_EDGE, y), path_times.title, size=16, bold=True, ink=f"{_role(path_times)}-ink", align="left"
            )
        _beyond(paper, axis, path_times, (sheet, base), unit)
    base = sheet.base(len(rows) - 1)
    _draw_axis(paper, axis, base, unit)
    for text in needs_more(tails)[: sheet.foot]:
        paper.text((sheet.left, base + 36), text, size=_LETTERS, ink="muted", align="left")
    return paper.svg(sheet.width, height, alt(tails))


def in_order(tails: Tails) -> list[PathTimes]:
    """Return the paths from the quicker to the slower one."""
    return sorted(tails.paths, key=lambda path: path.quiet_ps)


def chosen_svg(tails: Tails, place: int, sheet: Sheet = WIDE) -> str:
    """Return the mark of one run of the first path, to lie over the picture: a dot of its own, with its name and its time above it."""
    paper, axis, path_times = Paper(palette(PAGE)), _axis(tails, sheet), tails.paths[0]
    rows = in_order(tails)
    base = sheet.base(rows.index(path_times))
    words = f"{_CHOSEN} {unit_of(tails).text(path_times.times_ps[place])}"
    columns = _columns(axis, path_times, sheet.dot)
    column = columns[place]
    # On the highest dot of its pile, or where the axis would go on.
    high = _high(columns.count(column), _worth(columns, sheet)) if column is not None else 1
    x = axis.right + _BREAK if column is None else axis.left + column * sheet.dot
    y, above = base - 1 - (high - 0.1) * sheet.dot, base - sheet.dots * sheet.dot - _STEP
    half = len(words) * LETTER / 2
    middle = min(max(x, _EDGE + half), sheet.right - half)
    # Lines of percentiles end at these words.
    paper.box((middle - half - 4, above - 8, middle + half + 4, above + 8), "panel")
    paper.text((middle, above), words, size=_LETTERS, bold=True)
    paper.line([(x, above + 9), (x, y)], "ink", 1.6)
    paper.square((x, y), 5.5, "ink", "panel", 1.5, radius=5.5)
    return paper.svg(sheet.width, sheet.height(len(rows)), f"{words[0].upper()}{words[1:]}.")


def alt(tails: Tails) -> str:
    """Return what is to be seen, in words."""
    parts, unit = [], unit_of(tails)
    for path_times in tails.paths:
        sentences = [f"{p.name} {unit.text(p.value_ps)}" for p in path_times.percentiles if not p.missing]
        parts.append(
            f"{path_times.title}, {say_count(len(path_times.times_ps), 'run')}: no noise {unit.text(path_times.quiet_ps)}, {', '.join(sentences) or 'too few for a percentile'}"
        )
    gain = tails.gain(500)
    more = f". {gain:.2f} times at p50" if gain else ""
    return "; ".join(parts) + more


def _role(path_times: PathTimes) -> str:
    return data_path(str(path_times.scenario.path)).role


def _pile(paper: Paper, axis: Axis, path_times: PathTimes, place: tuple[Sheet, int], since: int) -> None:
    """Draw the runs of a path, of which those after the first `since` fall into the pile."""
    role, (sheet, row), runs = _role(path_times), place, len(path_times.times_ps)
    base = sheet.base(row)
    # Runs beyond are counted in words (`_beyond`), not drawn.
    columns = _columns(axis, path_times, sheet.dot)
    worth = _worth(columns, sheet)
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
                lowest = (axis.left + column * sheet.dot, base - 1 - (low + 0.9) * sheet.dot)
                _dots(paper, lowest, high - low, (role, sheet.dot))
        if number and since < runs:
            paper.shapes.append("</g>")
        first = end


def _columns(axis: Axis, path_times: PathTimes, dot: float) -> list[int | None]:
    """Return for each run the pile that it lies in; None: it is beyond the axis."""
    return [_column_at(axis, axis.x(ps), dot) if ps <= axis.last_ps else None for ps in path_times.times_ps]


def _column_at(axis: Axis, x: float, dot: float) -> int:
    """Return the number of the pile at a place of the axis."""
    return round((x - axis.left) / dot)


def _worth(columns: list[int | None], sheet: Sheet) -> float:
    """Return for how many runs a dot stands: the highest pile is full, and in all others a dot stands for as many."""
    highest = max(Counter(column for column in columns if column is not None).values())
    return max(1.0, highest / sheet.dots)


def _high(count: int, worth: float) -> int:
    """Return how many dots stand for so many runs."""
    return max(min(1, count), round(count / worth))


def _dots(paper: Paper, lowest: tuple[float, float], count: int, look: tuple[str, float]) -> None:
    """Draw dots one above the other, of a role's colour and a width: a line of which each dash is one of them.

    Their rim is of the role's ink, 3 to 1 against the panel and more: the colour itself is 2 to 1 there.
    """
    (x, y), (role, dot) = lowest, look
    wide = dot - _APART
    for colour, width in ((f"{role}-ink", wide), (role, wide - 2 * _RIM)):
        paper.shapes.append(
            # a line without length has no dash
            f"<path d='M{x:.5g} {y:.5g}v{-(count - 1) * dot - 0.1:.4g}' stroke='{paper.colour(colour)}' stroke-width='{width:.3g}'"
            f" stroke-linecap='round' stroke-dasharray='0 {dot:g}'/>"
        )


def _beyond(paper: Paper, axis: Axis, path_times: PathTimes, place: tuple[Sheet, float], unit: Unit) -> None:
    """Say behind the end of the axis how many runs of a path lie beyond it, and up to where."""
    (sheet, base) = place
    beyond = sum(1 for ps in path_times.times_ps if ps > axis.last_ps)
    if not beyond:
        return
    latest = unit.text(path_times.ordered_ps[-1])
    words = [f"{beyond:,} later,", f"up to {latest}"] if beyond > 1 else ["1 later:", latest]
    for text, y in zip(words, (base - 23, base - 8), strict=True):
        at = (axis.right + _BREAK + _BESIDE, y)
        paper.text(at, text, size=_LETTERS, ink=f"{_role(path_times)}-ink", align="left")
    # The axis breaks behind its last figure, and goes on below these words.
    paper.line([(axis.right, base), (sheet.right, base)], "edge", 1)
    paper.box((axis.right + 4, base - 3, axis.right + 10, base + 3), "panel")
    for x in (axis.right + 4, axis.right + 10):
        paper.line([(x - 2, base + 5), (x + 2, base - 5)], "muted", 1.3)


def _axis(tails: Tails, sheet: Sheet) -> Axis:
    """Return the axis on a sheet: to its end, where all runs lie before words of percentiles that have room there, too."""
    axis = axis_of(tails, sheet.left, sheet.right)
    if any(path.ordered_ps[-1] > axis.last_ps for path in tails.paths):
        return axis_of(tails, sheet.left, sheet.width - _BEYOND)
    unit, high = unit_of(tails), axis.high_ps
    for path_times in tails.paths:
        for named in named_times(path_times):
            words = 6 + len(_words(named, unit)) * LETTER
            room = (axis.right - words - axis.left) / (axis.right - axis.left)
            high = max(high, axis.low_ps + (named.ps - axis.low_ps) / room)
    return axis._replace(high_ps=high)


def _words(named: NamedTime, unit: Unit) -> str:
    return f"{named.name} {unit.text(named.ps)}"


def _times(paper: Paper, axis: Axis, path_times: PathTimes, place: tuple[Sheet, float], unit: Unit) -> None:
    """Draw the quiet run and the percentiles as lines, each with its words at the right of it.

    Each has a height of its own, and the later it is the lower: so the words of none lie on those or on the line of another.
    """
    ink, (sheet, base) = f"{_role(path_times)}-ink", place
    columns = _columns(axis, path_times, sheet.dot)
    worth, counts = _worth(columns, sheet), Counter(column for column in columns if column is not None)
    for level, named in enumerate(named_times(path_times)):
        x, top = axis.x(min(named.ps, axis.high_ps)), base - sheet.line + sheet.head + _STEP * level
        # A percentile is the time of a run: its line stands on that run's dot.
        if named.ps in path_times.times_ps:
            x = axis.left + _column_at(axis, x, sheet.dot) * sheet.dot
        if named.ps <= axis.last_ps:
            # It ends above the dots that it would cross.
            near = (
                n
                for column, n in counts.items()
                if abs(axis.left + column * sheet.dot - x) < 0.75 * sheet.dot
            )
            dots = max((_high(n, worth) for n in near), default=0)
            end = base - (dots + 0.4) * sheet.dot - 3 if dots else base
            paper.line([(x, top - 6), (x, end)], ink, 1.6, dash=named.dash)
        text = _words(named, unit) + (" →" if named.ps > axis.last_ps else "")  # it lies beyond the axis
        paper.text((x + 6, top), text, size=_LETTERS, bold=named.bold, ink=ink, align="left")


def _draw_axis(paper: Paper, axis: Axis, base: float, unit: Unit) -> None:
    for place, value in enumerate(ticks(axis, unit)):
        x, figure = axis.x(value * unit.ps), f"{value:.6g}"
        paper.line([(x, base), (x, base + 5)], "edge", 1)
        # The first one has the unit; each stands below its tick, and no further at the edge than there is room.
        words = figure if place else f"{figure} {unit.name}"
        half = 4 + len(words) * LETTER / 2
        middle = min(max(x, half), axis.right + _EDGE - half)
        paper.text((middle, base + 16), words, size=_LETTERS, ink="muted")


def _gain_at_p50(tails: Tails) -> tuple[str, str]:
    """Return of two paths what is compared, and how many times as fast one is; no factor without runs enough."""
    gain, (own, other) = tails.gain(500), tails.paths
    fast, slow = (own, other) if gain is None or gain >= 1 else (other, own)
    about = f"{fast.title} against {slow.title}"
    if gain is None:
        return about, ""
    times = max(gain, 1 / gain)
    factor = f"{times:.2f}{TIMES_SIGN}" if times < 100 else f"{times:,.0f}{TIMES_SIGN}"
    return about, factor


def _answer(paper: Paper, tails: Tails) -> None:
    """Say above the paths how many times as fast one is, as their title; without runs enough, what is compared."""
    about, factor = _gain_at_p50(tails)
    paper.text((_EDGE, 22), about, size=13, ink="muted", align="left")
    if factor:
        paper.text((_EDGE, 43), f"{factor} as fast at p50", size=18, bold=True, align="left")


def needs_more(tails: Tails) -> list[str]:
    """Return which percentile needs more runs, as a sentence, if one does."""
    missing = [percentile for percentile in tails.paths[0].percentiles[:3] if percentile.missing]
    return [f"{lacking(missing[0])}." for _ in missing[:1]]  # rarer ones need more
