"""The runs of both data paths as dots piled on one time axis: percentiles as lines, the quiet run beside its pile."""

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from peerlab.base.units import PS_PER_MS, PS_PER_US
from peerlab.features.tails.percentiles import nearest_rank
from peerlab.features.tails.tails import Tails
from peerlab.features.tails.times import PathTimes
from peerlab.model.paths import data_path
from peerlab.picture.scale import linear, round_step
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette, properties

WIDTH, HEIGHT = 1120.0, 330.0
_LEFT, _RIGHT, _BASE, _TOP = 76.0, 1044.0, 268.0, 120.0
_DOT = 4.6
_MOST_DOTS = 30
"""Dots of the highest pile; where more runs lie in one place, a dot stands for several."""
_MOST_TICKS = 9
_WORD = 6.6
"""Width of a letter of 11.5 px, about."""


class Axis(NamedTuple):
    """A time axis."""

    low_ps: float
    high_ps: float

    def x(self, ps: float) -> float:
        """Return where a time lies."""
        return linear(self, (_LEFT, _RIGHT))(ps)


def tails_svg(
    tails: Tails, theme: str = "light", shown: int | None = 0, colours: Mapping[str, str] | None = None
) -> str:
    """Return the picture; `shown` is the run that is marked, by its place among the seeds; None: none is."""
    paper, axis = Paper(colours or palette(theme)), _axis(tails)
    paper.box((8, 8, WIDTH - 8, HEIGHT - 8), "panel", radius=8)
    # The quicker pile first: where the two overlap, the slower one lies on top.
    for row, path_times in enumerate(sorted(tails.paths, key=lambda path: path.quiet_ps)):
        _pile(paper, axis, path_times, shown)
        _beyond(paper, path_times, _BASE - 34 - 14 * row)
    _draw_axis(paper, axis)
    _between(paper, axis, tails)
    return paper.svg(WIDTH, HEIGHT, alt(tails))


_MOVED = ".pl-tails>div{overflow-x:auto}.pl-tails svg{display:block;width:100%;min-width:1060px;height:auto}"
"""No word is below 11 pixels: a narrow window is moved over the picture."""


def tails_html(tails: Tails) -> str:
    """Return the picture in the colours of the page around it; in a narrow one it is moved sideways, by keys, too."""
    style = properties(".pl-tails") + _MOVED
    picture = f"<div tabindex='0' role='group' aria-label='Runs'>{tails_svg(tails, PAGE)}</div>"
    return f"<style>{style}</style><div class='pl-tails'>{picture}<p>{escape(alt(tails))}</p></div>"


def chosen_svg(tails: Tails, place: int) -> str:
    """Return the mark of one run of the first path, to lie over the picture: a dot of its own, and how long it took."""
    paper, axis, path_times = Paper(palette(PAGE)), _axis(tails), tails.paths[0]
    ps, last = path_times.times_ps[place], _last(path_times)
    x = axis.x(min(ps, last))
    # Down to below the ticks, where the words have room.
    paper.line([(x, _BASE), (x, _BASE + 30)], "ink", 1.6)
    paper.square((x, _BASE - 6), 5, "ink", "panel", 1.5, radius=5)
    beyond = ", beyond the axis" if ps > last else ""
    _label(paper, x, _BASE + 34, f"this run: {_say(ps)}{beyond}", ink="ink", bold=True)
    return paper.svg(WIDTH, HEIGHT, f"This run took {_say(ps)}.")


def alt(tails: Tails) -> str:
    """Return what is to be seen, in words."""
    parts = []
    for path_times in tails.paths:
        sentences = [f"{p.name} {_say(p.value_ps)}" for p in path_times.percentiles if not p.missing]
        parts.append(
            f"{path_times.title}, {len(path_times.times_ps)} runs: quiet {_say(path_times.quiet_ps)}, {', '.join(sentences) or 'too few for a percentile'}"
        )
    gain = tails.gain(500)
    more = f". {gain:.2f} times at p50" if gain else ""
    return "; ".join(parts) + more


def _axis(tails: Tails) -> Axis:
    low = min(min(path.quiet_ps, path.ordered_ps[0]) for path in tails.paths)
    high = max(_last(path) for path in tails.paths)
    # Room at both ends, also where all runs take the same time.
    room = 0.08 * max(high - low, 0.02 * high)
    return Axis(low - room, high + room)


def _last(path_times: PathTimes) -> int:
    """Return up to where a path is drawn: its rarest runs may lie so far out that nothing else would be seen."""
    ordered = path_times.ordered_ps
    # A quarter beyond what 99.5 % of the runs take: an axis for the rarest would leave no room for all others.
    usual = ordered[max(0, -(-len(ordered) * 995 // 1000) - 1)]
    return min(ordered[-1], round(1.25 * usual))


def _role(path_times: PathTimes) -> str:
    return data_path(str(path_times.scenario.path)).role


def _pile(paper: Paper, axis: Axis, path_times: PathTimes, shown: int | None) -> None:
    """Draw the runs of a path, its percentiles and its quiet run."""
    role, last = _role(path_times), _last(path_times)
    columns: dict[int, int] = {}
    # Runs beyond are counted in words (`_beyond`), not drawn.
    for ps in (ps for ps in path_times.ordered_ps if ps <= last):
        place = round((axis.x(ps) - _LEFT) / _DOT)
        columns[place] = columns.get(place, 0) + 1
    # The highest pile is full: in all others a dot stands for as many runs.
    worth = max(1.0, max(columns.values()) / _MOST_DOTS)
    for place, count in columns.items():
        for level in range(max(1, round(count / worth))):
            x, y = _LEFT + place * _DOT, _BASE - 5 - level * _DOT
            paper.square((x, y), _DOT / 2 - 0.4, role, radius=2)
    _percentiles(paper, axis, path_times)
    x = axis.x(path_times.quiet_ps)
    paper.square((x, _BASE - 6), 5, "panel", role, 2, radius=5)
    # To its left there are few dots: noise makes nearly every run slower.
    text = f"quiet {_say(path_times.quiet_ps)}"
    paper.text((x + 5, _BASE - 21), text, size=11.5, ink=f"{role}-ink", align="right")
    # Only where it lies on the axis.
    if shown is not None and shown < len(path_times.times_ps) and path_times.times_ps[shown] <= last:
        paper.square((axis.x(path_times.times_ps[shown]), _BASE - 6), 5, "ink", "panel", 1.5, radius=5)
    title = (
        axis.x(path_times.percentiles[0].value_ps or path_times.ordered_ps[len(path_times.ordered_ps) // 2]),
        34,
    )
    half = len(path_times.title) * 4.6
    paper.text(
        (min(max(title[0], half + 24), WIDTH - half - 24), 34),
        path_times.title,
        size=16,
        bold=True,
        ink=f"{role}-ink",
    )


def _beyond(paper: Paper, path_times: PathTimes, y: float) -> None:
    """Say how many runs of a path lie beyond where it is drawn: each path in its colour, or nobody knew whose they are."""
    beyond = sum(ps > _last(path_times) for ps in path_times.ordered_ps)
    if beyond:
        ink = f"{_role(path_times)}-ink"
        paper.text((WIDTH - 24, y), f"{beyond} later", size=11, ink=ink, align="right")


def _percentiles(paper: Paper, axis: Axis, path_times: PathTimes) -> None:
    ink, last = f"{_role(path_times)}-ink", _last(path_times)
    # The rarest one lies beyond the axis most of the time: table and words tell it.
    for level, percentile in enumerate(path_times.percentiles[:3]):
        top = 62.0 + 18 * level
        if percentile.missing:
            # It has no place of its own, so its words stand above the middle.
            x = axis.x(nearest_rank(path_times.ordered_ps, 0.5))
            text = f"{percentile.name} needs {percentile.missing:,} more runs"
            _label(paper, x, top, text, ink="muted", bold=False)
            continue
        x = axis.x(min(percentile.value_ps, last))
        paper.line([(x, top), (x, _BASE)], ink, 1.6, dash="" if level < 2 else "3 3")
        _label(paper, x, top, f"{percentile.name} {_say(percentile.value_ps)}", ink=ink, bold=True)


def _label(paper: Paper, x: float, y: float, text: str, *, ink: str, bold: bool) -> None:
    """Write beside a line: at its right, or at its left where the right has no room."""
    fits = x + 6 + len(text) * _WORD < WIDTH - 16
    at, align = (x + 6, "left") if fits else (x - 6, "right")
    paper.text((at, y), text, size=11.5, bold=bold, ink=ink, align=align)


def _draw_axis(paper: Paper, axis: Axis) -> None:
    paper.line([(_LEFT, _BASE), (_RIGHT, _BASE)], "edge", 1)
    unit, name = _unit(axis.high_ps)
    step = round_step((axis.high_ps - axis.low_ps) / unit, _MOST_TICKS)
    tick = -(-axis.low_ps / unit // step) * step
    while tick * unit <= axis.high_ps:
        x = axis.x(tick * unit)
        paper.line([(x, _BASE), (x, _BASE + 5)], "edge", 1)
        paper.text((x, _BASE + 17), f"{tick:g}", size=11.5, ink="muted")
        # Steps such as 0.1 add up to 0.30000000000000004.
        tick = round(tick + step, 9)
    paper.text((_RIGHT + 14, _BASE + 17), name, size=11.5, ink="muted", align="left")


def _between(paper: Paper, axis: Axis, tails: Tails) -> None:
    """Write what the paths have between them, where their piles leave room; else below the axis."""
    gain = tails.gain(500)
    if len(tails.paths) < 2 or gain is None:
        return
    first, then = sorted(tails.paths, key=lambda path: path.quiet_ps)
    # Behind the tail of the quicker pile, clear of the labels there.
    left = axis.x(nearest_rank(first.ordered_ps, 0.99)) + 90
    right = axis.x(min(then.quiet_ps, then.ordered_ps[0])) - 44
    sentences = [f"{tails.gain(p):.2f} at {n}" for p, n in ((900, "p90"), (990, "p99")) if tails.gain(p)]
    more = ", ".join([*sentences, f"{tails.quiet_gain:.2f} for the quiet runs"])
    if right - left < 300:
        paper.text(((_LEFT + _RIGHT) / 2, _BASE + 38), f"{gain:.2f} times at p50, {more}", size=13, bold=True)
        return
    middle = (left + right) / 2
    paper.line([(left, 176), (right, 176)], "ink", 1.4)
    for end, way in ((left, 1), (right, -1)):
        paper.line([(end + 7 * way, 172), (end, 176), (end + 7 * way, 180)], "ink", 1.4)
    paper.text((middle, 150), f"{gain:.2f} times at p50", size=26, bold=True)
    paper.text((middle, 196), more, size=13, ink="muted")


def _unit(high_ps: float) -> tuple[int, str]:
    return (PS_PER_MS, "ms") if high_ps >= 10 * PS_PER_MS else (PS_PER_US, "µs")


def _say(ps: float) -> str:
    unit, name = _unit(ps)
    return f"{ps / unit:.4g} {name}"
