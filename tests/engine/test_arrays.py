"""The array engine, and what it shares with the others: jitter that is the same everywhere, or a refusal."""

import hashlib
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from drawing import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from noise_scenes import noises

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.engine.arrays.ring_arrays import Batch, refuses
from peerlab.engine.arrays.service_order import Arrived, OrderUnknownError, ServiceOrder, users_of
from peerlab.engine.arrays.side_by_side import SideBySide, times
from peerlab.engine.loop.event_loop import Loop
from peerlab.engine.system import least
from peerlab.question.presets import known_clusters

of_topology = partial(peerlab.Scenario, library="none")
"""Topology alone: what the engines do with it does not depend on who asks."""

RING = of_topology(cluster="ideal-100g", nodes=8, message_bytes="1 MiB", jitter=0.2, seed=3)


def fingerprint(engine):
    """Return a hash of every span of a jittered run, rows in the order of their values."""
    spans = peerlab.simulate(
        RING.with_(slow_nodes={4: 0.5}), engine=engine, every_node=True
    ).recording.unrolled
    rows = np.column_stack([spans[name] for name in spans if name != "resource"])
    return hashlib.sha256(rows[np.lexsort(rows.T)].tobytes()).hexdigest()


def test_two_runs_with_one_seed_are_identical_to_the_byte_across_engines_and_processes():
    script = f"import sys; sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}; import test_arrays as t\n"
    done = [
        subprocess.run(
            [sys.executable, "-c", f"{script}print(t.fingerprint({engine!r}))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for engine in ("arrays", "loop", "referee", "arrays")
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


PATHS = {
    "ideal-100g": "wire",
    "ideal-100g-staged": "host-rdma",
    "alps-gh200": "peer-direct",
    "p5": "peer-direct",
    "gaudi2": "native",
}


@examples(part=2)
@given(
    nodes=st.integers(1, 12),
    cluster=st.sampled_from(list(PATHS)),
    registration=st.sampled_from(["cached", "pool"]),
    collective=st.sampled_from(["allreduce", "allgather", "reduce-scatter"]),
    dependency=st.sampled_from(["slice", "step"]),
    slow=st.sampled_from([None, {0: 0.5}]),
    jitters=st.lists(st.sampled_from([0.0, 0.1, 0.5]), min_size=2, max_size=4),
    noise=noises(),
)
def test_runs_side_by_side_give_what_each_gives_alone(
    nodes, cluster, registration, collective, dependency, slow, jitters, noise
):
    base = of_topology(
        cluster=peerlab.load_cluster(cluster),
        path=PATHS[cluster],
        registration=registration,
        collective=collective,
        nodes=nodes,
        message_bytes=100_001,
        dependency=dependency,
    ).with_(slow_nodes=slow, **noise)
    scenarios = [base.with_(jitter=jitter, seed=seed) for seed, jitter in enumerate(jitters)]
    together = SideBySide(scenarios)
    for index, one in enumerate(scenarios):
        run, alone = together.run(index), peerlab.simulate(one)
        assert run.as_dict(iteration_times=True) == alone.as_dict(iteration_times=True)
        assert run.busy == alone.busy
        assert identity(run) == identity(alone)
    loops = [peerlab.simulate(one, engine="loop", every_node=True) for one in scenarios]
    assert times(scenarios) == [run.time_ps for run in loops]
    assert [figures(run) for run in map(SideBySide(scenarios).run, range(len(jitters)))] == list(
        map(figures, loops)
    )


def figures(run):
    """Return the figures of a row that no engine may change."""
    return {name: value for name, value in run.as_dict().items() if name != "engine"}


def identity(run):
    """Return every span and every request for registered memory, with the resource that served it."""
    names = [(one.kind, one.node, one.index) for one in run.trace.resources]
    tables = []
    for columns, served in (
        (run.recording.unrolled, "resource"),
        (run.recording.unrolled_registrations, "nic"),
    ):
        rows = zip(*(columns[name].tolist() for name in columns if name != served), strict=True)
        tables.append(sorted(zip(rows, (names[index] for index in columns[served]), strict=True)))
    return tables


@pytest.mark.parametrize("cluster", PATHS)
def test_every_span_is_of_the_resource_that_the_referee_names(cluster):
    """After its copy a slice is in flight at the receiver, not at the sender."""
    scenario = of_topology(cluster=cluster, path=PATHS[cluster], nodes=3, message_bytes="64 KiB", jitter=0.1)
    arrays, referee = (
        peerlab.simulate(scenario, engine=engine, every_node=True) for engine in ("arrays", "referee")
    )
    assert identity(arrays) == identity(referee)


def test_many_runs_of_a_large_ring_are_made_some_at_a_time(monkeypatch):
    scenarios = [RING.with_(seed=seed) for seed in range(7)]
    alone = [peerlab.simulate(one).as_dict() for one in scenarios]
    monkeypatch.setattr("peerlab.engine.arrays.side_by_side._MOST_TIMES", 2 * 8 * (1 + RING.window_slices))
    made = counted_calls(monkeypatch)
    together = SideBySide(scenarios)
    assert [together.run(index).as_dict() for index in range(7)] == alone
    assert made == [2, 2, 2, 1]


def counted_calls(monkeypatch):
    """Return a list that gets how many runs each call of the array engine makes."""
    made, run = [], Batch.run

    def counting(self, progress=None):
        made.append(len(self.seeds))
        return run(self, progress)

    monkeypatch.setattr(Batch, "run", counting)
    return made


def test_a_sweep_over_seeds_is_few_calls_and_its_rows_are_those_of_single_runs(monkeypatch):
    slow = RING.with_(slow_nodes={4: 0.5})
    alone = [
        peerlab.simulate(slow.with_(seed=seed, jitter=jitter)) for seed in range(60) for jitter in (0.1, 0)
    ]
    made = counted_calls(monkeypatch)
    table = peerlab.sweep(slow, seed=range(60), jitter=[0.1, 0])
    assert sum(made) == 120
    assert len(made) < 30
    columns = ["time_s", "busbw_GBps", "wire_busy_share", "bottleneck", "bottleneck_share", "engine"]
    rows = [[run.as_dict()[name] for name in columns] for run in alone]
    assert table[columns].to_numpy().tolist() == rows


def test_a_run_whose_jitter_may_take_too_long_to_count_does_not_spoil_those_beside_it():
    slow = peerlab.load_cluster("ideal-100g").with_figure("nic.rate", 0.01)
    base = of_topology(cluster=slow, nodes=4, message_bytes="1 GiB", slow_nodes={1: 0.5})
    table = peerlab.sweep(base, jitter=[0.1, 2.0], seed=[1, 2], progress=False)
    alone = [peerlab.simulate(base.with_(seed=seed, jitter=0.1)).time_s for seed in (1, 2)]
    assert table["time_s"].tolist()[:2] == alone
    assert table["error"].str.contains("longer than the simulation can count").tolist()[2:] == [True, True]


@examples(part=2)
@given(
    cluster=st.sampled_from(["alps-gh200", "infiniband-hdr-a100", "juliet", "p5"]),
    nodes=st.integers(2, 5),
    nbytes=st.sampled_from([1, 1000, 65536, 10**6 + 3]),
    slices=st.sampled_from(["auto", None, 5000]),
    window=st.sampled_from([None, 1, 3]),
    dependency=st.sampled_from(["slice", "step"]),
    prefetch=st.booleans(),
    buffers=st.integers(1, 2),
    collective=st.sampled_from(["allreduce", "allgather", "reduce-scatter"]),
    jitter=st.sampled_from([0.0, 0.2, 1.0]),
    slow=st.sampled_from([None, {1: 0.13}]),
)
def test_with_a_warm_cache_it_gives_the_spans_and_hits_of_the_referee(
    cluster, nodes, nbytes, slices, window, dependency, prefetch, buffers, collective, jitter, slow
):
    scenario = of_topology(
        cluster=cluster,
        path="peer-direct",
        nodes=nodes,
        message_bytes=nbytes,
        slice_bytes=slices,
        window=window,
        dependency=dependency,
        prefetch=prefetch,
        buffers=buffers,
        collective=collective,
        jitter=jitter,
        slow_nodes=slow,
    )
    try:
        arrays = peerlab.simulate(scenario, engine="arrays", every_node=True)
    except OrderUnknownError:  # known only when it has run
        assume(False)
    referee = peerlab.simulate(scenario, engine="referee", every_node=True)
    assert identity(arrays) == identity(referee)
    assert arrays.registration == referee.registration
    assert arrays.registration.hits > arrays.registration.misses == 0
    assert arrays.iterations == referee.iterations  # the cold ones too, which it leaves to the loop
    assert figures(arrays) == figures(referee)


def behind_a_switch(devices, nics):
    """Return a DL1 with so many devices and NICs behind each PCIe switch."""
    machine = peerlab.load_cluster("dl1")
    for key, count in {"node.devices_per_switch": devices, "node.nics_per_switch": nics}.items():
        machine = machine.with_figure(key, count)
    return machine


NICS_UNEVENLY_SHARED = behind_a_switch(3, 2)


@examples(part=2)
@given(
    cluster=st.sampled_from(["dl1", "p4d", "roce-100g-a100", behind_a_switch(4, 2), behind_a_switch(3, 1)]),
    nodes=st.integers(2, 5),
    nbytes=st.sampled_from([1, 777, 65536, 10**6 + 3, 2**22]),
    slices=st.sampled_from(["auto", None, 5000]),
    window=st.sampled_from([None, 1, 3]),
    dependency=st.sampled_from(["slice", "slice", "step"]),
    registration=st.sampled_from(["cached", "pool"]),
    prefetch=st.booleans(),
    collective=st.sampled_from(["allreduce", "allgather", "reduce-scatter"]),
    jitter=st.sampled_from([0.0, 0.02, 0.2, 1.0]),
    slow=st.sampled_from([None, {1: 0.5}, {0: 0.13}]),
)
def test_where_devices_share_a_nic_it_gives_the_spans_of_the_referee_or_says_that_it_cannot(
    cluster, nodes, nbytes, slices, window, dependency, registration, prefetch, collective, jitter, slow
):
    scenario = of_topology(
        cluster=cluster,
        path="peer-direct",
        nodes=nodes,
        message_bytes=nbytes,
        slice_bytes=slices,
        window=window,
        dependency=dependency,
        registration=registration,
        prefetch=prefetch,
        collective=collective,
        jitter=jitter,
        slow_nodes=slow,
    )
    referee = peerlab.simulate(scenario, engine="referee", every_node=True)
    try:
        arrays = peerlab.simulate(scenario, engine="arrays", every_node=True)
    except OrderUnknownError:
        auto = peerlab.simulate(scenario, every_node=True)
        assert auto.engine == "loop"
        assert identity(auto) == identity(referee)
        return
    assert identity(arrays) == identity(referee)
    assert arrays.registration == referee.registration
    assert figures(arrays) == figures(referee)
    # one PCIe switch of every node stands for the others, and adds up to the same figures
    least = peerlab.simulate(scenario, engine="arrays")
    assert figures(least) == figures(referee)
    assert least.trace.one_switch == (not jitter)
    assert least.busy == {kind: pytest.approx(share) for kind, share in referee.busy.items()}


OVERTAKEN = of_topology(
    path="peer-direct", nodes=4, message_bytes="4 MiB", slice_bytes="64 KiB", dependency="step"
)
"""In blocking code the first device comes to its next step while the second still sends slices of this one."""


def test_where_a_slice_overtakes_one_of_an_earlier_step_the_loop_takes_over():
    slow = OVERTAKEN.with_(slow_nodes={0: 0.13})
    assert not refuses(least(slow))
    with pytest.raises(ScenarioError, match=r"'arrays' cannot run this: slices come in an order"):
        peerlab.simulate(slow, engine="arrays")
    run, referee = peerlab.simulate(slow), peerlab.simulate(slow, engine="referee")
    assert run.engine == "loop"
    assert identity(run) == identity(referee)


def test_slices_that_come_in_one_instant_come_in_the_rounds_of_the_referee():
    """A device's link is as fast as a NIC, so that one slice leaves the link at the instant in which another comes to the NIC."""
    machine = behind_a_switch(4, 2).with_figure("device.pcie", 12.5).with_figure("nic.rate", 12.5)
    scenario = of_topology(
        cluster=machine, path="peer-direct", nodes=5, message_bytes="64 KiB", slice_bytes=5000, window=2
    )
    with pytest.raises(OrderUnknownError):
        peerlab.simulate(scenario, engine="arrays")
    run, referee = (
        peerlab.simulate(scenario, engine=engine, every_node=True) for engine in ("auto", "referee")
    )
    assert identity(run) == identity(referee)


def test_of_runs_side_by_side_only_those_are_given_to_the_loop_that_the_arrays_cannot_run(monkeypatch):
    scenarios = [
        of_topology(
            path="peer-direct", nodes=4, message_bytes="4 MiB", slice_bytes="64 KiB", jitter=jitter, seed=seed
        )
        for seed in range(4)
        for jitter in (0.1, 1.0)
    ]
    alone = [peerlab.simulate(one) for one in scenarios]
    assert {run.engine for run in alone} == {"arrays", "loop"}
    made = counted_calls(monkeypatch)
    together = SideBySide(scenarios)
    runs = [together.run(index) for index in range(len(scenarios))]
    assert made == [8]  # and the loop takes the rest
    assert [run.as_dict() for run in runs] == [run.as_dict() for run in alone]
    assert [identity(run) for run in runs] == [identity(run) for run in alone]


def arrived(came, past=0, round_=1):
    """Return slices of four lanes that come at these times, are through upstream at `past`, and come in a round of their instant."""
    return Arrived(*(np.broadcast_to(np.array([values]), (1, 4)) for values in (came, past, round_)))


def test_a_shared_nic_serves_whom_comes_first_and_of_those_who_come_together_the_lowest_lane():
    order = ServiceOrder(
        users_of(np.array([7, 9, 7, 9])), 1
    )  # lanes 0 and 2 share one NIC, 1 and 3 the other
    work = np.array([10, 10, 20, 20])
    start, end, state = order.serve(None, arrived([5, 5, 3, 5]), work)
    assert start.tolist() == [[23, 5, 3, 15]]
    assert end.tolist() == [[33, 15, 23, 35]]
    assert order.held.all()
    # the next slices come behind those, and no earlier than they came
    start, _, state = order.serve(state, arrived([5, 40, 6, 40]), work)
    assert start.tolist() == [[33, 40, 43, 50]]
    assert order.held.all()
    order.serve(state, arrived([50, 39, 50, 60]), work)
    assert not order.held.any()


def test_a_shared_nic_holds_a_slice_until_the_resource_upstream_is_through():
    order = ServiceOrder(users_of(np.array([7, 9, 7, 9])), 1)
    start, end, _ = order.serve(None, arrived([0, 0, 5, 5], past=[50, 0, 0, 0]), np.array([10, 10, 10, 10]))
    assert start.tolist() == [[0, 0, 50, 10]]
    assert end.tolist() == [[50, 10, 60, 20]]


def test_of_slices_that_come_together_the_one_of_the_earlier_round_is_served_first():
    order = ServiceOrder(users_of(np.array([7, 9, 7, 9])), 1)
    start, _, _ = order.serve(None, arrived([5, 5, 5, 5], round_=[2, 1, 1, 1]), np.array([10, 10, 10, 10]))
    assert start.tolist() == [[15, 5, 5, 15]]


def test_a_slice_in_the_last_round_of_its_instant_is_served_before_one_a_picosecond_later():
    """An instant has a round for each resource of a stage at most; of 15, none reaches into the next picosecond."""
    order = ServiceOrder(users_of(np.array([7, 9, 7, 9])), 1)
    start, _, _ = order.serve(None, arrived([6, 5, 5, 6], round_=[1, 15, 15, 1]), np.array([10, 10, 10, 10]))
    assert start.tolist() == [[15, 5, 5, 15]]
    assert order.held.all()


@pytest.mark.parametrize("cluster", known_clusters())
def test_no_stage_has_more_resources_than_an_instant_has_rounds(cluster):
    for path in peerlab.load_cluster(cluster).paths:
        legs = least(of_topology(cluster=cluster, path=path)).legs(0, 0)[0]
        assert 0 < max(len(leg.visits) for leg in legs) < 15, path


@pytest.fixture
def without_numba(monkeypatch):
    """Have no compiled loop, which `auto` takes for large runs where numba is installed."""
    monkeypatch.setattr("peerlab.engine.compiled.refusals.installed", lambda: False)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"cluster": "dl1"}, "queue for one resource"),
        ({"cluster": NICS_UNEVENLY_SHARED, "path": "peer-direct"}, "more devices share one NIC than another"),
        ({"cluster": "p5", "path": "peer-direct", "registration": "per-transfer"}, "queue for registration"),
        ({"cluster": "p5", "path": "peer-direct", "iterations": 1}, "queue for registration"),
        ({"cluster": "p5", "path": "peer-direct", "cache_regions": 4}, "queue for registration"),
        ({"cluster": "ideal-100g-backbone"}, "queue for one resource"),
        ({"cluster": "ideal-100g", "algorithm": "pairwise"}, "no ring"),
        ({"cluster": "ideal-100g", "collective": "point-to-point"}, "no ring"),
    ],
)
@pytest.mark.usefixtures("without_numba")
def test_what_it_cannot_say_exactly_it_refuses(fields, why):
    scenario = of_topology(jitter=0.1, **fields)
    assert why in refuses(least(scenario))
    with pytest.raises(ScenarioError, match="'arrays' cannot run this"):
        peerlab.simulate(scenario, engine="arrays")
    assert peerlab.simulate(scenario).engine == "loop"  # auto does not ask it


NODE, SWITCH, DEVICE = "a switch of a node", "a switch of every node", "every device"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("fields", "engine", "holds"),
    [
        ({"cluster": "ideal-100g"}, "loop", NODE),
        ({"cluster": "ideal-100g", "jitter": 0.1}, "arrays", DEVICE),
        ({"cluster": "ideal-100g", "slow_nodes": {3: 0.5}}, "arrays", SWITCH),
        ({"cluster": "ideal-100g", "algorithm": "binary-tree"}, "loop", SWITCH),
        ({"slow_nodes": {3: 0.5}}, "loop", SWITCH),
        ({"path": "peer-direct", "slow_nodes": {3: 0.5}}, "arrays", SWITCH),
        ({"path": "peer-direct", "slow_nodes": {3: 0.13}, "dependency": "step"}, "loop", SWITCH),
        ({"path": "peer-direct", "jitter": 0.1}, "arrays", DEVICE),
        ({"cluster": "p5", "path": "peer-direct"}, "loop", NODE),
        ({"cluster": "p5", "path": "peer-direct", "jitter": 0.1}, "arrays", DEVICE),
        (
            {"cluster": "p5", "path": "peer-direct", "jitter": 0.1, "registration": "per-transfer"},
            "loop",
            DEVICE,
        ),
        ({"jitter": 0.1}, "loop", DEVICE),
        ({"collective": "point-to-point"}, "loop", DEVICE),
    ],
)
@pytest.mark.usefixtures("without_numba")
def test_auto_takes_the_fastest_engine_that_is_exact_and_simulates_the_least_that_is(fields, engine, holds):
    run = peerlab.simulate(of_topology(**fields))
    assert run.engine == engine
    assert holds == (NODE if run.trace.folded else SWITCH if run.trace.one_switch else DEVICE)


@pytest.mark.parametrize("engine", ["auto", "referee", "loop", "arrays"])
def test_every_node_is_in_the_trace_where_it_is_asked_for(engine):
    ring = of_topology(cluster="ideal-100g", nodes=5, message_bytes="64 KiB")
    run = peerlab.simulate(ring, engine=engine, every_node=True)
    assert set(run.recording.spans["node"].tolist()) == {0, 1, 2, 3, 4}
    assert not run.recording.blocks  # and every step
    assert run.engine == ("arrays" if engine == "auto" else engine)
    assert run.time_ps == peerlab.simulate(ring).time_ps


def test_an_unknown_engine_and_a_switch_that_is_none_are_refused():
    with pytest.raises(peerlab.PeerlabError, match=r"^every_node: 'no' is neither True nor False"):
        peerlab.simulate(RING, every_node="no")
    with pytest.raises(peerlab.PeerlabError, match=r"^engine: unknown \['loop'\]; did you mean 'loop'"):
        peerlab.simulate(RING, engine=["loop"])


def test_a_large_jittered_run_makes_its_spans_only_when_they_are_asked_for():
    run = peerlab.simulate(RING.with_(nodes=170))
    assert "_columns" not in vars(run.recording.spans)
    assert run.time_s > 0
    assert len(run.recording.spans["start"]) == 170 * 338 * 3  # sent, received and in flight
    assert run.bottleneck is not None


def test_of_a_very_large_run_the_slowest_node_and_its_neighbours_are_recorded():
    run = peerlab.simulate(RING.with_(nodes=512, slow_nodes={100: 0.5}))
    assert sorted(set(run.recording.spans["node"].tolist())) == [99, 100, 101]
    assert run.bottleneck.kind in ("nic_tx", "nic_rx")
    every = peerlab.simulate(run.scenario, every_node=True)
    assert len(set(every.recording.spans["node"].tolist())) == 512
    with pytest.raises(ScenarioError, match="million spans"):
        peerlab.simulate(of_topology(nodes=1024, jitter=0.1))


@pytest.mark.parametrize("fields", [{"slow_nodes": {0: 0.13}}, {"jitter": 1.0}])
def test_where_nodes_differ_the_loop_too_leaves_the_cold_run_until_somebody_asks(monkeypatch, fields):
    loops, run = [], Loop.run

    def counting(self, watch=None):
        loops.append(self)
        return run(self, watch)

    monkeypatch.setattr(Loop, "run", counting)
    ran = peerlab.simulate(OVERTAKEN.with_(**fields))
    assert ran.engine == "loop"
    assert len(loops) == 1
    assert ran.iterations == peerlab.simulate(ran.scenario, engine="referee").iterations
    assert len(loops) == 3
