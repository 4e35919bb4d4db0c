"""A race as a page: what is in it, what is refused."""

import copy
import json
import re

import pytest

import peerlab
from peerlab.features.export.page import page_html
from peerlab.features.race.race_page import race_frame, race_html

PAIR = [peerlab.Scenario(path="host-rdma"), peerlab.Scenario(path="peer-direct")]


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="rc-data">(.*?)</script>', html)[1])


def test_a_race_page_holds_both_times_and_the_range_of_their_ratio():
    race = data_of(page_html(PAIR, mode="race"))["race"]
    times = [peerlab.simulate(one).time_s * 1e6 for one in PAIR]
    assert [one["finish_us"] for one in race["racers"]] == pytest.approx(times)
    assert race["answer"]["value"] == "1.16 to 2.11\N{MULTIPLICATION SIGN}"  # as the explorer writes it
    assert race["answer"]["note"] == "1.72\N{MULTIPLICATION SIGN} as simulated"
    low, high = race["answer"]["band"]
    assert low < times[0] / times[1] < high
    assert (
        "if each NIC has a root port of its own" in race["answer"]["otherwise"]
    )  # what no range holds stands beside it
    assert "Peer Direct is through, RDMA through host has delivered 54 %" in race["words"]


def test_a_range_is_told_only_where_both_exchange_the_same_on_one_machine():
    two = [PAIR[1], PAIR[1].with_(nodes=16)]
    assert data_of(page_html(two, mode="race"))["race"]["answer"]["band"] is None


def test_once_as_fast_has_no_colour():
    page = race_html(peerlab.race(PAIR[1], message_bytes=PAIR[1].nbytes + 2**16), bands=False)
    assert data_of(page)["race"]["answer"]["value"] == "1.00\N{MULTIPLICATION SIGN}"
    assert '<main class="rc-root" style="--rc: var(--pl-muted); --rc-ink: var(--pl-ink)' in page
    assert "--rc: var(--pl-direct)" in race_html(peerlab.race(*PAIR), bands=False)


def test_cores_that_are_busy_on_neither_path_have_no_row():
    rows = data_of(page_html(PAIR, mode="race", bands=False))["race"]["answer"]["rows"]
    assert [what for what, *_ in rows] == ["copies per byte", "DRAM per byte"]
    kernel = [PAIR[0].with_(path="host-tcp"), PAIR[1]]
    rows = data_of(page_html(kernel, mode="race", bands=False))["race"]["answer"]["rows"]
    assert rows[-1][0] == "CPU cores busy"


def test_what_is_counted_is_told_as_a_part_of_the_message():
    source = data_of(page_html(PAIR, mode="race", bands=False))["race"]["source"]
    assert source.startswith(
        "Each node sends 112 MiB: 2 \N{MULTIPLICATION SIGN} 7/8 of the 64 MiB message. Simulated"
    )
    gathered = [one.with_(collective="allgather", nodes=4) for one in PAIR]
    assert (
        "3/4 of the 64 MiB message"
        in data_of(page_html(gathered, mode="race", bands=False))["race"]["source"]
    )
    unlike = [PAIR[0], PAIR[1].with_(message_bytes="16 MiB")]
    assert data_of(page_html(unlike, mode="race", bands=False))["race"]["source"].startswith("Simulated")


def test_a_slide_is_another_layout_of_the_same_race():
    page = page_html(PAIR, mode="race-slide", bands=False)
    assert '<html lang="en" data-mode="slide">' in page
    # Slices have the explorer's colours there, and those that no path has for its own are in its key.
    assert data_of(page)["race"]["key"] == [["network", "NIC to NIC"]]
    again = [PAIR[1], PAIR[1].with_(registration="pool")]
    assert data_of(page_html(again, mode="race-slide", bands=False))["race"]["key"] == []


def test_a_notebook_shows_a_race_in_a_frame_that_says_in_words_what_is_in_it():
    race = peerlab.race(*PAIR)
    frame = race._repr_html_()
    assert frame == race_frame(race)
    assert frame.startswith("<iframe srcdoc=")
    assert (
        "title='AllReduce of 64 MiB, 8 nodes of Gaudi DL1, both on one clock: RDMA through host takes 4.38 ms"
        in frame
    )


def test_a_name_of_a_cluster_cannot_end_the_data():
    cluster = copy.copy(peerlab.load_cluster("dl1"))
    object.__setattr__(cluster, "title", "</script><script>alert(1)</script>")
    html = race_html(peerlab.race(PAIR[0].with_(cluster=cluster), path="peer-direct"), bands=False)
    assert "<script>alert" not in html
    assert "alert(1)" in data_of(html)["race"]["about"]


@pytest.mark.parametrize(
    ("subject", "options", "said"),
    [
        (PAIR[0], {"mode": "race"}, "'race' shows two scenarios"),
        (PAIR, {"mode": "rase"}, "unknown 'rase'; did you mean 'race'"),
        (PAIR, {"mode": "race", "controls": "host"}, "a race has no controls"),
        (PAIR, {"mode": "race", "start": {"nodes": 4}}, "a race has no controls"),
        ([one.with_(nodes=1) for one in PAIR], {"mode": "race"}, "needs 2 nodes or more"),
    ],
)
def test_what_a_race_cannot_be_is_said_in_words(subject, options, said):
    with pytest.raises(peerlab.PeerlabError, match=said):
        page_html(subject, **options)


def test_a_scenario_does_not_race_against_itself():
    with pytest.raises(peerlab.PeerlabError, match="both sides are the same scenario"):
        peerlab.race(PAIR[0], path="host-rdma")
