"""Output of the OSU micro-benchmarks."""

import re

import pytest
from tool_logs import (
    NCCL,
    OSU_ALLREDUCE,
    OSU_ALLTOALL,
    OSU_BANDWIDTH,
    OSU_CRASHED,
    OSU_LATENCY,
    OSU_OVERLAP,
)

import peerlab
from peerlab.base.errors import RecordsError


def test_bandwidths_have_no_time_because_many_messages_are_under_way():
    found = peerlab.load(OSU_BANDWIDTH)
    assert list(found.table["algbw_GBps"]) == [0.0009, 23.88102, 23.98954]
    assert list(found.table["correct"]) == [True, True, False]
    assert found.table["time_s"].isna().all()
    assert set(found.table["collective"]) == {"point-to-point"}
    assert set(found.table["variant"]) == {"bandwidth"}
    assert (found.manifest["ranks"], found.manifest["nodes"], found.manifest["version"]) == (2, 2, "7.5")
    assert found.manifest["transport"] == ["MPI-CUDA", "D D"]
    assert found.manifest["validation"] == "2 of 3 rows pass"


def test_bandwidths_of_both_directions_are_told_apart():
    both = OSU_BANDWIDTH.replace("CUDA Bandwidth", "CUDA Bi-Directional Bandwidth").replace(
        "osu_bw", "osu_bibw"
    )
    assert set(peerlab.load(both).table["variant"]) == {"bidirectional bandwidth"}


def test_latencies_are_times_and_the_command_says_what_matters():
    found = peerlab.load(OSU_LATENCY)
    assert list(found.table["time_s"]) == [4.32e-6, 166.81e-6]
    assert found.table["algbw_GBps"].iloc[1] == pytest.approx(1048576 / 166.81e-6 / 1e9)
    assert found.table["correct"].isna().all()
    assert found.manifest["hosts"] == ["anvil01", "anvil02"]
    assert found.manifest["environment"] == {"UCX_IB_GPU_DIRECT_RDMA": "0"}
    assert found.manifest["transport"][:3] == ["MPI-CUDA", "-d cuda", "D D"]
    assert found.manifest["command"].startswith("mpirun -H anvil01,anvil02 ")


def test_an_alltoall_counts_what_a_rank_sends_to_all():
    found = peerlab.load(OSU_ALLTOALL)
    assert list(found.table["size_bytes"]) == [8, 8 * 1048576]
    assert list(found.table["time_s"]) == [12.46e-6, 519.85e-6]
    assert set(found.table["ranks"]) == {8}
    assert found.manifest["ranks_per_node"] == 4
    assert "sizes are 8 times those in the log" in found.warnings[0]


def test_without_a_command_nobody_knows_the_ranks():
    found = peerlab.load(OSU_ALLTOALL.partition("\n")[2])
    assert list(found.table["size_bytes"]) == [1, 1048576]
    assert found.table["ranks"].isna().all()
    assert "the log does not say how many ranks the alltoall has" in found.warnings[0]


def test_an_allreduce_keeps_its_sizes():
    found = peerlab.load(OSU_ALLREDUCE)
    assert list(found.table["size_bytes"]) == [4, 1048576]
    assert list(found.table["correct"]) == [True, True]


def test_a_reduce_scatter_keeps_its_sizes_which_are_those_of_all_ranks():
    found = peerlab.load(
        OSU_ALLTOALL.replace("osu_alltoall", "osu_reduce_scatter").replace(
            "All-to-All Personalized Exchange", "Reduce_scatter"
        )
    )
    assert set(found.table["collective"]) == {"reduce-scatter"}
    assert list(found.table["size_bytes"]) == [1, 1048576]


def test_of_a_collective_that_overlaps_the_pure_communication_counts():
    found = peerlab.load(OSU_OVERLAP)
    assert list(found.table["time_s"]) == [15.5e-6]
    assert set(found.table["variant"]) == {"non-blocking latency"}
    assert found.manifest["ranks"] == 4


def test_a_crash_without_rows_is_an_error_that_quotes_it():
    with pytest.raises(RecordsError) as caught:
        peerlab.load(OSU_CRASHED)
    assert str(caught.value) == (
        "pasted text: output of the OSU micro-benchmarks without a row of figures; "
        "line 5: '*** Process received signal ***'"
    )


def test_an_unknown_test_is_refused_with_those_that_are_known():
    text = OSU_ALLREDUCE.replace("Allreduce Latency", "Multi-threaded Latency")
    with pytest.raises(RecordsError, match=r"line 1: OSU's test 'Multi-threaded Latency' is not read"):
        peerlab.load(text)


@pytest.mark.parametrize("text", [OSU_BANDWIDTH, re.sub(" +(Validation|Pass|Fail)", "", OSU_BANDWIDTH)])
def test_a_log_that_ends_early_gives_only_figures_that_are_whole(text):
    whole = peerlab.load(text).table["algbw_GBps"]
    lengths = range(text.index("1048576"), len(text))
    found = [peerlab.load(text[:length]).table["algbw_GBps"] for length in lengths]
    assert all(one.equals(whole.head(len(one))) for one in found)
    assert {len(one) for one in found} == {1, 2, 3}


def test_a_second_tool_in_the_same_log_is_not_lost_silently():
    found = peerlab.load(OSU_LATENCY + NCCL)
    assert found.manifest["tool"] == "osu"
    assert "output of nccl-tests in the same log is not read; give it as a log of its own" in found.warnings


def test_an_unknown_test_among_others_is_left_out_and_told():
    unknown = OSU_ALLREDUCE.replace("Allreduce Latency", "Multi-threaded Latency")
    found = peerlab.load(OSU_ALLREDUCE + unknown + OSU_OVERLAP)
    assert list(found.table["variant"]) == ["latency", "latency", "non-blocking latency"]
    assert found.warnings[0].startswith("line 6: left out")


def test_a_head_that_is_damaged_spoils_its_rows_alone():
    with pytest.raises(RecordsError, match=r"without a row of figures; line 4: 3 of 4 columns"):
        peerlab.load(OSU_ALLREDUCE.replace("# Size  ", "# Size x  "))


def test_without_its_first_line_a_test_is_known_by_its_command():
    for text in (OSU_BANDWIDTH, OSU_LATENCY, OSU_ALLTOALL, OSU_OVERLAP):
        whole, lines = peerlab.load(text), text.splitlines()
        found = peerlab.load("\n".join(line for line in lines if "# OSU" not in line) + "\n")
        assert found.table.equals(whole.table)
        assert any(
            "the line with the test's name is missing; its command says" in one for one in found.warnings
        )


def test_without_its_first_line_and_command_a_test_is_known_by_its_columns_or_refused():
    def bare(text):
        return "\n".join(line for line in text.splitlines() if line.startswith("# Size") or line[0] in "14")

    for text in (OSU_BANDWIDTH, OSU_LATENCY):
        found, whole = peerlab.load(bare(text) + "\n"), peerlab.load(text)
        same = ["size_bytes", "time_s", "algbw_GBps", "variant"]
        assert found.table[same].equals(whole.table[same])
        assert "the columns are those of OSU's test" in found.warnings[-1]
    with pytest.raises(RecordsError, match="line 1: no line above this head, and no command, says which"):
        peerlab.load(bare(OSU_ALLTOALL))


def test_a_second_table_without_a_first_line_is_not_taken_for_the_first():
    second = OSU_LATENCY.partition("# Size")[2]
    found = peerlab.load(OSU_BANDWIDTH + "# Size" + second)
    assert list(found.table["variant"]) == ["bandwidth"] * 3 + ["latency"] * 2
    unknown = peerlab.load(OSU_ALLREDUCE + "# Size" + OSU_ALLTOALL.partition("# Size")[2])
    assert set(unknown.table["collective"]) == {"allreduce"}
    assert any(one.startswith("line 6: left out: no line above this head") for one in unknown.warnings)


def test_columns_may_stand_apart_by_tabs_or_by_one_space():
    whole = peerlab.load(OSU_ALLTOALL).table
    for between in ("\t", " "):
        lines = [
            line if line[0] == "$" else re.sub(r" {2,}", between, line) for line in OSU_ALLTOALL.splitlines()
        ]
        assert peerlab.load("\n".join(lines) + "\n").table.equals(whole)
