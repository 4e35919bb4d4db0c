"""Many runs of what is shown, with its noise: their times fall into piles while they are simulated."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

import ipywidgets as w

from peerlab.app.after_picture import AfterPicture
from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.features.tails.filling import filling
from peerlab.features.tails.tails import Tails, usual_seeds
from peerlab.features.tails.tails_sheets import tails_html
from peerlab.page.widgets import classed, refusal_html, unfold, way_back
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
    words:
        How many runs there are so far, or why there are none.
    picture:
        The runs so far.
    """

    def __init__(self, current: Callable[[], Scenario]) -> None:
        super().__init__()
        self._current = current
        self._of: Scenario | None = None
        self._runs_shown = 0
        self.toggle = classed(
            w.ToggleButton(description="Many runs", tooltip="How long it takes in many runs with noise, and what the slow end costs"),
            *("pl-plain", "pl-tails-button"),
        )  # fmt: skip
        self.words, self.picture = w.HTML(), w.HTML()
        self._back = way_back(self.toggle)
        self.panel = classed(w.VBox([self._back, self.words, self.picture]), "pl-tails-panel")
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
        self._runs_shown, self.words.value, self.picture.value = 0, "", ""

    async def _fill(self, scenario: Scenario) -> None:
        stop = threading.Event()

        def progress(_done: int, _total: int) -> None:
            if stop.is_set():
                raise Cancelled("something else is wanted")

        self.words.value = "<p role='status'>The first runs are simulated</p>"
        fillings = filling(scenario, progress=progress)
        try:
            with self._refusing():
                while tails := await asyncio.to_thread(next, fillings, None):
                    self._show_runs(tails)
        finally:
            stop.set()  # the thread ends soon after this is cancelled

    async def _fill_at_once(self, scenario: Scenario) -> None:
        with self._refusing():
            for tails in filling(scenario, _WITHOUT_A_PAGE):
                self._show_runs(tails)

    def _show_runs(self, tails: Tails) -> None:
        first = tails.paths[0]
        runs, most = len(first.times_ps), usual_seeds([path.scenario for path in tails.paths])
        assumed = f" ({', '.join(tails.assumed)} assumed: set your own in Noise)" if tails.assumed else ""
        both = " of each path" if len(tails.paths) > 1 else ""
        words = f"{runs:,} of {most:,} runs{both} with {first.scenario.noise.in_words}{assumed}"
        self.words.value = f"<p role='status'>{escape(words)}.</p>"
        self.picture.value = tails_html(tails, since=self._runs_shown)
        self._runs_shown = runs

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except PeerlabError as problem:
            self.words.value = refusal_html(problem)
