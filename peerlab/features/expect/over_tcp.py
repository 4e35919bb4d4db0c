"""A machine over kernel TCP where its file doesn't describe that: NCCL falls back to sockets on every machine."""

from dataclasses import replace
from types import MappingProxyType

from peerlab.model.hardware import FIGURE_FIELDS, Cluster, internal_value
from peerlab.question.presets import load_cluster

TCP = "host-tcp"
_LIKE = "infiniband-hdr-a100"
"""A machine whose file says what TCP costs a core; the rates are those that UCX plans with on any server."""
_FIGURES = ("node.cores_per_device", "host.core_copy", "host.packet_cost", "host.packet_size")


def over_tcp(cluster: Cluster) -> Cluster:
    """Return a cluster that has the path over kernel TCP: a core does as much as on another machine where nothing else is said."""
    if TCP in cluster.paths:
        return cluster
    like = load_cluster(_LIKE)
    borrowed = {
        key: replace(like.figures[key], source="", assumption=f"as on {like.name}")
        # What the machine's own file says is kept.
        for key in _FIGURES
        if key not in cluster.figures
    }
    fields = {FIGURE_FIELDS[key]: internal_value(figure) for key, figure in borrowed.items()}
    return replace(
        cluster,
        paths=(*cluster.paths, TCP),
        lacks={path: why for path, why in cluster.lacks.items() if path != TCP},
        transports=(*cluster.transports, "tcp") if cluster.transports else (),
        figures=MappingProxyType({**cluster.figures, **borrowed}),
        **fields,  # type: ignore[arg-type]
    )
