"""Several jobs on one fabric: the table, on the screen and on a page, and the uplink that they share as two colours in time."""

from collections.abc import Mapping
from fractions import Fraction

from peerlab.base.document import Document, Graphic, Table, Text
from peerlab.base.units import PS_PER_S, say_time
from peerlab.page.document_html import document_html
from peerlab.picture.scale import linear
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette, palettes
from peerlab.study.jobs_answer import SharedFabric
from peerlab.study.shared_jobs import Link, LinkUse

_HEAD = ("job", "hosts", "alone", "each collective", "slow-down", "period")
_STYLE = ".pl-report.pl-jobs table { table-layout: auto; font-variant-numeric: tabular-nums; }"
_SHOWN = 4
"""Collectives that a table lists."""
_WIDTH, _LEFT, _RIGHT, _LANE, _TOP = 1060.0, 132.0, 1040.0, 46.0, 40.0
# One for each job, of which there are eight at most.
_ROLES = ("network", "copy", "direct", "cpu", "register", "hot", "inside", "edge")
_TITLES = {"leaf up": "out of leaf", "leaf down": "into leaf"}


def jobs_document(shared: SharedFabric) -> Document:
    """Return what several jobs on one fabric say: the uplinks in time, the finding, and each job's times."""
    colours = {role: f"var(--pl-{role})" for role in palettes()["light"]}  # of the theme around it
    rows = [_row(shared, number) for number in range(len(shared.trace.jobs))]
    picture = Graphic(f"<style>{_STYLE}</style>{_picture(shared, colours)}")
    return Document(_title(shared), (picture, Text(shared.finding), Table("", _HEAD, rows)))


def jobs_html(shared: SharedFabric) -> str:
    """Return a `SharedFabric` as HTML; all text is escaped."""
    return document_html(jobs_document(shared), "jobs")


def _title(shared: SharedFabric) -> str:
    fabric = shared.fabric
    return f"{len(shared.trace.jobs)} jobs, leaves of {fabric.leaf} hosts, uplink {float(fabric.uplink):g} x a host's rate"


def _row(shared: SharedFabric, number: int) -> tuple[str, ...]:
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
    return paper.svg(_WIDTH, bottom + 24, f"{_title(shared)}. {shared.finding}")


def _lane(paper: Paper, shared: SharedFabric, link: Link, top: float, end: Fraction) -> None:
    paper.text(
        (_LEFT - 10, top + _LANE / 2), f"{_TITLES[link[0]]} {link[1]}", size=13, bold=True, align="right"
    )
    paper.line([(_LEFT, top + _LANE - 6), (_RIGHT, top + _LANE - 6)], "faint", 1)
    at = linear((0.0, 1.0), (_LEFT, _RIGHT))  # of shares: moments are exact fractions
    for use in _merged([use for use in shared.trace.uses if use.link == link]):
        left, right = (at(float(moment / end)) for moment in (use.start, use.end))
        base = top + _LANE - 6
        for job, rate in use.rates:
            # The whole lane is the uplink's rate, so what is free stays visible.
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
