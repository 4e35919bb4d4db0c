"""What a deck rests on: the runs that its slides show, simulated when the first of them asks."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from peerlab.answer.gain import GainBand
from peerlab.answer.metrics import least_time_s
from peerlab.answer.run import Run
from peerlab.answer.sensitivity import Band
from peerlab.base.errors import ExportError, PeerlabError
from peerlab.features.deck.trained_step import EXAMPLE, SimulatedStep, TrainedStep
from peerlab.features.deck.training import Training
from peerlab.model.nic_wiring import Wiring
from peerlab.model.paths import PATHS, PEER_DIRECT
from peerlab.question.alternatives import alternatives
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.study.planned import Trial, plan_trial

SURELY = 1.02
"""From which low end of its range on a path is called surely faster."""
NODES = (2, 4, 8, 16, 32, 64, 128, 256)
"""Nodes of the curve."""


class ComparedRuns:
    """Runs of one question on the data path through the host and by Peer Direct."""

    def __init__(self, fields: Mapping[str, Any], simulate: Callable[[Scenario], Run]) -> None:
        if "path" in fields or "registration" in fields:
            raise ExportError("scenario: a deck compares data paths; leave path and registration out")
        self.simulate = simulate
        self._step: tuple[TrainedStep | None, SimulatedStep | None] | None = None
        self._gradient: tuple[Training, tuple[Run, Run]] | None = None
        for name in ("jitter", "slow_nodes"):  # the bands of many unlike nodes take longer than anybody waits
            if fields.get(name):
                raise ExportError(
                    f"scenario: a deck compares paths between nodes that are alike; leave {name} out"
                )
        machine = load_cluster(fields.get("cluster", "dl1"))
        # In the order of the record: RDMA through the host is compared where a machine has it, before kernel
        # TCP.
        staged = [path for path, record in PATHS.items() if record.is_staged and path in machine.paths]
        if not staged or PEER_DIRECT not in machine.paths:
            lacking = (
                PEER_DIRECT if staged else next(path for path, record in PATHS.items() if record.is_staged)
            )
            raise ExportError(
                f"scenario: cluster {machine.name} has no path {lacking} to compare: {machine.lacks.get(lacking, '')}"
            )
        self.base = Scenario(**{**fields, "path": staged[0]})
        if self.base.ranks < 2 or self.base.nodes < 2:
            raise ExportError("scenario: nodes: a deck compares paths between nodes; 2 or more are needed")

    def run(self, **changes: Any) -> Run:
        """Simulate the question with some fields changed."""
        return self.simulate(self.base.with_(**changes))

    @cached_property
    def detour(self) -> Run:
        """Through the host."""
        return self.run()

    @cached_property
    def direct(self) -> Run:
        """By Peer Direct, registrations cached."""
        return self.run(path=PEER_DIRECT)

    @cached_property
    def uncached(self) -> Run:
        """By Peer Direct, memory registered for each transfer."""
        return self.run(path=PEER_DIRECT, registration="per-transfer")

    @cached_property
    def bands(self) -> tuple[Band, Band]:
        """From where to where the bus bandwidth may lie: through the host, and by Peer Direct."""
        return self.detour.sensitivity_band(), self.direct.sensitivity_band()

    @property
    def gain(self) -> float:
        """How many times as fast Peer Direct is."""
        return self.detour.time_s / self.direct.time_s

    @cached_property
    def gain_band(self) -> GainBand:
        """From where to where the gain may lie if each assumed figure lies at an end of its range."""
        return self.direct.gain_band(self.detour)

    def band_of(self, **changes: Any) -> GainBand:
        """Return how sure the gain is with some fields changed."""
        if not changes:
            return self.gain_band
        return self.run(path=PEER_DIRECT, **changes).gain_band(self.run(**changes))

    @property
    def may_be_wired_otherwise(self) -> bool:
        """Whether where the NICs hang is assumed: then it may make a difference, which costs simulations to find out."""
        return any(
            isinstance(alternative, Wiring)
            for alternative in alternatives(self.base, self.base.with_(path=PEER_DIRECT))
        )

    @cached_property
    def trial(self) -> Trial | None:
        """The trial on such machines that would decide; None where no switch of the library is known."""
        try:
            return plan_trial(self.base.cluster, self.base.nodes)
        except PeerlabError:
            return None

    def simulated_step(self, asked: Training | TrainedStep | None) -> SimulatedStep | None:
        """Return a training's step, simulated; the example where none is given, None where that or shares alone cannot be.

        Raises
        ------
        ExportError
            If the training that is asked for is impossible.
        """
        if isinstance(asked, Training):
            return None
        if self._step is None or self._step[0] is not asked:
            try:
                self._step = asked, SimulatedStep.of(asked or EXAMPLE, self.base)
            # The example is left out where a machine cannot have it; a training that was asked for says why
            # it cannot be.
            except PeerlabError as problem:
                if asked is not None:
                    raise ExportError(str(problem)) from None
                self._step = asked, None
        return self._step[1]

    def check_training(self, asked: Training | TrainedStep) -> None:
        """Refuse a training that cannot be; only an exchange that might fit into its step is simulated for that.

        Raises
        ------
        ExportError
            If its step is impossible, or its exchange longer than that.
        """
        if isinstance(asked, TrainedStep):
            asked.question(self.base)
        elif asked.gradient_bytes is not None:
            asked.today(self.exchanges(asked)[0])

    def exchanges(self, training: Training) -> tuple[float, float]:
        """Return how long a training's exchange of gradients takes through the host and by Peer Direct, seconds.

        Bytes of gradient are simulated as one message; a share of the step becomes shorter by the gain.

        Raises
        ------
        ExportError
            If such a gradient could not be moved within a step even if nothing ever waited; that costs no simulation.
        """
        if training.communication_share is not None:
            exchange = training.communication_share * training.step_time_s
            return exchange, exchange / self.gain
        host, peer = self._of_gradient(training)
        return host.time_s, peer.time_s

    def exchange_gain(self, training: Training) -> GainBand:
        """Return how sure the gain of a training's exchange is: of its own bytes, or of the deck's message for a share."""
        if training.communication_share is not None:
            return self.gain_band
        host, peer = self._of_gradient(training)
        return peer.gain_band(host)

    def _of_gradient(self, training: Training) -> tuple[Run, Run]:
        """Return the exchange of a training's gradient as one message, through the host and by Peer Direct."""
        if self._gradient is None or self._gradient[0] != training:
            scenario = self._gradient_message(training)
            self._gradient = (
                training,
                (self.simulate(scenario), self.simulate(scenario.with_(path=PEER_DIRECT))),
            )
        return self._gradient[1]

    def _gradient_message(self, training: Training) -> Scenario:
        """Return the exchange of a training's gradient through the host, unless it fits into no step even where nothing waits."""
        scenario = self.base.with_(message_bytes=training.gradient_bytes)
        least = least_time_s(scenario)
        # Always refused there, with its figures: the simulation of such an exchange would take longest of
        # all.
        if least > training.step_time_s:
            training.today(least, "through the host at the least")
        return scenario
