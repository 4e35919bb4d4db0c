"""Why a log cannot be from a cluster that somebody has chosen, and whether NVLink may join its servers."""

from collections.abc import Iterable, Sequence

from peerlab.base.units import MIB, say_count
from peerlab.diagnosis.evidence import Evidence
from peerlab.diagnosis.fits import names_another
from peerlab.diagnosis.knowledge import knowledge
from peerlab.diagnosis.observed import Observed, observe
from peerlab.diagnosis.replay import nodes_of, shape
from peerlab.model.collective import COLLECTIVES
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE, PEER_DIRECT
from peerlab.question.presets import known_clusters
from peerlab.records import Records
from peerlab.records.benchmarks import benchmark


def taken_elsewhere(records: Records, cluster: Cluster) -> str:
    """Return why a log cannot be from a cluster: it names another known one, or contradicts it; empty where nothing says so."""
    taken = records.manifest.get("cluster")
    if taken and taken != cluster.name and cluster.name in known_clusters():
        return f"it says that it was taken on {taken}"
    return misfit(observe(records), cluster)


def misfit(seen: Observed, cluster: Cluster) -> str:
    """Return why a log cannot be compared with a cluster, as a clause with its figures; empty where it can."""
    if seen.collective not in COLLECTIVES:
        return f"{seen.collective!r} is not simulated"
    if seen.ranks is None and nodes_of(seen, cluster) is None:
        return "the log does not say how many ranks took part"
    return contradicts(seen, cluster)


def contradicts(seen: Observed, cluster: Cluster) -> str:
    """Return the same, of what the log says about its machine alone: accelerators, ranks, and what its nodes send."""
    title, device = cluster.title, cluster.device_name
    # what the log says surest comes first: its tool, then names, then counts, then rates
    gaudi = benchmark(seen.tool).gaudi
    if gaudi is not None and gaudi != device.startswith("Gaudi"):
        return f"{seen.tool} does not run on {device}, the accelerators of {title}"
    if names_another(cluster, seen.devices):
        return f"the log names {seen.devices[0]}, and {title} has {device}"
    nodes = nodes_of(seen, cluster)
    if nodes is None or shape(cluster, seen) is None:
        if seen.ranks is None:
            return ""
        per_node = f" on {say_count(seen.nodes, 'node')}" if seen.nodes else ""
        return f"{say_count(seen.ranks, 'rank')}{per_node} do not fill nodes of {cluster.devices} {device}"
    # NVLink carries what goes inside a domain of several nodes
    return _too_fast(seen, cluster, nodes) if nodes > 1 and cluster.domain_nodes is None else ""


def _too_fast(observed: Observed, cluster: Cluster, nodes: int) -> str:
    """Return how much more a node of the log sends than the cluster can, even with what is assumed at its best."""
    two = observed.collective_record.is_message
    sent, ways = observed.node_rate(observed.fastest_GBps, nodes), []
    for key, field, count, name in (
        ("nic.rate", "nic_Bps", cluster.nics, "NIC"),
        ("port.rate", "port_Bps", cluster.devices, "device's own port"),
    ):
        if figure := cluster.figures.get(key):
            # at its best, so that only what no NIC of the range carries contradicts
            best = cluster.with_figure(key, max(figure.value, *(figure.range or (0,))))
            # two ranks send over one NIC, the ranks of a node over all of them
            ways.append((getattr(best, field) / 1e9 * (1 if two else count), 1 if two else count, name))
    if not ways:
        return ""
    most, many, name = max(ways)
    if sent <= knowledge().ranges["beyond"].high * most:
        return ""
    # three digits, without an exponent
    return f"a node of the log sends {float(f'{sent:.3g}'):,.10g} GB/s, and {say_count(many, name)} of {cluster.title} can send {most:.3g} GB/s"


_LARGE = 64 * MIB
"""From here on a device sends at a rate that tells NVLink from a NIC."""


def may_be_joined(seen: Observed, clusters: Sequence[Cluster], gathered: Iterable[Evidence]) -> bool:
    """Return whether NVLink may join the servers though no line and no rate says so.

    NCCL prints ``GDR 1`` where a NIC reaches device memory, and where no connection goes to a NIC at all. Which it is, accelerators of a domain
    leave open, as does a log that names none, until a large message tells the rate. So do collectives of MPI, which prints nothing of either.
    """
    if (seen.sizes >= _LARGE).any():
        return False
    if seen.tool == "osu":
        return not (seen.devices or seen.collective_record.is_message) and seen.memory == "device"
    spared = any(
        evidence.kind == "line"
        and evidence.points
        and max(evidence.points.values()) < 0
        and not {IN_NODE, PEER_DIRECT} & set(evidence.points)
        for evidence in gathered
    )
    of_domain = not seen.devices or any(cluster.domain_nodes for cluster in clusters)
    return seen.nccl and spared and of_domain
