"""Python's side of the live page: questions and answers are JSON, with the columns of rows beside it.

It runs in a worker of the browser, where neither numpy nor a thread is. What follows a picture (the ratio of the paths, curves, ranges,
bands) comes in pieces, so that the next question waits for one piece at most.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerlab.answer.lateness import lateness, undisturbed
from peerlab.answer.run import Run
from peerlab.answer.sensitivity import Band  # noqa: TC001  (at home beside Run)
from peerlab.base.errors import PeerlabError, ScenarioError, one_line
from peerlab.base.feature import registered
from peerlab.engine.expected_duration import forecast_s
from peerlab.engine.simulate import simulate
from peerlab.features.site.tab_fields import as_changes, fields_of, offered
from peerlab.picture.curve_scenarios import AXES, lines
from peerlab.picture.curves import RANGES, WHOLE, curves
from peerlab.picture.late import late
from peerlab.picture.packed_columns import numbered
from peerlab.picture.path_ratio import path_ratio
from peerlab.picture.payload import payload
from peerlab.picture.timeline import critical
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.scenario import Scenario
from peerlab.study.bands import bands_of, gain_band_of
from peerlab.study.exploration import Exploration

if TYPE_CHECKING:
    from peerlab.features.site.tab_log import LogInTab

Answer = tuple[str, list[bytes]]
"""JSON, and the columns that its ``{"buffer": number}`` stand for."""

_ENGINE = "loop"
"""The loop is plain Python; the arrays need numpy and machine code numba, which a tab has not."""
SLOWER = 4
"""So many times as long as the forecast of a notebook takes a run of nodes that differ: 1.3 to 1.6 times in V8 (node's) on a core of its
own (16 to 64 nodes), and more on a tablet, in Firefox, or beside other tabs."""
MOST_S = 20.0
"""A run that takes longer in the tab is refused."""
MOST_BESIDE_S = 5.0
"""A point of a curve that takes longer is left out: a question waits for the point before it."""
_ENDS = 20
"""Simulations of a band, about: each assumed figure goes to both ends of its range."""
_MOST_KEPT = 400
"""Runs that are kept: each holds some 100 kB."""


class Tab:
    """What is shown, what was before it, and what follows when nobody asks.

    >>> text, columns = Tab(nodes=2).answer('{"kind": "show", "number": 1}')
    >>> sorted(json.loads(text)), len(columns) > 10
    (['data', 'fields'], True)
    """

    def __init__(self, **fields: Any) -> None:
        self._runs: dict[Scenario, Run] = {}
        self.exploration = Exploration(self._simulated(Scenario(**as_changes(fields))))
        self._number, self._axis = 0, next(iter(AXES))
        self._following: Iterator[Mapping[str, object]] = iter(())

    def answer(self, question: str) -> Answer:
        """Return the answer to a question; of an impossible one, why in words."""
        asked = json.loads(question)
        answers: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, object]]] = {
            "show": self._show,
            "undo": self._undo,
            "reset": self._reset,
            "axis": self._draw_axis,
            "critical": self._critical,
            "log": self._read_log,
            "no log": self._remove_log,
            "cluster": self._take_cluster,
            "judge": lambda asked: {"judged": registered("offers", "answer to an exercise")(asked)},
            "task": lambda asked: {"task": registered("offers", "drawn exercise")(asked)},
        }
        try:
            return _packed(answers[asked["kind"]](asked))
        except PeerlabError as problem:
            return _packed({"error": str(problem), "about": asked["kind"]})
        except (NotImplementedError, ImportError) as problem:  # such as a table of pandas
            return _packed({"error": f"{problem}: open the notebook for this", "about": asked["kind"]})

    def work(self) -> Answer | None:
        """Do one piece of what follows the picture; None when all is done."""
        # One piece for each call: the worker hears questions in between.
        for piece in self._following:
            return _packed(piece)
        return None

    def _simulated(self, scenario: Scenario, most_s: float = MOST_S) -> Run:
        if scenario not in self._runs:
            expected_s = _forecast_s(scenario)
            if expected_s > most_s:
                raise ScenarioError(
                    "nodes", f"about {expected_s:.0f} s in a browser tab; open the notebook, or give fewer"
                )
            # The oldest first: dictionaries keep the order in which runs came.
            while len(self._runs) >= _MOST_KEPT:
                del self._runs[next(iter(self._runs))]
            self._runs[scenario] = simulate(scenario, engine=_ENGINE)
        return self._runs[scenario]

    @property
    def run(self) -> Run:
        """The run of what is shown."""
        return self.exploration.run

    def _show(self, asked: Mapping[str, Any]) -> Mapping[str, object]:
        shown, options = fields_of(self.run.scenario), as_changes(asked.get("changes", {}))
        # Only what differs: a control that is set to what is shown is no step that undo could take back.
        changes = {
            name: value
            for name, value in options.items()
            if shown.get(name, value) != value or name not in shown
        }
        self.exploration.begin(asked.get("control", "other"))
        return self._go(self.exploration.changed(changes), asked)

    def _undo(self, asked: Mapping[str, Any]) -> Mapping[str, object]:
        return self._go(self.exploration.undo() or self.run.scenario, asked)

    def _reset(self, asked: Mapping[str, Any]) -> Mapping[str, object]:
        return self._go(self.exploration.reset(), asked)

    def _go(self, wanted: Scenario, asked: Mapping[str, Any]) -> Mapping[str, object]:
        self.exploration.arrive(self._simulated(wanted))
        self._number = asked["number"]
        # What followed the last question is dropped: nobody waits for its bands any more.
        self._following = self._pieces()
        return {
            "data": payload(self.run, self.exploration.before, self._number),
            "fields": fields_of(self.run.scenario),
        }

    def _draw_axis(self, asked: Mapping[str, Any]) -> Mapping[str, object]:
        if asked["axis"] in AXES:
            self._axis = asked["axis"]
            self._following = self._pieces()
        return {}

    def _critical(self, _: Mapping[str, Any]) -> Mapping[str, object]:
        return {"critical": critical(self.run)}

    @cached_property
    def _log(self) -> "LogInTab":
        from peerlab.features.site.tab_log import LogInTab  # noqa: PLC0415  (the first picture does not wait for it)

        return LogInTab()

    def _read_log(self, asked: Mapping[str, Any]) -> Mapping[str, object]:
        entries = self._log.read(asked, self.run.scenario)
        return {"log": entries, "measured": self._log.measured(self.run.scenario)}

    def _remove_log(self, _: Mapping[str, Any]) -> Mapping[str, object]:
        self._log.remove()
        return {"measured": self._log.measured(self.run.scenario)}

    def _take_cluster(self, asked: Mapping[str, Any]) -> Mapping[str, object]:
        """Keep a cluster file of one's own, in the tab's memory, and return what the controls offer of it."""
        # Only its last part: a name with folders must not leave the tab's own.
        file = Path(Path(asked["name"]).name)
        if file.suffix != ".toml":
            raise ScenarioError("cluster", f"{one_line(file)} is no cluster file; its name ends with .toml")
        try:
            file.write_text(asked["text"], encoding="utf-8")
        except (OSError, ValueError):  # too long, or with signs that no name has
            raise ScenarioError("cluster", f"{one_line(file)[:60]} is no name of a file") from None
        return {"cluster": offered(str(file))}

    def _pieces(self) -> Iterator[Mapping[str, object]]:
        """Yield, piece by piece, the ratio of the paths, curves, measured points, the ratio's range, the bands of the curves."""
        pair = self._pair()
        yield {"ratio": (pair and path_ratio(*pair, None, pending=True)) or {}}
        yield {"late": self._late() or {}}
        scenario, axis, computed = self.run.scenario, self._axis, []
        for line in lines(scenario, axis):
            runs: list[Run | None] = []
            # One point for each piece: a question waits for no more than that.
            for point in line.scenarios:
                runs.append(self._possible(point))
                yield {}
            computed.append((line, runs))
        yield {"curves": curves(scenario, axis, computed)}
        yield {"measured": self._log.measured(scenario)}
        if pair:
            yield {"ratio": self._ranged(*pair) or {}}
        bands: dict[str, list[Band | None]] = {}
        # the shown path's line first: a reader looks there
        for line, runs in sorted(computed, key=lambda each: self.run.scenario not in each[0].scenarios):
            bands[line.name] = []
            for run in runs:
                bands[line.name] += bands_of([run]) if run and _soon(run) else [None]
                yield {}
            state = WHOLE if len(bands) == len(computed) else RANGES
            yield {"curves": curves(scenario, axis, computed, bands, state=state)}

    def _late(self) -> Mapping[str, object] | None:
        """Return how late the nodes are; nothing where the run without noise is too slow."""
        planned = self._possible(undisturbed(self.run.scenario))
        return late(self.run, lateness(self.run, lambda _: planned)) if planned else None

    def _ranged(self, slow: Run, fast: Run) -> Mapping[str, object] | None:
        try:
            return path_ratio(slow, fast, gain_band_of(slow, fast) if _soon(slow, fast) else None)
        except PeerlabError:  # an end that takes too long: then there is no range
            return path_ratio(slow, fast, None)

    def _possible(self, scenario: Scenario | None) -> Run | None:
        try:
            return self._simulated(scenario, MOST_BESIDE_S) if scenario else None
        except PeerlabError:  # a point that is impossible, or too slow, is left out
            return None

    def _pair(self) -> tuple[Run, Run] | None:
        """Return the runs through the host and past it, where the cluster has both."""
        try:
            pair = detour_and_direct(self.run.scenario)
        except PeerlabError:  # the other path is impossible with these settings
            return None
        slow, fast = map(self._possible, pair or (None, None))
        return (slow, fast) if slow and fast else None


def _forecast_s(scenario: Scenario) -> float:
    """Return about how many seconds a run takes in a tab, whatever the machine that writes or tests it has installed."""
    return SLOWER * forecast_s(scenario, engine=_ENGINE)


def _soon(*runs: Run) -> bool:
    """Return whether a band of runs takes no longer than a question may wait."""
    return _ENDS * sum(_forecast_s(run.scenario) for run in runs) <= MOST_BESIDE_S


def _packed(value: Mapping[str, object]) -> Answer:
    columns: list[bytes] = []
    return json.dumps(numbered(value, columns)), columns
