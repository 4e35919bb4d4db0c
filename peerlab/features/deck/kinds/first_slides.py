"""The first slides of a review: the answer, both ways beside each other, a race, and the page to play with."""

from peerlab.answer.gain import GainBand
from peerlab.answer.race import Race
from peerlab.answer.run import Run
from peerlab.base.units import say_bytes, say_count, say_percent, say_time
from peerlab.features.deck.blocks import (
    TIMES,
    GainAxis,
    card,
    change,
    grid,
    paper_without_ground,
    paragraphs,
    span,
    without_ground,
    words,
)
from peerlab.features.deck.compared_runs import SURELY, ComparedRuns
from peerlab.features.deck.kinds.step_slide import step_in_one_line
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.page.embedded import page_of
from peerlab.picture.gain_ticks import OTHERWISE
from peerlab.picture.still import node_svg
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette
from peerlab.picture.wire import wire_share
from peerlab.picture.words import alt_text, caption, waits_for
from peerlab.question.naming import told_apart

_BARS = 430.0
"""How wide the longer bar of the cover is."""
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
    sentence = f"{gain.value:.2f}{TIMES} as assumed. {gain.range_in_words()}.{beyond}"
    hero = (
        "<p class='strong'>Peer Direct against the way through the host</p>"
        f"<p class='hero'>{words(span(gain.low, gain.high))}</p><p class='strong'>as fast, in one exchange</p>"
        f"{_range_bar(gain)}<p class='note'>{words(_key(gain))}{words(beyond)}</p>"
    )
    cards = (
        card(hero, 7, high="good"),
        card(_times(compared), 5, high="good"),
        card(paragraphs(*_why(compared)), 4, title="Why it is slower today", tone="copy"),
        card(paragraphs(*_sure(compared)), 4, title="How sure we are", tone=_warns(gain)),
        card(paragraphs(step_in_one_line(outline, compared)), 4, title="What a training gets", tone="direct"),
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


def _range_bar(gain: GainBand) -> str:
    """Draw from where to where the gain lies, and below it the same on another wiring."""
    axis = GainAxis([gain.least, gain.most], 24, 616)
    # The first is the wiring that is assumed; the cover has room for one other.
    others = gain.wired[1:2]
    bottom = 34.0 + 26 * len(others)
    axis.draw(0, bottom)
    axis.bar(18, gain.low, gain.value, gain.high)
    for place, case in enumerate(others):
        axis.bar(46 + 26 * place, case.low, case.gain, case.high, OTHERWISE)
    alt = f"The gain: {span(gain.low, gain.high)}" + "".join(
        f"; {span(case.low, case.high)} if {case.says}" for case in others
    )
    return paper_without_ground(axis.paper, 640, bottom + 32, alt)


def _key(gain: GainBand) -> str:
    """Say what the bars are."""
    if not gain.wired:
        return f"Bar: assumed figures at the ends of their ranges, and the law's error. Circle: as assumed, {gain.value:.2f}{TIMES}."
    assumed, other = gain.wired[:2]
    slower = "; orange: slower than today" if gain.least < 1 else ""
    return f"Green: {assumed.says} (assumed); circle: this run, {gain.value:.2f}{TIMES}. Grey: {other.says}{slower}."


def _about(compared: ComparedRuns) -> str:
    s = compared.base
    return f"{s.hardware.title}, {say_count(s.nodes, 'node')}, {s.collective_record.title} of {say_bytes(s.nbytes)}"


def figures_said(compared: ComparedRuns) -> str:
    """Return what the figures of a slide rest on, as its foot says it."""
    return f"Simulated by peerlab: {_about(compared)}; {compared.base.hardware.counted} †"


def _times(compared: ComparedRuns) -> str:
    """Draw what an exchange takes on both ways; pale: what the assumptions may add."""
    host, peer, gain = compared.detour, compared.direct, compared.gain_band
    # What the exchange takes by Peer Direct if its gain is at the low end; the wide edge of the pale bar.
    slowest = host.time_s / gain.low
    paper, wide = Paper(palette(PAGE)), _BARS / max(host.time_s, slowest)
    alt = f"One exchange: {say_time(host.time_ps)} through the host, {say_time(peer.time_ps)} with Peer Direct, {slowest * 1e3:.3g} ms if the gain is {gain.low:.2f} only."
    paper.text((0, 14), "One exchange", size=17, ink="good-ink", align="left")
    for y, name, run, role in ((60, "through the host", host, "copy"), (178, "Peer Direct", peer, "direct")):
        paper.text((0, y), name, size=19, bold=True, ink=f"{role}-ink", align="left")
        # not at the end of a bar, which may be that of the pale one
        paper.text((_BARS, y), say_time(run.time_ps), size=22, bold=True, align="right")
        end = wide * run.time_s
        if role == "direct" and slowest > run.time_s:
            paper.area(
                [(end, y + 16), (wide * slowest, y + 16), (wide * slowest, y + 74), (end, y + 74)], role
            )
            paper.line([(wide * slowest, y + 16), (wide * slowest, y + 74)], f"{role}-ink", 2)
        paper.box((0, y + 16, end, y + 74), role, radius=3)
    paper.text(
        (0, 288),
        f"pale: {slowest * 1e3:.3g} ms, if the gain is {gain.low:.2f}{TIMES} only",
        size=15,
        ink="good-ink",
        align="left",
    )
    return paper_without_ground(paper, 440, 304, alt)


def _why(compared: ComparedRuns) -> tuple[str, str]:
    host, peer = compared.detour, compared.direct
    copies = f"Every byte is copied {host.copies_per_byte:.2g} times on its way and touches host memory."
    return copies, f"{waits_for(host)[:1].upper()}{waits_for(host)[1:]}; with Peer Direct: {waits_for(peer)}."


def _sure(compared: ComparedRuns) -> tuple[str, str]:
    gain = compared.gain_band
    # `least` counts other wirings, too; `low` holds for the one that is assumed.
    if gain.least >= SURELY:
        return "Whatever is assumed, Peer Direct is faster; by how much is the range above.", _moves(gain)
    if gain.wired and gain.low >= SURELY:
        others = "; ".join(f"{span(case.low, case.high)} if {case.says}" for case in gain.wired[1:])
        return f"Faster if {gain.wired[0].says}. That is assumed: {others}.", ""
    return (
        "Not sure that it is faster: at its low end Peer Direct gains nothing, or hardly anything.",
        _moves(gain),
    )


def _warns(gain: GainBand) -> str:
    """Return the role of what is said of how sure a gain is: a warning where it may be a loss."""
    return "edge" if gain.least >= SURELY else "hot"


def _moves(gain: GainBand) -> str:
    return f"What moves it most: {gain.decisive.figure.label}." if gain.decisive else ""


def compare(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show both ways of the bytes beside each other, and what changes."""
    host, peer = compared.detour, compared.direct
    sides = (("Before: through the host", host, "copy"), ("After: Peer Direct", peer, "direct"))
    shown = [
        card(
            f"<div class='head'><h3>{words(name)}</h3><b>{words(say_time(run.time_ps))}</b></div>{without_ground(node_svg(run, theme=PAGE))}"
            f"<p>{words(_way(run))}</p>",
            6,
            tone=role,
        )
        for name, run, role in sides
    ]
    title = "The detour climbs to host memory; Peer Direct stays below it"
    about = f"One PCIe switch of a node, at a moment in the middle; {say_count(compared.base.nodes, 'node')} do the same at the same time"
    notes = (alt_text(host), caption(host), alt_text(peer), caption(peer))
    # Room for four: those that tell the ways apart come first.
    return Slide(
        title, about, grid(*shown, *_tiles(host, peer)[:4]), notes=notes, source=figures_said(compared)
    )


def _tiles(host: Run, peer: Run) -> list[str]:
    """Return what changes: what tells the two ways apart first, bus bandwidth where something else says nothing."""
    bottleneck, was, now = host.bottleneck, host.dram_bytes_per_byte, peer.dram_bytes_per_byte
    tiles = [change("copies of a byte", f"{host.copies_per_byte:.2g}", f"{peer.copies_per_byte:.2g}")]
    if was != now:
        tiles.append(change("host memory, bytes per byte", f"{was:.2g}", f"{now:.2g}"))
    if bottleneck and bottleneck.resource and abs(bottleneck.share - host.wire_busy) >= _APART:
        share = peer.busy.get(bottleneck.kind, 0.0)
        tiles.append(change(f"{bottleneck.label}, busy", say_percent(bottleneck.share), say_percent(share)))
    return [
        *tiles,
        change("wire busy", wire_share(host), wire_share(peer)),
        change("bus bandwidth, GB/s", f"{host.busbw_GBps:.3g}", f"{peer.busbw_GBps:.3g}"),
        change("CPU cores busy", f"{host.cores_busy:.2g}", f"{peer.cores_busy:.2g}"),
    ]


_APART = 0.02
"""A bottleneck that is as busy as the wire says nothing that the wire's tile does not."""


def _way(run: Run) -> str:
    if run.copies_per_byte:
        return "Into host memory and out of it again, at both ends."
    return "Straight between device memory and NIC."


def race(outline: Outline, compared: ComparedRuns) -> Slide:
    """Let both ways run on one clock; in print the moment at which the faster one is through."""
    both = Race((compared.detour, compared.direct))
    won = min(run.time_ps for run in both.runs)
    return Slide(
        f"Race: {' against '.join(told_apart([run.scenario for run in both.runs]))}",
        live=page_of("race", both, layout="slide", theme=outline.theme),
        # Just behind the end of the winner, so that the still shows it through, and the other one on its way.
        still=min(1.0, won / both.end_ps + _AFTER),
        notes=("Press Race. Both begin at the same moment; the wedge is how far the faster one is ahead.",),
        source=figures_said(compared),
    )


_AFTER = 1e-5
"""Of a race's length: so long after the winner is through it is printed, beyond any rounding."""


def live(outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the page that plays."""
    return Slide(
        "Try it: host bottleneck, registration cache, nodes",
        live=page_of("run", compared.detour, mode="figure", theme=outline.theme),
        still=_MIDDLE,
        notes=(
            "Switch the host bottleneck off and on; then the cache; then take more nodes. PageDown turns the page from there.",
        ),
        source=figures_said(compared),
    )


_MIDDLE = 0.43
"""Of a run: the moment that is printed."""
