"""Output of nccom-test of AWS Neuron: the layouts of its guide, figures of two trn1.32xlarge and of one."""

import pandas as pd
import pytest
from tool_logs import NCCOM, NCCOM_SIZES

import peerlab
from peerlab.base.errors import RecordsError


def test_bandwidths_follow_from_size_time_and_ranks_whatever_unit_they_are_printed_in():
    found = peerlab.load(NCCOM)
    row = found.table.iloc[-1]
    assert (row["collective"], row["size_bytes"], row["dtype"]) == ("allreduce", 2**30, "fp32")
    assert (row["ranks"], row["nodes"]) == (64, 2)
    assert row["time_s"] == 41806e-6
    assert row["algbw_GBps"] == pytest.approx(2**30 / 41806e-6 / 1e9)
    assert row["algbw_GBps"] / 2**30 * 1e9 == pytest.approx(23.92, abs=0.005)  # as it is printed, in GiB/s
    assert row["busbw_GBps"] == pytest.approx(row["algbw_GBps"] * 2 * 63 / 64)
    assert found.warnings == (
        "its GB/s are of 2^30 bytes; here they are of 10^9, so that a figure is 1.074 times as high",
    )


def test_newer_versions_print_gigabytes_and_more_columns():
    found = peerlab.load(NCCOM_SIZES)
    assert list(found.table["algbw_GBps"].round(2)) == [0.17, 7.99, 22.64]
    assert set(found.table["collective"]) == {"allgather"}
    assert (found.manifest["ranks"], found.manifest["nodes"]) == (32, 1)
    assert found.warnings == ()


def test_the_manifest_says_who_took_part_and_shares_no_address():
    found = peerlab.load(NCCOM)
    assert found.manifest["hosts"] == ["anvil01", "anvil02"]
    assert (found.manifest["tool"], found.manifest["ranks_per_node"]) == ("nccom-test", 32)
    shared = found.anonymised().manifest
    assert shared["hosts"] == ["host-1", "host-2"]
    assert shared["command"] == "... nccom-test -r 64 -N 2 -b 1MB -e 1GB -f 32 -d fp32 allr --hosts ..."


def test_without_a_command_only_an_allreduce_is_recognised():
    found = peerlab.load(NCCOM.partition("\n")[2])
    assert set(found.table["collective"]) == {"allreduce"}
    assert found.table["ranks"].isna().all()  # 63 to 66 round to these figures
    assert found.table["busbw_GBps"].iloc[-1] == 47.09 * 2**30 / 1e9
    assert "the log does not name its operation; only an allreduce has such figures" in found.warnings
    with pytest.raises(
        RecordsError, match="no command says which operation nccom-test ran: paste its command"
    ):
        peerlab.load(NCCOM_SIZES.partition("\n")[2])


def test_a_run_that_failed_says_so():
    row = NCCOM.splitlines()[2]
    failed = NCCOM.replace(
        row, "  1048576    Failure running neuron-bench - log file /tmp/nccom_test_log_7pq.log"
    )
    assert [one for one in peerlab.load(failed).warnings if one.startswith("line 3: the log reports: ")]
    assert len(peerlab.load(failed)) == 2


def test_every_way_in_takes_it():
    found = peerlab.diagnose(peerlab.load(NCCOM))
    assert found.seen.tool == "nccom-test"
    assert (found.seen.memory, found.seen.memory_known) == ("device", True)
    assert found.clusters == ()


@pytest.mark.parametrize(
    ("options", "ranks", "nodes", "says"),
    [
        ("-r 32 -N 64", 32, 64, "doubtful: the command says 32 ranks on 64 nodes, which they cannot fill"),
        ("-r 64 -N 0", 64, None, "the command gives '0' for -N, which is no number of nodes"),
        ("-r 0 -N 2", None, 2, "the command gives '0' for -r, which is no number of ranks"),
    ],
)
def test_ranks_and_nodes_that_cannot_be_are_told(options, ranks, nodes, says):
    found = peerlab.load(NCCOM.replace("-r 64 -N 2", options))
    assert found.manifest["ranks"] == ranks
    assert {None if pd.isna(one) else one for one in found.table["nodes"]} == {nodes}
    assert says in found.warnings
