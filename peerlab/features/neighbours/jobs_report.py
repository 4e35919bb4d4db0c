"""Several jobs on one fabric: the table of the command, and a still of the uplinks that they share and of who stood in whose way."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from peerlab.base.document import Document, Table, Text
from peerlab.base.units import PS_PER_S, TIMES_SIGN, say_count, say_time
from peerlab.features.neighbours.neighbours_report import HEAD, cells
from peerlab.picture.scale import linear
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette
from peerlab.study.jobs_answer import SharedFabric
from peerlab.study.jobs_in_the_way import Held
from peerlab.study.shared_jobs import Link, LinkUse

_HEAD = ("job", "hosts", "alone", "each collective", "slow-down", "period")
_PLAYED = ("hosts", "alone", "beside the others", "begins every", "slow-down")
"""Headings of the page's table after the job; a heading without figures is left out."""
_NETWORK = HEAD[-4:]
"""What ports did besides sending: sent twice, paused, out of credits, and packets that were marked or lost."""
_SHOWN = 4
"""Collectives that a table lists."""
_WIDTH, _LEFT, _RIGHT, _LANE, _TOP = 1060.0, 148.0, 1040.0, 46.0, 40.0
# One for each job, of which there are eight at most; jobs beside each other differ for every reader, and none is orange or green, which mean what limits and what is faster.
ROLES = ("register", "cpu", "muted", "cpu-ink", "inside", "ink", "register-ink", "network")
_TITLES = {"leaf up": "out of leaf", "leaf down": "into leaf"}
_STRIP = 22.0
"""Height of a job's strip: when it exchanges, and below, in their colours, the jobs that slow it down."""


def played_table(shared: SharedFabric) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headings of the page's table, and a row for each job: the picture beside it shows every collective, so a range stands for them."""
    trace = shared.trace
    rows = [
        (
            ",".join(map(str, job.hosts)),
            _say(shared.alone[number]),
            _range(trace.lasts(number)),
            _range(trace.periods(number)),
            "?" if number in shared.unended else f"{float(shared.lost[number]):.2f}{TIMES_SIGN}",
        )
        for number, job in enumerate(trace.jobs)
    ]
    there = [place for place in range(len(_PLAYED)) if any(row[place] for row in rows)]
    return tuple(_PLAYED[place] for place in there), [tuple(row[place] for place in there) for row in rows]


def _range(times: list[Fraction]) -> str:
    """Return from where to where times go; nothing where there are none."""
    ends = dict.fromkeys(_say(end) for end in (min(times), max(times))) if times else ()
    return " to ".join(ends)


def link_title(link: Link) -> str:
    """Return an uplink in words."""
    return f"{_TITLES[link[0]]} {link[1]}"


def jobs_document(shared: SharedFabric) -> Document:
    """Return what several jobs on one fabric say: the finding, and each job's times."""
    rows = [row(shared, number) for number in range(len(shared.trace.jobs))]
    blocks: list[Text | Table] = [Text(shared.finding), Table("", _HEAD, rows)]
    if shared.cells:
        blocks.append(Table("What the network did", _NETWORK, [cells(shared.cells.answer)[-len(_NETWORK) :]]))
    return Document(jobs_title(shared), tuple(blocks))


def jobs_title(shared: SharedFabric) -> str:
    """Return what is shared by how many, in words."""
    fabric = shared.fabric
    jobs, hosts = say_count(len(shared.trace.jobs), "job"), say_count(fabric.leaf, "host")
    on = f", {shared.cells.answer.title}, cell by cell" if shared.cells else ""
    rate = float(fabric.uplink)
    fast = "as fast as a host" if rate == 1 else f"of {rate:g} times a host's rate"
    return f"{jobs}, leaves of {hosts}, uplinks {fast}{on}"


def row(shared: SharedFabric, number: int) -> tuple[str, ...]:
    """Return a row of the table."""
    job, trace = shared.trace.jobs[number], shared.trace
    return (
        str(number),
        ",".join(map(str, job.hosts)),
        _say(shared.alone[number]),
        _list(trace.lasts(number)),
        "-" if number in shared.unended else f"{float(shared.lost[number]):.3g}",
        _list(trace.periods(number)),
    )


def _list(times: list[Fraction]) -> str:
    """Return times in words: once where all are alike, else the first few and how many more there are."""
    sentences = [_say(fraction) for fraction in times]
    if len(sentences) > 1 and len(set(sentences)) == 1:
        return f"{len(sentences)} x {sentences[0]}"
    more = [f"{len(sentences) - _SHOWN} more"] if len(sentences) > _SHOWN else []
    return ", ".join(sentences[:_SHOWN] + more) or "-"


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
        paper.square((x + 5, 20), 5, ROLES[number], radius=2)
        paper.text((x + 15, 20), f"job {number}", size=12, ink="muted", align="left")
    for lane, link in enumerate(links):
        _lane(paper, shared, link, _TOP + lane * _LANE, end)
    bottom = _TOP + len(links) * _LANE
    for number, pieces in enumerate(shared.in_the_way):
        _in_the_way(paper, shared, number, pieces, bottom, end)
        bottom += _STRIP
    paper.text((_LEFT, bottom + 10), "0", size=12, ink="muted")
    paper.text((_RIGHT, bottom + 10), _say(end), size=12, ink="muted", align="right")
    return paper.svg(_WIDTH, bottom + 24, f"{jobs_title(shared)}. {shared.finding}")


def _lane(paper: Paper, shared: SharedFabric, link: Link, top: float, end: Fraction) -> None:
    paper.text((_LEFT - 10, top + _LANE / 2), link_title(link), size=13, bold=True, align="right")
    paper.line([(_LEFT, top + _LANE - 6), (_RIGHT, top + _LANE - 6)], "faint", 1)
    at = linear((0.0, 1.0), (_LEFT, _RIGHT))  # of shares: moments are exact fractions
    for use in uplinks(shared, link):
        left, right = (at(float(moment / end)) for moment in (use.start, use.end))
        base = top + _LANE - 6
        for job, rate in use.rates:
            # The whole lane is the uplink's rate, so what is free stays visible.
            height = (_LANE - 10) * float(rate / shared.fabric.uplink)
            paper.box((left, base - height, right, base), ROLES[job])
            base -= height


def _in_the_way(paper: Paper, shared: SharedFabric, number: int, pieces: Sequence[Held], top: float, end: Fraction) -> None:  # fmt: skip
    at = linear((0.0, 1.0), (_LEFT, _RIGHT))
    paper.text((_LEFT - 10, top + 8), f"in the way of job {number}", size=12, ink="muted", align="right")
    for begin, stop in zip(shared.trace.begins[number], shared.trace.ends[number], strict=False):
        paper.box((at(float(begin / end)), top, at(float(stop / end)), top + 7), ROLES[number])
    for piece in pieces:
        left, right, high = at(float(piece.start / end)), at(float(piece.end / end)), 7 / len(piece.by)
        for place, other in enumerate(piece.by):
            paper.box((left, top + 8 + high * place, right, top + 8 + high * (place + 1)), ROLES[other])


def uplinks(shared: SharedFabric, link: Link) -> list[LinkUse]:
    """Return the uses of an uplink in time, those of equal rates one after the other as one, so that no seam is drawn."""
    rows: list[LinkUse] = []
    for use in (use for use in shared.trace.uses if use.link == link):
        if rows and rows[-1].end == use.start and rows[-1].rates == use.rates:
            rows[-1] = rows[-1]._replace(end=use.end)
        else:
            rows.append(use)
    return rows
