"""Finds out how late a run is after its picture: the run without noise and slow parts is simulated, or was kept."""

from collections.abc import Callable

from peerlab.answer.lateness import lateness, may_be_late, undisturbed
from peerlab.answer.run import Run
from peerlab.app.after_picture import AfterPicture
from peerlab.app.runs import MOST_S, PATIENCE_S, Runs
from peerlab.base.errors import PeerlabError
from peerlab.picture.late import Late, late


class LatenessInBackground(AfterPicture):
    """Computes how late the nodes of a run are and hands it to `show`; None: nobody is, or nobody knows."""

    def __init__(self, runs: Runs, show: Callable[[Late | None], None]) -> None:
        super().__init__()
        self._runs, self._show = runs, show

    def draw(self, run: Run) -> None:
        """Show how late a run is; a computation for another is given up."""
        if may_be_late(run.scenario):
            self.begin(lambda: self._draw(run, MOST_S), lambda: self._draw(run, PATIENCE_S))
        else:
            self.cancel()
            self._show(None)

    async def _draw(self, run: Run, most_s: float) -> None:
        try:
            planned = await self._runs.get_patiently(undisturbed(run.scenario), most_s)
        except PeerlabError:  # too slow
            self._show(None)
        else:
            self._show(late(run, lateness(run, lambda _: planned)))
