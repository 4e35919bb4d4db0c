"""A broadcast: everybody has the root's message afterwards, everybody gets each byte once, and the root waits for nothing."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_logs import OSU_ALLTOALL

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.base.units import service_ps
from peerlab.collectives.choose import plan
from peerlab.collectives.pipeline_chain import PipelineChain
from peerlab.collectives.plan import Plan, waits
from peerlab.collectives.reference import execute
from peerlab.model.stages import STAGES
from peerlab.picture.words import caption

FEW = st.integers(1, 9)
BROADCAST = OSU_ALLTOALL.replace("All-to-All Personalized Exchange", "Broadcast")


def machine(devices, **figures):
    """Return a cluster with so many devices below one switch of a node."""
    found = peerlab.load_cluster("p4d")
    for key, value in {
        "node.numa_domains": 1,
        "node.switches_per_numa": 1,
        "node.devices_per_switch": devices,
        **figures,
    }.items():
        found = found.with_figure(key, value)
    return dataclasses.replace(found, name=f"{devices} devices", library="none")


def broadcast(devices=4, nodes=3, size="2 MiB", **fields):
    given_ = {
        "cluster": machine(devices),
        "nodes": nodes,
        "message_bytes": size,
        "path": "peer-direct",
        "registration": "pool",
    }
    return peerlab.Scenario(**(given_ | fields), collective="broadcast")


def moved(run, kind):
    """Return the bytes that crossed the resources of a kind, by node."""
    columns, found = run.trace.last.unrolled, dict.fromkeys(range(run.scenario.nodes), 0)
    for at, one in enumerate(run.trace.resources):
        if one.kind == kind:
            found[one.node] += int(columns["nbytes"][columns["resource"] == at].sum())
    return found


@given(FEW, FEW, st.integers(1, 200))
def test_every_rank_holds_the_message_of_the_root(nodes, devices, size):
    given_ = np.random.default_rng(size).integers(-1000, 1000, (nodes * devices, size))
    chain = PipelineChain(nodes, -(-size // devices))
    assert (execute(Plan(nodes, devices, size, chain, adds=False, rooted=True), given_) == given_[0]).all()


@given(st.integers(1, 40))
def test_a_rank_passes_on_what_came_in_the_step_before_and_the_root_waits_for_nothing(ranks):
    chain = PipelineChain(ranks, 1000)
    sends = {
        rank: [step for step in range(chain.steps) if chain.to(rank, step) >= 0] for rank in range(ranks)
    }
    assert [step for steps in sends.values() for step in steps] == list(range(ranks - 1))
    assert chain.transfers == ranks - 1
    for rank, steps in sends.items():
        for step in steps:
            assert chain.source(chain.to(rank, step), step) == rank
            assert waits(chain, rank)[step] == ((step - 1,) if rank else ())
    assert all(chain.source(0, step) < 0 for step in range(chain.steps))


@given(FEW, st.integers(1, 4), st.integers(1, 2**22))
def test_each_byte_comes_to_each_rank_once_and_none_comes_to_the_root(devices, nodes, size):
    run = peerlab.simulate(broadcast(devices, nodes, size), every_node=True)
    whole = plan(run.scenario).shard_bytes * devices
    assert moved(run, "nic_tx") == {node: whole * (node < nodes - 1) for node in range(nodes)}
    assert moved(run, "nic_rx") == {node: whole * (node > 0) for node in range(nodes)}
    assert moved(run, "scaleup") == dict.fromkeys(range(nodes), (devices - 1) * whole)


@given(
    st.integers(1, 6), st.integers(2, 5), st.integers(1, 2**23), st.sampled_from(["peer-direct", "host-rdma"])
)
def test_no_broadcast_is_faster_than_the_message_leaves_the_node_of_the_root(devices, nodes, size, path):
    run = peerlab.simulate(broadcast(devices, nodes, size, path=path))
    hardware = run.scenario.cluster_for_message
    nics = min(hardware.nics, devices)
    assert run.time_ps >= service_ps(size // nics, hardware.nic_Bps) + (nodes - 1) * hardware.latency_ps
    assert run.busbw_GBps == pytest.approx(run.algbw_GBps)
    assert run.busbw_GBps <= run.wire_limit_GBps


def test_the_root_begins_at_once_and_hands_out_its_own_share_behind_what_others_wait_for():
    run = peerlab.simulate(broadcast(), engine="referee", every_node=True)
    columns, names = run.trace.last.unrolled, list(STAGES)

    def begins(device, stage, step=0):
        mine = (columns["node"] == 0) & (columns["device"] == device) & (columns["step"] == step)
        return columns["start"][mine & (columns["stage"] == names.index(stage))]

    shares, own = begins(0, "broadcast"), begins(0, "broadcast", -1)
    assert begins(0, "direct").min() == shares.min() == 0
    assert begins(1, "direct").min() > 0
    assert own.min() > shares.max()
    assert begins(1, "broadcast", -1).min() == begins(1, "direct").min()


def test_a_device_beside_the_root_alone_hands_nothing_to_anybody():
    run = peerlab.simulate(broadcast(devices=2, nodes=1), every_node=True)
    columns = run.trace.last.unrolled
    assert set(columns["device"].tolist()) == {0}


def test_it_is_said_as_what_it_is():
    run = peerlab.simulate(broadcast())
    assert "hierarchical pipeline" in caption(run)
    assert caption(peerlab.simulate(peerlab.Scenario(cluster="p4d", collective="broadcast", nodes=2))).count(
        "topology alone"
    )
    with pytest.raises(ScenarioError, match="'pipeline' does a broadcast only, no allreduce"):
        run.scenario.with_(collective="allreduce", algorithm="pipeline")
    with pytest.raises(ScenarioError, match="no broadcast; others do: pipeline"):
        run.scenario.with_(algorithm="pairwise")


def test_logs_of_it_are_read_and_compared(tmp_path):
    table = " 1048576 262144 float none 0 100.0 10.49 10.49 0 100.0 10.49 10.49 0\n"
    assert set(peerlab.load(table).table["collective"]) == {"broadcast"}
    log = peerlab.load(BROADCAST)
    assert set(log.table["collective"]) == {"broadcast"}
    assert list(log.table["size_bytes"]) == sorted(set(log.table["size_bytes"]))
    assert peerlab.diagnose(log, cluster="p4d").ranking
    log.save(tmp_path / "mine.csv")
    assert set(peerlab.load(tmp_path / "mine.csv").table["collective"]) == {"broadcast"}
