"""What the communication library does with one message: algorithm, protocol and chunks, and what of it the simulation needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf

from peerlab.base.errors import ScenarioError
from peerlab.base.units import PS_PER_US, say_bytes, say_time
from peerlab.library.library_record import Forbidden, Library
from peerlab.library.nccl_law import (
    ALGORITHMS,
    PROTOCOLS,
    Costs,
    LawCourse,
    NcclSight,
    chosen,
    courses,
    switch_channels,
)
from peerlab.library.rate_bounds import exchange_bound_Bps, path_bound_Bps
from peerlab.library.striping import striped
from peerlab.model.algorithms import ALGORITHMS as NAMED
from peerlab.model.effective_machine import Change
from peerlab.model.hardware import Cluster
from peerlab.model.paths import data_path

_GB = 10**9
# Generations are counted from Volta, 0, as the rows of the law's tables are.
_HOPPER = 2
_SPEEDS = ("speeds_before_hopper", "speeds_before_hopper", "speeds_from_hopper", "speeds_from_blackwell")
"""Constants of the law, by generation."""
# Compute capabilities. What is newer than Blackwell, or says nothing, counts as the last or the first row.
_OLDEST, _NEWEST = 7, 10
_NVLINK_OVER_PCIE = 1.2
"""How many times as fast as its PCIe link a device's links to all others are at least, where they are NVLinks."""
_NVLINK_FROM_BPS = 40 * _GB
"""The same where nobody says how fast the PCIe link is."""
# Devices of a node, from which on NVSwitch is taken to join them: fewer can be joined link by link.
_SWITCHED_FROM = 5
_NOT_SWITCHED_FROM = 12
"""Compute capability of Blackwell's workstation and server cards, which have neither NVLink nor NVSwitch."""


@dataclass(frozen=True, kw_only=True)
class LibraryChoice:
    """What a library does with one message, in the simulation's units."""

    library: str
    """Name, version and transport: ``NCCL 2.19 over EFA``."""
    does: tuple[str, str]
    """Algorithm and protocol in words: ``("tree", "Simple")``."""
    course: LawCourse
    """The law's own terms, microseconds and GB/s."""
    launch_ps: int
    """Before anything is sent."""
    inside_ps: int
    """Hops inside the nodes, in place of the latency of the scale-up links."""
    hops: int
    """Flights that a slice makes, one after the other."""
    hop_ps: int
    """Each of them, without the flush."""
    flush_ps: int
    """Flush after each."""
    nic_Bps: int  # noqa: N815
    """What a NIC carries, bytes on the wire per second: its line rate, or what the protocol gets of it."""
    slice_bytes: int
    """What moves as one."""
    message_ps: int
    """What a NIC's proxy needs per slice."""
    inside_Bps: int | None = None  # noqa: N815
    """Inside one NVLink domain: what a pair of devices carries where the protocol gets less of it than the links; None: what they carry."""

    @property
    def load(self) -> float:
        """Bytes that a node sends for each byte of the message, by its tree or ring and by the protocol's flags."""
        return self.course.load

    @property
    def chunk(self) -> str:
        """Size of its chunks in words: ``128 KiB``."""
        chunk = self.course.chunk
        even = chunk % 1024 == 0 or chunk < 1024
        return say_bytes(chunk) if even else f"{floor(chunk / 1024)} KiB"

    def changes(self, by: str, machine: Cluster) -> dict[str, list[Change]]:
        """Return what it does to figures of a machine; `by` names the library."""
        run = f"{self.course.algorithm} with {self.course.protocol}"
        what = "the switch's first chunks, and flights that NVLink does not hide,"
        what = what if self.course.in_switch else machine.says("hops inside the node")
        inside = f"{what} are counted before the first slice, {say_time(self.inside_ps)}"
        entries: dict[str, tuple[float, str, tuple[str, ...]]] = {
            "nic_Bps": (self.nic_Bps, f"what {run} sends at most", ("nic.rate",)),
            "latency_ps": (self.hop_ps, f"a flight of {run}, by the library's law", ("library.hop",)),
            "message_ps": (self.message_ps, f"posting a slice of {run}", ("library.message",)),
            "flush_ps": (self.flush_ps, "flush of what was received", ()),
            "scaleup_latency_ps": (0, inside, ()),
        }
        if self.course.hops == 0:
            rate, all_of_it = self.inside_Bps, "what a device's NVLink carries of it"
            entries = {
                "scaleup_latency_ps": entries["scaleup_latency_ps"],
                "latency_ps": (0, "no NIC sends", ()),
            }
            if rate is not None:
                entries["scaleup_Bps"] = (rate, f"{run}: {all_of_it}", ("domain.rate",))
        return {
            field: [Change(how="is", amount=amount, by=by, why=why, figures=keys)]
            for field, (amount, why, keys) in entries.items()
        }


def sight(library: Library, cluster: Cluster, nodes: int, path: str, version: int) -> NcclSight:
    """Return what NCCL sees of a cluster; what its file does not say of the graph is what NCCL's search would find.

    NICs are those that devices use (`peerlab.library.striping`).
    """
    cluster = striped(cluster)
    generation = min(max(cluster.generation or _OLDEST, _OLDEST), _NEWEST) - _OLDEST
    each, inside = cluster.nic_Bps / _GB, library.law["nvlink_rate"][generation]
    speeds = library.law[_SPEEDS[generation]]
    count = min(cluster.nics, cluster.channels or cluster.nics)
    nvls = switch_channels(library.law, generation, nodes)
    several, in_domain = cluster.devices > 1, cluster.domain_nodes is not None
    nvlink = joined_by_nvlink(cluster)
    # without NVLink all channels share the one PCIe link of each device
    port = (cluster.device_pcie_Bps or 0) / _GB
    within = inside / count if nvlink else port / count if several and port else each
    ring = (cluster.ring_channel_Bps or 0) / _GB or _speed(speeds, min(each, within))
    tree = (cluster.tree_channel_Bps or 0) / _GB or _speed(speeds, min(2 * ring, within))
    newest = (cluster.generation or 0) >= _NOT_SWITCHED_FROM
    large = cluster.devices >= _SWITCHED_FROM and not in_domain
    switched = nvlink and generation >= _HOPPER and large and not newest
    alone = nodes == 1  # nothing of the way between nodes bounds it
    return NcclSight(
        nodes=nodes,
        devices=cluster.devices,
        generation=generation,
        wire=inf if alone else cluster.node_wire_Bps / _GB,
        ring=(count, ring),
        tree=(count, tree if several else ring, ring),
        nvls=(nvls, inside / nvls, count * ring / nvls) if switched else None,
        # NCCL opens every channel of its graph twice, where its log does not say how many there are.
        channels=cluster.channels or 2 * count,
        nvlink=nvlink,
        direct=data_path(path).uses_device_memory or data_path(path).half_staged,
        amd=cluster.cpu.upper() == "AMD",
        version=version,
        bound=exchange_bound_Bps(cluster) / _GB,
        path=inf if alone else path_bound_Bps(cluster, path) / _GB,
        pcie=inf if alone else path_bound_Bps(cluster, path, pcie_alone=True) / _GB,
        inside_hop=(cluster.domain_hop_ps or 0) / PS_PER_US,
    )


def joined_by_nvlink(cluster: Cluster) -> bool:
    """Return whether links of their own join the devices of a node, such as NVLink, and not PCIe.

    >>> from peerlab.question.presets import load_cluster
    >>> joined_by_nvlink(load_cluster("p4d")), joined_by_nvlink(load_cluster("g4dn-metal"))
    (True, False)
    """
    together = (cluster.scaleup_Bps or 0) * (cluster.devices - 1)
    slowest = _NVLINK_OVER_PCIE * cluster.device_pcie_Bps if cluster.device_pcie_Bps else _NVLINK_FROM_BPS
    return cluster.devices > 1 and together >= slowest


def _speed(speeds: Sequence[float], rate: float) -> float:
    return next((speed for speed in speeds if speed <= rate), rate)


def costs(library: Library, cluster: Cluster, seen: NcclSight) -> Costs:
    """Return what a library's transport costs on a cluster, and which protocols it may use there."""
    steering = library.law.get("steering")
    if steering is not None:
        # Two latencies, before and since a version (False is 0). The version is a number in the file, so it
        # needs two digits behind the point: 2.9 would be read as 2.90.
        steering = steering[seen.version >= round(100 * library.law["steering_changes"])]
    return Costs(
        hop=(cluster.hop_ps or 0) / PS_PER_US,
        # inside one domain no proxy posts anything to a NIC
        message=(cluster.message_ps or 0) / PS_PER_US if seen.nodes > 1 else 0.0,
        rendezvous=(cluster.rendezvous_ps or 0) / PS_PER_US,
        eager=cluster.eager_bytes or float("inf"),
        # without the figure a device has a whole chunk once more before it passes it on
        held=1.0 if cluster.held is None else cluster.held,
        steering=steering,
        protocols=allowed_protocols(library, seen),
    )


def _forbidden(library: Library, seen: NcclSight) -> list[Forbidden]:
    holds = {"always": True, "staged": not seen.direct, "before Hopper": seen.generation < _HOPPER}
    return [rule for rule in library.forbids if holds[rule.when]]


def allowed_protocols(library: Library, seen: NcclSight) -> tuple[str, ...]:
    """Return the protocols that the library may use on what it sees.

    Raises
    ------
    ScenarioError
        If it forbids all of them.
    """
    rules = _forbidden(library, seen)
    forbidden = {protocol for rule in rules for protocol in rule.protocols}
    if forbidden >= set(PROTOCOLS):
        why = "; ".join(dict.fromkeys(rule.why for rule in rules))
        raise ScenarioError("library", f"{library.title} forbids every protocol here: {why}")
    return tuple(protocol for protocol in PROTOCOLS if protocol not in forbidden)


def checked_protocol(library: Library, protocol: str, seen: NcclSight) -> None:
    """Refuse a protocol that the library does not use on this path.

    Raises
    ------
    ScenarioError
        With the reason in words.
    """
    for rule in _forbidden(library, seen):
        if protocol in rule.protocols:
            raise ScenarioError("protocol", f"{library.title} does not use {protocol} here: {rule.why}")


def nccl_choice(
    library: Library, cluster: Cluster, seen: NcclSight, size: int, *, algorithm: str, protocol: str
) -> LibraryChoice:
    """Return what NCCL does with an allreduce of `size` bytes; `algorithm` and `protocol` may be ``auto``.

    Raises
    ------
    ScenarioError
        If the library has no such algorithm, or does not use the protocol, on this path.
    """
    checked_protocol(library, protocol, seen)
    cost = costs(library, cluster, seen)
    if protocol != "auto":
        cost = _only(cost, protocol)
    # Asked by name, an algorithm runs on any version; left at 'auto', an old one may have no tree.
    entries = courses(seen, size, library.law, cost, asked=algorithm)
    # hierarchical is rings on the rails, which is what NCCL's ring is here
    wanted = "ring" if algorithm == "hierarchical" else algorithm
    entries = {key: entry for key, entry in entries.items() if wanted in ("auto", key[0])}
    if not entries:
        offered = {key[0] for key in courses(seen, size, library.law, cost)}
        has = ", ".join(name for name in ALGORITHMS if name in offered)
        with_ = f" with {protocol}" if protocol != "auto" else ""
        alone = (
            "; with library='none' it is simulated"
            if algorithm in NAMED and NAMED[algorithm].in_network
            else ""
        )
        raise ScenarioError(
            "algorithm",
            f"{library.title} has no {wanted!r}{with_} on {cluster.name}; it has {has or 'none'}{alone}",
        )
    run = chosen(seen, size, library.law, cost, entries)
    return _of(run, library, cluster, seen, size)


def _only(cost: Costs, protocol: str) -> Costs:
    return Costs(**{**cost.__dict__, "protocols": (protocol,)})


def _of(run: LawCourse, library: Library, cluster: Cluster, seen: NcclSight, size: int) -> LibraryChoice:
    nics = striped(cluster).nics
    per_nic = size / nics
    # NVLink SHARP adds up a chunk of every device at once
    moved = run.chunk * (seen.devices if run.in_switch else 1)
    slice_bytes = max(1, min(moved, -(-size // seen.devices)))
    messages = max(1.0, per_nic / slice_bytes)
    at_once = max(1.0, messages / run.rounds)
    # The law has `rounds` messages wait one after the other. The simulation has each slice of a NIC wait, and
    # there are `messages` of them: the sum is the same.
    waits = run.rounds * run.message / messages
    # the first message of each channel is part of the law's hop: the simulation serves it as any other
    first = 0.0 if run.algorithm == "ring" else min(waits * at_once, run.message)
    # a switch that adds up has nothing to do before the first chunks are there, and nothing to hand out before they came: where NVLink is what limits, no later chunk makes up for it
    filled = run.fill if run.in_switch else 0.0
    inside = run.inside + filled + (_not_hidden(run, seen, size) if run.in_switch else 0.0)
    flight = run.hops * run.hop + run.fill - filled - first
    # a ring may have thousands of hops: those of each way are one flight
    hops = max(1, min(run.hops, 2) if run.algorithm == "ring" else run.hops)
    # the sum of all flushes stays where a ring's hops are merged
    flush = run.flush * run.hops / hops
    return LibraryChoice(
        library=_named(library, seen),
        does=({"nvls-tree": "NVLSTree"}.get(run.algorithm, run.algorithm), run.protocol),
        course=run,
        launch_ps=_ps(run.launch),
        inside_ps=_ps(inside),
        hops=hops,
        # the law's hop contains its flush, which the simulation has as a stage behind the flight
        hop_ps=_ps(max(0.0, flight / hops - flush)),
        flush_ps=_ps(flush),
        # not `run.rate`: what else of the topology bounds it, the simulation meets by itself
        nic_Bps=max(1, round(run.line * run.load * _GB / nics)) if run.hops else cluster.nic_Bps,
        slice_bytes=slice_bytes,
        message_ps=_ps(waits),
        # a device hands out and collects (n - 1)/n of the message twice, over a link to each of n - 1 others
        inside_Bps=round(run.line * _GB * 2 / seen.devices)
        if not run.hops and run.line < seen.bound
        else None,
    )


def _not_hidden(run: LawCourse, seen: NcclSight, size: int) -> float:
    """Return what of the flights between nodes NVLink does not hide, microseconds.

    The simulation sums all chunks before it hands out the first: where NVLink limits, that hides the flights. NCCL has eight buffers, so that
    it hands out chunks in the order in which it sums them, and the flights come on top.
    """
    network = size / (1000 * run.line) + (run.rounds - 1) * run.message
    return min(run.hops * run.hop, max(0.0, size / (1000 * seen.bound) - network))


def _ps(microseconds: float) -> int:
    return round(microseconds * PS_PER_US)


def _named(library: Library, seen: NcclSight) -> str:
    name, _, over = library.title.partition(" over ")
    where = " inside one NVLink domain" if seen.nodes == 1 else f" over {over}" if over else ""
    return f"{name} {seen.version // 100}.{seen.version % 100}{where}"
