"""Which paths a log is weighed against: those that a line names or that its cluster has, else usual ones."""

from collections.abc import Iterable, Sequence

from peerlab.diagnosis.evidence import Evidence, tcp_to_device
from peerlab.diagnosis.hops import has_rare_alone
from peerlab.diagnosis.knowledge import explanations
from peerlab.diagnosis.misfit import may_be_joined
from peerlab.diagnosis.observed import Observed
from peerlab.diagnosis.replay import nodes_of, share_nvlink
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE, PATHS
from peerlab.records.benchmarks import benchmark


def candidates(
    observed: Observed,
    clusters: Sequence[Cluster],
    gathered: Iterable[Evidence],
    *,
    chosen: bool,
    nameless: bool,
) -> list[str]:
    """Return the paths to be weighed: those that a line names or that a cluster of the log has, else usual ones, and links inside a node where it may be one.

    A path that the cluster which was named does not have is no suspect. A path that is staged on one side alone lies between two others in every figure: it is weighed where a line names it.
    Of a log without any name TCP to device memory is one: in its rates it is Peer Direct over slower NICs.
    """
    gathered = list(gathered)
    named, explaining = (_favoured(gathered, kind) for kind in ("line", "cluster"))
    here = {path for cluster in clusters for path in cluster.paths}
    alone = bool(explaining) and all(PATHS[path].is_rare for path in explaining if path in PATHS)
    only = {path for cluster in clusters if has_rare_alone(cluster) for path in cluster.paths}
    described = chosen and any(not PATHS[path].is_bare for path in here)
    # Gaudi has ports of its own, whether or not the clusters that were recognised describe them
    if benchmark(observed.tool).gaudi:
        here |= {path for path, way in PATHS.items() if way.uses_own_ports}
    nodes = observed.nodes or (nodes_of(observed, clusters[0]) if chosen else None)
    joined = any(piece.points.get(IN_NODE, 0) > 0 and piece.kind in ("line", "rate") for piece in gathered)
    joined = joined or may_be_joined(observed, clusters, gathered)
    joined = joined or (chosen and any(share_nvlink(cluster, nodes) for cluster in clusters))

    def weighed(path: str) -> bool:
        record = PATHS.get(path)
        if record is None:  # links inside a node, or inside a domain of several
            return nodes is None or nodes == 1 or joined
        if path in named or (nameless and not chosen and tcp_to_device(record)):
            return True
        # every host speaks TCP, whether anybody has described how fast; an accelerator's name says nothing of a machine's NICs
        usual = record.is_usual and (not described or path in here or record.uses_kernel_tcp)
        # a rare path is nobody's suspect, unless it explains the log's rates, and it is all that its machine has, or nothing but rare ones does
        suspect = path in explaining and (alone or path in only)
        return usual or (path in here and (chosen or not record.is_rare or suspect))

    return [path for path in explanations() if weighed(path)]


def _favoured(gathered: Iterable[Evidence], kind: str) -> set[str]:
    """Return the paths for which evidence of a kind speaks."""
    of_kind = [piece for piece in gathered if piece.kind == kind]
    return {path for piece in of_kind for path, points in piece.points.items() if points > 0}
