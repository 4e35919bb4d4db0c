"""Everything that a page without a kernel can show: every state of its controls, simulated and packed."""

# An exported page is the lab's page with another model. `Page` asks a model for parcels: in the lab
# anywidget's, in a page without a kernel an album (`page/album.js`) that holds every state of its controls.
# Figures, player and headline are the same files. The page itself works out the ghost of the last state and
# the ratio to it, so that any two states can be compared.

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from peerlab.answer.lateness import lateness
from peerlab.answer.run import Run
from peerlab.base.errors import ExportError, PeerlabError
from peerlab.base.units import PS_PER_US
from peerlab.engine.simulate import simulate, takes_every_node
from peerlab.engine.system import least
from peerlab.features.export.choices import PageControl, states
from peerlab.features.export.pack import Packing, rounding_ns
from peerlab.picture.curve_scenarios import AXES, PathCurve, key, lines
from peerlab.picture.curves import WHOLE, CurvesParcel, curves
from peerlab.picture.late import late
from peerlab.picture.measured import MeasuredPoint, overlay, points
from peerlab.picture.path_ratio import path_ratio
from peerlab.picture.payload import payload
from peerlab.picture.timeline import critical
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.scenario import Scenario
from peerlab.records import measured_for
from peerlab.study.bands import bands_of, gain_band_of
from peerlab.study.patience import TooSlow, large, patient

Progress = Callable[[int, int], None]
"""Hears how many states of how many there are."""

MOST_STATES = 2000
"""States of one page; more of them take too long to open."""
_MOST_S = 10.0
"""A point of a curve that takes longer is left out, and the larger ones with it."""


@dataclass
class Album:
    """The states of one page, packed as they come."""

    packing: Packing = field(default_factory=Packing)
    """What they are packed into."""
    curves: dict[str, dict[str, Any]] = field(default_factory=lambda: {axis: {} for axis in AXES})
    """Axis to the key of its curves to what stands for them; empty on a page that shows none."""
    curved: bool = True
    """Whether the page shows curves: they are most of what there is to simulate."""
    bands: bool = True
    """Whether the curves that a page begins with have bands; those of all states would take minutes."""
    _known: dict[Scenario, Any] = field(default_factory=dict)
    _first: tuple[Scenario, Scenario] | None = None
    """The two paths whose ratio has a range: those that the page begins with."""

    def add(
        self,
        scenario: Scenario,
        controls: Sequence[PageControl],
        start: Sequence[int],
        progress: Progress | None,
    ) -> list[Any]:
        """Return what stands for the state of every combination of the controls' values, in order.

        `start` holds the number of each control's value that is shown first; its curves have bands.
        """
        _check_number(scenario, controls)
        wanted = states(scenario, controls)
        place = _place(start, controls)
        # First of all: curves are packed once, and those that come with the states have no bands.
        self._draw(wanted[place], bands=self.bands)
        self._first = detour_and_direct(wanted[place]) if self.bands else None
        entries = []
        for number, state in enumerate(wanted):
            # Two scenarios beside each other share states, and so do switches that change nothing.
            if state not in self._known:
                self._known[state] = self._state(simulate(state))
            entries.append(self._known[state])
            if progress:
                progress(number + 1, len(wanted))
        return entries

    def _draw(self, scenario: Scenario, *, bands: bool = False) -> None:
        """Pack the curves of a scenario, if they are not there yet."""
        for axis, entries in self.curves.items() if self.curved else ():
            if key(scenario, axis) not in entries:
                # Curves hold no rows of times, so no length rounds them.
                entries[key(scenario, axis)] = self.packing.add(_curves(scenario, axis, bands=bands), 1)

    def _state(self, run: Run) -> Any:
        scenario, length = run.scenario, run.time_ps / PS_PER_US
        self._draw(scenario)
        state = {
            "data": {**payload(run), "rounding_ns": rounding_ns(length)},
            "critical": _critical(run),
            "ratio": self._ratio(run),
            "late": late(run, lateness(run, _other)) or {},
            "measured": overlay(scenario, _measured(scenario.hardware.name)),
        }
        return self.packing.add(state, length)

    def _ratio(self, run: Run) -> Any:
        """Return how many times as fast the way past the host is; nothing where there is no such pair of paths."""
        pair = detour_and_direct(run.scenario)
        if pair is None:
            return {}
        try:
            slow, fast = (run if scenario == run.scenario else _other(scenario) for scenario in pair)
            ranged = pair == self._first and _alike(slow) and _alike(fast)
            band = gain_band_of(slow, fast) if ranged else None
        except PeerlabError:  # the other path is impossible here, or an end of the range takes too long
            return {}
        return path_ratio(slow, fast, band, [run.scenario.as_code()]) or {}


@lru_cache(maxsize=32)
def _other(scenario: Scenario) -> Run:
    return simulate(scenario)


def _place(numbers: Sequence[int], controls: Sequence[PageControl]) -> int:
    """Return which of all combinations has these numbers of the controls' values."""
    place = 0
    for number, control in zip(numbers, controls, strict=True):
        # As digits of a number whose last one counts fastest, in the order of `states`.
        place = place * len(control.values) + number
    return place


def _check_number(scenario: Scenario, controls: Sequence[PageControl]) -> None:
    """Refuse more states than a page should have; say how large it would be, judged by those at the ends of the controls."""
    number = prod(len(control.values) for control in controls)
    if number <= MOST_STATES:
        return
    # States at both ends of every control, at most eight of them: they say how large the others are about.
    ends = states(
        scenario,
        [replace(control, values=control.values[:: max(1, len(control.values) - 1)]) for control in controls],
    )
    packing, some = Packing(), ends[:: -(-len(ends) // 8)]
    for state in some:
        packing.add(payload(simulate(state)), 1)
    size = len(packing.text({})) * number / len(some) / 1e6
    most = max(controls, key=lambda control: len(control.values))
    raise ExportError(
        f"controls: {number:,} states would be about {size:.0f} MB, and a page may have {MOST_STATES:,} states; "
        f"leave out some of the {len(most.values)} values of {most.field}"
    )


def _curves(scenario: Scenario, axis: str, *, bands: bool) -> CurvesParcel:
    computed = [_computed(line) for line in lines(scenario, axis)]
    if not bands:
        return {**curves(scenario, axis, computed), "state": WHOLE}
    there = {line.name: bands_of([run if _alike(run) else None for run in runs]) for line, runs in computed}
    return curves(scenario, axis, computed, there, state=WHOLE)


def _alike(run: Run | None) -> bool:
    """Return whether all nodes of a run are alike; else each end of its band takes seconds."""
    return run is not None and not takes_every_node(least(run.scenario))


def _computed(line: PathCurve) -> tuple[PathCurve, list[Run | None]]:
    """Return a line with its runs; what turns out to be impossible is no scenario of it."""
    runs: list[Run | None] = []
    possible = list(line.scenarios)
    for place, scenario in enumerate(line.scenarios):
        try:
            runs.append(_point(scenario) if scenario else None)
        except TooSlow:
            break
        except PeerlabError:  # a point that is impossible (a memlock limit) is left out
            runs.append(None)
            possible[place] = None
    runs += [None] * (len(line.scenarios) - len(runs))
    return replace(line, scenarios=tuple(possible)), runs


def _critical(run: Run) -> dict[str, object]:
    """Return the critical path as rows; pieces on one lane that follow each other at once are one."""
    path: Any = critical(run)
    rows: list[list[float]] = []
    for lane, start, end in zip(path["lane"], path["start"], path["end"], strict=True):
        # The path goes on along one lane without a gap: one piece to draw.
        if rows and rows[-1][2] == lane and start <= rows[-1][1]:
            rows[-1][1] = end
        else:
            rows.append([start, end, lane])
    # A run without an exchange has no rows, and still three columns.
    start, end, lane = np.array(rows).reshape(-1, 3).T
    arrays = {
        # As the page reads them: four bytes each, the lowest first.
        "start": start.astype("<f4").tobytes(),
        "end": end.astype("<f4").tobytes(),
        "lane": lane.astype("<i4").tobytes(),
    }
    return {"breakdown": path["breakdown"], "arrays": arrays}


def _point(scenario: Scenario) -> Run:
    if large(scenario):
        raise TooSlow("every transfer of every node")
    return simulate(scenario, progress=patient(_MOST_S))


def _measured(cluster: str) -> tuple[MeasuredPoint, ...]:
    """Return the measurements of a cluster that come with peerlab."""
    return tuple(point for records in measured_for(cluster).values() for point in points(records))
