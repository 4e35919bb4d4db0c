"""The slide that asks the same on a second cluster."""

from peerlab.base.errors import ExportError, PeerlabError
from peerlab.base.units import say_bytes, say_count
from peerlab.features.deck.blocks import facts, grid, side, span
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import longest_s, times_drawn
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide


def beside(outline: Outline, compared: ComparedRuns) -> ComparedRuns:
    """Return the same question on the second cluster; nothing is simulated yet.

    Raises
    ------
    ExportError
        If the second cluster is unknown, is the first one again, or lacks one of the paths.
    """
    try:
        other = ComparedRuns({**outline.scenario, "cluster": outline.beside}, compared.simulate)
    except PeerlabError as problem:
        raise ExportError(f"beside: {problem}") from None
    # By what they hold: one machine may have two names, or a file of its own.
    if other.base.hardware == compared.base.hardware:
        raise ExportError(f"beside: {other.base.hardware.name} is the deck's own cluster; give another one")
    return other


def clusters(outline: Outline, compared: ComparedRuns) -> Slide:
    """Show what Peer Direct gains on both clusters.

    Raises
    ------
    ExportError
        If the second cluster is unknown, is the first one again, or lacks one of the paths.
    """
    other = beside(outline, compared)
    both = (compared, other)
    names = [compared_runs.base.hardware.title for compared_runs in both]
    wins = max(both, key=lambda compared_runs: compared_runs.gain)
    title = f"Peer Direct gains more on {wins.base.hardware.title}"
    if abs(compared.gain / other.gain - 1) < _ALIKE:
        title = f"Peer Direct gains about as much on {' and on '.join(names)}"
    about = f"{compared.base.collective_record.title} of {say_bytes(compared.base.nbytes)}, {say_count(compared.base.nodes, 'node')}; pale: the range that assumptions leave open"
    notes = tuple(
        f"{name}: {compared_runs.gain_band!r}." for name, compared_runs in zip(names, both, strict=True)
    )
    return Slide(
        title,
        about,
        grid(*(_side(compared_runs, max(map(longest_s, both))) for compared_runs in both)),
        notes=notes,
        source="Simulated by peerlab; both clusters from their own files, with their own assumed figures †",
    )


# Gains that differ by less are called alike.
_ALIKE = 0.03


_WIDE, _PITCH, _THICK = 544.0, 170.0, 72.0
"""Of the bars of a card: how wide, from one to the next, how thick."""


def _side(compared: ComparedRuns, full_s: float) -> str:
    """Return a card of one cluster: its gain, what both ways take, on one scale for both clusters, and what they wait for."""
    gain = compared.gain_band
    picture = times_drawn(compared, full_s, wide=_WIDE, pitch=_PITCH, thick=_THICK, waits=True)
    worth = "loss" if gain.high < 1 else "gain" if gain.low >= 1 else "open"
    return side(
        compared.base.hardware.title,
        span(gain.low, gain.high),
        picture,
        facts(_if_wired_otherwise(compared)),
        gain=worth,
    )


def _if_wired_otherwise(compared: ComparedRuns) -> tuple[str, str]:
    """Return what the gain is if the NICs hang elsewhere, or that it is known where they hang."""
    elsewhere = "if the NICs hang elsewhere"
    for case in compared.gain_band.wired[1:2]:
        return elsewhere, span(case.low, case.high)
    return elsewhere, "no difference" if compared.may_be_wired_otherwise else "known: they do not"
