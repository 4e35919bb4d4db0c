"""Rings without latency and with exponential noise: a pipelined one is the exclusion process of N particles on 2N sites."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest

import peerlab
from peerlab.collectives.plan import Plan
from peerlab.collectives.ring import Ring
from peerlab.engine import recording
from peerlab.engine.simulate import warm_queue
from peerlab.engine.system import System

TAU_PS = 10**6
SEEDS = 8
STEPS = 600
"""Of an AllReduce there are 2(N-1): far too few for a mean growth per step."""


@dataclass(frozen=True, slots=True)
class LongRing(Ring):
    """A ring that goes on round after round."""

    @property
    def steps(self):
        return STEPS

    @property
    def reducing_steps(self):
        return STEPS


@dataclass(eq=False)
class ExponentialNoise(System):
    """A system in which every transfer is held up for an exponential time of mean tau."""

    seed: int = field(default=0)

    @cached_property
    def detours(self):
        places = self.noise_places
        drawn = np.zeros((places.steps, places.pieces, places.stages, len(self.lanes)), np.int64)
        times = np.random.default_rng(self.seed).exponential(TAU_PS, (places.steps, len(self.lanes)))
        times *= TAU_PS / times.mean()  # what was drawn has that mean, too: fewer runs tell
        drawn[:, 0, 0, :] = times.astype(np.int64)
        return drawn


def growth_per_step(nodes, dependency, seed):
    """Return how much later each step is sent than the one before, in the mean, picoseconds; the first fifth is left out."""
    ring = peerlab.Scenario(
        cluster=peerlab.load_cluster("ideal-100g").with_figure("fabric.latency", 0),
        nodes=nodes,
        collective="reduce-scatter",
        message_bytes=nodes,
        slice_bytes=None,
        detours=1e-12,
        dependency=dependency,
    )
    plan = Plan(nodes, 1, nodes, LongRing(nodes, nodes), True, False)
    system = ExponentialNoise(ring, folded=False, planned=plan, seed=seed)
    spans = recording.by_loop(system, warm_queue(system), None, repeats=False).spans
    ends = np.zeros((STEPS, nodes), np.int64)
    sent = spans["slice"] >= 0
    np.maximum.at(ends, (spans["step"][sent], spans["node"][sent]), spans["end"][sent])
    first = STEPS // 5
    return (ends[-1].mean() - ends[first].mean()) / (STEPS - 1 - first)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("dependency", "nodes", "taus"),
    [
        ("slice", 2, 2 - 1 / 2),
        ("slice", 4, 2 - 1 / 4),
        ("slice", 8, 2 - 1 / 8),
        ("step", 3, 11 / 6),  # all wait for all: the mean of the largest of three
        ("step", 8, 2.171),  # the largest of three neighbours in each step, simulated elsewhere
    ],
)
def test_each_step_grows_by_as_many_times_the_noise_as_the_law_says(dependency, nodes, taus):
    means = [growth_per_step(nodes, dependency, seed) for seed in range(SEEDS)]
    assert np.mean(means) == pytest.approx(taus * TAU_PS, rel=0.02)
