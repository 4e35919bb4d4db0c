"""The resources of a system, and the pools of places in its windows: each is made when it is first asked for."""

from peerlab.answer.trace import Resource
from peerlab.collectives.plan import Plan
from peerlab.engine.legs import Lane
from peerlab.engine.noise_draws import spreads
from peerlab.model.fabrics import NIC, SharedLink
from peerlab.model.resources import RESOURCES, Scope, capacity_Bps, resource_kind
from peerlab.model.slow_parts import part_speed, serving_nic
from peerlab.model.stages import Use
from peerlab.question.scenario import Scenario


class Inventory:
    """The resources of a scenario, on every switch of every node, or on the one that represents them."""

    def __init__(self, scenario: Scenario, plan: Plan, *, folded: bool, one_switch: bool) -> None:
        self._scenario, self._plan, self._folded, self._one_switch = scenario, plan, folded, one_switch
        self.resources: list[Resource] = []
        """Everything that serves slices."""
        self.places: list[int] = []
        """Per pool, how many slices may hold a place of it."""
        self._engines: list[int] = []
        self._ids: dict[tuple[str, int, int], int] = {}
        self._engine_ids: dict[tuple[int, str, int], int] = {}
        self.pools: dict[tuple[str, int, int], int] = {}
        """Index of a pool, by what it is a place of, node and device."""

    @property
    def nodes(self) -> range:
        """Nodes that are simulated."""
        return range(1 if self._folded else self._plan.schedule.ranks)

    @property
    def devices(self) -> range:
        """Devices of a node that are simulated."""
        return range(
            self._scenario.cluster_for_message.devices_per_switch if self._one_switch else self._plan.devices
        )

    def lanes(self, inside: str) -> list[Lane]:
        """Return a lane for every device, those of one device side by side; `inside` is the kind with which devices of a node exchange."""
        return [self._lane(node, device, inside) for device in self.devices for node in self.nodes]

    def _lane(self, node: int, device: int, inside: str) -> Lane:
        def of(kind: str) -> int:
            return self.resource(kind, node, device)

        return Lane(
            node=node,
            device=device,
            registration_queue=of("registration"),
            scaleup=(of(inside), of("scaleup_reduce")) if self._plan.exchanges else (-1, -1),
            wire=of("wire"),
        )

    def speeds(self, node: int, device: int) -> tuple[float, float]:
        """Return the share of its rate that the NIC of a device has, and that of its port."""
        nic = self.place("nic", node, device)
        return part_speed(self._scenario, node, nic), part_speed(self._scenario, node, device)

    def place(self, scope: Scope, node: int, device: int) -> int:
        """Return which of a node's resources of a scope serves `device`."""
        cluster = self._scenario.cluster_for_message
        switch, below = divmod(device, cluster.devices_per_switch)
        match scope:
            case "device" | "fabric":
                return device
            case "switch":
                return switch
            case "numa":
                return switch // cluster.switches_per_numa
            case "nic":
                nic = switch * cluster.nics_per_switch + below % cluster.nics_per_switch
                return serving_nic(self._scenario, node, nic)

    def resource(self, kind: str, node: int, device: int) -> int:
        """Return the index of the resource of `kind` that serves `device` of `node`."""
        record = resource_kind(kind)
        key = (kind, node, self.place(record.scope, node, device))
        if key not in self._ids:
            cluster = self._scenario.cluster_for_message
            # one switch is simulated, but all switches of a NUMA domain load its DRAM
            copies = cluster.switches_per_numa if self._one_switch and record.scope == "numa" else 1
            # the cores of a device share one queue; everything else serves one slice at a time
            servers = cluster.cores_per_device if record.is_core else 1
            capacity = capacity_Bps(cluster, kind)
            if record.slowed_with_node:
                capacity = max(1, round(capacity * part_speed(self._scenario, node, key[2])))
            # over a contended fabric a NIC is one of the links of a flow, whose rates are shared
            is_link = self._scenario.fabric.contended and kind in NIC
            shared = record.shared or is_link
            if is_link and self._scenario.noise.spread:
                s = self._scenario
                capacity = max(1, round(capacity / spreads(s.seed, s.spread, s.nodes)[node]))
            self._add(key, Resource(*key, capacity, shared, servers, copies))
        return self._ids[key]

    def _add(self, key: tuple[str, int, int], resource: Resource) -> int:
        self._ids[key] = len(self.resources)
        self.resources.append(resource)
        self._engines.append(0)
        return self._ids[key]

    def links(self, source: int, destination: int) -> tuple[int, ...]:
        """Return the shared links between two nodes."""
        hosts = (self._scenario.host(node) for node in (source, destination))
        return tuple(map(self._link, self._scenario.fabric.links(*hosts)))

    def _link(self, link: SharedLink) -> int:
        key = (link.kind, -1, link.index)
        if key not in self._ids:
            # what one simulated switch (of one node) sends, the switches that it represents send at the same time
            users = (self._plan.devices // len(self.devices)) * (self._plan.nodes if self._folded else 1)
            self._add(key, Resource(*key, link.capacity_Bps, True, 1, users))
        return self._ids[key]

    def engine(self, resource: int, use: Use, device: int) -> int:
        """Return which engine of a shared resource a use goes through, or -1."""
        if not use.engine:
            return -1
        scope = resource_kind(use.engine if use.engine in RESOURCES else "nic_tx").scope
        key = (resource, use.engine, self.place(scope, self.resources[resource].node, device))
        if key not in self._engine_ids:
            self._engine_ids[key] = self._engines[resource]
            self._engines[resource] += 1
        return self._engine_ids[key]

    def pool(self, kind: str, end: tuple[int, int], places: int) -> int:
        """Return the index of a node's and device's pool of so many places."""
        key = (kind, *end)
        if key not in self.pools:
            self.pools[key] = len(self.places)
            self.places.append(places)
        return self.pools[key]
