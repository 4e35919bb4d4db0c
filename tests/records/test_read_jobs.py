"""Collectives of a job that trains: NCCL Inspector's JSON lines, and NCCL's own list of them."""

import pytest
from tool_logs import INSPECTOR, NCCL, NCCL_COLL

import peerlab
from peerlab.base.errors import RecordsError
from peerlab.records.benchmarks import BENCHMARKS, TOOLS, benchmark
from peerlab.records.load import _READERS

MIB = 1 << 20


def test_inspector_gives_size_and_time_of_every_collective_and_rank():
    records = peerlab.load(INSPECTOR)
    table = records.table
    assert len(table) == 6
    assert set(table["collective"]) == {"allreduce", "allgather"}
    first = table.iloc[0]
    assert (first["size_bytes"], first["ranks"], first["nodes"], first["rank"]) == (64 * MIB, 16, 2, 0)
    assert first["time_s"] == pytest.approx(1210e-6)
    assert first["busbw_GBps"] == pytest.approx(64 * MIB / 1210 / 1e3 * 1.875)
    assert records.manifest["tool"] == "NCCL Inspector"
    assert records.manifest["hosts"] == ["anvil01", "anvil02"]
    assert any("what the job computes meanwhile" in note for note in records.warnings)


def test_a_damaged_line_is_left_out_and_one_that_contradicts_itself_is_doubted():
    lines = INSPECTOR.splitlines()
    damaged = "\n".join(
        [lines[0][:200], lines[1].replace('"coll_busbw_gbs":', '"coll_busbw_gbs":9'), *lines[2:]]
    )
    records = peerlab.load(damaged)
    assert len(records.table) == 5
    said = " ".join(records.warnings)
    assert "line 1: left out: it is damaged or cut off" in said
    assert "busbw is" in said
    with pytest.raises(RecordsError, match="without a whole line"):
        peerlab.load(
            "\n".join(line.replace("AllReduce", "Reduce").replace("AllGather", "Reduce") for line in lines)
        )


def test_nccl_s_own_list_has_order_and_sizes_and_no_times():
    records = peerlab.load(NCCL_COLL)
    told = list(zip(records.table["collective"], records.table["size_bytes"], strict=True))
    assert told == [
        ("allgather", 16 * MIB),
        ("allreduce", 64 * MIB),
        ("reduce-scatter", 16 * MIB),
        ("allreduce", 8),
    ]
    assert list(records.table["dtype"])[:2] == ["bfloat16", "float"]
    assert records.table["time_s"].isna().all()
    assert any("NCCL Inspector" in note for note in records.warnings)
    with pytest.raises(RecordsError, match="no row has both a size and a time"):
        peerlab.diagnose(records)


def test_a_log_of_nccl_tests_with_such_lines_is_one_of_nccl_tests():
    records = peerlab.load(NCCL + NCCL_COLL)
    assert records.manifest["tool"] == "nccl-tests"
    assert not [note for note in records.warnings if "is not read" in note]


def test_one_place_tells_readers_messages_and_diagnosis_of_a_tool():
    assert {name for name, *_ in _READERS} == set(BENCHMARKS)
    assert all(one.says in TOOLS for one in BENCHMARKS.values())
    assert benchmark("hccl_demo").gaudi
    assert benchmark("nccl-tests").nccl
    assert benchmark("something else").buffers == ""


def test_a_file_of_one_host_of_many_does_not_make_it_one_node():
    lines = INSPECTOR.splitlines()
    one_host = "\n".join(line for line in lines if "anvil01" in line)
    assert peerlab.load(one_host).manifest["nodes"] == 2
    silent = peerlab.load(one_host.replace('"nnodes"', '"unknown"')).manifest
    assert (silent["nodes"], silent["hosts"]) == (None, ["anvil01"])
    assert peerlab.load(NCCL_COLL).manifest["nodes"] is None
