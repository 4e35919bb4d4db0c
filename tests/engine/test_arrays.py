"""The array engine, and what it shares with the others: jitter that is the same everywhere, or a refusal."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import peerlab
from peerlab.engine.arrays import refuses
from peerlab.engine.batch import times
from peerlab.errors import ScenarioError

RING = peerlab.Scenario(cluster="ideal-100g", nodes=8, message_bytes="1 MiB", jitter=0.2, seed=3)


def fingerprint(engine):
    """Return a hash of every span of a jittered run, rows in the order of their values."""
    spans = peerlab.simulate(RING.with_(slow_nodes={4: 0.5}), engine=engine).recording.unrolled
    rows = np.column_stack([spans[name] for name in spans if name != "resource"])
    return hashlib.sha256(rows[np.lexsort(rows.T)].tobytes()).hexdigest()


def test_two_runs_with_one_seed_are_identical_to_the_byte_across_engines_and_processes():
    script = (
        f"import sys; sys.path.insert(0, {str(__file__.rpartition('/')[0])!r}); import test_arrays as t\n"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", f"{script}print(t.fingerprint({engine!r}))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for engine in ("arrays", "loop-full", "simpy", "arrays")
    ]
    assert len(set(done)) == 1
    assert done[0] == fingerprint("arrays")
    assert fingerprint("arrays") != hashlib.sha256(b"").hexdigest()


def test_another_seed_is_another_run_and_no_jitter_is_none():
    assert peerlab.simulate(RING).time_ps != peerlab.simulate(RING.with_(seed=4)).time_ps
    assert (
        peerlab.simulate(RING.with_(jitter=0)).time_ps
        == peerlab.simulate(RING.with_(jitter=0, seed=4)).time_ps
    )


def test_jitter_has_mean_one_so_single_service_times_keep_their_mean_while_the_ring_gets_slower():
    runs = [peerlab.simulate(RING.with_(seed=seed)) for seed in range(30)]
    spans = [run.recording.unrolled for run in runs]
    tx = [
        (one["end"] - one["start"])[one["resource"] == run.trace.resources.index(kind)]
        for run, one in zip(runs, spans, strict=True)
        for kind in run.trace.resources
        if kind.kind == "nic_tx"
    ]
    plain = peerlab.simulate(RING.with_(jitter=0))
    service = 131072 / 12.5e9 * 1e12
    assert np.concatenate(tx).mean() == pytest.approx(service, rel=0.02)
    assert np.mean([run.time_s for run in runs]) > 1.1 * plain.time_s  # a step waits for the slowest


@settings(max_examples=20)
@given(
    nodes=st.integers(1, 20),
    cluster=st.sampled_from(["ideal-100g", "alps-gh200", "gaudi2"]),
    dependency=st.sampled_from(["slice", "step"]),
    slow=st.sampled_from([None, {0: 0.5}]),
    jitters=st.lists(st.sampled_from([0.0, 0.1, 0.5]), min_size=2, max_size=4),
)
def test_runs_side_by_side_give_what_each_gives_alone(nodes, cluster, dependency, slow, jitters):
    machine = peerlab.load_cluster(cluster)
    path = {"ideal-100g": "wire", "alps-gh200": "peer-direct", "gaudi2": "native"}[cluster]
    base = peerlab.Scenario(
        cluster=machine,
        path=path,
        registration="pool",
        nodes=nodes,
        message_bytes=100_001,
        dependency=dependency,
    ).with_(slow_nodes=slow)
    scenarios = [base.with_(jitter=jitter, seed=seed) for seed, jitter in enumerate(jitters)]
    assert times(scenarios) == [peerlab.simulate(one).time_ps for one in scenarios]
    assert times(scenarios) == [peerlab.simulate(one, engine="loop-full").time_ps for one in scenarios]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"cluster": "dl1"}, "queue for one resource"),
        ({"cluster": "dl1", "path": "peer-direct", "registration": "pool"}, "queue for one resource"),
        ({"cluster": "alps-gh200", "path": "peer-direct"}, "queue for registration"),
        ({"cluster": "ideal-100g-backbone"}, "queue for one resource"),
        ({"cluster": "ideal-100g", "algorithm": "pairwise"}, "no ring"),
        ({"cluster": "ideal-100g", "collective": "point-to-point"}, "no ring"),
    ],
)
def test_what_it_cannot_say_exactly_it_refuses(fields, why):
    scenario = peerlab.Scenario(jitter=0.1, **fields)
    assert why in refuses(scenario)
    with pytest.raises(ScenarioError, match="'arrays' cannot run this"):
        peerlab.simulate(scenario, engine="arrays")
    assert peerlab.simulate(scenario).engine == "loop-full"  # auto does not ask it


def test_auto_takes_the_fastest_engine_that_is_exact():
    ideal = peerlab.Scenario(cluster="ideal-100g")
    engines = [
        peerlab.simulate(one).engine
        for one in (
            ideal,
            ideal.with_(jitter=0.1),
            ideal.with_(slow_nodes={3: 0.5}),
            ideal.with_(algorithm="binary-tree"),
            peerlab.Scenario(slow_nodes={3: 0.5}),
            peerlab.Scenario(jitter=0.1),
            peerlab.Scenario(collective="point-to-point"),
        )
    ]
    assert engines == ["loop", "arrays", "arrays", "loop-nodes", "loop-nodes", "loop-full", "loop-full"]


def test_a_large_jittered_run_makes_its_spans_only_when_they_are_asked_for():
    run = peerlab.simulate(RING.with_(nodes=200))
    assert "_columns" not in vars(run.recording.spans)
    assert run.time_s > 0
    assert len(run.recording.spans["start"]) == 200 * 398 * 3  # sent, received and in flight
    assert run.bottleneck is not None


def test_of_a_very_large_run_the_slowest_node_and_its_neighbours_are_recorded():
    run = peerlab.simulate(RING.with_(nodes=512, slow_nodes={100: 0.5}))
    assert sorted(set(run.recording.spans["node"].tolist())) == [99, 100, 101]
    assert run.bottleneck.kind in ("nic_tx", "nic_rx")
    with pytest.raises(ScenarioError, match="million spans"):
        peerlab.simulate(peerlab.Scenario(nodes=1024, jitter=0.1))
