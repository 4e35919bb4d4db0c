"""Several jobs on one fabric: the table, on the screen and on a page, and the uplink that they share as two colours in time."""

from collections.abc import Mapping
from fractions import Fraction
from html import escape

from peerlab.base.units import PS_PER_S, say_time
from peerlab.page.frame import framed, table
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette, palettes
from peerlab.study.jobs_answer import SharedFabric
from peerlab.study.shared_jobs import Link, LinkUse

HEAD = ("job", "hosts", "alone", "each collective", "slow-down", "period")
"""Headings of the table."""
_SHOWN = 4
"""Collectives that a table lists."""
_WIDTH, _LEFT, _RIGHT, _LANE, _TOP = 1060.0, 132.0, 1040.0, 46.0, 40.0
_ROLES = ("network", "copy", "direct", "cpu", "register", "hot", "inside", "edge")
_TITLES = {"leaf up": "out of leaf", "leaf down": "into leaf"}


def jobs_heading(shared: SharedFabric) -> str:
    """Return what was asked, in words."""
    fabric = shared.fabric
    return f"{len(shared.trace.jobs)} jobs, leaves of {fabric.leaf} hosts, uplink {float(fabric.uplink):g} x a host's rate"


def job_cells(shared: SharedFabric, number: int) -> tuple[str, ...]:
    """Return a row of the table."""
    job, trace = shared.trace.jobs[number], shared.trace
    return (
        str(number),
        ",".join(map(str, job.hosts)),
        _say(shared.alone[number]),
        _list(trace.lasts(number)),
        f"{float(shared.lost[number]):.3g}",
        _list(trace.periods(number)),
    )


def _list(times: list[Fraction]) -> str:
    sentences = [_say(fraction) for fraction in times[:_SHOWN]]
    return ", ".join(sentences + (["..."] if len(times) > _SHOWN else [])) or "-"


def _say(seconds: Fraction) -> str:
    return say_time(float(seconds * PS_PER_S))


def jobs_html(shared: SharedFabric) -> str:
    """Return a `SharedFabric` as HTML; all text is escaped."""
    rows = [tuple(map(escape, job_cells(shared, number))) for number in range(len(shared.trace.jobs))]
    colours = {role: f"var(--pl-{role})" for role in palettes()["light"]}  # of the theme around it
    style = (
        "<style>.pl-report.pl-jobs table { table-layout: auto; font-variant-numeric: tabular-nums; }</style>"
    )
    body = f"{style}{_picture(shared, colours)}<p>{escape(shared.finding)}</p>{table('', HEAD, rows)}"
    return framed("jobs", jobs_heading(shared), body)


def jobs_svg(shared: SharedFabric, theme: str = "light") -> str:
    """Return the uplinks in time as a still."""
    return _picture(shared, palette(theme))


def _picture(shared: SharedFabric, colours: Mapping[str, str]) -> str:
    """Draw every uplink as a lane: rates of jobs stacked, the whole lane is the uplink's rate."""
    paper, links = Paper(colours), shared.links
    end = max((use.end for use in shared.trace.uses), default=Fraction(1))
    for number in range(len(shared.trace.jobs)):
        x = _LEFT + 80 * number
        paper.square((x + 5, 20), 5, _ROLES[number], radius=2)
        paper.text((x + 15, 20), f"job {number}", size=12, ink="muted", align="left")
    for lane, link in enumerate(links):
        _lane(paper, shared, link, _TOP + lane * _LANE, end)
    bottom = _TOP + len(links) * _LANE
    paper.text((_LEFT, bottom + 10), "0", size=12, ink="muted")
    paper.text((_RIGHT, bottom + 10), _say(end), size=12, ink="muted", align="right")
    return paper.svg(_WIDTH, bottom + 24, f"{jobs_heading(shared)}. {shared.finding}")


def _lane(paper: Paper, shared: SharedFabric, link: Link, top: float, end: Fraction) -> None:
    paper.text(
        (_LEFT - 10, top + _LANE / 2), f"{_TITLES[link[0]]} {link[1]}", size=13, bold=True, align="right"
    )
    paper.line([(_LEFT, top + _LANE - 6), (_RIGHT, top + _LANE - 6)], "faint", 1)
    for use in _merged([use for use in shared.trace.uses if use.link == link]):
        left, right = (_LEFT + (_RIGHT - _LEFT) * float(moment / end) for moment in (use.start, use.end))
        base = top + _LANE - 6
        for job, rate in use.rates:
            height = (_LANE - 10) * float(rate / shared.fabric.uplink)
            paper.box((left, base - height, right, base), _ROLES[job])
            base -= height


def _merged(uses: list[LinkUse]) -> list[LinkUse]:
    """Return uses one after the other of equal rates as one, so that no seam is drawn."""
    rows: list[LinkUse] = []
    for use in uses:
        if rows and rows[-1].end == use.start and rows[-1].rates == use.rates:
            rows[-1] = rows[-1]._replace(end=use.end)
        else:
            rows.append(use)
    return rows
