"""The spans of some 200 scenarios, each as one digest: `python tests/engine/spans.py` writes them to `spans.json`.

A change that moves names or modules and not physics leaves every digest as it is. One that changes physics writes them anew and says so
in CHANGELOG.
"""

import json
from hashlib import sha256
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np

import peerlab
from peerlab.errors import ScenarioError
from peerlab.model.presets import known_clusters

FILE = Path(__file__).with_suffix(".json")

RENAMED: dict[str, str] = {}
"""Resources and stages that were called otherwise when the digests were written: today's name, the name of then."""

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


def scenarios():
    """Return the scenarios, as their fields in JSON."""
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
    return [json.dumps(one) for one in (*alone, *with_library) if _possible(one)]


def scenario(text):
    """Return the scenario that was written as `text`."""
    given = json.loads(text)
    if "slow_nodes" in given:
        given["slow_nodes"] = {int(node): share for node, share in given["slow_nodes"].items()}
    return peerlab.Scenario(**given)


def _possible(given):
    try:
        scenario(json.dumps(given))
    except ScenarioError:
        return False
    return True


def digest(text):
    """Return a digest of the spans of a scenario's last iteration: node, resource, stage, slice, start, end, bytes."""
    trace = peerlab.simulate(scenario(text)).trace
    spans = trace.last.unrolled
    kinds = np.array([_number(one.kind) for one in trace.resources])
    index = np.array([one.index for one in trace.resources])
    stages = np.array([_number(stage) for stage in trace.stages])
    columns = (
        spans["node"], kinds[spans["resource"]], index[spans["resource"]], stages[spans["stage"]], spans["slice"], spans["start"],
        spans["end"], spans["nbytes"],
    )  # fmt: skip
    rows = np.stack(columns, axis=1).astype(np.int64)
    return sha256(rows[np.lexsort(rows.T)].tobytes()).hexdigest()[:16]


def _number(name):
    return crc32(RENAMED.get(name, name).encode())


if __name__ == "__main__":
    written = {text: digest(text) for text in scenarios()}
    FILE.write_text(json.dumps(written, indent=0) + "\n")
