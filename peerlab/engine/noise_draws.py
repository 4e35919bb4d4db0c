"""What noise draws beforehand, so that every engine meets the same: factors of nodes, detours, and the phases of ticks.

A stream for each (seed, kind, node): a further node, kind or path moves no draw of the others. Jitter, the first kind that there was, has one
stream for a seed (`peerlab.engine.jitter`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from peerlab.base.errors import ScenarioError
from peerlab.base.numbers import NDArray, np, streams
from peerlab.model.noise import NOISE_KINDS, Noise

USUAL_SIGMAS = 1.645
"""What one of twenty draws exceeds: where a part is made ordinary, its noise ends there."""
_MOST_PS = 2**62
_COMPUTE_STREAM = 100
"""Number of the stream of what a node computes; those of `NOISE_KINDS` are lower."""
Whole = NDArray[np.int64]
Real = NDArray[np.float64]


class Pauses(NamedTuple):
    """When the node of a resource stands still: `length` from `phase` on, every `period`; picoseconds."""

    phase: int
    period: int
    length: int


@dataclass(frozen=True)
class Places:
    """The slices of a run, as noise counts them: those of a node by step, number, stage and device."""

    steps: int
    pieces: int
    stages: int
    devices: int
    nodes: int

    @property
    def of_node(self) -> tuple[int, int, int, int]:
        """How many slices and stages a node has, by step, number, stage and device."""
        return self.steps, self.pieces, self.stages, self.devices


def _streams(seeds: Sequence[int], kind: str, nodes: int) -> Iterator[np.random.Generator]:
    """Yield the streams of one seed after the other, each from its first node on."""
    return streams(seeds, NOISE_KINDS[kind].stream, nodes)


def seed_of(seed: int, number: int) -> int:
    """Return the seed of what the slices of an exchange draw, by its number in a step; the first draws as a collective alone."""
    return (
        seed
        if not number
        else int(np.random.SeedSequence((seed, number)).generate_state(1, np.uint64)[0] >> 1)
    )


def compute_factors(seed: int, sigma: float, node: int, count: int) -> Real:
    """Return a factor of mean 1 for each of so many operations that a node computes in a step."""
    drawn = np.random.default_rng((seed, _COMPUTE_STREAM, node)).standard_normal(count)
    values: Real = np.exp(sigma * drawn - sigma * sigma / 2)
    return values


@lru_cache(maxsize=64)
def spreads(seed: int, sigma: float, nodes: int) -> tuple[float, ...]:
    """Return the factor of every node, of median 1."""
    return next(spreads_side_by_side([seed], sigma, nodes))


def spreads_side_by_side(seeds: Sequence[int], sigma: float, nodes: int) -> Iterator[tuple[float, ...]]:
    """Yield the factors of the nodes of each of several runs."""
    every = _streams(seeds, "spread", nodes)
    for _ in seeds:
        drawn = [float(stream.standard_normal()) for stream in islice(every, nodes)]
        yield tuple(np.exp(sigma * np.array(drawn)).tolist())


@lru_cache(maxsize=64)
def phases(seed: int, period_ps: int, nodes: int) -> tuple[int, ...]:
    """Return when the first tick of every node begins."""
    return tuple(int(stream.integers(period_ps)) for stream in _streams([seed], "ticks", nodes))


# Each visit of a slice asks for those of one node: made anew, they are a fifth of the time of 64 nodes, and a larger share of more.
@lru_cache(maxsize=64)
def pauses_of(seed: int, noise: Noise, nodes: int, since_ps: int = 0) -> tuple[Pauses, ...]:
    """Return when every node stands still, on a clock that begins `since_ps` after the one that phases are drawn on."""
    period = noise.tick_period_ps
    begins = phases(seed, period, nodes)
    return tuple(Pauses((phase - since_ps) % period, period, noise.tick_ps) for phase in begins)


def held_up(seeds: Sequence[int], noise: Noise, places: Places) -> Iterator[tuple[Whole, Whole]]:
    """Yield for each run where slices are held up, as indices in ``(steps, slices, stages, lanes)``, and for how long, in picoseconds."""
    every = _streams(seeds, "detours", places.nodes)
    for _ in seeds:
        yield _held_up(islice(every, places.nodes), noise, places)


def _held_up(nodes: Iterable[np.random.Generator], noise: Noise, places: Places) -> tuple[Whole, Whole]:
    where, lasts = [], []
    count = int(np.prod(places.of_node))
    for node, stream in enumerate(nodes):
        some = int(stream.binomial(count, noise.detours))
        if not some:
            continue
        at = stream.integers(count, size=some)
        # lanes of one device stand side by side, in the order of nodes
        where.append(at * places.nodes + node)
        longer = (1.0 - stream.random(some)) ** (-1.0 / noise.detour_tail)
        lasts.append(np.rint(noise.detour_ps * longer))
    if not where:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    longest = np.concatenate(lasts)
    # a float beyond 63 bits becomes a negative whole number, and the run would be faster for its detours
    if longest.sum() > _MOST_PS:
        raise ScenarioError(
            "detours",
            "together they are longer than the simulation can count (53 days); give fewer, shorter or a steeper tail",
        )
    return np.concatenate(where), longest.astype(np.int64)


@lru_cache(maxsize=4)
def detours(seed: int, noise: Noise, places: Places) -> Whole:
    """Return how long each slice is held up, picoseconds; shape ``(steps, slices, stages, lanes)``."""
    *own, devices = places.of_node
    values = np.zeros(int(np.prod(own)) * devices * places.nodes, np.int64)
    where, lasts = next(held_up([seed], noise, places))
    np.add.at(values, where, lasts)
    values = values.reshape(*own, devices * places.nodes)
    values.flags.writeable = False  # the cache hands the same array to every engine
    return values


def detours_side_by_side(drawn: Sequence[tuple[Whole, Whole]], places: Places) -> Iterator[Whole | None]:
    """Yield for every step how long slices of several runs are held up, shape ``(runs, slices, stages, lanes)``, of what `held_up` drew; None where none is."""
    _, pieces, stages, devices = places.of_node
    shape = (pieces, stages, devices * places.nodes)
    size = int(np.prod(shape))
    runs = np.repeat(np.arange(len(drawn)), [len(where) for where, _ in drawn])
    where = np.concatenate([where for where, _ in drawn]) if drawn else np.zeros(0, np.int64)
    lasts = np.concatenate([lasts for _, lasts in drawn]) if drawn else np.zeros(0, np.int64)
    step, inside = np.divmod(where, max(1, size))
    order = np.argsort(step, kind="stable")
    ends = np.searchsorted(step[order], np.arange(places.steps + 1))
    for low, high in pairwise(ends.tolist()):
        some = order[low:high]
        if not len(some):
            yield None
            continue
        values = np.zeros((len(drawn), size), np.int64)
        np.add.at(values, (runs[some], inside[some]), lasts[some])
        yield values.reshape(len(drawn), *shape)
