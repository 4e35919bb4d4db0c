"""The footer: what the colours mean, what was simulated, and what the figures rest on."""

from typing import TypedDict

from peerlab.answer.run import Run
from peerlab.model.hardware import Figure, named
from peerlab.model.nic_wiring import Wiring
from peerlab.model.paths import REDUCE
from peerlab.picture.picture import Picture
from peerlab.picture.theme import STAGE_COLOURS, stage_role
from peerlab.picture.words import beyond, caption, colours
from peerlab.question.effective_figures import effective_figure, is_computed
from peerlab.question.scenario import Scenario

_ADDING_UP = stage_role(REDUCE.name)


class SourceLine(TypedDict):
    """One line of the list of sources."""

    text: str
    assumed: bool


class Sources(TypedDict):
    """What the simulation rests on."""

    title: str
    lines: list[SourceLine]


class FooterParcel(TypedDict):
    """What the footer gets for a run."""

    colours: list[list[str]]
    """Role and meaning of every colour that the run uses."""
    greys: list[list[str]]
    """The same of greys that stand in the data path without a word; others have lanes of their own, which are named."""
    caveat: str
    """What a reader has to know at once; empty: nothing."""
    simulated: list[str]
    """What was simulated, and what the communication library's law does not meet here, as sentences."""
    sources: Sources


def footer(picture: Picture) -> FooterParcel:
    """Return what the page needs to show the footer of a run."""
    run, s = picture.run, picture.run.scenario
    key = colours(run)
    return {
        "colours": [[role, text] for role, text in key if role in STAGE_COLOURS or s.sums_between],
        "greys": [[role, text] for role, text in key if role == _ADDING_UP and not s.sums_between],
        "caveat": beyond(s),
        "simulated": [
            sentence
            for sentence in (caption(run, picture, unsolved=False), s.library_misfit, *s.library_unsolved)
            if sentence
        ],
        "sources": sources(run),
    }


def sources(run: Run) -> Sources:
    """Return what the simulation rests on: what it was fitted on, every figure with source or assumption, what is left out."""
    hardware = run.scenario.hardware
    assumed = hardware.assumptions
    sourced = [figure for figure in hardware.stated if not figure.assumption]
    title = f"{len(hardware.stated)} figures: {len(sourced)} with sources, {len(assumed)} assumed (†)"
    fitted = f"Some figures were fitted on {hardware.fitted_on}: elsewhere an extrapolation."
    rows = [(fitted, True)] * bool(hardware.fitted_on)
    # What is assumed comes first: it is what a reader should doubt.
    rows += [
        (say_figure(figure) + _here(run.scenario, figure), bool(figure.assumption))
        for figure in (*assumed, *sourced)
    ]
    rows += [
        (f"{named(key)}: left out, never a limit. {why[:1].upper()}{why[1:]}.", False)
        for key, why in hardware.leaves_out.items()
    ]
    return {"title": title, "lines": [{"text": text, "assumed": assumed} for text, assumed in rows]}


def _here(scenario: Scenario, figure: Figure | Wiring) -> str:
    """Return what this question makes of a figure, as a sentence; empty where it takes it as it is written."""
    if isinstance(figure, Wiring) or not is_computed(scenario, figure.key):
        return ""
    met = effective_figure(scenario, figure.key, frozenset((figure.key,)))
    return f" In this simulation {met.text}: {'; '.join(map(str, met.computed))}."


def say_figure(figure: Figure | Wiring) -> str:
    """Return a figure with basis, assumption and source as one line; where the NICs hang likewise."""
    basis = f", {figure.basis}" if isinstance(figure, Figure) else ""
    origin = f", {figure.origin}" if isinstance(figure, Figure) and figure.origin else ""
    assumed = f" Assumed: {figure.assumption}." if figure.assumption else ""
    source = f" Source: {figure.source}." if figure.source else ""
    sign = "† " if figure.assumption else ""
    return f"{sign}{figure.named}: {figure}{basis}{origin}.{assumed}{source}"
