"""Measured points lie on the curves where they fit the scenario, and nowhere else."""

import pytest

import peerlab
from peerlab.base.units import MIB
from peerlab.features.measure.this_machine import here
from peerlab.picture.measured import overlay, points
from peerlab.records.judge import compare

ROW = {
    "kind": "imported",
    "source": "nccl-tests: run.log",
    "collective": "allreduce",
    "variant": "out-of-place",
    "size_bytes": 64 * MIB,
    "ranks": 8,
    "nodes": 2,
    "time_s": 1e-3,
}
START = peerlab.Scenario(cluster="alps-gh200", nodes=2, path="peer-direct", message_bytes="64 MiB")


def of(*rows, **more):
    return points(peerlab.Records.of([{**ROW, **row} for row in rows]), **more)


def drawn(scenario, known, axis):
    return list(zip(*(overlay(scenario, known)[axis][name] for name in ("x", "y", "own")), strict=True))


def test_a_point_stands_at_its_size_and_nodes_with_its_bus_bandwidth():
    known = of({}, own=True)
    busbw = 64 * MIB / 1e-3 / 1e9 * 2 * 7 / 8
    assert drawn(START, known, "message_bytes") == [(64 * MIB, pytest.approx(busbw), True)]
    assert drawn(START, known, "nodes") == [(2, pytest.approx(busbw), True)]


@pytest.mark.parametrize(
    "other",
    [{"collective": "allgather"}, {"ranks": 2}, {"nodes": 4, "ranks": 16, "size_bytes": 1 * MIB}],
    ids=["another collective", "one device a node", "other nodes and size"],
)
def test_what_was_measured_otherwise_is_not_drawn(other):
    known = of(other)
    assert drawn(START, known, "message_bytes") == drawn(START, known, "nodes") == []


def test_what_was_measured_elsewhere_on_the_axis_is_said():
    known = of({"nodes": 4, "ranks": 16}, {"nodes": 8, "ranks": 32})
    shown = overlay(START, known)
    assert shown["hint"] == {"message_bytes": "measured at 4 nodes to 8 nodes", "nodes": ""}
    assert drawn(START, known, "nodes")[0][0] == 4


def test_out_of_place_stands_for_both():
    fast, slow = {"variant": "in-place", "time_s": 1e-4}, {"variant": "out-of-place", "time_s": 1e-3}
    (point,) = of(fast, slow)
    assert "out-of-place" in point.note


def test_text_of_a_log_is_never_markup():
    (point,) = of({"source": "<img src=x onerror=alert(1)>"})
    assert "&lt;img" in point.note
    assert "<img" not in point.note


def test_every_shipped_table_of_a_whole_cluster_has_a_scenario_where_it_is_drawn():
    alps = [points(one) for one in peerlab.records.measured_for("alps-gh200").values()]
    full = [known for known in alps if any(p.ranks == 8 and p.collective == "allreduce" for p in known)]
    assert full
    assert all(drawn(START, known, "message_bytes") for known in full)


def measured(*rows):
    base = {**ROW, "kind": "measured", "variant": "", "ranks": 4, "nodes": 1, "rank": 0}
    return compare(peerlab.Records.of([{**base, **row} for row in rows]))


def three(times, **fields):
    return [{**fields, "repetition": i, "time_s": t} for i, t in enumerate(times)]


def test_this_machine_is_shown_as_ratios_to_staged_with_the_noise_of_the_control():
    found = measured(
        *three([3e-3, 3e-3, 3e-3], path="staged", registration="none"),
        *three([3e-3, 3.3e-3, 3e-3], path="staged", registration="none", variant="A/A"),
        *three([1e-3, 1e-3, 1e-3], path="direct", registration="none"),
        *three([2e-3, 2e-3, 2e-3], path="direct", registration="lru", capacity=2),
    )
    curves = here(found)["curves"]
    lines = {line["label"]: line["y"] for line in curves["lines"]}
    assert lines == {
        "direct, unpinned": [pytest.approx(3)],
        "direct, small cache": [pytest.approx(1.5)],
    }
    assert curves["noise"]["high"] == [pytest.approx(1.15)]
    assert curves["limits"]["nic"] == {"label": "staged, 4 ranks", "y": [1.0]}
    assert len(curves["points"]["x"]) == 2


def test_before_anything_was_measured_the_page_invites():
    shown = here([])
    assert shown["action"] == "Measure this machine"
    assert shown["curves"]["values"] == []
    assert "AllReduce" in shown["text"]
