"""The blame strip: one bar for each node, or for each way where a way is to blame, and a line at 80 %."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from peerlab.base.units import say_count, say_percent, say_time
from peerlab.features.blame.blaming import EXPLAINS, Blame, blame, blame_beside
from peerlab.features.blame.late_picture import (
    RADIUS,
    RIGHT_OF_BARS,
    WIDTHS,
    in_words,
    late_svg,
    others,
    row_height,
    without_nothing,
)
from peerlab.picture.by_width import shown_from
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette, properties
from peerlab.question.scenario import Scenario

_MOST_WAYS = 8
"""Ways that have a bar: a ring of 64 nodes has 64."""
_TOP, _GAP = 54.0, 3.0
_BARS, _BEFORE_BARS, _LETTER = 86.0, 26.0, 7.9
"""Where bars begin at least, what there is beside the longest name, and the width of a letter of it, about; pixels."""


# The narrowest drawing is for all that is narrower, too.
_DRAWINGS = {
    width if width != WIDTHS[-1] else 0: f".pl-blame svg:nth-of-type({place})"
    for place, width in enumerate(WIDTHS, start=1)
}
_SIDE_BY_SIDE = (
    ".pl-blame{display:flex;flex-wrap:wrap;gap:12px}.jp-OutputArea-output>.pl-blame{padding:4px 12px 12px}"  # as other reports
    ".pl-blame>div{flex:1 1 520px;max-width:560px;min-width:0;container-type:inline-size;border-radius:8px;background:var(--pl-panel)}.pl-blame svg{display:none;width:100%;height:auto}"
    ".pl-blame svg>rect:first-of-type{display:none}"  # a drawing's own ground shows at its corners where its card is higher
    f"{shown_from(_DRAWINGS)}"
    ".pl-blame p{flex:100%;max-width:860px;margin:0;color:var(--pl-muted);text-wrap:pretty}.pl-blame .pl-says{text-wrap:balance;margin-bottom:-8px;font-size:clamp(18px,1vw + 13px,24px);line-height:1.25;font-weight:650;color:var(--pl-ink)}"
    ".pl-blame details p{margin-bottom:8px}.pl-blame details{width:100%;max-width:560px}.pl-blame summary{width:fit-content;margin-bottom:8px;font-size:13px;line-height:18px;cursor:pointer;color:var(--pl-muted);text-decoration:underline;text-underline-offset:2px}"
    ".pl-blame summary:focus-visible{outline:2px solid var(--pl-register-ink);outline-offset:2px}"
)


class RunBlamed(NamedTuple):
    """Who is to blame for a run."""

    verdict: str
    """In words."""
    pictures: str
    """What shows it, as HTML."""


def blame_html(blame: Blame) -> str:
    """Return the answer and its pictures in the colours of the page around them, and the times that they compare."""
    return _shown(blame, f"<p class='pl-says'>{_unbroken(blame.in_words)}</p>", timed=True)


def _shown(blame: Blame, says: str, *, timed: bool) -> str:
    """Return the pictures below an answer; untimed, without times that a picture of runs has."""
    took = f"It took {_three_digits(blame.time_ps)}; ordinary" if timed else "Ordinary"
    times = f"{took} runs take {_three_digits(blame.ordinary_ps)} in the median, and 95\u00a0% of them at most {_three_digits(blame.slowest_ps)}."
    # Without slow parts the runs of the picture are the ordinary ones: their percentiles stand there.
    if not timed and not blame.scenario.has_slow_parts:
        times = ""
    late = _drawn(blame, late_svg)
    spreads = in_words(blame) if late else ""
    if blame.slower:
        # Where the headline stands elsewhere, whom it begins with is said there and drawn here.
        times, pictures = f"{times} {spreads}" if timed else times, _drawn(blame, blame_svg) + late
    else:  # nothing was lost, so nobody explains a part of it
        folded = f"<details><summary>Who is late in which step</summary><p>{spreads}</p>{late}</details>"
        pictures = folded if late else ""
    return (
        f"<style>{properties('.pl-blame')}{_SIDE_BY_SIDE}</style>"
        f"<div class='pl-blame'>{says}{f'<p>{times}</p>' if times else ''}{pictures}</div>"
    )


def _unbroken(words: str) -> str:
    """Return words in which a figure stays with its percent sign, and a node with its number."""
    return words.replace(" %", "\u00a0%").replace("ode ", "ode\u00a0")


def _three_digits(ps: float) -> str:
    """Return a time with its zeros: times beside each other have as many digits.

    >>> _three_digits(5_000_000_000), _three_digits(5_030_000_000), _three_digits(103_000_000_000)
    ('5.00 ms', '5.03 ms', '103 ms')
    """
    value, unit = say_time(ps).split()
    digits = f"{float(value):#.3g}".rstrip(".")
    return say_time(ps) if "e" in digits else f"{digits} {unit}"  # e: 1000 and more


def _drawn(blame: Blame, draw: Callable[[Blame, str, float], str]) -> str:
    """Return a picture at each width, of which the room that it has shows one."""
    drawn = "".join(draw(blame, PAGE, width) for width in WIDTHS)
    return f"<div>{drawn}</div>" if drawn else ""


def blame_of_run(scenario: Scenario, others: Sequence[int]) -> RunBlamed:
    """Return who is to blame for a run, and the pictures of that; `others` are times of runs that differ by their seed alone, picoseconds.

    Where a part is slow those are slow, too, so that ordinary runs are simulated.
    """
    alone = scenario.has_slow_parts
    answer = blame(scenario) if alone else blame_beside(scenario, others, of_ordinary=False)
    # Who chose the run has read its time.
    return RunBlamed(_unbroken(answer.verdict), _shown(answer, "", timed=False))


def blame_svg(blame: Blame, theme: str = "light", width: float = WIDTHS[0]) -> str:
    """Return the picture: a bar for each way where a way is to blame, else one for each node."""
    paper, (rows, left_out) = Paper(palette(theme)), _rows(blame)
    more = _more(left_out)
    left = max(_BARS, _BEFORE_BARS + _LETTER * max(len(name) for name, _, _ in rows))
    high = row_height(len(rows))
    right, bottom, thick = width - RIGHT_OF_BARS, _TOP + high * len(rows), high - _GAP
    height = bottom + (50 if more else 32)
    paper.box((0, 0, width, height), "panel", radius=8)
    asks = f"Delay explained by each {'way' if blame.way else 'node'}"
    paper.text((16, 24), asks, size=14, bold=True, align="left")
    paper.line([(left, _TOP), (left, bottom - _GAP)], "faint", 1)
    for place, (name, share, named) in enumerate(rows):
        top, end = _TOP + high * place, left + (right - left) * share
        ink = "hot-ink" if named else "muted"
        paper.text((left - 10, top + thick / 2), name, size=12.5, bold=named, ink=ink, align="right")
        if end >= left + 2:  # less would be a stub that looks like something
            paper.box((left, top, end, top + thick), "hot" if named else "edge", radius=RADIUS)
        paper.text(
            (right + 10, top + thick / 2), say_percent(share), size=12.5, bold=named, ink=ink, align="left"
        )
    line = left + (right - left) * EXPLAINS
    paper.line([(line, _TOP - 6), (line, bottom)], "ink", 1.3, dash="4 3")
    from_here = f"to blame from {say_percent(EXPLAINS)} on"
    # below the line that it names, and within the card
    middle = min(line, width - 16 - _LETTER * len(from_here) / 2)
    paper.text((middle, bottom + 10), from_here, size=12.5, ink="muted")
    if more:
        paper.text((16, bottom + 30), more, size=12.5, ink="muted", align="left")
    return paper.svg(width, height, f"{asks}. {blame.in_words}")


def _rows(blame: Blame) -> tuple[list[tuple[str, float, bool]], int]:
    """Return name and share of each bar, and whether it is named, and how many ways have none: of ways those that explain most, in the order of their senders; what explains nothing is one row."""
    if blame.way:
        rows = [
            (f"node {sender} → node {receiver}", blame.part(won), (sender, receiver) == blame.way)
            for (sender, receiver), won in sorted(blame.ways)
        ]
    else:
        rows = [(f"node {node}", share, node in blame.named) for node, share in enumerate(blame.explained)]
    places, rest = without_nothing(say_percent(share) == "0 %" for _, share, _ in rows)
    shown = places
    if blame.way:
        shown = sorted(sorted(places, key=lambda place: (not rows[place][2], -rows[place][1]))[:_MOST_WAYS])
    folded = [(others(rest), 0.0, False)] if rest else []
    return [rows[place] for place in shown] + folded, len(places) - len(shown)


def _more(ways: int) -> str:
    """Return what is said of the ways that have no bar."""
    if ways <= 0:
        return ""
    return f"{say_count(ways, 'more way')} {'explains' if ways == 1 else 'explain'} no more than these."
