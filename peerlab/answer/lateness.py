"""How late each node is in each step of a run with noise or slow parts: against the same run without them."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from peerlab.answer.run import Run
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import say_count
from peerlab.collectives.choose import plan
from peerlab.model.noise import NOISE_KINDS
from peerlab.question.scenario import Scenario

Rows = tuple[tuple[int, ...], ...]
"""By node, then by step."""
Cell = tuple[int, int]
"""Node and step."""

_LENGTHS = ("detour_us", "detour_tail", "tick_us")
"""Fields that say how long noise lasts where there is some: without it they make no other question, and no other key."""
_MOST_SPANS = 2_000_000
"""Spans of a run for which it takes a second or two to see who is late in which step."""
_MAKES_IT = 0.5
"""Share of all lateness that one step of one node adds, from which on the delay is named."""
_AS_LARGE = 0.9
"""A delay that goes on to a neighbour comes again, about as large: the first of these is where it comes from."""
_LOOKED_AT = 64
"""Nodes and steps of a schedule that are looked at: partners that change do so in the first few."""


@dataclass(frozen=True, eq=False)
class Lateness:
    """When the last of what each node sends in each step has arrived, as planned and as it was; where it sends nothing, as in the step before."""

    planned_ps: Rows
    """Without noise and slow parts, picoseconds."""
    arrived_ps: Rows
    """In the run."""

    @cached_property
    def late_ps(self) -> Rows:
        """How much later than planned, by node and step; negative where it was earlier."""
        rows = zip(self.arrived_ps, self.planned_ps, strict=True)
        return tuple(tuple(a - p for a, p in zip(*row, strict=True)) for row in rows)

    @cached_property
    def latest(self) -> Cell:
        """The node and the step that are latest; the first of those that are equally late."""
        late = self.late_ps
        cells = ((node, step) for node, row in enumerate(late) for step in range(len(row)))
        return max(cells, key=lambda cell: (late[cell[0]][cell[1]], -cell[1], -cell[0]))

    @property
    def most_ps(self) -> int:
        """How late that is, picoseconds."""
        node, step = self.latest
        return self.late_ps[node][step]

    def at(self, time_ps: int) -> list[int]:
        """Return how late each node is at a moment: what it was in its last step, or how long its next one is overdue."""
        return [
            _late_at(planned, arrived, time_ps)
            for planned, arrived in zip(self.planned_ps, self.arrived_ps, strict=True)
        ]


def _late_at(planned: tuple[int, ...], arrived: tuple[int, ...], time_ps: int) -> int:
    done = bisect_right(arrived, time_ps)  # what is later in a row is no earlier
    late = arrived[done - 1] - planned[done - 1] if done else 0
    overdue = time_ps - planned[done] if done < len(planned) else 0
    return max(0, late, overdue)


def undisturbed(s: Scenario) -> Scenario:
    """Return a scenario without noise and slow parts.

    >>> undisturbed(Scenario(jitter=0.1, slow_nodes={0: 0.5})) == Scenario()
    True
    """
    quiet: dict[str, Any] = {**dict.fromkeys(NOISE_KINDS, 0.0), **dict.fromkeys(_LENGTHS)}
    return without_slow_parts(s).with_(**quiet)


def without_slow_parts(s: Scenario) -> Scenario:
    """Return a scenario in which no node, NIC or link is slower than others; its noise stays."""
    return s.with_(slow_nodes=None, slow_nics=None, slow_links=None)


def may_be_late(s: Scenario) -> bool:
    """Return whether nodes of a scenario can be later than planned, and its steps tell."""
    disturbed = bool(s.noise) or s.has_slow_parts
    return disturbed and s.domains > 1 and not s.collective_record.is_message


def lateness(run: Run, answer: Callable[[Scenario], Run]) -> Lateness | None:
    """Return how late a run is; None where it is as planned, has too many spans, or recorded some of the nodes alone.

    `answer` simulates the run without noise and slow parts, or has it already.
    """
    if not may_be_late(run.scenario) or int(run.recording.weights.sum()) > _MOST_SPANS:
        return None
    both = Lateness(arrivals(answer(undisturbed(run.scenario))), arrivals(run))
    schedule = plan(run.scenario).schedule
    steps = range(schedule.steps)
    rows = enumerate(zip(both.planned_ps, both.arrived_ps, strict=True))
    missing = (
        min(map(max, times)) == 0 and any(schedule.to(node, step) >= 0 for step in steps)
        for node, times in rows
    )
    if any(missing):
        return None
    # A slow part that this path does not use makes nobody late.
    return both if both.most_ps > 0 else None


def arrivals(run: Run) -> Rows:
    """Return when the last of what a node sends in a step has arrived, picoseconds; in a folded run all nodes are alike."""
    columns, steps = run.recording.unrolled, plan(run.scenario).schedule.steps
    nodes = run.scenario.domains
    sent = columns["slice"] >= 0
    values: NDArray[np.int64] = np.zeros(nodes * steps, np.int64)
    places = columns["node"][sent] * steps + columns["step"][sent]
    np.maximum.at(values, places, columns["end"][sent])
    flat: list[int] = values.tolist()
    # The latest until each step.
    rows = [tuple(accumulate(flat[node * steps : (node + 1) * steps], max)) for node in range(nodes)]
    return (rows[0],) * nodes if run.trace.folded else tuple(rows)


def source(late: Rows, s: Scenario) -> Cell | None:
    """Return which node was held up in which step, where that makes at least half of all lateness; None where nothing does.

    Where partners change from step to step nothing is named: a node is late there by whom it waits for, too, so that the largest
    step of lateness is not where it comes from.
    """
    return None if _partners_change(s) else _source(late, s)


def _source(late: Rows, s: Scenario) -> Cell | None:
    added = {
        (node, step): row[step] - (row[step - 1] if step else 0)
        for node, row in enumerate(late)
        for step in range(len(row))
    }
    largest = max(added.values())
    if largest < _MAKES_IT * max(row[-1] for row in late):
        return None
    held = [cell for cell, more in added.items() if more >= _AS_LARGE * largest]
    step = min(step for _, step in held)
    nodes = {node for node, when in held if when == step}
    # Where slices go on within a step, whoever receives from a late node is late in the same one.
    follow = {plan(s).schedule.to(node, step) for node in nodes}
    return min(nodes - follow or nodes), step


def how_it_spreads(late: Rows, s: Scenario) -> str:
    """Return in a sentence which transfer makes all late, and when; or why no single one is named."""
    if _partners_change(s):
        return "Partners change from step to step, so no single transfer is named."
    cell = _source(late, s)
    if not cell:
        return "The lateness adds up step by step: no single transfer makes it."
    node, step = cell
    enough = _MAKES_IT * late[node][step]
    reached = [k for k in range(step, len(late[0])) if min(row[k] for row in late) >= enough]
    counted = s.hardware.counted_as
    sentence = f"What {counted} {node} sends in step {step + 1} is late"
    if not reached:
        return f"{sentence}; not every {counted} is late before the end."
    return f"{sentence}; {say_count(reached[0] - step, 'step')} later every {counted} is late."


def _partners_change(s: Scenario) -> bool:
    """Return whether a node sends to several others in turn, as in a pairwise exchange; in a ring and in a chain it has one."""
    schedule = plan(s).schedule
    nodes, steps = range(min(s.domains, _LOOKED_AT)), range(min(schedule.steps, _LOOKED_AT))
    return any(len({schedule.to(node, step) for step in steps} - {-1}) > 1 for node in nodes)
