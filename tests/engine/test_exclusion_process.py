"""Rings that go on round after round: how much later each step of a noisy one is than the one before."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest

import peerlab
from peerlab.collectives.plan import Plan
from peerlab.collectives.ring import Ring
from peerlab.engine import recording
from peerlab.engine.arrays.ring_arrays import Batch
from peerlab.engine.simulate import warm_queue
from peerlab.engine.system import System

TAU_PS = 10**6
SEEDS = 8
STEPS = 600
"""Of an AllReduce there are 2(N-1): far too few for a mean growth per step."""
D_US, JITTER = 10, 0.005
"""How long a transfer takes, and a noise faint enough for lognormal factors to be as good as normal."""


@dataclass(frozen=True, slots=True)
class LongRing(Ring):
    """A ring that goes on round after round."""

    rounds: int = STEPS

    @property
    def steps(self):
        return self.rounds

    @property
    def reducing_steps(self):
        return self.rounds


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


def lasting_ring(nodes, size, steps, latency_us=0, kind=System, seed=None, **fields):
    """Return the system of a ring of so many steps."""
    ring = peerlab.Scenario(
        cluster=peerlab.load_cluster("ideal-100g").with_figure("fabric.latency", latency_us),
        nodes=nodes,
        collective="reduce-scatter",
        message_bytes=nodes * size,
        slice_bytes=None,
        **fields,
    )
    plan = Plan(nodes, 1, size, LongRing(nodes, nodes * size, rounds=steps), True, False)
    return kind(ring, folded=False, planned=plan, **({} if seed is None else {"seed": seed}))


def growth_per_step(nodes, dependency, seed):
    """Return how much later each step is sent than the one before, in the mean, picoseconds; the first fifth is left out."""
    system = lasting_ring(
        nodes, 1, STEPS, kind=ExponentialNoise, seed=seed, detours=1e-12, dependency=dependency
    )
    spans = recording.by_loop(system, warm_queue(system), None, repeats=False).spans
    ends = np.zeros((STEPS, nodes), np.int64)
    sent = spans["slice"] >= 0
    np.maximum.at(ends, (spans["step"][sent], spans["node"][sent]), spans["end"][sent])
    first = STEPS // 5
    return (ends[-1].mean() - ends[first].mean()) / (STEPS - 1 - first)


@pytest.mark.long("noise")
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


@pytest.mark.parametrize(
    ("dependency", "latency_us", "steps", "sigmas", "within"),
    [
        ("slice", 0, 1600, 0.869, 0.01),
        ("step", 0, 1600, 1.139, 0.01),
        ("slice", 8 * D_US * JITTER, 4000, 0.112, 0.06),  # sigma / 8 from below
    ],
)
def test_what_a_step_of_256_nodes_adds_with_normal_noise(dependency, latency_us, steps, sigmas, within):
    ends = []
    for many in (steps // 2, steps):
        system = lasting_ring(256, D_US * 12_500, many, latency_us, jitter=JITTER, dependency=dependency)
        ends.append(Batch(system, list(range(8)), [JITTER] * 8).run().mean())
    quiet = (D_US + latency_us) * 1e6
    grown = (ends[1] - ends[0]) / (steps - steps // 2) - quiet
    assert grown / (JITTER * D_US * 1e6) == pytest.approx(sigmas, rel=within)
