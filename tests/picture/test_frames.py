"""What the page gets equals the trace, however much of it is left out because it repeats."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.model.resources import RESOURCES
from peerlab.picture.frames import PASSED, Segments, lane_spans, moves, registrations

SCENARIOS = [
    {"path": "host-rdma", "nodes": 48},
    {"path": "peer-direct", "nodes": 64},
    {"path": "peer-direct", "nodes": 33, "registration": "per-transfer"},
    {"path": "peer-direct", "nodes": 17, "cache_regions": 3},
    {"path": "host-tcp", "nodes": 24, "message_bytes": "8 MiB"},
    {"path": "wire", "cluster": "ideal-100g", "nodes": 40, "slice_bytes": "64 KiB"},
    {"path": "host-rdma", "nodes": 3, "window": 1},
]


def written_out(segments: Segments, *times):
    """Return every row, repetitions written out."""
    parts = {name: [] for name in segments.rows}
    for first, last, count, period_ps, period_steps in segments.segments:
        for again in range(count):
            for name, values in segments.rows.items():
                shift = again * (period_ps if name in times else period_steps if name == "step" else 0)
                parts[name].append(values[first:last] + shift)
    return {name: np.concatenate(values) for name, values in parts.items()}


def rows_of(columns, *names):
    return sorted(zip(*(columns[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("fields", SCENARIOS, ids=str)
def test_the_timeline_gets_every_span(fields):
    trace = peerlab.simulate(peerlab.Scenario(**fields)).trace
    lanes = {index: index for index, one in enumerate(trace.resources) if one.node == 0}
    names = ("lane", "device", "step", "slice", "stage", "start", "end", "work")
    got = written_out(lane_spans(trace, lanes), "queued", "start", "done", "end")
    spans = trace.last.unrolled
    spans = {name: values[spans["node"] == 0] for name, values in spans.items()}
    assert rows_of(got, *names) == rows_of({**spans, "lane": spans["resource"]}, *names)


LINKS = {kind.label for kind in RESOURCES.values() if kind.drawn in ("device link", "uplink", "NIC", "wire")}


def expected_moves(run):
    """Return (device, step, slice, stage, and the times of `PASSED`) of every stage of every slice, from the trace's table alone."""
    frame = run.trace.frame()
    frame = frame[(frame["slice"] >= 0) & (frame["node"] == 0)]
    key = ["device", "step", "slice"]
    flights = frame[frame["stage"] == "flight"].set_index(key)[["start_ps", "work_ps"]].T.to_dict("list")
    apart = {
        run.trace.stages[number] for number in run.recording.whole
    }  # adding up that does not repeat with the rest
    shown = [name for name in (*(stage.name for stage in run.scenario.stages), "reduce") if name not in apart]
    for (stage, *own), every in frame[frame["stage"].isin(shown)].groupby(["stage", *key]):
        links = every[every["resource"].isin(LINKS)]
        spans = links if len(links) else every
        both = list(zip(spans["start_ps"], spans["end_ps"], strict=True))
        start, through = min(begin for begin, _ in both), max(end for _, end in both)
        sent = received = start
        left = landed = through
        if stage in ("network", "direct", "wire") and tuple(own) in flights:
            sent, latency = flights[tuple(own)]
            arrives = [one for one in both if one[0] >= sent + latency]
            received, landed = min(begin for begin, _ in arrives), min(end for _, end in arrives)
            left = max(end for begin, end in both if begin < sent + latency)
        turned, freed = max(begin for begin, _ in both), min(end for _, end in both)
        yield (
            *own,
            stage,
            start,
            freed,
            sent,
            left,
            received,
            landed,
            turned,
            through,
        )


@pytest.mark.parametrize("fields", SCENARIOS, ids=str)
def test_the_data_path_gets_every_stage_of_every_slice_and_when_it_passes_each_part(fields):
    run = peerlab.simulate(peerlab.Scenario(**fields))
    got = written_out(moves(run.trace), "enter", *PASSED, "until")
    names = np.array(run.trace.stages)
    rows = zip(
        *(got[name].tolist() for name in ("device", "step", "slice")),
        names[got["stage"]].tolist(),
        *(got[name].tolist() for name in PASSED),
        strict=True,
    )
    assert sorted(rows) == sorted(expected_moves(run))
    begins, ends = (
        ("enter", "start", "sent", "received", "turned", "through"),
        ("freed", "left", "through", "until"),
    )
    for earlier, later in (*itertools.pairwise(begins), *itertools.pairwise(ends), ("landed", "through")):
        assert (got[earlier] <= got[later]).all(), (earlier, later)


def test_a_span_of_the_timeline_says_when_its_own_work_would_be_done():
    """NIC receive needs 10.5 us for 128 KiB and has them for 11.7, until the sender's NIC was through and the latency over."""
    run = peerlab.simulate(peerlab.Scenario(library="none", nodes=4, message_bytes="32 MiB"))
    lanes = {
        i: i for i, one in enumerate(run.trace.resources) if one.kind in ("nic_rx", "wire") and one.node == 0
    }
    rows = lane_spans(run.trace, lanes).rows
    mine = (rows["device"] == 0) & (rows["step"] == 1) & (rows["slice"] == 3)
    kinds = [run.trace.resources[lane].kind for lane in rows["lane"][mine].tolist()]
    times = {
        kind: tuple(int(rows[name][mine][row] - rows["start"][mine][row]) for name in ("done", "end"))
        for row, kind in enumerate(kinds)
    }
    assert times == {"nic_rx": (10_485_760, 11_704_113), "wire": (25_704_113, 25_704_113)}


@pytest.mark.parametrize("collective", ["allreduce", "alltoall"])
@pytest.mark.parametrize("path", ["host-rdma", "host-tcp", "peer-direct"])
def test_the_timeline_gets_every_span_of_many_steps_that_overlap(path, collective):
    """Of a pairwise exchange 16 steps are under way; when no more begin, the last of them end otherwise than those before."""
    trace = peerlab.simulate(peerlab.Scenario(path=path, nodes=64, collective=collective)).trace
    assert trace.last.blocks
    got = written_out(lane_spans(trace, {i: i for i in range(len(trace.resources))}), "start", "end", "done")
    names = ("device", "step", "stage", "resource", "start", "end")
    assert rows_of(got, *names) == rows_of(trace.last.unrolled, *names)


@pytest.mark.parametrize("registration", ["cached", "per-transfer"])
def test_the_table_gets_every_registration_of_the_first_nic(registration):
    trace = peerlab.simulate(peerlab.Scenario(path="peer-direct", nodes=40, registration=registration)).trace
    names = ("device", "step", "side", "kind", "start", "end")
    real = trace.last.unrolled_registrations
    nic = real["nic"].min()
    real = {name: values[real["nic"] == nic] for name, values in real.items()}
    got = written_out(registrations(trace), "start", "end")
    assert rows_of(got, *names) == rows_of(real, *names)


@given(
    nodes=st.integers(2, 70),
    path=st.sampled_from(["host-rdma", "peer-direct", "host-tcp"]),
    size=st.integers(1, 2**27),
)
def test_no_row_is_lost_whatever_the_size(nodes, path, size):
    run = peerlab.simulate(peerlab.Scenario(nodes=nodes, path=path, message_bytes=size))
    segments = moves(run.trace)
    total = sum((last - first) * times for first, last, times, *_ in segments.segments)
    assert total == sum(1 for _ in expected_moves(run))
