"""The first slides of a review: the answer, both ways beside each other, a race, and the page to play with."""

from peerlab.answer.gain import GainBand
from peerlab.answer.race import Race
from peerlab.answer.run import Run
from peerlab.base.units import PS_PER_S, TIMES_SIGN, say_bytes, say_count, say_percent, say_time
from peerlab.features.deck.blocks import (
    card,
    change,
    grid,
    paper_without_ground,
    paragraphs,
    side,
    span,
    without_ground,
    words,
)
from peerlab.features.deck.compared_runs import SURELY, ComparedRuns
from peerlab.features.deck.kinds.step_slide import step_in_one_line
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.stages import stage_kind
from peerlab.page.embedded import page_of
from peerlab.picture.still_of_node import node_svg
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette, stage_role
from peerlab.picture.wire import wire_share
from peerlab.picture.words import alt_text, caption, colours, waits_for
from peerlab.question.naming import told_apart

_BARS, _PITCH, _THICK = 430.0, 120.0, 60.0
"""On the cover: how wide the longer bar is, from one to the next, and how thick they are."""
ASSUMED = (
    "Everything here is simulated from figures with their sources; those marked with a dagger are assumed."
    " A band says from where to where an answer may lie if all assumed figures lie at the ends of their ranges and the law of the library is as far off as on machines that were left out; what is assumed"
    " without a range, such as where the NICs hang, is simulated otherwise beside it."
)


def cover(outline: Outline, compared: ComparedRuns) -> Slide:
    """Say what is compared, and the answer as a range."""
    gain = compared.gain_band
    beyond = (
        " More ranks than the vendor's library allows: an extrapolation."
        if compared.base.extrapolates
        else ""
    )
    sentence = f"{gain.value:.2f}{TIMES_SIGN} as assumed. {gain.range_in_words()}.{beyond}"
    if_wired = (
        f"if {gain.wired[0].says} \u2020" if gain.wired else "whatever is assumed within its range \u2020"
    )
    hero = (
        f"<p class='hero'>{words(span(gain.low, gain.high))}</p><p class='strong'>as fast by Peer Direct</p>"
        f"<p>{words(if_wired)}{words(beyond)}</p>"
    )
    cards = (
        card(f"<div class='pair'><div>{hero}</div>{times_drawn(compared)}</div>", 12, high=faster(gain)),
        card(paragraphs(*_why(compared)), 4, title="Why it is slower today"),
        card(paragraphs(*_sure(compared)), 4, title="How sure we are"),
        card(paragraphs(step_in_one_line(outline, compared)), 4, title="What a training gets"),
    )
    what = ". ".join(line for line in (_about(compared), outline.subtitle) if line)
    return Slide(
        outline.title,
        what,
        grid(*cards),
        notes=(sentence, ASSUMED),
        source=figures_said(compared),
        cover=True,
    )


def _about(compared: ComparedRuns, nbytes: int | None = None) -> str:
    s = compared.base
    return f"{s.hardware.title}, {say_count(s.nodes, 'node')}, {s.collective_record.title} of {say_bytes(nbytes or s.nbytes)}"


def figures_said(compared: ComparedRuns, nbytes: int | None = None) -> str:
    """Return what the figures of a slide rest on, as its foot says it; `nbytes`: of another message than the deck's."""
    return f"Simulated by peerlab: {_about(compared, nbytes)}; {compared.base.hardware.counted} †"


def longest_s(compared: ComparedRuns) -> float:
    """Return what an exchange takes at most, on either way, seconds."""
    return max(compared.detour.time_s, compared.detour.time_s / compared.gain_band.low)


def times_drawn(
    compared: ComparedRuns,
    full_s: float = 0.0,
    *,
    wide: float = _BARS,
    pitch: float = _PITCH,
    thick: float = _THICK,
    waits: bool = False,
) -> str:
    """Draw what an exchange takes on both ways, bars of `full_s` seconds as wide as the drawing, with what they wait for below them if `waits`; pale: from the high end of the gain to its low end."""
    host, gain = compared.detour, compared.gain_band
    ends = host.time_s / gain.high, host.time_s / gain.low
    took = _between(ends)
    paper, scale = Paper(palette(PAGE)), (wide - 1) / (full_s or longest_s(compared))
    alt = f"One exchange: {say_time(host.time_ps)} through the host, {took} with Peer Direct."
    rows = (
        ("through the host", host, "copy", say_time(host.time_ps), (host.time_s,) * 2),
        ("Peer Direct", compared.direct, "direct", took, ends),
    )
    for y, (name, run, role, says, (sure, most)) in zip((20.0, 20.0 + pitch), rows, strict=True):
        paper.text((0, y), name, size=20, bold=True, ink=f"{role}-ink", align="left")
        paper.text((wide, y), says, size=22, bold=True, align="right")
        left, right, top, bottom = scale * sure, scale * most, y + 18, y + 18 + thick
        paper.box((0, top, left, bottom), role, radius=3)
        if right > left:
            paper.area([(left, top), (right, top), (right, bottom), (left, bottom)], role)
            paper.line([(right, top), (right, bottom)], f"{role}-ink", 2)
        if waits:
            paper.text((0, bottom + 20), f"waits for {waits_for(run)}", size=18, ink="muted", align="left")
    return paper_without_ground(paper, wide, 44 + pitch + thick + (24 if waits else 0), alt)


def _between(ends_s: tuple[float, float]) -> str:
    """Return from what to what an exchange takes, both in the unit of the longer time."""
    number, unit = say_time(ends_s[1] * PS_PER_S).split(" ")
    return f"{ends_s[0] / ends_s[1] * float(number):.3g} to {number} {unit}"


def _why(compared: ComparedRuns) -> tuple[str, str]:
    host, waits = compared.detour, waits_for(compared.detour)
    return (
        f"Every byte is copied {host.copies_per_byte:.2g} times.",
        f"{waits[:1].upper()}{waits[1:]}.",
    )


def _sure(compared: ComparedRuns) -> tuple[str, str]:
    gain = compared.gain_band
    # `least` counts other wirings, too; `low` holds for the one that is assumed.
    if gain.least >= SURELY:
        return "Faster, whatever is assumed; by how much is the range above.", _moves(gain)
    if gain.wired and gain.low >= SURELY:
        return (
            f"The wiring is assumed: {'; '.join(f'{_in_one_line(span(case.low, case.high))} if {case.says}' for case in gain.wired[1:])}.",
            "",
        )
    return (
        "Not sure that it is faster: at its low end Peer Direct gains nothing, or hardly anything.",
        _moves(gain),
    )


def _in_one_line(words: str) -> str:
    return words.replace(" ", "\u00a0")


def faster(gain: GainBand) -> str:
    """Return how a card is set that says a gain: green where it is one over its whole range."""
    return "good" if gain.low >= 1 else ""


def _moves(gain: GainBand) -> str:
    return f"What moves it most: {gain.decisive.figure.label}." if gain.decisive else ""


def compare(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show both ways of the bytes beside each other, and what changes."""
    host, peer = compared.detour, compared.direct
    sides = (("Before: through the host", host, "copy"), ("After: Peer Direct", peer, "direct"))
    shown = [
        side(
            name, say_time(run.time_ps), without_ground(node_svg(run, theme=PAGE, large=True)), "", tone=role
        )
        for name, run, role in sides
    ]
    title = "Peer Direct stays below host memory"
    notes = (alt_text(host), caption(host), alt_text(peer), caption(peer))
    # Room for three: those that tell the ways apart come first. What a dagger means, the foot says.
    about = "Dotted: a byte's way"
    return Slide(
        title,
        about,
        grid(*shown, *_tiles(host, peer)[:3]),
        notes=notes,
        source=figures_said(compared),
        key=key_of(host, peer),
    )


def key_of(*runs: Run) -> tuple[tuple[str, str], ...]:
    """Return what the colours of slices on some paths mean, in short: each with its role, and what marks a bottleneck."""
    key: dict[str, str] = {}
    for run in runs:
        # What has no way in the picture, such as the time in flight, is not drawn.
        drawn = {stage_role(stage.name) for stage in run.scenario.stages if stage_kind(stage.name).track}
        key |= {role: says.partition(",")[0] for role, says in colours(run) if role in drawn}
    if len(set(key.values())) < len(key):  # the same from memory to memory, but by which way
        key |= {"network": stage_kind("network").says} if "network" in key else {}
        key |= {"direct": "Peer Direct"}
    return (*key.items(), ("hot", "bottleneck"))


def _tiles(host: Run, peer: Run) -> list[str]:
    """Return what changes: what tells the two ways apart first, bus bandwidth where something else says nothing."""
    bottleneck, was, now = host.bottleneck, host.dram_bytes_per_byte, peer.dram_bytes_per_byte
    tiles = [change("copies of a byte", f"{host.copies_per_byte:.2g}", f"{peer.copies_per_byte:.2g}")]
    if bottleneck and bottleneck.resource and abs(bottleneck.share - host.wire_busy) >= _APART:
        share = peer.busy.get(bottleneck.kind, 0.0)
        tiles.append(change(f"{bottleneck.label}, busy", say_percent(bottleneck.share), say_percent(share)))
    tiles.append(change("wire busy", wire_share(host), wire_share(peer)))
    if was != now:
        tiles.append(change("host memory, bytes a byte", f"{was:.2g}", f"{now:.2g}"))
    return [*tiles, change("bus bandwidth, GB/s", f"{host.busbw_GBps:.3g}", f"{peer.busbw_GBps:.3g}")]


_APART = 0.02
"""A bottleneck that is as busy as the wire says nothing that the wire's tile does not."""


def race(outline: Outline, compared: ComparedRuns) -> Slide:
    """Let both ways run on one clock; in print the moment at which the faster one is through."""
    both = Race((compared.detour, compared.direct))
    won = min(run.time_ps for run in both.runs)
    return Slide(
        f"Race: {' against '.join(told_apart([run.scenario for run in both.runs]))}",
        live=page_of("race", both, layout="slide", theme=outline.theme, framed=True),
        # Just behind the end of the winner, so that the still shows it through, and the other one on its way.
        still=min(1.0, won / both.end_ps + _AFTER),
        notes=("Press Start. Both begin at the same moment; the wedge is how far the faster one is ahead.",),
        source=figures_said(compared),
    )


_AFTER = 1e-5
"""Of a race's length: so long after the winner is through it is printed, beyond any rounding."""


def live(outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the page that plays."""
    return Slide(
        "Try it: switch from the way through the host to Peer Direct",
        live=page_of("run", compared.detour, mode="figure", theme=outline.theme, framed=True),
        titled=True,
        still=_MIDDLE,
        notes=(
            "Switch the host bottleneck off and on; then the cache; then take more nodes. PageDown turns the page from there.",
        ),
        source=figures_said(compared),
    )


_MIDDLE = 0.43
"""Of a run: the moment that is printed."""
