"""Laws that every trace obeys, whatever was simulated."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.lanes import lane_name
from peerlab.base.units import PS_PER_S
from peerlab.picture.picture import Picture
from peerlab.picture.timeline import timeline

scenarios = st.builds(
    peerlab.Scenario,
    nodes=st.integers(1, 12),
    path=st.sampled_from(["host-rdma", "host-tcp", "peer-direct"]),
    registration=st.sampled_from(["cached", "per-transfer", "pool"]),
    message_bytes=st.integers(1, 2**24),
    slice_bytes=st.sampled_from(["auto", None, 100_000]),
    window=st.sampled_from([None, 1, 4]),
    dependency=st.sampled_from(["auto", "step"]),
    collective=st.sampled_from(["allreduce", "allgather", "reduce-scatter"]),
)


@given(scenarios)
def test_no_exclusive_resource_serves_two_at_once(scenario):
    trace = peerlab.simulate(scenario).trace
    spans = trace.last.unrolled
    for index, resource in enumerate(trace.resources):
        if not resource.shared and resource.kind != "wire" and resource.servers == 1:
            mine = spans["resource"] == index
            order = np.argsort(spans["start"][mine], kind="stable")
            starts, ends = spans["start"][mine][order], spans["end"][mine][order]
            assert (starts[1:] >= ends[:-1]).all(), resource


@given(scenarios)
def test_no_shared_resource_carries_more_than_its_capacity(scenario):
    trace = peerlab.simulate(scenario).trace
    spans, weights = trace.last.spans, trace.last.weights
    for index, resource in enumerate(trace.resources):
        if resource.shared:
            mine = spans["resource"] == index
            nbytes = int((spans["nbytes"][mine] * weights[mine]).sum()) * resource.copies
            assert nbytes * PS_PER_S <= resource.capacity_Bps * trace.last.end_ps


@given(scenarios)
def test_spans_begin_after_they_queue_and_end_within_the_run(scenario):
    trace = peerlab.simulate(scenario).trace
    spans = trace.last.unrolled
    assert (spans["queued"] <= spans["start"]).all()
    assert (spans["start"] <= spans["end"]).all()
    assert spans["end"].max(initial=0) <= trace.last.end_ps


@given(scenarios)
def test_a_slice_goes_through_its_stages_in_order_and_no_step_runs_ahead_of_its_data(scenario):
    trace = peerlab.simulate(scenario).trace
    spans = trace.last.unrolled
    names = [stage.name for stage in scenario.stages] + ["reduce"]
    begins, ends = {}, {}
    for i in range(len(spans["start"])):
        stage = trace.stages[spans["stage"][i]]
        if stage in names:
            key = (*tuple(int(spans[c][i]) for c in ("device", "step", "slice")), stage)
            begins[key] = min(begins.get(key, spans["start"][i]), spans["start"][i])
            ends[key] = max(ends.get(key, 0), spans["end"][i])
    for (device, step, piece, stage), begin in begins.items():
        position = names.index(stage)
        if position:
            assert begin >= ends[device, step, piece, names[position - 1]]
        elif step and scenario.schedule_name != "pairwise":  # there each step sends a device's own data
            before = [ends[key] for name in names if (key := (device, step - 1, piece, name)) in ends]
            assert begin >= max(before)


@given(scenarios)
def test_the_critical_path_accounts_for_every_picosecond(scenario):
    run = peerlab.simulate(scenario)
    path = run.critical_path
    assert path[0].start_ps == 0
    assert path[-1].end_ps == run.time_ps
    assert all(a.end_ps == b.start_ps for a, b in itertools.pairwise(path))
    assert sum(run.breakdown().values()) == pytest.approx(run.time_s, rel=1e-12)


@given(scenarios)
def test_busy_shares_by_lane_are_the_same_by_name_and_in_order(scenario):
    run = peerlab.simulate(scenario)
    named = run.busy_lanes()
    assert named == {lane_name(kind): share for kind, share in run.busy.items()}
    assert len(named) == len(run.busy)  # no two lanes have one name
    assert list(named.values()) == sorted(named.values(), reverse=True)


def test_lanes_have_the_names_that_the_timeline_and_the_way_use():
    run = peerlab.simulate(peerlab.Scenario(cluster="dl1", nodes=8, path="host-rdma"))
    shown = {lane["label"] for lane in timeline(Picture(run))["lanes"]}
    assert {"PCIe to host", "PCIe from host", "NIC send", "NIC receive", "DRAM"} <= shown & set(
        run.busy_lanes()
    )
    assert {"PCIe to host", "NIC send"} <= set(peerlab.way(run.scenario)["crosses"])


def test_a_trace_is_read_only():
    trace = peerlab.simulate(peerlab.Scenario(nodes=2, message_bytes=1000)).trace
    with pytest.raises(ValueError, match="read-only"):
        trace.last.spans["start"][0] = 7
    with pytest.raises(TypeError):
        trace.last.spans["start"] = None


def test_a_frame_names_what_the_columns_index():
    frame = peerlab.simulate(
        peerlab.Scenario(nodes=2, path="peer-direct", message_bytes="1 MiB")
    ).trace.frame()
    assert {"direct", "flight", "reduce", "gather"} <= set(frame["stage"])
    assert {"NIC send", "NIC receive"} <= set(frame["resource"])
    assert frame["start_ps"].is_monotonic_increasing


@pytest.mark.parametrize("fields", [{"path": "peer-direct"}, {"cluster": "ideal-100g", "jitter": 0.1}])
def test_a_run_travels_between_processes(fields):
    run = peerlab.simulate(peerlab.Scenario(nodes=4, message_bytes="1 MiB", **fields))
    copy = pickle.loads(pickle.dumps(run))  # noqa: S301
    assert copy.as_dict() == run.as_dict()
    assert copy.breakdown() == run.breakdown()
    assert all((copy.recording.spans[name] == values).all() for name, values in run.recording.spans.items())
    with pytest.raises(ValueError, match="read-only"):
        copy.recording.spans["start"][0] = 1


@pytest.mark.usefixtures("anew")
def test_figures_do_not_simulate_the_cold_run_unless_its_time_is_asked_for():
    run = peerlab.simulate(peerlab.Scenario(nodes=4, path="peer-direct", message_bytes="1 MiB"))
    figures = run.as_dict()
    assert "iteration_times_s" not in figures
    assert "iterations" not in {*vars(run), *vars(run.trace)}
    with_times = run.as_dict(iteration_times=True)
    cold, warm = with_times.pop("iteration_times_s")
    assert cold > warm == figures["time_s"]
    assert with_times == figures
