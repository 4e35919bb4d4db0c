"""Computes the ratio of two data paths after the picture: first the ratio, then its range."""

# With noise every slice of every node is simulated, for seconds. So the ratio without it comes first, marked as such, and stays
# where that with noise takes too long.

import asyncio
import threading
from collections.abc import Callable, Sequence

from peerlab.answer.gain import GainBand
from peerlab.answer.run import Run
from peerlab.app.after_picture import AfterPicture
from peerlab.app.runs import MOST_S, PATIENCE_S, GivingWay, Runs
from peerlab.base.errors import PeerlabError
from peerlab.picture.path_ratio import PathRatio, path_ratio, stands_in, without_noise
from peerlab.question.scenario import Scenario
from peerlab.study.bands import gain_band_of

_REST_S = 0.5
"""A range waits so long after a change, so that the simulation of the change has the processor."""
Pair = tuple[Scenario, Scenario]
"""The path that is compared with, and the one that may be faster."""


class RatioInBackground(AfterPicture):
    """Computes the ratio of two paths and hands it to `show`, first without its range; None: there is none.

    `ranged` is called with the scenario of the faster path and the range.
    """

    def __init__(
        self,
        runs: Runs,
        show: Callable[[PathRatio | None], None],
        ranged: Callable[[Scenario, GainBand], None],
    ) -> None:
        super().__init__()
        self._runs, self._show, self._ranged = runs, show, ranged
        self._of: Pair | None = None
        self._band: GainBand | None = None
        self._giving_way = GivingWay(_REST_S)

    def draw(self, pair: Pair | None) -> None:
        """Simulate and show the ratio of two scenarios; a computation for others is given up."""
        if pair == self._of:
            return
        self._of, self._band = pair, None
        if pair is None:
            self.cancel()
            self._show(None)
        else:
            self.begin(lambda: self._draw(pair), lambda: self._draw_ratio(pair, PATIENCE_S))

    def band_of(self, slow: Scenario, fast: Scenario) -> GainBand | None:
        """Return the range of a ratio; None if it is of others, or not known yet."""
        return self._band if self._of == (slow, fast) else None

    def rest(self) -> None:
        """Let a range wait for a moment, so that the simulation of a change has the processor."""
        self._giving_way.rest()

    async def _draw_ratio(
        self, pair: Pair, most_s: float, *, pending: bool = False
    ) -> tuple[Run, Run] | None:
        """Show the ratio without its range; return the two runs, or None where there is no ratio."""
        quiet = await self._draw_quietly(pair, most_s, pending=pending)
        try:
            slow, fast = [await self._runs.get_patiently(scenario, most_s) for scenario in pair]
        except PeerlabError:  # impossible, or too slow
            if quiet is None:
                self._show(None)
            return quiet
        self._show(path_ratio(slow, fast, None, pending=pending))
        return slow, fast

    async def _draw_quietly(self, pair: Pair, most_s: float, *, pending: bool) -> tuple[Run, Run] | None:
        """Show the ratio without noise until that with it is known; return its two runs, or None where that is known or there is none."""
        if not any(scenario.noise for scenario in pair) or all(map(self._runs.find, pair)):
            return None
        try:
            slow, fast = [
                await self._runs.get_patiently(without_noise(scenario), most_s) for scenario in pair
            ]
        except PeerlabError:
            return None
        self._show(stands_in(path_ratio(slow, fast, None, pending=pending), pair))
        return slow, fast

    async def _draw(self, pair: Pair) -> None:
        runs = await self._draw_ratio(pair, MOST_S, pending=True)
        if runs and all(run.time_ps for run in runs):
            await asyncio.sleep(_REST_S)
            try:
                await self._draw_range(pair, *runs)
            except PeerlabError:  # an end that takes too long: then there is no range
                self._show(_as_asked(path_ratio(*runs, None), pair, runs))

    async def _draw_range(self, pair: Pair, slow: Run, fast: Run) -> None:
        stop = threading.Event()
        try:
            band = await asyncio.to_thread(gain_band_of, slow, fast, self._giving_way.progress(stop))
        finally:
            stop.set()  # the thread ends soon after this is cancelled
        self._show(_as_asked(path_ratio(slow, fast, band), pair, (slow, fast)))
        if fast.scenario == pair[1]:  # the range without noise is not that of what races and of the ranks
            self._band = band
            self._ranged(fast.scenario, band)


def _as_asked(ratio: PathRatio | None, pair: Pair, runs: Sequence[Run]) -> PathRatio | None:
    """Return a ratio as that of `pair`, marked where the runs are those without its noise."""
    return ratio if runs[1].scenario == pair[1] else stands_in(ratio, pair)
