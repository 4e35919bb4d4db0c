"""Ranks that mpiexec starts, or a launcher that says who is who by variables, as torchrun does."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from left_behind import wait_until

import peerlab
from peerlab.measurement import arms

COMMAND = [sys.executable, "-m", "peerlab.cli", "measure"]
EVERYWHERE = "0.0.0.0"  # noqa: S104  (it is what must not be, but where it is meant)
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


def test_mpi_that_knows_of_one_process_alone_says_how_to_start_several(mpiexec):
    assert mpiexec
    alone = "--mpi: MPI knows of this process alone: start several, as in 'mpirun -n 4 peerlab measure --mpi'"
    assert run(*COMMAND, "--mpi") == (1, "", f"peerlab: {alone}\n")
    _, _, problem = run(*COMMAND, "--mpi", RANK="0", WORLD_SIZE="2")
    assert "torchrun started several processes, but MPI knows of this one alone" in problem
    assert "--sockets" in problem


def test_without_mpi_the_error_says_what_to_install(tmp_path):
    (tmp_path / "mpi4py.py").write_text("")  # a module without MPI in it
    _, _, problem = run(*COMMAND, "--mpi", PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    assert problem.startswith("peerlab: --mpi needs MPI: pip install 'peerlab[mpi]' (")


def test_what_the_launcher_decides_cannot_be_asked_for(mpiexec):
    status, out, problem = run(mpiexec, "-n", "2", *COMMAND, "--mpi", "--ranks", "4")
    assert (status, out) == (1, "")
    assert problem == "peerlab: ranks: cannot be chosen with --mpi: the launcher starts the ranks\n"


@pytest.fixture
def launched():
    """Starts ranks with the variables that torchrun sets; ends those that are left."""
    started = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1] - 1  # ranks meet at the next one

    def launch(size, *arguments, host="127.0.0.1", ranks=None):
        for rank in range(size) if ranks is None else ranks:
            told = {
                "RANK": str(rank),
                "WORLD_SIZE": str(size),
                "MASTER_ADDR": host,
                "MASTER_PORT": str(port),
            }
            one = subprocess.Popen(
                [*COMMAND, "--sockets", *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **told},
            )
            started.append(one)
        return started

    launch.door = port + 1
    yield launch
    for one in started:
        one.kill()
        one.communicate()


def test_over_sockets_ranks_find_one_another_and_rank_0_speaks(launched):
    said = [one.communicate(timeout=60) for one in launched(3, *SMALL, "--json")]
    document = json.loads(said[0][0])
    assert said[1:] == [("", ""), ("", "")]
    assert {row["path"] for row in document["rows"]} == {"staged", "tcp"}
    assert all(row["correct"] for row in document["rows"])
    assert document["manifest"]["ranks"] == 3
    assert document["manifest"]["command"].endswith(" --sockets")


def greet(door, *hellos):
    """Say hello to rank 0 as strangers do; return the connections."""
    ends = []
    for hello in hellos:
        assert wait_until(lambda: door in listening())
        ends.append(socket.create_connection(("127.0.0.1", door)))
        ends[-1].sendall(hello)
    return ends


def listening():
    """Return the TCP ports of IPv4 that somebody listens at, with their addresses in the kernel's words."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].partition(":")[2], 16): row[1].partition(":")[0] for row in rows if row[3] == "0A"}


def test_over_sockets_strangers_disturb_nobody(launched):
    (first,) = launched(3, *SMALL, "--json", ranks=[0])
    hellos = [
        b'{"rank": 7, "port": 5}\n',
        b'{"rank": 1e999, "port": -1}\n',
        b"[" * 5000,
        b"GET / HTTP/1.1\r\n\r\n",
        b"",
    ]
    ends = greet(launched.door, *hellos)
    launched(3, *SMALL, "--json", ranks=[1, 2])
    out, problem = first.communicate(timeout=60)
    assert (problem, first.returncode) == ("", 0)
    assert json.loads(out)["manifest"]["ranks"] == 3
    assert len(ends) == len(hellos)


@pytest.mark.parametrize(
    ("host", "where"), [("127.0.0.1", "0100007F"), ("localhost", "0100007F"), (EVERYWHERE, "00000000")]
)
def test_over_sockets_on_loopback_nobody_else_is_let_in(launched, host, where):
    (rank_0,) = launched(2, *SMALL, host=host, ranks=[0])
    assert wait_until(lambda: launched.door in listening())
    assert listening()[launched.door] == where
    assert rank_0.poll() is None


def test_over_sockets_a_silent_neighbour_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(arms, "SILENCE_S", 0.05)
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        nothing, some = np.zeros(0, np.uint8), np.zeros(8, np.uint8)
        with pytest.raises(TimeoutError, match=r"^nothing came for 0\.05 s$"):
            arms.exchange(here, here, nothing, some)


def test_over_sockets_a_place_that_cannot_be_written_to_is_told_before_anything_is_measured(launched):
    said = [one.communicate(timeout=60) for one in launched(2, *SMALL, "--save", "/missing/mine.csv")]
    assert said[0] == ("", "peerlab: cannot write /missing/mine.csv: there is no folder /missing\n")
    assert said[1][1].startswith("peerlab: rank 1 lost another rank: ")


def test_over_sockets_a_rank_that_is_killed_ends_the_others_in_one_line(launched):
    ranks = launched(3, "--sizes", "4KiB,64KiB", "--repetitions", "200")
    assert ranks[0].stdout.readline().startswith("AllReduce")  # the first size is measured
    ranks[1].kill()
    for rank in (0, 2):
        _, problem = ranks[rank].communicate(timeout=20)
        assert ranks[rank].returncode == 1
        assert re.fullmatch(rf"peerlab: rank {rank} lost another rank: [^\n]+\n", problem), problem


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        (
            {},
            "RANK or SLURM_PROCID is not set: start it as in 'torchrun --nproc-per-node 4 --no-python peerlab",
        ),
        ({"RANK": "one"}, "RANK is 'one', not a whole number"),
        ({"RANK": "9" * 5000}, "RANK is '9999"),
        (
            {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "65535"},
            "MASTER_PORT is '65535'; ranks meet at the next one, at most 65535",
        ),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "rank 2 of 2 cannot be; start 2 or more"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, "MASTER_ADDR is not set"),
    ],
)
def test_over_sockets_a_launcher_that_says_too_little_is_told(variables, says):
    status, out, problem = run(*COMMAND, "--sockets", **variables)
    assert (status, out) == (1, "")
    assert problem.startswith(f"peerlab: --sockets: {says}")
