"""The array engine: a ring whose resources serve its slices in a fixed order, all lanes at once.

Where every resource belongs to one sender, a slice's start is the maximum of a few times: when it came, when the resource
was free, when a place in the window was. So a ring is a recurrence over arrays of lanes, and of scenarios that differ
only in their jitter. What shares a resource, registers memory or is no ring is refused.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from peerlab.collectives.choose import plan
from peerlab.engine import noise
from peerlab.engine.loop import Progress
from peerlab.engine.scaleup import Exchange, exchange
from peerlab.engine.way import Leg
from peerlab.engine.world import World
from peerlab.errors import ScenarioError
from peerlab.model.resources import resource_kind, service
from peerlab.model.scenario import Scenario
from peerlab.model.stages import stage_number

Times = NDArray[np.int64]
"""Picoseconds, shape ``(scenarios, lanes)``."""

_MOST_SIGMAS = 7
"""Normal numbers farther out are not drawn within the life of a machine."""
_LAST_PS = 2**62
_MOST_DRAWS = 4_000_000
"""Random factors held at a time."""


def refuses(scenario: Scenario) -> str:
    """Return why the array engine cannot say exactly what happens in a scenario; empty if it can."""
    if not plan(scenario).schedule.is_ring:
        return "it is no ring"
    if scenario.registers:
        return "transfers queue for registration"
    machine = scenario.machine
    kinds = [(use.kind, use.side) for stage in scenario.stages for use in stage.uses]
    few = (
        any(resource_kind(k).scope == "nic" for k, _ in kinds)
        and machine.devices_per_switch > machine.nics_per_switch
    )
    shared = scenario.fabric.contended or any(resource_kind(k).shared for k, _ in kinds)
    if few or shared or len({k for k, _ in kinds}) < len(kinds):
        return "slices of several senders, or of several stages, queue for one resource"
    return "" if all(stage.uses for stage in scenario.stages) else "a stage takes no time"


@dataclass(eq=False)
class Batch:
    """Runs of one world that differ in seed and sigma of their jitter."""

    world: World
    """Resources and lanes, whole."""
    seeds: Sequence[int]
    """One for each run."""
    sigmas: Sequence[float]
    """One for each run."""
    keep: tuple[int, ...] = ()
    """Lanes whose spans are kept; for one run at a time."""
    rows: list[NDArray[np.int64]] = field(default_factory=list)
    """Blocks of rows ``(lane, step, slice, stage, resource, queued, start, end, bytes)``."""
    finished: list[NDArray[np.int64]] = field(default_factory=list)
    """Blocks of ``(slice id, lane that has it, when)`` of slices that have reached their final value."""

    def __post_init__(self) -> None:
        world = self.world
        reason = refuses(world.scenario)
        if reason or world.folded:
            raise ScenarioError("engine", f"'arrays' cannot run this: {reason}; use 'auto'")
        self._lanes, self._nodes = len(world.lanes), world.plan.nodes
        self._kept = np.array(self.keep, np.int64)
        self._pieces = range(len(world.chunk_sizes))
        self.traffic: Exchange | None = exchange(world) if world.plan.exchanges else None
        self._own = self.traffic.ready if self.traffic and world.plan.collects else None
        self._known: dict[tuple[bool, int], list[tuple[Leg, list[NDArray[np.int64]]]]] = {}
        self._resource_ids: dict[tuple[str, int], NDArray[np.int64]] = {}
        self._free: dict[tuple[int, ...], Times] = {}
        self._held: dict[int, deque[Times]] = {}
        self._end = np.zeros((len(self.seeds), self._lanes), np.int64)
        self._hand_out_free = self._begin_handing_out()

        self._check_horizon()

    def _check_horizon(self) -> None:
        """Refuse what may not end within the integers of an array, which would wrap without a word.

        Raises
        ------
        OverflowError
            If it may not.
        """
        schedule, longest = self.world.plan.schedule, 0
        for step in {0, schedule.steps - 1} if schedule.steps else ():
            for piece in (0, len(self._pieces) - 1):
                way = self._ways(step, piece)
                served = sum(int(durations.max()) for _, visits in way for durations in visits)
                flown = sum(leg.flight.duration_ps for leg, _ in way if leg.flight)
                longest = max(longest, served + flown)
        luck = max(math.exp(_MOST_SIGMAS * sigma) for sigma in self.sigmas)
        if longest * luck * max(1, schedule.steps) * len(self._pieces) > _LAST_PS:
            raise OverflowError("the times do not fit")

    def run(self, progress: Progress | None = None) -> Times:
        """Return when each run ends, picoseconds."""
        schedule, blocking = self.world.plan.schedule, self.world.scenario.blocking
        shape = self._end.shape
        turn = np.zeros(shape, np.int64)
        there = [
            np.full(shape, 0 if self._own is None else self._own[piece], np.int64) for piece in self._pieces
        ]
        for step, factors in zip(range(schedule.steps), self._factors(), strict=False):
            over = turn
            for piece in self._pieces:
                arrived = self._slice(step, piece, np.maximum(there[piece], turn), factors)
                over = np.maximum(over, arrived)
                if not blocking or self.world.plan.hands_out:
                    there[piece] = self._at_receiver(arrived)
                    self._finish(step, piece, there[piece])
            if blocking:  # a step needs both of its ends, and each must be through with both of its transfers
                turn = np.maximum(np.maximum(over, self._at_receiver(over)), self._at_receiver(over, -1))
            np.maximum(self._end, over, out=self._end)
            if progress and not step & 31:
                progress(step, schedule.steps)
        last: Times = self._end.max(axis=1)
        return last

    def _at_receiver(self, values: Times, by: int = 1) -> Times:
        """Return values of senders as their receivers (those of receivers as their senders) know them."""
        rails, found = values.reshape(len(values), -1, self._nodes), np.empty_like(values)
        there = found.reshape(rails.shape)
        there[..., by:], there[..., :by] = rails[..., :-by], rails[..., -by:]
        return found

    # ---- one slice of every lane -------------------------------------------------------------------------------

    def _slice(self, step: int, piece: int, begin: Times, factors: noise.Factors | None) -> Times:
        """Let a slice of every lane go its way; return when it has arrived."""
        at, number = begin, -1
        for leg, durations in self._ways(step, piece):
            if leg.exclusive:
                number += 1
            if leg.gated and self._own is not None:
                at = np.maximum(at, self._own[(step + 1) * len(self._pieces) + piece])
            if leg.acquire >= 0:
                held = self._held.setdefault(leg.acquire, deque())
                if len(held) == self.world.places[leg.acquire]:
                    at = np.maximum(at, held.popleft())
            if leg.exclusive:
                factor = None if factors is None else factors[:, piece, number]
                at = self._serve(step, piece, leg, at, durations, factor)
            if leg.flight:
                if self.keep:
                    wires = self._resources("wire", 0)
                    self._note(
                        step, piece, stage_number("flight"), wires, (at, at, at + leg.flight.duration_ps), 0
                    )
                at = at + leg.flight.duration_ps
            if leg.release >= 0:
                self._held.setdefault(leg.release, deque()).append(at)
        return at

    def _serve(
        self,
        step: int,
        piece: int,
        leg: Leg,
        queued: Times,
        durations: list[NDArray[np.int64]],
        factor: noise.Factors | None,
    ) -> Times:
        """Let the exclusive resources of a stage serve a slice of every lane; return when the slowest has."""
        last = queued
        for number, visit in enumerate(leg.exclusive):
            duration = durations[number]
            if not self.keep and any(duration is one for one in durations[:number]):
                continue  # serves the same slices at the same times as that one
            if factor is not None:
                duration = np.maximum(np.rint(duration * factor), 1).astype(np.int64)
            key = (leg.stage, number)
            start = np.maximum(queued, self._free[key]) if key in self._free else queued
            end = self._free[key] = start + duration
            last = np.maximum(last, end)
            if self.keep:
                resources = self._resources(*self._named(visit.resource))
                self._note(step, piece, leg.stage, resources, (queued, start, end), visit.nbytes)
        return last

    def _ways(self, step: int, piece: int) -> list[tuple[Leg, list[NDArray[np.int64]]]]:
        """Return the legs of lane 0, with the service times of every lane."""
        key = (step < self.world.plan.schedule.reducing_steps, piece)
        if key not in self._known:
            speeds = [self.world.scenario.node_speed(node) for node in range(self._nodes)]
            alike: dict[tuple[float, float], int] = {}
            for lane in range(self._nodes):
                alike.setdefault((speeds[lane], speeds[self.world.receiver(lane, 0)]), lane)
            which = np.array(
                [alike[speeds[n], speeds[self.world.receiver(n, 0)]] for n in range(self._nodes)]
            )
            which = np.tile(which, self._lanes // self._nodes)
            legs = {lane: self.world.legs(lane, step, plain=True)[piece] for lane in {0, *alike.values()}}
            self._known[key] = [
                (leg, self._spread(legs, which, number)) for number, leg in enumerate(legs[0])
            ]
        return self._known[key]

    @staticmethod
    def _spread(
        legs: dict[int, tuple[Leg, ...]], which: NDArray[np.int64], number: int
    ) -> list[NDArray[np.int64]]:
        """Return each visit's service time for every lane, from those of the lanes that stand for all.

        Visits that always take the same time share one array.
        """
        found: dict[bytes, NDArray[np.int64]] = {}
        spread = []
        for visit in range(len(legs[0][number].exclusive)):
            table = {lane: way[number].exclusive[visit].duration_ps for lane, way in legs.items()}
            values = np.array([table[lane] for lane in which.tolist()], np.int64)
            spread.append(found.setdefault(values.tobytes(), values))
        return spread

    def _factors(self) -> Iterator[noise.Factors | None]:
        """Return the factors of every step, shape ``(runs, slices, stages, lanes)``; None without jitter."""
        s, steps = self.world.scenario, self.world.plan.schedule.steps
        if not any(self.sigmas):
            yield from [None] * steps
            return
        shape = (len(self._pieces), len(s.stages) + s.reduces, self._lanes)
        generators = [np.random.default_rng(seed) for seed in self.seeds]
        at_once = max(1, min(steps, _MOST_DRAWS // (len(self.seeds) * int(np.prod(shape)))))
        for first in range(0, steps, at_once):
            count = min(at_once, steps - first)
            drawn = np.empty((len(generators), count, *shape))
            for index, (generator, sigma) in enumerate(zip(generators, self.sigmas, strict=True)):
                drawn[index] = noise.draw(generator, sigma, (count, *shape)) if sigma else 1.0
            for step in range(count):
                yield drawn[:, step]

    # ---- inside the nodes --------------------------------------------------------------------------------------

    def _begin_handing_out(self) -> Times:
        """Return when each lane's scale-up links are free to hand out what is final."""
        free = np.zeros_like(self._end)
        traffic, plan = self.traffic, self.world.plan
        if not traffic:
            return free
        free += int(traffic.link_end[-1])
        self._end[:] = int(traffic.ready[-1]) if plan.collects else 0
        if plan.hands_out and (plan.schedule.steps == 0 or not plan.adds):
            for piece in self._pieces:
                ready = int(traffic.ready[piece]) if plan.collects else 0
                free = np.maximum(free, ready) + int(traffic.link_ps[piece])
            self._end = np.maximum(self._end, free + traffic.latency_ps)
        return free

    def _finish(self, step: int, piece: int, at: Times) -> None:
        """What has arrived is final from the last reducing step on: hand it out over the scale-up links."""
        if not self.world.plan.hands_out or step < self.world.plan.schedule.reducing_steps - 1:
            return
        traffic = self.traffic
        moved = self.world.chunk_sizes[piece] * (traffic.peers if traffic else 0)
        duration = service(self.world.scenario.machine, "scaleup")(moved)
        self._hand_out_free = np.maximum(self._hand_out_free, at) + duration
        latency = traffic.latency_ps if traffic else 0
        np.maximum(self._end, self._hand_out_free + latency, out=self._end)
        if self.keep:
            kept = self._kept
            sender = self._at_receiver(np.arange(self._lanes)[None, :])[0][kept]
            ids = (step * len(self._pieces) + piece) * self._lanes + sender
            self.finished.append(np.column_stack([ids, kept, at[0][kept]]))

    # ---- what is recorded --------------------------------------------------------------------------------------

    def meet(self) -> None:
        """Let the world make every resource that will be recorded."""
        schedule = self.world.plan.schedule
        for step in {0, schedule.steps - 1} if schedule.steps else ():
            for leg, _ in self._ways(step, 0):
                for visit in leg.exclusive:
                    self._resources(*self._named(visit.resource))

    def _named(self, resource: int) -> tuple[str, int]:
        """Return a resource of lane 0's way as its kind, and whether the receiver has it."""
        one = self.world.resources[resource]
        return one.kind, int(one.node != self.world.lanes[0].node)

    def _resources(self, kind: str, destination: int) -> NDArray[np.int64]:
        """Return every lane's resource of a kind, its own or its receiver's."""
        key = (kind, destination)
        if key not in self._resource_ids:
            lanes = self.world.lanes
            ends = [lanes[self.world.receiver(i, 0)] if destination else one for i, one in enumerate(lanes)]
            self._resource_ids[key] = np.array(
                [self.world.resource(kind, e.node, e.device) for e in ends], np.int64
            )
        return self._resource_ids[key]

    def _note(
        self,
        step: int,
        piece: int,
        stage: int,
        resources: NDArray[np.int64],
        times: tuple[Times, Times, Times],
        nbytes: int,
    ) -> None:
        kept = self._kept
        fixed = [np.full(len(kept), value, np.int64) for value in (step, piece, stage)]
        size = np.full(len(kept), nbytes, np.int64)
        self.rows.append(np.column_stack([kept, *fixed, resources[kept], *(t[0][kept] for t in times), size]))
