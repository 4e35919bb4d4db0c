"""NCCL's time of an allreduce between nodes, as a closed form: its own source over what it sees of a machine.

Every allowed algorithm and protocol has a latency that does not depend on the size, a rate, and chunks that follow one another. Which
one runs is the library's own choice. Pure functions; times in microseconds, rates in GB/s (10^9 bytes per second), sizes in bytes.
"""

# Where switches add up, one pass is left. `sharp` is the chain of a library's tree without a reduction on
# the device: a node sends its buffer once, and flies twice as long, up and down. It is refused on fabrics
# that contend, because what goes up to a switch is no flow from one NIC to another. `nvls` does the same
# inside a node, too: `question/node_exchange` says how often the bytes of a slice leave by a device's links
# (n times when all collect, once when the sum is handed out, where peers would hand it n - 1 times), so
# every engine has NVLink SHARP by its numbers alone. How fast is one figure, `scaleup.sharp`; a cluster
# without it refuses. In the picture the ways of all nodes go through a switch on the wire
# (`picture/geometry`: `across`), above its middle up and below it down; the page needs no rule of its own
# for it.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log2
from typing import Any

ALGORITHMS = ("tree", "ring", "nvls-tree")
PROTOCOLS = ("LL", "LL128", "Simple")
SHAPES: dict[str, tuple[int, ...]] = {
    **{f"{what}_{how}": (3,) for what in ("launch", "nvlink", "pcie", "network") for how in ("tree", "ring")},
    **dict.fromkeys(("efficiency", "grain", "step", "wire", "message_share"), (3,)),
    **dict.fromkeys(("ring_ll128_rate", "nvls_efficiency", "nvlink_rate", "nvls_rate", "ring_plateau"), (4,)),
    **dict.fromkeys(("ll_rate", "tree_ll128_rate", "tree_rate", "nvls_tree_rate"), (4, 3)),
    **dict.fromkeys(("launch_nvls_tree", "network_nvls_tree", "nvls_message_share", "tree_ll_share"), ()),
    "small_chunks_before": (), "ring_alone_before": (), "ring_alone_above": (), "ring_posts": (), "socket_threads": (2,), "nvls_chunk": (4, 2), "nvls_channels": (4, 2), "nvls_chunk_changes": (3,), "nvls_since": (2,), "socket_task": (), "steering": (2,), "steering_changes": (), "copy_rate": (3, 4), "correction": (3, 24),
    "speeds_before_hopper": (19,), "speeds_from_hopper": (17,), "speeds_from_blackwell": (20,),
}  # fmt: skip
"""The constants of a law (``[law]`` of a library's file), and how many numbers each has: by protocol 3, by generation 4."""
ZERO_MEANS_NONE = ("nvls_tree_rate", "nvls_efficiency", "message_share", "nvls_message_share", "nvls_rate")
"""Those that may be 0."""
_MANY_NODES = 4
"""From so many nodes on chunks of NVLSTree are smaller (src/enqueue.cc)."""
_NVLS_CHUNKS = ((32, 2**18), (16, 2**17), (4, 2**16), (1, 2**15))
"""A chunk of NVLSTree is cut to so many bytes while the message has fewer than so many of them on each channel and device (enqueue.cc)."""
# Steps of the buffer in a chunk and in a slice of a ring with Simple: NCCL's ALLREDUCE_CHUNKSTEPS and
# ALLREDUCE_SLICESTEPS (src/include/collectives.h).
_RING_STEPS, _RING_SLICE_STEPS = 4, 2


@dataclass(frozen=True, kw_only=True)
class NcclSight:
    """What NCCL sees of a machine: the inputs of its graph search and of its tuning, beside the size."""

    nodes: int
    devices: int
    """Devices of a node."""
    generation: int
    """0 Volta and Turing, 1 Ampere, 2 Hopper, 3 Blackwell."""
    wire: float
    """GB/s of all NICs of a node."""
    ring: tuple[int, float]
    """Channels of the ring graph, and GB/s of each."""
    tree: tuple[int, float, float]
    """Channels of the tree graph, GB/s of each inside a node and between nodes."""
    nvls: tuple[int, float, float] | None
    """The same of the graph that adds up in the NVLink switch; None: there is none."""
    channels: int
    """Channels that NCCL opens ("NN coll channels" in its log)."""
    nvlink: bool
    """Whether NVLink joins the devices of a node; else PCIe does."""
    direct: bool
    """Whether the NIC reads and writes device memory (GPUDirect RDMA)."""
    amd: bool
    """Whether the host's processor is AMD's."""
    version: int
    """NCCL's version, such as 219 for 2.19."""
    inside_hop: float = 0.0
    """Microseconds that a hop inside a node takes more than NCCL plans with: between the servers of an NVLink domain."""
    bound: float = inf
    """GB/s of the message that the links inside a node let through."""
    path: float = inf
    """GB/s that a node can send on the data path, its NICs aside: host memory, for instance, is crossed several times."""
    pcie: float = inf
    """GB/s that its PCIe links alone let through, which is what NCCL's own search sees of it."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What the transport adds, and what a message costs."""

    hop: float
    """Microseconds that the transport adds to a hop between nodes."""
    message: float
    """Microseconds that the proxy needs per message of Simple and channel."""
    rendezvous: float = 0.0
    """Microseconds more per hop for messages above `eager`."""
    eager: float = inf
    """Largest message that is sent without asking first."""
    held: float = 1.0
    """Share of a chunk of LL or LL128 that a device has before it passes it on inside its node."""
    steering: float | None = None
    """Latency in microseconds that the network's plugin tells NCCL, for the choice alone; None: the choice is the least of this law."""
    protocols: Sequence[str] = PROTOCOLS
    """What the library may use on this path."""


@dataclass(frozen=True, kw_only=True)
class LawCourse:
    """How the library does an allreduce with one algorithm and protocol, and how long that takes."""

    algorithm: str
    protocol: str
    launch: float
    """Before anything is sent."""
    inside: float
    """Hops inside the first and the last node, with what it takes to fill them."""
    hops: int
    """Network hops, one after the other."""
    hop: float
    """Latency of each, with the flush and the rendezvous."""
    flush: float
    """What of `hop` is the flush of received chunks."""
    fill: float
    """What the first chunk needs on the wire of all hops."""
    line: float
    """GB/s of the message in the steady state, as far as NICs and protocol let it."""
    rate: float
    """The same with what the rest of the topology bounds."""
    load: float
    """Bytes that a node sends for each byte of the message, by its tree or ring and by the protocol's flags."""
    chunk: int
    """Bytes of a message of one channel."""
    channels: int
    """Channels that are used."""
    rounds: int
    """Messages of a channel, one after the other."""
    message: float
    """Microseconds that the proxy adds to each of them but the first."""
    time: float
    """Microseconds in all."""

    @property
    def key(self) -> tuple[str, str]:
        """Algorithm and protocol."""
        return self.algorithm, self.protocol

    @property
    def in_switch(self) -> bool:
        """Whether the NVLink switches add up inside the nodes (NVLS)."""
        return self.algorithm == "nvls-tree"


Law = Mapping[str, Any]
"""The constants of NCCL's source, by name (``data/libraries/nccl.toml``)."""


def courses(
    sight: NcclSight, size: int, law: Law, costs: Costs, *, asked: str = ""
) -> dict[tuple[str, str], LawCourse]:
    """Return what every algorithm and protocol that the library may use would take, and the algorithm `asked` for, which no version refuses."""
    # a version before 2.12 was seen to run rings alone on large messages; asked for, a tree still runs
    alone = _before(sight, law["ring_alone_before"]) and size > law["ring_alone_above"]
    without = "tree" if alone and asked != "tree" else ""
    switched = sight.nvls and law["nvls_efficiency"][sight.generation]
    allowed = [
        (algorithm, protocol)
        for algorithm in ALGORITHMS
        if algorithm != without
        if algorithm != "nvls-tree" or (switched and not _before(sight, law["nvls_since"][1]))
        for protocol in costs.protocols
        # NVLSTree has no other protocol
        if algorithm != "nvls-tree" or protocol == "Simple"
    ]
    return {choice: course(sight, size, law, costs, *choice) for choice in allowed}


def chosen(
    sight: NcclSight, size: int, law: Law, costs: Costs, found: Mapping[tuple[str, str], LawCourse]
) -> LawCourse:
    """Return the one of `found` that the library runs: the least of its own prediction where a plugin steers it, else of this law."""
    # inside one node no plugin of a network is asked
    if costs.steering is None or sight.nodes == 1:
        return min(found.values(), key=lambda law_course: law_course.time)
    steered = {key: _planned(sight, size, law, costs.steering, *key) for key in found}
    return found[min(steered, key=lambda key: steered[key])]


def course(sight: NcclSight, size: int, law: Law, costs: Costs, algorithm: str, protocol: str) -> LawCourse:
    """Return what one algorithm and protocol takes for an allreduce of `size` bytes."""
    p = PROTOCOLS.index(protocol)
    channels, chunk, rounds = _shape(sight, size, law, algorithm, p)
    # Below Hopper a chunk that a NIC wrote into device memory is flushed by one more pass, as long as a hop.
    flushes = protocol == "Simple" and sight.direct and sight.generation < 2
    flush = costs.hop if flushes else 0.0
    hop = _network_hop(sight, law, algorithm, p) + costs.hop + flush
    if chunk > costs.eager:
        hop += costs.rendezvous
    launch, inside = _inside(sight, law, algorithm, p, chunk, held=costs.held)
    hops = _hops(sight, algorithm)
    # what the first chunk of one channel gets of the NICs, while those of the other channels go beside it
    nic = sight.wire / max(1, min(sight.channels, sight.ring[0]))
    filling = {
        "tree": hops * law["wire"][p] * chunk / (1000 * nic),
        "ring": 0.0,
        "nvls-tree": 2 * sight.devices * chunk / 1000 * (1 / nic + 1 / switch_rate(sight, law)),
    }[algorithm]
    load, line = _load(sight, law, algorithm, p), _rate(sight, law, algorithm, protocol)
    rate = min(line, sight.bound, sight.path / load if load else inf)
    message = costs.message * (
        law["nvls_message_share"] if algorithm == "nvls-tree" else law["message_share"][p]
    )
    # A ring posts a message at each hop, a tree one for each chunk. The first of a tree is part of its hop.
    posting = hops * message if algorithm == "ring" else message
    waits = (rounds if algorithm == "ring" else rounds - 1) * posting if rounds > 1 else 0.0
    steady = size / (1000 * rate) + waits
    if algorithm == "nvls-tree":
        # The switch sums and hands out chunks while the host posts others: the slower of NICs and NVLink counts.
        # Written so that `waits` may be an array, as where constants are fitted.
        sent, summed = size / (1000 * line) + waits, size / (1000 * rate)
        steady = (sent + summed + abs(sent - summed)) / 2
    time = launch + inside + hops * hop + filling + steady
    return LawCourse(
        algorithm=algorithm, protocol=protocol, launch=launch, inside=inside, hops=hops, hop=hop, flush=flush, fill=filling,
        line=line, rate=rate, load=load, chunk=max(1, ceil(chunk)), channels=channels, rounds=rounds, message=posting if rounds > 1 else 0.0, time=time,
    )  # fmt: skip


def switch_channels(law: Law, generation: int, nodes: int) -> int:
    """Return the channels through the NVLink switch of a node."""
    return int(law["nvls_channels"][generation][nodes > 1])


def switch_rate(sight: NcclSight, law: Law) -> float:
    """Return GB/s of a channel through the NVLink switch, which has a chunk whole before it adds up, and the devices before they send it."""
    return float(law["nvlink_rate"][sight.generation] / switch_channels(law, sight.generation, sight.nodes))


def _before(sight: NcclSight, version: float) -> bool:
    """Return whether the library is older than a version."""
    return sight.version < round(100 * version)


def _load(sight: NcclSight, law: Law, algorithm: str, p: int) -> float:
    """Return the bytes that a node sends for each byte of the message."""
    ends = sight.nodes * (sight.devices if algorithm == "ring" else 1)
    # A tree goes through a node once each way, a ring through all its devices: so its share counts ranks.
    return float(law["wire"][p] * 2 * (ends - 1) / ends)


# Up the tree and down again, or twice round the ring, of which only the hops between nodes count here.
def _hops(sight: NcclSight, algorithm: str) -> int:
    return 2 * (sight.nodes - 1) if algorithm == "ring" else 2 * floor(log2(sight.nodes))


def _network_hop(sight: NcclSight, law: Law, algorithm: str, p: int) -> float:
    if algorithm == "nvls-tree":
        return float(law["network_nvls_tree"])
    as_tree = algorithm == "tree" or sight.devices == 1
    return float(law["network_tree" if as_tree else "network_ring"][p])


def _inside(
    sight: NcclSight,
    law: Law,
    algorithm: str,
    p: int,
    chunk: float,
    *,
    planned: bool = False,
    held: float = 1.0,
) -> tuple[float, float]:
    """Return the launch, and the hops inside the node; `planned`: as tuning.cc counts them."""
    if algorithm == "nvls-tree":
        return float(law["launch_nvls_tree"]), 0.0
    link = "nvlink" if sight.nvlink else "pcie"
    if algorithm == "tree":
        part = chunk if PROTOCOLS[p] == "Simple" else held * chunk
        copy = part / (1000 * law["copy_rate"][p][sight.generation])
        return law["launch_tree"][p], 2 * (sight.devices - 1) * (
            law[f"{link}_tree"][p] + sight.inside_hop + copy
        )
    return law["launch_ring"][p], (_steps(sight) - 2 * (sight.nodes - 1)) * _ring_hop(
        sight, law, p, planned=planned
    )


def _ring_hop(sight: NcclSight, law: Law, p: int, *, planned: bool = False) -> float:
    """Return a hop of a ring inside a node, microseconds; `planned`: as tuning.cc counts it.

    The host posts each step of the network meanwhile: 2 us on AMD's hosts and 1 us on others, and three of them with Simple. tuning.cc of
    NCCL and RCCL chooses by that; of a run of RCCL it is not true (``ring_posts``).
    """
    posts = 3.0 if planned else law["ring_posts"]
    each = (2.0 if sight.amd else 1.0) * (posts if PROTOCOLS[p] == "Simple" else 1)
    least = each if sight.nodes > 1 else 0.0  # what the proxy needs for a message, where there is one
    return float(max(law["nvlink_ring" if sight.nvlink else "pcie_ring"][p] + sight.inside_hop, least))


def _steps(sight: NcclSight) -> int:
    return 2 * (sight.devices * sight.nodes - 1)


# ---- rates -------------------------------------------------------------------------------------------------------


def _rate(sight: NcclSight, law: Law, algorithm: str, protocol: str) -> float:
    """Return GB/s of the message: with Simple what the line carries, with the others what NCCL plans with."""
    if protocol != "Simple" or algorithm == "nvls-tree":
        load = _load(sight, law, algorithm, PROTOCOLS.index(protocol))
        # NCCL plans two nodes with what a channel carries inside a node, which slow NICs do not
        return min(_planned_rate(sight, law, algorithm, protocol), sight.wire / load if load else inf)
    ranks = sight.devices * sight.nodes
    if algorithm == "ring":
        return sight.wire * ranks / (2 * (ranks - 1))
    # The NICs' share as of a ring among nodes: the tree moves 2 (N - 1)/N of the message over them.
    line = sight.wire * sight.nodes / (2 * (sight.nodes - 1)) if sight.nodes > 1 else inf
    limit = law["tree_rate"][sight.generation][_many(sight)]
    return float(min(line, 0.5 * sight.tree[0] * limit))


def _planned_rate(sight: NcclSight, law: Law, algorithm: str, protocol: str) -> float:
    """Return the rate of tuning.cc (ncclTopoTuneModel)."""
    many, at = _many(sight), sight.generation
    ranks = sight.devices * sight.nodes
    # tuning.cc's rows are generations inside one node, and the maker of the host between nodes
    low = law["ll_rate"][at if not many else 1 if sight.amd else 0][many]
    if algorithm == "nvls-tree":
        channels, inside, between = sight.nvls or (1, 0.0, 0.0)
        within = inside * law["nvls_efficiency"][at] * (channels - 1) / channels * 2
        each = min(within, between * (2 if sight.nodes <= 2 else 1), law["nvls_tree_rate"][at][many])
        return float(channels * each * ranks / _steps(sight))
    halved, ring_share, tree_share = law["efficiency"]
    if algorithm == "ring":
        bus = sight.ring[0] * sight.ring[1]
        if protocol == "LL":
            bus = min(low, bus * halved)
        elif protocol == "LL128":
            bus = min(bus * ring_share, sight.ring[0] * law["ring_ll128_rate"][at])
        return float(bus * ranks / _steps(sight))
    channels, inside, between = sight.tree
    bus = channels * (inside if sight.nodes <= 2 else between)
    bus = min(bus * tree_share, channels * law["tree_rate"][at][many])
    if protocol == "LL":
        bus = min(bus / law["tree_ll_share"], low)
    elif protocol == "LL128":
        # LL128 has 8 bytes of flag in each line of 128
        bus = min(bus * 120 / 128, channels * law["tree_ll128_rate"][at][many])
    # a tree moves the message twice, up and down
    return float(bus * 0.5)


def _many(sight: NcclSight) -> int:
    """Return which column of a table by nodes holds: 1, 2 or more."""
    return min(sight.nodes, 3) - 1


def _planned(sight: NcclSight, size: int, law: Law, latency: float, algorithm: str, protocol: str) -> float:
    """Return tuning.cc's own prediction (ncclTopoGetAlgoTime) for the network's latency as the plugin tells it: what NCCL chooses by."""
    p = PROTOCOLS.index(protocol)
    rate = min(_planned_rate(sight, law, algorithm, protocol), sight.pcie / _load(sight, law, algorithm, p))
    # with Simple tuning.cc counts the network's latency once more for the flush, whether there is one or not
    hop = _network_hop(sight, law, algorithm, p) + latency * (2 if protocol == "Simple" else 1)
    # a chunk of 0 bytes: tuning.cc counts no copy of it inside the node
    launch, inside = _inside(sight, law, algorithm, p, 0, planned=True)
    fixed = launch + inside + _hops(sight, algorithm) * hop
    power = floor(log2(size >> 6)) if size >= 64 else -1
    # as tuning.cc has it: the table begins at 64 B, and the last of its 24 factors is never read
    if algorithm == "tree" and 0 <= power < 23:
        rate *= law["correction"][p][power]
    ranks = sight.devices * sight.nodes
    if algorithm == "ring" and protocol == "Simple" and size / (2 * sight.ring[0] * ranks) >= 64:
        fixed *= law["ring_plateau"][sight.generation]
    return float(fixed + size / (1000 * rate))


# ---- chunks ------------------------------------------------------------------------------------------------------


def _shape(sight: NcclSight, size: int, law: Law, algorithm: str, p: int) -> tuple[int, float, int]:
    """Return the channels that are used, the bytes of a message of one, and how many follow one another on it."""
    if algorithm == "nvls-tree":
        channels = switch_channels(law, sight.generation, sight.nodes)
        era = sum(not _before(sight, version) for version in law["nvls_chunk_changes"])
        sharing, chunk = channels * sight.devices, float(law["nvls_chunk"][era][sight.nodes >= _MANY_NODES])
        for times, limit in _NVLS_CHUNKS:
            if size < times * sharing * chunk and chunk > limit:
                chunk = limit
        return sight.channels, chunk, max(1, ceil(size / (sharing * chunk)))
    # a small message opens few channels, one for each `grain` bytes
    used = max(1, min(sight.channels, size // law["grain"][p]))
    step = float(law["step"][p])
    if algorithm == "tree":
        chunk = min(_tree_chunk(sight, size, law, p, used), max(1.0, size / used))
        return used, chunk, max(1, ceil(size / (used * chunk)))
    ranks, simple = sight.devices * sight.nodes, PROTOCOLS[p] == "Simple"
    piece = max(1.0, min((_RING_STEPS if simple else 1) * step, size / (used * ranks)))
    sliced = min(_RING_SLICE_STEPS * step if simple else step, piece)
    return used, sliced, max(1, ceil(size / (used * ranks * piece))) * max(1, ceil(piece / sliced))


def _tree_chunk(sight: NcclSight, size: int, law: Law, p: int, used: int) -> float:
    """Return the chunk of a tree, halved while a channel would have too few of them to fill the tree (enqueue.cc)."""
    chunk, deep = law["step"][p], sight.devices - 1 + floor(log2(sight.nodes)) or 1
    rules: tuple[tuple[float, int], ...] = ()
    if PROTOCOLS[p] == "LL128":
        steps = 1 + floor(log2(sight.nodes)) + 0.1 * sight.devices
        rules = ((steps * 64 / sight.devices, 2**17), (steps * 16 / sight.devices, 2**15))
    elif PROTOCOLS[p] == "Simple" and _before(sight, law["small_chunks_before"]):
        rules = ((8 * deep, 2**17), (4 * deep, 2**16), (deep, 2**15))
    for least, floor_bytes in rules:
        while size // (used * chunk) < least and chunk > floor_bytes:
            chunk //= 2
    return float(chunk)
