"""A long run holds no other thread up while Python's collector walks through its spans."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import peerlab
from peerlab.engine import recording, span_rows
from peerlab.engine.loop import event_loop
from peerlab.engine.loop.collector import not_collecting
from peerlab.engine.simulate import simulate, simulate_system
from peerlab.engine.system import least

LONG = peerlab.Scenario(nodes=4, message_bytes="16 MiB", jitter=0.05)
"""Makes more spans than are set apart at once; with a library's pairwise exchange the loop simulates it."""


def frozen_while_simulated():
    found = []
    peerlab.simulate(LONG, engine="loop", progress=lambda *_: found.append(gc.get_freeze_count()))
    return found


def test_what_a_long_run_holds_is_out_of_the_collectors_sight_until_it_is_over():
    """A kernel whose explorer simulated 32 nodes answered no key for up to 34 seconds."""
    found = frozen_while_simulated()
    assert found[0] == 0  # short runs are as they were
    assert found[-1] > 2048
    assert gc.get_freeze_count() == 0


def test_young_objects_are_looked_at_seldom_while_a_run_goes_on_and_as_usual_afterwards():
    """A run makes no cycles; looking at every 700 objects took a tenth of its time."""
    before, found = gc.get_threshold(), []
    gc.set_threshold(700, 10, 10)  # tests have another one
    try:
        peerlab.simulate(LONG, engine="loop", progress=lambda *_: found.append(gc.get_threshold()))
        assert set(found) == {(50_000, 10, 10)}
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*before)


def test_the_last_of_several_runs_gives_everything_back():
    with not_collecting() as set_apart:
        set_apart()
        assert max(frozen_while_simulated()) > 0
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


def test_what_somebody_else_has_frozen_stays_so():
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        counts = [*frozen_while_simulated(), gc.get_freeze_count()]
        assert all(0.99 * before < count <= before for count in counts)  # some of it may end meanwhile
    finally:
        gc.unfreeze()


def test_a_long_run_with_noise_holds_no_more_than_a_few_times_its_spans(monkeypatch):
    """A span is 88 bytes; as Python's numbers, with the legs of every slice beside them, a kernel grew to 700 MiB over a million."""
    for module in (event_loop, span_rows):
        monkeypatch.setattr(module, "MANY", 4000)
    scenario = peerlab.Scenario(
        cluster="g4dn-8xlarge", path="host-tcp", nodes=6, message_bytes="256 MiB", jitter=0.05
    )
    simulate(scenario.with_(message_bytes="1 MiB"))
    tracemalloc.start()
    try:
        spans = len(simulate(scenario).trace.last.spans["start"])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert spans > 20_000
    assert most / spans < 340


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("engine", ["referee", "loop", "arrays", "compiled"])
def test_a_run_ends_with_its_last_user_and_not_with_the_collector(engine):
    """A step of 64 nodes that draw noise grew by 20 MB a second, and at SIGTERM took more than 20 s to let go of it all."""
    noisy = peerlab.Scenario(
        cluster="p5", path="peer-direct", nodes=2, library="none", message_bytes="1 MiB", jitter=0.1
    )
    gc.disable()
    try:
        system = least(noisy)
        there = weakref.ref(system)
        run = simulate_system(system, engine)
        assert run.engine == engine
        del system, run
        assert there() is None
    finally:
        gc.enable()


@pytest.mark.long("noise")
@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(
    "changes",
    [{"cluster": "ideal-100g-leafspine-2to1"}, {"cluster": "p4d", "path": "host-rdma", "jitter": 0.05}],
)
def test_of_many_spans_a_loop_keeps_a_node_and_its_neighbours_and_its_figures_are_those_of_all(
    changes, monkeypatch
):
    """512 nodes on links that they share made a kernel of 600 MiB, of which the picture shows three nodes."""
    scenario = peerlab.Scenario(**changes, nodes=8, message_bytes="1 MiB", library="none")
    whole = peerlab.simulate(scenario, engine="loop")
    monkeypatch.setattr(recording, "_MOST_SPANS", 100)
    few, every = (peerlab.simulate(scenario, engine="loop", every_node=given) for given in (False, True))
    assert (
        set(whole.trace.last.spans["node"].tolist())
        == set(every.trace.last.spans["node"].tolist())
        == set(range(8))
    )
    near = np.isin(whole.trace.last.spans["node"], (7, 0, 1))
    for name, values in few.trace.last.spans.items():
        assert (values == whole.trace.last.spans[name][near]).all()
    assert few.as_dict() == whole.as_dict()
    assert few.busy_lanes() == whole.busy_lanes()
