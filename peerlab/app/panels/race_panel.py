"""The Race panel: what is shown against what it is compared with, on one clock."""

from collections.abc import Callable

import ipywidgets as w

from peerlab.answer.race import Race
from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.features.race.race_page import race_frame
from peerlab.page.widgets import classed, refusal_html, unfold, way_back


class RacePanel:
    """Plays what `pair` returns: two runs; it raises what is wrong in words.

    Attributes
    ----------
    toggle:
        The button that shows and hides the panel.
    panel:
        A way back, and the race.
    frame:
        The race, in a frame.
    """

    def __init__(self, pair: Callable[[], tuple[Run, Run]]) -> None:
        self._pair = pair
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
                self.frame.value = race_frame(Race(pair))
            self._shown = scenarios
        except PeerlabError as problem:
            self._shown = []
            self.frame.value = refusal_html(problem)
