"""Ranks that mpiexec starts, and what is told where it cannot be done."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from left_behind import processes, wait_until

import peerlab
from peerlab.features.measure.ranks import arms

COMMAND = [sys.executable, "-m", "peerlab.cli", "measure"]
SMALL = ["--sizes", "1000,64KiB", "--repetitions", "2"]  # MPI spins while it waits: little work on few cores


@pytest.fixture(scope="module")
def mpiexec():
    """The launcher of the MPI that the extra `mpi` brings."""
    found = Path(sys.executable).with_name("mpiexec")
    if find_spec("mpi4py") is None or not found.exists():
        pytest.skip("no MPI: pip install 'peerlab[mpi]'")
    return str(found)


def run(*command, **variables):
    """Return exit status, output and error output."""
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False, env=environment)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_sweep_over_mpi_has_exact_sums_and_says_what_carried_it(mpiexec, ranks):
    status, out, problem = run(
        mpiexec, "-n", str(ranks), *COMMAND, "--mpi", *SMALL, "--json", FI_PROVIDER="tcp"
    )
    assert (status, problem) == (0, "")
    document = json.loads(out)  # rank 0 alone speaks
    manifest, rows = document["manifest"], document["rows"]
    assert len(rows) == 2 * 4 * 2 * ranks  # sizes, arms with the control, repetitions, ranks
    assert all(row["correct"] for row in rows)
    assert {row["path"] for row in rows} == {"mpi-staged", "mpi-ring", "mpi"}
    assert {row["ranks"] for row in rows} == {manifest["ranks"]} == {ranks}
    assert manifest["nodes"] == 1
    assert manifest["environment"]["FI_PROVIDER"] == "tcp"
    assert any("MPI" in line for line in manifest["transport"])


def test_the_table_over_mpi_is_printed_once_and_saved_by_rank_0(mpiexec, tmp_path):
    file = tmp_path / "mpi.csv"
    status, out, _ = run(
        mpiexec, "-n", "2", *COMMAND, "--mpi", *SMALL, "--arms", "mpi-ring,mpi", "--save", str(file)
    )
    assert status == 0
    assert (
        out.splitlines()[0]
        == "AllReduce, measured: time of mpi-ring, and how many times as fast the others are"
    )
    assert out.count("what it is: messages among processes on 1 node") == 1
    saved = peerlab.load(file)
    assert saved.manifest["command"].endswith(" --mpi")
    assert set(saved.table["path"]) == {"mpi-ring", "mpi"}


def test_over_mpi_a_rank_that_is_told_to_end_ends_all(mpiexec, tmp_path):
    """It waits within MPI, where Python hears of no signal, and its end would wait for the others."""
    told = (
        f"echo $$ > {tmp_path}/$PMI_RANK; exec {' '.join(COMMAND)} --mpi --sizes 4KiB,64MiB --repetitions 200"
    )
    with subprocess.Popen([mpiexec, "-n", "2", "sh", "-c", told], stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout.readline().startswith("AllReduce")  # the first size is measured
        os.kill(int((tmp_path / "1").read_text()), signal.SIGTERM)
        try:
            assert job.wait(timeout=30) != 0
        finally:
            job.kill()


def runs(pid):
    """Return whether a process lives; one that has ended and is not yet waited for has no command."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def hangups():
    """What is started ends when its terminal does, even if the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("killed", ["rank", "launcher", "parent"])
@pytest.mark.usefixtures("hangups")
def test_over_mpi_whoever_is_killed_nothing_hangs_and_nothing_is_left(mpiexec, tmp_path, killed):
    told = (
        f"echo $$ > {tmp_path}/$PMI_RANK; exec {' '.join(COMMAND)} --mpi --sizes 4KiB,64MiB --repetitions 200"
    )
    parent = ["sh", "-c", f'"$@" & echo $! > {tmp_path}/launcher; echo $$ > {tmp_path}/parent; wait', "sh"]
    with subprocess.Popen(
        [*parent, mpiexec, "-n", "3", "sh", "-c", told],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as job:
        try:
            assert job.stdout.readline().startswith("AllReduce")  # the first size is measured
            os.kill(int((tmp_path / killed.replace("rank", "1")).read_text()), signal.SIGKILL)
            if killed == "parent":  # who started it is gone; the launcher is told by its terminal
                os.kill(int((tmp_path / "launcher").read_text()), signal.SIGHUP)
            ranks = [int((tmp_path / str(rank)).read_text()) for rank in range(3)]
            assert wait_until(lambda: not processes(job.pid) and not any(map(runs, ranks)), 60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)


def test_mpi_that_knows_of_one_process_alone_says_how_to_start_several(mpiexec):
    assert mpiexec
    alone = "--mpi: MPI knows of this process alone: start several, as in 'mpirun -n 4 peerlab measure --mpi'"
    assert run(*COMMAND, "--mpi") == (1, "", f"peerlab: {alone}\n")
    _, _, problem = run(*COMMAND, "--mpi", RANK="0", WORLD_SIZE="2")
    assert "torchrun started several processes, but MPI knows of this one alone" in problem
    assert "start them with mpirun or srun" in problem


def test_without_mpi_the_error_says_what_to_install(tmp_path):
    (tmp_path / "mpi4py.py").write_text("")  # a module without MPI in it
    _, _, problem = run(*COMMAND, "--mpi", PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    assert problem.startswith("peerlab: --mpi needs MPI: pip install 'peerlab[mpi]' (")


def test_what_the_launcher_decides_cannot_be_asked_for(mpiexec):
    status, out, problem = run(mpiexec, "-n", "2", *COMMAND, "--mpi", "--ranks", "4")
    assert (status, out) == (1, "")
    assert problem == "peerlab: --ranks: cannot be chosen with --mpi: the launcher starts the ranks\n"


def test_a_silent_neighbour_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(arms, "SILENCE_S", 0.05)
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        nothing, some = np.zeros(0, np.uint8), np.zeros(8, np.uint8)
        with pytest.raises(TimeoutError, match=r"^nothing came for 0\.05 s$"):
            arms.exchange(here, here, nothing, some)
