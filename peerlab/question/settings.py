"""What is asked, field by field: all that a user sets, and nothing that follows from it."""

# A warm run is shown. `iterations="auto"` runs a cached scenario until its buffers have been used once, and
# reports the run after that, as benchmarks do after their warm-up. *More ▸ Shown ▸ first call, cold* shows
# the first one. `pool` and the host paths register at start, outside the time that is reported.

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, Self

from peerlab.base.errors import ScenarioError, nearest
from peerlab.base.units import KIB, write_bytes
from peerlab.library.library_record import Library
from peerlab.model.disturbance import Slow
from peerlab.model.hardware import Cluster
from peerlab.model.slow_parts import SlowParts
from peerlab.question.scenario_fields import FIELDS


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The fields of a scenario, each read and checked by itself, as its record in `FIELDS` says."""

    cluster: str | Path | Cluster = "dl1"
    """A known name, the path of a cluster file, or a `Cluster`."""
    nodes: int = 8
    """Servers that take part."""
    path: str | None = None
    """``host-rdma``, ``host-tcp``, ``peer-direct``, ``receive-direct``, ``native`` or ``wire``; None: the cluster's usual one."""
    registration: str = "cached"
    """``cached``, ``per-transfer`` or ``pool``; matters where the NIC reads device memory."""
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
    slow_nics: Mapping[str | tuple[int, int], float] | None = None
    """Single NICs that are slower, with their share of the full rate, 0 where one is lost: ``{"4.1": 0.5}`` is NIC 1 of node 4."""
    failover: str = "neighbour"
    """Who does what a lost NIC did: ``neighbour``, the next NIC of its node; ``rebalance``: all NICs of a node share what its slow ones lack."""
    slow_links: Mapping[str | tuple[int, int], float] | None = None
    """Links between two nodes that are slower, with their share of the full rate: ``{"3>4": 0.5}`` is the way from node 3 to node 4."""
    jitter: float = 0.0
    """Sigma of a lognormal factor of mean 1 on every service time on the way between nodes."""
    spread: float = 0.0
    """Sigma of a lognormal factor of median 1, one for each node and run, on every service time at that node."""
    detours: float = 0.0
    """Probability that a slice is held up at a stage, such as ``1e-5``."""
    detour_us: float | None = None
    """Shortest detour in microseconds; None: as assumed (``data/noise.toml``)."""
    detour_tail: float | None = None
    """Exponent of the Pareto tail of a detour's length; None: as assumed."""
    ticks: float = 0.0
    """How often a second every node stands still for a moment, each in a phase of its own, such as ``1000``."""
    tick_us: float | None = None
    """How long it does, in microseconds; None: as assumed."""
    seed: int = 0
    """Seed of all noise; the same seed gives the same trace, byte for byte."""
    envelope_bytes: int | str = 0
    """Bytes that the transport adds to every message (16 in SimGrid's MPI)."""

    # In `__new__`, which comes before the `__init__` that dataclass writes and that would raise its own.
    def __new__(cls, *values: Any, **given: Any) -> Self:
        """Refuse fields that do not exist in our words; Python's own would be a TypeError."""
        if values:
            raise ScenarioError("scenario", f"give fields by name, as in nodes=8, not {values[0]!r} alone")
        _check_names(cls, given)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        # all kinds first: what reads a field may compare it with others
        for name, value in values.items():
            FIELDS[name].check_kind(name, value)
        for name, value in values.items():
            checked = FIELDS[name].checked(name, value)
            if checked is not value:  # most are as they were given
                self._set(name, checked)

    def with_(self, **changes: Any) -> Self:
        """Return this scenario with some fields changed.

        >>> from peerlab.question.scenario import Scenario
        >>> Scenario(nodes=8).with_(nodes=16).nodes
        16
        """
        _check_names(type(self), changes)
        return replace(self, **changes)

    def as_code(self) -> str:
        """Return Python that makes this scenario, with the fields that differ from the defaults.

        >>> from peerlab.question.scenario import Scenario
        >>> Scenario(nodes=4, message_bytes="1 MiB").as_code()
        "peerlab.Scenario(nodes=4, path='host-rdma', message_bytes='1 MiB')"
        """
        parts = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value in (field.default, FIELDS[field.name].checked(field.name, field.default)):
                continue
            if field.name.endswith("_bytes") and isinstance(value, int):
                value = write_bytes(value)
            if isinstance(value, Slow | SlowParts):
                value = dict(value)
            if isinstance(value, (Cluster, Path, Library)):
                value = str(value) if isinstance(value, Path) else value.name
            parts.append(f"{field.name}={value!r}")
        return f"peerlab.Scenario({', '.join(parts)})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the one place where a frozen field gets its parsed value


def _check_names(settings: type[Settings], given: Iterable[str]) -> None:
    names = [field.name for field in fields(settings)]
    for name in given:
        if name not in names:
            raise ScenarioError(name, f"unknown field; {nearest(name, names)}")
