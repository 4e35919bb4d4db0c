"""Output of nccl-tests in every layout seen."""

import json
import re

import pytest
from tool_logs import (
    NCCL,
    NCCL_JSON,
    NCCL_LABELLED,
    NCCL_OLD,
    NCCL_PER_ITERATION,
    NCCL_WITHOUT_END,
)

import peerlab
from peerlab.base.errors import RecordsError


def rows(records, *names):
    """Return some columns of every row as plain values; None is missing."""
    table = records.table[list(names)].astype(object)
    return table.where(table.notna(), None).to_numpy().tolist()


def refused(text):
    with pytest.raises(RecordsError) as caught:
        peerlab.load(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_row_stands_twice_out_of_place_and_in_place():
    found = peerlab.load(NCCL)
    assert rows(found, "variant", "size_bytes", "time_s", "correct") == [
        ["out-of-place", 8, 21.40e-6, True],
        ["in-place", 8, 20.10e-6, True],
        ["out-of-place", 524288, 150.00e-6, True],
        ["in-place", 524288, 148.00e-6, False],
        ["out-of-place", 33554432, 1677.72e-6, True],
        ["in-place", 33554432, 1600.00e-6, None],
    ]
    assert rows(found, "algbw_GBps", "busbw_GBps")[4] == [20.00, 30.00]
    assert set(found.table["collective"]) == {"allreduce"}
    assert set(found.table["kind"]) == {"imported"}
    assert set(found.table["source"]) == {"nccl-tests: pasted text"}
    assert found.warnings == ()


def test_a_bandwidth_printed_as_zero_follows_from_size_and_time():
    first = peerlab.load(NCCL).table.iloc[0]
    assert first["algbw_GBps"] == pytest.approx(8 / 21.40e-6 / 1e9)
    assert first["busbw_GBps"] == pytest.approx(1.5 * 8 / 21.40e-6 / 1e9)


def test_the_manifest_says_who_took_part_and_what_was_run():
    manifest = peerlab.load(NCCL).manifest
    assert manifest["hosts"] == ["anvil01", "anvil02"]
    assert manifest["devices"] == ["NVIDIA GH200 120GB"]
    assert (manifest["ranks"], manifest["nodes"], manifest["ranks_per_node"]) == (4, 2, 2)
    assert (manifest["tool"], manifest["version"], manifest["test"]) == (
        "nccl-tests",
        "2.18.2",
        "all_reduce_perf",
    )
    assert manifest["command"].startswith("srun -N2 ")
    assert manifest["validation"] == "Out of bounds values : 0 OK"


def test_labels_of_ranks_and_lines_in_between_are_no_obstacle():
    found = peerlab.load(NCCL_LABELLED)
    assert rows(found, "size_bytes", "ranks", "nodes")[::2] == [[0, 2, 2], [4, 2, 2], [1048576, 2, 2]]
    assert found.table["time_s"].iloc[-1] == 510.0e-6
    assert found.manifest["transport"] == [
        "NET/OFI Selected Provider is efa (found 1 nics)",
        "Using network AWS Libfabric",
        "[receive] via NET/IB/1/GDRDMA",
    ]
    assert found.manifest["environment"] == {"NCCL_SHM_DISABLE": "0"}
    assert found.manifest["version"] == "2.12.7+cuda11.4"
    assert found.warnings == ("the log does not name its test; columns and factors fit allreduce",)


def test_ranks_follow_from_the_two_bandwidths_where_no_list_of_them_is_left():
    found = peerlab.load(NCCL_WITHOUT_END)
    assert set(found.table["ranks"]) == {16}
    assert found.manifest["ranks"] == 16
    assert found.manifest["nodes"] is None
    assert "the log lists no ranks; busbw / algbw says 16" in found.warnings
    assert 'the end of the log is missing (no line "Out of bounds values")' in found.warnings


def test_old_versions_have_an_error_and_no_root():
    found = peerlab.load(NCCL_OLD)
    assert rows(found, "size_bytes", "time_s", "busbw_GBps", "ranks", "nodes", "correct") == [
        [33554432, 0.01986, 2.53, 4, 1, True],
        [33554432, 0.01986, 2.53, 4, 1, True],
        [67108864, 0.03971, 2.53, 4, 1, True],
        [67108864, 0.03972, 2.53, 4, 1, True],
    ]


def test_a_rounding_error_is_no_verdict_without_the_end_of_the_log():
    found = peerlab.load("\n".join(NCCL_OLD.splitlines()[:-2]))
    assert found.table["correct"].isna().all()


def test_columns_of_single_iterations_are_stepped_over():
    found = peerlab.load(NCCL_PER_ITERATION)
    assert rows(found, "collective", "variant", "time_s", "algbw_GBps", "busbw_GBps") == [
        ["allgather", "out-of-place", 100.0e-6, 10.49, 5.24],
        ["allgather", "in-place", 105.0e-6, 9.99, 4.99],
    ]


def test_rows_whose_head_is_lost_are_read_by_their_width():
    lines = [line for line in NCCL.splitlines() if "float" in line]
    assert len(peerlab.load("\n".join(lines))) == 6
    old = [line for line in NCCL_OLD.splitlines() if "float" in line]
    assert set(peerlab.load("\n".join(old)).table["busbw_GBps"]) == {2.53}


def test_several_tests_in_one_log_keep_their_collectives():
    other = NCCL.replace("all_reduce_perf", "sendrecv_perf").replace("30.00", "20.00")
    found = peerlab.load(NCCL + other)
    assert list(found.table["collective"]) == ["allreduce"] * 6 + ["point-to-point"] * 6
    assert found.manifest["test"] == "all_reduce_perf sendrecv_perf"


def test_json_is_read_and_of_the_environment_only_what_tells_about_the_transport():
    found = peerlab.load(NCCL_JSON)
    assert rows(found, "variant", "size_bytes", "time_s", "correct") == [
        ["out-of-place", 1048576, 339.61e-6, True],
        ["in-place", 1048576, 335.85e-6, None],
        ["in-place", 2097152, 361.77e-6, False],
    ]
    assert found.manifest["environment"] == {"NCCL_PROTO": "Simple", "FI_PROVIDER": "efa"}
    assert found.manifest["version"] == "NCCL 2.28.3"
    assert found.manifest["hosts"] == ["anvil01", "anvil02"]
    assert found.manifest["validation"] == "Out of bounds values : 3 FAILED"
    assert "hunter2" not in json.dumps(dict(found.manifest))


def test_json_that_is_cut_off_gives_its_whole_results():
    whole = peerlab.load(NCCL_JSON)
    cut = peerlab.load(NCCL_JSON[: NCCL_JSON.index('"size":2097152') + 40] + "\n")
    assert cut.table.equals(whole.table.head(2))
    assert cut.warnings == (
        "result 2: left out: it is damaged or cut off",
        "the file is damaged or cut off; its whole results are kept",
    )
    assert "damaged before its results" in refused(NCCL_JSON[:200] + "\n")
    empty = '{"version":2,"args":["all_reduce_perf"],"env":[],"results":[{"size":"x"}]}\n'
    assert refused(empty) == "pasted text: JSON of nccl-tests without a result; result 1: it has no size"
    assert "nested too deeply" in refused('{"version":2,"args":' + "[" * 100_000 + "\n")


def test_a_log_that_ends_early_gives_its_whole_rows_and_says_where_it_ends():
    whole, told = peerlab.load(NCCL), 0
    for length in range(NCCL.index("      524288"), len(NCCL), 3):
        cut = peerlab.load(NCCL[:length])
        assert cut.table.equals(whole.table.head(len(cut)))
        start = NCCL[:length].rpartition("\n")[2]
        if re.match(" +[0-9]+ +[0-9]+ +float ", start) and len(start.split()) < 13:
            line, words = NCCL[:length].count("\n") + 1, len(start.split())
            assert f"line {line}: left out: {words} of 13 columns" in cut.warnings
            told += 1
    assert told > 40


@pytest.mark.parametrize(
    ("good", "bad", "why"),
    [
        ("524288 ", "-524288 ", "'-524288' is not a size"),
        ("150.00", "1e400", "time '1e400' is not a number"),
        ("150.00", "9" * 5000, "time '" + "9" * 57 + "...' is not a number"),
        ("150.00", "nan", "time 'nan' is not a number"),
        ("  3.50", "<b>x</b>", "algbw '<b>x</b>' is not a number"),
        ("5.31       2", "5.31     two", "#wrong 'two' is not a number"),
    ],
)
def test_a_damaged_row_is_left_out_with_its_line(good, bad, why):
    found = peerlab.load(NCCL.replace(good, bad, 1))
    assert list(found.table["size_bytes"]) == [8, 8, 33554432, 33554432]
    assert found.warnings == (f"line 16: left out: {why}",)


def test_what_failed_in_the_log_is_told():
    failed = NCCL.replace(
        "# Out of bounds values : 0 OK",
        "anvil01: Test NCCL failure common.cu:958 'unhandled system error'",
    )
    assert any('line 18: the log reports: "Test NCCL failure' in one for one in peerlab.load(failed).warnings)


def test_a_log_without_rows_and_an_unknown_test_are_refused():
    head = "\n".join(NCCL.splitlines()[:14])
    assert refused(head) == "pasted text: output of nccl-tests without a row of figures"
    assert "test 'hypercube_perf' is not read" in refused(NCCL.replace("all_reduce_perf", "hypercube_perf"))


def test_the_test_is_guessed_from_root_operation_and_factor():
    def guess(op, root, algbw, busbw):
        row = f" 1048576 262144 float {op} {root} 100.0 {algbw} {busbw} 0 100.0 {algbw} {busbw} 0\n"
        return set(peerlab.load(row).table["collective"])

    assert guess("sum", "-1", 10, 15) == {"allreduce"}
    assert guess("sum", "-1", 10, 7.5) == {"reduce-scatter"}
    assert guess("sum", "0", 10, 10) == {"reduce"}
    assert guess("none", "0", 10, 10) == {"broadcast"}
    assert guess("none", "-1", 10, 7.5) == {"allgather"}


def racks(ranks, last, device, busbw=830.0):
    """Return a table of large sizes of which only the last rank's line was kept."""
    alg = busbw * ranks / (2 * (ranks - 1))
    row = "{size:>12} {count:>13}     float     sum      -1  {us:>7.1f}  {alg:>6.2f}  {bus:>6.2f}      0  {us:>7.1f}  {alg:>6.2f}  {bus:>6.2f}      0"
    rows = [
        row.format(size=size, count=size // 4, us=size / alg / 1e3, alg=alg, bus=busbw)
        for size in (2**29, 2**30, 2**31)
    ]
    head = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
    whose = f"#  Rank {last} Group  0 Pid  14840 on gpu-171 device  {device} [0x01] NVIDIA Graphics Device"
    return "\n".join([whose, head, *rows, "# Out of bounds values : 0 OK", ""])


@pytest.mark.parametrize(
    ("ranks", "last", "device", "nodes"), [(72, 71, 3, 18), (1440, 1439, 3, 360), (16, 15, 7, 2)]
)
def test_the_last_rank_tells_how_many_there_are_and_its_device_how_many_a_node_has(
    ranks, last, device, nodes
):
    found = peerlab.load(racks(ranks, last, device))
    assert (found.manifest["ranks"], found.manifest["nodes"]) == (ranks, nodes)
    assert set(found.table["ranks"]) == {ranks}
    assert set(found.table["nodes"]) == {nodes}
    assert found.manifest["devices"] == ["NVIDIA Graphics Device"]
    assert any(f"{device + 1} ranks a node are taken for all" in one for one in found.warnings)
    assert not any("doubtful" in one for one in found.warnings)


@pytest.mark.parametrize(("ranks", "last", "device"), [(128, 143, 3), (72, 71, 0)])
def test_a_line_that_the_figures_contradict_or_of_device_0_tells_no_nodes(ranks, last, device):
    found = peerlab.load(racks(ranks, last, device))
    assert (found.manifest["ranks"], found.manifest["nodes"]) == (ranks, None)
