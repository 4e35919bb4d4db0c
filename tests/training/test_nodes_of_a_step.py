"""A step whose nodes differ: composed rank by rank against the referee, which runs all of it in one world, with ==; and its laws."""

from hypothesis import given
from hypothesis import strategies as st
from small_workloads import workload
from test_step_engines import registered, spans

import peerlab
from peerlab.base.places import folder
from peerlab.question.presets import read_cluster

COUNT = 'unit = "1", basis = "per leaf", source = "test" }'
LEAVES = read_cluster(
    (folder("data") / "hardware" / "dl1.toml").read_text().replace(
        "[fabric]",
        "[fabric]\nhosts_per_leaf = { value = 2, " + COUNT + "\noversubscription = { value = 2, " + COUNT,
    ),
    "dl1-leaves",
)  # fmt: skip


@st.composite
def asked(draw):
    """Draw a small step on nodes that differ."""
    nodes = draw(st.integers(2, 4))
    cluster = draw(st.sampled_from(["dl1", "dl1", "p4d", "g4dn-metal", LEAVES]))
    fields = {
        "cluster": cluster,
        "nodes": nodes,
        "path": draw(st.sampled_from(peerlab.Scenario(cluster=cluster).hardware.paths)),
        "library": draw(st.sampled_from([None, "none", "none"])),
        "workload": workload(*draw(st.lists(st.integers(1, 20_000), min_size=1, max_size=4))),
        "compute_ms": draw(st.sampled_from([0.001, 0.1, 0.5])),
        "slowdown": draw(st.sampled_from([0, 0.137, 0.9])),
        "shard": draw(st.sampled_from(["ddp", "ddp", "zero1", "fsdp"])),
        "overlap": draw(st.booleans()),
        "first_bucket_bytes": draw(st.sampled_from([1, 10_000])),
        "bucket_bytes": draw(st.sampled_from([1, 50_000])),
        "open": draw(st.sampled_from([None, "begin", "posted"])),
        "compute_jitter": draw(st.sampled_from([0, 0.1, 1.0])),
        "jitter": draw(st.sampled_from([0, 0, 0.2])),
        "spread": draw(st.sampled_from([0, 0, 0.2])),
        "window": draw(st.sampled_from([None, 1])),
        "seed": draw(st.integers(0, 3)),
    }
    if fields["path"] == "peer-direct":
        fields["registration"] = draw(st.sampled_from(["cached", "cached", "per-transfer", "pool"]))
        fields["iterations"] = draw(st.sampled_from(["auto", 1]))
    if draw(st.booleans()):
        fields["slow_nodes"] = {nodes - 1: 0.3}
    if draw(st.booleans()):
        fields["slow_compute"] = {0: 0.5}
    return fields


def check_equal(fields):
    composed, referee = (peerlab.step(engine=engine, **fields) for engine in ("auto", "referee"))
    assert composed.trace.computed == referee.trace.computed
    for one, other in zip(composed.trace.placed, referee.trace.placed, strict=True):
        assert (one.op, one.ready_ps, one.begin_ps, one.end_ps) == (
            other.op,
            other.ready_ps,
            other.begin_ps,
            other.end_ps,
        )
        assert one.apart == other.apart
        if one.apart and not one.run.trace.folded:  # else one node stands for all
            assert spans(one.run) == spans(other.run)
            assert registered(one.run) == registered(other.run)
    return composed


@given(asked())
def test_a_step_composed_rank_by_rank_is_the_referees(fields):
    run = check_equal(fields)
    before = None
    for one in run.trace.placed:
        if one.apart and before:
            assert all(b >= e for b, e in zip(one.apart.begins, before.ends, strict=True))
        before = one.apart
    assert run.trace.exposed_ps + sum(one.end_ps - one.begin_ps for one in run.trace.computed) == run.time_ps
