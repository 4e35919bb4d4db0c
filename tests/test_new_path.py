"""A path that nobody has heard of, described in this file alone, is simulated and shown truthfully everywhere."""

import dataclasses
import json

import numpy as np
import pytest

import peerlab
from peerlab.cluster_file.completeness import check
from peerlab.deck.compared_runs import Evidence
from peerlab.deck.outline import Outline, Plan
from peerlab.deck.slides import slides
from peerlab.export.page import page_html
from peerlab.model.paths import PATHS, DataPath
from peerlab.model.presets import load_cluster
from peerlab.model.resources import RESOURCES, ResourceKind
from peerlab.model.stages import STAGES, Stage, StageKind, Use
from peerlab.places import folder
from peerlab.trace import SPAN_COLUMNS
from peerlab.view.headline import cards
from peerlab.view.payload import payload
from peerlab.view.still import still_svg
from peerlab.view.timeline import lanes
from peerlab.view.words import caption

POOL = "cxl-pool"


def _stages(_cluster, _memory):
    out = Stage(
        "to-pool", (Use("cxl_out", "source"),), flight="latency_ps", acquire="source", release="source"
    )
    return out, Stage("from-pool", (Use("cxl_in", "destination"),))


@pytest.fixture
def scenario(monkeypatch):
    """Return an AllReduce over a memory pool that two CXL links reach: every byte is copied in and out again."""
    link = {"scope": "device", "rate": "device_pcie_Bps", "counts_as": "copy"}
    monkeypatch.setitem(RESOURCES, "cxl_out", ResourceKind(label="CXL link out", **link))
    monkeypatch.setitem(RESOURCES, "cxl_in", ResourceKind(label="CXL link in", **link))
    copy = {"role": "copy", "counts_as": "copy"}
    monkeypatch.setitem(STAGES, "to-pool", StageKind(says="copy to the pool (CXL)", **copy))
    monkeypatch.setitem(STAGES, "from-pool", StageKind(says="copy from the pool (CXL)", **copy))
    record = DataPath(
        title="CXL pool",
        summary="through a pool of memory that both nodes reach",
        way="Slices are copied from {device} memory into the pool and out of it on the other side",
        role="copy",
        stages=_stages,
        needs=("device.pcie",),
        registration=("none", "load and store"),
        cache_rests="The registration cache changes nothing here: the pool is read and written like memory.",
    )
    monkeypatch.setitem(PATHS, POOL, record)
    known = load_cluster("dl1")
    pooled = dataclasses.replace(known, name="pooled", paths=(*known.paths, POOL))
    return peerlab.Scenario(cluster=pooled, nodes=4, path=POOL, message_bytes="16 MiB")


def rows(run):
    spans = run.trace.last.unrolled
    kinds = [one.kind for one in run.trace.resources]
    first = spans["node"] == 0
    columns = [spans[name][first] for name in SPAN_COLUMNS if name != "resource"]
    found = zip(*columns, (kinds[i] for i in spans["resource"][first]), strict=True)
    return sorted(tuple(map(str, row)) for row in found)


def test_all_engines_agree(scenario):
    few = scenario.with_(message_bytes="1 MiB", nodes=3)
    referee = rows(peerlab.simulate(few, engine="referee", every_node=True))
    assert referee
    for engine in ("loop", "arrays"):
        assert rows(peerlab.simulate(few, engine=engine, every_node=True)) == referee, engine
    assert peerlab.simulate(few).time_ps == peerlab.simulate(few, engine="referee", every_node=True).time_ps


def test_figures_speak_of_what_it_uses(scenario):
    run = peerlab.simulate(scenario)
    assert run.busy["cxl_out"] > 0.5
    assert run.copies_per_byte == pytest.approx(2)
    assert run.wire_busy == 0
    said = {card["name"]: f"{card['value']} {card['note']}" for card in cards(run)}
    assert said["busbw"].strip() == "CXL pool: no NIC, no port"
    assert said["copies"].startswith("2 ")
    assert said["registration"] == "none load and store"
    assert np.isnan(peerlab.analysis.metrics.wire_limit_GBps(scenario))
    assert list(peerlab.way(scenario)["crosses"]) == ["CXL link out", "CXL link in"]
    assert set(run.sensitivity()["figure"]) <= scenario.hardware.figures.keys()
    assert "fabric.latency" in set(run.sensitivity()["figure"])
    assert run.gain_band(peerlab.simulate(scenario.with_(path="host-rdma"))).value > 1


def test_pictures_show_it_or_say_that_they_do_not(scenario):
    run = peerlab.simulate(scenario)
    assert {"CXL link out", "CXL link in"} <= {lane.label for lane in lanes(run)}
    parcel = payload(run)
    assert {"copy to the pool (CXL)", "copy from the pool (CXL)"} <= set(
        parcel["views"]["timeline"]["stages"]
    )
    told = caption(run)
    assert "Not drawn: copy to the pool (CXL); copy from the pool (CXL); CXL link out, " in told
    assert f"{run.busy['cxl_out']:.0%} busy" in told
    picture = still_svg(run)
    assert "not used" in picture  # the NIC
    assert "Gb/s" not in picture


def test_it_goes_out_of_the_house(scenario, tmp_path):
    run = peerlab.simulate(scenario)
    run.to_perfetto(tmp_path / "trace.json")
    names = {one.get("name") for one in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert "to-pool" in names or "copy to the pool (CXL)" in names
    assert page_html(run, theme="light").startswith("<!doctype html>")
    outline = Outline(scenario={"nodes": 2}, slides=(Plan("detour"), Plan("sources")))
    assert len(slides(outline, Evidence(outline.scenario, peerlab.simulate))) == 2


def test_a_cluster_file_may_have_it_and_then_needs_its_figures(scenario, tmp_path):
    del scenario  # it makes the path known
    known = (folder("data") / "hardware" / "dl1.toml").read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(
        known.replace('"host-tcp"]', '"cxl-pool"]', 1).replace('"host-rdma", "peer-direct", ', "", 1)
    )
    assert load_cluster(mine).paths == (POOL,)
    mine.write_text(
        "\n".join(line for line in mine.read_text().splitlines() if not line.startswith("pcie ="))
    )
    missing = {one.key: one.why for one in check(mine).missing}
    assert "cxl-pool" in missing["device.pcie"] or "every path" in missing["device.pcie"]
