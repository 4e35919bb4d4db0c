"""The figures of a run that can be compared with an expected figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from peerlab.answer.metrics import messages_per_s
from peerlab.answer.run import Run
from peerlab.base.units import PS_PER_S
from peerlab.engine.simulate import simulate
from peerlab.question.scenario import Scenario
from peerlab.study.jobs_answer import SharedFabric, shared_fabric
from peerlab.study.many_runs import many_runs
from peerlab.study.port_answer import PortAnswer, answer_ports
from peerlab.study.port_question import PortQuestion
from peerlab.training.answer_step import step
from peerlab.training.training_step import Step

_Answer = TypeVar("_Answer")
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
"""Units of time and how many seconds they have."""


@dataclass(frozen=True)
class JobsQuestion:
    """One collective of one of several jobs."""

    shared: SharedFabric
    job: int
    repeat: int


@dataclass(frozen=True)
class RunsQuestion:
    """Many runs of a scenario with noise."""

    scenario: Scenario
    seeds: int


Compared = Scenario | Step | PortQuestion | JobsQuestion | RunsQuestion
"""What a row may ask."""


@dataclass(frozen=True)
class ComparedFigure:
    """How a figure is drawn from one run, or from two."""

    figure: Callable[..., float]
    """From a run (or two) to the figure: seconds for a time, otherwise in the only unit it has."""
    of_two: bool = False
    """Whether it needs a second run to divide by."""
    of_steps: bool = False
    """Whether it is one of training steps; then `scenario` has a workload."""
    of_ports: bool = False
    """Whether it is one of queues in ports; then `scenario` has a neighbour."""
    of_jobs: bool = False
    """Whether it is one of several jobs on one fabric; then `scenario` has jobs."""
    of_runs: bool = False
    """Whether it is one of many runs with noise; then `scenario` has seeds, how many there are."""


def _steady(run: Run) -> float:
    """Return the time of all iterations but the first round over the buffers."""
    # In the first round a cache of registrations still fills.
    return sum(iteration.time_s for iteration in run.iterations[run.scenario.buffers :])


COMPARISONS = {
    "time": ComparedFigure(lambda run: run.time_s),
    "algbw": ComparedFigure(lambda run: run.algbw_GBps),
    "busbw": ComparedFigure(lambda run: run.busbw_GBps),
    "goodput": ComparedFigure(lambda run: run.scenario.goodput),
    # Millions of messages a second; a queue (below) in thousands of bytes.
    "message rate": ComparedFigure(lambda run: messages_per_s(run.trace, run.recording) / 1e6),
    "hits": ComparedFigure(
        lambda run: float(sum(iteration.registration.hits for iteration in run.iterations))
    ),
    "time ratio": ComparedFigure(lambda run, other: run.time_s / other.time_s, of_two=True),
    "steady time ratio": ComparedFigure(lambda run, other: _steady(run) / _steady(other), of_two=True),
    "step time": ComparedFigure(lambda run: run.time_s, of_steps=True),
    "exposed time": ComparedFigure(lambda run: run.exposed_s, of_steps=True),
    "utilisation": ComparedFigure(lambda run: run.utilisation, of_steps=True),
    # A gain is the other way round than a ratio of times: 2 is twice as fast.
    "step gain": ComparedFigure(lambda run, other: other.time_s / run.time_s, of_two=True, of_steps=True),
    "port time": ComparedFigure(lambda answer: answer.time_ps / PS_PER_S, of_ports=True),
    "victim share": ComparedFigure(lambda answer: answer.share, of_ports=True),
    "receiver share": ComparedFigure(lambda answer: answer.neighbours, of_ports=True),
    "counted share": ComparedFigure(lambda answer: answer.counted, of_ports=True),
    "job time": ComparedFigure(
        lambda collective: float(collective.shared.times.lasts(collective.job)[collective.repeat]),
        of_jobs=True,
    ),
    "job slow-down": ComparedFigure(
        lambda collective: float(collective.shared.slowdowns(collective.job)[collective.repeat]), of_jobs=True
    ),
    "job period": ComparedFigure(
        lambda collective: float(collective.shared.times.periods(collective.job)[collective.repeat]),
        of_jobs=True,
    ),
    "job offset": ComparedFigure(
        lambda collective: float(collective.shared.times.offsets(collective.job)[collective.repeat]),
        of_jobs=True,
    ),
    "mean queue": ComparedFigure(lambda answer: answer.mean_queue / 1e3, of_ports=True),
    "mean over quiet": ComparedFigure(lambda runs: runs.mean_ps / runs.quiet_ps, of_runs=True),
    "p50 over quiet": ComparedFigure(lambda runs: runs.at(0.5) / runs.quiet_ps, of_runs=True),
    "p99 over quiet": ComparedFigure(lambda runs: runs.at(0.99) / runs.quiet_ps, of_runs=True),
    "p99 over p50": ComparedFigure(lambda runs: runs.at(0.99) / runs.at(0.5), of_runs=True),
    "added in the mean": ComparedFigure(lambda runs: (runs.mean_ps - runs.quiet_ps) / PS_PER_S, of_runs=True),
    "added at p99": ComparedFigure(lambda runs: (runs.at(0.99) - runs.quiet_ps) / PS_PER_S, of_runs=True),
    "share held up": ComparedFigure(
        lambda runs: sum(ps > runs.quiet_ps for ps in runs.ordered_ps) / len(runs.ordered_ps), of_runs=True
    ),
}
"""By name. Times and bandwidths are those of the last iteration, hits those of all."""

UNITS: dict[str, tuple[str, ...]] = dict.fromkeys(COMPARISONS, ("1",)) | {
    "time": tuple(SECONDS),
    "algbw": ("GB/s",),
    "busbw": ("GB/s",),
    "message rate": ("M/s",),
    "step time": tuple(SECONDS),
    "exposed time": tuple(SECONDS),
    "port time": tuple(SECONDS),
    "added in the mean": tuple(SECONDS),
    "added at p99": tuple(SECONDS),
    "job time": ("s",),
    "job period": ("s",),
    "job offset": ("s",),
    "mean queue": ("KB",),
}
"""Units that a comparison can be given in."""


_latest: list[tuple[Any, Any]] = []
"""The latest question about queues or jobs, with its answer. One and no more: a trace has hundreds of thousands of cells."""


def _answered_once(question: Any, answer: Callable[[], _Answer]) -> _Answer:
    """Return the answer of a question: the latest one again, if it is of the same question."""
    if not _latest or _latest[0][0] != question:
        # Dropped before the next is made: there is no room for both.
        _latest.clear()
        _latest.append((question, answer()))
    kept: _Answer = _latest[0][1]
    return kept


def answered_ports(question: PortQuestion) -> PortAnswer:
    """Return the answer of a question about queues; rows one behind the other may draw two figures from one."""
    return _answered_once(question, lambda: answer_ports(question))


def answered_jobs(options: Mapping[str, Any]) -> SharedFabric:
    """Return the answer of a question about jobs; points one behind the other draw the figures of each job from one."""
    return _answered_once(options, lambda: shared_fabric(**options))


def forget() -> None:
    """Keep no answer about queues or jobs any longer."""
    _latest.clear()


def figure(
    compare: str,
    unit: str,
    compared: Compared,
    other: Compared | None,
    **options: Any,
) -> float:
    """Return the simulated figure, in `unit`.

    Raises
    ------
    PeerlabError
        If a scenario is impossible.
    """
    asked = [each for each in (compared, other) if each is not None]
    return drawn(compare, unit, [answered(each, **options) for each in asked])


def drawn(compare: str, unit: str, runs: Sequence[Any]) -> float:
    """Return the figure of one run, or of two, in `unit`."""
    # Only times have several units: every other figure is in its only one.
    return COMPARISONS[compare].figure(*runs) / SECONDS.get(unit, 1.0)


def answered(question: Compared, **options: Any) -> Any:
    """Return the answer of what a row asks, from which its figure is drawn."""
    # Jobs were answered when the row was read: the figure looks into that answer.
    if isinstance(question, JobsQuestion):
        return question
    if isinstance(question, PortQuestion):
        return answered_ports(question)
    if isinstance(question, RunsQuestion):
        return many_runs(question.scenario, question.seeds)
    return step(question, **options) if isinstance(question, Step) else simulate(question, **options)
