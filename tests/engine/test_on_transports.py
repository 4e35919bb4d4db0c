"""A transport in the simulation: headers by the closed form, messages as a bottleneck, and the same spans from every engine."""

import math
import re

import pytest
from drawing import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from test_engines_agree import same
from test_over_the_cpu import rows

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.base.places import folder
from peerlab.base.units import PS_PER_S
from peerlab.engine.arrays import ring_arrays
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.engine.compiled import refusals
from peerlab.engine.system import least
from peerlab.model.transport_files import possible_transports
from peerlab.question.presets import read_cluster

RING = peerlab.Scenario(cluster="ideal-100g", algorithm="ring", slice_bytes=None)
WRITES = peerlab.Scenario(
    cluster="ideal-100g", collective="point-to-point", nodes=2, message_bytes=8000, slice_bytes=8, window=2000,
    dependency="slice",
)  # fmt: skip
BACKBONE = read_cluster(
    (folder("data") / "hardware" / "ideal-100g.toml")
    .read_text()
    .replace(
        "[fabric]", '[fabric]\nbackbone = { value = 20, unit = "GB/s", basis = "all nodes", source = "test" }'
    ),
    "backbone",
)


def on_wire(nbytes, mtu, header, first):
    return nbytes + math.ceil(nbytes / mtu) * header + first


@given(
    st.sampled_from([("infiniband", 26), ("roce", 82)]),
    st.sampled_from([256, 512, 1024, 2048, 4096]),
    st.integers(2, 9),
    st.integers(1, 10**7),
)
def test_a_ring_takes_two_n_less_one_times_latency_and_chunk_on_the_wire(one, mtu, nodes, size):
    """F2 with F1, exact: every port has one sender, so transports differ by header bytes alone."""
    name, header = one
    run = peerlab.simulate(RING.with_(transport=name, mtu=mtu, nodes=nodes, message_bytes=size))
    chunk = math.ceil(size / nodes)
    per_message = 4651
    sent = max(math.ceil(on_wire(chunk, mtu, header, 16) * PS_PER_S / 12_500_000_000), per_message)
    assert run.time_ps == 2 * (nodes - 1) * (5_000_000 + sent)


@pytest.mark.parametrize(("name", "bytes_each"), [("infiniband", 50), ("roce", 106)])
def test_writes_of_eight_bytes_are_as_many_as_the_nic_counts_or_the_wire_carries(name, bytes_each):
    """F17: 250 and 118 million a second on 100 Gb/s; a NIC of 215 million limits the first alone."""
    run = peerlab.simulate(WRITES.with_(transport=name))
    each = max(bytes_each * PS_PER_S // 12_500_000_000, 4651)
    assert run.time_ps == 5_000_000 + 1000 * each
    assert (run.busy["nic_messages"] > run.busy["nic_tx"]) == (name == "infiniband")


def test_nic_messages_can_be_the_bottleneck():
    slow = read_cluster(
        (folder("data") / "hardware" / "ideal-100g.toml")
        .read_text()
        .replace(
            "[nic]", '[nic]\nper_message = { value = 1, unit = "us", basis = "per message", source = "test" }'
        ),
        "slow",
    )
    run = peerlab.simulate(WRITES.with_(cluster=slow, transport="roce", message_bytes=80_000, slice_bytes=80))
    assert (run.bottleneck.kind, run.bottleneck.label) == ("nic_messages", "NIC messages")
    assert run.time_ps == 5_000_000 + 1000 * 1_000_000


def test_an_ideal_transport_and_none_give_the_same_spans():
    for more in ({"nodes": 5}, {"cluster": "dl1", "path": "host-rdma", "nodes": 3, "algorithm": "auto"}):
        scenario = RING.with_(message_bytes="3 MiB", **more)
        assert rows(peerlab.simulate(scenario.with_(transport="ideal"))) == rows(peerlab.simulate(scenario))


def test_a_cluster_that_only_lists_what_it_can_have_keeps_its_spans():
    text = (folder("data") / "hardware" / "dl1.toml").read_text()
    assert "\ntransport = {" in text
    listed = peerlab.Scenario(cluster="dl1", nodes=2, message_bytes="64 KiB")
    plain = listed.with_(cluster=read_cluster(re.sub(r"\ntransport = .*", "", text), "plain"))
    assert rows(peerlab.simulate(listed)) == rows(peerlab.simulate(plain))


@st.composite
def transported(draw):
    cluster = draw(st.sampled_from(("ideal-100g", BACKBONE, "dl1", "p4d", "g4dn-metal")))
    bare = not isinstance(cluster, str) or cluster == "ideal-100g"
    machine = cluster if not isinstance(cluster, str) else peerlab.load_cluster(cluster)
    path = draw(st.sampled_from([one for one in machine.paths if one != "native"]))
    if path != "wire" and draw(st.booleans()):
        machine = machine.with_figure("device.copy_start", 10, source="test")
    can = possible_transports(machine)
    names = can if bare or path == "host-tcp" else [name for name in can if name != "tcp"]
    return peerlab.Scenario(
        cluster=machine,
        path=path,
        transport=draw(st.sampled_from(names)),
        hops=draw(st.sampled_from((None, 0, 5))),
        metres=draw(st.sampled_from((None, 0, 300.5))),
        nodes=draw(st.integers(2, 4)),
        message_bytes=draw(st.sampled_from((7, "64 KiB", "3 MiB"))),
        slice_bytes=draw(st.sampled_from(("auto", 1000))),
        collective=draw(st.sampled_from(("allreduce", "allreduce", "alltoall", "point-to-point"))),
        library=draw(st.sampled_from((None, "none"))),
        slow_nodes=draw(st.sampled_from((None, {1: 0.5}))),
        jitter=draw(st.sampled_from((0, 0.1))),
    )


@examples(part=2)
@given(transported())
def test_every_engine_gives_the_referees_spans_on_every_transport(scenario):
    assume(scenario.nbytes < 2**20 or scenario.slice_bytes == "auto")
    referee = peerlab.simulate(scenario, engine="referee", every_node=True)
    same(referee.trace, peerlab.simulate(scenario, engine="loop", every_node=True).trace)
    same(referee.trace, peerlab.simulate(scenario).trace)  # folded, where all nodes are alike
    for engine, refuses in (("arrays", ring_arrays.refuses), ("compiled", refusals.refuses)):
        if not refuses(least(scenario)):
            try:
                run = peerlab.simulate(scenario, engine=engine)
            except OrderUnknownError:  # slices met in an order that only the loop knows
                assert (engine, peerlab.simulate(scenario, every_node=True).engine) == ("arrays", "loop")
            else:
                same(referee.trace, run.trace)


# ---- reduction in the network -----------------------------------------------------------------------------------


def test_the_switches_add_up_what_goes_up_once_and_comes_down_once():
    """F14: 2 L + S / (C g); with 5 us and 64 MiB 5.379 ms, where a ring of 8 takes 9.465."""
    sharp = RING.with_(algorithm="sharp", nodes=8, message_bytes="64 MiB")
    assert peerlab.simulate(sharp).time_ps == 2 * 5_000_000 + 2**26 * 80
    for name in ("referee", "loop"):
        assert peerlab.simulate(sharp, engine=name).time_ps == 2 * 5_000_000 + 2**26 * 80
    wired = on_wire(2**26, 4096, 26, 16)
    assert peerlab.simulate(sharp.with_(transport="infiniband")).time_ps == 10_000_000 + wired * 80


def test_reduction_in_the_network_helps_small_messages_on_many_nodes_most():
    def gain(nodes, size):
        ring = peerlab.Scenario(cluster="infiniband-hdr-a100", path="peer-direct", library="none", nodes=nodes, message_bytes=size)  # fmt: skip
        return peerlab.simulate(ring).time_ps / peerlab.simulate(ring.with_(algorithm="sharp")).time_ps

    assert gain(2, "64 MiB") == pytest.approx(1, abs=0.01)
    assert gain(8, "64 MiB") < gain(8, "8 KiB") < gain(64, "8 KiB")
    assert gain(64, "8 KiB") > 10


def test_every_engine_agrees_on_reduction_in_the_network():
    scenario = peerlab.Scenario(
        cluster="infiniband-hdr-a100", path="peer-direct", library="none", nodes=3, message_bytes="3 MiB",
        algorithm="sharp", transport="infiniband", hops=3,
    )  # fmt: skip
    referee = peerlab.simulate(scenario, engine="referee", every_node=True).trace
    same(referee, peerlab.simulate(scenario, engine="loop", every_node=True).trace)
    same(referee, peerlab.simulate(scenario).trace)
    assert "reduce" not in {one.kind for one in referee.resources}


def h100(devices):
    """Return a node of p5 with so many of its devices."""
    one = peerlab.load_cluster("p5").with_figure("node.numa_domains", 1, source="test")
    return one.with_figure("node.switches_per_numa", devices, source="test")


@pytest.mark.parametrize(("devices", "published"), [(5, 258), (6, 265), (7, 270), (8, 273)])
def test_the_switch_inside_a_node_adds_up_as_fast_as_published(devices, published):
    """NVIDIA/nccl issue 1455: of each shard n times its bytes leave by a device's links, and its sum once: rate x n / (n + 1)."""
    inside = peerlab.Scenario(cluster=h100(devices), nodes=1, message_bytes="4 GiB", algorithm="nvls")
    found = peerlab.simulate(inside)
    assert found.algbw_GBps == pytest.approx(308.5 * devices / (devices + 1), rel=1e-3)
    assert found.algbw_GBps == pytest.approx(published, rel=0.005)
    assert found.bottleneck.label == "NVLink SHARP"


@pytest.mark.parametrize("nodes", [1, 2, 4])
@pytest.mark.parametrize("size", [1, "1 MiB", "64 MiB"])
def test_every_engine_agrees_on_what_the_switch_of_a_node_adds_up(nodes, size):
    inside = peerlab.Scenario(cluster="p5", nodes=nodes, message_bytes=size, algorithm="nvls", library="none")
    referee = peerlab.simulate(inside, engine="referee", every_node=True).trace
    same(referee, peerlab.simulate(inside, engine="loop", every_node=True).trace)
    same(referee, peerlab.simulate(inside).trace)
    assert "scaleup_reduce" not in {
        referee.resources[one].kind for one in referee.last.spans["resource"].tolist()
    }


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"cluster": "p4d", "nodes": 1, "algorithm": "nvls"}, "needs a switch inside the node that adds up, and p4d's file does not say how fast"),
        ({"cluster": "dl1", "path": "host-tcp", "library": "none"}, "needs NICs that do RDMA, which kernel TCP does not use"),
        ({"cluster": "ideal-100g-backbone"}, "is simulated on fabrics that never limit"),
        ({"cluster": "p4d", "path": "peer-direct"}, "NCCL over EFA has no 'sharp' on p4d"),
        ({"cluster": "ideal-100g", "collective": "allgather"}, "'sharp' does an allreduce only"),
    ],
)  # fmt: skip
def test_where_switches_do_not_add_up_is_said(fields, says):
    with pytest.raises(ScenarioError, match=says):
        peerlab.Scenario(**{"algorithm": "sharp"} | fields)
