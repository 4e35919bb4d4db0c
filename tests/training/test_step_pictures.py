"""A step as pictures: lanes, a page that plays it, a still and a Chrome trace, all of what the step did."""

import json
import re
from functools import cache

import pytest
from small_workloads import workload

import peerlab
from peerlab.base.document import Table, Text
from peerlab.base.errors import ExportError
from peerlab.cli import main
from peerlab.features.step.step_document import step_document
from peerlab.features.step.step_page import step_page_html, step_parcel
from peerlab.training.step_picture import alt_text, lanes_of, step_svg


@cache
def host():
    return peerlab.step(workload="resnet50", batch=32, path="host-tcp", library="none")


@cache
def peer():
    return host().answer(host().step.with_(path="peer-direct"))


def test_lanes_are_what_the_step_did():
    lanes = lanes_of(host())
    trace = host().trace
    assert [(box.begin_ps, box.end_ps) for _, box in lanes.computing] == [
        (one.begin_ps, one.end_ps) for one in trace.computed
    ]
    assert [(box.begin_ps, box.end_ps) for box in lanes.in_flight] == [
        (one.begin_ps, one.end_ps) for one in trace.placed
    ]
    late = [one for one in trace.placed if one.begin_ps > one.ready_ps]
    assert (
        [(box.begin_ps, box.end_ps) for box in lanes.waiting]
        == [(one.ready_ps, one.begin_ps) for one in late]
        != []
    )
    assert [box.end_ps for box in lanes.filling] == [one.ready_ps for one in trace.placed]
    assert lanes.exposed == trace.waits
    assert sum(end - begin for begin, end in lanes.exposed) == trace.exposed_ps


def test_the_page_gets_every_exchange_and_a_road_for_each_that_is_another():
    parcel = step_parcel([host(), peer()], {"overlap": [True, False], "batch": [32, 128]})
    assert [len(parcel["states"]), parcel["start"], len(parcel["roads"])] == [4, [0, 0], 10]
    one, two = parcel["states"][0]["sides"]
    assert one["flight"][-1] == [
        time / 1e6
        for time in (
            host().trace.placed[-1].begin_ps,
            host().trace.placed[-1].end_ps,
            host().trace.exposed_of(host().trace.placed[-1]),
        )
    ]
    assert two["end_us"] == peer().time_ps / 1e6
    assert two["names"][0] == "bucket 1, allreduce of 7.82 MiB"
    assert {name["label"]: name["values"] for name in parcel["controls"]} == {
        "overlap": ["on", "off"],
        "batch": ["32", "128"],
    }
    rows = {what: cells for what, *cells in parcel["states"][0]["rows"]}
    assert rows["samples per second"][2] == f"{peer().samples_per_s / host().samples_per_s:.3f}"
    assert parcel["states"][0]["headline"]["value"] == f"{peer().gain(host()):.2f}\u00d7"
    assert parcel["states"][0]["gain"]["here"] == [32, peer().gain(host())]
    assert "USD" not in " ".join(rows)


def test_a_gain_of_about_one_is_not_green():
    """At 128 images a device the exchange is hidden: 1.00 times; at 4 it is not."""
    for batch, good in ((128, False), (4, True)):
        runs = [
            peerlab.step(workload="resnet50", batch=batch, path=path) for path in ("host-rdma", "peer-direct")
        ]
        parcel = step_parcel(runs, {})
        assert parcel["states"][0]["headline"]["good"] is good
    slight = [peerlab.step(workload="resnet50", batch=32, path=path) for path in ("host-rdma", "peer-direct")]
    assert 1 < slight[1].gain(slight[0]) < 1.05
    assert not step_parcel(slight, {})["states"][0]["headline"]["good"]


@pytest.mark.long("printed pages")
def test_a_page_asks_nobody_and_is_one_file(tmp_path):
    path = peerlab.export_html([host(), peer()], tmp_path / "step.html", theme="dark")
    text = path.read_text()
    links = set(re.findall(r"https?://[^\s'\"`)]+", text))
    assert {one for one in links if not one.startswith("http://www.w3.org/")} == set()
    assert "Content-Security-Policy" in text
    for wrong, says in (
        ({"mode": "slide"}, "a training step has no such option; known: controls, layout"),
        ({"layout": "slides"}, "did you mean 'slide'"),
    ):
        with pytest.raises(ExportError, match=says):
            peerlab.export_html(host(), tmp_path / "step.html", **wrong)
    with pytest.raises(ExportError, match="64 states are too many"):
        step_page_html([host()], controls={"batch": list(range(1, 65))})
    small = workload(*[100] * 700)
    long = peerlab.step(workload=small, compute_ms=1, shard="fsdp", path="peer-direct")
    with pytest.raises(ExportError, match="too long for a page"):
        step_page_html([long])


def test_a_still_says_in_words_what_it_shows(tmp_path):
    path = peerlab.export_still([host(), peer()], tmp_path / "step.svg", theme="dark")
    assert alt_text([host(), peer()]) in path.read_text()
    assert "Peer Direct: a step of" in alt_text([host(), peer()])
    assert "var(--" not in path.read_text()
    with pytest.raises(ExportError, match=r"an \.svg of a training step has all of it"):
        peerlab.export_still(host(), tmp_path / "step.svg", moment=0.5)


def test_a_step_with_a_time_of_its_own_has_no_gain_at_other_batches():
    own = [peerlab.step(compute_ms=50, path=path) for path in ("host-tcp", "peer-direct")]
    assert step_parcel(own, {})["states"][0]["gain"] is None
    assert step_parcel(own[:1], {})["states"][0]["headline"]["label"] == "Devices wait for the exchange"


def test_a_chrome_trace_has_lanes_and_spans(tmp_path):
    peer().to_perfetto(tmp_path / "step.json")
    events = json.loads((tmp_path / "step.json").read_text())["traceEvents"]
    flights = [one for one in events if one.get("cat") == "in flight"]
    assert [round(one["ts"] * 1e6) for one in flights] == [one.begin_ps for one in peer().trace.placed]
    spans = [one for one in events if one["ph"] == "X" and one["pid"] == 0]
    assert len(spans) == sum(len(one.run.recording.unrolled["start"]) for one in peer().trace.placed)
    first = peer().trace.placed[0]
    assert min(one["ts"] for one in spans) * 1e6 == pytest.approx(
        first.begin_ps + int(first.run.recording.unrolled["start"].min())
    )
    names = [json.dumps(one) for one in events if one["ph"] == "M"]
    assert len(names) == len(set(names))


def test_a_notebook_plays_it():
    shown = peer()._repr_html_()
    assert shown.count("<iframe srcdoc=") == 1
    assert "seen most first" in shown


def test_the_command_and_a_notebook_say_a_step_in_the_same_words(capsys):
    """What is in the notebook's report and no picture of it stands in the terminal, too."""
    assert main(["step", "--path", "peer-direct", "--nodes", "2", "--exchanges"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    document = step_document([peerlab.step(workload="resnet50", nodes=2, path="peer-direct")], 3)
    assert document.title in printed
    texts = [
        " ".join(f"{part.lead} {part.text}".split()) for part in document.parts if isinstance(part, Text)
    ]
    assert len(texts) >= 3
    assert [text for text in texts if text not in printed] == []
    times, exchanges = (part for part in document.parts if isinstance(part, Table))
    for row in (*times.rows, *exchanges.rows):
        assert " ".join(row) in printed
    noisy = {"compute_jitter": 0.1, "compute_jitter_of": "device"}
    last = step_document([peerlab.step(workload="resnet50", nodes=2, path="peer-direct", **noisy)]).parts[-1]
    assert last.text.startswith("Each device has noise of its own")


def test_a_step_of_a_few_milliseconds_has_round_times_on_its_axis():
    short = peerlab.step(compute_ms=2, nodes=2, path="peer-direct")
    assert re.findall(r">([\d.]+(?: ms)?)</text>", step_svg(short)) == ["0 ms", "1", "2", "3"]
