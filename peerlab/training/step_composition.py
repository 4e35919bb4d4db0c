"""A step out of collectives that were simulated alone: each moved to where it begins, in whole picoseconds.

That is exact, because the exchanges of a step are one after the other on one stream: nothing else uses the resources meanwhile, and a
recording depends on nothing but its scenario and what its registration caches hold at the beginning. It takes a collective that all ranks end
together; where they do not, the next one begins rank by rank (`training/rank_by_rank`).
"""

# A step is composed, not simulated again. The exchanges of a data-parallel step are one after the other on
# one stream, so each is the recording of a collective alone, moved to where it begins
# (`training/step_composition`): `begin = max(ready, end of the one before)`, in whole picoseconds. What the
# registration caches hold goes on from one to the next. Equal sizes share a recording; so ResNet-50 on
# 1,024 nodes is five of them, and a switch that moves no bucket's size costs two milliseconds. The referee
# (`training/whole_step`) runs all of it in one world, with a preemptible compute lane, and hypothesis holds
# the two to `==`. Where ranks do not end together (jitter, slow nodes, a tree, an uneven fabric) the next
# collective begins rank by rank, which costs a simulation for each exchange that nodes begin apart, and one
# for all equal ones that they begin together. Two streams at once are not modelled.

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from peerlab.answer.known_answers import Alike
from peerlab.answer.run import Run
from peerlab.answer.trace import Iteration, Ran
from peerlab.base.errors import WorkloadError
from peerlab.engine import recording
from peerlab.engine.expected_duration import forecast_s, makes_too_many
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.simulate import simulate, trace
from peerlab.engine.system import System, foldable, least
from peerlab.library.library_files import load_library
from peerlab.question.scenario import Scenario
from peerlab.training.nodes_differ import differs, draws
from peerlab.training.program import Exchanging, Program, program
from peerlab.training.rank_by_rank import RankByRank
from peerlab.training.step_times import timed
from peerlab.training.step_trace import Computed, Placed, StepTrace
from peerlab.training.steps_in_a_row import Row
from peerlab.training.training_step import Step

_MOST_KEPT = 256
_SOON_REPEATS = 3
"""Steps of a row after which one is as the one before, about."""
_FILE = ".toml"
Held = tuple[tuple[tuple[int, int], tuple[tuple[int, int], ...]], ...]
"""Idle regions of the registration cache of each NIC, by node and place, least recently used first."""


def scenario_of(step: Step, one: Exchanging) -> Scenario:
    """Return the collective alone."""
    return _loaded(step.scenario).with_(collective=one.collective, message_bytes=one.nbytes)


def scenarios_of(step: Step, program: Program) -> list[Scenario]:
    """Return the collective of every exchange; equal ones are one."""
    entries: dict[tuple[str, int], Scenario] = {}
    for exchange in program.exchanging:
        key = (exchange.collective, exchange.nbytes)
        if key not in entries:
            entries[key] = scenario_of(step, exchange)
    return [entries[exchange.collective, exchange.nbytes] for exchange in program.exchanging]


def _loaded(scenario: Scenario) -> Scenario:
    """Return the scenario with what its files hold now: runs are remembered, and a file may be edited meanwhile."""
    changes: dict[str, Any] = {}
    if str(scenario.cluster).endswith(_FILE):
        changes["cluster"] = scenario.given_cluster
    if isinstance(scenario.library, str | Path) and str(scenario.library).endswith(_FILE):
        changes["library"] = load_library(scenario.library)
    return scenario.with_(**changes) if changes else scenario


def compose(step: Step, program: Program, progress: Progress | None = None) -> StepTrace:
    """Return a step, composed of its collectives; `progress` is told how many of them there are and how many are simulated.

    Raises
    ------
    LinksAreSharedError
        If nodes differ, and two exchanges would be under way at once on links that they share.
    """
    scenarios = scenarios_of(step, program)
    if differs(step, scenarios):
        return RankByRank(step, program, scenarios, progress).run()
    # What an exchange finds registered depends on those before it, so they are simulated in turn.
    limited = carries(step.scenario) or _finds_again(step.scenario, program)
    carried = _Carried(step, program) if limited or (step.steps > 1 and _is_cold(step.scenario)) else None
    row, count = Row(step.steps, _cache_contents(carried)), len(program.exchanging)
    while True:
        runs, answers = carried.runs() if carried else _alone(step, program), list[Run]()
        for number, run in enumerate(runs):
            answers.append(run)
            if progress:
                progress(row.turn * count + number + 1, step.steps * count)
        placed, before = _place(program, answers, step.slowdown_per_mille), row.end_ps
        row.add((before + placed.end_ps,), _cache_contents(carried))
        if not row.goes_on:
            return replace(placed, row=row.whole()) if step.steps > 1 else placed


def carries(scenario: Scenario) -> bool:
    """Return whether an exchange may find less in the registration caches because of those before it."""
    limits = (scenario.cache_regions, scenario.cache_bytes, scenario.memlock_bytes)
    limited = any(limit is not None for limit in limits)
    if limited and scenario.registration == "pool" and scenario.data_path.uses_device_memory:
        raise WorkloadError(
            "registration: a pool with limits is not modelled for a step; leave the limits out"
        )
    return limited and scenario.registers and scenario.registration == "cached"


def _finds_again(scenario: Scenario, program: Program) -> bool:
    """Return whether an exchange of a cold step finds what one before it has registered: a block is gathered twice."""
    return _is_cold(scenario) and len({exchange.buffer_set for exchange in program.exchanging}) < len(
        program.exchanging
    )


def _is_cold(scenario: Scenario) -> bool:
    """Return whether the first step is shown, which finds nothing registered."""
    return scenario.registers and scenario.registration == "cached" and scenario.runs == 1


def _alone(step: Step, program: Program) -> Iterator[Run]:
    """Yield a run for each exchange; equal ones share it. Without limits no cache gives up what another exchange registered."""
    entries: dict[tuple[str, int], Run] = {}  # to make a scenario takes longer than to remember its run
    for exchange in program.exchanging:
        key = (exchange.collective, exchange.nbytes)
        if key not in entries:
            entries[key] = _run(scenario_of(step, exchange))
        yield entries[key]


@lru_cache(maxsize=_MOST_KEPT)
def _run(scenario: Scenario) -> Run:
    """Return a run, always the same for a scenario; those that a simulation cannot tell apart share the spans of one of them."""
    return replace(_one_of(Alike(scenario)), scenario=scenario)


@lru_cache(maxsize=_MOST_KEPT)
def _one_of(alike: Alike) -> Run:
    return simulate(alike.scenario)


class _Carried:
    """Steps one after the other; what the registration caches hold goes on from one exchange to the next."""

    def __init__(self, step: Step, program: Program) -> None:
        self._step, self._program = step, program
        # Caches soon come back to a state that was seen: from then on nothing is simulated.
        self._entries: dict[tuple[str, int, int, Held], tuple[Run, Held]] = {}
        self.held: Held = ()
        # The steps before those that are shown only fill the caches.
        for _ in range(step.scenario.runs - 1):
            for _run in self.runs():
                pass

    def runs(self) -> Iterator[Run]:
        """Yield a run for each exchange of the next step."""
        for exchange in self._program.exchanging:
            key = (exchange.collective, exchange.nbytes, exchange.buffer_set, self.held)
            if key not in self._entries:
                scenario = scenario_of(self._step, exchange)
                self._entries[key] = _run_from(scenario, exchange.buffer_set, self.held)
            run, self.held = self._entries[key]
            yield run


def _cache_contents(carried: _Carried | None) -> Held:
    """Return what the next step depends on, where nodes do the same: what the caches hold."""
    return carried.held if carried else ()


def _run_from(scenario: Scenario, buffer_set: int, held: Held) -> tuple[Run, Held]:
    """Return a run that begins with what the caches hold, and what they hold after it."""
    system = least(scenario)
    queue = RegistrationQueue(system)
    nics = {place_of(system, lane.registration_queue): lane.registration_queue for lane in system.lanes}
    queue.restore(tuple((nics[place], regions) for place, regions in held))
    queue.begin(buffer_set)
    # other buffer sets may evict, whatever the size of this one
    record = recording.by_loop(system, queue, None, repeats=False)
    after = tuple((place_of(system, nic), regions) for nic, regions in queue.contents())
    return Run(scenario, trace(system, record, Ran((Iteration(0, record),))), "loop", simulate), after


def place_of(system: System, nic: int) -> tuple[int, int]:
    """Return node and place of a NIC's registration queue; its number differs between systems."""
    resource = system.resources[nic]
    return resource.node, resource.index


def _place(program: Program, runs: Sequence[Run], slowdown: int) -> StepTrace:
    """Return when everything begins."""
    times = timed(program, [run.time_ps for run in runs], slowdown)
    computed = (Computed(op, *when) for op, when in zip(program.computing, times.computed, strict=True))
    placed = (
        Placed(op, run, *when) for op, run, when in zip(program.exchanging, runs, times.placed, strict=True)
    )
    return StepTrace(tuple(computed), tuple(placed))


def step_forecast_s(step: Step) -> float:
    """Return about how many seconds a step takes to answer; 0 where one node stands for all, and where it is refused at once.

    Equal exchanges that nodes begin together are simulated once, by the fastest engine; each that they begin apart is simulated.
    """
    asked = program(step)
    scenarios = scenarios_of(step, asked)
    if not differs(step, scenarios) or any(map(makes_too_many, set(scenarios))):
        return 0.0
    apart = _begun_apart(step, asked, scenarios)
    together = {scenario for scenario, alone in zip(scenarios, apart, strict=True) if not alone}
    # Steps that draw noise of their own are simulated each; others soon repeat.
    turns = step.steps if draws(step) else min(step.steps, _SOON_REPEATS)
    return sum(map(forecast_s, together)) + turns * sum(
        forecast_s(scenario, in_a_step=scenario.choice is None)  # else it is walked in one pass
        for scenario, alone in zip(scenarios, apart, strict=True)
        if alone
    )


def _begun_apart(step: Step, program: Program, scenarios: Sequence[Scenario]) -> list[bool]:
    """Return of each exchange whether nodes probably begin it apart: they compute apart, or it is ready before the one before is over."""
    even = {scenario: scenario.with_(slow_nodes=None) for scenario in scenarios}
    if step.computes_apart or not all(map(foldable, even.values())):
        return [True] * len(scenarios)
    # A slow node makes an exchange longer by no more than its own share.
    share = min((step.scenario.slow_nodes or {0: 1.0}).values())
    lasts = [round(_run(even[scenario]).time_ps / share) for scenario in scenarios]
    return [begin > ready for ready, begin in timed(program, lasts, step.slowdown_per_mille).placed]
