"""What an AllReduce of a few bytes over NCCL says of the transport: its time over the hops, less what NCCL's source plans with."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from peerlab.diagnosis.evidence import Evidence, every, tcp_to_device
from peerlab.diagnosis.knowledge import Knowledge
from peerlab.diagnosis.observed import Observed
from peerlab.library.library_files import known_libraries, load_library
from peerlab.library.library_laws import law_of
from peerlab.library.library_record import MAKERS, Library
from peerlab.model.hardware import Cluster
from peerlab.model.paths import PATHS
from peerlab.question.presets import known_clusters, load_cluster

_LL, _SIMPLE = 0, 2
"""The first and the last protocol in the library's lists: the least, and the most, that a hop takes without the transport."""
_HOP = "library.hop"
_SOCKETS = "sockets"
"""What libraries over kernel TCP have in their names."""


@dataclass(frozen=True)
class Transport:
    """One library over one transport, and what it adds to a hop between nodes."""

    title: str
    low_us: float
    high_us: float
    tcp: bool
    """Whether it is the kernel's TCP."""
    source: str


def transports(devices: Sequence[str] = ()) -> list[Transport]:
    """Return the transports of NCCL, or of its like for these accelerators, the promptest first.

    One that serves a rare path alone is left out: what a hop of it takes was seen on one machine.
    """
    maker = next((name for name in MAKERS if any(name in device for device in devices)), MAKERS[0])
    rare = {load_cluster(name).library for name in known_clusters() if has_rare_alone(load_cluster(name))}
    libraries = [load_library(name) for name in known_libraries() if name not in rare]
    told = [
        _transport(library)
        for library in libraries
        if library
        and (library.maker == maker or _SOCKETS in library.name)
        and law_of(library).chooses
        and _HOP in library.figures
    ]
    return sorted(told, key=lambda transport: transport.low_us)


def has_rare_alone(cluster: Cluster) -> bool:
    """Return whether a machine has no path but rare ones, as A3 Mega has: whoever has the machine takes one."""
    return all(PATHS[path].is_rare for path in cluster.paths)


def _transport(library: Library) -> Transport:
    figure = library.figures[_HOP]
    low, high = figure.range or (figure.value, figure.value)
    return Transport(
        title=library.title,
        low_us=low,
        high_us=high,
        tcp=_SOCKETS in library.name,
        source=f"data/libraries/{library.name}.toml: library.hop",
    )


def adds_us(seen: Observed) -> tuple[float, float] | None:
    """Return what the transport adds to a hop between nodes, at least and at most, microseconds; None where nobody can say.

    At most: with the LL protocol, by a tree or a ring, whichever leaves more. At least: with Simple, and no flush of received data,
    which would count the transport twice (GPUDirect RDMA below Hopper).
    """
    # where the log does not say it; `from_hops` then says that it is a guess
    nodes = seen.nodes or 2
    if not seen.by_nccl_law or nodes < 2 or math.isnan(seen.small_s):
        return None
    ranks = seen.ranks or nodes
    devices = ranks // nodes
    if devices < 1 or ranks % nodes:
        return None
    # Any file that extends nccl.toml would do: the constants read here are NCCL's, not a transport's.
    library = load_library("nccl-verbs")
    law = library.law if library else {}
    # A tree has 2 x depth hops between nodes, a ring 2 (nodes - 1), as in `library/nccl_law`.
    took, depth = seen.small_s * 1e6, math.floor(math.log2(nodes))
    most = max(
        (took - law["launch_tree"][_LL] - 2 * (devices - 1) * law["nvlink_tree"][_LL]) / (2 * depth)
        - law["network_tree"][_LL],
        (took - law["launch_ring"][_LL] - 2 * (ranks - nodes) * law["nvlink_ring"][_LL]) / (2 * (nodes - 1))
        - law["network_ring"][_LL],
    )
    least = (took - law["launch_tree"][_SIMPLE] - 2 * (devices - 1) * law["pcie_tree"][_SIMPLE]) / (
        2 * depth
    ) - law["network_tree"][_SIMPLE]
    return max(least, 0.0), max(most, 0.0)


def from_hops(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield which transport the smallest AllReduce fits, and what that says of kernel TCP."""
    added = None if older_nccl(seen) else adds_us(seen)
    if added is None:
        return
    least, most = added
    known = transports(seen.devices)
    fitting = [transport for transport in known if transport.low_us <= most and transport.high_us >= least]
    guess = "" if seen.nodes else ", if there are two nodes"
    ends = f"{least:.2g} to {most:.2g} µs" if least else f"at most {most:.2g} µs" if most else "nothing"
    sentence = " or ".join(f"{hop.title} ({hop.low_us:g} to {hop.high_us:g} µs)" for hop in fitting)
    # never empty: sockets are there for every maker (`transports`)
    tcp = [transport for transport in known if transport.tcp]
    weigh = know.strengths
    points: dict[str, float] = {}
    if fitting and not any(transport.tcp for transport in fitting):
        # what TCP adds in clouds is known; a bare host may be quicker, though hardly below what one message takes anywhere
        sure = ("strong" if seen.nodes else "fair") if most < know.ranges["tcp_step"].low else "weak"
        # TCP that ends in device memory passes a daemon of the host as well
        points = dict.fromkeys(_tcp_paths(), -weigh[sure]) | every(tcp_to_device, -weigh[sure])
        text = (
            f"as with {sentence}; too prompt for {tcp[0].title} ({tcp[0].low_us:g} to {tcp[0].high_us:g} µs)"
        )
    elif fitting and all(transport.tcp for transport in fitting):
        # RCCL on MI300X takes 87 us a hop over RDMA, and nobody knows why: so long a hop names no path by itself
        points = dict.fromkeys(_tcp_paths(), weigh["weak"])
        text = f"as with {sentence}; RDMA takes as long with a flush after each hop, or held up"
    else:
        text = f"as with {sentence}" if sentence else "more than any transport that is known"
    yield Evidence(
        kind="latency",
        seen=f"a hop between nodes adds {ends} to what NCCL plans with{guess}",
        says=text,
        points=points,
        known=bool(seen.nodes),
        source="NVIDIA/nccl src/graph/tuning.cc, and "
        + "; ".join(transport.source for transport in fitting or known),
    )


_NCCL = re.compile(r"(\d{1,2})\.(\d{1,2})(?:\.\d{1,3})?(?=\+cuda|\Z)")


def older_nccl(seen: Observed) -> str:
    """Return the log's NCCL version if it is older than those whose law is known; empty where it is not, or is not said."""
    library = load_library("nccl-verbs")
    # nccl-tests have versions of their own; those of NCCL name CUDA
    match = (
        _NCCL.match(seen.version.removeprefix("NCCL "))
        if "cuda" in seen.version or "NCCL" in seen.version
        else None
    )
    if match is None or library is None or not seen.nccl:
        return ""
    # as numbers: as texts 2.9 would be later than 2.12
    first = tuple(map(int, library.promised.split(".")))
    return match[0] if (int(match[1]), int(match[2])) < first else ""


def _tcp_paths() -> list[str]:
    return [path for path, record in PATHS.items() if record.uses_kernel_tcp]
