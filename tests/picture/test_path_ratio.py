"""The ratio of two paths as a page gets it, in the lab and in an exported page."""

import peerlab
from peerlab.answer.gain import FELT
from peerlab.app import ratio_in_background
from peerlab.app.explore import explore
from peerlab.app.runs import Runs
from peerlab.base.units import say_gain
from peerlab.features.export.album import Album
from peerlab.features.export.choices import choices
from peerlab.picture.how_sure import how_sure_svg
from peerlab.picture.path_ratio import path_ratio
from peerlab.study.patience import TooSlow

STAGED = peerlab.Scenario(path="host-rdma")


def test_it_is_the_gain_with_its_range_and_what_lies_beside_that():
    slow, fast = (peerlab.simulate(STAGED.with_(path=path)) for path in ("host-rdma", "peer-direct"))
    band = fast.gain_band(slow)
    ratio = path_ratio(slow, fast, band)
    assert (ratio["low"], ratio["value"], ratio["high"]) == (band.low, band.value, band.high)
    felt = [one for one in band.left_out if one.reach >= FELT]
    assert [one["says"] for one in ratio["others"]] == [case.says for one in felt for case in one.cases]
    assert ratio["says"] == band.range_in_words()
    assert ratio["times"] == ["4.38 ms", "2.54 ms"]
    assert ratio["sure"] == how_sure_svg(band, theme="page")
    assert ratio["range"] == say_gain(band.low, band.high)
    assert (ratio["condition"], ratio["kind"]) == (f"if {band.wired[0].says}", "if")
    without = path_ratio(slow, fast, None, pending=True)
    assert (without["condition"], without["kind"], without["pending"]) == (
        "(its range follows)",
        "note",
        True,
    )
    assert not ratio["pending"]
    assert (without["low"], without["sure"]) == (None, "")


def test_the_ratio_of_paths_that_a_slow_node_makes_equally_fast_has_its_own_condition():
    slow, fast = (
        peerlab.simulate(STAGED.with_(path=path, slow_nodes={0: 0.5}))
        for path in ("host-rdma", "peer-direct")
    )
    ratio = path_ratio(slow, fast, fast.gain_band(slow))
    assert ratio["times"] == ["4.91 ms", "4.89 ms"]
    assert (ratio["condition"], ratio["kind"]) == ("depending most on the library's cost per message", "on")


def test_a_range_of_two_equal_ends_is_said_once():
    assert say_gain(1.012, 1.014) == "1.01\u00d7"


def test_a_run_that_takes_no_time_has_none():
    alone = peerlab.simulate(peerlab.Scenario(cluster="ideal-100g", nodes=1))
    assert path_ratio(alone, alone, None) is None


def test_both_paths_of_the_lab_show_the_same_ratio(monkeypatch):
    monkeypatch.setattr(ratio_in_background, "PATIENCE_S", 60)  # others may keep the machine busy
    lab = explore()
    first = lab.figures.ratio
    assert first["of"] == [STAGED.as_code(), STAGED.with_(path="peer-direct").as_code()]
    lab.controls.host.value = False
    assert lab.figures.ratio == first
    lab.controls.nodes_text.value = "4"
    assert lab.figures.ratio["value"] != first["value"]
    lab.controls.cluster.value = "ideal-100g"  # has one path
    assert lab.figures.ratio == {}
    lab.close()


def test_where_noise_takes_too_long_the_ratio_without_it_stands_in_and_says_so(monkeypatch):
    """With jitter one of the two runs took longer than a page waits, and half of the headline's card stayed empty."""
    patiently = Runs.get_patiently

    async def too_slow_with_noise(runs, scenario, most_s, *most_spans):
        if scenario.noise:
            raise TooSlow("every slice of every node")
        return await patiently(runs, scenario, max(most_s, 60), *most_spans)

    monkeypatch.setattr(Runs, "get_patiently", too_slow_with_noise)
    lab = explore(nodes=2, path="peer-direct", jitter=0.05, spread=0.1)
    shown = lab.figures.ratio
    quiet = [peerlab.simulate(peerlab.Scenario(nodes=2, path=path)) for path in ("host-rdma", "peer-direct")]
    assert shown["value"] == path_ratio(*quiet, None)["value"]
    assert shown["without"] == "noise"
    assert lab.scenario.as_code() in shown["of"]
    assert not any(run.scenario.as_code() in shown["of"] for run in quiet), (
        "without noise it is computed anew"
    )
    lab.close()


def test_of_an_exported_page_the_paths_that_it_begins_with_have_a_range():
    shared = choices(STAGED, "host,nodes=4:8")
    album = Album()
    kept = {}
    album.packing.add = lambda parcel, _length: kept.setdefault(len(kept), parcel)
    album.add(STAGED, shared, [0, 1], None)
    states = [one["ratio"] for one in kept.values() if "ratio" in one]
    ranged = {code: ratio["low"] is not None for ratio in states for code in ratio["of"]}
    assert ranged == {
        STAGED.with_(nodes=nodes, path=path).as_code(): nodes == 8
        for nodes in (4, 8)
        for path in ("host-rdma", "peer-direct")
    }
