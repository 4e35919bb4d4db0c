"""A communication library in the simulation: what is in the trace, and that it is what the closed form says."""

from itertools import pairwise

import numpy as np
import pytest

import peerlab
from peerlab.base.units import KIB, MIB
from peerlab.collectives.choose import slices
from peerlab.engine.opening import opening
from peerlab.engine.system import least
from peerlab.model.stages import stage_number

P4D = peerlab.Scenario(cluster="p4d", nodes=2, path="peer-direct", registration="pool")


def spans(run, stage):
    columns = run.trace.last.unrolled
    mine = columns["stage"] == stage_number(stage)
    return {name: values[mine] for name, values in columns.items()}


def test_launch_hops_flush_and_proxy_are_in_the_trace():
    run = peerlab.simulate(P4D.with_(message_bytes="1 MiB"))
    choice = run.scenario.choice
    assert spans(run, "launch")["work"].tolist() == [choice.launch_ps] * 2  # both devices of a switch
    assert spans(run, "inside")["work"].tolist() == [choice.inside_ps] * 2
    slices = {
        (d, s) for d, s in zip(*(spans(run, "flush")[c].tolist() for c in ("device", "slice")), strict=True)
    }
    assert len(spans(run, "flight")["work"]) == choice.hops * len(slices)
    assert set(spans(run, "flush")["work"].tolist()) == {choice.flush_ps}
    proxy = [i for i, one in enumerate(run.trace.resources) if one.kind == "proxy"]
    columns = run.trace.last.unrolled
    mine = np.isin(columns["resource"], proxy)
    assert set(columns["work"][mine].tolist()) == {choice.message_ps}
    assert (
        columns["end"][mine] - columns["start"][mine] > choice.message_ps
    ).all()  # held while the NIC sends


def test_the_proxy_can_be_the_bottleneck():
    run = peerlab.simulate(P4D.with_(message_bytes="64 MiB", library_version="2.19", slice_bytes="32 KiB"))
    assert run.bottleneck.kind == "proxy"


@pytest.mark.parametrize("nodes", [2, 3, 4, 16, 1024])
def test_a_tree_is_a_chain_of_hops_that_all_nodes_walk_alike(nodes):
    run = peerlab.simulate(P4D.with_(nodes=nodes, algorithm="tree", message_bytes="64 KiB"))
    assert run.trace.folded
    assert run.scenario.choice.hops == 2 * (nodes.bit_length() - 1)


@pytest.mark.parametrize("size", [8, 4 * KIB, 256 * KIB, 4 * MIB, 64 * MIB, 1024 * MIB])
@pytest.mark.parametrize(
    ("cluster", "nodes"),
    [
        *(("p4d", nodes) for nodes in (2, 16, 256)),
        *(("azure-nd-a100-v4", nodes) for nodes in (2, 4, 8, 16, 64, 256)),
        ("infiniband-hdr-a100", 64),
    ],
)
def test_where_only_the_network_limits_the_simulation_is_the_closed_form(cluster, nodes, size):
    asked = peerlab.Scenario(
        cluster=cluster, nodes=nodes, path="peer-direct", registration="pool", message_bytes=size
    )
    assert peerlab.simulate(asked).time_s * 1e6 == pytest.approx(asked.choice.course.time, rel=0.15)


def test_nothing_comes_before_the_opening_and_what_is_simulated_does_not_depend_on_it():
    busy = peerlab.Scenario().hardware.with_figure("library.overlap_lost", 0.5)
    whole, part = peerlab.Scenario(nodes=2), peerlab.Scenario(nodes=2, cluster=busy)
    (apart,) = opening(least(part))
    assert opening(least(whole)) == []
    assert peerlab.simulate(part).time_ps == peerlab.simulate(whole).time_ps + apart[2]
    assert int(spans(peerlab.simulate(part), "gather")["start"].min()) == apart[2]


def test_inside_one_choice_a_larger_message_is_not_faster_and_a_jump_is_named():
    sizes = [2**power for power in range(10, 31)]
    runs = [peerlab.simulate(P4D.with_(message_bytes=size)) for size in sizes]
    jumps = 0
    for one, other in pairwise(runs):
        if one.scenario.library_says == other.scenario.library_says:
            assert other.time_s >= 0.98 * one.time_s
        jumps += one.scenario.library_says != other.scenario.library_says
    assert jumps


def test_without_a_library_it_is_topology_alone():
    alone = peerlab.simulate(P4D.with_(library="none", message_bytes="1 MiB"))
    assert not {"launch", "proxy"} & {one.kind for one in alone.trace.resources}
    assert alone.time_s < peerlab.simulate(P4D.with_(message_bytes="1 MiB")).time_s / 3


def test_a_message_point_to_point_costs_what_its_library_says():
    asked = peerlab.Scenario(
        cluster="alps-gh200",
        collective="point-to-point",
        nodes=2,
        path="host-rdma",
        memory="host",
        message_bytes=8,
    )
    plain, eager = (peerlab.simulate(asked.with_(library=one)).time_ps for one in ("none", "openmpi-cxi"))
    assert eager == plain
    large = asked.with_(message_bytes=MIB)
    plain, asks = (peerlab.simulate(large.with_(library=one)).time_ps for one in ("none", "openmpi-cxi"))
    assert asks == plain + 5_800_000
    device = large.with_(memory="device", path="peer-direct", registration="pool")
    plain, more = (peerlab.simulate(device.with_(library=one)).time_ps for one in ("none", "openmpi-cxi"))
    assert more == plain + 5_800_000 + 7_600_000


def test_a_nic_and_its_proxy_that_take_turns_are_named_together():
    found = peerlab.simulate(
        peerlab.Scenario(cluster="p4d", nodes=2, path="peer-direct", message_bytes="64 MiB")
    )
    limits = found.bottleneck
    assert limits.kind == "nic_tx"
    assert limits.in_turns == found.busy["nic_tx"] + found.busy["proxy"] > 0.85
    assert limits.says == f"{100 * limits.share:.0f} % busy, {100 * limits.in_turns:.0f} % with its proxy"
    alone = peerlab.simulate(found.scenario.with_(library="none")).bottleneck
    assert alone.in_turns is None


def test_hcl_costs_what_its_slices_cost_so_that_a_long_message_takes_as_long_as_from_topology_alone():
    """Without a library a transfer is cut into eighths of at most 1 MiB; HCL cuts 1 MiB. From 8 MiB a transfer on they are the same."""
    for size, transfer, alike in (
        ("64 MiB", 2**20, False),
        ("512 MiB", 8 * 2**20, True),
        ("1 GiB", 2**24, True),
    ):
        hcl, bare = (
            peerlab.Scenario(path="peer-direct", message_bytes=size, library=name) for name in (None, "none")
        )
        assert sum(slices(hcl)) == sum(slices(bare)) == transfer
        assert (slices(hcl) == slices(bare)) is alike
        runs = [peerlab.simulate(one) for one in (hcl, bare)]
        assert (runs[0].time_ps == runs[1].time_ps) is alike
        assert all(run.bottleneck.kind == "nic_tx" for run in runs)  # the NICs rule both
        if not alike:  # a single slice waits for the whole exchange inside the node before it, and after it
            more = {stage: s - runs[1].breakdown()[stage] for stage, s in runs[0].breakdown().items()}
            assert {stage for stage, s in more.items() if s > 1e-12} == {
                "gather",
                "gather-reduce",
                "broadcast",
            }
            assert sum(more.values()) == pytest.approx(runs[0].time_s - runs[1].time_s)
