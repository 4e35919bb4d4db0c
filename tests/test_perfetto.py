"""The trace for ui.perfetto.dev, checked against the Trace Event Format and against the spans."""

import itertools
import json

import pytest

import peerlab

QUESTIONS = {
    "the detour": {"path": "host-rdma"},
    "peer direct": {"path": "peer-direct"},
    "kernel TCP": {"path": "host-tcp"},
    "a slow node": {"path": "host-rdma", "slow_nodes": {1: 0.5}},
    "a leaf-spine": {"cluster": "ideal-100g-leafspine-2to1", "placement": (0, 8, 1, 9)},
}


@pytest.fixture(params=QUESTIONS.values(), ids=QUESTIONS)
def run(request):
    return peerlab.simulate(peerlab.Scenario(**request.param, nodes=4, message_bytes="8 MiB"))


def written(run, tmp_path):
    run.to_perfetto(tmp_path / "run.json")
    return json.loads((tmp_path / "run.json").read_text())


def test_every_span_of_every_iteration_is_one_complete_event(run, tmp_path):
    spans = [event for event in written(run, tmp_path)["traceEvents"] if event["ph"] == "X"]
    expected = []
    for number, iteration in enumerate(run.trace.iterations):
        frame = run.trace.frame(number)
        starts = (frame["start_ps"] + iteration.begin_ps) / 1e6
        expected += zip(frame["stage"], starts, (frame["end_ps"] - frame["start_ps"]) / 1e6, strict=True)
    assert sorted((one["name"], one["ts"], one["dur"]) for one in spans) == sorted(expected)


def test_it_keeps_to_the_format(run, tmp_path):
    document = written(run, tmp_path)
    assert set(document) == {"displayTimeUnit", "otherData", "traceEvents"}
    named, processes = {}, {}
    for event in document["traceEvents"]:
        assert event["ph"] in "XM"
        assert isinstance(event["pid"], int)
        if event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        if event["name"] == "thread_name":
            named[event["pid"], event["tid"]] = event["args"]["name"]
        if event["ph"] == "X":
            assert (event["pid"], event["tid"]) in named  # names come before spans
            assert event["dur"] >= 0
    assert {"NIC send", "NIC receive", "in flight"} <= set(named.values())
    assert processes[0].startswith("node 0")
    assert ("fabric" in processes.values()) == any("leaf" in name for name in named.values())


def test_spans_of_a_thread_never_overlap(run, tmp_path):
    threads = {}
    for event in written(run, tmp_path)["traceEvents"]:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
    for spans in threads.values():
        spans.sort()
        for (start, length), (following, _) in itertools.pairwise(spans):
            assert start + length <= following + 1e-6  # a picosecond


def test_an_event_tells_work_and_time_held_apart(tmp_path):
    """NIC receive needs 10.5 us for 128 KiB and has them for 11.7: until the NIC that sends was through and the latency over."""
    run = peerlab.simulate(peerlab.Scenario(library="none", nodes=4, message_bytes="32 MiB"))
    of = {}
    for one in written(run, tmp_path)["traceEvents"]:
        about = one["args"]
        if one["ph"] == "X" and (about["device"], about["step"], about["slice"]) == (0, 2, 3):
            of[one["name"], one["tid"] // 1_000_000 if one["name"] == "network" else 0] = about
    waits = [{key: value for key, value in about.items() if key.endswith("_us")} for about in of.values()]
    assert {"waited_us": 0.0, "work_us": 10.48576, "held_us": 1.218353} in waits
    assert {"waited_us": 0.0, "work_us": 14.0, "sending_us": 11.704113} in waits
    assert {"waited_us": 0.0, "work_us": 9.295887, "held_or_shared_us": 2.408226} in waits
    frame = run.trace.frame()
    assert ((frame["end_ps"] - frame["start_ps"]) == frame["work_ps"] + frame["held_ps"]).all()


def test_a_file_that_cannot_be_written_is_an_error_in_words(run, tmp_path):
    with pytest.raises(peerlab.PeerlabError, match="cannot write"):
        run.to_perfetto(tmp_path / "nowhere" / "run.json")
