"""Both sides of the host switch, with what the detour costs: for the first page, and where no Python runs in a tab."""

from typing import NamedTuple

from peerlab.answer.gain import GainBand
from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.engine.simulate import simulate
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.scenario import Scenario
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


def both_sides(scenario: Scenario) -> BothSides | None:
    """Return both sides of a scenario; nothing where its cluster has one."""
    pair = detour_and_direct(scenario)
    if not pair:
        return None
    slow, fast = map(simulate, pair)
    try:
        return BothSides(slow, fast, gain_band_of(slow, fast, patient(_RANGE_S)))
    except PeerlabError:
        return BothSides(slow, fast, None)
