"""What somebody explores: the run that is shown, the one that it is compared with, and the way back.

It decides and shows nothing: the explorer in a notebook and the page in a browser tab drive the same one.
"""

import time

from peerlab.answer.run import Run
from peerlab.question.adjustments import Changes, fitting
from peerlab.question.scenario import Scenario

_ONE_DRAG_S = 1.0
"""Changes of one slider that follow each other this closely are one step of undo."""
SLIDERS = ("nodes", "size")
"""Controls that are dragged."""
_LOG = "log"
"""Control of a log, which may bring another cluster and all that was set there."""
_OF_HISTORY = ""
"""Stands for the control where undo or reset asked for a run."""


class Exploration:
    """The state of an exploration.

    Attributes
    ----------
    run:
        What is shown.
    before:
        What it is compared with; None where nothing came before.
    first:
        What it began with.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.before: Run | None = None
        self.first = run.scenario
        self._history: list[Scenario] = []
        self._last, self._when_s = "begun", 0.0
        self._remember = True

    @property
    def scenario(self) -> Scenario:
        """What is shown."""
        return self.run.scenario

    @property
    def can_undo(self) -> bool:
        """Whether there is a way back."""
        return bool(self._history)

    def changed(self, changes: Changes) -> Scenario:
        """Return the scenario with some changes, and with what has to change with them.

        Raises
        ------
        PeerlabError
            If it is impossible.
        """
        # `fitting` may put a path in the place of one that was asked for together with a cluster
        return self.scenario.with_(**{**fitting(self.scenario, changes), **changes})

    def begin(self, control: str) -> None:
        """Note which control asks for the next run: a slider that is dragged makes one step of undo."""
        # monotonic, as a clock may be set back in between
        now_s = time.monotonic()
        dragged = control == self._last and control in SLIDERS and now_s - self._when_s < _ONE_DRAG_S
        self._last, self._when_s, self._remember = control, now_s, not dragged

    def undo(self) -> Scenario | None:
        """Return what was shown before the last step; None where that is nothing."""
        if not self._history:
            return None
        self.begin(_OF_HISTORY)
        # the way back is no step of its own; a reset is one, and can be undone
        self._remember = False
        return self._history.pop()

    def reset(self) -> Scenario:
        """Return what the exploration began with."""
        self.begin(_OF_HISTORY)
        return self.first

    def arrive(self, run: Run) -> bool:
        """Show a run that was asked for; return whether it is another one."""
        if run.scenario == self.scenario:
            return False
        if self._remember:
            self._history.append(self.scenario)
        if (
            self._remember or self._last == _OF_HISTORY
        ):  # while a slider is dragged, what was shown before it stays
            self.before = self.run
        if run.scenario == self.first and self._last == _OF_HISTORY:  # back at the start: nothing came before
            self.before = None
        elif self._last in (_LOG, _OF_HISTORY) and run.scenario.hardware != self.scenario.hardware:
            self.before = None  # another machine with other settings is nothing to compare with
        self.run = run
        self._when_s = time.monotonic()  # a run that takes long is no pause of who drags
        return True
