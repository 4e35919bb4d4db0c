"""The explorer without a browser: what its controls mean, and what it does with what it is given."""

import asyncio
import importlib
import re

import pytest

import peerlab
from peerlab.app import explorer, runs
from peerlab.app.explore import explore


@pytest.fixture
def lab():
    one = explore()
    yield one
    one.close()


def test_it_starts_on_the_detour(lab):
    assert lab.scenario == peerlab.Scenario(path="host-rdma")
    assert lab.figures.data["meta"]["code"] == "peerlab.Scenario(path='host-rdma')"
    assert lab.figures.curves["axis"] == "nodes"


def test_without_widgets_it_is_its_run_in_words(lab):
    told = lab._repr_mimebundle_()["text/plain"]
    assert told == f"{lab.run!r}\nThe live lab needs a notebook with widgets."


def test_the_host_switch_returns_to_the_detour_chosen_last(lab):
    lab.controls.baseline.value = "host-tcp"
    assert lab.scenario.path == "host-tcp"
    lab.controls.host.value = False
    assert lab.scenario.path == "peer-direct"
    lab.controls.host.value = True
    assert lab.scenario.path == "host-tcp"


def test_beside_each_figure_goes_what_it_was_before(lab):
    lab.controls.host.value = False
    staged, direct = (peerlab.simulate(peerlab.Scenario(path=path)) for path in ("host-rdma", "peer-direct"))
    data = lab.figures.data
    now, then = (
        {card["name"]: card for card in cards}["busbw"]
        for cards in (data["views"]["headline"]["cards"], data["before"])
    )
    assert (now["amount"], then["amount"]) == (direct.busbw_GBps, staged.busbw_GBps)


@pytest.mark.parametrize("text", ["0", "-1", "2.5", "many", "1e3", "99999999999999999999", ""])
def test_an_impossible_number_is_refused_and_the_scenario_stays(lab, text):
    before = lab.scenario
    lab.controls.nodes_text.value = text
    assert lab.scenario is before
    assert "nodes" in lab.controls.error.value


@pytest.mark.parametrize(
    "text", ["", "64 MB/s", "NaN", "inf MiB", "-1 MiB", "0", "<b>1</b>", "1e400", "9" * 4000]
)
def test_an_impossible_size_is_refused_and_the_scenario_stays(lab, text):
    before = lab.scenario
    lab.controls.size_text.value = text
    assert lab.scenario is before
    assert "message_bytes" in lab.controls.error.value
    assert "<b>" not in lab.controls.error.value


def test_another_cluster_brings_a_path_that_it_has_and_undo_brings_back_everything(lab):
    lab.controls.host.value = False
    lab.controls.cluster.value = "ideal-100g"
    assert lab.scenario.path == "wire"
    assert lab.controls.host.disabled
    lab._command("undo")
    assert lab.scenario == peerlab.Scenario(path="peer-direct")
    assert lab.controls.cluster.value == "dl1"


def test_an_unknown_command_of_a_page_is_ignored(lab):
    before = lab.scenario
    for command in ("", "explode", "axis", None):
        lab.figures._receive(None, {"kind": "command", "command": command, "value": {"a": 1}}, [])
    lab.figures._receive(None, {}, [])
    assert lab.scenario is before
    assert lab.controls.error.value == ""


def test_every_scenario_the_lab_shows_can_be_pasted_as_python(lab):
    lab.controls.host.value = False
    lab.controls.cache.value = False
    lab.controls.nodes_text.value = "12"
    lab.controls.size_text.value = "100 MB"
    code = lab.figures.data["meta"]["code"]
    assert eval(code, {"peerlab": peerlab}) == lab.scenario  # noqa: S307  (our own words)


def test_a_cell_that_runs_again_closes_the_lab_it_showed(monkeypatch):
    module = importlib.import_module("peerlab.app.explore")
    monkeypatch.setattr(module, "_cell", lambda: "cell-1")
    first = explore()
    second = explore(nodes=4)
    assert first.comm is not None  # a page may be restoring it
    second.figures._receive(None, {"kind": "seen"}, [])
    assert first.comm is None
    assert second.comm is not None
    third = explore()
    fourth = explore()
    assert second.comm is None  # nobody saw the third: never more than one waits
    assert third.comm is not None
    fourth.figures.seen()
    assert third.comm is None
    fourth.close()


def test_an_impossible_start_is_an_error_that_names_the_field():
    with pytest.raises(peerlab.PeerlabError, match="nodes: 0 is out of range"):
        explore(nodes=0)
    with pytest.raises(peerlab.PeerlabError, match="nodez: unknown field; did you mean 'nodes'"):
        explore(nodez=4)


def test_more_race_many_runs_and_log_open_one_at_a_time(lab):
    lab._changed({"nodes": 2, "message_bytes": 1024}, "other")  # of which many runs take no time
    own = lab.controls.log, lab.controls.racing, lab.controls.tailing
    toggles = [lab.controls.more, *(one.toggle for one in own)]
    panels = [lab.controls.rare.row, *(one.panel for one in own)]
    for one in toggles:
        one.value = True
        assert [toggle.value for toggle in toggles] == [toggle is one for toggle in toggles]
        assert [panel.layout.display != "none" for panel in panels] == [toggle is one for toggle in toggles]
    toggles[-1].value = False
    assert [panel.layout.display for panel in panels] == ["none"] * 4


def test_a_long_simulation_is_forecast_leaves_the_kernel_free_and_can_be_cancelled(monkeypatch):
    """With settings like these the kernel once answered nothing for 8 to 34 seconds."""

    monkeypatch.setattr(runs, "_LONG_S", 0.1)
    monkeypatch.setattr(explorer, "PATIENCE_S", 0.0)

    async def asked():
        one = peerlab.explore(cluster="g4dn-8xlarge", nodes=2, path="host-tcp")
        one._changed({"nodes": 16, "message_bytes": "256 MiB", "jitter": 0.05}, "more")
        said, turns = one.figures.status["text"], 0
        while one.figures.status["text"] == said:  # the loop turns while the thread simulates
            await asyncio.sleep(0.01)
            turns += 1
        then = one.figures.status["text"]
        one._command("cancel")
        busy, nodes = one.figures.status["busy"], one.scenario.nodes
        one.close()
        return said, then, turns, busy, nodes

    said, then, turns, busy, nodes = asyncio.run(asked())
    assert re.match(r"Simulating( for \d+ s|, [1-9]\d? ?% done), about", then), "nothing of it is done yet"
    assert re.fullmatch(r"Simulating, about \d+ (s|min) in all", said)
    assert turns
    assert (busy, nodes) == (False, 2)
