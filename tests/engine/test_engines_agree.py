"""The fast engine against the referee: every span, every registration, every counter, with ==."""

import numpy as np
import pytest
from drawing import SOAK, examples
from hypothesis import assume, given
from hypothesis import strategies as st
from noise_scenes import noises

import peerlab
from peerlab.answer.trace import REGISTRATION_COLUMNS, REGISTRATION_KINDS
from peerlab.base.places import folder
from peerlab.engine.arrays.ring_arrays import refuses
from peerlab.engine.system import System, least
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.registration import Counters
from peerlab.question.presets import read_cluster

IDEAL = (folder("data") / "hardware" / "ideal-100g.toml").read_text()
EXTRA = 'unit = "GB/s", basis = "all nodes", source = "test" }'
BACKBONE = read_cluster(IDEAL.replace("[fabric]", "[fabric]\nbackbone = { value = 20, " + EXTRA), "backbone")
COUNT = 'unit = "1", basis = "per leaf", source = "test" }'
LEAFSPINE = read_cluster(
    IDEAL.replace(
        "[fabric]",
        "[fabric]\nhosts_per_leaf = { value = 3, " + COUNT + "\noversubscription = { value = 2, " + COUNT,
    ),
    "leafspine",
)
DL1_LEAVES = read_cluster(  # several PCIe switches a node, and links that they share
    (folder("data") / "hardware" / "dl1.toml")
    .read_text()
    .replace(
        "[fabric]",
        "[fabric]\nhosts_per_leaf = { value = 2, " + COUNT + "\noversubscription = { value = 3, " + COUNT,
    ),
    "dl1-leaves",
)
DL1_BUSY = peerlab.Scenario().hardware  # a library that costs something per hop and slice, and loses overlap
for key, value in {"library.hop": 18, "library.message": 8, "library.overlap_lost": 0.7}.items():
    DL1_BUSY = DL1_BUSY.with_figure(key, value)
MACHINES = ("dl1", DL1_BUSY, DL1_LEAVES, "p5", "g4dn-metal", "juliet", "alps-gh200", "p4d", "gaudi2")
REGISTERING = ("dl1", DL1_LEAVES, "juliet", "p4d", "infiniband-hdr-a100")
SIZES = st.sampled_from([1, 7, 1000, 65536, 10**6 + 3, 2**20, 2**22 + 5, 2**24]) | st.integers(1, 2**24)

MOST = 4000 if SOAK else 1500
"""Slices of an example: those of a long trial are larger, not only more."""


def common(draw):
    return {
        "message_bytes": draw(SIZES),
        "slice_bytes": draw(st.sampled_from(["auto", None, 1000, 50_000, 2**18])),
        "window": draw(st.sampled_from([None, 1, 2, 3, 16])),
        "dependency": draw(st.sampled_from(["auto", "slice", "step"])),
        "iterations": draw(st.sampled_from(["auto", 1, 3])),
        "buffers": draw(st.integers(1, 2)),
    }


@st.composite
def exchanges(draw, fields):
    """Make an all-to-all of a scenario's fields; on a path through the host perhaps between buffers in host memory."""
    staged = fields.get("path", "").startswith("host-")
    copies = staged and peerlab.Scenario(cluster=fields["cluster"]).hardware.core_copy_Bps
    return {
        "collective": "alltoall",
        "algorithm": draw(st.sampled_from(["auto", "pairwise"])),
        "memory": draw(st.sampled_from(["device", "host"])) if copies else "device",
    }


def beside_switches(algorithm, fields):
    """Return what becomes of fields where the switches add up: NICs that do RDMA, and a fabric that never limits."""
    if not ALGORITHMS[algorithm].in_network:
        return {}
    machine = fields["cluster"] in (*MACHINES, *REGISTERING)
    return {"path": "peer-direct", "cluster": "p5"} if machine else {"cluster": "ideal-100g"}


@st.composite
def scenarios(draw, *, registers=False, alltoall=False):
    """Make a scenario small enough for the referee to run on every node; `registers`: one that asks for memory; `alltoall`: an all-to-all."""
    fields = common(draw)
    powers = st.sampled_from([1, 2, 4, 8, 16])
    others = [name for name, one in ALGORITHMS.items() if "allreduce" in one.collectives and not one.library]
    others = [name for name in others[3:] if not ALGORITHMS[name].in_node_switch]
    algorithm = draw(st.sampled_from(["auto", "auto", *others]))
    needs_power = algorithm in ("halving-doubling", "recursive-doubling")
    if not registers and draw(st.integers(0, 2)) == 0:
        fabric = draw(st.sampled_from(["ideal-100g", BACKBONE, LEAFSPINE]))
        fields |= {"cluster": fabric, "nodes": draw(powers if needs_power else st.integers(1, 64))}
    else:
        fields |= {
            "cluster": draw(st.sampled_from(REGISTERING if registers else MACHINES)),
            "nodes": min(draw(powers), 4) if needs_power else draw(st.integers(1, 6)),
            "registration": draw(st.sampled_from(["cached", "per-transfer", *["pool"] * (not registers)])),
            "cache_regions": draw(st.sampled_from([None, None, 0, 1, 3, 8])),
            "prefetch": draw(st.booleans()),
            "page_bytes": draw(st.sampled_from([4096, 65536])),
        }
    if registers:
        fields["path"] = "peer-direct"
    elif fields["cluster"] in MACHINES:
        fields["path"] = draw(st.sampled_from(peerlab.Scenario(cluster=fields["cluster"]).hardware.paths))
    choices = [
        "allreduce",
        "allreduce",
        "allgather",
        "reduce-scatter",
        "alltoall",
        "broadcast",
        "point-to-point",
    ]
    fields |= beside_switches(algorithm, fields)
    if ALGORITHMS[algorithm].collectives == ("allreduce",):
        choices = ["allreduce"]
    choices = ["alltoall"] if alltoall else choices if fields["nodes"] > 1 else choices[:6]
    fields["collective"] = draw(st.sampled_from(choices))
    if fields["collective"] == "alltoall":
        fields |= draw(exchanges(fields))
    elif fields["collective"] not in ("broadcast", "point-to-point"):
        fields["algorithm"] = algorithm
    nodes = fields["nodes"]
    fields["library"] = draw(st.sampled_from([None, "none"])) if algorithm == "auto" else "none"
    if draw(st.integers(0, 3)) == 0:
        fields["slow_nodes"] = {draw(st.integers(0, nodes - 1)): draw(st.sampled_from([0.5, 0.9, 0.13]))}
    if draw(st.integers(0, 2)) == 0:
        fields |= draw(noises())
    if draw(st.booleans()):
        fields["placement"] = tuple(draw(st.permutations(range(nodes))))
    scenario = peerlab.Scenario(**fields)
    system = System(scenario, folded=False)
    schedule = system.plan.schedule
    assume(len(system.lanes) * system.pieces * max(schedule.steps, schedule.chunks) < MOST)
    return scenario


def spans(trace, iteration, node, switch):
    """Return the spans of one switch of one node as sorted tuples, with resources by kind and distance."""
    recording = trace.last if iteration is None else trace.iterations[iteration].recording
    columns = recording.unrolled
    mine = (columns["node"] == node) & (columns["device"] // trace.devices_per_switch == switch)
    rows = zip(*(columns[name][mine].tolist() for name in columns), strict=True)
    found = []
    for values in rows:
        row = dict(zip(columns, values, strict=True))
        resource = trace.resources[row.pop("resource")]
        row["device"] %= trace.devices_per_switch
        del row["node"]
        found.append((resource.kind, *row.values()))
    return sorted(found)


def registrations(trace, iteration, node, switch):
    columns = trace.iterations[iteration].recording.unrolled_registrations
    mine = (columns["node"] == node) & (columns["device"] // trace.devices_per_switch == switch)
    names = [name for name in REGISTRATION_COLUMNS if name not in ("node", "nic", "device")]
    return sorted(
        zip(
            columns["device"][mine] % trace.devices_per_switch,
            *(columns[n][mine] for n in names),
            strict=True,
        )
    )


def same(referee, other):
    """Compare the first and last switch of the first and last node of two traces."""
    assert other.last.end_ps == referee.last.end_ps
    for name in Counters.__slots__:
        for one, its in zip(other.iterations, referee.iterations, strict=True):
            assert getattr(one.recording.counters, name) == getattr(its.recording.counters, name), name
    node = 0 if other.folded else referee.nodes - 1
    assert spans(other, None, node, 0) == spans(referee, None, 0 if referee.folded else referee.nodes - 1, 0)
    assert [one.time_ps for one in other.iterations] == [one.time_ps for one in referee.iterations]
    last_node = int(max(referee.last.spans["node"], default=0)) if len(referee.last.spans["node"]) else 0
    last_switch = int(referee.last.spans["device"].max(initial=0)) // referee.devices_per_switch
    for iteration in range(len(referee.iterations)):
        for node in {0, last_node}:
            for switch in {0, last_switch}:
                there = (0 if other.folded else node, 0 if other.one_switch else switch)
                assert spans(other, iteration, *there) == spans(referee, iteration, node, switch)
                assert registrations(other, iteration, *there) == registrations(
                    referee, iteration, node, switch
                )


@given(scenarios() | scenarios(alltoall=True))
def test_every_engine_gives_the_referees_spans(scenario):
    referee = peerlab.simulate(scenario, engine="referee", every_node=True).trace
    same(referee, peerlab.simulate(scenario, engine="loop", every_node=True).trace)
    if not refuses(least(scenario)):
        same(referee, peerlab.simulate(scenario, engine="arrays").trace)
    same(referee, peerlab.simulate(scenario, engine="referee").trace)  # the least of it that is exact
    same(referee, peerlab.simulate(scenario, engine="loop").trace)


def counted(scenario, engine, *, every_node=False):
    run = peerlab.simulate(scenario, engine=engine, every_node=every_node)
    return [one.registration for one in run.iterations], run.registration


@examples(part=2)
@given(scenarios(registers=True))
def test_every_engine_counts_the_registrations_of_the_same_switch(scenario):
    referee = counted(scenario, "referee", every_node=True)
    assert counted(scenario, "loop", every_node=True) == referee
    for engine in ("auto", "loop", "referee"):
        assert counted(scenario, engine) == referee, engine


def test_what_makes_nodes_differ_does_not_multiply_the_counts():
    alike = peerlab.Scenario(
        cluster="p4d",
        path="peer-direct",
        registration="per-transfer",
        nodes=4,
        message_bytes="8 MiB",
        library="none",
    )
    runs = [peerlab.simulate(alike.with_(**kw)) for kw in ({}, {"slow_nodes": {1: 0.5}}, {"jitter": 1e-6})]
    assert [run.engine for run in runs] == ["loop", "loop", "loop"]
    assert [run.trace.folded for run in runs] == [True, False, False]
    assert [run.trace.one_switch for run in runs] == [True, True, False]
    assert [run.registration.misses for run in runs] == [24, 24, 24]
    assert len({run.as_dict()["registration_time_s"] for run in runs}) == 1


def test_the_counts_are_those_of_the_node_that_is_shown():
    """In a tree nodes differ; what is counted is what the page lists of that node's registrations."""
    tree = peerlab.Scenario(
        cluster="dl1",
        path="peer-direct",
        registration="per-transfer",
        nodes=7,
        algorithm="binary-tree",
        message_bytes="1 MiB",
    )
    misses = []
    for slow in (None, {1: 0.5}, {6: 0.5}):
        run = peerlab.simulate(tree.with_(slow_nodes=slow))
        kinds = registrations_of(run, min(slow or {0: 1}))
        assert run.registration.misses == kinds.count("uncached")
        misses.append(run.registration.misses)
    assert misses[1] > misses[2]  # a leaf exchanges with its parent alone


def registrations_of(run, node):
    """Return the kinds of what the NICs of a node's first switch did."""
    columns = run.recording.unrolled_registrations
    mine = (columns["node"] == node) & (columns["device"] < run.trace.devices_per_switch)
    return [REGISTRATION_KINDS[kind] for kind in columns["kind"][mine]]


@pytest.mark.usefixtures("anew")
def test_two_runs_are_identical_to_the_byte():
    s = peerlab.Scenario(nodes=16, path="peer-direct", registration="per-transfer")
    one, other = (peerlab.simulate(s).trace.last.spans for _ in range(2))
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_what_is_left_out_is_exactly_what_would_have_happened():
    """A long ring: the schedule repeats, so little of it is simulated, and unrolled it is all there."""
    for fields in (
        {"path": "host-rdma", "nodes": 96, "message_bytes": "192 MiB"},
        {"path": "host-tcp", "nodes": 64, "message_bytes": "8 MiB"},
        {"path": "peer-direct", "nodes": 64, "message_bytes": "64 MiB"},
        {"path": "peer-direct", "nodes": 64, "message_bytes": "64 MiB", "registration": "per-transfer"},
        {"path": "peer-direct", "nodes": 48, "message_bytes": 48 * 8 * 1024, "iterations": 3, "buffers": 2},
    ):
        scenario = peerlab.Scenario(algorithm="hierarchical", **fields)
        folded = peerlab.simulate(scenario, engine="loop").trace
        whole = peerlab.simulate(scenario, engine="referee").trace
        assert any(one.recording.blocks for one in folded.iterations), fields
        assert len(folded.last.spans["start"]) < len(whole.last.spans["start"]), fields
        same(whole, folded)
        for short, long in zip(folded.iterations, whole.iterations, strict=True):
            assert short.recording.counters.misses == long.recording.counters.misses
            assert short.recording.counters.hits == long.recording.counters.hits


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "fields", [{}, {"collective": "reduce-scatter"}, {"collective": "allgather"}, {"collective": "alltoall"}]
)
@pytest.mark.parametrize("path", ["host-rdma", "host-tcp", "peer-direct"])
def test_steps_that_wait_for_no_arrival_repeat_too(path, fields):
    """A long pairwise exchange: slices stand in line for their places, so little of it is simulated."""
    scenario = peerlab.Scenario(nodes=56, path=path, message_bytes="4 MiB", buffers=2, **fields)
    folded = peerlab.simulate(scenario, engine="loop").trace
    whole = peerlab.simulate(scenario, engine="referee").trace
    assert folded.last.blocks, fields
    assert len(folded.last.spans["start"]) < 0.9 * len(whole.last.spans["start"])
    same(whole, folded)


def test_a_thousand_nodes_are_simulated_in_few_rows():
    run = peerlab.simulate(
        peerlab.Scenario(nodes=1024, path="host-rdma", message_bytes="1 GiB", library="none")
    )
    assert int(run.recording.weights.sum()) == len(run.recording.unrolled["start"]) > 500_000
    assert len(run.recording.spans["start"]) < 60_000


def test_progress_is_told_and_can_stop_the_simulation():
    from peerlab.base.errors import Cancelled

    told = []

    def stop(done, total):
        told.append((done, total))
        raise Cancelled("enough")

    s = peerlab.Scenario(nodes=1000, path="host-rdma", message_bytes="1 GiB", slice_bytes="16 KiB", window=3)
    try:
        peerlab.simulate(s, progress=stop)
    except Cancelled:
        assert 0 <= told[0][0] <= told[0][1] == 2 * 999
    else:
        raise AssertionError(told)
    assert np.isfinite(told[0][0])


def test_a_schedule_repeats_only_if_what_is_recorded_of_it_repeats():
    """Slices queued at other moments of two periods that were alike in all else: found by a random search."""
    machine = peerlab.load_cluster("dl1")
    for key, value in {"device.hbm": 30, "device.copy_engine": 9, "slices.window": 5}.items():
        machine = machine.with_figure(key, value)
    scenario = peerlab.Scenario(cluster=machine, nodes=13, path="host-rdma", message_bytes=474)
    same(
        peerlab.simulate(scenario, engine="referee").trace,
        peerlab.simulate(scenario, engine="loop").trace,
    )
