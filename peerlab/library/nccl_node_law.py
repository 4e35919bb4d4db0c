"""NCCL's time of an allreduce inside one node, as a closed form: rings of its three protocols, and NVLS where a switch adds up.

It is tuning.cc's own model. A ring has 2 (D - 1) hops and moves 2 (D - 1) / D of the message over each device's links; with NVLS, NVIDIA's
name for NVLink SHARP, a device sends (D + 1) / D of it, and the first and the last chunk of all devices pass the switch alone.
The least of them runs. Times in microseconds, rates in GB/s (10^9 bytes per second), sizes in bytes.
"""

from collections.abc import Collection
from dataclasses import dataclass

from peerlab.library.nccl_law import PROTOCOLS, Law, NcclSight, switch_channels, switch_rate

IN_SWITCH = "NVLS"
_CHUNKS = ((64, 2**16), (8, 2**15), (2, 2**14))
"""A chunk of NVLS is cut to so many bytes while the message has fewer than so many of them on each channel and device (enqueue.cc)."""
_LARGEST_CHUNK = 2**17


@dataclass(frozen=True, kw_only=True)
class NodeCourse:
    """How the library does an allreduce inside one node, and how long that takes."""

    algorithm: str
    """``ring``, or ``NVLS`` where the NVLink switch adds up."""
    protocol: str
    launch: float
    """Before anything is sent, microseconds."""
    hops: float
    """Latency of all hops, and what it takes to fill and to empty them, microseconds."""
    rate: float
    """GB/s that a device sends to the others of its node, or to the switch."""
    time: float
    """Microseconds in all."""

    @property
    def in_switch(self) -> bool:
        """Whether the NVLink switch adds up."""
        return self.algorithm == IN_SWITCH


def node_course(
    sight: NcclSight,
    size: int,
    law: Law,
    links: float,
    in_switch: float,
    protocols: Collection[str] = PROTOCOLS,
) -> NodeCourse:
    """Return what the library runs inside a node for an allreduce of `size` bytes.

    `links` is what a device's links to the others carry together, GB/s per direction; `in_switch` the same of the switch that adds up, 0
    where none does; `protocols` are those that the library may use, one at least.
    """
    allowed = [p for p, protocol in enumerate(PROTOCOLS) if protocol in protocols]
    node_courses = [_ring(sight, size, law, p, links) for p in allowed]
    # NVLS has no other protocol
    offered = sight.nvls and sight.version >= round(100 * law["nvls_since"][0])
    if in_switch and offered and "Simple" in protocols:
        node_courses.append(_in_switch(sight, size, law, in_switch))
    return min(node_courses, key=lambda candidate: candidate.time)


def _ring(sight: NcclSight, size: int, law: Law, p: int, links: float) -> NodeCourse:
    hops = 2 * (sight.devices - 1)
    rate = min(links, law["nvlink_rate"][sight.generation]) if sight.nvlink else links
    halved, ll128_share, _ = law["efficiency"]
    # what a protocol gets of the links: LL half, as every second word is a flag, and no more than the threads copy
    of_links = (min(halved * rate, law["ll_rate"][sight.generation][0]), ll128_share * rate, rate)[p]
    each = law["nvlink_ring" if sight.nvlink else "pcie_ring"][p]
    launch = float(law["launch_ring"][p])
    return NodeCourse(
        algorithm="ring", protocol=PROTOCOLS[p], launch=launch, hops=hops * each, rate=of_links,
        time=launch + hops * each + size * hops / sight.devices / (1000 * of_links),
    )  # fmt: skip


def _in_switch(sight: NcclSight, size: int, law: Law, rate: float) -> NodeCourse:
    channels = switch_channels(law, sight.generation, sight.nodes)
    chunk, sharing = _LARGEST_CHUNK, channels * sight.devices
    for times, smaller in _CHUNKS:
        if size < times * sharing * chunk and chunk > smaller:
            chunk = smaller
    # the first chunk goes up alone and the last comes down alone, one from each device
    fill = 2 * min(sight.devices * chunk, size / channels) / (1000 * switch_rate(sight, law))
    launch = float(law["launch_nvls_tree"])
    moved = size * (sight.devices + 1) / sight.devices
    return NodeCourse(
        algorithm=IN_SWITCH, protocol="Simple", launch=launch, hops=fill, rate=rate, time=launch + fill + moved / (1000 * rate)
    )  # fmt: skip
