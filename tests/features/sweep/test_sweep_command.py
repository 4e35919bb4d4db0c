"""`peerlab sweep`."""

import json
import os
import resource
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from functools import partial

import pytest
from command_line import peerlab_command

import peerlab

COMMAND = [sys.executable, "-m", "peerlab.cli", "sweep"]


run = partial(peerlab_command, "sweep")


def test_the_table_has_a_line_for_each_combination_and_reasons_below():
    status, out, _ = run("--nodes", "2,4", "--nodes", "8", "--path", "host-rdma, peer-direct,native")
    assert status == 0
    title, head, *lines = out.splitlines()
    assert title == "Gaudi DL1: collective allreduce, message 64 MiB"
    assert head.split() == ["nodes", "path", "time", "busbw", "wire", "busy", "bottleneck"]
    rows = lines[:9]
    assert [tuple(row.split()[:2]) for row in rows] == [
        (nodes, path) for nodes in "248" for path in ("host-rdma", "peer-direct", "native")
    ]
    run_ = peerlab.simulate(peerlab.Scenario(nodes=8, path="peer-direct"))
    assert f"{run_.busbw_GBps:.3g} GB/s" in rows[7]
    assert run_.bottleneck.label in rows[7]
    assert all(row.endswith("not possible [1]") for row in rows[2::3])
    assert lines[9].startswith("[1] path: dl1 has no 'native'")
    assert "assumed" in lines[-1]


def test_json_holds_the_rows_of_the_table_in_python():
    status, out, _ = run("--cluster", "ideal-100g", "--nodes", "2,3", "--slice", "none,8 KiB", "--json")
    document = json.loads(out, parse_constant=pytest.fail)
    table = peerlab.sweep(cluster="ideal-100g", nodes=[2, 3], slice_bytes=[None, "8 KiB"])
    assert (status, document["complete"]) == (0, True)
    assert [row["time_s"] for row in document["rows"]] == table["time_s"].tolist()
    assert [row["slice_bytes"] for row in document["rows"]] == [None, 8192, None, 8192]


def test_times_of_iterations_stand_in_json_and_files_for_those_who_ask(tmp_path):
    asked = ("--path", "peer-direct", "--nodes", "2", "--message", "1 MiB")
    status, out, _ = run(*asked, "--iteration-times", "--json", "--output", "a.csv", cwd=tmp_path)
    (row,) = json.loads(out)["rows"]
    assert (status, len(row["iteration_times_s"])) == (0, 2)
    assert ",iteration_times_s," in (tmp_path / "a.csv").read_text()
    _, out, _ = run(*asked, "--json")
    assert "iteration_times_s" not in out
    status, _, problem = run(*asked, "--iteration-times")
    assert (status, problem) == (
        1,
        "peerlab: --iteration-times: the table has no place for them; add --json or --output FILE.csv\n",
    )


def test_each_cluster_has_its_usual_path():
    _, out, _ = run("--cluster", "dl1,ideal-100g", "--message", "1 MiB")
    assert [line.split()[:2] for line in out.splitlines()[2:4]] == [
        ["dl1", "host-rdma"],
        ["ideal-100g", "wire"],
    ]


def test_a_workers_table_is_the_same_table():
    question = ("--nodes", "2,4,8,16", "--message", "1MiB,64MiB")
    assert run(*question, "--workers", "2") == run(*question)


BAD = [
    (("--nodes", "2,many"), "nodes: 'many' is not a whole number"),
    (("--nodes", "2,,4"), "nodes: '' is not a whole number"),
    (("--path", "host-rdma,telport"), "path: unknown 'telport'"),
    (("--cluster", "dl1,dl2"), "unknown cluster 'dl2'"),
    (("--workers", "two"), "workers: 'two' is not a whole number"),
    (("--output", "nowhere/a.csv"), "output: "),
    (("--output", "/proc/self/mem"), "cannot read /proc/"),
    (("--shard", "0/4"), "shard: 0/4 is none; of 4 shards the first is 1/4"),
    (("--shard", "5/4"), "shard: 5/4 is none; of 4 shards the first is 1/4, the last 4/4"),
    (("--shard", "a/b"), "shard: 'a/b' is none; give I/N"),
    (("--shard", "3 of 2"), "shard: '3 of 2' is none; give I/N"),
    (("--merge", "part-*.csv"), "cannot read part-*.csv: No such file or directory"),
    (("--merge", "a.csv", "--workers", "2"), "merge and workers: merging simulates nothing"),
    (("--dask-wait", "3"), "--dask-wait: goes with --dask"),
    (("--dask", "tcp://127.0.0.1:1", "--dask-wait", "long"), "--dask-wait: 'long' is no number of seconds"),
    (("--workers", "2", "--dask", "tcp://127.0.0.1:1"), "workers and dask: give one of them"),
]


@pytest.mark.parametrize(("arguments", "says"), BAD)
def test_a_bad_question_gets_one_line_in_the_users_words(tmp_path, arguments, says):
    status, out, problem = run(*arguments, cwd=tmp_path)
    assert (status, out, problem.count("\n")) == (1, "", 1)
    assert says in problem
    assert not list(tmp_path.iterdir())


LONG = ("--nodes", ",".join(map(str, range(2, 100))), "--window", "1,2,3,4")


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_ctrl_c_keeps_what_is_there_and_says_how_to_go_on(tmp_path, workers):
    file = tmp_path / "sweep.csv"
    process = subprocess.Popen(
        [*COMMAND, *LONG, *workers, "--output", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and not (file.exists() and len(file.read_text().splitlines()) > 5):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the group hears it
    out, problem = process.communicate(timeout=60)
    rows = len(file.read_text().splitlines()) - 1
    assert process.returncode == 130
    assert problem == (
        f"peerlab: stopped after {rows} of 392 scenarios, which are in {file}; the same command goes on from there\n"
    )
    assert len(out.splitlines()) == rows + 3


def test_without_a_file_ctrl_c_says_how_it_could_have_gone_on():
    terminal, errors = os.openpty()  # there a bar says that it has begun
    termios.tcsetwinsize(errors, (24, 80))
    process = subprocess.Popen([*COMMAND, *LONG, "--json"], stdout=subprocess.PIPE, stderr=errors, text=True)
    os.close(errors)
    problem = b""
    while b"/392" not in problem:
        problem += os.read(terminal, 65536)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    with suppress(OSError):  # what a terminal says at its end
        while some := os.read(terminal, 65536):
            problem += some
    os.close(terminal)
    assert process.returncode == 130
    document = json.loads(out)
    assert document["complete"] is False
    assert (
        f"stopped after {len(document['rows'])} of 392 scenarios; with --output FILE.csv" in problem.decode()
    )


def test_a_last_line_that_was_cut_off_is_told_in_one_line(tmp_path):
    question = ("--cluster", "ideal-100g", "--nodes", "2,3", "--output", "sweep.csv")
    assert run(*question, cwd=tmp_path)[0] == 0
    file = tmp_path / "sweep.csv"
    whole = file.read_bytes()
    file.write_bytes(whole[:-30])
    status, _, problem = run(*question, cwd=tmp_path)
    assert status == 0
    assert problem == (
        f"peerlab: the last line of {file} was cut off; it is left out, and its scenario answered again\n"
    )
    assert file.read_bytes() == whole


def test_a_full_disk_keeps_the_rows_that_are_there_and_the_same_command_goes_on(tmp_path):
    question = ("--cluster", "ideal-100g", "--nodes", "2,3,4,5,6,7,8,9", "--output", "sweep.csv")
    assert run(*question, cwd=tmp_path)[0] == 0
    file = tmp_path / "sweep.csv"
    whole = file.read_bytes()
    kept = b"".join(whole.splitlines(keepends=True)[:4])
    file.write_bytes(kept)
    full = len(kept) + 200
    done = subprocess.run(
        [*COMMAND, *question],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (full, full)),
    )
    assert (done.returncode, done.stderr) == (
        1,
        f"peerlab: --output: {file} cannot be written: File too large\n",
    )
    assert file.read_bytes().startswith(kept)
    assert run(*question, cwd=tmp_path)[0] == 0
    assert file.read_bytes() == whole


def test_help_has_examples():
    status, out, _ = run("--help")
    assert status == 0
    assert "peerlab sweep --nodes 2,4,8,16 --path host-rdma,peer-direct" in out.partition("examples:\n")[2]
