"""What a topology lets through beside its NICs, in closed form: a library's choice is told it, the simulation finds it by itself."""

from collections import defaultdict
from math import inf

from peerlab.model.hardware import Cluster
from peerlab.model.paths import stages
from peerlab.model.resources import capacity_Bps, count_in_node, resource_kind
from peerlab.model.stages import Use

_PCIE = ("device_pcie_Bps", "device_pcie_both_Bps", "uplink_Bps", "nic_pcie_Bps")
"""Rates of PCIe links."""
_IN_NETWORK_SOFTWARE = ("", "bounce_copy_Bps")
"""Work of a core that no library knows of: kernel TCP, and copies of the network's own library.

A log of g4dn-8xlarge over TCP takes LL up to 64 KiB, which NCCL would not do if it knew what the cores need.
"""


def path_bound_Bps(cluster: Cluster, path: str, *, pcie_alone: bool = False) -> float:  # noqa: N802
    """Return the bytes per second that a node can send on a path while it receives as many.

    Neither its NICs' own rate nor the network's software bounds anything here; with `pcie_alone` nothing but PCIe links does.
    """
    seconds: defaultdict[str, float] = defaultdict(float)
    for use in (use for stage in stages(cluster, path) for use in stage.uses):
        if resource_kind(use.kind).rate in _PCIE or not pcie_alone:
            # A byte may cross a resource several times, such as DRAM, and what a node receives does so too:
            # the rate is divided by all of that.
            seconds[use.kind] += _seconds_per_byte(cluster, use)
    return min((count_in_node(cluster, kind) / each for kind, each in seconds.items() if each), default=inf)


def exchange_bound_Bps(cluster: Cluster) -> float:  # noqa: N802
    """Return the bytes of a message per second that the links inside a node let through.

    A device collects its share of the message from all others and hands it out to them, over one link to each.
    """
    if cluster.devices == 1:
        return inf
    share = 2 * (cluster.devices - 1) / cluster.devices
    return capacity_Bps(cluster, "scaleup") / share


def _seconds_per_byte(cluster: Cluster, use: Use) -> float:
    kind = resource_kind(use.kind)
    if kind.frames or not kind.rate:  # the NIC's own rate, and what counts messages
        return 0.0
    if not kind.is_core:
        return use.touches / capacity_Bps(cluster, use.kind)
    if use.work in _IN_NETWORK_SOFTWARE:
        return 0.0
    core_Bps: int = getattr(cluster, use.work)  # noqa: N806
    return 1 / (core_Bps * cluster.cores_per_device)
