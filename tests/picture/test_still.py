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
from peerlab.base.places import folder
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import HOT_EDGE, WAY_ALPHA, WAY_OF_OTHERS, WIDTH
from peerlab.picture.geometry import (
    BOX_BOTTOM,
    BOX_TOP,
    BREADTH,
    BUS,
    CPU,
    ENTRY,
    MEMORY,
    NIC,
    NODE_WIDTH,
    PORT,
    ROOT,
    SWITCH_BOTTOM,
    SWITCH_TOP,
    UPLINK,
    Geometry,
)
from peerlab.picture.moment import fullest, moment
from peerlab.picture.picture import Picture
from peerlab.picture.scene_host import arrows
from peerlab.picture.sketch import Sketch
from peerlab.picture.static_scene import draw
from peerlab.picture.still import say_waiting, still_svg
from peerlab.picture.still_key import THIN
from peerlab.picture.still_of_node import keyed_node_svg, node_svg, way_svg
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palettes
from peerlab.picture.trains import BAR_WIDTH, breadth, occupied, waits
from peerlab.picture.waiting import badge_place, waiting_places
from peerlab.picture.words import alt_text, caption
from peerlab.question.presets import known_clusters, load_cluster, read_cluster

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
    assert {"30.2 GB/s", "4.38 ms for 64 MiB", "PCIe to host, 95 % busy"} <= set(said)
    assert any(one.startswith("64 ranks, shown at ") for one in said)
    direct = words(still_svg(detour.simulate(detour.scenario.with_(path="peer-direct"))))
    assert {"52 GB/s", "2.54 ms for 64 MiB", "NIC send, 92 % busy"} <= set(direct)


def test_one_node_shows_its_own_slices_and_the_way_where_none_is_on_it(detour):
    """Thick, thin and dotted lines lay on each other within 15 pixels, with a key of two rows to tell them."""
    direct = detour.simulate(detour.scenario.with_(path="peer-direct"))
    for run in (detour, direct):
        svg = keyed_node_svg(Picture(run), fullest(run), theme="light")
        lines = [line.attrib for line in ET.fromstring(svg).iter(f"{SVG}polyline")]  # noqa: S314  (our own)
        assert not any(line["stroke-width"] == f"{THIN:g}" for line in lines), "of other nodes"
        points = {
            kind: [
                [tuple(map(float, point.split(","))) for point in line["points"].split()]
                for line in lines
                if line.get("stroke-dasharray") == dash and float(line["stroke-width"]) != BAR_WIDTH
            ]
            for kind, dash in (("dotted", "2 5"), ("slices", None))
        }
        for (x, y), (x2, y2) in points["dotted"]:
            assert max(y, y2) <= BOX_BOTTOM, "below the NIC stands how many slices wait"
            for train in points["slices"]:
                for (a, b), (a2, b2) in itertools.pairwise(train):
                    across = y == y2 == b == b2 and abs(y - b) <= 9
                    assert not across or min(x, x2) >= max(a, a2) or max(x, x2) <= min(a, a2)
    assert {"NIC to NIC", "the way of a slice"} <= set(words(svg))


def test_the_wire_of_one_node_ends_in_the_picture_below_the_name_of_where_it_goes(detour):
    """It was cut at the node's edge, and six slices stood in a gap of 18 pixels with their number under nothing."""
    direct = detour.simulate(detour.scenario.with_(path="peer-direct"))
    drawn = ET.fromstring(keyed_node_svg(Picture(direct), fullest(direct), theme="light"))  # noqa: S314  (our own)
    wide, at = float(drawn.attrib["width"]), {text.text: text.attrib for text in drawn.iter(f"{SVG}text")}
    ends = [
        float(box.attrib["x"]) + float(box.attrib["width"])
        for box in drawn.iter(f"{SVG}rect")
        if "x" in box.attrib and float(box.attrib["x"]) < NIC[1] + 1
    ]
    assert max(ends) < wide - 2
    # It fades, as it goes on: below one surface, as a screen rounds each of many down, so that it was darker than a dark page.
    (fade,) = drawn.iter(f"{SVG}linearGradient")
    ground = palettes()["light"]["paper"]
    assert [(stop.get("stop-color"), stop.get("stop-opacity")) for stop in fade] == [
        (ground, "0"),
        (ground, "1"),
    ]
    assert len([box for box in drawn.iter(f"{SVG}rect") if box.get("fill") == f"url(#{fade.get('id')})"]) == 1
    assert NODE_WIDTH + 6 < float(at["node 7"]["x"]) < wide, "clear of the node's edge"
    assert float(at["node 0"]["x"]) < NIC[0], "both nodes have their names"
    waits = next(text for text in at if text.endswith("slices wait"))
    assert NIC[0] < float(at[waits]["x"]) < NIC[1], "below the NIC that they wait for"
    assert at[waits]["fill"] != palettes()["light"]["hot-ink"], "neither a bottleneck nor a warning"
    alone = simulated(cluster="ideal-100g", nodes=1)
    said = words(keyed_node_svg(Picture(alone), 0, theme="light"))
    assert not any(word.startswith(("node ", "the way")) for word in said)


def test_alt_text_is_two_sentences_with_the_figures(detour):
    assert alt_text(detour) == (
        "Gaudi DL1: AllReduce of 64 MiB on 8 nodes, RDMA through host: 30.2 GB/s bus bandwidth in 4.38 ms, wire 54 % busy; "
        "mostly waits for PCIe to host, 95 % busy. Slices are copied from Gaudi memory up the PCIe uplink into host memory, "
        "sent by the NIC from there, and copied down again on the other side."
    )
    alone = simulated(cluster="ideal-100g", nodes=1)
    assert alt_text(alone).endswith("one rank exchanges nothing, no time passes.")


@pytest.mark.sample(part=4)
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
    tags = Tags(re.sub("<style>.*?</style>", "", detour._repr_html_(), flags=re.DOTALL))
    assert set(tags.found) == {
        *(
            "section",
            "h3",
            "div",
            "p",
            "b",
            "img",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "details",
            "summary",
        )
    }
    assert not {name for of in tags.attributes.values() for name in of} & {"style", "onload", "onerror"}
    assert tags.text[:3] == [
        "What this run reaches",
        "30.2 GB/s",
        " bus bandwidth; waits for PCIe to host, 95 % busy",
    ]
    assert tags.attributes["img"]["alt"] == alt_text(detour)
    picture = base64.b64decode(tags.attributes["img"]["src"].partition("base64,")[2]).decode()
    assert {"Host memory", "NIC to NIC"} <= set(words(picture))


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


def uplinks(geometry, node):
    """Return where the directions of an uplink are: left and right of the one that goes up, and of the one that goes down."""
    up, down = sorted(
        [geometry.x(node, UPLINK - geometry.lane), geometry.x(node, UPLINK + geometry.lane)],
        reverse=bool(node),
    )
    return (up - geometry.lane, up + geometry.lane), (down - geometry.lane, down + geometry.lane)


def filled(trains, box):
    """Return how many trains go up or down through the middle of the uplink, between two sides."""
    y = (MEMORY[3] + SWITCH_TOP) / 2
    legs = [leg for one in trains for leg in itertools.pairwise(one.points)]
    return sum(box[0] < x < box[1] and min(a, b) <= y <= max(a, b) for (x, a), (x2, b) in legs if x == x2)


@given(
    path=st.sampled_from(["host-rdma", "host-tcp", "peer-direct"]),
    nodes=st.integers(2, 9),
    part=st.floats(0, 1),
)
def test_a_link_is_filled_as_long_as_the_trace_says_that_it_is_busy(path, nodes, part):
    """Own slices only: what copies out, reads and writes through both uplinks, and what is in the middle of the wire."""
    run = simulated(path=path, nodes=nodes, message_bytes="8 MiB")
    at, geometry = int(part * run.time_ps), Geometry(run.scenario.hardware)
    trains = [one for one in moment(run, at).trains if not one.hollow and one.width != BAR_WIDTH]
    frame = run.trace.frame()
    frame = frame[(frame["slice"] >= 0) & (frame["node"] == 0) & (frame["device"] < 2)]
    now = frame[(frame["start_ps"] <= at) & (at < frame["end_ps"])]

    def busy(stage, resource):
        return int(((now["stage"] == stage) & (now["resource"] == resource)).sum())

    crosses = "direct" if path == "peer-direct" else "network"
    if path != "peer-direct":
        (up, down), (up_there, down_there) = uplinks(geometry, 0), uplinks(geometry, 1)
        assert filled(trains, up) == busy("d2h", "PCIe to host")
        assert filled(trains, down) == busy(crosses, "PCIe from host")
        assert filled(trains, up_there) == busy(crosses, "PCIe to host")
        assert filled(trains, down_there) == busy("h2d", "PCIe from host")
    latency = run.scenario.hardware.latency_ps
    sends = frame[(frame["stage"] == crosses) & (frame["resource"] == "NIC send")]
    middle = (sends["start_ps"] + latency / 2 < at) & (at < sends["end_ps"] + latency / 2)
    wires = [leg for one in trains for leg in itertools.pairwise(one.points)]
    across = sum(min(a[0], b[0]) < WIDTH / 2 < max(a[0], b[0]) for a, b in wires)
    received = frame[(frame["stage"] == crosses) & (frame["resource"] == "NIC receive")]
    if (received["queued_ps"] == received["start_ps"]).all():  # nobody is kept on the wire
        assert across == middle.sum()


STOPS = (0.3, 0.6, 0.8)


@pytest.mark.parametrize(
    ("now", "filled_parts", "waiting"),
    [
        (5, [(0.0, 0.3)], None),  # read by the NIC's link
        (15, [], 0),  # read, and the NIC is busy with another
        (25, [(0.3, 0.45)], None),  # its head is half across the wire
        (35, [(0.3, 0.6), (0.6, 0.8)], None),  # longer than the wire
        (45, [(0.45, 0.6), (0.6, 0.8)], None),
        (55, [], 1),  # there, and the uplink is busy with another
        (65, [(0.8, 1.0)], None),
    ],
)
def test_a_slice_is_as_long_as_what_it_fills_and_waits_in_between(now, filled_parts, waiting):
    times = (0, 10, 20, 40, 30, 50, 60, 70)
    parts = [part for part, _ in occupied(now, times, STOPS)]
    assert len(parts) == len(filled_parts)
    assert [*itertools.chain(*parts)] == pytest.approx([*itertools.chain(*filled_parts)])
    assert waits(now, times, STOPS) == waiting


@pytest.mark.parametrize(("now", "filled_parts"), [(25, []), (35, [(0.0, 0.6), (0.6, 0.8)]), (55, [])])
def test_a_slice_from_out_of_sight_fills_its_way_while_the_nic_takes_it(now, filled_parts):
    """Behind a slow NIC crumbs of two slices stood on 24 units of a way, with gaps of which nothing was to be learned."""
    times = (0, 10, 20, 40, 30, 50, 60, 70)
    assert occupied(now, times, (None, 0.6, 0.8)) == [(part, False) for part in filled_parts]


def test_the_moment_shown_is_one_with_slices_and_the_same_every_time(detour):
    at = fullest(detour)
    assert detour.time_ps // 4 < at < 3 * detour.time_ps // 4
    assert moment(detour, at).trains
    assert still_svg(detour) == still_svg(detour)
    assert still_svg(detour, moment_ps=0) != still_svg(detour)


def test_how_many_wait_at_both_nodes_is_said_at_the_first():
    """Below two nodes that are alike "6 slices wait" stood twice."""
    run = simulated(cluster="dl1", path="peer-direct", nodes=8, message_bytes="64 MiB")
    assert len([text for text in words(still_svg(run)) if text == "6 slices wait"]) == 1


def test_queues_are_counted():
    run = simulated(collective="point-to-point", path="host-rdma", message_bytes="64 MiB", nodes=2)
    waiting = moment(run, run.time_ps // 3).waiting
    said = words(still_svg(run, moment_ps=run.time_ps // 3))
    assert max(waiting.values()) >= 3
    assert {say_waiting(count) for count in waiting.values() if count >= 3} <= set(said)


def test_every_queue_has_its_number_and_a_slide_has_no_queue():
    """A bar alone beside the uplink was read as a letter."""
    one = simulated(path="peer-direct")
    seen = moment(one, fullest(one))
    numbers = [text for text in words(still_svg(one)) if re.fullmatch(r"\d+ slices? waits?", text)]
    # where as many wait at the same place of both nodes, the first says it
    queues = {
        (min(queue.first[0], WIDTH - queue.first[0]), queue.first[1], queue.count) for queue in seen.queues
    }
    assert len(queues) < len(seen.queues)
    assert sorted(numbers) == sorted(say_waiting(count) for _, _, count in queues)
    assert numbers
    slide = words(still_svg(one, large=True, bare=True))
    assert not any(re.fullmatch(r"\d+ slices? waits?", text) for text in slide)


def test_a_still_needs_neither_figures_nor_widgets():
    script = """
import sys
sys.modules["bokeh"] = sys.modules["ipywidgets"] = None
import peerlab
print(len(peerlab.simulate(peerlab.Scenario())._repr_html_()) > 5000)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_slices_that_pass_over_the_cpu_lie_below_its_box():
    assert max(MEMORY[3], CPU[3]) < ROOT - BREADTH / 2


def test_a_slice_that_ends_at_the_nic_goes_no_hair_beyond_it():
    run = peerlab.simulate(peerlab.Scenario(nodes=8, path="peer-direct", wiring="root-port"))
    for part in moment(run, fullest(run)).trains:
        for (x, y), (after, beyond) in itertools.pairwise(part.points):
            assert abs(x - after) + abs(y - beyond) > 1e-3


def drawn(**fields):
    """Return the drawing of a run's data path."""
    return Picture(simulated(**fields)).drawing


def test_a_slice_at_the_edge_of_a_device_is_clear_of_its_name():
    """It cut the tops of the letters of "A100 1"."""
    drawing = drawn(cluster="p4d", path="peer-direct")
    texts = drawing.texts
    name = texts["y"][texts["text"].index("A100 1")]
    square, letters = 4.5 + 0.75, 13 / 2
    assert ENTRY + square < name - letters


def test_the_number_of_slices_that_wait_in_device_memory_is_no_load_of_a_link():
    """It stood between the devices' PCIe links, as how busy they are does, and "HBM" 3 pixels above the slices."""
    run = simulated(cluster="p4d", path="peer-direct")
    sketch = Sketch(run)
    _, at, _ = badge_place(sketch.geometry, "device to device")
    assert at > BOX_BOTTOM
    texts = Picture(run).drawing.texts
    memory = texts["y"][texts["text"].index("HBM")]
    highest = min(y for _, y in waiting_places(sketch.geometry, "device to device", 0))
    assert memory + 9 / 2 + 4 < highest - 4.5  # letters are capitals of 9 units


def test_a_device_has_as_much_room_above_its_name_as_between_its_words_and_above_its_slices():
    """Three units above the name, six below it, and two from HBM to the slices."""
    drawing = drawn(cluster="dl1", path="peer-direct")
    texts, slots = drawing.texts, drawing.slots
    name, memory = (texts["y"][texts["text"].index(words)] for words in ("Gaudi 0", "HBM †"))
    # as the lab draws them, letters reach from 5.5 above the middle of a name to 5 below, from 4 above to 5 below that of HBM
    rooms = (name - 5.5 - BOX_TOP, memory - 4 - (name + 5), min(slots["top"]) - (memory + 5))
    assert max(rooms) - min(rooms) < 1


@pytest.mark.parametrize("fields", [{"cluster": "dl1"}, {"cluster": "p4d"}, {"cluster": "p5"}], ids=str)
def test_words_stand_in_the_middle_of_what_a_box_has_free(fields):
    """They stood at the top of devices and NICs, with three times as much room below them as above."""
    drawing = drawn(**fields, path="peer-direct")
    texts, slots = drawing.texts, list(zip(*drawing.slots.values(), strict=True))
    boxes = [box for box in zip(*drawing.boxes.values(), strict=True) if box[1] > SWITCH_BOTTOM]
    assert len(slots) == sum(box[2] - box[0] > 0 for box in boxes) - 2, (
        "a shelf in each device, none in the NICs"
    )
    for left, top, right, bottom, *_ in boxes:
        ys = [y for x, y in zip(texts["x"], texts["y"], strict=True) if left < x < right and top < y < bottom]
        free = min([bottom, *(slot[1] for slot in slots if left < slot[0] < right)])
        assert abs((min(ys) + max(ys)) / 2 - (top + free) / 2) < 1.5


def test_a_dotted_way_has_three_to_one_in_both_themes():
    """It had 1.8 to 1: the colour of its slices, thin and pale."""
    roles = {
        role for path in load_cluster("dl1").paths for role in drawn(cluster="dl1", path=path).lines["line"]
    }
    for colours in palettes().values():
        for role, ground in itertools.product(roles, ("paper", "panel", "box")):
            line, below = (tuple(bytes.fromhex(colours[name][1:])) for name in (role, ground))
            seen = [
                WAY_ALPHA * over + (1 - WAY_ALPHA) * under for over, under in zip(line, below, strict=True)
            ]
            assert contrast(seen, below) >= 3, (role, ground)


def contrast(one, other):
    """Return the contrast of two colours, as WCAG 2.1 has it."""

    def light(colour):
        linear = [
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
            for part in (value / 255 for value in colour)
        ]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_words_of_a_nic_stand_in_its_middle_and_beside_its_slices():
    drawing = drawn(cluster="dl1", path="host-rdma")
    texts = drawing.texts
    at = [texts["x"][i] for i, text in enumerate(texts["text"]) if text == "NIC †"]
    assert at == [sum(NIC) / 2, WIDTH - sum(NIC) / 2]


def legs(run):
    """Yield the straight pieces of slices that are under way at some moments of a run."""
    for twentieths in range(1, 20):
        for train in moment(run, run.time_ps * twentieths // 20).trains:
            if train.width != BAR_WIDTH:
                yield from itertools.pairwise(train.points)


@pytest.mark.parametrize(
    "fields", [{"cluster": "dl1"}, {"cluster": "p5"}, {"cluster": "dl1", "wiring": "root-port"}], ids=str
)
@pytest.mark.parametrize("path", ["host-rdma", "peer-direct"])
def test_a_slice_enters_a_port_in_its_middle(fields, path):
    """It ran 7 pixels beside, as it does on the uplink and the switch, where others lie beside it."""
    run = simulated(path=path, **fields)
    geometry = Geometry(run.scenario.hardware)
    places = [PORT, *map(geometry.middle, range(run.scenario.hardware.devices_per_switch))]
    ports = {geometry.x(node, x) for node in (0, 1) for x in places}
    entered = {
        x for (x, y), (x2, y2) in legs(run) if x == x2 and min(y, y2) < BOX_TOP and max(y, y2) > SWITCH_BOTTOM
    }
    assert entered
    assert entered <= ports


@pytest.mark.parametrize("cluster", ["dl1", "p5", "mi250x-slingshot"])
def test_a_slice_on_the_uplink_lies_inside_the_lane_of_its_direction_clear_of_its_edges(cluster):
    """The first amber line lay two pixels from the seam between up and down."""
    run = simulated(cluster=cluster, path="host-rdma")
    geometry = Geometry(run.scenario.hardware)
    half = geometry.thickness(run.scenario.hardware.uplink_Bps) / 2
    lanes = [geometry.x(node, UPLINK + side * geometry.lane) for node in (0, 1) for side in (-1, 1)]
    lines = {x for (x, y), (x2, y2) in legs(run) if x == x2 and min(y, y2) < MEMORY[3] + 20 < max(y, y2)}
    assert lines
    for x in lines:
        assert (
            min(abs(x - lane) for lane in lanes)
            + breadth(geometry, [stage.name for stage in run.scenario.stages]) / 2
            < half - HOT_EDGE / 2 - 1
        )


@pytest.mark.parametrize("cluster", ["dl1", "p4d"])
def test_what_a_shared_nic_reads_and_writes_goes_along_the_axis_of_its_lane_and_copies_on_both_sides(cluster):
    """A blue slice that was alone in its lane ran 6 pixels beside the middle: in the place of the second device's, though they take turns."""
    run = simulated(cluster=cluster, path="host-rdma")
    geometry = Geometry(run.scenario.hardware)
    for twentieths in range(1, 20):
        trains = moment(run, run.time_ps * twentieths // 20).trains
        for node, side in itertools.product((0, 1), (-1, 1)):
            axis, found = geometry.x(node, UPLINK + side * geometry.lane), {"send": [], "copy": []}
            for train in trains:
                for (x, y), (x2, y2) in itertools.pairwise(train.points):
                    if x == x2 and abs(x - axis) < geometry.lane and min(y, y2) < MEMORY[3] + 20 < max(y, y2):
                        found[stage_kind(train.stage).counts_as].append(x - axis)
            assert found["send"] in ([], [pytest.approx(0)])
            assert sum(found["copy"]) == pytest.approx(0) or len(found["copy"]) == 1
            assert all(abs(x) > breadth(geometry, ["d2h", "network", "h2d"]) for x in found["copy"])


def test_arrows_beside_the_uplink_are_clear_of_slices():
    picture = Picture(simulated(cluster="dl1", path="host-rdma"))
    geometry = picture.sketch.geometry
    for x, *_ in arrows(picture.sketch):
        assert min(abs(x - geometry.x(node, UPLINK)) for node in (0, 1)) > 2 * geometry.lane + 4


def test_the_full_direction_of_an_uplink_is_marked_by_its_edge_its_arrow_and_its_name():
    """It had a ground of pale orange, and amber slices beside its edge melted with both. How full it is the bottleneck's card says, once, under the same name."""
    picture = Picture(simulated(cluster="dl1", path="host-rdma"))
    pipes, loads, texts = picture.drawing.pipes, picture.drawing.loads, picture.drawing.texts
    marked = [i for i, line in enumerate(pipes["line"]) if line == "hot"]
    assert len(marked) == 2, "the way up, in both nodes"
    for i in marked:
        assert (pipes["fill"][i], pipes["width"][i]) == ("box", HOT_EDGE)
    assert len(loads["left"]) == 1, "slices alone fill links in a node, and the wire says how busy it is"
    assert {arrow for _, _, arrow, ink in arrows(picture.sketch) if ink == "hot-ink"} == {"↑"}
    hot_words = [text for text, ink in zip(texts["text"], texts["ink"], strict=True) if ink == "hot-ink"]
    assert hot_words == 2 * [picture.run.bottleneck.label], "one name in card, timeline and picture"
    assert picture.sketch.share(0, "uplink_up") not in texts["text"], "the card has it"


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct", "host-tcp"])
def test_beside_an_uplink_stands_how_busy_it_is_where_it_is_busy_and_not_the_bottleneck(path):
    """ "95 % busy" stood in the bottleneck's card and beside the uplink, and "idle" beside lanes that are empty."""
    picture = Picture(simulated(cluster="dl1", path=path))
    hot, busy = picture.sketch.is_hot("uplink", 0), picture.sketch.share(0, *picture.sketch.on("uplink"))
    said = set(picture.drawing.texts["text"])
    assert (busy in said) == (not hot and busy != "idle")
    assert "idle" not in said


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct", "host-tcp"])
def test_no_dots_stand_in_links_that_go_up_beside_the_slices_there(path):
    """They lay under slices in the uplink. Where slices go in the middle of a port, they end there, not above it. On a slide without slices the way is whole."""
    heights = drawn(cluster="dl1", path=path).lines
    ways_drawn = [
        ys for ys, role in zip(heights["ys"], heights["line"], strict=True) if role != WAY_OF_OTHERS
    ]
    assert {ENTRY} < {ys[-1] for ys in ways_drawn} | {ys[0] for ys in ways_drawn}
    assert all(BUS in ys or len(set(ys)) == 1 for ys in ways_drawn)
    assert not any(min(ys) < BUS <= max(ys) for ys in ways_drawn), "none goes up from the switch"
    unqueued = Sketch(simulated(cluster="dl1", path=path), slices=False)
    assert any(len(set(ys)) > 1 for ys in draw(unqueued).lines["ys"])


def test_slices_that_a_cpu_copies_are_clear_of_its_words():
    """They crossed "CPU cores" and how many are busy."""
    picture = Picture(simulated(cluster="dl1", path="host-tcp"))
    texts = picture.drawing.texts
    widest = max(
        len(text) * (7.6 if style == "bold" else 6.6)
        for x, text, style in zip(texts["x"], texts["text"], texts["style"], strict=True)
        if x == sum(CPU[::2]) / 2
    )
    for node in (0, 1):
        furthest = max(
            abs(x - picture.sketch.geometry.x(node, MEMORY[2]))
            for x, _ in picture.sketch.geometry.through_cpu(node)
        )
        slice_ends = MEMORY[2] + furthest + BREADTH / 2
        assert CPU[0] < slice_ends < sum(CPU[::2]) / 2 - widest / 2


def test_words_beside_an_uplink_end_in_front_of_the_link_of_a_nic_that_hangs_at_the_cpu():
    """An uplink of 56.4 GB/s each way, 13 % busy, ran out of the picture of one node."""
    run = simulated(cluster="h100-ndr", path="peer-direct", wiring="root-port")
    there = words(way_svg(run))
    line = next(text for text in there if text.startswith("56.4 GB/s"))
    assert line == f"56.4 GB/s, {run.busy['uplink_up']:.0%} busy".replace("%", " %")
    assert "PCIe uplink †" in there
    left = UPLINK + 2 * Geometry(run.scenario.hardware).lane + 24
    assert left + 7.5 * len(line) < PORT - 13  # half of the thickest link


def test_a_way_without_slices_has_its_switch_at_one_place_and_nothing_beyond_its_frame():
    places = set()
    for wiring in ("switch", "root-port"):
        picture = ET.fromstring(way_svg(simulated(cluster="dl1", path="peer-direct", wiring=wiring)))  # noqa: S314  (our own)
        width, height = (float(picture.get(side)) for side in ("width", "height"))
        names = {text.text: text for text in picture.iter(f"{SVG}text")}
        places.add((names["PCIe switch"].get("x"), names["PCIe switch"].get("text-anchor")))
        assert all(float(text.get("x")) <= width for text in picture.iter(f"{SVG}text"))
        for way in picture.iter(f"{SVG}polyline"):
            assert max(float(point.split(",")[1]) for point in way.get("points").split()) < height - 10
    assert len(places) == 1


def test_where_a_run_waits_for_latency_its_words_are_marked_and_no_wire():
    """A wire that was 3 % busy was framed as the bottleneck."""
    drawing = drawn(cluster="p5", path="peer-direct", nodes=16, message_bytes="1 MiB")
    texts = drawing.texts
    assert [text for text, ink in zip(texts["text"], texts["ink"], strict=True) if ink == "hot-ink"] == [
        "LL128 protocol, 34.4 µs/hop †"
    ]
    assert "hot" not in drawing.pipes["line"]


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct"])
def test_a_node_on_a_slide_ends_at_its_frame_and_its_memory_has_shelves(path):
    """Its wire was cut off a pixel beyond the frame, and a slice lay loose in the memory."""
    drawn = ET.fromstring(node_svg(simulated(cluster="dl1", path=path), large=True))  # noqa: S314  (our own)
    rows = [box for box in drawn.iter("{http://www.w3.org/2000/svg}rect") if box.get("x")]
    assert min(float(box.get("width")) for box in rows) > 0
    boxes = [(float(box.get("x")), float(box.get("width")), box) for box in rows]
    assert max(left + wide for left, wide, _ in boxes if left < 404) < 404.5
    memory = [
        box for left, wide, box in boxes if 80 < left < 120 and wide > 150 and float(box.get("height")) < 20
    ]
    assert len(memory) == (2 if path == "host-rdma" else 0)
