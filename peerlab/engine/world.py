"""A scenario made ready to run: the resources that exist, and for every sender the way of its slices.

Nodes of a symmetric collective are identical, and so are the PCIe switches of a NUMA domain. *Folded*, a world holds
one switch of one node: what it sends to its neighbour arrives, at the same time, from its other neighbour. A resource
that switches share (DRAM) then counts every user as many times as there are switches.
"""

from dataclasses import dataclass, field
from functools import cached_property

from peerlab.collectives.choose import plan
from peerlab.collectives.plan import Plan, slice_sizes
from peerlab.errors import ScenarioError
from peerlab.model.path import REDUCE, RESOURCES, STAGES, Stage, Use, capacity_Bps, service
from peerlab.model.scenario import Scenario
from peerlab.trace import Resource

STAGE_IDS = {name: index for index, name in enumerate(STAGES)}


@dataclass(frozen=True, slots=True)
class Visit:
    """What one slice asks of one resource."""

    resource: int
    """Index in `World.resources`."""
    duration_ps: int
    """Service time, alone."""
    nbytes: int
    """Bytes that cross the resource."""
    engine: int
    """For a shared resource: which of its engines."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One stage of one lane's slices of one size."""

    stage: int
    """Index in `STAGES`."""
    exclusive: tuple[Visit, ...]
    """Exclusive resources it visits."""
    shared: tuple[Visit, ...]
    """Shared resources it visits."""
    flight_ps: int
    """Latency after it."""
    acquire: int
    """Pool to take a place from before it, or -1."""
    release: int
    """Pool to give the place back to after it, or -1."""
    gated: bool
    """Whether it needs the receiver's own contribution, added up over its node."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One sender: a device of a node, and the way its slices go."""

    node: int
    """Sending node."""
    device: int
    """Sending device of the node."""
    to: int
    """Lane of the receiving device, or -1 if that sends nothing."""
    desks: tuple[int, int]
    """Registration queues of the sender's and the receiver's NIC."""
    scaleup: tuple[int, int]
    """The device's scale-up links and their reduction, or (-1, -1)."""
    wire: int
    """Where a slice in flight is drawn."""
    adding: tuple[tuple[Leg, ...], ...]
    """Legs in a step that adds, per slice of a transfer."""
    keeping: tuple[tuple[Leg, ...], ...]
    """Legs in a step that hands out, per slice of a transfer."""


@dataclass(eq=False)
class World:
    """Resources, pools and lanes of a scenario, whole or folded."""

    scenario: Scenario
    """The question."""
    folded: bool
    """Whether one switch of one node stands for all."""
    resources: list[Resource] = field(default_factory=list)
    """Everything that serves slices."""
    engines: list[int] = field(default_factory=list)
    """Per resource, how many engines share it."""

    def __post_init__(self) -> None:
        if self.folded and not self.plan.symmetric:
            raise ScenarioError("collective", f"{self.scenario.collective!r} is not the same on every node")
        self._ids: dict[tuple[str, int, int], int] = {}
        self._engine_ids: dict[tuple[int, str, int], int] = {}
        self._pool_ids: dict[tuple[str, int, int], int] = {}
        self.lanes = [self._lane(node, device) for device in self._devices for node in self._nodes]

    @cached_property
    def plan(self) -> Plan:
        """The collective's transfers."""
        return plan(self.scenario)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each slice of a transfer."""
        return slice_sizes(self.plan.schedule.transfer_bytes, self.scenario.slice_limit)

    @property
    def registration_stages(self) -> list[int]:
        """Indices of the stages that belong to a transfer, not to a slice."""
        return [STAGE_IDS["register"], STAGE_IDS["deregister"]]

    @property
    def pools(self) -> int:
        """How many windows there are, each of `Scenario.window_slices` places."""
        return len(self._pool_ids)

    @property
    def _nodes(self) -> list[int]:
        return [0] if self.folded else list(self.plan.schedule.senders)

    @property
    def _devices(self) -> range:
        return range(self.scenario.machine.devices_per_switch if self.folded else self.plan.devices)

    def place(self, kind: str, device: int) -> int:
        """Return which of a node's resources of `kind` serves `device`."""
        machine = self.scenario.machine
        switch, below = divmod(device, machine.devices_per_switch)
        match RESOURCES[kind].scope:
            case "device":
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
            copies = machine.switches_per_numa if self.folded and RESOURCES[kind].scope == "numa" else 1
            servers = machine.cores_per_device if kind == "core" else 1
            self._ids[key] = len(self.resources)
            capacity = capacity_Bps(machine, kind)
            self.resources.append(Resource(*key, capacity, RESOURCES[kind].shared, servers, copies))
            self.engines.append(0)
        return self._ids[key]

    def _engine(self, resource: int, use: Use, device: int) -> int:
        if not use.engine:
            return -1
        key = (resource, use.engine, self.place(use.engine if use.engine in RESOURCES else "nic_tx", device))
        if key not in self._engine_ids:
            self._engine_ids[key] = self.engines[resource]
            self.engines[resource] += 1
        return self._engine_ids[key]

    def _pool(self, side: str | None, ends: dict[str, tuple[int, int]]) -> int:
        if side is None:
            return -1
        return self._pool_ids.setdefault((side, *ends[side]), len(self._pool_ids))

    def _lane(self, node: int, device: int) -> Lane:
        schedule = self.plan.schedule
        to = node if self.folded else schedule.to(node)
        ends = {"source": (node, device), "destination": (to, device)}
        stages = self.scenario.stages
        adds = self.scenario.path != "wire" and self.scenario.machine.hbm_Bps is not None
        reduces = (REDUCE,) if adds else ()
        legs = {n: tuple(self._leg(s, ends, n) for s in (*stages, *reduces)) for n in set(self.sizes)}
        adding = tuple(legs[n] for n in self.sizes)
        exchanges = self.plan.exchanges
        return Lane(
            node=node,
            device=device,
            to=-1 if to not in self._nodes else self._nodes.index(to) + device * len(self._nodes),
            desks=(self.resource("registration", node, device), self.resource("registration", to, device)),
            scaleup=(self.resource("scaleup", node, device), self.resource("scaleup_reduce", node, device))
            if exchanges
            else (-1, -1),
            wire=self.resource("wire", node, device),
            adding=adding,
            keeping=tuple(way[: len(stages)] for way in adding),
        )

    def _leg(self, stage: Stage, ends: dict[str, tuple[int, int]], nbytes: int) -> Leg:
        visits = [self._visit(use, *ends[use.side], nbytes) for use in stage.uses]
        return Leg(
            stage=STAGE_IDS[stage.name],
            exclusive=tuple(v for v in visits if v.engine < 0),
            shared=tuple(v for v in visits if v.engine >= 0),
            flight_ps=(getattr(self.scenario.machine, stage.flight) or 0) if stage.flight else 0,
            acquire=self._pool(stage.acquire, ends),
            release=self._pool(stage.release, ends),
            gated=stage is REDUCE and self.plan.collects,
        )

    def _visit(self, use: Use, node: int, device: int, nbytes: int) -> Visit:
        resource = self.resource(use.kind, node, device)
        crossing = nbytes * use.touches
        # a core's work is per payload byte; what it touches in DRAM is counted there
        duration = service(self.scenario.machine, use.kind, use.work)(crossing)
        return Visit(resource, duration, crossing, self._engine(resource, use, device))
