"""Answers a step: what is trained, how, and on which machine."""

from typing import Any

from peerlab.base.errors import WorkloadError, nearest
from peerlab.engine.loop.event_loop import Progress
from peerlab.question.scenario import Scenario
from peerlab.training.program import program
from peerlab.training.step_composition import carries, compose
from peerlab.training.step_run import StepRun
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
        ``composition``: each collective is simulated alone and moved to where it begins, which is exact; ``referee``: the whole step
        in one world of SimPy, slow and plain; ``auto``: the composition.
    progress:
        Called with exchanges done and in all; may raise `peerlab.base.errors.Cancelled`.
    **given:
        Fields of a step and of its scenario, side by side: ``workload="bert-large", batch=8, nodes=8, path="peer-direct"``.

    Raises
    ------
    WorkloadError, ScenarioError, HardwareError
        If the question is impossible, or ranks do not end a collective together (jitter, slow nodes, a fabric that is not the same for all).

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
        from peerlab.training.whole_step import World  # noqa: PLC0415  (SimPy is loaded only where it is asked for)

        carries(asked.scenario)  # refuses what neither engine takes
        return StepRun(asked, World(asked, written).run(), engine, step)
    return StepRun(asked, compose(asked, written, progress), "composition", step)
