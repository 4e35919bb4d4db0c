"""A message of too many slices takes what fewer show, once they are steady, and is simulated whole where they are not."""

import random
from dataclasses import replace

import pytest

import peerlab
from peerlab.answer.sensitivity import corners
from peerlab.collectives.choose import plan
from peerlab.engine import long_messages
from peerlab.engine.alike_leaves import fewer_leaves
from peerlab.engine.long_messages import shortened, time_ps, waits_for
from peerlab.features.expect.expecting import usual_path

GIB = 2**30


@pytest.fixture
def simulated(monkeypatch):
    """Return a list of the slices of each chunk that is simulated from now on."""
    long_messages._answer.cache_clear()
    slices, simulate, of_system = [], long_messages.simulate, long_messages.simulate_system

    def whole(scenario):
        slices.append(long_messages._slices(scenario))
        return simulate(scenario)

    def few(system):
        slices.append(len(system.chunk_sizes))
        return of_system(system)

    monkeypatch.setattr(long_messages, "simulate", whole)
    monkeypatch.setattr(long_messages, "simulate_system", few)
    return slices


@pytest.mark.parametrize(
    ("cluster", "nodes", "size", "asks"),
    [
        ("g4dn-metal", 2, GIB, {}),
        ("p5", 64, 8 * GIB, {}),
        ("alps-gh200", 16, GIB + 12_345, {}),
        # No library: the slices of each chunk of a ring.
        ("alps-gh200-tcp", 4, 2 * GIB, {}),
        ("juliet", 4, GIB, {"collective": "reduce-scatter"}),
        # Shorter messages run another protocol.
        ("infiniband-hdr-a100", 1024, 2 * GIB, {}),
        ("infiniband-hdr-a100", 2, 4 * GIB, {"collective": "alltoall"}),
        ("p4d", 2, 2 * GIB, {"path": "host-rdma"}),
    ],
)
def test_a_long_message_takes_what_all_of_its_slices_take(simulated, cluster, nodes, size, asks):
    machine = peerlab.load_cluster(cluster)
    asks = {"path": usual_path(machine), "registration": "pool", **asks}
    asked = peerlab.Scenario(cluster=machine, nodes=nodes, message_bytes=size, **asks)
    for one in (asked, *corners(asked)[:1]):
        simulated.clear()
        found, limits = time_ps(one), waits_for(one)
        assert max(simulated) < long_messages._slices(one) / 2
        run = peerlab.simulate(one)
        assert (found, limits.kind) == (run.time_ps, run.bottleneck.kind)
        assert limits.share == pytest.approx(run.bottleneck.share, rel=1e-6)


@pytest.mark.parametrize("asks", [{"message_bytes": "64 MiB"}, {"message_bytes": "4 GiB", "jitter": 0.2}])
def test_few_slices_and_slices_that_are_not_alike_are_simulated_whole(simulated, asks):
    asked = peerlab.Scenario(cluster="p5", nodes=2, path="peer-direct", **asks)
    assert time_ps(asked) == peerlab.simulate(asked).time_ps
    assert simulated == [long_messages._slices(asked)]


@pytest.mark.parametrize("window", [9, 10, 14])
def test_slices_that_wait_for_places_come_in_bursts_as_large_as_the_window(window):
    """Over 100 km: what 16 slices take says nothing of the next 16, where a burst has 20. A place falls between two bursts here and there: 0.01 %."""
    far = peerlab.Scenario(
        cluster="h100-ndr", nodes=2, path="host-rdma", transport="infiniband", metres=100_000, algorithm="tree", window=window, message_bytes="2 GiB",
    )  # fmt: skip
    assert far.places == 2 * window
    assert time_ps(far) == pytest.approx(peerlab.simulate(far).time_ps, rel=2e-4)


def test_eight_slices_that_look_steady_are_too_few():
    """With a window of 3 places on each hop a core serves slices unevenly: the first 8 at a time would be 0.24 % too fast."""
    asked = peerlab.Scenario(cluster="p4d", nodes=16, path="host-tcp", message_bytes=388_126_874, window=3)
    assert time_ps(asked) == pytest.approx(peerlab.simulate(asked).time_ps, rel=1e-3)


def test_what_is_left_out_is_whole_slices_and_the_library_keeps_its_choice():
    asked = peerlab.Scenario(cluster="p5", nodes=16, path="peer-direct", message_bytes=GIB + 999)
    slices = long_messages._slices(asked)
    few = shortened(asked, slices, 20)
    assert few.scenario is asked
    left_out = plan(asked).message_bytes - few.planned.message_bytes
    size = asked.choice.slice_bytes
    assert left_out == (slices - 20) * size * asked.hardware.devices


@pytest.mark.parametrize("draw", range(8))
def test_a_ring_below_many_leaf_switches_takes_what_all_of_its_nodes_take(draw):
    """Whatever the machine, the leaves and the uplinks: below six leaves or more, as simulated whole, to the picosecond."""
    rng = random.Random(draw)  # noqa: S311  (scenes, no secrets)
    cluster, path = rng.choice(
        [("ideal-100g-leafspine-2to1", "wire"), ("dl1", "host-rdma"), ("juliet", "peer-direct")]
    )
    machine = replace(
        peerlab.load_cluster(cluster),
        hosts_per_leaf=rng.choice([1, 2, 3]),
        oversubscription=rng.choice([1, 2, 8]),
    )
    asked = peerlab.Scenario(
        cluster=machine,
        nodes=machine.hosts_per_leaf * rng.choice([6, 7]),
        path=path,
        library="none",
        algorithm="ring" if machine.devices == 1 else "hierarchical",
        collective=rng.choice(["allreduce", "allgather", "reduce-scatter"]),
        message_bytes=rng.choice([8, 65_537, 2**22]),
    )
    assert [one.nodes // machine.hosts_per_leaf for one in fewer_leaves(asked)] == [4, 3, 2]
    run, limits = peerlab.simulate(asked), waits_for(asked)
    assert (time_ps(asked), limits.kind) == (run.time_ps, run.bottleneck.kind)
    assert limits.share == pytest.approx(run.bottleneck.share, rel=1e-6)


def test_leaves_that_are_not_alike_are_simulated_whole():
    asked = peerlab.Scenario(cluster="ideal-100g-leafspine-2to1", nodes=64)
    backbone = replace(asked.hardware, backbone_Bps=10**10)
    for changes in (
        {"nodes": 60},
        {"jitter": 0.1},
        {"slow_nodes": {3: 0.5}},
        {"placement": "strided"},
        {"cluster": backbone},
    ):
        assert fewer_leaves(asked.with_(**changes)) == (), changes
    assert len(fewer_leaves(asked)) == 3
