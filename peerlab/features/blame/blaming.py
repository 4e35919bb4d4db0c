"""What each node, and each way between two nodes, explains of a run that was slower than ordinary ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from peerlab.answer.lateness import Lateness, arrivals, undisturbed, without_slow_parts
from peerlab.answer.run import Run
from peerlab.base.display import shown
from peerlab.base.errors import ScenarioError
from peerlab.base.units import say_percent
from peerlab.engine.arrays.many_seeds import side_by_side, times_of_seeds
from peerlab.engine.ordinary import Way, time_if_ordinary
from peerlab.engine.recording import spans_of_all
from peerlab.engine.simulate import simulate
from peerlab.engine.system import System
from peerlab.question.scenario import Scenario, checked_scenario

EXPLAINS = 0.8
"""Share of what was lost that somebody has to explain before it is named."""
_ORDINARY = 41
_NO_SLOWER = 39
"""So many of 41 ordinary runs a run has to be slower than: else it lost nothing that calls for a cause."""
_MOST_NODES = 64
_MOST_SPANS = 500_000
"""Spans of a run for which it takes a second or two to see who is late in which step."""


@dataclass(frozen=True, eq=False)
class Blame:
    """What each explains of the excess: of the run's time beyond the median of ordinary runs."""

    scenario: Scenario
    """The run: its seed counts."""
    time_ps: int
    ordinary_ps: int
    """Median of ordinary runs: other seeds, no slow part."""
    slowest_ps: int
    """What 39 of 41 ordinary runs do not exceed: a run that is no slower lost nothing that calls for a cause."""
    nodes: tuple[float, ...]
    """For each node how much earlier the run would have ended had it been ordinary, in parts of the excess; beyond 1 it would have been faster
    than the median of ordinary runs."""
    ways: tuple[tuple[Way, float], ...]
    """The same for each way from one node to another."""
    late_ps: tuple[tuple[int, ...], ...] = ()
    """By node, then by step: how much later what it sends has arrived than in the run without noise and slow parts; empty where spans are too many."""

    @property
    def excess_ps(self) -> int:
        """What was lost, picoseconds; negative if the run was faster than ordinary ones."""
        return self.time_ps - self.ordinary_ps

    @property
    def explained(self) -> tuple[float, ...]:
        """For each node the share of the excess that would be gone had it been ordinary: all of it at most, and none where nothing was lost."""
        return tuple(map(self.part, self.nodes))

    def part(self, won: float) -> float:
        """Return which share of what was lost somebody explains who makes the run earlier by so many parts of it."""
        return min(1.0, max(0.0, won)) if self.excess_ps > 0 else 0.0

    @property
    def slower(self) -> bool:
        """Whether it lost anything that calls for a cause."""
        return self.time_ps > self.slowest_ps

    @property
    def way(self) -> Way | None:
        """The way that is named, if one is; it comes before any node, since a slow way makes both of its nodes look guilty."""
        enough = (way for way, won in self.ways if won >= EXPLAINS)
        return next(enough, None) if self.slower else None

    @property
    def named(self) -> tuple[int, ...]:
        """Who is named: both ends of a way, one node, or nobody."""
        if not self.slower:
            return ()
        if self.way:
            return self.way
        best = max(range(len(self.nodes)), key=self.nodes.__getitem__)
        return (best,) if self.nodes[best] >= EXPLAINS else ()

    @property
    def in_words(self) -> str:
        """The answer as a sentence."""
        if not self.named:
            return self.verdict
        return f"{self.culprit} explains {say_percent(self.share)} of what was lost."

    @property
    def verdict(self) -> str:
        """Who is to blame, without how much of what was lost that explains."""
        if self.culprit:
            return f"{self.culprit} is to blame."
        if not self.slower:
            return "Nobody is to blame: this run is an ordinary one."
        return "No one node or connection is to blame."

    @property
    def culprit(self) -> str:
        """Who is named, as the subject of a sentence; empty: nobody."""
        match self.named:
            case (node,):
                return f"Node {node}"
            case (node, other):
                return f"The way from node {node} to node {other}"
        return ""

    @property
    def share(self) -> float:
        """Which share of what was lost the named one explains, 0 to 1; 0: nobody is named."""
        if not self.named:
            return 0.0
        return self.part(dict(self.ways)[self.way]) if self.way else self.explained[self.named[0]]

    _repr_html_ = shown

    def __repr__(self) -> str:
        return f"Blame({self.in_words})"


def blame(scenario: Scenario | None = None, **fields: Any) -> Blame:
    """Say who is to blame for a run that was slower than ordinary ones.

    Everybody in turn is made ordinary, and the run simulated again: what that wins is what it explains. Ordinary runs have other seeds
    and no slow part. Whoever explains 80 % is named: a way first, then a node.

    Raises
    ------
    ScenarioError
        If the question is impossible, has more than 64 nodes, or transfers queue for registration or share links.

    >>> blame(cluster="ideal-100g", nodes=8, message_bytes="8 MiB", jitter=0.05, slow_nodes={3: 0.8})
    Blame(Node 3 explains 100 % of what was lost.)
    """
    asked = Scenario(**fields) if scenario is None else checked_scenario(scenario).with_(**fields)
    _check(asked)
    # Without slow parts, but with the noise: ordinary runs have bad luck, too.
    return blame_beside(asked, _ordinary(without_slow_parts(asked)))


def blame_beside(asked: Scenario, others: Sequence[int], *, of_ordinary: bool = True) -> Blame:
    """Say who is to blame for a run; `others` are the times of ordinary runs, picoseconds.

    Not `of_ordinary`: where the run is an ordinary one, for which nobody is to blame, what parts of it explain is not simulated.
    """
    _check(asked)
    # Unfolded: one node stands for all only where nobody is slow.
    system = System(asked, folded=False)
    # Simulated once: with what every node sends where somebody looks at it.
    traced = spans_of_all(system) <= _MOST_SPANS
    run = simulate(asked, every_node=traced)
    took = run.time_ps
    ways = _ways(system)
    ordinary = int(median(others))
    lost = max(1, took - ordinary)
    # The third slowest of 41, which 39 do not exceed; of a single run itself.
    slowest = sorted(others)[-(-len(others) * _NO_SLOWER // _ORDINARY) - 1]
    late = _late(run) if traced else ()
    if took <= slowest and not of_ordinary:
        return Blame(asked, took, ordinary, slowest, (), (), late)
    nodes = range(system.plan.nodes)
    of_nodes = tuple(
        # A node is made ordinary together with all ways from it and to it.
        (took - time_if_ordinary(asked, [way for way in ways if node in way], [node])) / lost
        for node in nodes
    )
    of_ways = tuple((way, (took - time_if_ordinary(asked, [way])) / lost) for way in ways)
    return Blame(asked, took, ordinary, slowest, of_nodes, of_ways, late)


def _check(asked: Scenario) -> None:
    """Refuse a run of too many nodes, and one that nothing made slow."""
    if asked.nodes > _MOST_NODES:
        raise ScenarioError(
            "nodes", f"blame simulates a run for each node and way; give at most {_MOST_NODES} nodes"
        )
    if not asked.noise and not asked.has_slow_parts:
        raise ScenarioError(
            "jitter", "without noise and slow parts nobody is to blame; give some, such as jitter=0.05"
        )


def _late(run: Run) -> tuple[tuple[int, ...], ...]:
    """Return by node and step how much later what it sends has arrived than without noise and slow parts; of a run with the spans of every node."""
    planned = arrivals(simulate(undisturbed(run.scenario), every_node=True))
    return Lateness(planned, arrivals(run)).late_ps


def _ordinary(quiet: Scenario) -> list[int]:
    """Return the times of ordinary runs."""
    if not quiet.noise:
        # Without noise every seed gives the same run.
        return [simulate(quiet).time_ps]
    seeds = range(quiet.seed + 1, quiet.seed + 1 + _ORDINARY)
    if side_by_side(quiet):
        return times_of_seeds(quiet, seeds)
    return [simulate(quiet.with_(seed=seed)).time_ps for seed in seeds]


def _ways(system: System) -> list[Way]:
    schedule = system.plan.schedule
    ways = {
        (node, schedule.to(node, step)) for step in range(schedule.steps) for node in range(system.plan.nodes)
    }
    # A schedule says -1 where a node sends nothing.
    return sorted(way for way in ways if way[1] >= 0)
