"""Many runs of what is shown, with its noise: their times fall into piles while they are simulated."""

import asyncio
import threading
from collections.abc import Callable
from html import escape

import ipywidgets as w

from peerlab.app.after_picture import AfterPicture
from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.features.tails.filling import filling
from peerlab.features.tails.tails import Tails, usual_seeds
from peerlab.features.tails.tails_sheets import tails_html
from peerlab.page.widgets import classed, unfold, way_back
from peerlab.question.scenario import Scenario

_WITHOUT_A_PAGE = 20
"""Runs where no event loop could tell of more."""


class TailsPanel(AfterPicture):
    """Simulates what `current` returns with one seed after the other, while the panel is open.

    Attributes
    ----------
    toggle:
        The button that shows and hides the panel.
    panel:
        A way back, how many runs there are, and their picture.
    picture:
        The runs so far.
    """

    def __init__(self, current: Callable[[], Scenario]) -> None:
        super().__init__()
        self._current = current
        self._of: Scenario | None = None
        self._told = 0
        self.toggle = classed(
            w.ToggleButton(description="Many runs", tooltip="How long it takes in many runs with noise, and what the slow end costs"),
            *("pl-plain", "pl-tails-button"),
        )  # fmt: skip
        self.said, self.picture = w.HTML(), w.HTML()
        self._back = way_back(self.toggle)
        self.panel = classed(w.VBox([self._back, self.said, self.picture]), "pl-tails-panel")
        unfold(self.toggle, self.panel)
        self.toggle.observe(lambda event: self._turned(opened=event["new"]), "value")

    def _turned(self, *, opened: bool) -> None:
        self.show()
        if opened:
            self._back.focus()  # the button that was pressed is hidden

    def show(self) -> None:
        """Show runs of what the lab shows now, if the panel is open."""
        if not self.toggle.value:
            self.rest()
            return
        scenario = self._current()
        # The same runs go on and do not begin anew.
        if scenario == self._of:
            return
        self.rest()
        self._of = scenario
        self.begin(lambda: self._fill(scenario), lambda: self._fill_at_once(scenario))

    def rest(self) -> None:
        """Give up what is being simulated, and show nothing."""
        self.cancel()
        self._of = None
        self._told, self.said.value, self.picture.value = 0, "", ""

    async def _fill(self, scenario: Scenario) -> None:
        stop = threading.Event()

        def progress(_done: int, _total: int) -> None:
            if stop.is_set():
                raise Cancelled("something else is wanted")

        self.said.value = "<p role='status'>The first runs are simulated ...</p>"
        some = filling(scenario, progress=progress)
        try:
            while found := await asyncio.to_thread(next, some, None):
                self._tell(found)
        except PeerlabError as problem:
            self._refuse(problem)
        finally:
            stop.set()  # the thread ends soon after this is cancelled

    async def _fill_at_once(self, scenario: Scenario) -> None:
        try:
            for found in filling(scenario, _WITHOUT_A_PAGE):
                self._tell(found)
        except PeerlabError as problem:
            self._refuse(problem)

    def _tell(self, found: Tails) -> None:
        first = found.paths[0]
        runs, most = len(first.times_ps), usual_seeds([path.scenario for path in found.paths])
        assumed = f" ({', '.join(found.assumed)} assumed: set your own in Trouble)" if found.assumed else ""
        both = " of each path" if len(found.paths) > 1 else ""
        words = f"{runs:,} of {most:,} runs{both} with {first.scenario.noise.in_words}{assumed}"
        self.said.value = f"<p role='status'>{escape(words)}.</p>"
        self.picture.value = tails_html(found, since=self._told)
        self._told = runs

    def _refuse(self, problem: PeerlabError) -> None:
        self.said.value = f"<div class='pl-error'><p role='alert'>{escape(str(problem))}</p></div>"
