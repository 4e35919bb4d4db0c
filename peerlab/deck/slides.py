"""The slides of an architecture review, every figure from its runs."""

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate

from tqdm import tqdm

from peerlab.analysis.gain import GainBand
from peerlab.analysis.run import Run
from peerlab.cluster_file.guide import where_to_find
from peerlab.deck import charting
from peerlab.deck.compared_runs import ComparedRuns
from peerlab.deck.outline import Outline, SlidePlan
from peerlab.deck.slide import Slide
from peerlab.export.page import page_html
from peerlab.model.checks import COLLECTIVE_NAMES
from peerlab.model.paths import data_path
from peerlab.units import say_bytes, say_count
from peerlab.view.how_sure import alt, how_sure_svg
from peerlab.view.still import still_svg
from peerlab.view.words import alt_text, caption, waits_for

_CLEAR = 1.05
"""From which ratio on a path is called faster."""


def slides(outline: Outline, compared: ComparedRuns) -> list[Slide]:
    """Return the slides of an outline; one on training is left out where no training is given.

    What takes longer than a second shows its progress on a terminal.
    """
    plans = [plan for plan in outline.slides if plan.show != "training" or outline.training]
    told = tqdm(plans, desc="slides", unit="slide", delay=1, leave=False, disable=None)
    return [_own(plan, _MAKERS[plan.show](outline, compared)) for plan in told]


def _own(plan: SlidePlan, slide: Slide) -> Slide:
    """Put the outline's own words before the slide's."""
    paragraphs = tuple(" ".join(part.split()) for part in plan.text.split("\n\n") if part.strip())
    return replace(
        slide,
        title=plan.title or slide.title,
        lines=paragraphs + slide.lines,
        notes=((plan.notes,) if plan.notes else ()) + slide.notes,
    )


_ASSUMED = (
    "Everything here is simulated from the figures on the last slides; those marked with a dagger are assumed."
    " A band says from where to where an answer may lie if all assumed figures lie at the ends of their ranges; what is assumed"
    " without a range, such as where the NICs hang, is simulated otherwise beside it."
)


def _cover(outline: Outline, compared: ComparedRuns) -> Slide:
    s = compared.base
    what = f"{s.hardware.title}, {say_count(s.nodes, 'node')}, {COLLECTIVE_NAMES[s.collective]} of {say_bytes(s.nbytes)}"
    answer = f"Peer Direct: {compared.gain:.2f} times as fast as the way through the host; {compared.gain_band.range_in_words()}."
    beyond = "More ranks than the vendor's library allows: an extrapolation." if s.extrapolates else ""
    lines = (outline.subtitle, what, answer, beyond)
    return Slide(outline.title, lines=tuple(line for line in lines if line), notes=(_ASSUMED,), cover=True)


def _detour(_outline: Outline, compared: ComparedRuns) -> Slide:
    run = compared.detour
    line = f"Every byte is copied {run.copies_per_byte:.2g} times on its way, {run.copies_per_byte / 2:.2g} at each end."
    return _still(run, f"Through the host: {waits_for(run)}", line)


def _direct(_outline: Outline, compared: ComparedRuns) -> Slide:
    run = compared.direct
    alone = "" if run.copies_per_byte or run.cores_busy else "; host memory and CPU are left alone"
    line = f"The same exchange, {compared.gain:.2f} times as fast{alone}."
    return _still(run, f"Peer Direct: {waits_for(run)}", line)


def _still(run: Run, title: str, line: str) -> Slide:
    return Slide(title, (still_svg(run, large=True),), (line,), notes=(alt_text(run), caption(run)))


def _live(_outline: Outline, compared: ComparedRuns) -> Slide:
    return Slide(
        "Try it: host bottleneck, registration cache, nodes",
        (still_svg(compared.uncached, large=True),),
        ("Peer Direct without its registration cache. In the deck itself this slide is alive.",),
        notes=(
            "Switch the host bottleneck off and on; then the cache; then take more nodes. PageDown turns the page from there.",
        ),
        live=page_html(compared.detour, theme="light"),
    )


def _sure(_outline: Outline, compared: ComparedRuns) -> Slide:
    gain = compared.gain_band
    if gain.least > 1:
        title = "How sure are we? Sure of the sign, whatever is assumed"
    elif gain.wired and gain.low > 1:
        title = "How sure are we? Sure of the sign, if the wiring holds"
    else:
        title = "How sure are we? Not of the sign"
    line = "Bands: the assumed figures that have a range lie at its ends. Wirings are alternatives: no one range holds them."
    return Slide(title, (how_sure_svg(gain),), (line,), notes=(alt(gain),))


def _recommendation(_outline: Outline, compared: ComparedRuns) -> Slide:
    gain, hardware = compared.gain_band, compared.base.hardware
    if gain.least > _CLEAR:
        title = "Recommendation: use Peer Direct"
    elif gain.most > _CLEAR:
        title = "Recommendation: measure before deciding"
    else:
        title = "Recommendation: stay with the way through the host"
    lines = (
        f"{compared.gain:.2f} times as fast; {_bands(gain)}.",
        _cache(compared),
        *_beyond(compared),
        (
            f"It rests on {len(hardware.figures)} figures of {hardware.title}, {len(hardware.assumptions)} of them assumed"
            f" (†). {_depends(gain)}"
        ),
        "peerlab doctor says whether a node can do Peer Direct; peerlab diagnose tells from a log which path was taken.",
    )
    return Slide(title, lines=lines, notes=(_ASSUMED,))


def _bands(gain: GainBand) -> str:
    """Return the band of each wiring that is possible; what else moves the gain only where no wiring does."""
    told = "; ".join(f"{case.low:.2f} to {case.high:.2f} times if {case.says}" for case in gain.wired)
    return told or gain.range_in_words()


def _depends(gain: GainBand) -> str:
    """Say which assumption moves the gain most, and how far."""
    one = gain.decisive
    if one is None:
        return "None of them moves the gain by 1 %."
    if gain.wired:
        told = "; ".join(f"{case.gain:.2f} times if {case.says}" for case in gain.wired)
    else:
        ends = sorted(case.gain for case in one.cases)
        told = " to ".join(dict.fromkeys(f"{end:.2f}" for end in (ends[0], ends[-1]))) + " times"
    return f"The gain depends most on {one.figure.named}: {told}. Find that out first: {where_to_find(one.figure)}."


def _beyond(compared: ComparedRuns) -> list[str]:
    """Name the way between servers that is not compared, where there is one: past the host and its NICs."""
    own = next((path for path in compared.base.hardware.paths if data_path(path).uses_own_ports), "")
    if not own:
        return []
    native, direct = compared.run(path=own).busbw_GBps, compared.direct.busbw_GBps
    return [
        f"Not compared: the devices' own ports, {native:.3g} GB/s where they join the servers (Peer Direct: {direct:.3g} GB/s)."
    ]


def _cache(compared: ComparedRuns) -> str:
    ratio = compared.detour.time_s / compared.uncached.time_s
    if compared.uncached.time_s < _CLEAR * compared.direct.time_s:
        return "Registering memory costs little here, with a cache or without."
    return f"Keep the registration cache on: without it, {ratio:.2f} times the speed of the way through the host."


def _sources(_outline: Outline, compared: ComparedRuns) -> Slide:
    hardware = compared.base.hardware
    known = list(dict.fromkeys(figure.source for figure in hardware.figures.values() if figure.source))
    shown = _that_fit(known)
    more = (
        [f"{len(known) - len(shown)} more: peerlab clusters {hardware.name}"]
        if len(known) > len(shown)
        else []
    )
    title = (
        f"{len(hardware.figures)} figures of {hardware.title}, {len(hardware.assumptions)} of them assumed"
    )
    notes = tuple(f"{f.named}, assumed: {f.assumption}." for f in hardware.figures.values() if f.assumption)
    return Slide(title, lines=(*shown, *more), notes=notes)


_LINES, _LETTERS = 42, 52
"""Lines that a slide of many has room for, and the letters of one."""


def _that_fit(texts: list[str]) -> list[str]:
    """Return the first of `texts`, as many as one slide holds."""
    lines = list(accumulate(-(-len(text) // _LETTERS) for text in texts))
    return [text for text, used in zip(texts, lines, strict=True) if used <= _LINES]


def _text(_outline: Outline, _compared: ComparedRuns) -> Slide:
    return Slide("")


_MAKERS: dict[str, Callable[[Outline, ComparedRuns], Slide]] = {
    "title": _cover,
    "detour": _detour,
    "direct": _direct,
    "live": _live,
    "time": charting.time,
    "nodes": charting.nodes,
    "registration": charting.registration,
    "training": charting.training,
    "sure": _sure,
    "recommendation": _recommendation,
    "assumptions": charting.assumptions,
    "sources": _sources,
    "text": _text,
}
