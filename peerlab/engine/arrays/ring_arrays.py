"""The array engine: a ring whose resources serve its slices in a known order, all lanes at once.

Where every resource belongs to one sender, a slice's start is the maximum of a few times: when it came, when the resource
was free, when a place in the window was. So a ring is a recurrence over arrays of lanes, and of scenarios that differ
only in their jitter. A warm registration cache only delays the first slice of a transfer: a hit queues nowhere, so the order stays.
Where devices share a NIC, an order is assumed, and verified while it runs (`service_order`). What else shares a resource,
queues for registration or is no ring is refused.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from peerlab.base.errors import ScenarioError
from peerlab.base.numbers import NDArray, np
from peerlab.engine.arrays.array_record import ArrayRecord, Visited
from peerlab.engine.arrays.lanes_apart import LanesApart
from peerlab.engine.arrays.noise_of_runs import NoiseOfRuns, SliceNoise, of_stage
from peerlab.engine.arrays.service_order import Arrived, ServiceOrders, State, Times
from peerlab.engine.arrays.service_times import kinds_of_lanes, spread
from peerlab.engine.begins import Begins
from peerlab.engine.legs import Leg
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.scaleup import Exchange, exchange
from peerlab.engine.system import System
from peerlab.engine.warm_cache import ends_warm
from peerlab.model.paths import PROXY
from peerlab.model.resources import resource_kind, service
from peerlab.model.slow_parts import lost_to_neighbour

_LAST_PS = 2**57
"""`service_order` multiplies times by 16."""


def refuses(system: System) -> str:
    """Return why the array engine cannot say exactly what happens in a system; empty if it can, as far as is known before it runs."""
    scenario, schedule = system.scenario, system.plan.schedule
    if not schedule.is_ring:
        return "it is no ring"
    if scenario.registers and not ends_warm(scenario, schedule):
        return "transfers queue for registration"
    kinds = [use.kind for stage in scenario.stages for use in stage.uses]
    shared = scenario.fabric.contended or any(resource_kind(kind).shared for kind in kinds)
    if shared or len(set(kinds)) < len(kinds):
        return "slices of several senders, or of several stages, queue for one resource"
    cluster = scenario.cluster_for_message
    uneven = cluster.devices_per_switch % cluster.nics_per_switch or lost_to_neighbour(scenario)
    if uneven and any(resource_kind(kind).scope == "nic" for kind in kinds):
        return "more devices share one NIC than another"
    if PROXY.kind in kinds:
        return "the library's proxy holds what its NIC sends"
    return "" if all(stage.uses for stage in scenario.stages) else "a stage takes no time"


@dataclass(eq=False)
class Batch:
    """Runs of one system that differ in seed and in the sigma of their jitter."""

    system: System
    """Resources and lanes of every node."""
    seeds: Sequence[int]
    """One for each run."""
    sigmas: Sequence[float]
    """One for each run, of its jitter; all other noise is the system's."""
    keep: tuple[int, ...] = ()
    """Lanes whose spans are kept; for one run at a time."""
    begins: Begins | None = None
    """When nodes begin; None: all together, at 0."""
    record: ArrayRecord = field(init=False)
    """Its rows and totals."""
    orders: ServiceOrders = field(init=False)
    """In which order shared resources serve, and which runs were found to be in it."""

    def __post_init__(self) -> None:
        system = self.system
        reason = refuses(system)
        if reason or system.folded:
            raise ScenarioError("engine", f"'arrays' cannot run this: {reason}; use 'auto'")
        self._lanes, self._nodes = len(system.lanes), system.plan.nodes
        runs = len(self.seeds)
        self.record = ArrayRecord(system, runs, self.keep)
        self.noise = NoiseOfRuns(system, self.seeds, self.sigmas)
        self._pieces = range(len(system.chunk_sizes))
        self.traffic: Exchange | None = exchange(system) if system.plan.exchanges else None
        self._own = self.traffic.ready if self.traffic and system.plan.collects else None
        self._known: dict[tuple[bool, int], list[tuple[Leg, list[NDArray[np.int64]]]]] = {}
        self._free: dict[Visited, State] = {}
        self.orders = ServiceOrders(self.record.resources, runs)
        self.held: dict[int, deque[Times]] = {}
        self._lookup_ps = system.scenario.registration_cost.lookup_ps if system.scenario.registers else 0
        self._before: Times | None = None
        self._end = np.zeros((runs, self._lanes), np.int64)
        self.apart = LanesApart(system, self.begins) if self.begins else None
        self._begun = self.apart.begun if self.apart else np.zeros(self._lanes, np.int64)
        if self.apart:
            self.held.update(self.apart.held())
        self._first_round = np.ones_like(self._end)
        self.hand_out_free = self._begin_handing_out()
        self._check_horizon()

    def _check_horizon(self) -> None:
        """Refuse a run whose times may exceed the integers of an array: numpy would wrap them silently.

        Raises
        ------
        OverflowError
            If it may not.
        """
        schedule, longest = self.system.plan.schedule, 0
        for step in {0, schedule.steps - 1} if schedule.steps else ():
            for piece in (0, len(self._pieces) - 1):
                way = self._ways(step, piece)
                served = sum(int(durations.max()) for _, visits in way for durations in visits)
                flown = sum(leg.flight.duration_ps for leg, _ in way if leg.flight)
                sharing = max(self.orders.at(v.resource).most for leg, _ in way for v in leg.visits)
                longest = max(longest, sharing * served + flown + self._lookup_ps)
        slices = max(1, schedule.steps) * len(self._pieces)
        visits = slices * sum(len(stage.uses) for stage in self.system.scenario.stages)
        if self.noise.longest(longest * slices, visits) + int(self._begun.max()) > _LAST_PS:
            raise OverflowError("the times do not fit")

    def run(self, progress: Progress | None = None) -> Times:
        """Return when each run ends, picoseconds."""
        schedule, blocking = self.system.plan.schedule, self.system.scenario.blocking
        shape = self._end.shape
        # `turn`: when a lane may begin a step of blocking code; `there`: when the data of each slice has arrived
        turn = np.zeros(shape, np.int64) + (self.apart.gate if self.apart else 0)
        there = [
            np.full(shape, 0 if self._own is None else self._own[piece], np.int64) + self._begun
            for piece in self._pieces
        ]
        for step, noise in zip(range(schedule.steps), self.noise.of_slices(), strict=True):
            # the first slice begins the transfer; those behind it need only their data and their place
            over, begin = turn, self._begin(np.maximum(there[0], turn), turn)
            for piece in self._pieces:
                arrived = self._slice(step, piece, np.maximum(there[piece], begin), noise)
                over = np.maximum(over, arrived)
                if not blocking or self.system.plan.hands_out:
                    there[piece] = self._at_receiver(arrived)
                    self._finish(step, piece, there[piece])
            if blocking:  # a step needs both of its ends, and each must be through with both of its transfers
                turn = np.maximum(np.maximum(over, self._at_receiver(over)), self._at_receiver(over, -1))
            np.maximum(self._end, over, out=self._end)
            if self.apart:
                self.apart.arrive(self._at_receiver(over), over)
            if not self.orders.hold().any():
                break
            if progress and not step & 31:
                progress(step, schedule.steps)
        last: Times = self._end.max(axis=1)
        return last

    def _begin(self, first: Times, turn: Times) -> Times:
        """Return when a step may begin: in its turn, and once its transfer's memory is found in the cache.

        A transfer looks for it when its `first` slice is there, or, where it may look ahead, when that of the transfer before is.
        """
        if not self.system.scenario.registers:
            return turn
        ahead = self._before if self.system.scenario.prefetch else None
        values, self._before = first if ahead is None else ahead, first
        self.record.ask(values)
        return np.maximum(turn, values + self._lookup_ps)

    def _at_receiver(self, values: Times, by: int = 1) -> Times:
        """Return the values of each lane at its receiver, `by` nodes further on its rail; with `by` -1, at its sender."""
        # lanes of one device stand side by side, in the order of nodes: sending on is a rotation by one
        rails, numbers = values.reshape(len(values), -1, self._nodes), np.empty_like(values)
        there = numbers.reshape(rails.shape)
        there[..., by:], there[..., :by] = rails[..., :-by], rails[..., -by:]
        return numbers

    # ---- one slice of every lane -------------------------------------------------------------------------------

    def _slice(self, step: int, piece: int, begin: Times, noise: SliceNoise) -> Times:
        """Send a slice of every lane through its legs; return when it has arrived."""
        at, number = begin, -1
        self.orders.come(begin)
        for leg, durations in self._ways(step, piece):
            if leg.visits:
                number += 1
            if (
                self.apart
                and self.apart.posted
                and self.system.at_receiver(leg, self.system.receiver(0, step))
            ):
                at = np.maximum(at, self.apart.begun_there)
            if leg.gated and self._own is not None:
                # contributions are collected in the order of sending, and what arrives in this step is sent in the next
                own = self._own[(step + 1) * len(self._pieces) + piece]
                at = np.maximum(at, own + (self.apart.begun_there if self.apart else 0))
            if leg.acquire >= 0:
                held = self.held.setdefault(leg.acquire, deque())
                # slices release places in the order of taking them, so the oldest release is the next free place
                if len(held) == self.system.places[leg.acquire]:
                    at = np.maximum(at, held.popleft())
            if leg.visits:
                at = self._serve(step, piece, leg, at, durations, of_stage(noise, piece, number))
            elif leg.flight:
                over = at + leg.flight.duration_ps
                self.record.fly(step, piece, leg, (at, at, over))
                at = over
            if leg.release >= 0:
                self.held.setdefault(leg.release, deque()).append(at)
        return at

    def _serve(
        self,
        step: int,
        piece: int,
        leg: Leg,
        queued: Times,
        durations: list[NDArray[np.int64]],
        noise: SliceNoise,
    ) -> Times:
        """Send a slice of every lane through the resources of a stage; return when it is through, the latency included."""
        came, past, round_, served = queued, queued, self._first_round, self.record.served
        before = [self._free.get((leg.stage, number)) for number in range(len(durations))]
        orders = [self.orders.at(visit.resource) for visit in leg.visits]
        for number, duration in enumerate(durations):
            key, latency = (leg.stage, number), leg.latency_ps(number + 1)
            self.record.visit(key, leg)
            # a resource that always took as long as the one upstream, with no latency between, has each slice at the same times
            alike = number and duration is durations[number - 1] and before[number] is before[number - 1]
            alike = alike and not self.noise.of_nodes
            # rows that are kept need each by itself
            if (
                alike
                and not self.keep
                and not leg.latency_ps(number)
                and orders[number] is orders[number - 1]
            ):
                self._free[key], served[key] = (
                    self._free[leg.stage, number - 1],
                    served[leg.stage, number - 1],
                )
            else:
                visit = leg.visits[number]
                duration = self.noise.on(visit, duration, noise)  # noqa: PLW2901
                arrived = Arrived(came, past, round_, self.noise.pauses(visit))
                start, past, self._free[key] = orders[number].serve(before[number], arrived, duration)
                # what a resource begins with at once arrives at the next in the next round of this instant
                round_ = np.where(start > came, 1, round_ + 1) if self.orders.shared else round_
                served[key] = (served[key] if key in served else np.zeros_like(past)) + duration
                if self.apart and not self.noise.at_receiver(visit):
                    self.apart.leave(past)
                if self.keep:
                    work = np.broadcast_to(duration, past.shape)
                    self.record.serve(step, piece, key, leg, (came, start, past, work))
                came = start
            if latency:
                left = came if number + 1 < len(durations) else past
                came, past, round_ = came + latency, past + latency, self._first_round
                self.record.fly(step, piece, leg, (left, left, past))
        return past

    def _ways(self, step: int, piece: int) -> list[tuple[Leg, list[NDArray[np.int64]]]]:
        """Return the legs of lane 0, with the service times of every lane."""
        # service times depend on whether the step adds up, on the slice (the last has the envelope) and on both nodes' speeds
        key = (step < self.system.plan.schedule.reducing_steps, piece)
        if key not in self._known:
            alike: dict[object, int] = {}
            kinds = kinds_of_lanes(self.system)
            for lane, kind in enumerate(kinds):
                alike.setdefault(kind, lane)
            which = np.array([alike[kind] for kind in kinds], np.int64)
            legs = {
                lane: self.system.legs(lane, step, plain=True, even=True)[piece]
                for lane in {0, *alike.values()}
            }
            self._known[key] = [(leg, spread(legs, which, number)) for number, leg in enumerate(legs[0])]
        return self._known[key]

    # ---- inside the nodes --------------------------------------------------------------------------------------

    def _begin_handing_out(self) -> Times:
        """Return when each lane's scale-up links are free to hand out final slices."""
        free = np.zeros_like(self._end)
        traffic, plan = self.traffic, self.system.plan
        if not traffic:
            return free
        free += int(traffic.link_end[-1]) + self._begun
        self._end[:] = (int(traffic.ready[-1]) if plan.collects else 0) + self._begun
        if plan.hands_out and (plan.schedule.steps == 0 or not plan.adds):
            for piece in self._pieces:
                ready = (int(traffic.ready[piece]) if plan.collects else 0) + self._begun
                free = np.maximum(free, ready) + int(traffic.link_ps[piece])
                if self.apart:
                    self.apart.own_handed_ps += int(traffic.link_ps[piece])
                self.record.hand_out(
                    int(traffic.link_ps[piece]), int(traffic.slices[piece]) * traffic.way.hands
                )
            self._end = np.maximum(self._end, free + traffic.latency_ps)
        return free

    def _finish(self, step: int, piece: int, at: Times) -> None:
        """Hand a slice that arrived out over the scale-up links, if its value is final: from the last reducing step on."""
        if not self.system.plan.hands_out or step < self.system.plan.schedule.reducing_steps - 1:
            return
        traffic = self.traffic
        moved = self.system.chunk_sizes[piece] * (traffic.way.hands if traffic else 0)
        duration = service(self.system.scenario.cluster_for_message, "scaleup")(moved)
        free = self.hand_out_free
        self.orders.finish(at, self.apart.links_free(at, free) if self.apart else free)
        self.hand_out_free = (
            self.apart.hand_out(at, duration, free) if self.apart else np.maximum(free, at) + duration
        )
        latency = traffic.latency_ps if traffic else 0
        np.maximum(self._end, self.hand_out_free + latency, out=self._end)
        self.record.hand_out(duration, moved)
        if self.keep:
            sender = self._at_receiver(np.arange(self._lanes)[None, :])[0]
            self.record.finish((step * len(self._pieces) + piece) * self._lanes + sender, at)
