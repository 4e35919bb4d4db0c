"""Runs of many scenarios; those that differ only in seed and jitter are simulated side by side, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache

from peerlab.answer.run import Run
from peerlab.answer.trace import Iteration, Recording
from peerlab.engine import recording
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.simulate import fastest, of_events, simulate, simulate_one_of, trace, warm_queue
from peerlab.engine.system import System, least
from peerlab.question.scenario import Scenario

_FREE = ("seed", "jitter")
_SHARED = [scenario_field.name for scenario_field in fields(Scenario) if scenario_field.name not in _FREE]
_MOST = 250
"""Runs side by side; their arrays stay in the processor's cache."""
_MOST_TIMES = 4_000_000
"""Moments that runs side by side may hold together: 32 MB."""


@dataclass(eq=False)
class SideBySide:
    """Runs of some scenarios. Asking for one simulates its whole group, if the arrays can.

    A group is scenarios that differ in `seed` and `jitter` alone: one call of the array engine runs it. Every run is the one that
    `simulate` gives.
    """

    scenarios: Sequence[Scenario]
    """The questions."""
    progress: Progress | None = None
    """Called with steps done and steps in all; may raise `peerlab.base.errors.Cancelled`."""
    before: int = 0
    """Runs that this process has made before; as many may come again, and pay for machine code together."""
    _made: dict[int, Run] = field(default_factory=dict)
    _others: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        groups: dict[tuple[object, ...], list[int]] = {}
        for index, scenario in enumerate(self.scenarios):
            # runs without jitter are all alike but may take another engine
            shared = (bool(scenario.jitter), *(getattr(scenario, name) for name in _SHARED))
            groups.setdefault(shared, []).append(index)
        self._groups = {index: group for group in groups.values() if len(group) > 1 for index in group}

    def run(self, index: int) -> Run:
        """Return the run of one of the scenarios, once.

        Raises
        ------
        ScenarioError
            If it cannot be simulated.
        """
        group = self._groups.get(index, [])
        known = index in self._made or index in self._others
        if not known and group and fastest(least(self.scenarios[index])) == "arrays":
            self._made |= self._together([member for member in group if member >= index])
        if index in self._made:
            return self._made.pop(index)
        scenario, alike = self.scenarios[index], self.before + max(1, len(group))
        engine = of_events(least(scenario), alike) if index in self._others else "auto"
        return simulate_one_of(scenario, alike, engine, self.progress)

    def _together(self, group: Sequence[int]) -> dict[int, Run]:
        """Return the runs of the first scenarios of a group; none if they take longer than an array's integers can count.

        Those whose order of service is not the assumed one are left out, and noted for a loop of events.
        """
        system = least(self.scenarios[group[0]]).of_every_node()
        held = len(system.lanes) * (system.pieces + system.scenario.window_slices)
        some = group[: max(1, min(_MOST, _MOST_TIMES // held))]
        scenarios = [self.scenarios[index] for index in some]
        try:
            recordings = recording.side_by_side(system, warm_queue(system), scenarios, self.progress)
        except OverflowError:  # with the jitter of one of them: the others may still be simulated alone
            return {}
        self._others |= {index for index, record in zip(some, recordings, strict=True) if record is None}
        return {
            index: _run(system, self.scenarios[index], record)
            for index, record in zip(some, recordings, strict=True)
            if record
        }


def _run(system: System, scenario: Scenario, last: Recording) -> Run:
    def iterations() -> tuple[Iteration, ...]:
        if scenario.registers:  # those before the last one registered
            return simulate(scenario, engine="arrays").trace.iterations
        return tuple(Iteration(number * last.end_ps, last) for number in range(scenario.runs))

    return Run(scenario, trace(system, last, cache(iterations)), "arrays", simulate)


def times(scenarios: Sequence[Scenario]) -> list[int]:
    """Return the time of each scenario's last iteration, picoseconds, equal to what `simulate` gives."""
    runs = SideBySide(scenarios)
    return [runs.run(index).time_ps for index in range(len(scenarios))]
