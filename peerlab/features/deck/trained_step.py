"""A training step on a slide, simulated: a workload instead of shares that somebody gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from peerlab.base.errors import ExportError, PeerlabError, nearest
from peerlab.features.deck.training import Training
from peerlab.model.paths import PEER_DIRECT
from peerlab.question.scenario import Scenario
from peerlab.training.answer_step import step
from peerlab.training.step_band import StepGain, step_gain
from peerlab.training.step_headline import GainAtBatches, gain_at_batches
from peerlab.training.step_run import StepRun
from peerlab.training.training_step import STEP_FIELDS, Step

TRAINED_FIELDS = tuple(name for name in STEP_FIELDS if name != "scenario")
"""What an outline may say of a training that is simulated."""


@dataclass(frozen=True)
class TrainedStep:
    """A training that is simulated as a step."""

    given: Mapping[str, Any]
    """Fields of a `Step`."""

    def question(self, base: Scenario) -> Step:
        """Return the step through the host; a deck's message is not a step's.

        Raises
        ------
        ExportError
            If the question is impossible.
        """
        # The outline's message is that of the deck's comparison: a step cuts its own from its gradients.
        usual = Scenario()
        scenario = base.with_(
            **{name: getattr(usual, name) for name in ("message_bytes", "collective", "buffers")}
        )
        try:
            return Step.of(scenario, **self.given)
        except PeerlabError as problem:
            raise ExportError(f"training: {problem}") from None

    def runs(self, base: Scenario) -> tuple[StepRun, StepRun]:
        """Return the step through the host, and by Peer Direct.

        Raises
        ------
        ExportError
            If the question is impossible.
        """
        asked = self.question(base)
        try:
            return step(asked), step(asked.with_(path=PEER_DIRECT))
        except PeerlabError as problem:
            raise ExportError(f"training: {problem}") from None


EXAMPLE = TrainedStep({"workload": "bert-large"})
"""What a deck shows of a training where none is given."""


@dataclass(frozen=True)
class SimulatedStep:
    """A step on both paths, with what a slide says of it."""

    host: StepRun
    peer: StepRun
    sure: StepGain
    batches: GainAtBatches | None
    """The gain at other batches; None where computing is given as one time."""
    example: bool
    """Whether nobody asked for this training."""

    @classmethod
    def of(cls, asked: TrainedStep, base: Scenario) -> "SimulatedStep":
        """Simulate it."""
        host, peer = asked.runs(base)
        return cls(host, peer, step_gain(peer, host), gain_at_batches((host, peer)), asked is EXAMPLE)


def read_training(given: Mapping[str, Any]) -> Training | TrainedStep:
    """Return what an outline or the command line says of a training: a workload that is simulated, or times and shares.

    Raises
    ------
    ExportError
        If it is neither.
    """
    there = {name: value for name, value in given.items() if value is not None}
    if "workload" not in there:
        return Training.read(given)
    for name in there:
        if name not in TRAINED_FIELDS:
            raise ExportError(
                f"training: {name!r} does not go with a workload; {nearest(name, TRAINED_FIELDS)}"
            )
    # Words from the command line and from YAML alike: there `yes` is no boolean (`front_matter`).
    entries = {"yes": True, "no": False}
    return TrainedStep(
        {
            name: entries.get(value, value) if isinstance(value, str) else value
            for name, value in there.items()
        }
    )
