"""Figures that say the same thing twice, and what is told where they do not."""

import pytest
from tool_logs import HCCL, HCCL_DOCS, HCCL_RANGE, NCCL, NCCOM, OSU_ALLTOALL, OSU_BANDWIDTH

import peerlab
from peerlab.collectives.busbw import bus_factor
from peerlab.model.collective import MEASURED
from peerlab.records.notes import MOST_ROWS


def warned(text):
    return [one for one in peerlab.load(text).warnings if "doubtful" in one or "left out" in one]


@pytest.mark.parametrize(
    ("text", "good", "bad", "said"),
    [
        (
            NCCL,
            "   150.00",
            "    15.00",
            "line 16: doubtful: out-of-place: 524288 B in 15 µs are 34.95 GB/s, and algbw says 3.5",
        ),
        (
            NCCL,
            "31.46",
            "13.46",
            "line 17: doubtful: in-place: busbw 13.46 is 0.6419 times algbw 20.97, and allreduce of 4 ranks has 1.5 times",
        ),
        (
            NCCL,
            "131072 ",
            "13107 ",
            "line 16: doubtful: 13107 elements of float are 52428 B, and its size is 524288 B",
        ),
        (
            NCCL,
            "   21.40",
            "      21",
            "line 15: doubtful: out-of-place time '21' has fewer than the 2 decimals that its tool prints: is it cut off?",
        ),
        (
            HCCL,
            "Algo Bandwidth : 100.000000",
            "Algo Bandwidth : 10.000000",
            "line 5: doubtful: busbw 175 is 17.5 times algbw 10, and allreduce of 8 ranks has 1.75 times",
        ),
        (
            HCCL,
            "dataSize=33554432",
            "dataSize=3355443",
            "line 5: doubtful: 8388608 elements of float are 33554432 B, and its size is 3355443 B",
        ),
        (
            NCCOM,
            "  2711 ",
            "  7211 ",
            "line 4: doubtful: 33554432 B in 7.21 ms are 4.334 GiB/s, and algbw says 11.53",
        ),
        (
            OSU_ALLTOALL,
            "530.00",
            "500.00",
            "line 6: doubtful: Min Latency 500.00, Avg Latency 519.85, Max Latency 500.00 are not in order",
        ),
        (
            OSU_BANDWIDTH,
            "4194304",
            "419430",
            "line 7: doubtful: its size 419430 follows 1048576 in line 6, and OSU's sizes double",
        ),
    ],
)
def test_figures_that_contradict_one_another_are_told_with_their_line(text, good, bad, said):
    assert warned(text) == []
    assert warned(text.replace(good, bad, 1)) == [said]
    assert len(peerlab.load(text.replace(good, bad, 1))) == len(peerlab.load(text))


def test_a_time_in_another_unit_is_known_of_hccl_demo_but_a_wrong_one_is_told():
    assert warned(HCCL_DOCS) == []  # 2.684355 ms, which it calls seconds
    [said] = warned(HCCL_DOCS.replace("2.684355", "3.684355"))
    assert said.startswith("line 1: doubtful: 268435456 B in 3.68 s are 0.07286 GB/s, and algbw says 100")
    assert warned(HCCL_RANGE) == ["line 9: doubtful: 67108864 B in 600 µs are 111.8 GB/s, and algbw says 110"]


@pytest.mark.parametrize(
    "written", ["33,554,432", "33 554 432", "33.554.432", "3355,4432", "0x2000000", "33554432B"]
)
def test_a_size_is_what_it_says_or_follows_from_the_count(written):
    for text in (HCCL, HCCL.replace("count=8388608, ", "")):
        damaged = text.replace("dataSize=33554432", f"dataSize={written}")
        if "count" in text or written == "33,554,432":
            assert set(peerlab.load(damaged).table["size_bytes"]) == {33554432}
        else:
            with pytest.raises(peerlab.PeerlabError, match="line 5: neither a size nor a count"):
                peerlab.load(damaged)


@pytest.mark.parametrize("collective", list(MEASURED))
@pytest.mark.parametrize("ranks", [2, 3, 16, 1000])
def test_whatever_rounding_leaves_open_is_no_contradiction(tmp_path, collective, ranks):
    rates = [0.004999, 0.0151, 0.994999, 1.005001, 99.995001, 487.26]
    rows = [
        {
            "kind": "measured",
            "collective": collective,
            "ranks": ranks,
            "size_bytes": 10**8,
            "time_s": 0.1 / rate,
        }
        | {"algbw_GBps": round(rate, 2), "busbw_GBps": round(rate * bus_factor(collective, ranks), 2)}
        for rate in rates
    ]
    peerlab.records.Records.of(rows).save(tmp_path / "rounded.csv")
    assert peerlab.load(tmp_path / "rounded.csv").warnings == ()


def test_one_damaged_row_does_not_change_how_many_ranks_the_others_have():
    lines = [line for line in NCCL.splitlines() if "Rank" not in line and not line.startswith("$")]
    for good, bad in (("30.00", "3.00"), ("31.46", "61.46"), ("5.31", "8.31")):
        found = peerlab.load("\n".join(lines).replace(good, bad))
        assert set(found.table["ranks"]) == {4}
        assert any("doubtful" in one for one in found.warnings)


def test_of_many_left_out_five_are_named_and_a_sixth_too_but_more_are_counted():
    row = NCCL.splitlines()[15]
    assert row.startswith("      524288")
    damaged = [row.replace("150.00", "150;00")] * 7

    def told(count):
        return [one for one in peerlab.load(NCCL + "\n".join(damaged[:count])).warnings if "left out" in one]

    assert [one.partition(":")[0] for one in told(6)] == [f"line {number}" for number in range(22, 28)]
    assert told(6)[-1] == "line 27: left out: time '150;00' is not a number"
    assert told(7)[5:] == ["lines 27 to 28: 2 more, left out"]


def test_a_log_with_more_rows_than_any_table_is_refused_in_words():
    row = NCCL.splitlines()[15] + "\n"
    with pytest.raises(peerlab.PeerlabError, match=f"more than {MOST_ROWS} rows; keep the table and"):
        peerlab.load(NCCL + row * MOST_ROWS)
