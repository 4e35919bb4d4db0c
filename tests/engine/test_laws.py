"""Laws that hold on every cluster and path: slices move causally, one byte more costs no time, and a faster part slows nothing down."""

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.model.hardware import FIGURE_KINDS
from peerlab.question.presets import known_clusters
from peerlab.question.used_figures import figures_used

of_topology = partial(peerlab.Scenario, library="none")
"""Topology alone: what the engines do with it does not depend on who asks."""

WAYS = [(name, path) for name in known_clusters() for path in peerlab.load_cluster(name).paths]
SIZES = st.sampled_from([2**power for power in range(10, 28)]) | st.integers(1, 2**26)
ENGINES = ("referee", "loop", "arrays", "compiled")


@st.composite
def scenarios(draw, sizes=SIZES):
    """Make a scenario of any cluster and path."""
    name, path = draw(st.sampled_from(WAYS))
    return of_topology(
        cluster=name, path=path, nodes=draw(st.sampled_from([2, 3, 5, 8, 16])), message_bytes=draw(sizes)
    )


def along_the_way(run):
    """Yield starts and ends of each slice's spans between the nodes, stage by stage in the order of the path, as columns of arrays."""
    spans = run.recording.unrolled
    between = [run.trace.stages.index(one.name) for one in run.scenario.stages]
    flight = run.trace.stages.index("flight")
    of_slice = np.isin(spans["stage"], [*between, flight]) & (spans["slice"] >= 0)
    rows = {name: values[of_slice] for name, values in spans.items()}
    order = np.lexsort((rows["end"], rows["start"], *(rows[n] for n in ("slice", "step", "device", "node"))))
    rows = {name: values[order] for name, values in rows.items()}
    same = np.ones(max(0, len(order) - 1), bool)  # nothing leaves an NVLink domain
    for name in ("node", "device", "step", "slice"):
        same &= rows[name][1:] == rows[name][:-1]
    return rows, same


def not_causal(run):
    """Return how many spans end before one of the same slice that began earlier, and how many uses of a stage begin out of its order."""
    rows, same = along_the_way(run)
    ends_fall = int((np.diff(rows["end"]) < 0)[same].sum())
    # in a stage resources begin in the order in which the stage lists them; where both ends have one of a kind, the sender's is first
    kinds = np.array([one.kind for one in run.trace.resources])[rows["resource"]]
    out_of_order = 0
    for stage in run.scenario.stages:
        listed = [use.kind for use in stage.uses]
        mine = (rows["stage"] == run.trace.stages.index(stage.name)) & np.isin(kinds, listed)
        starts = np.empty((int(mine.sum()) // max(1, len(listed)), len(listed)), np.int64)
        for kind in dict.fromkeys(listed):  # rows of a slice are in the order of their starts
            places = [number for number, one in enumerate(listed) if one == kind]
            starts[:, places] = rows["start"][mine & (kinds == kind)].reshape(-1, len(places))
        out_of_order += int((np.diff(starts, axis=1) < 0).sum())
    return ends_fall, out_of_order


@given(scenarios(), st.sampled_from(ENGINES))
def test_starts_and_ends_never_decrease_along_a_slices_way(asked, engine):
    assume(asked.nodes <= 5 and asked.nbytes <= 2**22)
    try:
        run = peerlab.simulate(asked, engine=engine)
    except PeerlabError:  # the arrays refuse shared resources
        return
    assert not_causal(run) == (0, 0)


def test_the_nic_of_the_detour_reads_a_slice_before_it_sends_it():
    """DL1, 4 nodes, 32 MiB through the host: the NIC begins to send when it has begun to read, and is not through before that."""
    run = peerlab.simulate(of_topology(path="host-rdma", nodes=4, message_bytes="32 MiB"))
    spans = run.trace.frame()
    network = spans[spans.stage == "network"]
    first = {"PCIe from host": {}, "NIC send": {}, "NIC receive": {}}
    for row in network.itertuples():
        if row.resource in first:
            first[row.resource][row.device, row.step, row.slice] = (row.start_ps, row.end_ps)
    read, sent, received = first.values()
    assert len(sent) == len(read) == len(received) > 90
    assert all(sent[one][0] >= read[one][0] and sent[one][1] >= read[one][1] for one in sent)
    assert all(received[one][0] > sent[one][0] and received[one][1] > sent[one][1] for one in sent)


def protocol(asked):
    """Return what the library's choice of a protocol depends on."""
    return asked.cluster_for_message


def packets(asked):
    """Return how many packets a transfer of a scenario has, slice by slice."""
    run = peerlab.simulate(asked)
    size = asked.hardware.packet_bytes
    if not size or not asked.data_path.uses_kernel_tcp:
        return 0
    spans = run.recording.spans
    core = np.array([one.kind == "core" for one in run.trace.resources])[spans["resource"]]
    mine = core & (spans["step"] == 0) & (spans["node"] == 0) & (spans["device"] == 0)
    return int((-(-spans["nbytes"][mine] // size)).sum())


@given(scenarios())
def test_one_byte_more_is_never_more_than_two_percent_faster(asked):
    more = asked.with_(message_bytes=asked.nbytes + 1)
    assume(protocol(asked) == protocol(more))  # where the library switches, a larger message may be faster
    assume(packets(asked) <= packets(more))  # and where the slices of the larger need fewer packets
    assert peerlab.simulate(asked).time_ps <= 1.02 * peerlab.simulate(more).time_ps


def test_powers_of_two_are_no_worse_than_a_byte_more():
    """Juliet, 8 MiB on 8 nodes through the host took 1.42 times as long as with one byte more while slices were cut evenly."""
    for cluster, nodes, size in (("juliet", 8, 2**23), ("infiniband-hdr-a100", 2, 2**24), ("dl1", 8, 2**26)):
        even, odd = (
            peerlab.simulate(of_topology(cluster=cluster, path="host-rdma", nodes=nodes, message_bytes=n))
            for n in (size, size + 1)
        )
        assert even.time_ps <= 1.005 * odd.time_ps, (cluster, even.time_ps / odd.time_ps)


@given(scenarios(), st.sampled_from([1.1, 1.5, 2.0]), st.data())
def test_a_faster_part_never_makes_anything_more_than_two_percent_slower(asked, times, data):
    cluster = asked.hardware
    rates = [key for key in sorted(figures_used(asked)) if FIGURE_KINDS[key] in ("rate", "time")]
    key = data.draw(st.sampled_from(rates))
    value = cluster.figures[key].value
    faster = value * times if FIGURE_KINDS[key] == "rate" else value / times
    changed = asked.with_(cluster=cluster.with_figure(key, faster))
    assert peerlab.simulate(changed).time_ps <= 1.02 * peerlab.simulate(asked).time_ps


@pytest.mark.sample(part=4)
@pytest.mark.parametrize("size", [2**20, 3 * 10**6, 2**22, 7_302_707, 2**26])
@pytest.mark.parametrize("name", ["dl1", "p4d", "gaudi2", "gaudi3", "roce-100g-a100"])
def test_a_second_nic_makes_the_detour_little_slower(name, size):
    """Devices that share a NIC stagger each other; with two they move in lockstep, and a run takes up to 17 % longer (docs/model.md)."""
    cluster = peerlab.load_cluster(name)
    second = cluster.with_figure("node.nics_per_switch", 2 * cluster.nics_per_switch)
    for nodes in (2, 8, 16):
        asked = of_topology(cluster=cluster, path="host-rdma", nodes=nodes, message_bytes=size)
        one, two = peerlab.simulate(asked), peerlab.simulate(asked.with_(cluster=second))
        assert two.time_ps <= 1.17 * one.time_ps
