"""Output of hccl_demo in all its dialects: each says 33 or 268 MB of a collective of eight ranks."""

import pytest
from tool_logs import (
    HCCL,
    HCCL_2022,
    HCCL_CSV,
    HCCL_DOCS,
    HCCL_LATENCY,
    HCCL_OPENSHIFT,
    HCCL_RANGE,
    HCCL_RANGE_OLD,
    HCCL_README,
)

import peerlab
from peerlab.base.errors import RecordsError


def figures(text):
    """Return collective, size, ranks, algbw and busbw of every row."""
    table = peerlab.load(text).table
    return table[["collective", "size_bytes", "ranks", "algbw_GBps", "busbw_GBps"]].to_numpy().tolist()


def test_one_size_with_its_command():
    found = peerlab.load(HCCL)
    assert figures(HCCL) == [["allreduce", 33554432, 8, 100.0, 175.0]]
    assert found.table["time_s"].iloc[0] == pytest.approx(33554432 / 100e9)
    assert (found.manifest["ranks"], found.manifest["nodes"], found.manifest["ranks_per_node"]) == (8, 2, 4)
    assert found.manifest["environment"]["HCCL_OVER_OFI"] == "1"
    assert "HCCL_COMM_ID" not in found.manifest["environment"]
    assert found.manifest["validation"] == "1 buffer fine"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (HCCL_README, ["allreduce", 33554432, 8, 100.0, 175.0]),
        (HCCL_OPENSHIFT, ["reduce-scatter", 33554432, 8, 100.0, 87.5]),
        (HCCL_DOCS, ["allreduce", 268435456, 8, 100.0, 175.0]),
        (HCCL_2022, ["allreduce", 33554432, 8, 100.0, 175.0]),
    ],
)
def test_other_ways_to_print_one_size(text, row):
    assert figures(text) == [row]


def test_the_time_is_size_over_bandwidth_whatever_is_printed():
    assert peerlab.load(HCCL_DOCS).table["time_s"].iloc[0] == pytest.approx(268435456 / 100e9)


def test_latencies_of_host_and_device_are_two_rows():
    table = peerlab.load(HCCL_LATENCY).table
    assert table[["variant", "time_s"]].to_numpy().tolist() == [
        ["host latency", 0.123456e-3],
        ["device latency", 0.1e-3],
    ]


def test_a_range_of_sizes():
    assert figures(HCCL_RANGE) == [
        ["allreduce", 33554432, 8, 100.0, 175.0],
        ["allreduce", 67108864, 8, 110.0, 192.5],
    ]
    assert list(peerlab.load(HCCL_RANGE).table["op"]) == ["sum", "sum"]
    # the second row's printed time disagrees with its bandwidth
    assert peerlab.load(HCCL_RANGE).table["time_s"].iloc[1] == pytest.approx(67108864 / 110e9)


def test_an_allgather_counts_what_every_rank_has_in_the_end():
    [[collective, size, ranks, algbw, busbw]] = figures(HCCL_RANGE_OLD)
    assert (collective, size, ranks, busbw) == ("allgather", 8 * 33554432, 8, 700.0)
    assert algbw == 800.0
    assert busbw == pytest.approx(algbw * 7 / 8)


def test_the_result_file_has_a_row_for_each_rank():
    found = peerlab.load(HCCL_CSV)
    assert list(found.table["rank"]) == [0, 1]
    assert figures(HCCL_CSV)[1] == ["allreduce", 33554432, 8, 80.0, 140.0]
    [median] = found.medians().to_dict("records")
    assert median["time_s"] == pytest.approx(33554432 / 80e9)


def test_an_older_result_file_has_the_bus_bandwidth_alone():
    line = 'all_reduce,0,float,33554432,1000,"175.000000 GB/s"\n'
    [row] = peerlab.load(line).table.to_dict("records")
    assert row["busbw_GBps"] == 175.0
    assert "algbw_GBps" in row


def test_damaged_figures_are_left_out_with_their_line():
    found = peerlab.load(HCCL_RANGE.replace("110.000000 GB/s", "110.000000"))
    assert len(found) == 1
    assert found.warnings[0].startswith("line 9: left out: ")
    bus_alone = HCCL.replace("100.000000 GB/s", "100.000000 Gb/s")
    assert figures(bus_alone) == figures(HCCL)  # which says the other, as the ranks are known
    assert peerlab.load(bus_alone).warnings == (
        "line 7: left out: '100.000000 Gb/s' is not a figure with a unit",
    )
    with pytest.raises(RecordsError, match=r"without a result; line 5: neither a bandwidth nor a latency"):
        peerlab.load(bus_alone.replace("NW Bandwidth", "NW Bandwith"))
    with pytest.raises(RecordsError, match="line 5: neither a bandwidth nor a latency"):
        peerlab.load("\n".join(HCCL.splitlines()[:5]))


def test_an_unknown_test_is_refused():
    with pytest.raises(RecordsError, match=r"line 1: hccl_demo's test 'Gossip' is not read"):
        peerlab.load(HCCL_README.replace("hcclAllReduce", "hcclGossip"))


def test_reports_of_latencies_and_reports_with_a_mark_before_each_line():
    latencies = HCCL_RANGE.replace("BANDWIDTH", "LATENCY").replace(
        "time              algoBW            nw_bw", "Host Latency      Device Latency"
    )
    latencies = latencies.replace("100.000000 GB/s   175.000000 GB/s", "0.300000 ms").replace(
        "110.000000 GB/s   192.500000 GB/s", "0.550000 ms"
    )
    table = peerlab.load(latencies).table
    assert list(table["variant"]) == ["host latency", "device latency"] * 2
    assert list(table["time_s"]) == [0.335544e-3, 0.3e-3, 0.6e-3, 0.55e-3]
    marked = "\n".join(f"[BENCHMARK] {line}" for line in HCCL_RANGE_OLD.splitlines()) + "\n"
    assert figures(marked) == figures(HCCL_RANGE_OLD)
    assert not any("left out" in one for one in peerlab.load(HCCL + marked).warnings)
