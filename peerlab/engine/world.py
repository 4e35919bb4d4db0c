"""A scenario made ready to run: the resources that exist, and for every sender the way of its slices.

Nodes of a symmetric collective are identical, and so are the PCIe switches of a NUMA domain. *Folded*, a world holds
one switch of one node: what it sends to its partner arrives, at the same time, from a partner. A resource that switches
or nodes share (DRAM, a backbone) then counts every user as many times as there are switches or senders.
"""

from dataclasses import dataclass, field
from functools import cached_property

from peerlab.collectives.choose import plan
from peerlab.collectives.plan import Plan, slice_sizes
from peerlab.engine import noise
from peerlab.engine.order import Order, intervals
from peerlab.engine.way import Flight, Lane, Leg, Link, Visit
from peerlab.errors import ScenarioError
from peerlab.model.path import REDUCE, RESOURCES, STAGES, Stage, Use, capacity_Bps, service
from peerlab.model.scenario import Scenario
from peerlab.trace import Resource
from peerlab.units import service_ps

STAGE_IDS = {name: index for index, name in enumerate(STAGES)}

_NIC = ("nic_tx", "nic_rx")
_SLOWED = (*_NIC, "port_tx", "port_rx")
"""Kinds of which a slow node has slower ones."""


@dataclass(eq=False)
class World:
    """Resources, pools and lanes of a scenario, whole or folded."""

    scenario: Scenario
    """The question."""
    folded: bool
    """Whether one switch of one node stands for all."""
    one_switch: bool = False
    """Whether one switch of each node stands for the others of its node; of a folded world it does."""
    resources: list[Resource] = field(default_factory=list)
    """Everything that serves slices."""
    engines: list[int] = field(default_factory=list)
    """Per resource, how many engines share it."""
    places: list[int] = field(default_factory=list)
    """Per pool, how many slices may hold a place of it."""

    def __post_init__(self) -> None:
        if self.folded and not foldable(self.scenario):
            raise ScenarioError(
                "collective", "not the same on every node, so that no node stands for the others"
            )
        self.one_switch |= self.folded
        self._ids: dict[tuple[str, int, int], int] = {}
        self._engine_ids: dict[tuple[int, str, int], int] = {}
        self._pool_ids: dict[tuple[str, int, int], int] = {}
        self._ways: dict[tuple[int, ...], tuple[tuple[Leg, ...], ...]] = {}
        self._orders: dict[int, Order] = {}
        self._sizes: dict[int, tuple[int, ...]] = {}
        self.lanes = [self._lane(node, device) for device in self._devices for node in self._nodes]

    @cached_property
    def plan(self) -> Plan:
        """The collective's transfers."""
        return plan(self.scenario)

    @property
    def _envelope(self) -> int:
        return int(self.scenario.envelope_bytes)

    # ---- slices and their order --------------------------------------------------------------------------------

    def chunks_sizes(self, chunks: int) -> tuple[int, ...]:
        """Return the bytes of each slice of a transfer of so many chunks."""
        found = self._sizes.get(chunks)
        if found is None:
            found = slice_sizes(chunks * self.plan.schedule.chunk_bytes, self.scenario.slice_limit)
            self._sizes[chunks] = found
        return found

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
        rank = 0 if self.plan.schedule.symmetric else self.lanes[lane].node
        if rank not in self._orders:
            self._orders[rank] = Order(self.plan.schedule, rank, self.chunks_sizes)
        return self._orders[rank]

    def own_ready(self, gathered: list[int], positions: range, chunks: tuple[int, ...]) -> list[int]:
        """Return for each slice of `positions` when the node's own contribution to it is added up.

        Parameters
        ----------
        gathered:
            When each slice of each chunk is, in the order of `gather_place`.
        chunks:
            Bytes of each slice.
        """
        size, per_chunk = self.plan.schedule.chunk_bytes, len(self.chunk_sizes)
        if len(positions) == 1:
            first = self.gather_place[positions[0]] * per_chunk
            return gathered[first : first + per_chunk]
        found = []
        for low, high in intervals(positions, size, chunks):
            # slices are added up one after the other, so the last one that overlaps decides
            last = max(range(low // size, -(-high // size)), key=self.gather_place.__getitem__)
            piece = (min(high, (last + 1) * size) - 1 - last * size) // self.chunk_sizes[0]
            found.append(gathered[self.gather_place[last] * per_chunk + piece])
        return found

    @cached_property
    def gather_place(self) -> dict[int, int]:
        """When, counted in chunks, a device collects the chunk of each position: in the order of sending."""
        schedule, places = self.plan.schedule, dict[int, int]()
        for step in range(schedule.steps):
            for position in schedule.sends(step):
                places.setdefault(position, len(places))
            if len(places) == schedule.chunks:
                break
        for position in range(schedule.chunks):
            places.setdefault(position, len(places))
        return places

    def receiver(self, lane: int, step: int) -> int:
        """Return the lane that a lane sends to in a step, or -1."""
        way = self.lanes[lane]
        to = self.plan.schedule.to(way.node, step)
        return to if to < 0 else self._at(to, lane)

    def sender(self, lane: int, step: int) -> int:
        """Return the lane that sends to a lane in a step, or -1."""
        if self.folded:
            return lane
        source = self.plan.schedule.source(self.lanes[lane].node, step)
        return source if source < 0 else self._at(source, lane)

    def next_step(self, lane: int, step: int) -> int:
        """Return the next step in which a lane sends; after its last, the number of steps."""
        steps = self.plan.schedule.steps
        return next((later for later in range(step + 1, steps) if self.receiver(lane, later) >= 0), steps)

    def _at(self, node: int, lane: int) -> int:
        return lane if self.folded else lane - self.lanes[lane].node + node

    @property
    def registration_stages(self) -> list[int]:
        """Indices of the stages that belong to a transfer, not to a slice."""
        return [STAGE_IDS["register"], STAGE_IDS["deregister"]]

    # ---- resources ---------------------------------------------------------------------------------------------

    @property
    def _nodes(self) -> range:
        return range(1 if self.folded else self.plan.schedule.ranks)

    @property
    def _devices(self) -> range:
        return range(self.scenario.machine.devices_per_switch if self.one_switch else self.plan.devices)

    def place(self, kind: str, device: int) -> int:
        """Return which of a node's resources of `kind` serves `device`."""
        machine = self.scenario.machine
        switch, below = divmod(device, machine.devices_per_switch)
        match RESOURCES[kind].scope:
            case "device" | "fabric":
                return device
            case "switch":
                return switch
            case "numa":
                return switch // machine.switches_per_numa
            case "nic":
                return switch * machine.nics_per_switch + below % machine.nics_per_switch

    def resource(self, kind: str, node: int, device: int) -> int:
        """Return the index of the resource of `kind` that serves `device` of `node`."""
        key = (kind, node, self.place(kind, device))
        if key not in self._ids:
            machine = self.scenario.machine
            copies = machine.switches_per_numa if self.one_switch and RESOURCES[kind].scope == "numa" else 1
            servers = machine.cores_per_device if kind == "core" else 1
            capacity = capacity_Bps(machine, kind)
            if kind in _SLOWED:
                capacity = max(1, round(capacity * self.scenario.node_speed(node)))
            shared = RESOURCES[kind].shared or (self.contended and kind in _NIC)
            self._add(key, Resource(*key, capacity, shared, servers, copies))
        return self._ids[key]

    def _add(self, key: tuple[str, int, int], resource: Resource) -> int:
        self._ids[key] = len(self.resources)
        self.resources.append(resource)
        self.engines.append(0)
        return self._ids[key]

    @cached_property
    def contended(self) -> bool:
        """Whether nodes share links of the fabric."""
        machine = self.scenario.machine
        uses = any(use.kind in _NIC for stage in self.scenario.stages for use in stage.uses)
        return uses and any(one is not None for one in (machine.backbone_Bps, machine.hosts_per_leaf))

    def _links(self, source: int, destination: int) -> tuple[int, ...]:
        """Return the shared links between two nodes."""
        machine = self.scenario.machine
        found = []
        # what one switch (of one node) sends, the others send at the same time
        users = (self.plan.devices // len(self._devices)) * (self.plan.nodes if self.folded else 1)
        if machine.backbone_Bps is not None:
            found.append(self._link("backbone", 0, machine.backbone_Bps, users))
        if machine.hosts_per_leaf is not None:
            leaves = [self.scenario.host(node) // machine.hosts_per_leaf for node in (source, destination)]
            if leaves[0] != leaves[1]:
                rate = machine.hosts_per_leaf * machine.node_wire_Bps // machine.oversubscription
                found += [
                    self._link("leaf_up", leaves[0], rate, users),
                    self._link("leaf_down", leaves[1], rate, users),
                ]
        return tuple(found)

    def _link(self, kind: str, index: int, capacity: int, users: int) -> int:
        key = (kind, -1, index)
        return (
            self._ids[key] if key in self._ids else self._add(key, Resource(*key, capacity, True, 1, users))
        )

    def _engine(self, resource: int, use: Use, device: int) -> int:
        if not use.engine:
            return -1
        key = (resource, use.engine, self.place(use.engine if use.engine in RESOURCES else "nic_tx", device))
        if key not in self._engine_ids:
            self._engine_ids[key] = self.engines[resource]
            self.engines[resource] += 1
        return self._engine_ids[key]

    def _pool(self, kind: str, end: tuple[int, int], places: int) -> int:
        key = (kind, *end)
        if key not in self._pool_ids:
            self._pool_ids[key] = len(self.places)
            self.places.append(places)
        return self._pool_ids[key]

    # ---- the way of a slice ------------------------------------------------------------------------------------

    def _lane(self, node: int, device: int) -> Lane:
        exchanges = self.plan.exchanges
        return Lane(
            node=node,
            device=device,
            desk=self.resource("registration", node, device),
            scaleup=(self.resource("scaleup", node, device), self.resource("scaleup_reduce", node, device))
            if exchanges
            else (-1, -1),
            wire=self.resource("wire", node, device),
        )

    def legs(self, lane: int, step: int, *, plain: bool = False) -> tuple[tuple[Leg, ...], ...]:
        """Return the legs of each slice that a lane sends in a step; `plain`: without jitter."""
        schedule = self.plan.schedule
        to, adds = self.receiver(lane, step), step < schedule.reducing_steps
        if self.scenario.jitter and not plain:
            return self._build(lane, to, self.sizes(step), adds=adds, step=step)
        key = (lane, to, len(schedule.sends(step)), adds)
        if key not in self._ways:
            self._ways[key] = self._build(lane, to, self.sizes(step), adds=adds, step=-1)
        return self._ways[key]

    def _build(
        self, lane: int, to: int, sizes: tuple[int, ...], *, adds: bool, step: int
    ) -> tuple[tuple[Leg, ...], ...]:
        stages = self.scenario.stages + ((REDUCE,) if adds and self.scenario.reduces else ())
        ends = {
            side: (self.lanes[i].node, self.lanes[i].device)
            for side, i in (("source", lane), ("destination", to))
        }
        last = len(sizes) - 1

        def chain(piece: int) -> tuple[Leg, ...]:
            factors = self.factors[step, piece, :, lane].tolist() if step >= 0 else ()
            envelope = self._envelope if piece == last else 0
            return self._chain(stages, ends, sizes[piece], len(sizes), factors, envelope)

        if step >= 0:
            return tuple(chain(piece) for piece in range(len(sizes)))
        return (chain(0),) * last + (chain(last),)  # slices are of one size, and go the same way

    @property
    def factors(self) -> noise.Factors:
        """Factors on service times, shape ``(steps, slices, stages, lanes)``."""
        s, schedule = self.scenario, self.plan.schedule
        shape = (schedule.steps, self.pieces, len(s.stages) + s.reduces, len(self.lanes))
        return noise.factors(s.seed, s.jitter, shape)

    def _chain(
        self,
        stages: tuple[Stage, ...],
        ends: dict[str, tuple[int, int]],
        nbytes: int,
        pieces: int,
        factors: list[float] | tuple[()],
        envelope: int = 0,
    ) -> tuple[Leg, ...]:
        """Return the legs of a slice; in blocking code a stage's worker takes one slice at a time, latency included."""
        legs: list[Leg] = []
        for number, stage in enumerate(stages):
            factor = factors[number] if factors else 1.0
            leg = self._leg(stage, ends, nbytes, factor, 0 if stage is REDUCE else envelope)
            if self.scenario.blocking and pieces > 1 and stage is not REDUCE:
                worker = self._pool(stage.name, ends[stage.side], 1)
                legs += [Leg(leg.stage, acquire=worker), leg, Leg(leg.stage, release=worker)]
            else:
                legs.append(leg)
        return tuple(legs)

    def _leg(
        self, stage: Stage, ends: dict[str, tuple[int, int]], nbytes: int, factor: float, envelope: int
    ) -> Leg:
        through_fabric = self.contended and any(use.kind in _NIC for use in stage.uses)
        uses = [use for use in stage.uses if not (through_fabric and use.kind in _NIC)]
        visits = [self._visit(use, *ends[use.side], nbytes, factor, envelope) for use in uses]
        sent = {use.kind for use in uses if use.side == "source" and not RESOURCES[use.kind].shared}
        after = [use for use in uses if use.side == "destination" and use.kind in sent]
        flight_ps: int = (getattr(self.scenario.machine, stage.flight) or 0) if stage.flight else 0
        window = self.scenario.window_slices
        return Leg(
            stage=STAGE_IDS[stage.name],
            exclusive=tuple(
                v for v, use in zip(visits, uses, strict=True) if v.engine < 0 and use not in after
            ),
            after=tuple(v for v, use in zip(visits, uses, strict=True) if use in after),
            shared=tuple(v for v in visits if v.engine >= 0),
            link=self._flow(ends, nbytes + envelope, factor) if through_fabric else None,
            flight=Flight(flight_ps, self.resource("wire", *ends[stage.side])) if flight_ps else None,
            acquire=self._pool(stage.acquire, ends[stage.acquire], window) if stage.acquire else -1,
            release=self._pool(stage.release, ends[stage.release], window) if stage.release else -1,
            gated=stage is REDUCE and self.plan.collects,
        )

    def _flow(self, ends: dict[str, tuple[int, int]], nbytes: int, factor: float) -> Link:
        tx, rx = (self.resource(kind, *ends[side]) for kind, side in zip(_NIC, ends, strict=True))
        route = (tx, *self._links(ends["source"][0], ends["destination"][0]), rx)
        return Link(tx, route, nbytes, nbytes * factor)

    def _visit(self, use: Use, node: int, device: int, nbytes: int, factor: float, envelope: int) -> Visit:
        resource = self.resource(use.kind, node, device)
        crossing = (nbytes + envelope) * use.touches
        # a core's work is per payload byte; what it touches in DRAM is counted there
        if use.kind == "core":
            duration = service(self.scenario.machine, use.kind, use.work)(crossing)
        else:
            duration = service_ps(crossing, self.resources[resource].capacity_Bps)
        if factor != 1.0:
            duration = noise.slowed(duration, factor)
        return Visit(resource, duration, crossing, self._engine(resource, use, device))


def foldable(scenario: Scenario) -> bool:
    """Return whether one switch of one node stands for all."""
    machine = scenario.machine
    alike = not scenario.jitter and not scenario.slow_nodes and machine.hosts_per_leaf is None
    return alike and plan(scenario).schedule.symmetric
