"""The question: which machine, which path, how much, how often."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from peerlab.errors import ScenarioError, nearest
from peerlab.model.checks import checked_word
from peerlab.model.disturbance import Slow, checked_jitter, checked_slow_nodes
from peerlab.model.effective_machine import Change, Changes, EffectiveMachine, changed
from peerlab.model.fabrics import Fabric, fabric_of
from peerlab.model.further_hops import UP_AND_DOWN, with_hops
from peerlab.model.hardware import Cluster
from peerlab.model.library_files import known_by_name
from peerlab.model.library_record import Library
from peerlab.model.paths import PATHS, DataPath, data_path, stages
from peerlab.model.placement import checked_placement, hosts
from peerlab.model.registration import RegistrationCost
from peerlab.model.scenario_fields import FIELDS
from peerlab.model.shape_checks import check_shape
from peerlab.model.stages import Stage
from peerlab.model.with_library import WithLibrary
from peerlab.units import KIB, parse_bytes, write_bytes

_LEAST_SLICES = 8
"""Slices that a transfer is cut into at least, where a cluster's file does not say it (assumed; 2 to 16)."""
_SMALLEST_SLICE = 2048
"""Bytes below which a library cuts no slice, if nobody sets its size (assumed): slices of 8 bytes would fill a window with nothing."""


@dataclass(frozen=True, kw_only=True)
class Scenario(WithLibrary):
    """One question to the simulation. Fields are checked at construction; :meth:`with_` changes some.

    Raises
    ------
    ScenarioError, HardwareError
        One line that names the field, its value, what is allowed and the nearest known name.

    >>> Scenario(cluster="dl1", nodes=8, path="peer-direct", message_bytes="64 MiB").message_bytes
    67108864
    """

    cluster: str | Path | Cluster = "dl1"
    """A known name, the path of a cluster file, or a `Cluster`."""
    nodes: int = 8
    """Servers that take part."""
    path: str | None = None
    """``host-rdma``, ``host-tcp``, ``peer-direct``, ``receive-direct``, ``native`` or ``wire``; None: the cluster's usual one."""
    registration: str = "cached"
    """``cached``, ``per-transfer`` or ``pool``; matters on ``peer-direct`` only."""
    memory: str = "device"
    """``device``, or ``host``: point to point or all-to-all between buffers in host memory, as MPI benchmarks do."""
    collective: str = "allreduce"
    """``allreduce``, ``allgather``, ``reduce-scatter``, ``alltoall``, ``broadcast``, or ``point-to-point`` (the first device of node 0 to that of node 1)."""
    algorithm: str = "auto"
    """One of `ALGORITHMS`: what each rail does between the nodes; ``auto``: ring, ``hierarchical`` with several devices, ``direct`` for an all-to-all."""
    library: str | Path | Library | None = None
    """Communication library, such as ``nccl-efa``, a file of your own, or ``none`` for topology alone; None: the cluster's."""
    library_version: str | None = None
    """Its version, such as ``2.19``; None: the cluster's, or the one that the library's file names."""
    protocol: str = "auto"
    """The library's protocol, ``LL``, ``LL128`` or ``Simple``; ``auto``: as the library chooses."""
    wiring: str = "auto"
    """Where the NICs hang: ``switch`` (below the devices' switch), ``root-port``, ``socket-switch``, ``other-socket``; ``auto``: as the cluster says."""
    acs_redirect: str = "auto"
    """Whether switches send what goes from card to card up to the CPU first: ``on``, ``off``; ``auto``: as the cluster says."""
    transport: str | None = None
    """``infiniband``, ``roce``, ``efa``, ``iwarp``, ``tcp`` or ``ideal``: headers, hops and message rate count; None: the cluster's, if its file names one."""
    mtu: int | str | None = None
    """Its packet size in bytes, such as 4096; None: the transport's usual one."""
    hops: int | None = None
    """Switches on the way from NIC to NIC; None: as many as the transport's file says."""
    metres: float | None = None
    """Cable on the way, in metres; None: as the transport's file says."""
    message_bytes: int | str = "64 MiB"
    """Bytes of the whole buffer (nccl-tests' size column; of an all-to-all what a rank sends to all); text such as ``"64 MiB"`` is read."""
    slice_bytes: int | str | None = "auto"
    """Slice of a transfer; ``auto``: the cluster's (in blocking code on ``wire``: none); None: transfers go whole."""
    window: int | None = None
    """Slices in flight per device and direction, bounce buffers per side; None: the cluster's."""
    dependency: str = "auto"
    """``slice``: a slice goes on as soon as it is there; ``step``: blocking steps; ``auto``: ``step`` on ``wire``."""
    iterations: int | Literal["auto"] = "auto"
    """How often the collective runs, one after the other; ``auto``: 2 with a cache (cold, then warm), else 1."""
    buffers: int = 1
    """Buffer sets that the iterations cycle through."""
    cache_regions: int | None = None
    """Most regions the registration cache keeps per NIC; 0: no cache; None: no limit."""
    cache_bytes: int | str | None = None
    """Most bytes the registration cache keeps per NIC; None: no limit."""
    page_bytes: int | str = 4 * KIB
    """Page size of registered memory: 4 KiB, 64 KiB or 2 MiB."""
    memlock_bytes: int | str | None = None
    """Locked-memory limit per NIC; None: unlimited."""
    prefetch: bool = False
    """Whether a transfer's memory is registered behind the slices of the transfer before it."""
    placement: tuple[int, ...] | str | None = None
    """Where nodes stand in a leaf-spine fabric: for each its host, or ``contiguous`` (None), ``strided``, ``shuffled``."""
    slow_nodes: Mapping[int, float] | None = None
    """Nodes whose NICs are slower both ways, with their share of the full rate: ``{4: 0.5}``."""
    jitter: float = 0.0
    """Sigma of a lognormal factor of mean 1 on every service time on the way between nodes."""
    seed: int = 0
    """Seed of the jitter; the same seed gives the same trace, byte for byte."""
    envelope_bytes: int | str = 0
    """Bytes that the transport adds to every message (16 in SimGrid's MPI)."""

    def __new__(cls, *values: Any, **given: Any) -> Self:
        """Refuse fields that do not exist in our words; Python's own would be a TypeError."""
        if values:
            raise ScenarioError("scenario", f"give fields by name, as in nodes=8, not {values[0]!r} alone")
        _check_names(cls, given)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for one in fields(self):
            FIELDS[one.name].check_kind(one.name, getattr(self, one.name))
        for one in fields(self):
            self._set(one.name, FIELDS[one.name].checked(one.name, getattr(self, one.name)))
        self._set("library", known_by_name(self.library))
        self._check_path()
        self.check_wiring()
        self.check_transport()
        self.check_library()
        check_shape(self)
        self._set("placement", checked_placement(self.placement, self.nodes))
        self._set("slow_nodes", checked_slow_nodes(self.slow_nodes, self.nodes))
        self._set("jitter", checked_jitter(self.jitter))

    @property
    def only_sends(self) -> bool:
        """Whether it is sends and receives and nothing else: a message, or an all-to-all."""
        return self.collective_record.only_sends

    @cached_property
    def effective_machine(self) -> EffectiveMachine:
        """Every figure as this question meets it, and how it came about."""
        changes = {**self.changes_for_message(), **self.changes_of_way(), **self._changes_of_slices()}
        cluster = changed(self.hardware, changes)
        return EffectiveMachine(written=self.written, changes=changes, cluster=cluster)

    @property
    def cluster_for_message(self) -> Cluster:
        """The cluster as this message meets it: what a NIC carries, latency of a hop and cost of a message are the library's.

        Hops and metres beyond those of the transport are added to the latency; up to switches that add up and down from them it is twice that.
        """
        return self.effective_machine.cluster

    @property
    def hop_latency_ps(self) -> int:
        """From a sender's last byte to its arrival over one hop, picoseconds: at the other node, or at the switch that adds up."""
        latency = self.cluster_for_message.latency_ps
        return latency // UP_AND_DOWN if self.sums_between else latency

    def _changes_of_slices(self) -> Changes:
        """Return what window and slices of the scenario, or of its library, put in the place of the cluster's."""
        by, told = "the scenario", dict[str, tuple[Any, str]]()
        if self.window:
            told["window"] = (self.window, f"window={self.window}")
        cut = "slice_staged_bytes" if self.bounces else "slice_direct_bytes"
        if self.slice_bytes != "auto":
            told[cut] = (self.slice_bytes, f"slice_bytes={self.slice_bytes}")
        elif self.data_path.is_bare and self.blocking:
            told[cut] = (None, "blocking code on a bare fabric sends each message whole")
        elif self.choice and self.used_library:
            by = f"library {self.used_library.title}"
            told[cut] = (self.choice.slice_bytes, f"slices of its chunks of {self.choice.chunk}")
        return {
            field: (Change(how="is", amount=amount, by=by if field == cut else "the scenario", why=why),)
            for field, (amount, why) in told.items()
        }

    @cached_property
    def data_path(self) -> DataPath:
        """What is known of the path."""
        return data_path(str(self.path))

    @property
    def nbytes(self) -> int:
        """`message_bytes` as a number, whatever it was given as."""
        return int(self.message_bytes)

    @property
    def ranks(self) -> int:
        """Ranks that take part: one per device, or two for point to point."""
        return 2 if self.collective_record.is_message else self.nodes * self.hardware.devices

    @property
    def staged(self) -> bool:
        """Whether the path bounces through host memory."""
        return self.data_path.is_staged

    @property
    def bounces(self) -> bool:
        """Whether slices bounce through host memory, on one side at least."""
        return self.staged or self.data_path.half_staged

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """What a slice goes through, up to the reduction; behind the network the further hops of a library's tree or ring."""
        found = stages(self.cluster_for_message, str(self.path), self.memory)
        choice = self.choice
        return with_hops(found, choice.hops, flushes=bool(choice.flush_ps)) if choice else found

    @cached_property
    def fabric(self) -> Fabric:
        """The network that slices cross between the nodes: which links they share, and whether all nodes are alike to it."""
        return fabric_of(self.cluster_for_message, self.stages)

    @property
    def reduces(self) -> bool:
        """Whether adding takes time: bare reference fabrics have no device memory, and with SHARP the switches add."""
        here = not self.algorithm_record.in_network
        return here and not self.data_path.is_bare and self.hardware.hbm_Bps is not None

    @property
    def registers(self) -> bool:
        """Whether transfers wait for registrations (on host paths the bounce pool is always registered)."""
        return self.data_path.uses_device_memory and self.registration != "pool"

    @property
    def slice_limit(self) -> int | None:
        """Largest slice in bytes; None: transfers go whole."""
        met = self.cluster_for_message
        return met.slice_staged_bytes if self.bounces else met.slice_direct_bytes

    @property
    def least_slices(self) -> int:
        """Slices that a transfer is cut into at least; 2 for point to point, and where the scenario gives their size.

        1 in an all-to-all: its messages overlap each other, so a library gains nothing by cutting small ones.
        """
        if self.collective_record.exchanges:
            return 1
        if self.slice_bytes != "auto" or self.collective_record.is_message:
            return 2
        if self.choice or self._in_messages:
            return 1
        # more than the window holds would wait for one another
        return min(self.hardware.least_slices or _LEAST_SLICES, self.window_slices)

    @property
    def smallest_slice(self) -> int:
        """Bytes that a full slice has at least; 1 for point to point, and where the scenario gives their size."""
        given = self.slice_bytes != "auto" or self.collective_record.is_message or self.choice
        return 1 if given else _SMALLEST_SLICE

    @property
    def window_slices(self) -> int:
        """Slices in flight per device and direction; over each hop of a library's ring or tree."""
        return self.cluster_for_message.window

    @property
    def places(self) -> int:
        """Slices on their way at once, per device and direction: each hop of a library's ring or tree has a window of its own."""
        return self.window_slices * (self.choice.course.hops if self.choice else 1)

    @property
    def blocking(self) -> bool:
        """Whether a rank starts a step only when its last step is complete."""
        if self.dependency != "auto":
            return self.dependency == "step"
        if self.collective_record.exchanges and self.algorithm_record.blocks_alltoall:
            return True
        return self.data_path.is_bare and not self.algorithm_record.pipelined

    @property
    def has_workers(self) -> bool:
        """Whether a stage of a rank takes one slice at a time, latency included, as in blocking code.

        In a pairwise all-to-all ranks wait for each other; the library still overlaps the slices of a message.
        """
        return self.blocking and (self.dependency == "step" or not self.collective_record.exchanges)

    @property
    def runs(self) -> int:
        """How often the collective runs."""
        if self.iterations != "auto":
            return self.iterations
        return self.buffers + 1 if self.registers and self.registration == "cached" else 1

    @property
    def extrapolates(self) -> bool:
        """Whether the vendor's library would refuse this many ranks."""
        return self.hardware.max_ranks is not None and self.ranks > self.hardware.max_ranks

    @property
    def registration_cost(self) -> RegistrationCost:
        """What registering costs on this cluster with this page size."""
        hardware = self.hardware
        return RegistrationCost(
            base_ps=hardware.register_base_ps,
            page_ps=hardware.register_page_ps,
            deregister_base_ps=hardware.deregister_base_ps,
            deregister_page_ps=hardware.deregister_page_ps,
            lookup_ps=hardware.lookup_ps,
            page_bytes=int(self.page_bytes),
        )

    def with_(self, **changes: Any) -> "Scenario":
        """Return this scenario with some fields changed.

        >>> Scenario(nodes=8).with_(nodes=16).nodes
        16
        """
        _check_names(type(self), changes)
        return replace(self, **changes)

    def as_code(self) -> str:
        """Return Python that makes this scenario, with the fields that differ from the defaults.

        >>> Scenario(nodes=4, message_bytes="1 MiB").as_code()
        "peerlab.Scenario(nodes=4, path='host-rdma', message_bytes='1 MiB')"
        """
        parts = []
        for f in fields(self):
            value = getattr(self, f.name)
            if value == f.default or (f.name == "message_bytes" and value == parse_bytes(str(f.default))):
                continue
            if f.name.endswith("_bytes") and isinstance(value, int):
                value = write_bytes(value)
            if isinstance(value, Slow):
                value = dict(value)
            if isinstance(value, (Cluster, Path, Library)):
                value = str(value) if isinstance(value, Path) else value.name
            parts.append(f"{f.name}={value!r}")
        return f"peerlab.Scenario({', '.join(parts)})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the one place where a frozen field gets its parsed value

    def _check_path(self) -> None:
        hardware = self.given_cluster
        if self.path is None:
            self._set("path", hardware.paths[0])
        elif checked_word("path", self.path, PATHS) not in hardware.paths:
            why = hardware.lacks.get(self.path, "not described in the cluster's file")
            raise ScenarioError(
                "path", f"{hardware.name} has no {self.path!r} ({why}); it has: {', '.join(hardware.paths)}"
            )

    def host(self, node: int) -> int:
        """Return the host that a node runs on."""
        return hosts(self.placement, self.nodes, self.fabric.hosts_per_leaf, self.seed)[node]

    def node_speed(self, node: int) -> float:
        """Return the share of the full rate that a node's NICs have."""
        return self.slow_nodes.get(node, 1.0) if self.slow_nodes else 1.0


def checked_scenario(given: object) -> Scenario:
    """Return what is a scenario, and refuse anything else, such as the name of a cluster."""
    if not isinstance(given, Scenario):
        raise ScenarioError(
            "scenario", f"give a Scenario, such as peerlab.Scenario(cluster='dl1'), not {given!r:.60}"
        )
    return given


def _check_names(scenario: type[Scenario], given: Iterable[str]) -> None:
    names = [one.name for one in fields(scenario)]
    for name in given:
        if name not in names:
            raise ScenarioError(name, f"unknown field; {nearest(name, names)}")
