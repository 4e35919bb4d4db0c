"""The slide on where the NICs hang: the byte's way by Peer Direct as assumed, and as it may be instead."""

import re

from peerlab.answer.gain import GainCase
from peerlab.answer.run import Run
from peerlab.base.units import TIMES_SIGN, say_time
from peerlab.features.deck.blocks import facts, grid, side, span, without_ground
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.nic_wiring import Wiring
from peerlab.model.paths import PEER_DIRECT
from peerlab.picture.still_of_node import way_svg
from peerlab.picture.theme import PAGE
from peerlab.picture.words import alt_text, caption, waits_for


def wiring(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the way of a byte with the wiring that is assumed, and with the next possible one that makes a difference."""
    base_wiring = compared.base.hardware.wiring
    # There is a second one, else this slide is left out (`slides._has`).
    assumed, *others = compared.gain_band.wired
    apart = (case for case in others if abs(case.gain / assumed.gain - 1) >= _APART)
    other = next(apart, others[0])
    here, there = (compared.detour, compared.direct), _otherwise(compared, base_wiring, other)
    cards = (_side(assumed, here, " \u2020"), _side(other, there))
    notes = [
        note
        for case, (_, peer) in ((assumed, here), (other, there))
        for note in (f"If {case.says} {span(case.low, case.high)}: {alt_text(peer)}", caption(peer))
    ]
    # In brackets stands how it tells, for the speaker.
    how, _, more = base_wiring.check.replace("`", "").partition(" (")
    body = grid(*cards)
    return Slide(
        f"Find out first: {base_wiring.label}",
        f"{how}; dotted: the way by Peer Direct; \u2020: assumed",
        body,
        notes=(*notes, f"{how} ({more}" if more else f"{how}."),
        source=figures_said(compared),
        key=(("hot", "bottleneck"),) * ("--pl-hot" in body),
    )


_APART = 0.02
"""Gains that are nearer to each other look alike: two such cards would say the same."""


def _otherwise(compared: ComparedRuns, base_wiring: Wiring, case: GainCase) -> tuple[Run, Run]:
    """Return both ways with the wiring that a case is about: through the host, and by Peer Direct."""
    # By the same words: a case is of one of the wirings that the file thinks possible.
    other = next(alternative for alternative in base_wiring.possible if alternative.holds == case.says)
    wired = {"wiring": other.nic, "acs_redirect": "on" if other.acs_redirect else "auto"}
    return compared.run(**wired), compared.run(**wired, path=PEER_DIRECT)


def _side(case: GainCase, runs: tuple[Run, Run], mark: str = "") -> str:
    """Return a card: the wiring, the byte's way, and what both ways take."""
    # In few words: a row of two lines would take the picture's room.
    rows = (
        (f"{what} ({waits_for(run).replace(' of the time in', ' in')})", say_time(run.time_ps))
        for what, run in zip(("through the host", "Peer Direct"), runs, strict=True)
    )
    picture = without_ground(way_svg(runs[1], theme=PAGE))
    # What hangs so, the slide's title says.
    says = re.sub("^each NIC (hangs|has a) ", "", case.says)
    name = f"{says[:1].upper()}{says[1:]}{mark}"
    worth = "loss" if case.gain < 1 else "gain"
    return side(name, f"{case.gain:.2f}{TIMES_SIGN}", picture, facts(*rows), gain=worth)
