"""Reduction in the network, drawn: what nodes send goes up to a switch between them, and comes down to all as a sum."""

import re

import pytest

import peerlab
from peerlab.view.drawing import HEIGHT, WIDTH
from peerlab.view.geometry import PORT, SUM_LANE, WIRE, geometry_of, stops, ways
from peerlab.view.payload import payload
from peerlab.view.still import still_svg
from peerlab.view.trains import stretch

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
