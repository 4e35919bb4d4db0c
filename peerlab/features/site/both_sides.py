"""Both sides of the host switch, with what the detour costs: for the first page, and where no Python runs in a tab."""

from typing import NamedTuple

from peerlab.answer.gain import GainBand
from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.engine.simulate import simulate
from peerlab.question.host_switch import detour_and_direct
from peerlab.study.bands import gain_band_of
from peerlab.study.patience import patient

_RANGE_S = 20
"""A range that takes longer is left out."""


class BothSides(NamedTuple):
    """Two runs that differ in the switch alone."""

    slow: Run
    """Through the host."""
    fast: Run
    """Past it."""
    band: GainBand | None
    """How many times as fast, with its range; None where that takes too long."""


def both_sides(run: Run) -> BothSides | None:
    """Return a run beside the other side; nothing where its cluster has one, or the other is impossible with its settings."""
    try:
        pair = detour_and_direct(run.scenario)
        if not pair:
            return None
        slow, fast = (run if scenario == run.scenario else simulate(scenario) for scenario in pair)
    except PeerlabError:
        return None
    try:
        return BothSides(slow, fast, gain_band_of(slow, fast, patient(_RANGE_S)))
    except PeerlabError:
        return BothSides(slow, fast, None)
