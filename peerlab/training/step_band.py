"""How sure the gain of a step is: the cluster's assumed figures, and what is assumed about the training itself."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from peerlab.answer.gain import GainBand, gain_band
from peerlab.base.errors import WorkloadError
from peerlab.base.units import PS_PER_MS, say_range
from peerlab.question.law_error import Reach, reach_of_ratio
from peerlab.question.scenario import Scenario
from peerlab.training.nodes_differ import lanes_of
from peerlab.training.program import Program, program
from peerlab.training.step_run import StepRun
from peerlab.training.step_times import timed
from peerlab.training.training_step import Step


@dataclass(frozen=True, repr=False)
class StepGain:
    """From where to where the gain of a step may lie."""

    value: float
    """As assumed."""
    cluster: GainBand
    """What it owes to the cluster's figures, as for a single collective."""
    training_low: float
    """The least with computing, its share of forward, and slow-down at the ends of their ranges."""
    training_high: float
    """The most with them."""

    @property
    def low(self) -> float:
        """The least of both."""
        return min(self.cluster.low, self.training_low)

    @property
    def high(self) -> float:
        """The most of both."""
        return max(self.cluster.high, self.training_high)

    @property
    def beside(self) -> list[str]:
        """What the step gains where an assumption without a range does not hold: another wiring has a band of its own."""
        return [
            f"{say_range(case.low, case.high, 3)} times if {case.says}"
            for assumption in self.cluster.left_out
            for case in assumption.cases
        ]

    def __repr__(self) -> str:
        return (
            f"{self.value:.3f} times: {say_range(self.cluster.low, self.cluster.high, 3)} by the cluster's assumed figures, "
            f"{say_range(self.training_low, self.training_high, 3)} by what is assumed about computing"
        )


def step_gain(run: StepRun, over: StepRun) -> StepGain:
    """Return how many times as fast `run` is as `over`, the same step on another data path, and how sure that is.

    Raises
    ------
    WorkloadError
        If they are of two trainings, or were not made by `peerlab.step`.
    """
    answer = run.answer
    if answer is None:
        raise WorkloadError("this step was not made by peerlab.step, so nobody can answer another one")
    if replace(over.step, scenario=run.step.scenario) != run.step:
        raise WorkloadError("the gain of a step compares two data paths; these are of two trainings")
    steps = {step_run.step.scenario.path: step_run.step for step_run in (run, over)}

    def speed(scenario: Scenario) -> float:
        # The inverse of a time, since a gain compares how fast two are.
        return 1 / answer(replace(steps[scenario.path], scenario=scenario)).steady_s

    value = run.gain(over)
    far = _reach(run, over)
    band = gain_band(run.step.scenario, over.step.scenario, speed, value, far)
    values = [
        answer(end).gain(answer(other)) for end, other in zip(_ends(run.step), _ends(over.step), strict=True)
    ]
    return StepGain(value, band, min([value, *values]), max([value, *values]))


def _reach(run: StepRun, over: StepRun) -> Reach:
    """Return how far the error of the law, which is that of the exchanges alone, moves the ends of a gain."""
    far = reach_of_ratio(run.step.scenario, over.step.scenario)

    def gain(times: float) -> float:
        """Return the gain where exchanges last longer on the one path and shorter on the other, this many times between them."""
        # The error is one of the ratio, so each side has its root.
        return end_ps(over, times**0.5) / end_ps(run, times**-0.5)

    # What was simulated lies inside in any case; of a row that is its last step.
    value = gain(1.0)
    return Reach(low=min(1.0, gain(far.low) / value), high=max(1.0, gain(far.high) / value), error=far.error)


def end_ps(run: StepRun, longer: float) -> int:
    """Return when a step would be over if every exchange took so many times as long, picoseconds."""
    written = program(run.step)
    if run.trace.apart:
        return _last_end_ps(run, written, longer)
    lasts = [round(longer * exchange.lasts_ps) for exchange in run.trace.placed]
    return timed(written, lasts, run.step.slowdown_per_mille).end_ps


def _last_end_ps(run: StepRun, written: Program, longer: float) -> int:
    """Return the same where nodes differ: an exchange is a barrier, and only what follows its last begin is the law's."""
    # Of a row the last step, which each node begins when its own step before is over.
    done = list(run.trace.begins or [0] * run.step.scenario.domains)
    lanes = lanes_of(run.step, written, run.step.steps - 1, done)
    for op, apart in zip(written.exchanging, run.trace.apart, strict=True):
        begins = [max(lane.ready(op), free) for lane, free in zip(lanes, done, strict=True)]
        # Who comes early waits for the last node, and no longer where a network is slower.
        done = [max(begins) + round(longer * (end - max(apart.begins))) for end in apart.ends]
        for lane, begin, end in zip(lanes, begins, done, strict=True):
            lane.placed.append((begin, end))
    return max(lane.finish() for lane in lanes)


def _ends(step: Step) -> Iterator[Step]:
    """Yield the step with what is assumed about the training at the ends of its ranges, all together."""
    time, slow, share = step.compute, step.slowdown_figure, step.model.forward_share
    times = sorted({time.low_ps, time.high_ps})
    slows = slow.range if slow and slow.range else (step.slowdown_per_mille / 1000,)
    # Every corner: whether an exchange hides depends on all three together.
    for ps, slowdown, forward in product(times, slows, share.range or (share.value,)):
        model = replace(step.model, forward_share=replace(share, value=forward))
        yield replace(step, workload=model, compute_ms=ps / PS_PER_MS, slowdown=slowdown)
