"""The Race panel: what is shown against what it is compared with, on one clock."""

from collections.abc import Callable

import ipywidgets as w

from peerlab.answer.gain import GainBand
from peerlab.answer.race import Race
from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.features.race.race_page import race_frame
from peerlab.page.widgets import classed, refusal_html, unfold, way_back
from peerlab.question.scenario import Scenario
from peerlab.study.exploration import Exploration


class RacePanel:
    """Plays what `pair` returns: two runs; it raises what is wrong in words. `band` returns the range of the second one's gain, where that is known, `exploration` tells what was shown before.

    Attributes
    ----------
    toggle:
        The button that shows and hides the panel.
    panel:
        A way back, and the race.
    frame:
        The race, in a frame.
    """

    def __init__(
        self,
        exploration: Exploration,
        pair: Callable[[], tuple[Run, Run]],
        band: Callable[[Scenario, Scenario], GainBand | None],
    ) -> None:
        self._exploration, self._pair, self._band = exploration, pair, band
        self._shown: list[object] = []
        tooltip = "Play this scenario against the one before, or against the other side of the host switch: one clock, bytes delivered"
        self.toggle = classed(
            w.ToggleButton(description="Race", tooltip=tooltip),
            *("pl-plain", "pl-race-button"),
        )
        self.frame = w.HTML()
        self.panel = classed(w.VBox([way_back(self.toggle), self.frame]), "pl-race")
        unfold(self.toggle, self.panel)
        self.toggle.observe(lambda _: self.show(), "value")

    def show(self) -> None:
        """Show the race of what the lab shows now, if the panel is open."""
        if not self.toggle.value:
            self._shown, self.frame.value = [], ""  # what is hidden plays no more
            return
        try:
            pair = self._pair()
            scenarios: list[object] = [run.scenario for run in pair]
            # The same race plays on and does not begin anew.
            if scenarios != self._shown:
                slow, fast = sorted(pair, key=lambda run: -run.time_ps)
                when = ("before", "now") if pair[0] is self._exploration.before else ("", "")
                band = self._band(slow.scenario, fast.scenario)
                self.frame.value = race_frame(Race(pair), band, when, controls=True)
            self._shown = scenarios
            # A race of both sides of the host switch is the same whichever side is on: the switch rests.
            first, second = (run.scenario for run in pair)
            both = first.with_(path=second.path) == second
            (self.panel.add_class if both else self.panel.remove_class)("pl-both-sides")
        except PeerlabError as problem:
            self._shown = []
            self.frame.value = refusal_html(problem)
