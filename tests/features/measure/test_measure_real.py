"""Real AllReduces, among real processes."""

import math
import threading

import pytest

import peerlab
from peerlab.base.errors import MeasurementError
from peerlab.features.measure.ranks import probe
from peerlab.features.measure.schedule import CONTROL, Measurement
from peerlab.features.measure.stream import Stream


@pytest.fixture(scope="module")
def measured():
    """Two and three ranks, sizes that do and do not divide into chunks and slices, all arms."""
    seen = []
    records = peerlab.measure(
        ranks=[2, 3],
        sizes=[8, 1000, "192 KiB", 400_004],
        registrations=["per-transfer", "lru", "lru:2", "null"],
        repetitions=2,
        slice_bytes="16 KiB",
        on_progress=seen.append,
    )
    return records, seen


def test_every_sum_of_every_repetition_is_exact_remainders_included(measured):
    table = measured[0].table
    assert table["correct"].all()
    assert table["correct"].notna().all()
    conditions = table.groupby(
        ["ranks", "size_bytes", "path", "variant", "registration", "capacity"], dropna=False
    )
    assert conditions.ngroups == 2 * 4 * 9
    assert sorted(set(conditions.size())) == [2 * 2, 2 * 3]  # repetitions, ranks


def test_a_repetition_takes_as_long_on_every_rank_as_on_the_slowest(measured):
    table = measured[0].table
    runs = table.groupby(
        ["ranks", "size_bytes", "path", "variant", "registration", "capacity", "repetition"], dropna=False
    )
    assert (runs["time_s"].nunique() == 1).all()
    assert (table["time_s"] > 0).all()
    assert table["busbw_GBps"].gt(0).all()


def test_a_cache_hits_from_the_second_time_on_one_that_is_too_small_does_not(measured):
    table = measured[0].table
    here = table[(table["ranks"] == 3) & (table["size_bytes"] == 192 << 10) & (table["repetition"] == 1)]
    counts = (
        here[here["registration"] != "none"]
        .groupby(["registration", "capacity"])[["hits", "misses", "evictions"]]
        .max()
    )
    moves, regions = 4, 2
    assert tuple(counts.loc[("lru", 64)]) == (moves * regions, 0, 0)
    assert tuple(counts.loc[("null", 64)]) == (moves * regions, 0, 0)
    assert tuple(counts.loc[("per-transfer", 0)]) == (0, moves * regions, 0)
    hits, misses, evictions = counts.loc[("lru", 2)]
    assert hits < misses
    assert hits + misses == moves * regions
    assert evictions > 0
    assert here.loc[here["registration"] == "per-transfer", "registration_s"].gt(0).all()
    assert here.loc[here["registration"] == "none", "registration_s"].isna().all()


def test_bytes_are_copied_as_often_as_the_arm_says(measured):
    table = measured[0].table
    here = table[
        (table["ranks"] == 2) & (table["size_bytes"] == 192 << 10) & (table["registration"] == "none")
    ]
    copied = {path: set(rows["copied_bytes"]) for path, rows in here.groupby("path")}
    once = 192 << 10  # two steps, half of the message each
    assert copied == {"staged": {4 * once}, "tcp": {2 * once}, "staged-shm": {3 * once}, "direct": {once}}


def test_the_manifest_says_on_and_with_what(measured):
    manifest = measured[0].manifest
    assert manifest["tool"] == "peerlab"
    assert manifest["version"] == peerlab.__version__
    assert manifest["command"].startswith("peerlab measure --ranks 2,3 --sizes 8,1kB,192KiB,400004 ")
    assert manifest["ranks"] == manifest["ranks_per_node"] == 3
    assert manifest["processors"] >= 1
    assert set(manifest["a_a_ratio"]) == {
        f"{n} ranks, {size}" for n in (2, 3) for size in ("8 B", "1000 B", "192 KiB", "391 KiB")
    }
    assert all(0 < ratio < math.inf for ratio in manifest["a_a_ratio"].values())
    assert "no NIC, no PCIe, no wire" in manifest["what_it_is"]
    assert {"kernel", "load_before", "load_after", "locked_memory_limit", "nics"} <= manifest.keys()


def test_rows_arrive_block_by_block_and_progress_reaches_its_end(measured):
    records, seen = measured
    blocks = [(one.ranks, one.size_bytes) for one in seen if one.rows]
    assert blocks == [(ranks, size) for ranks in (2, 3) for size in (8, 1000, 192 << 10, 400_004)]
    assert sum(len(one.rows) for one in seen) == len(records)
    done = [one.done for one in seen]
    assert done == sorted(done)
    assert (seen[-1].done, seen[-1].total) == (8 * 9 * 3, 8 * 9 * 3)


def test_secrets_of_the_environment_stay_there(monkeypatch):
    monkeypatch.setenv("FI_PROVIDER", "tcp")
    monkeypatch.setenv("SOME_TOKEN", "hush")
    records = peerlab.measure(ranks=2, sizes=64, arms="direct", registrations="none", repetitions=1)
    assert records.manifest["environment"]["FI_PROVIDER"] == "tcp"
    assert "hush" not in str(records.manifest)


def test_cancelled_from_another_thread_it_returns_what_there_is():
    enough = threading.Event()
    records = peerlab.measure(
        ranks=2,
        sizes=["4 KiB", "8 KiB", "16 KiB", "32 KiB"],
        repetitions=100,
        on_progress=lambda one: enough.set() if one.rows else None,
        cancel=enough,
    )
    found = sorted(set(records.table["size_bytes"]))
    assert 4096 in found
    assert len(found) < 4
    assert records.warnings[-1] == f"stopped after {len(found)} of 4 sizes"


def test_a_stream_may_be_cancelled_before_anything_was_measured():
    with Stream(Measurement.of()) as stream:
        stream.cancel()
        list(stream)
        assert len(stream.records) == 0
        assert stream.records.warnings == ("stopped after 0 of 10 sizes",)


def test_an_extra_arm_works_where_the_kernel_allows_it_and_else_says_why_not():
    reason = probe.why_not("cma")
    fields = {"ranks": 3, "sizes": ["64 KiB", 1000], "arms": ["staged", "cma"], "repetitions": 1}
    if reason:
        with pytest.raises(MeasurementError, match=r"^arms: 'cma' does not work here: "):
            peerlab.measure(**fields)
    else:
        assert peerlab.measure(**fields).table["correct"].all()


def test_what_no_memory_holds_is_refused_before_it_is_taken():
    with pytest.raises(
        MeasurementError,
        match=r"^sizes: 65536 GiB on 2 ranks needs .* of memory, .* are free; choose smaller",
    ):
        peerlab.measure(ranks=2, sizes="64 TiB")


def test_a_control_is_measured_whatever_the_arms():
    records = peerlab.measure(ranks=2, sizes=64, arms="tcp", repetitions=1)
    assert set(records.table["variant"]) == {"", CONTROL}
    assert set(records.table["path"]) == {"tcp"}
