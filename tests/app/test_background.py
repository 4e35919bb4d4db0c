"""A simulation that takes too long to wait for goes to a thread, where there are threads."""

import asyncio
import gc
import threading
import time
import weakref

import numpy as np
import pytest

import peerlab
from peerlab.app.explore import explore
from peerlab.app.runs import Background, Runs, call_in
from peerlab.app.weight import weight
from peerlab.base.errors import TooManySpansError
from peerlab.engine.loop.event_loop import Loop
from peerlab.study.patience import refuse_too_many_to_show

PATHS = ("host-rdma", "peer-direct")


def simulated(**fields):
    return peerlab.simulate(peerlab.Scenario(**fields))


def test_without_threads_a_heavy_setting_is_waited_for(monkeypatch):
    """Python in a browser (Pyodide) has none."""

    def none(_thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    ended = []
    scenario = peerlab.Scenario(nodes=4)
    Background(scenario, lambda _part: None, ended.append)
    assert [run.time_s for run in ended] == [peerlab.simulate(scenario).time_s]


def test_a_simulation_that_outlives_the_event_loop_ends_in_silence():
    """A kernel that shuts down closes its loop before its threads are over."""
    loop, heard = asyncio.new_event_loop(), []
    call_in(loop, heard.append, 1)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    call_in(loop, heard.append, 2)
    assert heard == [1]


def test_a_simulation_that_is_given_up_holds_nothing_of_it():
    """Its spans stayed in a cycle: a hundred MiB for each setting of a contended fabric that somebody switched away from."""
    loops, ended = weakref.WeakSet(), threading.Event()
    gc.collect()
    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patched:
            made = Loop.__init__
            patched.setattr(
                Loop,
                "__init__",
                lambda self, *given, **more: (loops.add(self), made(self, *given, **more))[1],
            )
            scenario = peerlab.Scenario(cluster="ideal-100g-leafspine-2to1", nodes=16)
            job = Background(scenario, lambda _part: None, lambda _end: ended.set())
            job.cancel()
            assert ended.wait(60)
        deadline = time.monotonic() + 60
        while len(loops) and time.monotonic() < deadline:  # the thread is leaving its function
            time.sleep(0.01)
        assert not loops
    finally:
        gc.enable()


def test_runs_are_kept_by_the_bytes_that_they_hold():
    """Nodes that differ hold a hundred times as much as nodes alike, and a kernel keeps running for hours."""
    alike = [simulated(nodes=nodes, path=path) for nodes in (2, 4, 8) for path in PATHS]
    differ = [simulated(nodes=4, jitter=sigma) for sigma in (0.01, 0.02, 0.03, 0.04)]
    least = weight(differ[0])
    assert least > 10 * weight(alike[0])
    runs = Runs(most_bytes=int(2.5 * least))
    for run in (*alike, *differ):
        runs.keep(run)
    assert [runs.find(run.scenario) for run in differ] == [None, None, *differ[2:]]
    assert [runs.find(run.scenario) for run in alike] == [None] * len(alike)
    for run in alike:
        runs.keep(run)
    assert [runs.find(run.scenario) for run in alike] == alike  # and small ones find room again


def test_what_was_shown_and_is_shown_is_kept_whatever_it_holds():
    runs = Runs(most_bytes=1)
    shown = [runs.keep(simulated(nodes=nodes)) for nodes in (2, 4, 8)]
    assert [runs.find(run.scenario) for run in shown] == [None, *shown[1:]]


def test_a_weight_counts_arrays_once_and_what_views_and_functions_hold():
    array = np.zeros(10**6)
    assert 8e6 < weight(array) < 8.1e6
    assert 8e6 < weight([array, array[:5], {"again": array}]) < 8.1e6
    assert weight(array[:5].view()) > 8e6
    assert weight(lambda: array) > 8e6
    assert weight(np) == 0


def test_nodes_that_differ_and_make_more_spans_than_a_kernel_is_meant_to_keep_are_refused_in_words():
    """128 nodes of a pairwise exchange, one slow: each exchanges with all others, so none can be left out. Kept twice they came to 600 MiB."""
    lab = explore()
    try:
        lab.controls.nodes_text.value = "128"
        shown = lab.scenario
        with pytest.raises(TooManySpansError, match=r"128 nodes .* 1,170,000 spans .*; give fewer nodes"):
            lab._go(shown.with_(slow_nodes={4: 0.8}), "")
        assert lab.scenario == shown
    finally:
        lab.close()
    with pytest.raises(TooManySpansError):
        explore(nodes=128, slow_nodes={4: 0.8})
    alike = peerlab.Scenario(nodes=1024, cluster="ideal-100g-leafspine-2to1", message_bytes="1 GiB")
    refuse_too_many_to_show(alike)  # of a ring three nodes are kept
