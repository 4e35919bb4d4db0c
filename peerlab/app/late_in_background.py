"""Finds out how late a run is after its picture: the run without noise and slow parts is simulated, or was kept."""

import asyncio
from collections.abc import Callable

from peerlab.answer.lateness import lateness, may_be_late, undisturbed
from peerlab.answer.run import Run
from peerlab.app.runs import PATIENCE_S, Runs
from peerlab.base.errors import PeerlabError
from peerlab.picture.late import Late, late


class Lagging:
    """Computes how late the nodes of a run are in the background and hands it to `show`; None: nobody is, or nobody knows."""

    def __init__(self, runs: Runs, show: Callable[[Late | None], None]) -> None:
        self._runs, self._show = runs, show
        self._task: asyncio.Task[None] | None = None

    def draw(self, run: Run) -> None:
        """Show how late a run is; a computation for another is given up."""
        self.cancel()
        if not may_be_late(run.scenario):
            self._show(None)
            return
        try:
            self._task = asyncio.get_running_loop().create_task(self._draw(run))
        except RuntimeError:  # no event loop, so no page
            self._tell(run, PATIENCE_S)

    def cancel(self) -> None:
        """Give up what is being computed."""
        if self._task:
            self._task.cancel()

    def _tell(self, run: Run, most_s: float) -> None:
        try:
            planned = self._runs.get(undisturbed(run.scenario), most_s)
        except PeerlabError:  # too slow
            self._show(None)
        else:
            self._show(late(run, lateness(run, lambda _: planned)))

    async def _draw(self, run: Run) -> None:
        try:
            planned = await self._runs.get_patiently(undisturbed(run.scenario))
        except PeerlabError:  # too slow
            self._show(None)
        else:
            self._show(late(run, lateness(run, lambda _: planned)))
