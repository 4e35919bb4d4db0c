"""Transports side by side: what each takes, and that header bytes and latency explain it on a clean ring."""

import re

import numpy as np
import pytest

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.cli.commands import run as peerlab_command
from peerlab.features.fabrics import fabric_report
from peerlab.features.fabrics.fabric_report import fabrics_svg
from peerlab.features.fabrics.fabrics_parcel import fabrics_parcel
from peerlab.study.fabric_comparison import compare_fabrics

RING = peerlab.Scenario(cluster="ideal-100g", algorithm="ring")


def test_on_a_clean_ring_transports_differ_by_header_bytes_and_latency_alone():
    found = compare_fabrics(RING, own_latency=False)
    assert {one.name for one in found.transports} == {"efa", "ideal", "infiniband", "iwarp", "roce", "tcp"}
    assert set(found.table["latency_us"]) == {5.0}
    assert found.differ_by_bytes_alone
    assert "by header bytes and latency alone: every port has one sender" in found.finding
    times = dict(zip(found.table["transport"], found.table["time_s"], strict=True))
    for one in found.transports:  # the rest of the time is bytes over the rate times the goodput
        wire = times["ideal"] - 14 * 5e-6
        assert times[one.name] - 14 * 5e-6 == pytest.approx(wire / one.run.scenario.goodput, rel=1e-4)


def test_each_has_its_own_latency_where_the_cluster_does_not_count():
    found = compare_fabrics(RING, ["infiniband", "tcp"])
    assert [one.latency_us for one in found.transports] == [pytest.approx(0.85525), pytest.approx(5.72525)]
    assert RING.given_cluster.latency_ps == 5_000_000


def test_messages_that_the_nic_counts_are_said():
    writes = peerlab.Scenario(
        cluster="ideal-100g", collective="point-to-point", nodes=2, message_bytes=80_000, slice_bytes=8, window=16384,
        dependency="slice",
    )  # fmt: skip
    found = compare_fabrics(writes, ["infiniband", "roce"])
    assert not found.differ_by_bytes_alone
    assert "InfiniBand: messages a second limit the NIC, not bytes." in found.finding
    assert "RoCE v2: messages do not fill their packets, so headers weigh more" in found.finding
    assert found.transports[0].messages_per_s == pytest.approx(215e6, rel=1e-4)
    assert found.transports[0].run.bottleneck.label == "NIC messages"


def test_kernel_tcp_is_left_out_where_a_path_needs_rdma_and_refused_where_it_is_asked_for():
    direct = peerlab.Scenario(cluster="dl1", path="peer-direct", nodes=2)
    assert "tcp" not in {one.name for one in compare_fabrics(direct).transports}
    with pytest.raises(ScenarioError, match="kernel TCP has no RDMA"):
        compare_fabrics(direct, ["tcp"])


def test_the_command_writes_a_page_that_plays_and_a_still_that_needs_no_script(tmp_path, capsys):
    for name in ("fabrics.html", "fabrics.svg"):
        output = tmp_path / name
        assert (
            peerlab_command(
                ["fabrics", "--cluster", "ideal-100g", "--only", "roce,tcp", "--output", str(output)]
            )
            == 0
        )
        text = output.read_text()
        titles = re.findall(r'"title": "([^"]*)"', text) or re.findall(r">(RoCE v2|kernel TCP)<", text)
        assert titles == ["kernel TCP", "RoCE v2"]  # the fastest first
        assert ("<script" in text) == name.endswith(".html")
    assert {"goodput", "busbw", "messages of a NIC"} <= set(re.findall(r">([^<>]+)</text>", text))
    told = capsys.readouterr().out
    assert re.search(r"RoCE v2 +9\.\d+ ms", told)
    assert "header bytes and latency alone" in " ".join(told.split())


@pytest.mark.parametrize(
    "asked",
    [
        {"collective": "alltoall"}, {"collective": "allgather"}, {"collective": "point-to-point"}, {"algorithm": "sharp"},
        {"algorithm": "halving-doubling", "dependency": "step"}, {"cluster": "dl1", "slow_nodes": {1: 0.5}}, {"cluster": "gb200-nvl72", "nodes": 36},
        {"nodes": 1024}, {"cluster": "ideal-100g-leafspine-2to1", "placement": "shuffled"},
    ],
)  # fmt: skip
def test_the_page_says_of_every_collective_what_the_table_says(asked):
    scenario = peerlab.Scenario(**{"cluster": "ideal-100g", "nodes": 4, "message_bytes": "1 MiB"} | asked)
    # switches add up only what comes by RDMA
    comparison = compare_fabrics(scenario, ["infiniband", "roce"] if "algorithm" in asked else None)
    parcel = fabrics_parcel(comparison)
    assert [one["figures"] for one in parcel["transports"]] == [
        list(fabric_report.cells(one)[1:]) for one in comparison.transports
    ]
    for one, played in zip(comparison.transports, parcel["transports"], strict=True):
        assert played["total"] > 0
        assert played["finish_us"] == one.run.time_ps / 1e6
        assert np.frombuffer(played["shares"], "<f4")[-1] == 1
        assert np.frombuffer(played["times"], "<f4")[-1] <= played["finish_us"] * (1 + 1e-6)
        assert played["road"]["stretches"]
    assert parcel["headline"].startswith(comparison.transports[-1].title)


def test_every_bar_ends_where_its_time_is_on_the_one_axis():
    found = compare_fabrics(RING.with_(message_bytes="8 KiB"), ["efa", "infiniband", "roce"])
    left, right = fabric_report._AXIS
    ends = [
        float(x) + float(width)
        for x, width in re.findall(
            rf"<rect x='({left:g})' y='[\d.]+' width='([\d.]+)' height='26'[^>]* fill='#56B4E9'",
            fabrics_svg(found),
        )
    ]
    times = [one.run.time_ps for one in found.transports]
    assert ends == [pytest.approx(left + (right - left) * one / max(times), abs=0.5) for one in times]


def test_headers_are_drawn_as_long_as_what_they_cost_and_not_where_the_wire_does_not_limit():
    found = compare_fabrics(RING)
    header = {one.name: one.header_ps for one in found.transports}
    bare = RING.with_(cluster=RING.given_cluster, transport="ideal")
    assert header["ideal"] == 0
    times = {name: found.table.set_index("transport")["time_s"][name] for name in header}
    wire = peerlab.simulate(bare).time_s - 14 * 5e-6  # bytes alone
    assert header["efa"] * 1e-12 == pytest.approx(times["efa"] - 14 * 15.7e-6 - wire, rel=0.02)
    assert fabrics_svg(found).count("fill='#8793A3'") == 1 + 5  # its legend, and each that has headers
    short = compare_fabrics(RING.with_(message_bytes="8 KiB"), ["efa"])
    assert 0.05e6 < short.transports[0].header_ps < 0.2e6
    assert fabrics_svg(short).count("fill='#8793A3'") == 1
    host = compare_fabrics(peerlab.Scenario(cluster="dl1", nodes=2))
    assert fabrics_svg(host).count("fill='#8793A3'") == 1
    assert "The limit is not the wire but PCIe to host." in host.finding


def test_rows_come_fastest_first_and_one_alone_is_not_compared():
    found = compare_fabrics(RING.with_(message_bytes="8 KiB"))
    assert found.table["time_s"].is_monotonic_increasing
    assert "Ideal has no headers, but keeps the cluster's latency of 5 µs" in found.finding
    assert "shorter for InfiniBand and RoCE v2: so ideal may be slower" in found.finding
    same = compare_fabrics(RING.with_(message_bytes="8 KiB"), ["tcp", "iwarp"]).finding  # latency limits
    assert "within half a per cent, by header bytes and latency alone" in same
    alone = compare_fabrics(RING, ["tcp"]).finding
    assert alone == "kernel TCP alone takes 9.57 ms: there is nothing to compare it with."


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--only", "rocce"], "transport: unknown 'rocce'; did you mean 'roce'"),
        (
            ["--output", "fabrics.pdf"],
            "--output fabrics.pdf: give a name that ends with .html, .svg, .mp4, .webm or .gif",
        ),
    ],
)
def test_the_command_refuses_in_one_line(words, says, capsys):
    assert peerlab_command(["fabrics", "--cluster", "ideal-100g", *words]) == 1
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1


def test_what_nothing_tells_apart_or_sends_is_said_in_words():
    """One node sends nothing; devices' own ports are no NICs; a backbone carries headers as NICs do; kernel TCP is listed once."""
    for asked, says in (
        ({"cluster": "ideal-100g", "nodes": 1}, "nodes: nothing leaves by a NIC; give more than 1"),
        ({"cluster": "gb200-nvl72", "nodes": 2}, "nodes: nothing leaves by a NIC; give more than 18"),
        ({"cluster": "gaudi2"}, "path: nothing leaves by a NIC on path 'native'"),
    ):
        with pytest.raises(ScenarioError, match=says):
            compare_fabrics(peerlab.Scenario(**asked))
    shared = compare_fabrics(peerlab.Scenario(cluster="ideal-100g-backbone"), ["infiniband", "roce"])
    assert shared.finding.endswith("how transfers share this fabric is the same for all of them.")
    by_kernel = compare_fabrics(peerlab.Scenario(cluster="dl1", path="host-tcp"))
    assert sorted(one.title for one in by_kernel.transports) == ["ideal", "kernel TCP"]


def test_packets_are_those_that_were_asked_for_where_a_transport_allows_them():
    asked = peerlab.Scenario(cluster="ideal-100g", transport="roce", mtu=1024)
    packets = {one.name: one.run.scenario.hardware.mtu_bytes for one in compare_fabrics(asked).transports}
    assert packets["infiniband"] == packets["roce"] == packets["tcp"] == 1024
    assert packets["efa"] == 8192
