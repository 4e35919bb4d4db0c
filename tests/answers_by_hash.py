"""Answers to random scenarios as hashes: ``python answers_by_hash.py FIRST COUNT`` prints them, without numpy and its friends.

A browser tab has none of the packages named below. Spans, registrations, figures, the critical path and the page's parcel have to
be the same bytes there.
"""

import hashlib
import json
import random
import sys

ABSENT = (
    "numpy",
    "pandas",
    "scipy",
    "simpy",
    "tqdm",
    "ipywidgets",
    "anywidget",
    "traitlets",
    "numba",
    "bokeh",
    "yaml",
    "ijson",
)
OPERATIONS = (
    "allreduce",
    "allreduce",
    "reduce-scatter",
    "allgather",
    "broadcast",
    "alltoall",
    "point-to-point",
)


def _fields(chance):
    from peerlab.question.presets import known_clusters, load_cluster

    cluster = chance.choice(known_clusters())
    fields = {
        "cluster": cluster,
        "nodes": chance.choice([2, 3, 4, 8, 16, 17, 64]),
        "path": chance.choice(list(load_cluster(cluster).paths)),
        "message_bytes": chance.choice([8, 4096, 100_000, 2**20, 2**24 + 3, 2**26]),
        "collective": chance.choice(OPERATIONS),
    }
    if chance.random() < 0.5:
        fields["registration"] = chance.choice(["per-transfer", "cached", "pool"])
    if chance.random() < 0.2:
        fields |= {"nodes": min(fields["nodes"], 4), "slow_nodes": {0: 0.5}}
    elif chance.random() < 0.15:
        fields |= {"nodes": min(fields["nodes"], 4), "seed": chance.randrange(2**40), **_noise(chance)}
    if chance.random() < 0.3:
        fields["buffers"] = chance.choice([1, 2, 3])
    if fields["collective"] == "alltoall":
        fields["nodes"] = min(fields["nodes"], 8)
    return fields | ({"nodes": 2} if fields["collective"] == "point-to-point" else {})


def _noise(chance):
    kinds = {
        "jitter": 0.1,
        "spread": 0.2,
        "detours": chance.choice([1e-4, 0.2]),
        "ticks": chance.choice([10, 5000]),
    }
    return {name: kinds[name] for name in chance.sample(list(kinds), chance.randint(1, 4))}


def _hash(value):
    text = json.dumps(
        value, sort_keys=True, default=lambda part: part.hex() if isinstance(part, bytes) else repr(part)
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _columns(columns):
    return {name: values.tolist() for name, values in columns.items()}


def answers(first, count):
    """Return fields and hashes of each scenario that can be asked, of `count` that are tried."""
    from peerlab.base.errors import PeerlabError
    from peerlab.engine.simulate import simulate
    from peerlab.picture.payload import payload
    from peerlab.picture.timeline import critical
    from peerlab.question.scenario import Scenario

    rows = []
    for seed in range(first, first + count):
        fields = _fields(random.Random(seed))  # noqa: S311  (repeatable)
        row = {"seed": seed, **fields}
        try:
            run = simulate(Scenario(**fields), engine="loop")
        except PeerlabError as problem:
            rows.append(row | {"refused": str(problem)})
            continue
        rows.append(
            row
            | {
                "spans": _hash(_columns(run.recording.spans)),
                "registrations": _hash(_columns(run.recording.registrations)),
                "figures": _hash(run.as_dict()),
                "parcel": _hash(payload(run)),
                "critical": _hash(critical(run)),
            }
        )
    return rows


if __name__ == "__main__":
    sys.modules.update(dict.fromkeys(ABSENT))
    json.dump(answers(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
