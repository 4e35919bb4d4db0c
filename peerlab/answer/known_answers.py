"""How long scenarios take, each simulated once in a session.

A band asks for many scenarios that differ in one figure, and most figures change nothing: another path meets them, or chunks are
smaller than any slice would be. Scenarios that only differ so have one answer.
"""

# Scenarios with one answer are simulated once. Most figures of a band change nothing: only the other path
# meets them, or chunks are smaller than any slice would be. `answer/known_answers` says which scenarios a
# simulation cannot tell apart (`same_answer`) and remembers how long they take. More than half of the
# simulations of a page or a deck are such.

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Protocol

from peerlab.base.latest import Latest
from peerlab.collectives.choose import cut, plan
from peerlab.collectives.plan import Plan, Schedule
from peerlab.model.hardware import FIGURE_FIELDS, Cluster
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS
from peerlab.question.used_figures import figures_used

# An answer is two numbers: no trace is kept.
_MOST_KEPT = 4000
_SLICES = frozenset(("slices.staged", "slices.direct", "slices.least"))
"""Figures of which a simulation sees the sizes of slices alone."""
_ASKED = tuple(name for name, field in FIELDS.items() if Cluster not in field.types)
_BESIDE_FIGURES = tuple(
    field.name
    for field in fields(Cluster)
    if "figure" not in field.metadata and field.name not in ("lacks", "leaves_out", "figures")
)


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """What is kept of a run."""

    time_ps: int
    """How long its last iteration takes."""
    reports: int
    """How often the simulation said how far it was: how much work it is, on every machine alike."""


class _Timed(Protocol):
    """A run, as far as it matters here."""

    @property
    def time_ps(self) -> int:
        """How long its last iteration takes, picoseconds."""
        ...


_answers: Latest[Hashable, KnownAnswer] = Latest(_MOST_KEPT)


def answer(
    scenario: Scenario, simulate: Callable[..., _Timed], progress: Callable[[int, int], None] | None = None
) -> KnownAnswer:
    """Return how long a scenario takes; it is simulated if no scenario with the same answer was.

    `simulate` is `peerlab.simulate`, and `progress` is called as there: not at all, where the answer is known.
    """

    def simulated() -> KnownAnswer:
        reports = 0

        def count(done: int, total: int) -> None:
            nonlocal reports
            reports += 1
            if progress:
                progress(done, total)

        return KnownAnswer(simulate(scenario, progress=count).time_ps, reports)

    return _answers.get(same_answer(scenario), simulated)


def same_answer(scenario: Scenario, planned: Plan | None = None) -> Hashable:
    """Return what two scenarios share only if they take equally long: all that a simulation looks at; `planned`: its plan, if not its own."""
    cluster, used = scenario.hardware, figures_used(scenario)
    planned = planned or plan(scenario)
    # These change nothing where a chunk is smaller than the slice, so the sizes that follow stand for them.
    met = used - _SLICES
    return (
        tuple(getattr(scenario, name) for name in _ASKED),
        tuple(getattr(cluster, name) for name in _BESIDE_FIGURES),
        frozenset(cluster.leaves_out),
        used,
        # what is no figure of the file was set by hand
        tuple(
            getattr(cluster, name) if key in met or key not in cluster.figures else None
            for key, name in FIGURE_FIELDS.items()
        ),
        scenario.stages,
        planned,
        tuple(
            _ends(cut(scenario, chunks * planned.schedule.chunk_bytes)) for chunks in _sent(planned.schedule)
        ),
    )


class Alike:
    """A scenario that equals those with the same answer: a key under which something is remembered for all of them."""

    def __init__(self, scenario: Scenario, planned: Plan | None = None) -> None:
        self.scenario, self.planned = scenario, planned
        """One of these scenarios, and the plan that it runs, where that is another than `plan` makes."""
        self._answer = same_answer(scenario, planned)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and self._answer == other._answer

    def __hash__(self) -> int:
        return hash(self._answer)


def _ends(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    """Return how many slices there are, and the first and the last size: all but the last are alike."""
    return len(sizes), sizes[0], sizes[-1]


@lru_cache(maxsize=256)
def _sent(schedule: Schedule) -> tuple[int, ...]:
    """Return how many chunks a transfer has, in every step; one chunk is what a node's devices exchange."""
    return tuple(sorted({1, *(len(schedule.sends(step)) for step in range(schedule.steps))}))
