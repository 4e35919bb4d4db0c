"""The same sweep on a Dask cluster: a real one, with processes of its own."""

import json
import os
import socket
import subprocess
import sys

import pytest

import peerlab
from peerlab.base.errors import PeerlabError

SMALL = peerlab.Scenario(cluster="ideal-100g", message_bytes="64 KiB")
GRID = {"nodes": [2, 3, 5, 8], "window": [1, 2], "path": ["wire", "native"]}


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


def test_the_numbers_are_the_same_to_the_last_byte(cluster, tmp_path):
    here = peerlab.sweep(SMALL, **GRID)
    file = tmp_path / "sweep.csv"
    there = peerlab.sweep(SMALL, dask=cluster.scheduler_address, output=file, **GRID)
    assert there.to_csv() == here.to_csv()
    peerlab.sweep(SMALL, output=tmp_path / "here.csv", **GRID)
    assert file.read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_seeds_that_are_simulated_side_by_side_are_the_same_here_and_there(cluster):
    grid = {"seed": range(30), "jitter": [0.0, 0.1]}
    there = peerlab.sweep(SMALL, dask=cluster.scheduler_address, **grid)
    assert there.to_csv() == peerlab.sweep(SMALL, **grid).to_csv()


def test_a_client_of_yours_is_an_executor_like_any_other(cluster):
    with cluster.get_client() as client:
        there = peerlab.sweep(SMALL, executor=client.get_executor(), **GRID)
    assert there.to_csv() == peerlab.sweep(SMALL, **GRID).to_csv()


def test_a_cluster_file_of_yours_need_not_lie_on_the_workers(cluster, root, tmp_path):
    mine = tmp_path / "mine.toml"
    text = (root / "data" / "hardware" / "ideal-100g.toml").read_text()
    mine.write_text(text.replace("ideal-100g", "mine"))
    base = peerlab.Scenario(cluster=mine, message_bytes="64 KiB")
    mine.unlink()
    table = peerlab.sweep(base, dask=cluster.scheduler_address, nodes=[2, 3])
    assert set(table["cluster"]) == {"mine"}
    assert table["time_s"].tolist() == peerlab.sweep(SMALL, nodes=[2, 3])["time_s"].tolist()


def test_the_command_line_knows_the_cluster_too(cluster):
    question = ("--cluster", "ideal-100g", "--nodes", "2,3,4", "--message", "1KiB,1MiB", "--json")
    there = run("sweep", *question, "--dask", cluster.scheduler_address)
    assert there == run("sweep", *question)
    assert len(json.loads(there)["rows"]) == 6


def test_a_cluster_that_goes_away_is_told_and_what_it_answered_is_kept(tmp_path):
    file = tmp_path / "sweep.csv"
    nodes = list(range(2, 1500))
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as lost:

        def progress(done, _total):
            if done > 2:
                lost.close()

        with pytest.raises(
            PeerlabError, match=r"the Dask cluster at tcp://.* went away .* are in .*sweep.csv, and the same"
        ):
            peerlab.sweep(SMALL, dask=lost.scheduler_address, nodes=nodes, output=file, progress=progress)
    assert len(file.read_text().splitlines()) > 3


def test_an_address_where_nobody_answers_is_told_in_one_line():
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(PeerlabError, match="no Dask scheduler answers within 4 s") as told:
            peerlab.sweep(SMALL, dask=address, nodes=[2])
    assert address in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("address", ["nowhere", "carrier-pigeon://10.0.0.1:8786", ""])
def test_an_address_that_is_none_is_told_in_one_line(address):
    with pytest.raises(PeerlabError, match="an address looks like tcp://") as told:
        peerlab.sweep(SMALL, dask=address, nodes=[2])
    assert "\n" not in str(told.value)


def test_without_the_extra_the_error_says_what_to_install():
    script = """
import sys
sys.modules["distributed"] = None
import peerlab
try:
    peerlab.sweep(nodes=[2], dask="tcp://127.0.0.1:8786")
except peerlab.PeerlabError as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "a sweep on Dask needs distributed: pip install 'peerlab[dask]'\n"


def run(*arguments):
    command = [sys.executable, "-m", "peerlab.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True, env=dict(os.environ)
    ).stdout
