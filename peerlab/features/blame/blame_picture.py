"""The blame strip: one bar for each node, hatched where it shares the blame with its neighbour, and a line at 80 %."""

from collections.abc import Sequence

from peerlab.base.units import say_percent, say_time
from peerlab.features.blame.blaming import EXPLAINS, Blame, blame, blame_beside
from peerlab.features.blame.late_picture import in_words, late_svg
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette, properties
from peerlab.question.scenario import Scenario

_SIDE_BY_SIDE = (
    ".pl-blame{display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start}"
    ".pl-blame>div{flex:0 1 560px;min-width:0;overflow-x:auto}.pl-blame svg{display:block;width:100%;min-width:540px;height:auto}"
    ".pl-blame p{flex:100%;margin:0;color:var(--pl-muted);text-wrap:pretty}.pl-blame .pl-says{text-wrap:balance;margin-bottom:-8px;font-size:18px;font-weight:650;color:var(--pl-ink)}"
    ".pl-blame details p{margin-bottom:8px}.pl-blame details{max-width:560px;overflow-x:auto}.pl-blame summary{width:fit-content;margin-bottom:8px;cursor:pointer;color:var(--pl-muted);text-decoration:underline;text-underline-offset:2px}"
    ".pl-blame summary:focus-visible{outline:2px solid var(--pl-register-ink);outline-offset:2px}"
)
_WIDTH, _ROW, _LEFT, _RIGHT, _TOP = 560.0, 22.0, 86.0, 486.0, 54.0


def blame_html(blame: Blame, *, timed: bool = True) -> str:
    """Return the pictures in the colours of the page around them, and the times that they compare; untimed, without what the run took."""
    took = f"It took {say_time(blame.time_ps)}; ordinary" if timed else "Ordinary"
    times = f"{took} runs take {say_time(blame.ordinary_ps)} in the median, and 95\u00a0% of them at most {say_time(blame.slowest_ps)}."
    late = _apart(late_svg(blame, PAGE))
    spreads = in_words(blame) if late else ""
    if blame.slower:
        times, pictures = f"{times} {spreads}", _apart(blame_svg(blame, PAGE)) + late
    else:  # nothing was lost, so nobody explains a part of it
        folded = f"<details><summary>Who is late in which step</summary><p>{spreads}</p>{late}</details>"
        pictures = folded if late else ""
    return (
        f"<style>{properties('.pl-blame')}{_SIDE_BY_SIDE}</style>"
        f"<div class='pl-blame'><p class='pl-says'>{blame.in_words}</p><p>{times}</p>{pictures}</div>"
    )


def _apart(svg: str) -> str:
    """Return a picture in a place of its own, which is moved sideways where it is too narrow for letters of 12 pixels."""
    return f"<div tabindex='0' role='group' aria-label='Picture'>{svg}</div>" if svg else ""


def blame_of_run(scenario: Scenario, others: Sequence[int]) -> str:
    """Return the pictures of who is to blame for a run; `others` are times of runs that differ by their seed alone, picoseconds.

    Where a part is slow those are slow, too, so that ordinary runs are simulated.
    """
    answer = blame(scenario) if scenario.has_slow_parts else blame_beside(scenario, others)
    return blame_html(answer, timed=False)  # who chose the run has read its time


def blame_svg(blame: Blame, theme: str = "light") -> str:
    """Return the picture."""
    paper, shares, named = Paper(palette(theme)), blame.explained, blame.named
    height = _TOP + _ROW * len(shares) + 32
    paper.box((0, 0, _WIDTH, height), "panel", radius=8)
    asks = "Share of the delay that each node explains"
    paper.text((16, 24), asks, size=14, bold=True, align="left")
    scale = _RIGHT - _LEFT
    for node, share in enumerate(shares):
        top, end = _TOP + _ROW * node, _LEFT + scale * share
        paper.text((_LEFT - 10, top + 8), f"node {node}", size=12.5, ink="muted", align="right")
        paper.box((_LEFT, top, _RIGHT, top + 16), "faint", radius=4)
        if end >= _LEFT + 2:  # less would be a stub that looks like something
            paper.box((_LEFT, top, end, top + 16), "hot" if node in named else "edge", radius=4)
        if len(named) > 1 and node in named:
            _hatch(paper, end, top)
        ink = "hot-ink" if node in named else "muted"
        paper.text(
            (_RIGHT + 10, top + 8),
            say_percent(share),
            size=12.5,
            bold=node in named,
            ink=ink,
            align="left",
        )
    line, bottom = _LEFT + scale * EXPLAINS, _TOP + _ROW * len(shares)
    paper.line([(line, _TOP - 6), (line, bottom)], "ink", 1.3, dash="4 3")
    paper.text((line, bottom + 10), f"to blame from {say_percent(EXPLAINS)} on", size=12.5, ink="muted")
    return paper.svg(_WIDTH, height, f"Share of the delay that each node explains. {blame.in_words}")


def _hatch(paper: Paper, end: float, top: float) -> None:
    """Hatch a bar: its node shares the blame."""
    x = _LEFT + 4
    while x + 10 < end:
        paper.line([(x, top + 15), (x + 8, top + 1)], "panel", 2)
        x += 9
