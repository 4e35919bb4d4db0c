"""A path that nobody has heard of, described in tests alone, is simulated and shown truthfully everywhere."""

import dataclasses
import json
import re
from typing import get_args
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from fewer_points import fewer_points
from pool_path import POOL, pool_scenario

import peerlab
from peerlab.answer.trace import SPAN_COLUMNS
from peerlab.base.errors import ScenarioError
from peerlab.base.places import folder
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.reading.outline import Outline, SlidePlan
from peerlab.features.deck.slides import slides
from peerlab.features.export.page import page_html
from peerlab.features.race.race_page import race_html
from peerlab.features.wall.multiples import multiples_svg
from peerlab.model.paths import PATHS, DataPath
from peerlab.model.resources import RESOURCES, Part, ResourceKind, resource_kind
from peerlab.model.stages import STAGES, Stage, StageKind, Use
from peerlab.picture.curves import curves, mark
from peerlab.picture.headline import cards
from peerlab.picture.payload import payload
from peerlab.picture.registration_table import table
from peerlab.picture.road import road
from peerlab.picture.still import still_svg
from peerlab.picture.theme import DARK, LIGHT, STAGE_COLOURS
from peerlab.picture.timeline import lanes
from peerlab.picture.words import alt_text, caption
from peerlab.question.completeness import check
from peerlab.question.presets import load_cluster
from peerlab.records import Records

DPU = "dpu"


@pytest.fixture
def scenario(monkeypatch):
    """Return an AllReduce over a memory pool that two CXL links reach: every byte is copied in and out again."""
    return pool_scenario(monkeypatch)


def _dpu_stages(_cluster, _memory):
    out = Stage("to-dpu", (Use("dpu_mem", "source"),), acquire="source")
    sent = (Use("dpu_tx", "source"), Use("dpu_rx", "destination"))
    return out, Stage("dpu-send", sent, flight="latency_ps", release="source")


@pytest.fixture
def dpu(monkeypatch):
    """Return a function from fields of the path to an AllReduce by DPUs, which read devices and send: parts of the picture stand for them."""

    def made(**fields):
        kinds = {
            "dpu_mem": {"label": "DPU memory", "scope": "switch", "rate": "uplink_Bps"}
            | {"drawn": "host memory", "counts_as": "copy"},
            "dpu_tx": {"label": "DPU send", "scope": "switch", "rate": "device_pcie_Bps", "drawn": "NIC"}
            | {"counts_as": "send", "slowed_with_node": True},
            "dpu_rx": {"label": "DPU receive", "scope": "switch", "rate": "device_pcie_Bps", "drawn": "NIC"},
        }
        for name, kind in kinds.items():
            monkeypatch.setitem(RESOURCES, name, ResourceKind(**kind))
        for themed in (STAGE_COLOURS, LIGHT, DARK):
            monkeypatch.setitem(themed, "dpu" if themed is STAGE_COLOURS else "dpu-ink", "#123456")
        out = StageKind(
            says="DPU reads device memory", role="dpu", track="device to host memory", counts_as="copy"
        )
        sent = StageKind(says="DPU to DPU", role="network", track="device to device", counts_as="send")
        monkeypatch.setitem(STAGES, "to-dpu", out)
        monkeypatch.setitem(STAGES, "dpu-send", sent)
        record = {
            "title": "DPU",
            "summary": "DPUs read device memory and send",
            "way": "A DPU reads slices from {device} memory and sends them to another",
            "role": "dpu",
            "stages": _dpu_stages,
            "needs": ("device.pcie", "switch.uplink", "slices.staged"),
            "registration": ("at start", "DPU memory, once"),
            "cache_rests": "The registration cache changes nothing here: DPU memory is registered once.",
        }
        monkeypatch.setitem(PATHS, DPU, DataPath(**(record | fields)))
        known = load_cluster("dl1")
        machine = dataclasses.replace(known, name="dpus", paths=(*known.paths, DPU))
        return peerlab.Scenario(cluster=machine, nodes=4, path=DPU, message_bytes="16 MiB")

    return made


def words(run):
    return [one.text for one in ET.fromstring(still_svg(run)).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314  (our own)


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
    assert rows(peerlab.simulate(few, engine="loop", every_node=True)) == referee
    ring = few.with_(library="none")  # arrays run rings
    both = [rows(peerlab.simulate(ring, engine=engine, every_node=True)) for engine in ("referee", "arrays")]
    assert both[0] == both[1]
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
    assert np.isnan(peerlab.answer.metrics.wire_limit_GBps(scenario))
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
    assert f"{100 * run.busy['cxl_out']:.0f} % busy" in told
    picture = still_svg(run)
    assert "not used" in picture  # the NIC
    assert "Gb/s" not in picture


def test_it_goes_out_of_the_house(scenario, tmp_path):
    run = peerlab.simulate(scenario)
    run.to_perfetto(tmp_path / "trace.json")
    names = {one.get("name") for one in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert "to-pool" in names or "copy to the pool (CXL)" in names
    with fewer_points():
        assert page_html(run, theme="light").startswith("<!doctype html>")
    outline = Outline(scenario={"nodes": 2}, slides=(SlidePlan("detour"), SlidePlan("sources")))
    assert len(slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))) == 2


def test_a_cluster_file_may_have_it_and_then_needs_its_figures(scenario, tmp_path):
    del scenario  # it makes the path known
    known = (folder("data") / "hardware" / "dl1.toml").read_text()
    mine = tmp_path / "mine.toml"
    mine.write_text(re.sub(r"^has = .*", f'has = ["{POOL}"]', known, count=1, flags=re.MULTILINE))
    assert load_cluster(mine).paths == (POOL,)
    mine.write_text(
        "\n".join(line for line in mine.read_text().splitlines() if not line.startswith("pcie ="))
    )
    missing = {one.key: one.why for one in check(mine).missing}
    assert "cxl-pool" in missing["device.pcie"] or "every path" in missing["device.pcie"]


def test_the_parts_of_the_picture_say_what_stands_for_them(dpu):
    run = peerlab.simulate(dpu())
    said, told = words(run), caption(run)
    assert run.bottleneck.kind == "dpu_mem"
    assert f"DPU memory, {100 * run.busy['dpu_mem']:.0f} % busy" in said
    assert f"{100 * run.busy['dpu_tx']:.0f} % busy" in said  # on the wire
    rate = dpu().hardware.device_pcie_Bps / 1e9
    assert {f"{8 * rate:g} Gb/s", f"{resource_kind('dpu_tx').label}, {rate:.4g} GB/s each way"} <= {
        word.replace(" †", "") for word in said
    }
    assert "not a limit here" in said  # the uplink: slices are drawn on it
    assert not [word for word in said if "untouched" in word or "not used" in word or word == "idle"]
    assert "Not drawn: DPU" not in told
    notes = {card["name"]: card["note"] for card in cards(run)}
    assert notes["busbw"] == f"{resource_kind('dpu_tx').label} {100 * run.busy['dpu_tx']:.0f} % busy"
    assert notes["dram"] == "through DPU memory"


@pytest.mark.parametrize("lane", [None, 100])
@pytest.mark.parametrize("part", get_args(Part))
def test_whatever_part_a_resource_is_drawn_as_its_share_is_read(dpu, monkeypatch, part, lane):
    scenario = dpu()
    kind = dataclasses.replace(RESOURCES["dpu_mem"], drawn=part, lane=lane)
    monkeypatch.setitem(RESOURCES, "dpu_mem", kind)
    run = peerlab.simulate(scenario)
    share = f"{100 * run.busy['dpu_mem']:.0f} % busy"
    scene = payload(run)["views"]["scene"]
    texts = scene["texts"]["text"]
    if "hot" in (
        *scene["boxes"]["line"],
        *scene["pipes"]["line"],
    ):  # the headline says of what is marked how busy it is
        texts = [
            *texts,
            *(f"{card['value']} {card['note']}" for card in cards(run) if card["name"] == "bottleneck"),
        ]
    in_picture = any(share in text for text in texts) and any("DPU memory" in text for text in texts)
    has_lane = any(one.label == "DPU memory" for one in lanes(run))
    assert in_picture or f"DPU memory, {share}" in caption(run) or (part.startswith("device") and has_lane)
    assert in_picture == (part != "")


def test_what_a_path_sends_with_is_its_limit(dpu):
    run = peerlab.simulate(dpu())
    assert run.busbw_GBps / run.wire_limit_GBps == pytest.approx(run.wire_busy, rel=0.02)
    drawn = curves(run.scenario.with_(path="peer-direct"), "nodes", [])["limits"]
    assert drawn[mark(run)["limit"]]["label"] == "DPU send limit"
    four = drawn[mark(run)["limit"]]["y"][1]
    assert four == pytest.approx(run.wire_limit_GBps)
    assert drawn["nic"]["label"] == "wire limit"
    one = dpu().with_(collective="point-to-point", nodes=2)
    assert peerlab.simulate(one).wire_limit_GBps == dpu().hardware.device_pcie_Bps / 1e9


def test_a_slow_node_is_slow_where_the_record_says_so_and_nowhere_else(dpu, scenario):
    fast, slow = (dpu().with_(slow_nodes=slow) for slow in (None, {2: 0.1}))
    assert peerlab.simulate(slow).time_ps > 2 * peerlab.simulate(fast).time_ps
    for engine in ("loop", "referee"):
        assert peerlab.simulate(slow, engine=engine).time_ps == peerlab.simulate(slow).time_ps
    assert "node 2 at 10 %, " in caption(peerlab.simulate(slow))
    unfelt = peerlab.simulate(scenario.with_(slow_nodes={2: 0.1}))
    assert unfelt.time_ps == peerlab.simulate(scenario).time_ps
    assert "node 2 at 10 % (which changes nothing on this path)" in caption(unfelt)
    assert payload(unfelt)["views"]["scene"]["sight"]["slow"] == {}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, [["at start", "DPU memory, once"]]),
        ({"registration": ("none", "load and store")}, [["this path registers nothing", ""]]),
        ({"is_staged": True}, [["at start", "DPU memory, once"]]),
        (
            {"is_staged": True, "registration": ("none", "load and store")},
            [["this path registers nothing", ""]],
        ),
    ],
)
def test_the_panel_says_of_registration_what_the_card_says(dpu, fields, says):
    run = peerlab.simulate(dpu(**fields))
    card = next(card for card in cards(run) if card["name"] == "registration")
    assert (card["value"], card["note"]) == PATHS[DPU].registration
    lines = table(run)["lines"]
    assert lines[2:] == says if PATHS[DPU].is_staged else lines == says


def test_a_deck_shows_what_is_busiest_in_the_colours_of_its_stages(dpu, tmp_path):
    dpu(is_staged=True)
    known = (folder("data") / "hardware" / "dl1.toml").read_text().splitlines()
    mine = tmp_path / "mine.toml"
    has = [f'has = ["{DPU}", "peer-direct"]' if line.startswith("has =") else line for line in known]
    mine.write_text("\n".join(has))
    outline = Outline(
        scenario={"cluster": str(mine), "nodes": 4, "message_bytes": "16 MiB"}, slides=(SlidePlan("time"),)
    )
    compared = ComparedRuns(outline.scenario, peerlab.simulate)
    (slide,) = slides(outline, compared)
    assert compared.detour.scenario.path == DPU
    assert slide.title == "Busiest: DPU memory, and with Peer Direct NIC send"
    spent, busy = slide.notes
    assert f"DPU memory, through the host: {100 * compared.detour.busy['dpu_mem']:.0f} % busy" in busy
    assert f"NIC send, Peer Direct: {100 * compared.direct.busy['nic_tx']:.0f} % busy" in busy
    assert "DPU reads device memory" in slide.body
    assert "through the host: " in spent


def test_it_races_and_stands_on_the_wall_chart(scenario, tmp_path):
    race = peerlab.race(scenario, path="peer-direct")
    assert f"{scenario.data_path.title} takes" in race._repr_html_()
    assert scenario.data_path.title in peerlab.wall_chart(scenario, tmp_path / "wall.svg").read_text()


def test_no_library_and_no_transport_serves_what_uses_no_nic(scenario):
    assert not scenario.uses_nic
    assert scenario.used_library is None
    assert scenario.used_transport is None
    alone = peerlab.simulate(scenario.with_(library="none"))
    run = peerlab.simulate(scenario)
    assert scenario.hardware.library == "none"
    assert run.time_ps == alone.time_ps
    assert scenario.library_says == ""
    with pytest.raises(ScenarioError, match="transport: nothing leaves by a NIC on path 'cxl-pool'"):
        scenario.with_(transport="efa")
    with pytest.raises(
        ScenarioError, match="protocol: no library serves 'cxl-pool', because nothing leaves by a NIC"
    ):
        scenario.with_(protocol="LL")


def test_a_library_that_was_named_for_it_is_said_to_do_nothing(scenario):
    run = peerlab.simulate(scenario.with_(library="nccl-efa"))
    assert run.time_ps == peerlab.simulate(scenario).time_ps
    assert "NCCL over EFA serves no 'cxl-pool', because nothing leaves by a NIC." in caption(run)


def test_a_library_whose_hops_the_path_does_not_fly_is_refused_in_words(dpu, monkeypatch):
    scenario = dpu()
    assert not scenario.uses_nic  # a DPU is none of the cluster's NICs
    kind = dataclasses.replace(RESOURCES["dpu_tx"], scope="nic")
    monkeypatch.setitem(RESOURCES, "dpu_tx", kind)
    assert scenario.with_().uses_nic
    record = dataclasses.replace(
        PATHS[DPU], stages=lambda *_: tuple(dataclasses.replace(one, flight="") for one in _dpu_stages(*_))
    )
    monkeypatch.setitem(PATHS, DPU, record)
    with pytest.raises(
        ScenarioError,
        match="library: NCCL over EFA passes slices on over the network between the nodes, which 'dpu' does",
    ):
        peerlab.Scenario(cluster=scenario.cluster, nodes=4, path=DPU, library="nccl-efa")


def test_nothing_says_that_a_wire_is_busy_where_there_is_none(scenario):
    run = peerlab.simulate(scenario)
    assert "no NIC, no port; mostly waits for" in alt_text(run)
    assert f"{run.copies_per_byte:.2g} copy to the pool (CXL); copy from the pool (CXL)" in {
        f"{card['value']} {card['note']}" for card in cards(run)
    }
    race = race_html(peerlab.race(scenario, path="peer-direct"), bands=False)
    other = peerlab.simulate(scenario.with_(path="host-rdma"))
    told = (
        alt_text(run),
        str(road(run)),
        multiples_svg([run, other], "light", {}),
        race.replace("wire busy", ""),
    )
    assert not [text for text in told if "wire 0%" in text or "wire 0 %" in text]


def test_copies_lie_between_the_memories_that_the_path_copies_between(dpu):
    notes = {card["name"]: card["note"] for card in cards(peerlab.simulate(dpu()))}
    assert notes["copies"] == "between device and DPU memory"


def test_a_log_is_suspected_of_it_only_where_its_cluster_has_it(scenario):
    rows = [
        {"kind": "imported", "source": "typed", "collective": "allreduce", "size_bytes": size, "ranks": 32, "nodes": 4, "time_s": took}
        for size, took in ((8, 4e-5), (2**20, 3e-4), (2**24, 2e-3))
    ]  # fmt: skip
    log = Records.of(rows, {"tool": "hccl_demo"})
    assert POOL not in {one.path for one in peerlab.diagnose(log).ranking}
    assert POOL in {one.path for one in peerlab.diagnose(log, cluster=scenario.cluster).ranking}
