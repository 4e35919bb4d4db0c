"""The curves follow: lines, then bands; given up when something else is wanted."""

import asyncio
import threading
import time

import pytest

import peerlab
from peerlab.app import curves_in_background, runs
from peerlab.app.curves_in_background import CurvesInBackground
from peerlab.app.runs import Runs
from peerlab.picture.curve_scenarios import lines
from peerlab.picture.curves import BAND, LINES, RANGES, WHOLE, curves

pytestmark = pytest.mark.usefixtures("whole_curves")
START = peerlab.Scenario(nodes=2)


def drawn(scenario, **attributes):
    """Return every parcel of the curves of a scenario."""
    told = []

    async def draw():
        curving = CurvesInBackground(Runs(), told.append)
        vars(curving).update(attributes)
        curving.draw(scenario)
        await curving._task

    asyncio.run(draw())
    return told


def test_the_lines_come_first_and_every_band_contains_its_line():
    first, *between, last = drawn(START, axis="message_bytes")
    assert all(low is None for line in first["lines"] for low in line["low"])
    assert between
    assert {parcel["state"] for parcel in (first, *between)} == {RANGES}
    assert (first["bands"], last["bands"], last["state"]) == ("", BAND, WHOLE)
    ranged = {line["name"] for line in between[0]["lines"] if any(line["low"])}
    assert ranged == {"host-rdma"}, "where a reader looks"
    for line in last["lines"]:
        for low, y, high in zip(line["low"], line["y"], line["high"], strict=True):
            assert low <= y <= high
    here = last["values"].index(START.nbytes)
    band = peerlab.simulate(START).sensitivity_band()
    (host,) = (line for line in last["lines"] if line["name"] == "host-rdma")
    assert (host["low"][here], host["high"][here]) == (band.low_GBps, band.high_GBps)
    assert "that have a range lie at its ends" in host["note"][here]


@pytest.mark.parametrize("cluster", ["p5", "alps-gh200-tcp", "dl1"])
def test_no_band_reaches_above_that_of_the_wire_limit(cluster):
    first, *_, last = drawn(peerlab.Scenario(cluster=cluster, nodes=2), axis="message_bytes")
    assert set(first["limits"]["nic"]["high"]) == {None}  # it comes with the others
    limit = last["limits"]["nic"]
    for line in last["lines"]:
        for high, most in zip(line["high"], limit["high"], strict=True):
            assert high <= most * (1 + 1e-6)
    if cluster == "p5":  # what NCCL plans for NVLSTree
        assert (round(limit["low"][-1]), round(limit["y"][-1]), round(limit["high"][-1])) == (591, 591, 591)


def test_a_cluster_without_assumptions_says_that_it_has_no_band():
    last = drawn(START.with_(cluster="ideal-100g", path="wire"))[-1]
    assert (last["state"], last["bands"]) == (WHOLE, "")
    assert last["about"].startswith("no range: no assumed figure has one")


def test_a_busy_machine_leaves_out_no_point(monkeypatch):
    """Curves ended at 512 nodes or at 1024, by what else ran: one path seemed to reach further than the other."""

    def slowly(scenario, progress):
        progress(0, 1)
        time.sleep(0.3)  # others have the processor
        progress(1, 1)
        return peerlab.simulate(scenario)

    monkeypatch.setattr(runs, "simulate", slowly)
    assert asyncio.run(Runs().get_patiently(START, 0.2)).scenario == START


def test_points_that_are_left_out_are_named_with_the_reason():
    direct = START.with_(path="peer-direct", memlock_bytes="64 MiB")
    last = drawn(direct, axis="message_bytes")[-1]
    (line,) = (line for line in last["lines"] if line["name"] == "peer-direct")
    assert [y is None for y in line["y"]] == [False] * 6 + [True] * 2
    why, lines = last["about"].split("; ")[-1].split(": ")
    assert why == "impossible at 256 MiB, 1 GiB"
    assert lines in ("Peer Direct", "no cache, Peer Direct")


def test_while_lines_are_simulated_the_first_is_that_of_the_scenario(monkeypatch):
    monkeypatch.setattr(curves_in_background, "_SHOW_S", 0)
    told = drawn(START)
    growing = [
        [line["name"] for line in parcel["lines"] if any(line["y"])]
        for parcel in told
        if parcel["state"] == LINES
    ]
    assert growing[0] == ["host-rdma"]
    assert [len(names) for names in growing] == [*range(1, len(told[-1]["lines"]))]
    names = {tuple(line["name"] for line in parcel["lines"]) for parcel in told}
    assert len(names) == 1, "names of lines that follow have their room"


def test_lines_end_where_the_first_of_them_takes_too_long():
    """They ended at three numbers of nodes, and no name stood at its line's end."""
    slow = {"host-rdma": 4, "peer-direct": 2, "host-tcp": 1}
    start = peerlab.Scenario(path="peer-direct")
    run = peerlab.simulate(START)
    computed = [
        (line, [run if place < slow.get(line.name, 3) else None for place, _ in enumerate(line.scenarios)])
        for line in lines(start, "nodes")
    ]
    parcel = curves(start, "nodes", computed)
    assert parcel["simulated"] == 2, "one point alone is no line"
    assert parcel["about"] == "lines end before 8 nodes: more take long to simulate"
    parcel = curves(start, "nodes", [(computed[0][0], [None] * len(computed[0][1])), *computed[1:]])
    assert parcel["about"].endswith(f"; slow to simulate: {parcel['lines'][0]['label']}")


def test_another_wish_ends_the_thread_that_computes_bands():
    async def change_of_mind():
        curving = CurvesInBackground(Runs(), lambda _: None)
        curving.draw(peerlab.Scenario(message_bytes="7 MiB"))
        while not any("asyncio" in one.name for one in threading.enumerate()):  # noqa: ASYNC110  (a thread)
            await asyncio.sleep(0.01)
        curving.rest()
        curving.cancel()
        begun = time.monotonic()
        await asyncio.get_running_loop().shutdown_default_executor()
        return time.monotonic() - begun

    assert asyncio.run(change_of_mind()) < 5


def test_a_switch_and_a_place_on_the_axis_leave_the_lines_as_they_are():
    assert lines(START, "nodes") == lines(START.with_(nodes=64), "nodes")
    direct = START.with_(path="peer-direct")
    assert lines(START, "nodes") == lines(direct, "nodes")
    assert lines(START, "nodes") == lines(direct.with_(registration="per-transfer"), "nodes")
