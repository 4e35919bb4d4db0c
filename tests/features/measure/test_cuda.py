"""AllReduces between the memories of real GPUs, and what copies there cost; skipped where there is none."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from gpus import why_no_gpu
from left_behind import own_files, processes, ranks, wait_until

import peerlab
from peerlab.base.errors import MeasurementError
from peerlab.features.measure.cuda.gpus import gpus_here
from peerlab.features.measure.schedule import Measurement
from peerlab.features.measure.stream import Stream
from peerlab.records.copy_times import CopyCost

pytestmark = pytest.mark.skipif(bool(why_no_gpu()), reason=why_no_gpu())

ENDLESS = Measurement.of(memory="cuda", ranks=3, sizes="256 KiB", repetitions=1000)
MIB = 1 << 20


def free_bytes():
    return gpus_here()[0].free_bytes


def left_on_the_gpu(before):
    """Return whether the GPU's memory is free again: the driver takes a moment."""
    return not wait_until(lambda: free_bytes() >= before - 64 * MIB)


@pytest.fixture(scope="module")
def measured():
    """Two and three ranks, sizes that do and do not divide into chunks and slices, all arms, both ways to register."""
    both = {
        pins: peerlab.measure(
            memory="cuda",
            ranks=[2, 3],
            sizes=[8, 1000, "192 KiB", 400_004],
            registrations=["per-transfer", "lru", "lru:2", "null"],
            repetitions=2,
            slice_bytes="16 KiB",
            pins=pins,
        )
        for pins in ("dma-buf", "host-register")
    }
    return {pins: records.table for pins, records in both.items()} | {"manifest": both["dma-buf"].manifest}


@pytest.mark.parametrize("pins", ["dma-buf", "host-register"])
def test_every_sum_on_the_gpu_is_exact_remainders_included(measured, pins):
    table = measured[pins]
    assert table["correct"].notna().all()
    assert table["correct"].all()
    condition = ["ranks", "size_bytes", "path", "variant", "registration", "capacity"]
    conditions = table.groupby(condition, dropna=False)
    assert conditions.ngroups == 2 * 4 * 8
    assert sorted(set(conditions.size())) == [2 * 2, 2 * 3]  # repetitions, ranks


@pytest.mark.parametrize(("pins", "arm"), [("dma-buf", "direct"), ("host-register", "staged-pageable")])
def test_a_cache_hits_from_the_second_time_on_and_none_registers_each_time(measured, pins, arm):
    table = measured[pins]
    here = table[(table["ranks"] == 3) & (table["size_bytes"] == 192 << 10) & (table["repetition"] == 1)]
    registered = here[here["registration"] != "none"]
    assert set(registered["path"]) == {arm}
    counts = registered.groupby(["registration", "capacity"])[["hits", "misses"]].max()
    moves, regions = 4, 2
    assert tuple(counts.loc[("lru", 64)]) == (moves * regions, 0)
    assert tuple(counts.loc[("per-transfer", 0)]) == (0, moves * regions)
    assert here.loc[here["registration"] == "per-transfer", "registration_s"].gt(0).all()


def test_the_record_names_the_gpu_and_says_what_is_left_out(measured):
    manifest = measured["manifest"]
    assert manifest["devices"] == [gpus_here()[0].name]
    assert "driver of CUDA" in manifest["accelerators"][0]
    assert set(measured["dma-buf"]["source"]) == {f"peerlab: {gpus_here()[0].name}"}


def test_a_sum_that_did_not_come_from_the_gpu_is_noticed():
    code = (
        "from peerlab.features.measure.ranks import worker\n"
        "from peerlab.features.measure.cuda import cuda_arms\n"
        "cuda_arms._CudaArm._add = lambda *_: None\n"
        "import sys; sys.exit(worker.main(int(sys.argv[1]), int(sys.argv[2])))\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        start = subprocess.Popen

        def broken(command, **rest):
            if "peerlab.features.measure.ranks.worker" in command:
                at = command.index("-m")
                command = [*command[:at], "-c", code, *command[at + 2 :]]
            return start(command, **rest)

        patch.setattr(subprocess, "Popen", broken)
        from peerlab.features.measure.ranks import coordinator

        told = []
        reading, writing = os.pipe()
        try:
            plan = Measurement.of(memory="cuda", ranks=2, sizes="64 KiB", arms="direct", repetitions=1)
            coordinator.measure(plan, reading, told.append)
        finally:
            os.close(reading)
            os.close(writing)
    rows = [row for event in told for row in event.get("rows", ())]
    assert rows
    assert not any(row["correct"] for row in rows)


@pytest.mark.parametrize("seed", range(3))
def test_a_rank_that_is_killed_is_named_and_nothing_is_left_on_the_gpu(seed):
    chance = random.Random(seed)  # noqa: S311  (repeatable on purpose)
    files, before, killed = own_files(), free_bytes(), {}

    def kill(session):
        wait_until(lambda: len(ranks(session)) == 3)
        time.sleep(chance.uniform(0, 3))
        killed["rank"] = chance.randrange(3)
        os.kill(ranks(session)[killed["rank"]], signal.SIGKILL)

    with Stream(ENDLESS) as stream:
        session = stream.pid
        killer = threading.Thread(target=kill, args=(session,))
        killer.start()
        with pytest.raises(MeasurementError) as told:
            list(stream)
    killer.join()
    assert re.fullmatch(rf"rank {killed['rank']} was killed by SIGKILL \(.*\) while [^\n]*", str(told.value))
    assert wait_until(lambda: processes(session) == {})
    assert own_files() == files
    assert not left_on_the_gpu(before)


def test_more_than_the_gpu_has_is_refused_before_anything_runs():
    too_much = gpus_here()[0].total_bytes // 2 // 4096 * 4096
    with pytest.raises(
        MeasurementError, match=r"of the GPU's memory, .* are free; choose smaller sizes or fewer ranks"
    ):
        peerlab.measure(memory="cuda", ranks=2, sizes=too_much, repetitions=1)


TAKER = """
import sys
from peerlab.features.measure.cuda.driver import Gpu
gpu = Gpu(0)
gpu.allocate(int(sys.argv[1]))
print("taken", flush=True)
sys.stdin.read()
"""


def test_memory_that_somebody_takes_meanwhile_is_a_line_of_words():
    left = 256 * MIB
    taker = subprocess.Popen(
        [sys.executable, "-c", TAKER, str(free_bytes() - left)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert taker.stdout.readline() == b"taken\n"
        with pytest.raises(MeasurementError, match=r"^[^\n]*(are free|CUDA_ERROR_OUT_OF_MEMORY)[^\n]*$"):
            peerlab.measure(memory="cuda", ranks=2, sizes="64 MiB", repetitions=1)
        with pytest.raises(MeasurementError, match=r"^[^\n]*(are free|CUDA_ERROR_OUT_OF_MEMORY)[^\n]*$"):
            peerlab.copy_cost(sizes=["512 MiB"], repetitions=3)
    finally:
        taker.communicate()


def test_copies_take_longer_the_more_they_carry_and_are_kept_as_they_are(tmp_path):
    cost = peerlab.copy_cost(sizes=[4, "64 KiB", "16 MiB"], repetitions=5)
    table = cost.table.set_index(["way", "host", "size_bytes"])["time_us"]
    for way in ("to host", "to device", "both ways"):
        assert table[way, "pinned", 4] < table[way, "pinned", 16 << 20]
    assert table["to host", "pinned", 16 << 20] < table["to host", "pageable", 16 << 20]
    figures = {figure.key: figure for figure in cost.figures}
    assert set(figures) == {"device.copy_start", "device.copy_engine", "host.pageable_copy"}
    assert all(figure.low <= figure.value <= figure.high for figure in figures.values())
    file = tmp_path / "copies.json"
    cost.save(file)
    assert CopyCost.read(file).as_dict() == json.loads(json.dumps(cost.as_dict()))
