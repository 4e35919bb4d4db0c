"""A composed step against the referee, which runs all of it in one world: every operation and every span, with ==."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_workloads import workload

import peerlab
from peerlab.base.places import folder
from peerlab.training.program import program

SIZES = st.lists(
    st.integers(1, 30_000) | st.tuples(st.integers(1, 5000), st.integers(1, 40_000)), min_size=1, max_size=4
)


@st.composite
def asked(draw):
    """Make a step small enough for the referee."""
    path = draw(st.sampled_from(["peer-direct", "peer-direct", "host-rdma", "host-tcp"]))
    fields = {
        "cluster": draw(st.sampled_from(["dl1", "p4d", "g4dn-metal"])),
        "nodes": draw(st.integers(1, 4)),
        "path": path,
        "library": draw(st.sampled_from([None, "none"])),
        "workload": workload(*draw(SIZES)),
        "compute_ms": draw(st.sampled_from([0.001, 0.1, 0.5, 5])),
        "slowdown": draw(st.sampled_from([0, 0.02, 0.137, 0.9])),
        "shard": draw(st.sampled_from(["ddp", "ddp", "zero1", "fsdp"])),
        "accumulate": draw(st.integers(1, 2)),
        "overlap": draw(st.booleans()),
        "prefetch": draw(st.booleans()),
        "first_bucket_bytes": draw(st.sampled_from([1, 10_000])),
        "bucket_bytes": draw(st.sampled_from([1, 50_000, "all"])),
        "optimizer_ms": draw(st.sampled_from([0, 0.01])),
        "steps": draw(st.sampled_from([1, 1, 2, 4])),
    }
    if fields["cluster"] == "g4dn-metal":
        fields["path"] = peerlab.load_cluster("g4dn-metal").paths[0]
    if fields["path"] == "peer-direct":
        fields["registration"] = draw(st.sampled_from(["cached", "cached", "cached", "per-transfer", "pool"]))
        fields["iterations"] = draw(st.sampled_from(["auto", "auto", 1, 3]))
        if fields["registration"] == "cached":
            fields["cache_regions"] = draw(st.sampled_from([None, 0, 1, 3, 7, 12, 40]))
            fields["cache_bytes"] = draw(st.sampled_from([None, 10_000, 200_000]))
    return fields


def spans(run):
    """Return the spans of an exchange in an order of their own."""
    columns = run.recording.unrolled
    resources = [(one.kind, one.node, one.index) for one in run.trace.resources]
    rows = zip(*(columns[name].tolist() for name in columns), strict=True)
    place = list(columns).index("resource")
    return sorted((*row[:place], resources[row[place]], *row[place + 1 :]) for row in rows)


def registered(run):
    columns = run.recording.unrolled_registrations
    rows = np.column_stack([columns[name] for name in columns if name != "nic"]).tolist()
    return sorted(map(tuple, rows))


def check_equal(fields):
    composed, referee = (peerlab.step(engine=engine, **fields) for engine in ("composition", "referee"))
    assert composed.trace.computed == referee.trace.computed
    if composed.trace.row:
        assert composed.trace.row.ends == referee.trace.row.ends
    pairs = list(zip(composed.trace.placed, referee.trace.placed, strict=True))
    for one, other in pairs:
        assert (one.op, one.ready_ps, one.begin_ps, one.end_ps) == (
            other.op,
            other.ready_ps,
            other.begin_ps,
            other.end_ps,
        )
        assert spans(one.run) == spans(other.run)
        assert registered(one.run) == registered(other.run)
        mine, theirs = one.run.registration, other.run.registration
        assert (mine.hits, mine.misses, mine.evictions, mine.time_ps) == (
            theirs.hits,
            theirs.misses,
            theirs.evictions,
            theirs.time_ps,
        )
    return composed


@given(asked())
def test_a_composed_step_is_the_referees(fields):
    run = check_equal(fields)
    assert run.time_ps >= run.step.compute.ps * run.step.accumulate


@given(asked())
def test_a_step_waits_for_what_it_needs_and_for_nothing_else(fields):
    run = peerlab.step(**fields)
    written = program(run.step)
    computed, placed = run.trace.computed, run.trace.placed
    assert [one.op for one in computed] == list(written.computing)
    assert [one.op for one in placed] == list(written.exchanging)
    before = 0
    for one in placed:
        assert one.ready_ps == max((computed[at].end_ps for at in one.op.after), default=0)
        assert one.begin_ps == max(one.ready_ps, before)
        before = one.end_ps
    before = 0
    for one in computed:
        assert one.begin_ps == max([before, *(placed[at].end_ps for at in one.op.after)])
        assert one.end_ps - one.begin_ps >= one.op.duration_ps
        before = one.end_ps
    assert run.trace.exposed_ps + sum(one.end_ps - one.begin_ps for one in computed) == run.trace.end_ps


def test_what_an_exchange_evicts_the_next_one_misses():
    fields = {
        "workload": workload(40_000, 40_000), "compute_ms": 0.5, "nodes": 3, "path": "peer-direct", "library": "none",
        "first_bucket_bytes": 1, "bucket_bytes": 1,
    }  # fmt: skip
    free, tight = check_equal(fields), check_equal({**fields, "cache_regions": 8})
    assert tight.time_ps > free.time_ps


def test_equal_buckets_share_one_recording():
    run = peerlab.step(
        workload=workload(*[50_000] * 8),
        compute_ms=1,
        first_bucket_bytes=1,
        bucket_bytes=1,
        path="peer-direct",
    )
    assert len(run.trace.placed) == 8
    assert len({id(one.run) for one in run.trace.placed}) == 1


def test_a_progress_is_told_and_may_stop_it():
    told = []
    peerlab.step(workload="resnet50", progress=lambda done, all_: told.append((done, all_)))
    assert told == [(n, 5) for n in range(1, 6)]

    def stop(_done, _all):
        raise peerlab.base.errors.Cancelled

    with pytest.raises(peerlab.base.errors.Cancelled):
        peerlab.step(workload="resnet50", progress=stop)


def test_a_file_that_was_edited_is_read_again(tmp_path):
    """Recordings are remembered between questions, by what a file held and not by its name."""
    text = (folder("data") / "hardware" / "dl1.toml").read_text()
    file = tmp_path / "mine.toml"
    file.write_text(text)
    asked = {
        "workload": workload(50_000),
        "compute_ms": 1,
        "nodes": 2,
        "path": "peer-direct",
        "library": "none",
    }
    before = peerlab.step(cluster=str(file), **asked)
    file.write_text(text.replace("rate = { value = 12.5", "rate = { value = 6.25", 1))
    assert peerlab.step(cluster=str(file), **asked).time_ps > before.time_ps
