"""Output of perftest: rates in GB/s whatever their unit, latencies in seconds, and which of NIC and library is the limit."""

import pytest
from command_line import peerlab_command
from tool_logs import PERFTEST, PERFTEST_LATENCY

import peerlab
from peerlab.base.errors import RecordsError

HEAD = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"


def test_a_rate_in_bits_is_read_in_bytes():
    records = peerlab.load(PERFTEST)
    (row,) = records.table.to_dict("records")
    assert (row["size_bytes"], row["collective"], row["variant"]) == (65536, "point-to-point", "bandwidth")
    assert row["algbw_GBps"] == pytest.approx(391.98 / 8)
    assert (records.manifest["tool"], records.manifest["memory"]) == ("perftest", "host")


def test_a_rate_in_mebibytes_and_both_ways_and_device_memory():
    text = (
        PERFTEST.replace("Gb/sec", "MB/sec")
        .replace("BW Test", "Bidirectional BW Test")
        .replace("-F", "-F --use_cuda=0")
    )
    records = peerlab.load(text)
    assert records.table["algbw_GBps"][0] == pytest.approx(391.98 * 2**20 / 1e9)
    assert records.table["variant"][0] == "bidirectional bandwidth"
    assert records.manifest["memory"] == "device"


def test_the_typical_latency_is_taken():
    table = peerlab.load(PERFTEST_LATENCY).table
    assert list(table["time_s"]) == pytest.approx([1.67e-6, 1.68e-6])
    assert set(table["variant"]) == {"latency"}


def test_a_damaged_row_is_told_and_an_unknown_unit_is_refused():
    damaged = PERFTEST_LATENCY.replace("4       1000", "4       many")
    assert (
        any("line 5" in warning for warning in peerlab.load(damaged).warnings)
        or len(peerlab.load(damaged)) == 2
    )
    with pytest.raises(RecordsError, match="without a row"):
        peerlab.load(PERFTEST.replace("[Gb/sec]", "[furlong]"))


@pytest.mark.parametrize(
    ("share", "alone", "test", "which"),
    [
        (0.45, 391.98, "BW", "the NIC is well, so what is missing is the library's"),
        (1.0, 391.98, "BW", "in this run"),
        (0.45, 180.0, "BW", "the NIC is "),
        # both ways at once are added up: half of it is what a NIC carries
        (0.45, 391.98, "Bidirectional BW", "alone (perftest) it carries 12.2 of 25 GB/s"),
    ],
)
def test_perftest_beside_a_run_says_whether_nic_or_library_is_the_limit(
    own_folder, share, alone, test, which
):
    sizes = ["256MiB", "512MiB", "1GiB", "2GiB"]
    rows = peerlab.expect("azure-nd-a100-v4", sizes=sizes).rows
    lines = [
        f"{row.size} {row.size // 4} float sum -1 {row.time_s * 1e6 / share:.2f} {row.expected * share / 1.875:.2f} {row.expected * share:.2f} 0"
        for row in rows
    ]
    (own_folder / "run.log").write_text(HEAD + "\n".join(lines) + "\n")
    rates = PERFTEST.replace("391.98", f"{alone / 2:.2f}")  # a NIC of 200 Gb/s
    (own_folder / "ib.log").write_text(rates.replace("BW Test", f"{test} Test"))
    status, text, _ = peerlab_command(
        "expect",
        "--log",
        own_folder / "run.log",
        "--cluster",
        "azure-nd-a100-v4",
        "--perftest",
        own_folder / "ib.log",
    )
    assert status == 0
    said = " ".join(text.split())
    assert "NIC or library: alone (perftest) it carries" in said
    assert which in said


def test_another_log_in_its_place_is_refused(own_folder):
    (own_folder / "lat.log").write_text(PERFTEST_LATENCY)
    (own_folder / "run.log").write_text(HEAD + "1073741824 268435456 float sum -1 11000 97.6 183 0\n")
    status, _, problem = peerlab_command(
        "expect",
        "--log",
        own_folder / "run.log",
        "--cluster",
        "azure-nd-a100-v4",
        "--perftest",
        own_folder / "lat.log",
    )
    assert (status, "perftest" in problem) == (1, True)
