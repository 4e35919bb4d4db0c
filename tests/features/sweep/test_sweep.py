"""A table of every combination: what stands in it, and that it does not matter who computes it."""

import math
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import HardwareError, PeerlabError, ScenarioError
from peerlab.features.sweep.batch_worker import answer
from peerlab.features.sweep.batches import Pace, SweepWorkers, work_off
from peerlab.features.sweep.question import Question

SMALL = peerlab.Scenario(cluster="ideal-100g", nodes=4, message_bytes="64 KiB")
GRID = {"nodes": [2, 3, 5], "window": [1, 2], "message_bytes": ["1 KiB", "100 KiB"]}


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True)
    return one.to_csv() == other.to_csv()


@pytest.fixture(scope="module")
def table():
    return peerlab.sweep(SMALL, **GRID)


def test_there_is_a_row_for_each_combination_in_the_order_given():
    table = peerlab.sweep(peerlab.Scenario(), nodes=[2, 4, 8, 16], path=["host-rdma", "peer-direct"])
    assert table["nodes"].tolist() == [2, 2, 4, 4, 8, 8, 16, 16]
    assert table["path"].tolist() == ["host-rdma", "peer-direct"] * 4
    assert table["error"].isna().all()


def test_a_row_holds_the_figures_of_the_run(table):
    place = 7
    run = peerlab.simulate(SMALL.with_(nodes=3, window=2, message_bytes="100 KiB")).as_dict()
    row = table.loc[place]
    assert list(table.columns[:3]) == ["nodes", "window", "message_bytes"]
    assert set(table.columns) == {*run, "window", "error"}
    assert (row["window"], row["message_bytes"]) == (2, 102400)
    assert {name: row[name] for name in run if run[name] is not None} == {
        name: value for name, value in run.items() if value is not None
    }


def test_times_of_iterations_are_a_column_for_those_who_ask():
    base = peerlab.Scenario(path="peer-direct", message_bytes="1 MiB")
    plain = peerlab.sweep(base, nodes=[2, 4])
    table = peerlab.sweep(base, nodes=[2, 4], iteration_times=True)
    runs = [peerlab.simulate(base.with_(nodes=nodes)) for nodes in (2, 4)]
    assert table["iteration_times_s"].tolist() == [[one.time_s for one in run.iterations] for run in runs]
    assert same(plain, table.drop(columns="iteration_times_s"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        assert same(table, peerlab.sweep(base, nodes=[2, 4], iteration_times=True, executor=process))
    with pytest.raises(ScenarioError, match=r"iteration_times: \[True\] is neither"):
        peerlab.sweep(base, nodes=[2, 4], iteration_times=[True])


def test_a_combination_that_is_impossible_has_a_reason_instead_of_figures():
    table = peerlab.sweep(SMALL, cluster=["ideal-100g", "dl1"], path=["wire", "host-rdma"])
    assert table["error"].isna().tolist() == [True, False, False, True]
    lacking = table.loc[1]
    assert lacking["error"].startswith("path: ideal-100g has no 'host-rdma'")
    assert (lacking["cluster"], lacking["path"], lacking["message_bytes"]) == (
        "ideal-100g",
        "host-rdma",
        65536,
    )
    assert math.isnan(lacking["time_s"])


def test_what_only_the_simulation_finds_impossible_has_a_reason_too():
    table = peerlab.sweep(path=["peer-direct"], memlock_bytes=["1 MiB", None])
    assert "the locked-memory limit is 1 MiB" in table["error"][0]
    assert table["time_s"].isna().tolist() == [True, False]


def test_a_table_of_reasons_alone_still_has_every_column():
    table = peerlab.sweep(path=["native", "wire"])
    assert set(table.columns) == {*peerlab.simulate(SMALL).as_dict(), "error"}
    assert table["time_s"].dtype == float


WRONG = [
    ({"nodez": [2]}, ScenarioError, "nodez: unknown field; did you mean 'nodes'?"),
    ({"ouput": "a.csv"}, ScenarioError, "did you mean 'output'?"),
    ({"nodes": [2, 0]}, ScenarioError, "nodes: 0 is out of range"),
    ({"nodes": []}, ScenarioError, "nodes: no value is given"),
    ({"nodes": {2, 4}}, ScenarioError, "nodes: a set has no order"),
    ({"path": ["host-rdma", "teleport"]}, ScenarioError, "path: unknown 'teleport'"),
    ({"message_bytes": ["1 MiB", "1 Mbit"]}, ScenarioError, "is in bits"),
    ({"cluster": ["dl1", "dl2"]}, HardwareError, "unknown cluster 'dl2'; did you mean 'dl1'?"),
    ({"nodes": [2], "workers": 0}, PeerlabError, "workers: 0 is not a whole number"),
    ({"nodes": [2], "workers": 2, "dask": "tcp://127.0.0.1:1"}, PeerlabError, "workers and dask: give one"),
]


@pytest.mark.parametrize(("asked", "kind", "says"), WRONG)
def test_what_is_always_wrong_is_refused_at_once(asked, kind, says):
    with pytest.raises(kind, match="(?s)" + says.replace("?", r"\?")):
        peerlab.sweep(SMALL, **{"progress": _nothing_is_simulated, **asked})


def _nothing_is_simulated(done, total):
    raise AssertionError((done, total))


def test_one_value_a_range_and_numpy_numbers_are_values_too():
    import numpy as np

    table = peerlab.sweep(SMALL, nodes=range(2, 4), window=np.array([1, 2]), path="wire")
    assert table["nodes"].tolist() == [2, 2, 3, 3]
    assert table["window"].tolist() == [1, 2, 1, 2]
    assert set(table["path"]) == {"wire"}


def test_without_a_base_each_cluster_is_asked_for_on_its_usual_path():
    table = peerlab.sweep(cluster=["dl1", "ideal-100g"], message_bytes=["64 KiB"])
    assert table["path"].tolist() == ["host-rdma", "wire"]
    assert table["error"].isna().all()


def test_values_that_are_the_same_are_simulated_once_and_shown_as_often_as_asked():
    told = []
    table = peerlab.sweep(
        SMALL, message_bytes=["1 KiB", 1024, "1024"], progress=lambda done, total: told.append((done, total))
    )
    assert table["message_bytes"].tolist() == [1024] * 3
    assert told == [(1, 1)]


def test_clusters_with_a_changed_figure_are_told_apart():
    machine = peerlab.load_cluster("ideal-100g")
    table = peerlab.sweep(SMALL, cluster=[machine, machine.with_figure("nic.rate", 25)])
    assert table["cluster"].tolist() == ["ideal-100g", "ideal-100g with nic.rate 25 GB/s"]
    assert table["time_s"].is_monotonic_decreasing


def test_a_pool_of_processes_gives_the_same_bytes(table):
    assert same(table, peerlab.sweep(SMALL, workers=2, **GRID))


def test_any_executor_will_do_and_is_left_running(table):
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        for executor in (threads, process):
            assert same(table, peerlab.sweep(SMALL, executor=executor, **GRID))
            assert executor.submit(int, "7").result() == 7


def test_seeds_that_are_simulated_side_by_side_are_the_same_however_they_are_swept(tmp_path):
    """A share of a sweep, or what is left of it, makes other groups than the whole."""
    grid = {"seed": range(25), "jitter": [0.0, 0.1, 0.2]}
    base = SMALL.with_(slow_nodes={1: 0.5})
    table = peerlab.sweep(base, **grid)
    runs = [peerlab.simulate(base.with_(seed=s, jitter=j)) for s in grid["seed"] for j in grid["jitter"]]
    figures = [run.as_dict() for run in runs]
    assert table["engine"].unique().tolist() == ["arrays"]
    for name in (
        "time_s",
        "busbw_GBps",
        "wire_busy_share",
        "bottleneck",
        "bottleneck_share",
        "copies_per_byte",
    ):
        assert table[name].tolist() == [row[name] for row in figures]
    assert same(table, peerlab.sweep(base, workers=2, **grid))
    with ThreadPoolExecutor(2) as threads:
        assert same(table, peerlab.sweep(base, executor=threads, **grid))
    parts = [tmp_path / f"{number}.csv" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        peerlab.sweep(base, shard=(number, 3), output=part, **grid)
    assert same(table, peerlab.sweep(base, merge=parts, output=tmp_path / "all.csv", **grid))
    lines = (tmp_path / "all.csv").read_text().splitlines(keepends=True)
    (tmp_path / "some.csv").write_text("".join(lines[:1] + lines[9:70:3]))
    assert same(table, peerlab.sweep(base, output=tmp_path / "some.csv", **grid))
    assert (tmp_path / "some.csv").read_text() == "".join(lines)


class Disorderly(Executor):
    """Answers when it likes, in an order of its own."""

    def __init__(self, draw):
        self.waiting, self.draw = [], draw

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.waiting.append((future, partial(fn, *args, **kwargs)))
        return future

    def workers(self):
        """Say how many tasks may run: asked once in a while, and the moment to answer some that wait."""
        for _ in range(self.draw(st.integers(1, 4))):
            if self.waiting:
                place = self.draw(st.integers(0, len(self.waiting) - 1))
                future, task = self.waiting.pop(place)
                future.set_result(task())
        return self.draw(st.integers(1, 4))


class AnySize(Pace):
    """Batches of any size."""

    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def size(self, left, workers):  # noqa: ARG002  (as its parent has it)
        return min(self.draw(st.integers(1, 5)), left)


@given(st.data())
def test_neither_the_batches_nor_their_order_matter(table, data):
    question, found = Question.ask(SMALL, GRID), {}
    executor = Disorderly(data.draw)

    def keep(cases, answered):
        found.update(
            (case.fingerprint, question.row(case, figures))
            for case, figures in zip(cases, answered.figures, strict=True)
        )

    workers = SweepWorkers(executor, executor.workers, answer)
    work_off(workers, question.cases, question.batch, keep, lambda: False, AnySize(data.draw))
    rows = [found[case.fingerprint] for case in question.cases]
    assert [row["time_s"] for row in rows] == table["time_s"].tolist()
    assert [row["busbw_GBps"] for row in rows] == table["busbw_GBps"].tolist()


@pytest.mark.parametrize("workers", [None, 2])
def test_a_sweep_that_is_cancelled_returns_what_is_there(workers):
    cancel = threading.Event()
    told = []

    def progress(done, total):
        told.append((done, total))
        cancel.set()

    nodes = list(range(2, 400))
    table = peerlab.sweep(SMALL, workers=workers, nodes=nodes, progress=progress, cancel=cancel)
    assert 1 <= len(table) < len(nodes)
    assert told[0][1] == len(nodes)
    assert table["nodes"].tolist() == [nodes[place] for place in table.index]
    assert table["time_s"].gt(0).all()


def test_a_long_simulation_is_cancelled_in_its_middle():
    class Soon:
        asked = 0

        def is_set(self):
            self.asked += 1
            return self.asked > 5

    table = peerlab.sweep(cluster="dl1", slice_bytes=["1 KiB"], message_bytes=["1 GiB"], cancel=Soon())
    assert len(table) == 0
    assert "time_s" in table.columns


def test_a_worker_that_is_killed_is_told_in_one_line():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        (process,) = [*_started(pool)]

        def progress(_done, _total):
            process.kill()

        with pytest.raises(
            PeerlabError, match=r"^the executor went away before all was answered; .*could go on"
        ):
            peerlab.sweep(SMALL, executor=pool, nodes=list(range(2, 2000)), progress=progress)


def test_a_worker_with_another_version_refuses_as_its_numbers_may_differ():
    question = Question.ask(SMALL, {"nodes": [2]})
    batch = replace(question.batch(question.cases), version="0.0.1")
    with pytest.raises(PeerlabError, match=f"a worker has peerlab {peerlab.__version__} and this is 0.0.1"):
        answer(batch)


def _started(pool):
    pool.submit(int).result()
    return pool._processes.values()
