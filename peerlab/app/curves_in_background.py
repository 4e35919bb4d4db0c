"""Computes the curves after the picture: lines first, then bands; a change of the scenario goes before both."""

# A band is computed after the line, in a thread that waits until 0.4 s after the last change and stops at
# the next one. Points that take about 2.5 s (1.5 s for a band) are left out, and counted.

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from peerlab.answer.run import Run
from peerlab.answer.sensitivity import Band
from peerlab.app.after_picture import AfterPicture
from peerlab.app.runs import PATIENCE_S, GivingWay, Runs, give_turns
from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.picture.curve_scenarios import PathCurve, key, line_of, lines
from peerlab.picture.curves import LINES, RANGES, WHOLE, curves
from peerlab.question.scenario import Scenario
from peerlab.study.bands import bands_of
from peerlab.study.patience import TooSlow

_MOST_SPANS = 90_000
"""A point of a curve that has more is left out, and the larger ones with it: it takes about 2.5 s. Seconds would end curves elsewhere on a slower machine."""
_MOST_S = 10.0
"""The same of a point that takes longer, such as one with many wires."""
_SHOW_S = 1.0
"""Curves that take longer than this are shown line by line."""
_REST_S = 0.4
"""Bands wait so long after a change, so that the simulation of the change has the processor."""


class CurvesInBackground(AfterPicture):
    """Computes the curves of a scenario and hands them to `show`, piece by piece."""

    def __init__(self, runs: Runs, show: Callable[[dict[str, object]], None]) -> None:
        super().__init__()
        self.axis = "nodes"
        self._runs, self._show = runs, show
        self._shown: dict[str, object] = {}
        self._of: object = None
        self._giving_way = GivingWay(_REST_S)

    def draw(self, scenario: Scenario) -> None:
        """Simulate and show the curves of `scenario`, in pieces; a computation for another scenario is given up."""
        wanted = lines(scenario, self.axis)
        # Nothing else has to be simulated: a switch of the path leaves all curves as they are.
        if wanted == self._of:
            return
        self._of = wanted
        # no bands where nobody sees them come
        self.begin(
            lambda: self._draw(scenario, wanted), lambda: self._draw_lines(scenario, wanted, PATIENCE_S)
        )

    def rest(self) -> None:
        """Let bands wait for a moment, so that the simulation of a change has the processor."""
        self._giving_way.rest()

    def _tell(self, parcel: Mapping[str, object]) -> None:
        self._shown = dict(parcel)
        self._show(self._shown)

    async def _draw(self, scenario: Scenario, wanted: Sequence[PathCurve]) -> None:
        axis = self.axis
        computed = await self._draw_lines(scenario, wanted)
        bands: dict[str, list[Band | None]] = {}
        for line, runs in sorted(computed, key=lambda each: each[0].name != line_of(scenario)):
            bands[line.name] = await self._bands_of(runs)
            state = WHOLE if len(bands) == len(computed) else RANGES
            self._tell(curves(scenario, axis, computed, bands, state=state))

    async def _draw_lines(
        self, scenario: Scenario, wanted: Sequence[PathCurve], most_s: float = _MOST_S
    ) -> list[tuple[PathCurve, list[Run | None]]]:
        axis, begun, drawn = self.axis, time.monotonic(), dict[str, tuple[PathCurve, list[Run | None]]]()
        # the line that the scenario lies on comes first, with its range: a reader looks there
        for line in sorted(wanted, key=lambda each: each.name != line_of(scenario)):
            runs: list[Run | None] = []
            possible = list(line.scenarios)
            for place, point in enumerate(line.scenarios):
                await give_turns()
                # Curves that are soon replaced never look old: that would only flicker.
                if self._of_another(scenario) and time.monotonic() - begun > PATIENCE_S:
                    self._tell({**self._shown, "state": "old"})
                try:
                    runs.append(await self._runs.get_patiently(point, most_s, _MOST_SPANS) if point else None)
                except TooSlow:  # so are the larger ones
                    runs += [None] * (len(line.scenarios) - len(runs))
                    break
                except PeerlabError:  # a point that is impossible (a memlock limit) is left out
                    runs.append(None)
                    possible[place] = None
            drawn[line.name] = (replace(line, scenarios=tuple(possible)), runs)
            # names of lines that follow keep their room, so that the axis stands still
            computed = [drawn.get(each.name, (each, [None] * len(each.scenarios))) for each in wanted]
            if time.monotonic() - begun > _SHOW_S and len(drawn) < len(wanted):
                self._tell(curves(scenario, axis, computed, state=LINES))
        self._tell(curves(scenario, axis, computed))
        return computed

    def _of_another(self, scenario: Scenario) -> bool:
        """Return whether the curves that are shown look as if they were this scenario's, and are not."""
        return self._shown.get("state", "old") != "old" and self._shown["key"] != key(scenario, self.axis)

    async def _bands_of(self, runs: Sequence[Run | None]) -> list[Band | None]:
        """Return the bands of a line's points, computed in a thread that ends soon after this is cancelled."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self._compute, runs, stop)
        finally:
            stop.set()

    def _compute(self, runs: Sequence[Run | None], stop: threading.Event) -> list[Band | None]:
        try:
            return bands_of(runs, self._giving_way.progress(stop))
        except Cancelled:  # nobody waits for them any more
            return []
