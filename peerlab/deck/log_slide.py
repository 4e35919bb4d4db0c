"""The slide on somebody's log: what was measured, which path it was, and what Peer Direct would bring."""

from peerlab.deck.blocks import TIMES, card, facts, grid, paragraphs, span, table, words
from peerlab.deck.compared_runs import ComparedRuns
from peerlab.deck.outline import Outline
from peerlab.deck.slide import Slide
from peerlab.errors import ExportError, PeerlabError
from peerlab.model.paths import IN_NODE, path_title
from peerlab.records.load import load
from peerlab.study.diagnosis import Diagnosis, diagnose
from peerlab.units import say_bytes

_MOST_SIZES = 6


def logged(outline: Outline, compared: ComparedRuns) -> Slide:
    """Say what a log tells, and what Peer Direct would bring on the deck's cluster.

    Raises
    ------
    ExportError
        If the log cannot be read.
    """
    named = compared.base.cluster if "cluster" in outline.scenario else None
    try:
        found = diagnose(load(outline.log), named)
    except PeerlabError as problem:
        raise ExportError(f"log: {problem}") from None
    path, ahead = _path(found), found.forecast
    title = f"Your log: {path}"
    if not ahead.why_not:
        title += f"; Peer Direct would be {span(ahead.gain.low, ahead.gain.high)} as fast"
    why = f"Why: {found.verdict}" if found.path else "Nobody can tell"
    cards = (
        card(_measured(found), 7, title="What you measured, and with Peer Direct", high="two-rows"),
        _brings(found),
        card(paragraphs(*_evidence(found)), 5, title=why, tone="hot"),
    )
    seen = (f"{one.seen}: {one.says}." for one in found.evidence)
    return Slide(
        title,
        found.seen.says,
        grid(*cards),
        notes=(repr(found), *seen, *found.notes, *found.warnings),
        source=f"Measured: {found.seen.source}; simulated by peerlab. Evidence and its weights: docs/diagnosis.md",
    )


def _brings(found: Diagnosis) -> str:
    """Return the card of what Peer Direct would bring, or why nobody can say."""
    ahead = found.forecast
    if ahead.why_not:
        return card(paragraphs(f"{ahead.why_not}."), 5, title="What Peer Direct would bring", tone="hot")
    gain = ahead.gain
    others = facts(
        *((f"if {case.says}", f"{case.gain:.2f}{TIMES}") for one in ahead.left_out for case in one.cases[:3])
    )
    rests = (
        f"as fast as your log; {gain.value:.2f}{TIMES} as assumed. Simulated on {ahead.cluster}; "
        f"the model is off by a factor of {ahead.spread:.2f} on this log, which is in the range."
    )
    return card(
        f"<p>With Peer Direct, at {words(say_bytes(ahead.sizes[-1]))}</p>"
        f"<p class='large'>{words(span(gain.low, gain.high))}</p><p class='note'>{words(rests)}</p>{others}",
        5,
        high="good",
    )


def _path(found: Diagnosis) -> str:
    if found.path is None:
        return "which path it took cannot be told"
    return "links inside one node" if found.path == IN_NODE else path_title(found.path)


def _measured(found: Diagnosis) -> str:
    """Return the table of the log's large sizes."""
    ahead, seen = found.forecast, found.seen
    if ahead.why_not:
        some = list(zip(seen.sizes, seen.algbw_GBps, strict=True))[-_MOST_SIZES:]
        return table(("message", "measured"), [(say_bytes(size), f"{rate:.3g} GB/s") for size, rate in some])
    rows = [
        (say_bytes(size), f"{was:.3g} GB/s", f"{now:.3g} GB/s", span(now_low, now_high))
        for size, was, now, now_low, now_high in zip(ahead.sizes, ahead.measured_GBps, ahead.GBps, ahead.low_ratio, ahead.high_ratio, strict=True)
    ][-_MOST_SIZES:]  # fmt: skip
    return table(("message", "measured", "Peer Direct", "gain, range"), rows) + paragraphs(
        "Algorithm bandwidth: size over time."
    )


def _evidence(found: Diagnosis) -> list[str]:
    told = [f"{found.why[:1].upper()}{found.why[1:]}."]
    return told + [f"{one.seen}: {one.says}." for one in found.evidence[:2]]
