"""Suspects by Bayes: after each run the probability that a node is slow, or the way from one node to another, or that nothing is.

The logarithm of a run's time over the time that is expected of it is h = ln(1/f) where the suspect takes part, plus noise of a sigma that
is known; f is the suspect's share of its rate. Before any run, nothing is slow with a probability of one half.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2

import numpy as np
from numpy.typing import NDArray

from peerlab.base.errors import PeerlabError

NONE = "none"
MOST_NODES = 1024
_SHARES = tuple(round(0.3 + 0.05 * step, 2) for step in range(14))
"""Shares that an unknown fault may leave of a rate: 0.3 to 0.95."""
# Beyond these no repeated runs lie: 1e-6 is no noise at all, 10 a factor of 20,000.
_LEAST_SIGMA, _MOST_SIGMA = 1e-6, 10.0
_OF_PAIRS = 0.2
"""Of what is suspected at all: the share of pairs, that is of cables, ports and ways; nodes fail more often (assumed)."""
ENOUGH = 0.95
"""Probability from which on a suspect is named."""


@dataclass(frozen=True)
class Observation:
    """What a run told."""

    nodes: tuple[int, ...]
    """Who took part, in the order of the ring."""
    log_ratio: float
    """Logarithm of its time over the time that is expected of it."""

    @property
    def ways(self) -> frozenset[tuple[int, int]]:
        """The ways from each node to the next."""
        return frozenset(zip(self.nodes, (*self.nodes[1:], *self.nodes[:1]), strict=True))


@dataclass(frozen=True)
class Suspect:
    """What may be slow."""

    nodes: tuple[int, ...]
    """None: nothing is; one: this node; two: the way from the first to the second."""
    probability: float


def _takes_part(nodes: tuple[int, ...], observation: Observation) -> bool:
    if len(nodes) == 1:
        return nodes[0] in observation.nodes
    return len(nodes) > 1 and nodes in observation.ways


class Suspicion:
    """The probabilities of all suspects, after the runs until now."""

    def __init__(
        self, nodes: int, sigma: float, *, share: float | None = None, pairs: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Begin with what holds before any run.

        Parameters
        ----------
        sigma:
            Of the logarithm of a healthy run's time.
        share:
            Share of its rate that the fault leaves; None: it is not known, and averaged over.
        pairs:
            Ways from one node to another that are suspected beside the nodes.

        Raises
        ------
        PeerlabError
            If there are no nodes or too many, or the noise is none.
        """
        if not 2 <= nodes <= MOST_NODES:
            raise PeerlabError(f"nodes: {nodes} is not a number of nodes from 2 to {MOST_NODES}")
        if not _LEAST_SIGMA <= sigma <= _MOST_SIGMA:
            raise PeerlabError(
                f"sigma: {sigma:g} is no spread of repeated runs from {_LEAST_SIGMA:g} to {_MOST_SIGMA:g}; give one such as 0.02"
            )
        self.nodes, self.sigma = nodes, sigma
        self.who: list[tuple[int, ...]] = [(), *((node,) for node in range(nodes)), *pairs]
        self.delays = np.log(1 / np.array(_SHARES if share is None else (share,)))
        # Ways are many: with as much weight each as a node they would outweigh all nodes before any run.
        of_pairs = _OF_PAIRS if pairs else 0.0
        prior = [0.5, *[0.5 * (1 - of_pairs) / nodes] * nodes, *(0.5 * of_pairs / len(pairs) for _ in pairs)]
        self._logs: NDArray[np.float64] = (
            # All shares are equally likely at first: one row for each suspect, one column for each share.
            np.log(np.array(prior))[:, None] - log(len(self.delays)) + np.zeros(len(self.delays))
        )

    def see(self, observation: Observation) -> None:
        """Take a run into account."""
        part = np.array([_takes_part(node, observation) for node in self.who])
        off = observation.log_ratio - part[:, None] * self.delays
        self._logs = self._logs - off**2 / (2 * self.sigma**2)
        # The largest is made 0: else, after many runs, the exponential of each would be 0.
        self._logs -= self._logs.max()

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """That of every suspect of `who`; they add up to 1."""
        # Over all shares: what is asked is who is slow, not how slow.
        weights: NDArray[np.float64] = np.exp(self._logs).sum(axis=1)
        values: NDArray[np.float64] = weights / weights.sum()
        return values

    def suspects(self) -> list[Suspect]:
        """Return all suspects, the likeliest first."""
        values = self.probabilities
        order = np.argsort(-values, kind="stable")
        return [Suspect(self.who[place], float(values[place])) for place in order.tolist()]

    def next_run(self) -> tuple[int, ...]:
        """Return the nodes of the run that tells most: by falling probability, until what is among them is as close to a half as can be.

        One alone cannot run: the least suspected joins it.
        """
        values = self.probabilities
        # a way is suspected at both of its ends
        of_nodes = values[1 : self.nodes + 1].copy()
        for place in range(self.nodes + 1, len(self.who)):
            # A way is slow if both of its ends take part: half of its weight goes to each.
            for node in self.who[place]:
                of_nodes[node] += values[place] / 2
        order = np.argsort(-of_nodes, kind="stable")
        inside = np.cumsum(of_nodes[order])
        # Half of the probability inside: whichever way the run ends, it halves what is left. Not until a half is passed: behind a
        # node of 45 % that would be one of 20 % more, which no run tells from it.
        count = int(np.abs(inside - 0.5).round(9).argmin()) + 1
        some = order[:count].tolist()
        return tuple(sorted(some if count > 1 else [*some, int(order[-1])]))

    def runs_left(self) -> float:
        """Return about how many runs are left in the mean: what is not known, in bits, over what a run tells."""
        numbers = self.probabilities
        values = numbers[numbers > 0]
        unknown = float(-(values * np.log2(values)).sum())
        # Not to zero: at 95 % somebody is named, and so much doubt stays.
        target = -(ENOUGH * log2(ENOUGH) + (1 - ENOUGH) * log2(1 - ENOUGH))
        return max(0.0, unknown - target) / capacity(float(self.delays.mean()) / self.sigma)


def capacity(times_noise: float) -> float:
    """Return what a run tells, in bits, where the fault is so many times the noise: that of two equally likely normal distributions.

    >>> [round(capacity(ratio), 2) for ratio in (1.05, 2.1, 3, 4.5, 10)]
    [0.18, 0.52, 0.76, 0.95, 1.0]
    """
    at = np.linspace(-8.0, times_noise + 8.0, 4001)
    quiet, slow = (np.exp(-((at - middle) ** 2) / 2) / np.sqrt(2 * np.pi) for middle in (0.0, times_noise))
    mixed = (quiet + slow) / 2
    gain = (
        sum(
            density * np.log2(np.maximum(density, 1e-300) / np.maximum(mixed, 1e-300))
            for density in (quiet, slow)
        )
        / 2
        # Nothing times the logarithm of nothing is nothing.
    )
    return max(1e-6, float(np.trapezoid(gain, at)))


def runs_needed(nodes: int, times_noise: float) -> float:
    """Return the bound on the runs that find one of so many nodes: log2(2 N) / capacity.

    >>> round(runs_needed(64, 10), 1)
    7.0
    """
    return log2(2 * nodes) / capacity(times_noise)
