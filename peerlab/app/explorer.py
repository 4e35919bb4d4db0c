"""The explorer: controls, page and what runs in the background, of one scenario."""

# The first explorer is shown when all cells have run. JupyterLab goes to the end of a notebook then. No
# setting changes that, and a plug-in would have to be installed; the explorer's own script is in the page
# already (`page/after_run.js`): it waits until no prompt is a star and scrolls to itself. It does nothing
# if no later cell runs, if it is not the notebook's first, or if the reader has scrolled, clicked or typed.

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from peerlab.answer.run import Run
from peerlab.app.controls import Controls
from peerlab.app.curves_in_background import CurvesInBackground
from peerlab.app.figures_widget import FiguresWidget
from peerlab.app.free_memory import give_free_memory_back
from peerlab.app.late_in_background import LatenessInBackground
from peerlab.app.panels.exporting import Exporting, Shown
from peerlab.app.panels.machine_answers import MachineAnswers
from peerlab.app.panels.machine_panel import OwnMachine
from peerlab.app.panels.measured_points import MeasuredPoints
from peerlab.app.panels.race_panel import RacePanel
from peerlab.app.panels.tails_panel import TailsPanel
from peerlab.app.ratio_in_background import RatioInBackground
from peerlab.app.runs import PATIENCE_S, Background, Runs, call_in, give_turns, in_all, running_loop, so_far
from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.page.widgets import Changes, Spoken, close_all
from peerlab.picture.curve_scenarios import AXES
from peerlab.picture.payload import payload
from peerlab.picture.timeline import critical
from peerlab.question.scenario import Scenario
from peerlab.records import Records
from peerlab.study.exploration import Exploration
from peerlab.study.patience import TooSlow, refuse_too_many_to_show

if TYPE_CHECKING:
    from peerlab.app.panels.log_findings import LogFindings

_runs = Runs()  # shared: several labs in one notebook draw the same curves

_PAUSE_S = 0.3
"""So long after the last change the states behind the switches are computed ahead."""


class Explorer(Spoken):
    """The live lab: controls, headline, data path, timeline and curves of one scenario.

    Attributes
    ----------
    exploration:
        What is shown, what it is compared with, and the way back.
    """

    def __init__(self, scenario: Scenario, records: Sequence[Records] = ()) -> None:
        self._runs = _runs
        self._number = 0
        self._job: Background | None = None
        self._looking: asyncio.Task[None] | None = None
        refuse_too_many_to_show(scenario)
        self.exploration = Exploration(self._runs.get(scenario))
        self.answers = MachineAnswers()
        self.figures = FiguresWidget(self._command)
        self._evidence = MeasuredPoints(records, self._show_measured, self._log_read, self._go_to_log)
        self.controls = Controls(
            self._changed,
            self._command,
            self._evidence.log,
            OwnMachine(self._drafted),
            Exporting(lambda: Shown(self.run, self.before)),
            RacePanel(self.exploration, self._rivals, lambda *pair: self._ratio.band_of(*pair)),  # noqa: PLW0108  (made after the panels)
            TailsPanel(lambda: self.scenario),
        )
        self._curves = CurvesInBackground(self._runs, lambda parcel: setattr(self.figures, "curves", parcel))
        self._ratio = RatioInBackground(
            self._runs,
            lambda ratio: setattr(self.figures, "ratio", ratio or {}),
            self.controls.machine.rank,
        )
        self._lateness = LatenessInBackground(
            self._runs, lambda late: setattr(self.figures, "late", late or {})
        )
        self._parts = [*self.controls.rows(), self.figures, self.answers.box]
        super().__init__(self._parts)
        self.add_class("pl-explorer")
        self._show(self.run)

    def __repr__(self) -> str:
        """Say in words what a page would show, for a notebook or a shell that has no widgets."""
        return f"{self.run!r}\nThe live lab needs a notebook with widgets."

    @property
    def run(self) -> Run:
        """The run of what is shown."""
        return self.exploration.run

    @property
    def before(self) -> Run | None:
        """What it is compared with."""
        return self.exploration.before

    @property
    def first(self) -> Scenario:
        """What the lab began with."""
        return self.exploration.first

    @property
    def scenario(self) -> Scenario:
        """What is shown."""
        return self.exploration.scenario

    def close(self) -> None:
        """Stop what runs in the background, and close every widget."""
        if not hasattr(self, "_parts"):
            return  # never finished
        self.rest()
        for part in self._parts:
            close_all(part)
        self.layout.close()
        super().close()

    def rest(self) -> None:
        """Stop what runs in the background."""
        self._stop()
        for computation in (self._curves, self._ratio, self._lateness):
            computation.cancel()
        self.controls.tailing.rest()
        self._evidence.measuring.stop()
        self.answers.rest()
        if self._looking:
            self._looking.cancel()

    # ---- what the user asks for --------------------------------------------------------------------------------

    def _changed(self, changes: Changes, control: str) -> None:
        self._curves.rest()
        self._ratio.rest()
        with self._telling(control):
            self._change(self.exploration.changed(changes), control)

    def _change(self, scenario: Scenario, control: str) -> None:
        self.exploration.begin(control)
        self._go(scenario, control)

    @contextmanager
    def _telling(self, control: str) -> Iterator[None]:
        """Show the user an error where it belongs; the last good picture stays."""
        try:
            yield
        except PeerlabError as problem:
            self._refuse(problem, control)
        except Exception as bug:  # ipywidgets drops exceptions of callbacks, and the lab would seem dead
            logging.getLogger("peerlab").exception("in the explorer")
            self.controls.say(
                f"This should not happen; please report it: {type(bug).__name__}: {bug}", control
            )

    def _refuse(self, problem: PeerlabError, control: str) -> None:
        """Show why a scenario is impossible; a list goes back to the shown value, a text stays so that it can be corrected."""
        if not self.controls.is_text(control):
            self.controls.show(self.scenario, can_undo=self.exploration.can_undo)
        self.controls.say(str(problem), control)

    def _command(self, command: str, value: Any = None) -> None:
        self._curves.rest()
        self._ratio.rest()
        with self._telling(""):
            self._obey(command, value)

    def _obey(self, command: str, value: Any) -> None:
        match command:
            case "undo" if before := self.exploration.undo():
                self._go(before, "")
            case "reset":
                self.figures.send({"kind": "reset"})  # the player's speed is the page's own
                self._go(self.exploration.reset(), "")
            case "host" if not self.controls.host.disabled:
                self.controls.host.value = not self.controls.host.value
            case "cache" if not self.controls.cache.disabled:
                self.controls.cache.value = not self.controls.cache.value
            case "critical":
                self.figures.send({"kind": "critical", "path": critical(self.run)})
            case "axis" if value in tuple(AXES):
                self._curves.axis = value
                self._curves.draw(self.scenario)
            case "measure" | "measure gpu" | "stop measuring" | "save measured":
                self._evidence.measuring.obey(command)
            case "cancel":
                self._stop()
                self.controls.show(self.scenario, can_undo=self.exploration.can_undo)

    # ---- from scenario to picture ------------------------------------------------------------------------------

    def _go(self, scenario: Scenario, control: str) -> None:
        """Show a scenario: at once, or when the simulation in the background is done."""
        self._stop()
        refuse_too_many_to_show(scenario)
        try:
            # Without a loop no page can be told later, so it is waited for.
            self._arrive(self._runs.get(scenario, PATIENCE_S if running_loop() else float("inf")))
        except TooSlow:
            self._go_slowly(scenario, control)

    def _go_slowly(self, scenario: Scenario, control: str) -> None:
        loop = asyncio.get_running_loop()
        about, begun = in_all(scenario), time.monotonic()
        self.figures.status = {"busy": True, "text": f"Simulating{about}"}

        def progress(part: float) -> None:
            # The simulation reports in its own thread; widgets are set in that of the loop.
            call_in(loop, told, f"Simulating{so_far(part, begun)}{about}")

        def told(text: str) -> None:
            if self._job is job:
                self.figures.status = {"busy": True, "text": text}

        def end(result: Run | PeerlabError) -> None:
            call_in(loop, ended, result)

        def ended(result: Run | PeerlabError) -> None:
            # Meanwhile something else was asked for.
            if self._job is not job:
                return
            self._stop()
            if isinstance(result, Run):
                self._arrive(self._runs.keep(result))
            elif not isinstance(result, Cancelled):
                self._refuse(result, control)

        self._job = job = Background(scenario, progress, end)

    def _stop(self) -> None:
        """Give up a simulation in the background."""
        if self._job:
            self._job.cancel()
            self._job = None
        # To set it is a message to the page, so it is set only where it changes.
        if self.figures.status.get("busy"):
            self.figures.status = {"busy": False}

    def _arrive(self, run: Run) -> None:
        if self.exploration.arrive(run):
            self._show(run)
        else:
            # It is shown already; a control may still show what was refused.
            self.controls.show(self.scenario, can_undo=self.exploration.can_undo)

    def _show(self, run: Run) -> None:
        self._number += 1
        self.figures.data = dict(
            payload(run, self.before, self._number)
        )  # first: the user waits for the picture
        self.controls.show(run.scenario, can_undo=self.exploration.can_undo)
        self.controls.exporting.show(pair=self.before is not None)
        self.controls.racing.show()
        self.controls.tailing.show()
        self.figures.shown = self._number
        self._evidence.draw(run.scenario)
        self._ratio.draw(self.controls.pair(run.scenario))
        self._lateness.draw(run)
        self._curves.draw(run.scenario)
        self.answers.show(run.scenario)
        if self._looking:
            self._looking.cancel()
        if running_loop():
            self._looking = asyncio.ensure_future(self._look_ahead())

    def _rivals(self) -> tuple[Run, Run]:
        """Return who races: what was shown before and what is now, or both sides of the host switch."""
        if self.before is not None and self.before.scenario != self.scenario:
            return self.before, self.run
        pair = self.controls.pair(self.scenario)
        if pair is None:
            raise PeerlabError(
                f"{self.scenario.hardware.title} has nothing to race against: switch something, then race"
            )
        try:
            slow, fast = (
                self.run if scenario == self.scenario else self._runs.get(scenario, PATIENCE_S)
                for scenario in pair
            )
        except TooSlow:
            raise PeerlabError("The other side takes too long to simulate: switch to it, then race") from None
        return slow, fast

    def _show_measured(self, parcel: dict[str, object]) -> None:
        self.figures.measured = parcel

    def _log_read(self, findings: "LogFindings") -> None:
        """Show the scenario of a log, as far as it was recognised, or of the cluster that was chosen for it; what was compared with the cluster that is shown stays."""
        self._command("axis", "message_bytes")
        if not findings.compared or findings.shown != self.scenario.given_cluster:
            with self._telling("log"):
                self._change(findings.as_measured(self.scenario), "log")

    def _drafted(self, file: str) -> None:
        """Show the machine whose cluster file was just drafted."""
        self._changed({"cluster": file}, "machine")
        self.controls.cluster.focus()  # the button that was pressed is hidden

    def _go_to_log(self, changes: Changes) -> None:
        with self._telling("log"):
            self._change(self.scenario.with_(**changes), "log")

    @property
    def measured(self) -> Records | None:
        """What was measured on this machine last; ``explorer.measured.save("mine.csv")`` keeps it."""
        return self._evidence.measuring.records

    async def _look_ahead(self) -> None:
        """Tell the page what each switch would show, so that it can answer without asking."""
        await asyncio.sleep(_PAUSE_S)
        parcels = {}
        for switch, changes in self.controls.switches(self.scenario).items():
            try:
                run = self._runs.get(self.scenario.with_(**changes), PATIENCE_S)
            except (
                PeerlabError
            ):  # impossible, or too slow: the switch will say so, or compute in the background
                continue
            await give_turns()
            # It has the number of the parcel that comes next if the switch is pressed.
            parcels[switch] = payload(run, self.run, self._number + 1)
            await give_turns()
        self.figures.send_ahead(parcels)
        give_free_memory_back()  # that of the simulation, and of the run that is no longer compared with
