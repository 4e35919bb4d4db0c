"""Two runs on one clock: bytes delivered, as the traces say."""

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.race import delivery
from peerlab.base.errors import PeerlabError

PATHS = {
    "dl1": ("host-rdma", "peer-direct", "host-tcp"),
    "p4d": ("host-rdma", "peer-direct"),
    "gaudi2": ("native",),
}


@st.composite
def scenarios(draw):
    cluster = draw(st.sampled_from(list(PATHS)))
    return peerlab.Scenario(
        cluster=cluster,
        path=draw(st.sampled_from(PATHS[cluster])),
        nodes=draw(st.integers(2, 9)),
        message_bytes=draw(st.sampled_from([1000, 2**20, 2**24 + 5])),
        slow_nodes=draw(st.sampled_from([None, {1: 0.5}])),
    )


def sent_per_node(run):
    """Return the bytes that a node sends into the network, by what its ports carried."""
    sending = {"nic_tx", "port_tx"}
    resources, sums = run.trace.resources, run.recording.totals.nbytes
    bytes_of = {i: sums[i] for i, one in enumerate(resources) if one.kind in sending and i < len(sums)}
    nodes = len({resources[i].node for i in bytes_of})
    return sum(bytes_of.values()) * (run.trace.switches if run.trace.one_switch else 1) / nodes


@given(scenarios())
def test_bytes_delivered_never_fall_and_end_with_all_that_was_sent(scenario):
    run = peerlab.simulate(scenario)
    found = delivery(run)
    assert (np.diff(found.times_ps) > 0).all()
    assert (np.diff(found.nbytes) > 0).all()
    assert found.at(0) == 0
    assert found.at(run.time_ps) == pytest.approx(sent_per_node(run))
    assert found.times_ps[-1] <= run.time_ps


@examples(part=2)
@given(scenarios(), st.floats(0, 1))
def test_both_run_on_one_clock_and_the_lead_is_the_difference_at_a_moment(scenario, part):
    race = peerlab.race(scenario, nodes=scenario.nodes + 1)
    moment = part * race.end_ps
    one, other = (delivery(run) for run in race.runs)
    assert race.lead_bytes(moment) == other.at(moment) - one.at(moment)
    assert -1 <= race.lead_share(moment) <= 1
    assert race.lead_share(race.end_ps) == 0


def test_peer_direct_beats_the_detour_on_dl1():
    race = peerlab.race(peerlab.Scenario(), path="peer-direct")
    assert race.winner == 1
    assert race.same_way
    assert race.deliveries[0].total == 112 * 2**20  # 2 (8 - 1) / 8 of 64 MiB
    assert race.times_as_fast == race.runs[0].time_ps / race.runs[1].time_ps
    assert race.lead_bytes(race.runs[1].time_ps) > 40 * 2**20


def test_steps_that_repeat_are_counted_as_often_as_they_occur():
    run = peerlab.simulate(peerlab.Scenario(nodes=64, path="peer-direct"))
    assert run.recording.blocks
    assert delivery(run).total == 2 * 63 * 2**20


@pytest.mark.parametrize(
    ("arguments", "changes", "said"),
    [
        ((peerlab.Scenario(nodes=1),), {"path": "peer-direct"}, "2 nodes or more"),
        ((peerlab.Scenario(),), {}, "give a second scenario"),
        ((peerlab.Scenario(), peerlab.Scenario()), {"nodes": 4}, "give a second scenario"),
        ((peerlab.Scenario(), "dl1"), {}, "scenarios race, or runs of them, not 'dl1'"),
    ],
)
def test_what_cannot_race_is_refused_in_words(arguments, changes, said):
    with pytest.raises(PeerlabError, match=said):
        peerlab.race(*arguments, **changes)
