"""A training step with switches: what they ask for is what is shown, and what is impossible leaves the last picture."""

import asyncio
import json
import re
from dataclasses import replace
from html import unescape

import pytest

import peerlab
from peerlab.base.errors import WorkloadError
from peerlab.features.step.step_parcel import StepAlbum, headline_of
from peerlab.features.step.step_report import step_html
from peerlab.training.step_band import step_gain


@pytest.fixture
def shown():
    return peerlab.explore_step(workload="resnet50", batch=32, path="host-rdma", library="none")


def test_it_begins_with_what_was_asked_and_peer_direct_beside_it(shown):
    host, direct = shown.runs
    assert host.step == peerlab.Step.of(
        workload="resnet50", batch=32, path="host-rdma", library="none", registration="cached"
    )
    assert direct.step == host.step.with_(path="peer-direct")
    assert shown.page.value.startswith("<iframe srcdoc=")
    assert ".pl-step-controls" in shown.children[0].value  # its style
    assert repr(host) in repr(shown)


def test_what_is_changed_rarely_folds_behind_more(shown):
    """Ten controls in a row stood before the answer."""
    controls = shown.children[1].children
    place = controls.index(shown.more)
    assert [control for control in controls if "pl-step-rare" in control._dom_classes] == list(
        controls[place + 1 :]
    )
    assert (
        ".pl-step-controls:not(:has(> .pl-step-more.mod-active)) > .pl-step-rare:not(.pl-changed)"
        in shown.children[0].value
    )


def test_what_is_not_as_usual_is_not_folded(shown):
    def changed():
        return [control for control in shown.children[1].children if "pl-changed" in control._dom_classes]

    assert changed() == []
    shown.shard.value, shown.overlap.value = "fsdp", False
    assert changed() == [shown.shard, shown.overlap]
    shown.overlap.value = True
    assert changed() == [shown.shard]


@pytest.mark.parametrize(
    ("control", "value", "field"),
    [
        ("batch", 128, "batch"),
        ("passes", 4, "accumulate"),
        ("bucket", "all", "bucket_bytes"),
        ("shard", "fsdp", "shard"),
        ("overlap", False, "overlap"),
    ],
)
def test_a_switch_changes_its_field(shown, control, value, field):
    before = shown.page.value
    getattr(shown, control).value = value
    assert [getattr(one.step, field) for one in shown.runs] == [value, value]
    assert shown.page.value != before


def test_path_cache_and_nodes_are_those_of_the_scenario(shown):
    shown.nodes.value = 4
    shown.path.value = "peer-direct"
    shown.cache.value = False
    (one,) = shown.runs  # beside itself there is nothing to show
    s = one.step.scenario
    assert (s.nodes, s.path, s.registration) == (4, "peer-direct", "per-transfer")
    shown.beside.value = "host-tcp"
    assert [one.step.scenario.path for one in shown.runs] == ["peer-direct", "host-tcp"]


def test_another_workload_has_its_own_type_and_times(shown):
    shown.workload.value = "gpt-1.5b"
    assert {one.step.gradient_dtype for one in shown.runs} == {"bf16"}


def test_what_is_impossible_is_said_and_the_last_picture_stays():
    shown = peerlab.explore_step(workload="resnet50", batch=408, cluster="p4d")
    before = shown.page.value
    shown.workload.value = "bert-large"
    assert "BERT-large" in repr(shown)
    shown = peerlab.explore_step(workload="resnet50", cluster="p5", compute_ms=50)
    before = shown.page.value
    shown.workload.value = "bert-large"
    assert "nobody has told how long a H100 computes on BERT-large" in shown.status.value
    assert shown.page.value == before
    with pytest.raises(WorkloadError, match="batch: 0"):
        peerlab.explore_step(batch=0)


def test_in_a_notebook_it_answers_later(shown):
    async def change():
        before = shown.page.value
        shown.batch.value = 64
        assert shown.page.value == before
        assert "Simulating" in shown.status.value
        await shown._task
        return before

    before = asyncio.run(change())
    assert shown.page.value != before
    assert shown.runs[0].step.batch == 64
    assert shown.status.value == ""
    headline = json.loads(unescape(shown.sure.value.partition("data-headline='")[2].partition("'")[0]))
    assert re.fullmatch(r"\d\.\d\d to \d\.\d\d\u00d7", headline["value"])
    assert re.fullmatch(r"(Simulated: \S+ \(†\)\. )?Exchange alone: \S+\u00d7 as fast\.", headline["note"])
    assert headline["rests"].startswith("Computing hides ")
    assert "by what is assumed about computing" in headline["rests"]


def test_the_simulated_gain_stands_beside_its_range_only_if_no_end_reads_the_same():
    """Above a range of 1.00 to 1.01 it was 1.00 once more."""
    host, direct = (
        peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")
    )
    gain, sure = direct.gain(host), step_gain(direct, host)
    ranges = {
        (gain, gain + 0.5): False,
        (gain - 0.5, gain): False,
        (gain - 0.004, gain + 0.004): False,
        (gain - 0.5, gain + 0.5): True,
    }
    for (low, high), told in ranges.items():
        cluster = replace(sure.cluster, low=low, high=high)
        headline = headline_of(
            [host, direct], replace(sure, cluster=cluster, training_low=gain, training_high=gain)
        )
        assert (f"Simulated: {gain:.2f}\u00d7 (†)." in headline["note"]) is told
        assert "Exchange alone: 1.81\u00d7 as fast." in headline["note"]


def test_what_a_step_rests_on_is_folded_below_its_page():
    """The page above says already that it is simulated, and from how many figures."""
    told = step_html(peerlab.step(peerlab.Step()))
    below = told[told.index("<details>") : told.index("</details>")]
    assert below.startswith("<details><summary>Computing, memory and limits</summary>")
    assert all(f"<b>{lead}</b>" in below for lead in ("Computing:", "Memory:"))


def test_where_nodes_differ_each_lane_says_whose_it_is_and_the_headline_compares_no_waiting():
    """Node 1 waited 0.5 ms on one path, node 0 84 ms on the other; the note said 0.03 times as fast."""
    runs = [peerlab.step(nodes=2, slow_compute={1: 0.5}, path=path) for path in ("host-rdma", "peer-direct")]
    state = StepAlbum().state(runs)
    assert [side["title"].rpartition(", ")[2] for side in state["sides"]] == ["node 1", "node 0"]
    assert "Exchange alone" not in state["headline"]["note"]
