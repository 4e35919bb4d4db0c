"""What the page of a training step gets: its lanes, its figures, and the data path of every exchange."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from peerlab.answer.run import Run
from peerlab.base.units import PS_PER_US, say_bytes
from peerlab.model.collective import collective_of
from peerlab.model.paths import data_path
from peerlab.picture.road import Road, road
from peerlab.question.naming import told_apart
from peerlab.training.step_band import StepGain
from peerlab.training.step_headline import GainAtBatches, StepHeadline, gain_at_batches, headline, rows
from peerlab.training.step_picture import StepBox, alt_text, lanes_of
from peerlab.training.step_run import StepRun

_PHASES = ("forward", "backward", "optimizer")
_OTHER = ("register", "cpu")
"""Colours of the second where both have one data path."""


class StepSide(TypedDict):
    """The step on one data path; times are microseconds from its beginning."""

    title: str
    role: str
    end_us: float
    computing: list[list[float]]
    """``[begin, end, phase]`` of every operation; phases are 0 forward, 1 backward, 2 the optimizer."""
    waiting: list[list[float]]
    """``[begin, end]`` of a bucket that is ready while the one before it is in flight."""
    flight: list[list[float]]
    """``[begin, end, exposed]`` of every exchange, in order."""
    exposed: list[list[float]]
    names: list[str]
    """What every exchange is: its bucket and size."""
    roads: list[int]
    """Which of the page's roads every exchange takes."""


class StepState(TypedDict):
    """What is shown for one combination of the controls' values."""

    sides: list[StepSide]
    headline: StepHeadline
    exchanged: str
    """What is exchanged, as the key to the picture says it."""
    gain: GainAtBatches | None
    rows: list[list[str]]
    """``[what, of the first, of the second, ratio]``."""
    words: str


class StepControl(TypedDict):
    """Something that a reader may change."""

    label: str
    tip: str
    values: list[str]


class StepParcel(TypedDict):
    """What the page of a step gets."""

    about: str
    counted: str
    """How many figures it rests on, as the words of what unfolds them."""
    source: str
    controls: list[StepControl]
    start: list[int]
    states: list[StepState]
    """Of every combination, the last control varying fastest."""
    roads: list[Road]


@dataclass
class StepAlbum:
    """States of one page; equal exchanges share their road."""

    roads: list[Road] = field(default_factory=list)
    """The data path of every exchange that is another one."""
    _known: dict[int, tuple[Run, int]] = field(default_factory=dict)

    def state(self, runs: Sequence[StepRun], sure: StepGain | None = None) -> StepState:
        """Return what is shown for a step on one data path, or on two; `sure` is the band of the gain, where it is known."""
        names = _names(runs)
        roles = [data_path(str(run.step.scenario.path)).role for run in runs]
        # Two paths of one role, such as two that are staged, would be drawn in one colour.
        if len(set(roles)) < len(roles):
            roles[1] = next(role for role in _OTHER if role != roles[0])
        return {
            "sides": [self._side(*side) for side in zip(_of_nodes(names, runs), roles, runs, strict=True)],
            "headline": headline_of(runs, sure),
            "exchanged": _exchanged(runs[0]),
            "gain": gain_at_batches(runs),
            "rows": rows(runs),
            "words": alt_text(runs),
        }

    def _side(self, title: str, role: str, run: StepRun) -> StepSide:
        lanes, trace = lanes_of(run), run.trace
        return {
            "title": title,
            "role": role,
            "end_us": run.time_ps / PS_PER_US,
            # Numbers for phases, in the order of the list that the page knows as well.
            "computing": [[*_us(box), float(_PHASES.index(phase))] for phase, box in lanes.computing],
            "waiting": [_us(box) for box in lanes.waiting],
            "flight": [
                [
                    exchange.begin_ps / PS_PER_US,
                    exchange.end_ps / PS_PER_US,
                    trace.exposed_of(exchange) / PS_PER_US,
                ]
                for exchange in trace.placed
            ],
            "exposed": [[begin / PS_PER_US, end / PS_PER_US] for begin, end in lanes.exposed],
            "names": [
                f"{exchange.op.name}, {exchange.op.collective} of {say_bytes(exchange.op.nbytes)}"
                for exchange in trace.placed
            ],
            "roads": [self._road(exchange.run) for exchange in trace.placed],
        }

    def _road(self, run: Run) -> int:
        if id(run) not in self._known:
            self._known[id(run)] = run, len(self.roads)  # the run is kept, so that its id stays its own
            self.roads.append(road(run))
        return self._known[id(run)][1]


def headline_of(runs: Sequence[StepRun], sure: StepGain | None = None) -> StepHeadline:
    """Return the large figure of the page; `sure` is the band of the gain, where it is known."""
    return headline(runs, _names(runs), sure)


def _names(runs: Sequence[StepRun]) -> list[str]:
    # One path alone is called by its name; of two what tells them apart.
    return told_apart([run.step.scenario for run in runs]) if len(runs) > 1 else [_title(runs[0])]


def _of_nodes(names: Sequence[str], runs: Sequence[StepRun]) -> list[str]:
    """Return names with the node whose times are shown, where that is another one on each path: the last to end the step."""
    shown = [run.trace.apart[-1].shown if run.trace.apart else None for run in runs]
    if len(set(shown)) < 2:
        return list(names)
    return [name if node is None else f"{name}, node {node}" for name, node in zip(names, shown, strict=True)]


def _exchanged(run: StepRun) -> str:
    """Return what is exchanged: where weights are sharded, they are gathered, too."""
    gradients = all(collective_of(exchange.op.collective).adds for exchange in run.trace.placed)
    return "bucket: gradients exchanged as one" if gradients else "exchange of gradients, or of weights"


def about(run: StepRun) -> str:
    """Return what the page is about."""
    step, s = run.step, run.step.scenario
    return f"A training step of {step.model.title} on {s.hardware.title}, {s.nodes} nodes"


def counted(run: StepRun) -> str:
    """Return how many figures the page rests on."""
    return f"Simulated from {run.step.scenario.hardware.counted} (†)"


def source(run: StepRun) -> str:
    """Return what the page rests on."""
    step, machine = run.step, run.step.scenario.hardware
    compute = step.compute
    return (
        f"Computing: {compute.says}{' (assumed)' * compute.assumed}. Exchange: simulated by peerlab from {machine.counted}; "
        f"data parallel ({step.shard}), gradients of {step.gradient_dtype}, one stream."
    )


def _title(run: StepRun) -> str:
    # Beside itself a scenario is called by its data path.
    return told_apart([run.step.scenario, run.step.scenario])[0]


def _us(box: StepBox) -> list[float]:
    return [box.begin_ps / PS_PER_US, box.end_ps / PS_PER_US]
