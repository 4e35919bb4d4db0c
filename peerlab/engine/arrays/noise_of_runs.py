"""What noise makes of the nodes of several runs side by side: a factor for each, and when it stands still."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import exp

from peerlab.base.numbers import NDArray, np
from peerlab.engine import jitter
from peerlab.engine.legs import Visit
from peerlab.engine.noise_draws import (
    Pauses,
    detours_side_by_side,
    held_up,
    pauses_of,
    seed_of,
    spreads_side_by_side,
)
from peerlab.engine.system import System

Times = NDArray[np.int64]
_MOST_SIGMAS = 7
"""Normal numbers farther out are not drawn within the life of a machine."""


SliceNoise = tuple[jitter.Factors | None, Times | None]
"""Factors and detours of the slices of a step, or of one number; None: there are none."""


def of_stage(noise: SliceNoise, piece: int, stage: int) -> SliceNoise:
    """Return the noise of one stage of the slices of a number, from that of a step."""
    factors, detours = noise
    return (
        None if factors is None else factors[:, piece, stage],
        None if detours is None else detours[:, piece, stage],
    )


class NoiseOfRuns:
    """The noise of runs of one system that differ in seed and jitter."""

    def __init__(self, system: System, seeds: Sequence[int], sigmas: Sequence[float]) -> None:
        self._system, self._noise = system, system.scenario.noise
        self._seeds, self._sigmas = seeds, sigmas
        self._slice_seeds = [seed_of(seed, system.number) for seed in seeds]
        lanes, nodes = system.lanes, system.plan.nodes
        own = [lane.node for lane in lanes]
        ends = (
            [lanes[system.receiver(lane, 0)].node for lane in range(len(lanes))]
            if system.plan.schedule.steps
            else own
        )
        self._ends = np.array(own, np.int64), np.array(ends, np.int64)
        noise = self._noise
        self._factors = self._pauses = None
        if noise.spread:
            drawn = np.array(list(spreads_side_by_side(self._seeds, noise.spread, nodes)))
            self._factors = [drawn[:, end] for end in self._ends]
        if noise.tick_period_ps:
            still = [pauses_of(seed, noise, nodes, system.since_ps) for seed in self._seeds]
            begin = np.array([[pauses.phase for pauses in of_run] for of_run in still], np.int64)
            self._pauses = [begin[:, end] for end in self._ends]
        self.of_nodes = bool(noise.spread or noise.tick_period_ps)
        """Whether a resource of the receiver differs from one of the sender though they take the same time."""

    def at_receiver(self, visit: Visit) -> bool:
        """Return whether a visit of lane 0 is of its receiver's node."""
        return self._system.resources[visit.resource].node != self._system.lanes[0].node

    def on(self, visit: Visit, duration: Times, noise: SliceNoise) -> Times:
        """Return service times of every lane with the factors of its nodes, its own, and its detour."""
        factor, detour = noise
        if self._factors:
            duration = jitter.all_slowed(duration, self._factors[self.at_receiver(visit)])
        if factor is not None:
            duration = jitter.all_slowed(duration, factor)
        return duration if detour is None else duration + detour

    def pauses(self, visit: Visit) -> "Pauses | None":
        """Return when the nodes of every lane stand still; its phase has the shape ``(runs, lanes)``."""
        if not self._pauses:
            return None
        phase = self._pauses[self.at_receiver(visit)]
        return Pauses(phase, self._noise.tick_period_ps, self._noise.tick_ps)  # type: ignore[arg-type]

    def of_slices(self) -> Iterator[SliceNoise]:
        """Yield for every step factors and detours, shape ``(runs, slices, stages, lanes)``; None where there are none."""
        places = self._system.noise_places
        shape = (places.pieces, places.stages, places.devices * places.nodes)
        factors = jitter.side_by_side(self._slice_seeds, self._sigmas, places.steps, shape)
        yield from zip(factors, self._detours(), strict=True)

    def _detours(self) -> Iterator[Times | None]:
        places = self._system.noise_places
        if not self._noise.detours:
            return iter([None] * places.steps)
        return detours_side_by_side(self._held_up, places)

    @cached_property
    def _held_up(self) -> list[tuple[Times, Times]]:
        """Which slices are held up, and for how long; they are few, and are asked for twice."""
        return list(held_up(self._slice_seeds, self._noise, self._system.noise_places))

    def longest(self, quiet_ps: float, visits: int) -> float:
        """Return how long so many visits may take at most that take `quiet_ps` without noise; of detours only the drawn are known."""
        noise = self._noise
        number = quiet_ps * exp(_MOST_SIGMAS * (max(self._sigmas) + noise.spread))
        if noise.detours:
            number += max((int(detour.sum()) for detour in self._detours() if detour is not None), default=0)
        if noise.tick_period_ps:
            free = noise.tick_period_ps - noise.tick_ps
            number = number * noise.tick_period_ps / free + noise.tick_period_ps * visits
        return number
