"""The slides of an architecture review, every figure from its runs."""

# A deck is simulated, not templated. Titles are sentences that follow from its runs, and so does the
# recommendation: its verdict is for Peer Direct only if that holds with every assumed figure at its worst
# end and with every alternative, and against it only if nothing makes it faster; else it says what to find
# out first. *Surely faster* means 1.02 times or more at the low end of the range. A deck is one file; race
# and live slide are exported pages in frames, and so they are printed: light, at a fixed moment.

from collections.abc import Callable
from dataclasses import replace

from peerlab.answer.run import Run
from peerlab.base.errors import ExportError
from peerlab.base.units import TIMES_SIGN
from peerlab.engine.loop.event_loop import Progress
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds import (
    alternative_machines,
    appendix_slides,
    charting,
    evidence_slides,
    first_slides,
    jobs_slide,
    log_slide,
    neighbour_slide,
    sure_slide,
    tail_slide,
    two_clusters,
    verdict_slides,
    wiring_slide,
)
from peerlab.features.deck.reading.outline import Outline, SlidePlan
from peerlab.features.deck.slide import Slide
from peerlab.features.deck.training import Training
from peerlab.picture.still import still_svg
from peerlab.picture.theme import PAGE
from peerlab.picture.words import alt_text, caption, waits_for


def check(outline: Outline, compared: ComparedRuns) -> None:
    """Refuse what a slide would refuse, the cheap checks first: nothing is simulated for that but, last of all, a training's exchange.

    Raises
    ------
    ExportError
        If a slide is to show what cannot be, or there is nothing to show.
    """
    shown = {plan.show for plan in outline.slides}
    # Cheapest first: a file that cannot be read is said before a training is simulated.
    if not any(_may_have(kind, outline, compared) for kind in shown):
        raise _nothing_left()
    if "log" in shown and outline.log:
        _ = outline.records
    if "clusters" in shown and outline.beside:
        two_clusters.beside(outline, compared)
    if shown & {"training", "title"} and outline.training:
        compared.check_training(outline.training)


def slides(outline: Outline, compared: ComparedRuns, progress: Progress | None = None) -> list[Slide]:
    """Return the slides of an outline; one on training is left out where no training is given.

    `progress` is called with slides made and slides in all.

    Raises
    ------
    ExportError
        If none of them has something to show.
    """
    plans = [plan for plan in outline.slides if _has(plan.show, outline, compared)]
    if not plans:
        raise _nothing_left()
    made = []
    for plan in plans:
        made.append(_own(plan, _MAKERS[plan.show](outline, compared)))
        if progress:
            progress(len(made), len(plans))
    return made


def _has(kind: str, outline: Outline, compared: ComparedRuns) -> bool:
    """Return whether there is something for a kind of slide to show."""
    if not _may_have(kind, outline, compared):
        return False
    if kind == "training":
        return isinstance(outline.training, Training) or compared.simulated_step(outline.training) is not None
    return kind != "wiring" or bool(compared.gain_band.wired)


def _may_have(kind: str, outline: Outline, compared: ComparedRuns) -> bool:
    """Return whether there may be something, as far as nothing needs to be simulated to know it."""
    if kind == "wiring":
        return compared.may_be_wired_otherwise
    return {"log": bool(outline.log), "clusters": bool(outline.beside)}.get(kind, True)


def _nothing_left() -> ExportError:
    return ExportError(
        "no slide is left: log needs --log FILE, clusters needs --beside CLUSTER, wiring an assumed wiring"
    )


def _own(plan: SlidePlan, slide: Slide) -> Slide:
    """Put the outline's own words before the slide's."""
    # A paragraph of the outline is one line, however it was wrapped there.
    paragraphs = tuple(" ".join(part.split()) for part in plan.text.split("\n\n") if part.strip())
    return replace(
        slide,
        title=plan.title or slide.title,
        titled=slide.titled or bool(plan.title),
        # Cards fill the slide: words of one's own stand above them; else they lead the lines below the
        # pictures.
        lines=slide.lines if slide.body else paragraphs + slide.lines,
        own=paragraphs if slide.body else (),
        notes=((plan.notes,) if plan.notes else ()) + slide.notes,
    )


def _detour(_outline: Outline, compared: ComparedRuns) -> Slide:
    run = compared.detour
    line = f"Every byte is copied {run.copies_per_byte:.2g} times on its way, {run.copies_per_byte / 2:.2g} at each end."
    return _still(run, f"Through the host: {waits_for(run)}", line)


def _direct(_outline: Outline, compared: ComparedRuns) -> Slide:
    run = compared.direct
    alone = "" if run.copies_per_byte or run.cores_busy else "; host memory and CPU are left alone"
    line = f"The same exchange, {compared.gain:.2f}{TIMES_SIGN} as fast{alone}."
    return _still(run, f"Peer Direct: {waits_for(run)}", line)


def _still(run: Run, title: str, line: str) -> Slide:
    picture = still_svg(run, large=True, bare=True, theme=PAGE)
    return Slide(title, pictures=(picture,), lines=(line,), notes=(alt_text(run), caption(run)))


def _text(_outline: Outline, _compared: ComparedRuns) -> Slide:
    return Slide("")


_MAKERS: dict[str, Callable[[Outline, ComparedRuns], Slide]] = {
    "title": first_slides.cover,
    "compare": first_slides.compare,
    "race": first_slides.race,
    "live": first_slides.live,
    "log": log_slide.logged,
    "clusters": two_clusters.clusters,
    "sure": sure_slide.sure,
    "wiring": wiring_slide.wiring,
    "training": charting.training,
    "elsewhere": evidence_slides.elsewhere,
    "scale": evidence_slides.scale,
    "alternatives": alternative_machines.alternatives,
    "limits": evidence_slides.limits,
    "recommendation": verdict_slides.recommendation,
    "detour": _detour,
    "direct": _direct,
    "time": charting.time,
    "nodes": charting.nodes,
    "registration": appendix_slides.registration,
    "assumptions": appendix_slides.assumptions,
    "sources": appendix_slides.sources,
    "tails": tail_slide.tails,
    "p99": tail_slide.at_p99,
    "neighbours": neighbour_slide.neighbours,
    "jobs": jobs_slide.jobs,
    "text": _text,
}
