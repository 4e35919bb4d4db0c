"""What a deck rests on: the runs that its slides show, simulated when the first of them asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from peerlab.deck.outline import Training
from peerlab.errors import ExportError
from peerlab.model.presets import load_cluster
from peerlab.model.scenario import Scenario
from peerlab.run import Run
from peerlab.sensitivity import Band, GainBand

NODES = (2, 4, 8, 16, 32, 64, 128, 256)
"""Nodes of the curve."""


@dataclass(frozen=True)
class Step:
    """A step of a training on both data paths, seconds."""

    exchange_detour_s: float
    """The exchange of the gradient through the host."""
    exchange_direct_s: float
    """The same by Peer Direct."""
    seen_detour_s: float
    """What of it is not hidden behind computing, through the host."""
    seen_direct_s: float
    """The same by Peer Direct."""
    now_s: float
    """The step today."""
    then_s: float
    """The step by Peer Direct, if the rest of it stays as it is."""


class Evidence:
    """Runs of one question on the data path through the host and by Peer Direct."""

    def __init__(self, fields: Mapping[str, Any], simulate: Callable[[Scenario], Run]) -> None:
        if "path" in fields or "registration" in fields:
            raise ExportError("scenario: a deck compares data paths; leave path and registration out")
        self.simulate = simulate
        for name in ("jitter", "slow_nodes"):  # the bands of many unlike nodes take longer than anybody waits
            if fields.get(name):
                raise ExportError(
                    f"scenario: a deck compares paths between nodes that are alike; leave {name} out"
                )
        machine = load_cluster(fields.get("cluster", "dl1"))
        staged = [path for path in ("host-rdma", "host-tcp") if path in machine.paths]
        if not staged or "peer-direct" not in machine.paths:
            lacking = "peer-direct" if staged else "host-rdma"
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
        return self.run(path="peer-direct")

    @cached_property
    def uncached(self) -> Run:
        """By Peer Direct, memory registered for each transfer."""
        return self.run(path="peer-direct", registration="per-transfer")

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

    def step(self, training: Training) -> Step:
        """Return a step of a training: the gradient goes in exchanges of the scenario's message, one after another.

        Raises
        ------
        ExportError
            If the exchange alone takes longer than the step is said to take.
        """
        times = training.gradient_bytes / self.base.nbytes
        detour, direct = self.detour.time_s * times, self.direct.time_s * times
        seen = 1 - training.overlap_share
        if detour * seen >= training.step_time_s:
            raise ExportError(
                f"training: the exchange that computing does not hide would take {detour * seen:.3g} s, no less than the step"
                f" of {training.step_time_s:g} s; check gradient, step time and overlap"
            )
        then = training.step_time_s - (detour - direct) * seen
        return Step(detour, direct, detour * seen, direct * seen, training.step_time_s, then)
