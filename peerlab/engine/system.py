"""A scenario made ready to run: its resources, and for every sender the legs of its slices.

Nodes of a symmetric collective are identical, and so are the PCIe switches of a NUMA domain. *Folded*, a system holds
one switch of one node: what it sends to its partner arrives, at the same time, from a partner. A resource that switches
or nodes share (DRAM, a backbone) then counts every user as many times as there are switches or senders.
"""

# Folding. In a symmetric collective all nodes do the same at the same time, and so do the PCIe switches of
# a node. So one switch of one node is simulated: what it sends to its neighbour arrives, at the same
# moment, from its other neighbour. The switches of a NUMA domain share its DRAM; so DRAM counts each user
# as many times as there are switches (`Resource.copies`, 2 on DL1).

from dataclasses import InitVar, dataclass
from functools import cache, cached_property, lru_cache

from peerlab.base.errors import ScenarioError
from peerlab.collectives.choose import cut, plan
from peerlab.collectives.plan import Plan, Schedule
from peerlab.engine import jitter
from peerlab.engine.inventory import Inventory
from peerlab.engine.legs import Leg
from peerlab.engine.noise_draws import Places, Whole, detours, seed_of
from peerlab.engine.pipeline import Pipeline, SliceLegs, UnevenLegs
from peerlab.engine.slice_dependencies import Order, intervals
from peerlab.model.slow_parts import REBALANCE
from peerlab.model.stages import stage_number
from peerlab.question.node_exchange import NodeExchange, node_exchange
from peerlab.question.scenario import Scenario


@dataclass(eq=False)
class System:
    """The lanes of a scenario (all, or one switch of one node), the order of their slices, and the legs of each."""

    scenario: Scenario
    """The question."""
    folded: bool
    """Whether one switch of one node represents all."""
    one_switch: bool = False
    """Whether one switch of each node represents the others of its node; so it is in a folded system."""
    planned: InitVar[Plan | None] = None
    """The scenario's plan, where the caller has made it already."""

    def __post_init__(self, planned: Plan | None) -> None:
        self.plan = planned or plan(self.scenario)
        """The collective's transfers."""
        if self.folded and not _alike(self.scenario, self.plan):
            raise ScenarioError(
                "collective", "not the same on every node, so that no node stands for the others"
            )
        self.one_switch |= self.folded
        self.number = 0
        """Which exchange of a step it is: the slices of each draw noise of their own."""
        self.since_ps = 0
        """When its clock begins on that of the step, by which nodes stand still."""
        self.ordinary_nodes: frozenset[int] = frozenset()
        """Nodes whose noise is cut at what one of twenty draws exceeds (`engine/ordinary`)."""
        self._legs: dict[tuple[int, ...], SliceLegs] = {}
        self._pipelines: dict[int, tuple[tuple[int, bool, bool, frozenset[int]], Pipeline]] = {}
        self._orders: dict[int, Order] = {}
        scenario, chunk_bytes = self.scenario, self.plan.schedule.chunk_bytes
        # It is handed to each `Order` and does not hold the system: a cycle would keep every leg until Python's collector comes, which is
        # seldom while runs follow each other.
        self.chunks_sizes = cache(lambda chunks: cut(scenario, chunks * chunk_bytes))
        """Returns the bytes of each slice of a transfer of so many chunks."""
        self._inventory = Inventory(self.scenario, self.plan, folded=self.folded, one_switch=self.one_switch)
        self.resources = self._inventory.resources
        """Everything that serves slices; grows as legs are asked for."""
        self.places = self._inventory.places
        """Per pool, how many slices may hold a place of it; grows likewise."""
        self.pools, self.pool = self._inventory.pools, self._inventory.pool
        """Index of each pool, by what it is a place of, node and device; and what returns it, if need be making it."""
        self.resource = self._inventory.resource
        """Returns the index of the resource of a kind that serves a device of a node."""
        self.speeds = self._inventory.speeds
        """Returns the share of its rate that the NIC of a node's device has, and that of its port."""
        self.lanes = self._inventory.lanes(self.inside.resource)

    def of_every_node(self) -> "System":
        """Return the system of every node, and of a node one PCIe switch, where it stands for the others; itself, if it is that."""
        if not self.folded:
            return self
        system = System(self.scenario, folded=False, one_switch=True, planned=self.plan)
        system.number, system.since_ps = self.number, self.since_ps
        return system

    @cached_property
    def inside(self) -> NodeExchange:
        """How the devices of a node hand each other what does not go over the network."""
        return node_exchange(self.scenario)

    # ---- slices and their order --------------------------------------------------------------------------------

    def sizes(self, step: int) -> tuple[int, ...]:
        """Return the bytes of each slice of the transfers of a step."""
        return self.chunks_sizes(len(self.plan.schedule.sends(step)))

    @cached_property
    def chunk_sizes(self) -> tuple[int, ...]:
        """Bytes of each slice of one chunk."""
        return self.chunks_sizes(1)

    @cached_property
    def pieces(self) -> int:
        """The most slices that a transfer has."""
        schedule = self.plan.schedule
        most = {len(schedule.sends(step)) for step in (0, schedule.steps - 1)} if schedule.steps else {1}
        return max(len(self.chunks_sizes(chunks)) for chunks in most)

    def order(self, lane: int) -> Order:
        """Return which slices the slices of a lane wait for."""
        # counted in positions, all ranks of a symmetric schedule have the same order
        rank = 0 if self.plan.schedule.symmetric else self.lanes[lane].node
        if rank not in self._orders:
            self._orders[rank] = Order(self.plan.schedule, rank, self.chunks_sizes)
        return self._orders[rank]

    def own_ready(self, gathered: list[int], positions: range, chunks: tuple[int, ...]) -> list[int]:
        """Return for each slice of `positions` when the node's own contribution to it is added up.

        Parameters
        ----------
        gathered:
            When the node has collected each slice of each chunk, in the order of `gather_place`.
        chunks:
            Bytes of each slice.
        """
        size, per_chunk = self.plan.schedule.chunk_bytes, len(self.chunk_sizes)
        # one chunk: it was collected in the same slices
        if len(positions) == 1:
            first = self.gather_place[positions[0]] * per_chunk
            return gathered[first : first + per_chunk]
        numbers = []
        for low, high in intervals(positions, size, chunks):
            # slices are added up one after the other, so the last one that overlaps decides
            last = max(range(low // size, -(-high // size)), key=self.gather_place.__getitem__)
            piece = (min(high, (last + 1) * size) - 1 - last * size) // self.chunk_sizes[0]
            numbers.append(gathered[self.gather_place[last] * per_chunk + piece])
        return numbers

    @cached_property
    def gather_place(self) -> dict[int, int]:
        """Which place, counted in chunks, each position has in the order in which a device collects: that of first sending."""
        return _gather_places(self.plan.schedule)

    def receiver(self, lane: int, step: int) -> int:
        """Return the lane that a lane sends to in a step, or -1."""
        schedule = self.plan.schedule
        to = schedule.to(self.lanes[lane].node, step)
        return to if to < 0 else self._at(to, self.plan.further(self.lanes[lane].device, schedule.turn(step)))

    def sender(self, lane: int, step: int) -> int:
        """Return the lane that sends to a lane in a step, or -1."""
        schedule = self.plan.schedule
        source = schedule.source(self.lanes[lane].node, step)
        return (
            source
            if source < 0
            else self._at(source, self.plan.further(self.lanes[lane].device, schedule.turn(step), back=True))
        )

    def at_receiver(self, leg: Leg, to: int) -> bool:
        """Return whether a leg begins at the lane that the slice goes to, and not at its sender."""
        first = leg.visits[0].resource if leg.visits else leg.flight.wire if leg.flight else -1
        return first >= 0 and self.resources[first].node == self.lanes[to].node

    def next_step(self, lane: int, step: int) -> int:
        """Return the next step in which a lane sends; after its last, the number of steps."""
        steps = self.plan.schedule.steps
        return next((later for later in range(step + 1, steps) if self.receiver(lane, later) >= 0), steps)

    def _at(self, node: int, device: int) -> int:
        """Return the lane of a node's device, or of the one that stands for it."""
        device %= len(self._inventory.devices)
        # Folded, there is one node: what it sends to its right neighbour arrives, at the same time, from its left one.
        # Else lanes of one device stand side by side, in the order of nodes.
        return device if self.folded else device * len(self._inventory.nodes) + node

    @property
    def registration_stages(self) -> list[int]:
        """Indices of the stages that belong to a transfer, not to a slice."""
        return [stage_number("register"), stage_number("deregister")]

    # ---- the legs of a slice -----------------------------------------------------------------------------------

    def legs(self, lane: int, step: int, *, plain: bool = False, even: bool = False) -> SliceLegs:
        """Return the legs of each slice that a lane sends in a step.

        Parameters
        ----------
        plain:
            Without what noise makes of each slice: jitter and detours.
        even:
            Also without what it makes of each node: factors and ticks.
        """
        schedule = self.plan.schedule
        to, adds = self.receiver(lane, step), step < schedule.reducing_steps
        # No two slices have equal legs then: kept legs would only take memory.
        if self.scenario.noise.of_slices and not plain:
            return self._uneven_legs(lane, to, step)
        key = (lane, to, len(schedule.sends(step)), adds, even)
        if key not in self._legs:
            sizes, route = self.sizes(step), self._pipeline(lane, to, adds=adds, even=even)
            # all but the last have one size; the last carries the envelope
            last = route.legs(sizes[-1], len(sizes), (), last=True)
            first = route.legs(sizes[0], len(sizes), (), last=False) if len(sizes) > 1 else last
            self._legs[key] = (first,) * (len(sizes) - 1) + (last,)
        return self._legs[key]

    def _uneven_legs(self, lane: int, to: int, step: int) -> UnevenLegs:
        route = self._pipeline(lane, to, adds=step < self.plan.schedule.reducing_steps)
        factors, detours = self.factors, self.detours
        return UnevenLegs(
            route,
            self.sizes(step),
            None if factors is None else factors[step, :, :, lane],
            None if detours is None else detours[step, :, :, lane],
        )

    def _pipeline(self, lane: int, to: int, *, adds: bool, even: bool = False) -> Pipeline:
        # a pipeline keeps what its slices have in common; a lane's peers may be many, so only the last one stays
        known = self._pipelines.get(lane)
        asked = to, adds, even, self.ordinary_nodes
        if known is None or known[0] != asked:
            source, destination = ((self.lanes[end].node, self.lanes[end].device) for end in (lane, to))
            route = Pipeline(
                self.scenario,
                self._inventory,
                {"source": source, "destination": destination},
                adds=adds,
                gated=self.plan.collects,
                ordinary_nodes=self.ordinary_nodes,
                even=even,
                since_ps=self.since_ps,
            )
            known = self._pipelines[lane] = asked, route
        return known[1]

    @property
    def noise_places(self) -> Places:
        """The slices and stages that noise draws for."""
        s, nodes = self.scenario, len(self._inventory.nodes)
        devices = len(self.lanes) // nodes
        return Places(self.plan.schedule.steps, self.pieces, len(s.stages) + s.reduces, devices, nodes)

    @property
    def factors(self) -> jitter.Factors | None:
        """Factors on service times, shape ``(steps, slices, stages, lanes)``; None without jitter."""
        s, places = self.scenario, self.noise_places
        shape = (places.steps, places.pieces, places.stages, len(self.lanes))
        return jitter.factors(seed_of(s.seed, self.number), s.jitter, shape) if s.jitter else None

    @property
    def detours(self) -> Whole | None:
        """How long slices are held up, picoseconds, in the same shape; None without detours."""
        s = self.scenario
        return detours(seed_of(s.seed, self.number), s.noise, self.noise_places) if s.noise.detours else None


@lru_cache(maxsize=16)
def _gather_places(schedule: Schedule) -> dict[int, int]:
    places = dict[int, int]()
    for step in range(schedule.steps):
        for position in schedule.sends(step):
            places.setdefault(position, len(places))
        if len(places) == schedule.chunks:
            break
    for position in range(schedule.chunks):
        places.setdefault(position, len(places))
    return places


def foldable(scenario: Scenario) -> bool:
    """Return whether one switch of one node represents all."""
    return _alike(scenario, plan(scenario))


def _alike(scenario: Scenario, planned: Plan) -> bool:
    alike = not scenario.noise and not scenario.has_slow_parts and scenario.fabric.uniform
    return alike and planned.schedule.symmetric


def _switches_alike(scenario: Scenario) -> bool:
    """Return whether one PCIe switch of a node stands for its others: not the root's, below which one device does not wait."""
    record = scenario.collective_record
    roots = record.rooted and scenario.hardware.devices > 1
    apart = scenario.slow_nics and scenario.failover != REBALANCE
    return not scenario.noise.of_slices and not apart and not record.is_message and not roots


def least(scenario: Scenario, planned: Plan | None = None) -> System:
    """Return the smallest system that stands for all: one switch of one node, one switch of every node, or everything; `planned`: the scenario's plan."""
    planned = planned or plan(scenario)
    return System(scenario, _alike(scenario, planned), _switches_alike(scenario), planned)
