"""A run shows itself as a still: from the run alone, and nothing of it is code."""

import base64
import itertools
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.model.presets import known_clusters, load_cluster, read_cluster
from peerlab.model.stages import stage_kind
from peerlab.places import folder
from peerlab.view.frames import PASSED, moves
from peerlab.view.geometry import Geometry, along, gone, stops, ways
from peerlab.view.moment import fullest, moment
from peerlab.view.shown_nodes import OWN, shown_nodes
from peerlab.view.still import still_svg
from peerlab.view.svg import Paper
from peerlab.view.theme import palettes
from peerlab.view.words import alt_text, caption

SVG = "{http://www.w3.org/2000/svg}"


def simulated(**fields):
    return peerlab.simulate(peerlab.Scenario(**{"message_bytes": "2 MiB", "nodes": 4, **fields}))


def words(svg):
    return [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314  (our own)


@pytest.fixture(scope="module")
def detour():
    return peerlab.simulate(peerlab.Scenario(path="host-rdma"))


def test_a_still_holds_the_figures_of_its_run(detour):
    said = words(still_svg(detour))
    assert {"30.2 GB/s", "4.38 ms for 64 MiB", "PCIe uplink up, 95% busy", "64 ranks", "95% busy"} <= set(
        said
    )
    direct = words(still_svg(detour.simulate(detour.scenario.with_(path="peer-direct"))))
    assert {"52 GB/s", "2.54 ms for 64 MiB", "NIC send, 92% busy"} <= set(direct)


def test_alt_text_is_two_sentences_with_the_figures(detour):
    assert alt_text(detour) == (
        "Gaudi DL1: AllReduce of 64 MiB on 8 nodes, RDMA through host: 30.2 GB/s bus bandwidth in 4.38 ms, wire 54% busy; "
        "mostly waits for PCIe uplink up, 95% busy. Slices are copied from Gaudi memory up the PCIe uplink into host memory, "
        "sent by the NIC from there, and copied down again on the other side."
    )
    alone = simulated(cluster="ideal-100g", nodes=1)
    assert alt_text(alone).endswith("one rank exchanges nothing, no time passes.")


@pytest.mark.parametrize("name", known_clusters())
def test_every_path_of_every_cluster_has_a_still(name):
    for path in load_cluster(name).paths:
        run = simulated(cluster=name, path=path)
        said = words(still_svg(run))
        assert f"{run.busbw_GBps:.3g} GB/s" in said
        assert said[0].startswith(load_cluster(name).title)


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found, self.text, self.attributes = [], [], {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes[tag] = dict(attrs)

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"library": "none"}, "slices of 128 KiB, 8 to a transfer"),
        ({"message_bytes": "1 GiB"}, "slices of 512 KiB, as the library cuts them through the host"),
        ({"slice_bytes": "256 KiB"}, "slices of 256 KiB, as set"),
        ({"slice_bytes": None}, "whole transfers"),
        ({"library": "none"}, "Gaudi DL1, hierarchical ring"),
        ({}, "HCL over host NICs 1.21: pairwise"),
        ({"cluster": "p4d"}, "NCCL 2.19 over EFA: tree, Simple, chunks of 128 KiB"),
    ],
)
def test_the_caption_says_what_the_library_does_and_the_size_that_slices_really_have(fields, said):
    assert re.search(
        f"[,:] {re.escape(said)}[.,]", caption(peerlab.simulate(peerlab.Scenario(path="host-rdma", **fields)))
    )


def test_a_notebook_that_takes_out_style_and_script_keeps_the_figures(detour):
    tags = Tags(detour._repr_html_())
    assert set(tags.found) == {"p", "img", "table", "tr", "th", "td"}
    assert not {name for of in tags.attributes.values() for name in of} & {"style", "onload", "onerror"}
    assert tags.text[:3] == ["AllReduce busbw", "30.2 GB/s", "wire 54% busy"]
    assert tags.attributes["img"]["alt"] == alt_text(detour)
    picture = base64.b64decode(tags.attributes["img"]["src"].partition("base64,")[2]).decode()
    assert picture == still_svg(detour)


def test_a_cluster_with_markup_in_its_name_is_text():
    evil = "<img src=x onerror=alert(1)>"
    text = (folder("data") / "hardware" / "dl1.toml").read_text().replace('"Gaudi DL1"', f'"{evil}"')
    run = simulated(cluster=read_cluster(text, "evil.toml"))
    assert evil in words(still_svg(run))[0]
    assert "<img src=x" not in still_svg(run)
    html = run._repr_html_()
    assert html.count("<img") == 1
    assert "<img src=x" not in html


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_words_make_a_picture_that_can_be_read(text):
    paper = Paper(palettes()["light"])
    paper.text((0, 0), text)
    said = words(paper.svg(10, 10, text))[0] or ""
    kept = [sign for sign in text if (sign >= " " and sign not in "\ufffe\uffff") or sign in "\t\n\r"]
    assert said == "".join(kept).replace("\r\n", "\n").replace("\r", "\n")


NIC, NICS, CORNER = 0, 1, 2
"""What a slice passes on its way: the sender's NIC, the receiver's, and the corner before the last part."""


@given(
    path=st.sampled_from(["host-rdma", "host-tcp", "peer-direct"]),
    nodes=st.integers(2, 40),
    part=st.floats(0, 1),
)
def test_slices_are_where_the_trace_says(path, nodes, part):
    """Every occurrence of every row is looked at, one by one."""
    run = simulated(path=path, nodes=nodes)
    at = int(part * run.time_ps)
    drawn = [one.at for one in moment(run, at).slices if not one.hollow]
    geometry, found = Geometry(run.scenario.hardware), moves(run.trace, shown_nodes(run))
    rows = {name: values.tolist() for name, values in found.rows.items()}
    for first, last, times, period, _ in found.segments:
        for row, again in itertools.product(range(first, last), range(times)):
            passed = [rows[name][row] + again * period for name in PASSED]
            if rows["whose"][row] & OWN and passed[0] <= at < passed[-1]:
                track, device = stage_kind(run.trace.stages[rows["stage"][row]]).track, rows["device"][row]
                way, passing = (of(geometry, track, device)[0] for of in (ways, stops))
                x, y = along(way, gone(at, passed, passing))
                assert any(abs(x - a) + abs(y - b) < 1e-6 for a, b in drawn)


@given(path=st.sampled_from(["host-rdma", "peer-direct"]), nodes=st.integers(2, 6), part=st.floats(0, 1))
def test_no_slice_is_drawn_beyond_a_resource_that_has_not_begun_with_it(path, nodes, part):
    """On the detour a slice is at the NIC no sooner than the NIC, and the DRAM and the uplink before it, have begun to read it."""
    run = simulated(path=path, nodes=nodes, message_bytes="32 MiB")
    frame, at = run.trace.frame(), int(part * run.time_ps)
    crosses = {"host-rdma": "network", "peer-direct": "direct"}[path]
    frame = frame[(frame["stage"] == crosses) & (frame["node"] == 0)]
    began = frame.set_index(["device", "step", "slice", "resource"])["start_ps"].to_dict()
    after = {
        "host-rdma": {
            NIC: ("PCIe uplink down", "NIC send"),
            NICS: ("NIC receive",),
            CORNER: ("PCIe uplink up",),
        },
        "peer-direct": {
            NIC: ("device PCIe out", "NIC send"),
            NICS: ("NIC receive",),
            CORNER: ("device PCIe in",),
        },
    }[path]
    geometry, found = Geometry(run.scenario.hardware), moves(run.trace, shown_nodes(run))
    rows = {name: values.tolist() for name, values in found.rows.items()}
    checked = 0
    for row in range(len(rows["start"])):
        passed = [rows[name][row] for name in PASSED]
        if run.trace.stages[rows["stage"][row]] != crosses or not passed[0] <= at < passed[-1]:
            continue
        whose = [rows[name][row] for name in ("device", "step", "slice")]
        passing = stops(geometry, stage_kind(crosses).track, whose[0])[0]
        fraction = gone(at, passed, passing)
        for place, resources in after.items():
            if fraction > passing[place]:
                checked += 1
                assert all(began[(*whose, resource)] <= at for resource in resources), (whose, place)
    if 0.3 < part < 0.7:
        assert checked


def test_a_slice_goes_evenly_where_nothing_keeps_it_and_crawls_before_what_it_waits_for():
    even = [gone(now, (0, 0, 20, 20, 100), (0.3, 0.6, 0.8)) for now in (0, 25, 50, 100)]
    assert even == [0, 0.25, 0.5, 1]
    kept = [gone(now, (0, 60, 60, 60, 100), (0.3, 0.6, 0.8)) for now in (0, 30, 59, 60, 80, 100)]
    assert kept == pytest.approx([0, 0.15, 0.295, 0.3, 0.65, 1])
    assert gone(5, (0, 0, 0, 0, 10), (None, None, None)) == 0.5
    assert gone(7, (7, 7, 7, 7, 7), (0.5, None, None)) == 1


def test_the_moment_shown_is_one_with_slices_and_the_same_every_time(detour):
    at = fullest(detour)
    assert detour.time_ps // 4 < at < 3 * detour.time_ps // 4
    assert moment(detour, at).slices
    assert still_svg(detour) == still_svg(detour)
    assert still_svg(detour, moment_ps=0) != still_svg(detour)


def test_queues_are_counted():
    run = simulated(collective="point-to-point", path="host-rdma", message_bytes="64 MiB", nodes=2)
    waiting = moment(run, run.time_ps // 3).waiting
    said = words(still_svg(run, moment_ps=run.time_ps // 3))
    assert max(waiting.values()) >= 3
    assert {f"{count} wait" for count in waiting.values() if count >= 3} == {
        text for text in said if re.fullmatch(r"\d+ wait", text)
    }


def test_a_still_needs_neither_figures_nor_widgets():
    script = """
import sys
sys.modules["bokeh"] = sys.modules["ipywidgets"] = None
import peerlab
print(len(peerlab.simulate(peerlab.Scenario())._repr_html_()) > 5000)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
