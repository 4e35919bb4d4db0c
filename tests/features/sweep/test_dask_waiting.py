"""A Dask cluster whose workers come late, go away or never come: a sweep says what it waits for, and not for ever."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import peerlab
from peerlab.base.errors import PeerlabError, WorkersLost

SMALL = peerlab.Scenario(cluster="ideal-100g", message_bytes="64 KiB")
GRID = {"nodes": [2, 3, 5, 8], "window": [1, 2]}


@pytest.fixture
def start(tmp_path):
    """Start commands that end with the test."""
    processes = []

    def start(*command, **options):
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", *map(str, command)],
                cwd=tmp_path,
                start_new_session=True,
                **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options},
            )
        )
        return processes[-1]

    yield start
    for process in reversed(processes):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def scheduler(start, tmp_path):
    """Start a scheduler without a worker; return its file."""
    file = tmp_path / "dask.json"
    start_scheduler(start, file)
    until_s = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < until_s
        time.sleep(0.05)
    return file


def start_scheduler(start, file):
    start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--scheduler-file", file)  # fmt: skip


def start_worker(start, file):
    return start("distributed.cli.dask_worker", "--scheduler-file", file, "--nthreads", 1, "--no-nanny", "--no-dashboard")  # fmt: skip


def test_without_a_worker_it_is_said_at_once_and_given_up_in_the_end(scheduler, tmp_path, caplog):
    file = tmp_path / "sweep.csv"
    with (
        caplog.at_level(logging.WARNING, "peerlab.sweep"),
        pytest.raises(
            WorkersLost,
            match=r"^no worker at the Dask cluster at tcp://.* for 1\.5 s .*0 of 8 scenarios are in",
        ) as told,
    ):
        peerlab.sweep(SMALL, dask=str(scheduler), dask_wait_s=1.5, output=file, **GRID)
    assert "\n" not in str(told.value)
    assert "--dask-wait" in str(told.value)
    (said,) = [one.getMessage() for one in caplog.records if "no worker" in one.getMessage()]
    assert "waiting up to 1.5 s (start some, as in: dask worker tcp://" in said


def test_workers_that_come_late_are_waited_for(start, tmp_path):
    """Everything comes after the sweep, and from the last to the first: as under Slurm it may."""
    file = tmp_path / "dask.json"
    command = ("peerlab.cli", "sweep", "--cluster", "ideal-100g", "--nodes", "2,3,5", "--output", "sweep.csv")
    late = start(*command, "--dask", "dask.json", stderr=subprocess.PIPE, text=True)
    assert "no scheduler's address in dask.json; waiting up to 600 s" in late.stderr.readline()
    start_scheduler(start, file)
    assert late.stderr.readline() == "peerlab: there is a scheduler's address in dask.json; going on\n"
    assert "no worker at the Dask cluster at tcp://127.0.0.1:" in late.stderr.readline()
    start_worker(start, file)
    assert "peerlab: there is a worker at the Dask cluster at" in late.stderr.readline()
    assert (late.wait(60), late.stderr.read()) == (0, "")
    here = peerlab.sweep(cluster="ideal-100g", nodes=[2, 3, 5], output=tmp_path / "here.csv")
    assert len(here) == 3
    assert (tmp_path / "sweep.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


@pytest.mark.long("processes")
def test_workers_that_were_killed_leave_their_rows_and_others_go_on(scheduler, start, tmp_path):
    worker = start_worker(start, scheduler)
    file, nodes = tmp_path / "sweep.csv", list(range(2, 400))

    def progress(done, _total):
        if done > 2:
            worker.kill()

    with pytest.raises(WorkersLost, match=r"no worker at .* for 10 s .* are in .*sweep\.csv, and the same"):
        peerlab.sweep(SMALL, dask=str(scheduler), dask_wait_s=10, nodes=nodes, output=file, progress=progress)
    kept = file.read_text().splitlines()
    assert 3 < len(kept) < len(nodes)
    start_worker(start, scheduler)
    told = []
    there = peerlab.sweep(
        SMALL, dask=str(scheduler), nodes=nodes, output=file, progress=lambda done, _: told.append(done)
    )
    assert told[0] >= len(kept)
    assert there["time_s"].tolist() == peerlab.sweep(SMALL, nodes=nodes)["time_s"].tolist()


@pytest.mark.parametrize("missing", ["scheduler", "worker"])
def test_a_sweep_that_waits_can_be_cancelled(scheduler, tmp_path, missing):
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    where = scheduler if missing == "worker" else tmp_path / "never.json"
    assert len(peerlab.sweep(SMALL, dask=str(where), cancel=cancel, **GRID)) == 0


def test_what_is_waited_for_is_said_again(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr("peerlab.features.sweep.on_dask._SAY_AGAIN_S", 0.3)
    with (
        caplog.at_level(logging.WARNING, "peerlab.sweep"),
        pytest.raises(WorkersLost, match=r"no scheduler's address in .*never\.json for 1 s"),
    ):
        peerlab.sweep(SMALL, dask=str(tmp_path / "never.json"), dask_wait_s=1, nodes=[2])
    assert len([one for one in caplog.records if "waiting up to 1 s" in one.getMessage()]) >= 3


@pytest.mark.parametrize("content", ["{", "[]", '{"type": "Scheduler"}', "7"])
def test_a_file_without_an_address_is_one_that_is_not_written_yet(tmp_path, content):
    file = tmp_path / "half.json"
    file.write_text(content)
    with pytest.raises(WorkersLost, match="no scheduler's address in"):
        peerlab.sweep(SMALL, dask=str(file), dask_wait_s=0, nodes=[2])


@pytest.mark.parametrize("wait", [-1, float("nan"), "long", True, None])
def test_a_time_that_is_none_is_refused(wait):
    with pytest.raises(PeerlabError, match=r"^dask_wait_s: .* is no number of seconds, such as 600$"):
        peerlab.sweep(SMALL, dask="tcp://127.0.0.1:1", dask_wait_s=wait, nodes=[2])
