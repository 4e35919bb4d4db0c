"""Reduction in the network, drawn: what nodes send goes up to a switch between them, and comes down to all as a sum."""

import re
from base64 import b64decode
from dataclasses import replace
from itertools import pairwise

import pytest

import peerlab
from peerlab.picture.drawing import HEIGHT, WIDTH
from peerlab.picture.geometry import PORT, SUM_BOX, SUM_LANE, WIRE, geometry_of, stops, ways
from peerlab.picture.measured import MeasuredPoint, overlay
from peerlab.picture.moment import moment
from peerlab.picture.payload import payload
from peerlab.picture.still import still_svg
from peerlab.picture.theme import palettes
from peerlab.picture.trains import stretch
from peerlab.picture.words import alt_text, caption

SUMS = peerlab.Scenario(
    cluster="infiniband-hdr-a100",
    path="peer-direct",
    library="none",
    algorithm="sharp",
    message_bytes="8 MiB",
)
MIDDLE = WIDTH / 2
TRACKS = {
    "peer-direct": "device to device",
    "host-rdma": "host memory to host memory",
    "wire": "port to port",
}


@pytest.fixture(params=TRACKS)
def drawn(request):
    bare = {"cluster": "ideal-100g"} if request.param == "wire" else {}
    run = peerlab.simulate(SUMS.with_(path=request.param, **bare))
    return geometry_of(run), TRACKS[request.param]


def test_slices_go_up_into_the_switch_above_the_middle_and_come_down_below_it(drawn):
    geometry, track = drawn
    own, following, before, back = ways(geometry, track, 0)
    turn = [(x, y) for x, y in own if x == MIDDLE]
    assert turn == [(MIDDLE, WIRE - SUM_LANE), (MIDDLE, WIRE + SUM_LANE)]
    assert following[-1] == (MIDDLE, WIRE - SUM_LANE)  # the other node's goes up as well
    assert before[0] == (MIDDLE, WIRE + SUM_LANE)  # and what all others sent comes down here
    assert back == [(WIDTH - x, y) for x, y in own]
    assert all(y < HEIGHT for way in (own, following, before) for _, y in way)


def test_a_slice_is_sent_at_one_nic_and_received_at_the_other(drawn):
    geometry, track = drawn
    own, _, before, _ = ways(geometry, track, 0)
    (sent, received, _), (leaves, *_), (_, comes, _), _ = stops(geometry, track, 0)
    assert stretch(own, (0.0, sent))[-1] == pytest.approx((PORT, WIRE))
    assert stretch(own, (0.0, received))[-1][0] == pytest.approx(WIDTH - PORT)
    assert 0 < leaves < 1
    assert stretch(before, (0.0, comes))[-1] == pytest.approx((PORT, WIRE))


def test_the_picture_says_what_the_switch_does():
    run = peerlab.simulate(SUMS)
    still = still_svg(run)
    said = re.findall(r">([^<>]+)</text>", still)
    assert "switch adds up 8 nodes" in said
    assert "0.6 µs up, 0.6 µs down †" in said
    assert "the switches between the nodes add up (SHARP)" in still
    sent = payload(run)
    assert sent["meta"]["sums"]
    assert sent["views"]["scene"]["sight"]["source"] == (-1,)  # nobody is a ring's neighbour


def test_one_node_has_no_switch_between_and_names_the_one_inside():
    run = peerlab.simulate(peerlab.Scenario(cluster="p5", nodes=1, algorithm="nvls", message_bytes="8 MiB"))
    said = still_svg(run)
    assert "read sums that their switch makes (NVLink SHARP)" in said
    assert "308.5 GB/s each" in said
    assert not payload(run)["meta"]["sums"]


def test_two_nodes_answer_each_other_by_the_same_switch():
    run = peerlab.simulate(SUMS.with_(nodes=2))
    assert "switch adds up 2 nodes" in still_svg(run)
    assert run.time_ps == peerlab.simulate(SUMS).time_ps  # a switch does not care how many there are


def test_slices_of_both_nodes_go_up_and_the_sum_comes_down_to_both_in_its_own_colour():
    run = peerlab.simulate(SUMS.with_(cluster="ideal-100g", path="wire"))
    left, right = SUM_BOX
    seen = [one for share in range(1, 20) for one in moment(run, run.time_ps * share // 20).trains]
    assert not any(one.hollow for one in seen)
    for one in seen:  # nobody is seen in the switch, where the count stands
        assert all(x <= left or x >= right for x, _ in one.points)
        assert (max(x for x, _ in one.points) <= left) != (min(x for x, _ in one.points) >= right)
        level = {y for x, y in one.points if x in (left, right)}
        assert level <= {WIRE + SUM_LANE} if one.summed else level <= {WIRE - SUM_LANE}
    sides = {(one.points[0][0] < MIDDLE, one.summed) for one in seen}
    assert sides == {(True, True), (True, False), (False, True), (False, False)}
    said = still_svg(run)
    assert ">8 in, 1 out</text>" in said
    assert "sum, added up by the switch" in said
    assert "goes up to the switch, which adds 8 of them; the sum comes down to all" in alt_text(run)
    sums = payload(run)["views"]["scene"]["sums"]
    assert sums == {"left": left, "right": right, "role": "inside"}


def test_one_node_with_nvlink_sharp_draws_its_switch_and_nothing_of_a_nic():
    run = peerlab.simulate(peerlab.Scenario(cluster="p5", nodes=1, algorithm="nvls", message_bytes="8 MiB"))
    still, said = still_svg(run), alt_text(run)
    assert ">NVSwitch: 8 in, 1 out</text>" in still
    for left_over in ("NIC to NIC", "registrations", "hollow", "whole transfers"):
        assert left_over not in still
    assert "goes up to the node's NVSwitch, which adds 8 of them; the sum comes down to all 8" in said
    assert "other side" not in said
    sent = payload(run)["views"]
    assert sent["scene"]["table"] == {"live": False, "title": "", "lines": []}
    assert [role for role, _ in sent["footer"]["colours"]] == []  # its lane has a name
    assert sent["headline"]["cards"][0]["note"] == "one node: no wire"


def test_on_a_bare_fabric_slices_strike_through_no_name():
    run = peerlab.simulate(peerlab.Scenario(cluster="ideal-100g", algorithm="ring"))
    own = ways(geometry_of(run), "port to port", 0)[0]
    names = re.findall(
        r"<text x='([\d.]+)' y='([\d.]+)' font-size='(\d+)'[^>]*>(Device|NIC|100 Gb/s)</text>", still_svg(run)
    )
    assert len(names) == 5, "the rate of two NICs that are alike is said at the first"
    for x, y, size, name in names:
        half = 4.0 * len(name)
        over = any(
            min(a[0], b[0]) < float(x) + half and max(a[0], b[0]) > float(x) - half for a, b in pairwise(own)
        )
        middle = float(y) - 0.36 * int(size)
        assert not over or abs(middle - WIRE) >= int(size) / 2 + 7


def test_a_caption_names_the_transport_with_packets_switches_and_cable():
    ring = peerlab.Scenario(cluster="ideal-100g", algorithm="ring")
    named = ring.with_(transport="roce", mtu=1024, hops=3, metres=40)
    said = "over RoCE v2, packets of 1024 bytes, 3 switches, 40 m"
    assert said in caption(peerlab.simulate(named))
    assert said in payload(peerlab.simulate(named))["views"]["footer"]["simulated"][0]
    assert said in alt_text(peerlab.simulate(named))
    assert "over" not in caption(peerlab.simulate(ring))
    assert "without headers" in caption(peerlab.simulate(ring.with_(transport="ideal")))


def test_what_was_measured_without_switches_that_add_up_is_no_point_of_sharp():
    point = MeasuredPoint("allreduce", 8, 64, 8 * 2**20, 100.0, "peer-direct", "", own=False)
    ring = SUMS.with_(algorithm="auto")
    assert overlay(ring, [point])["nodes"]["x"] == [8]
    assert overlay(SUMS, [point])["nodes"]["x"] == []
    assert overlay(SUMS, [replace(point, own=True)])["nodes"]["x"] == [8]


def test_a_notebook_in_the_dark_shows_the_dark_still():
    page = peerlab.simulate(SUMS)._repr_html_()
    name = re.search(r"<img src='[^']+' class='(pl-still-\w+)'", page)[1]
    rule = rf"body\[data-jp-theme-light='false'\] img\.{name}{{content:url\(data:image/svg\+xml;base64,([\w+/=]+)\)}}"
    assert palettes()["dark"]["paper"] in b64decode(re.search(rule, page)[1]).decode()
