"""The scenarios whose spans, figures, parcels and stills are digested: every cluster, path and collective, and what changes a run."""

import json
from itertools import product

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.question.presets import known_clusters

_SHAPES = (
    {"nodes": 2, "message_bytes": "64 KiB"},
    {"nodes": 3, "message_bytes": "5 MiB"},
    {"nodes": 8, "message_bytes": "64 MiB"},
)
_MORE = (
    {"registration": "per-transfer"},
    {"registration": "per-transfer", "prefetch": True},
    {"registration": "pool"},
    {"cache_regions": 1},
    {"collective": "allgather"},
    {"collective": "reduce-scatter"},
    {"collective": "point-to-point"},
    {"algorithm": "halving-doubling"},
    {"algorithm": "recursive-doubling"},
    {"algorithm": "binary-tree"},
    {"algorithm": "pairwise", "collective": "allgather"},
    {"slow_nodes": {"1": 0.5}},
    {"jitter": 0.1, "seed": 3},
    {"dependency": "step"},
    {"placement": "shuffled"},
)
_MORE_ON = ("dl1", "gaudi3", "p4d", "ideal-100g", "ideal-100g-leafspine-2to1", "ideal-100g-staged-shared")
_REST = (
    {"collective": "alltoall"},
    {"collective": "alltoall", "algorithm": "pairwise"},
    {"collective": "alltoall", "memory": "host", "path": "host-rdma"},
    {"collective": "point-to-point", "memory": "host", "path": "host-tcp"},
    {"transport": "roce", "mtu": 1024, "hops": 3, "metres": 40},
    {"transport": "ideal"},
    {"wiring": "root-port"},
    {"wiring": "other-socket", "acs_redirect": "on"},
    {"algorithm": "tree", "protocol": "LL128"},
    {"algorithm": "ring"},
    {"algorithm": "sharp"},
    {"algorithm": "nvls"},
    {"slice_bytes": None, "window": 2},
    {"memlock_bytes": "1 MiB", "page_bytes": "64 KiB", "buffers": 3},
    {"nodes": 1},
    {"envelope_bytes": 16},
    {"library": "nccl-efa", "library_version": "2.12"},
    {"library": "openmpi-cxi", "collective": "point-to-point"},
)
_REST_ON = ("dl1", "p4d", "gaudi3", "alps-gh200", "p5", "infiniband-hdr-a100")


def scenarios() -> tuple[str, ...]:
    """Return the scenarios that can be simulated, each as its fields in JSON."""
    asked = [
        {"cluster": name, "path": path, **shape}
        for name in known_clusters()
        for path, shape in product(peerlab.load_cluster(name).paths, _SHAPES)
    ]
    asked += [
        {"cluster": name, "path": path, "nodes": 4, "message_bytes": "4 MiB", **more}
        for name, more in product(_MORE_ON, _MORE)
        for path in (peerlab.load_cluster(name).paths if "registration" not in more else ("peer-direct",))
    ]
    alone = [{**one, "library": "none"} for one in asked]
    with_library = [one for one in asked if peerlab.load_cluster(one["cluster"]).library != "none"]
    rest = [
        {"cluster": name, "path": path, "nodes": 4, "message_bytes": "4 MiB", **more}
        for name, more in product(_REST_ON, _REST)
        for path in ("peer-direct", "host-rdma")
    ]
    every = (json.dumps(one) for one in (*alone, *with_library, *rest) if _possible(one))
    return tuple(dict.fromkeys(every))


def scenario(text: str) -> peerlab.Scenario:
    """Return the scenario that is written as `text`."""
    fields = json.loads(text)
    if "slow_nodes" in fields:
        fields["slow_nodes"] = {int(node): share for node, share in fields["slow_nodes"].items()}
    return peerlab.Scenario(**fields)


def _possible(fields: dict) -> bool:
    try:
        scenario(json.dumps(fields))
    except ScenarioError:
        return False
    return True
