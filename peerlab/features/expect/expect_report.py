"""A verdict on a log, and what a machine should reach, as HTML: the verdict first, then the picture, then what would look like it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

from peerlab.base.document import Conclusion, Text
from peerlab.base.units import say_bytes, say_percent
from peerlab.base.words_html import words_html
from peerlab.features.expect.band_picture import band_html
from peerlab.features.expect.expect_document import (
    STATUSES,
    UNSEEN,
    Told,
    cause_words,
    closest_of,
    closest_words,
    conclusion,
    expectation_document,
    first_up,
    judged_table,
    log_words,
    ruled_out,
    share_words,
    unseen_words,
)
from peerlab.features.expect.expectation import Expectation, figure
from peerlab.features.expect.verdicts.causes import THE_CAUSE
from peerlab.features.expect.verdicts.log_verdict import IN_PAGE, LogVerdict, LogVerdicts, by_options, in_lab
from peerlab.features.expect.verdicts.verdict_rules import BELOW
from peerlab.page.document_html import conclusion_html, part_html
from peerlab.page.frame import alone, framed
from peerlab.question.presets import known_clusters, load_cluster

_MOST_CAUSES = 5
_CLOSEST = 2
"""Causes that are shown where none explains enough."""
_SIZES = "Each size, and how sure that is"
_BARE = "Each size, as it was measured"
_WHICH, _FEW = re.compile(r", such as ([^;]+)"), 4
"""The clusters that a log may be from, and how many of them a sentence has room for."""
_DECIDES = " The command below decides."
_TITLE, _RESTS = "Is this run healthy?", "What the verdict rests on"


def verdict_html(verdicts: Sequence[Told]) -> str:
    """Return verdicts, one for each run of a log, as HTML that brings its own style; all text is escaped."""
    many = len(verdicts) > 1
    blocks = []
    for place, verdict in enumerate(verdicts):
        head = f"<h4>Run {place + 1} of {len(verdicts)}</h4>" if many else ""
        blocks.append(head + "".join(_parts(verdict)))
    return framed("expect", _TITLE, "".join(blocks))


def verdict_in_page(verdicts: Sequence[Told]) -> str:
    """Return verdicts as `verdict_html` does, for a page that has a list of clusters in the place of the command line's option."""
    return verdict_html([{**verdict, "why": for_page(verdict["why"], IN_PAGE)} for verdict in verdicts])


def verdict_beside_list(verdicts: Sequence[Told]) -> tuple[str, str]:
    """Return a verdict, and what is below it, for a place that has a list of clusters between them; of several runs all is below."""
    # The list has the names of clusters and says which it is compared with: no sentence repeats them.
    ways = in_lab(len(verdicts))
    shortened = [{**verdict, "why": for_page(verdict["why"], ways), "cluster": None} for verdict in verdicts]
    if len(shortened) != 1:
        return "", verdict_html(shortened)
    below = framed("expect", _RESTS, "".join(_below(shortened[0])), headed=False)
    return framed("expect", _TITLE, _head(shortened[0])), below


def for_page(why: str, ways: Mapping[str, str]) -> str:
    """Return why a verdict is as it is in the words of a page with a list of clusters, which has their titles.

    >>> for_page("held up as alps-gh200-tcp; name its own with --cluster", in_lab(1))
    'held up as Alps GH200, NCCL over TCP; name its own in the list below'
    """
    titled = _names_of_clusters().sub(lambda name: load_cluster(name[0]).title, _WHICH.sub("", why))
    return by_options(titled, ways)


def expectation_html(found: Told) -> str:
    """Return what a machine should reach as HTML that brings its own style."""
    document = expectation_document(found)
    return framed("expect", document.title, _largest(found["rows"]) + "".join(map(part_html, document.parts)))


def _largest(rows: Sequence[Told]) -> str:
    """Return what is expected at the largest size, as the answer that a page begins with."""
    if not rows:
        return ""
    row = rows[-1]
    low, high = figure(row["low"]), figure(row["high"])
    band = f"{low} GB/s" if low == high else f"{low} to {high} GB/s"
    if high == figure(row["ceiling"]):
        band += f", and {high} GB/s is the ceiling"
    return f"<p class='pl-answer'><b>{figure(row['expected'])} GB/s</b> bus bandwidth at {say_bytes(row['size'])}; 9 of 10 healthy runs reach {band}</p>"


def expect_page(report: str) -> str:
    """Return a report as a page of its own, which fetches nothing."""
    return alone("Expected bandwidth", report)


def _conclusion(verdict: Told) -> Conclusion:
    status, because = STATUSES[verdict["verdict"]], _without_names(verdict)
    if verdict["verdict"] == BELOW:
        # How much is missing is the headline; at which sizes stands below it.
        where, _, share = conclusion(verdict).rpartition(": ")
        return Conclusion(status, share, " ".join(filter(None, (f"{where}.", because))))
    if status != "unknown":
        return Conclusion(status, conclusion(verdict), because or closest_words(verdict))
    # What to do about it is no headline.
    why, _, advice = verdict["why"].partition(": ")
    return Conclusion(
        status,
        conclusion({**verdict, "why": why}),
        " ".join(filter(None, (_names_as_code(first_up(_WHICH.sub(_in_sentence, advice))), because))),
    )


def _in_sentence(which: re.Match[str]) -> str:
    """Return the names of clusters that a sentence has room for: all if they are few, else none."""
    return which[0] if len(which[1].split(", ")) <= _FEW else ""


def _further_names(verdict: Told) -> str:
    """Return the clusters that a log may be from, folded where a sentence has no room for them; empty of another verdict."""
    which = _WHICH.search(verdict["why"])
    if which is None or _in_sentence(which):
        return ""
    names = which[1].split(", ")
    return _folded(
        f"{len(names)} known clusters that may be it", part_html(Text(_names_as_code(which[1]), quiet=True))
    )


def _names_as_code(words: str) -> str:
    """Return words in which names of clusters are code: they are typed."""
    return _names_of_clusters().sub(r"`\g<0>`", words)


def _names_of_clusters() -> re.Pattern[str]:
    names = "|".join(map(re.escape, sorted(known_clusters(), key=len, reverse=True)))
    # A title may begin as a name does: p5.48xlarge is none.
    return re.compile(rf"(?<![\w`-])(?:{names})(?![\w`-]|\.\w)")


def _without_names(verdict: Told) -> str:
    """Return the sentence on the causes without their names: each stands below, beside its command."""
    because: str = verdict["because"]
    if not any(cause["name"] in because for cause in verdict["causes"]):
        return because
    head, _, names = because.partition(": ")
    decides = _DECIDES if names.endswith(_DECIDES) else ""
    return f"{head}.{decides}"


def _parts(verdict: Told) -> Iterator[str]:
    yield _head(verdict)
    yield _further_names(verdict)
    yield from _below(verdict)


def _head(verdict: Told) -> str:
    return conclusion_html(_conclusion(verdict)) + part_html(Text(log_words(verdict), quiet=True))


def _below(verdict: Told) -> Iterator[str]:
    rows, causes = [row for row in verdict["rows"] if row["expected"]], verdict["causes"][:_MOST_CAUSES]
    if rows:
        closest = None if verdict["because"] else closest_of(verdict)
        picture = band_html(rows, rows, [cause["curve"] for cause in causes], closest)
        yield f"<div class='pl-beside'>{picture}{_causes(verdict, causes) if causes else ''}</div>"
    sizes = part_html(replace(judged_table(verdict["rows"]), caption="", folded=False))
    yield _folded(
        _SIZES if rows else _BARE,
        sizes + "".join(part_html(Text(note, quiet=True)) for note in verdict["notes"]),
    )
    if verdict["unseen"]:
        listed = "".join(
            f"<p>{words_html(fault['decides'])}<br><span>{escape(unseen_words(fault))}</span></p>"
            for fault in verdict["unseen"]
        )
        yield _folded(UNSEEN, f"<div class='pl-decides'>{listed}</div>")


def _folded(summary: str, html: str) -> str:
    return f"<details><summary>{summary}</summary>{html}</details>"


def _causes(verdict: Told, causes: Sequence[Told]) -> str:
    """Return what would look like the log, each with the command that decides; what explains too little is folded."""
    # By name: `likely` tells names, so that JSON holds each cause once.
    likely = [place for place, cause in enumerate(causes) if cause["name"] in verdict["likely"]]
    # Where none explains enough, those that come closest are worth a look.
    seen = likely or range(min(_CLOSEST, len(causes)))
    others = "".join(_cause(cause, place) for place, cause in enumerate(causes) if place not in seen)
    out = part_html(Text(ruled_out(verdict["ruled_out"]), quiet=True)) if verdict["ruled_out"] else ""
    what = (
        f"What explains less than {say_percent(THE_CAUSE)}, or is ruled out"
        if likely
        else "Others, and what is ruled out"
    )
    shown = "".join(_cause(causes[place], place) for place in seen)
    return (
        f"<div class='pl-causes'><div class='pl-head'><h4>What would look like this</h4><span>explains</span></div>{shown}"
        f"{_folded(what, others + out) if others or out else ''}</div>"
    )


def _cause(cause: Told, place: int) -> str:
    wide = min(1.0, cause["explains"])
    bar = (
        "<svg viewBox='0 0 200 6' preserveAspectRatio='none' aria-hidden='true'><rect width='200' height='6' fill='var(--pl-faint)'/>"
        f"<rect width='{200 * wide:.0f}' height='6' fill='var(--pl-{'ink' if wide >= THE_CAUSE else 'edge'})'/></svg>"
    )
    means = part_html(Text(cause_words(cause), quiet=True)) if cause_words(cause) else ""
    return (
        f"<div class='pl-cause' data-cause='{place}' tabindex='0'><p class='pl-head'><b>{escape(first_up(cause['name']))}</b><b>{share_words(cause)}</b></p>{bar}"
        f"{means}<p class='pl-decides'>{words_html(cause['decides'])}</p></div>"
    )


def expected_html(expectation: Expectation) -> str:
    """Return an expectation as a picture with its table."""
    return expectation_html(expectation.as_dict())


def judged_html(verdict: LogVerdict) -> str:
    """Return the verdict on a run, its picture, and what would look like it."""
    return verdict_html([verdict.as_dict()])


def judged_runs_html(verdicts: LogVerdicts) -> str:
    """Return the verdict on each run of a log."""
    return verdict_html([verdict.as_dict() for verdict in verdicts])
