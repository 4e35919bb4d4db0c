"""The scenario that a log measured: as many devices, the same sizes, run as its tool runs it."""

import re

from peerlab.base.errors import ScenarioError
from peerlab.base.units import say_count
from peerlab.diagnosis.observed import Observed
from peerlab.library.library_laws import law_of
from peerlab.model.collective import COLLECTIVES
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE
from peerlab.question.scenario import Scenario

IN_FLIGHT = 64
"""Messages in a row that osu_bw sends before it waits."""


def shape(cluster: Cluster, seen: Observed) -> Cluster | None:
    """Return the cluster with as many devices a node as took part, or None where that is not possible."""
    if seen.collective_record.is_message:
        return cluster
    wanted = seen.per_node or (cluster.devices if seen.nodes is None else None)
    return None if wanted is None else with_devices(cluster, wanted)


def with_devices(cluster: Cluster, wanted: int) -> Cluster | None:
    """Return the cluster with so many devices a node, taken evenly from its sockets, switches and slots; None where that is not possible."""
    # From the largest part down: sockets and switches that are left out take their NICs with them, which
    # such a job does not use either.
    for key in ("node.numa_domains", "node.switches_per_numa", "node.devices_per_switch"):
        surplus, count = cluster.devices / wanted, int(cluster.figures[key].value)
        if surplus > 1 and count % surplus == 0:
            cluster = cluster.with_figure(key, count / surplus)
        elif surplus > 1 and surplus % count == 0:
            cluster = cluster.with_figure(key, 1)
    return cluster if cluster.devices == wanted else None


def nodes_of(seen: Observed, cluster: Cluster) -> int | None:
    """Return how many nodes took part; where the log does not say, as many as the ranks fill."""
    if seen.nodes or seen.collective_record.is_message:
        return seen.nodes or 2
    full = seen.ranks is not None and seen.ranks % cluster.devices == 0
    return seen.ranks // cluster.devices if seen.ranks and full else None


def share_nvlink(cluster: Cluster, nodes: int | None) -> bool:
    """Return whether several nodes of a log would be one NVLink domain of a cluster.

    >>> from peerlab.question.presets import load_cluster
    >>> [share_nvlink(load_cluster("gb200-nvl72"), nodes) for nodes in (1, 18, 32)], share_nvlink(load_cluster("p5"), 2)
    ([False, True, False], False)
    """
    return 1 < (nodes or 1) <= (cluster.domain_nodes or 1)


def scenario(seen: Observed, cluster: Cluster, path: str, size: int) -> Scenario | None:
    """Return the scenario of a log at a size, if it took `path`; None: links inside a node, which have a closed form.

    Raises
    ------
    ScenarioError
        If the simulation does not know the collective, or the log does not say enough.
    """
    if seen.collective not in COLLECTIVES or seen.variant.startswith("bidirectional"):
        what = f"{seen.collective} {seen.variant}".strip()
        raise ScenarioError("collective", f"{what!r} is not simulated")
    two, inside = seen.collective_record.is_message, path == IN_NODE
    nodes = nodes_of(seen, cluster)
    if nodes is None:
        raise ScenarioError("nodes", "the log does not say how many took part")
    if share_nvlink(cluster, nodes) and not two:  # no NIC has work, whatever path is named
        inside = True
    elif (not two and inside != (nodes == 1)) or (inside and seen.nodes not in (None, 1)):
        where = "inside a node" if inside else "between nodes"
        raise ScenarioError("nodes", f"the log is of {say_count(nodes, 'node')}, and {path} goes {where}")
    if two and inside:
        return None
    asked = Scenario(
        cluster=cluster,
        nodes=2 if two else nodes,
        path=None if inside else path,
        # benchmarks time buffers that were registered before
        registration=seen.registration or "pool",
        collective=seen.collective,
        message_bytes=size,
    )
    asked = _of_version(asked, seen)
    library = asked.used_library
    # an MPI program sends by MPI's library on the same NICs, not by the cluster's NCCL
    if seen.tool == "osu" and seen.collective_record.exchanges and library and library.mpi:
        asked = asked.with_(library=library.mpi)
    if seen.memory == "host" and asked.only_sends:
        asked = asked.with_(memory="host")  # refused on a path from device memory
    return _in_a_row(asked, size) if two and seen.variant == "bandwidth" else asked


_NCCL = re.compile(r"(?:NCCL |^)(\d\.\d{1,2})(?:\.\d+)?\+cuda")


def _of_version(asked: Scenario, observed: Observed) -> Scenario:
    """Return a scenario with the library's version that the log names; as it is where it names none, or none that is known."""
    match = _NCCL.search(observed.version)  # nccl-tests have versions of their own; those of NCCL name CUDA
    library = asked.used_library
    if not match or library is None or not law_of(library).chooses:
        return asked
    try:
        library.number(match[1])
    except ScenarioError:
        return asked
    return asked.with_(library_version=match[1])


def _in_a_row(asked: Scenario, size: int) -> Scenario:
    """Return a point-to-point scenario as osu_bw runs it: many messages, one after the other."""
    pageable = asked.staged and asked.memory == "device" and asked.hardware.pageable_copy_Bps is not None
    # a core that copies by itself is one message ahead of the wire, no more
    return asked.with_(message_bytes=IN_FLIGHT * size, slice_bytes=size, window=2 if pageable else None)
