"""Answers a step: what is trained, how, and on which machine."""

from typing import Any

from peerlab.base.errors import WorkloadError, nearest
from peerlab.engine.loop.event_loop import Progress
from peerlab.question.scenario import Scenario
from peerlab.training.nodes_differ import differs
from peerlab.training.program import Program, program
from peerlab.training.rank_by_rank import LinksAreSharedError
from peerlab.training.step_composition import carries, compose, scenarios_of
from peerlab.training.step_run import StepRun
from peerlab.training.step_trace import StepTrace
from peerlab.training.training_step import Step

STEP_ENGINES = ("auto", "composition", "referee")


def step(
    question: Step | Scenario | None = None,
    *,
    engine: str = "auto",
    progress: Progress | None = None,
    **given: Any,
) -> StepRun:
    """Return one step of a training: how long it takes, and how much of its exchange is seen.

    Parameters
    ----------
    question:
        A `Step`, or the `Scenario` that it is trained on; default: ``Scenario()``.
    engine:
        ``composition``: each collective is simulated alone and moved to where it begins, which is exact; where nodes differ, each begins
        it at its own time. ``referee``: the whole step in one world of SimPy, slow and plain. ``auto``: the composition, and the referee
        where two exchanges are under way at once on links that nodes share.
    progress:
        Called with exchanges done and in all; may raise `peerlab.base.errors.Cancelled`.
    **given:
        Fields of a step and of its scenario, side by side: ``workload="bert-large", batch=8, nodes=8, path="peer-direct"``.

    Raises
    ------
    WorkloadError, ScenarioError, HardwareError
        If the question is impossible, or nodes differ and what would happen is not known exactly (limited caches, sums in the switches).

    >>> step(workload="resnet50", path="peer-direct").step.samples
    8192
    """
    if engine not in STEP_ENGINES:
        raise WorkloadError(f"engine: unknown {engine!r:.40}; {nearest(str(engine), STEP_ENGINES)}")
    if isinstance(question, Step):
        asked = question.with_(**given) if given else question
    else:
        asked = Step.of(question, **given)
    written = program(asked)
    if engine == "referee":
        return StepRun(asked, _in_one_world(asked, written), engine, step)
    try:
        return StepRun(asked, compose(asked, written, progress), "composition", step)
    except LinksAreSharedError:  # known only when the ends are
        if engine == "composition":
            raise WorkloadError(
                "engine: two exchanges are under way at once on links that nodes share, which 'composition' cannot say; use 'auto'"
            ) from None
        return StepRun(asked, _in_one_world(asked, written), "referee", step)


def _in_one_world(asked: Step, written: Program) -> StepTrace:
    """Return the whole step in one world of SimPy, which is loaded only where it is needed."""
    scenarios = scenarios_of(asked, written)
    if differs(asked, scenarios):
        from peerlab.training.uneven_world import UnevenWorld  # noqa: PLC0415

        return UnevenWorld(asked, written, scenarios).run()
    from peerlab.training.whole_step import World  # noqa: PLC0415

    carries(asked.scenario)  # refuses what neither engine takes
    return World(asked, written).run()
