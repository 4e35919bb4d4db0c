"""The slide on somebody's log: what was measured, which path it was, and what Peer Direct would bring."""

import re
from collections.abc import Sequence

from peerlab.base.errors import ExportError, PeerlabError
from peerlab.base.units import TIMES_SIGN, say_bytes
from peerlab.diagnosis import Diagnosis, diagnose
from peerlab.features.deck.blocks import (
    card,
    facts,
    grid,
    paper_without_ground,
    paragraphs,
    span,
    words,
)
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.paths import IN_NODE, PEER_DIRECT, path_title, path_titles
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette

_MOST_SIZES = 5
_ALIKE = 0.01
"""Share of a gain: a case that changes it by less is not shown."""


def logged(outline: Outline, compared: ComparedRuns) -> Slide:
    """Say what a log tells, and what Peer Direct would bring on the deck's cluster.

    Raises
    ------
    ExportError
        If the log cannot be read.
    """
    # Only a cluster that the outline names: else the log says itself where it is from.
    named = compared.base.cluster if "cluster" in outline.scenario else None
    try:
        diagnosis = diagnose(outline.records, named)
    except PeerlabError as problem:
        raise ExportError(f"log: {problem}") from None
    path, ahead = _path(diagnosis), diagnosis.forecast
    title = f"Your log: {path}"
    if not ahead.why_not:
        title += f"; Peer Direct would be {span(ahead.gain.low, ahead.gain.high)} as fast"
    why = f"How sure: {diagnosis.verdict}" if diagnosis.path else "Nobody can tell"
    cards = (
        card(
            _measured(diagnosis),
            7,
            title="algbw, GB/s: measured" + ("" if ahead.why_not else ", and with Peer Direct"),
            high="two-rows",
        ),
        _brings(diagnosis),
        card(paragraphs(*_evidence(diagnosis)), 5, title=why),
    )
    generator = (_titled(f"{evidence.seen}: {evidence.says}.") for evidence in diagnosis.evidence)
    return Slide(
        title,
        diagnosis.seen.says,
        grid(*cards),
        notes=(
            _titled(repr(diagnosis)),
            *generator,
            *map(_titled, diagnosis.notes),
            *map(_titled, diagnosis.warnings),
        ),
        source=f"Measured: {diagnosis.seen.source}; simulated by peerlab. Evidence and its weights: docs/diagnosis.md",
    )


def _brings(diagnosis: Diagnosis) -> str:
    """Return the card of what Peer Direct would bring, or why nobody can say."""
    ahead = diagnosis.forecast
    if ahead.why_not:
        return card(paragraphs(_titled(f"{ahead.why_not}.")), 5, title="What Peer Direct would bring")
    gain = ahead.gain
    others = facts(
        *(
            (f"if {case.says}", f"{case.gain:.2f}{TIMES_SIGN}")
            for assumption in ahead.left_out
            for case in assumption.cases[:3]
            # The first three alone: the card has no room for more.
            if abs(case.gain - gain.value) > _ALIKE * gain.value
        )
    )
    rests = (
        f"as fast as your log; {gain.value:.2f}{TIMES_SIGN} as assumed. Simulated on {ahead.cluster}; "
        f"the model is off by a factor of {ahead.spread:.2f} on this log, which is in the range."
    )
    return card(
        f"<p>With Peer Direct, at {words(say_bytes(ahead.sizes[-1]))}</p>"
        f"<p class='large'>{words(span(gain.low, gain.high))}</p><p class='note'>{words(rests)}</p>{others}",
        5,
        high="good",
    )


def _path(diagnosis: Diagnosis) -> str:
    if diagnosis.path is None:
        return "which path it took cannot be told"
    return "links inside one node" if diagnosis.path == IN_NODE else path_title(diagnosis.path)


def _measured(diagnosis: Diagnosis) -> str:
    """Draw the log's large sizes: what was measured, and with Peer Direct, pale from its low to its high end."""
    ahead, observed = diagnosis.forecast, diagnosis.seen
    forecast = not ahead.why_not
    role = "direct" if diagnosis.path == PEER_DIRECT else "copy"
    # The largest: small messages say little of a data path.
    sizes = (ahead.sizes if forecast else observed.sizes)[-_MOST_SIZES:]
    was = (ahead.measured_GBps if forecast else observed.algbw_GBps)[-_MOST_SIZES:]
    most = max([*was, *(ahead.high_GBps[-_MOST_SIZES:] if forecast else ())])
    paper = Paper(palette(PAGE))
    pitch = (_HIGH - 30) / len(sizes)
    thick = min(44.0, pitch / 3)
    for place, size in enumerate(sizes):
        y = pitch * (place + 0.5)
        paper.text((0, y), say_bytes(size), size=20, bold=True, align="left")
        _bar(paper, y - thick * 0.6 * forecast, thick, role, most, (was[place],))
        if forecast:
            # The forecast may hold more sizes than are drawn: the last of each column are these.
            rates = [each[-len(sizes) :][place] for each in (ahead.low_GBps, ahead.GBps, ahead.high_GBps)]
            _bar(paper, y + thick * 0.6, thick, "direct", most, rates)
    y, x = _HIGH - 10, 0.0
    for colour, name in (
        (role, "measured"),
        *([("direct", "with Peer Direct; pale: up to")] if forecast else []),
    ):
        paper.square((x + 8, y), 8, colour, radius=3)
        paper.text((x + 24, y), name, size=18, ink="muted", align="left")
        x += 60 + 11 * len(name)
    alt = "Measured: " + ", ".join(
        f"{say_bytes(size)} {rate:.3g} GB/s" for size, rate in zip(sizes, was, strict=True)
    )
    return paper_without_ground(paper, _WIDE, _HIGH, alt)


_WIDE, _HIGH = 640.0, 440.0


def _bar(paper: Paper, y: float, thick: float, role: str, most: float, rates: Sequence[float]) -> None:
    """Draw a rate; of three the first and the last are the ends of its range."""
    left, room = 110.0, 360.0
    long = [room * rate / most for rate in rates]
    if len(rates) > 1:
        edge = [(left + long[0], y - thick / 2), (left + long[-1], y - thick / 2)]
        paper.area([*edge, *((x, y + thick / 2) for x, _ in edge[::-1])], role)
        paper.line([(left + long[-1], y - thick / 2), (left + long[-1], y + thick / 2)], f"{role}-ink", 2)
    paper.box((left, y - thick / 2, left + long[0], y + thick / 2), role, radius=3)
    sentence = f"{rates[0]:.3g}" if len(rates) == 1 else f"{rates[0]:.3g} to {rates[-1]:.3g}"
    paper.text((left + long[-1] + 10, y), sentence, size=20, bold=True, align="left")


def _titled(text: str) -> str:
    """Return a sentence in which data paths have their titles instead of their keys."""
    sentence = _KEYS.sub(lambda match: _TITLES[match[0].lower()], text)
    return sentence[:1].upper() + sentence[1:]


_TITLES = {**path_titles(), IN_NODE: "links inside one node"}
# A whole key alone: `wire` in `wired`, or `native` in `native-ports`, is no path.
_KEYS = re.compile(rf"\b({'|'.join(map(re.escape, _TITLES))})\b(?![\w-])", re.IGNORECASE)


def _evidence(diagnosis: Diagnosis) -> list[str]:
    sentences = [_titled(f"{diagnosis.why}.")]
    return sentences + [_titled(f"{evidence.seen}: {evidence.says}.") for evidence in diagnosis.evidence[:1]]
