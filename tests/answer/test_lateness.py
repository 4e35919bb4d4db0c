"""How late nodes are: one delay travels as the light cone says, and what is shown at a moment is what the trace holds."""

import pytest

import peerlab
from peerlab.answer.lateness import Lateness, how_it_spreads, lateness, may_be_late, source, undisturbed
from peerlab.collectives.choose import plan
from peerlab.picture.late import DOTS, dots, late

RING = peerlab.Scenario(
    cluster="ideal-100g", nodes=8, message_bytes="8 MiB", slice_bytes=None, dependency="step"
)
RARE = RING.with_(detours=0.0003, detour_us=600, detour_tail=50)


def found(scenario):
    return lateness(peerlab.simulate(scenario), peerlab.simulate)


def hiccup():
    """Return a run in which one transfer alone is held up, early enough to be everybody's."""
    for seed in range(400):
        one = found(RARE.with_(seed=seed))
        cells = [] if one is None else [c for c, row in enumerate(zip(*one.late_ps, strict=True)) if any(row)]
        if cells and cells[0] <= 6 and sum(map(bool, [row[cells[0]] for row in one.late_ps])) == 1:
            return one, cells[0]
    raise AssertionError("no seed of 400 holds up one transfer")


def test_who_is_as_planned_is_not_late():
    assert found(RING) is None
    assert not may_be_late(RING)
    assert not may_be_late(RING.with_(jitter=0.1, nodes=1))
    assert undisturbed(RARE.with_(slow_nodes={1: 0.5})) == RING


def test_one_delay_goes_both_ways_round_a_blocking_ring_a_node_a_step():
    one, step = hiccup()
    node = next(node for node in range(8) if one.late_ps[node][step])
    for away in range(5):
        for other in ((node + away) % 8, (node - away) % 8):
            assert one.late_ps[other][step + away] > 0
            assert not away or one.late_ps[other][step + away - 1] == 0


def test_what_is_overdue_is_late_before_it_arrives():
    one = Lateness(((10, 20),), ((15, 40),))
    assert [one.at(t)[0] for t in (9, 12, 15, 19, 24, 30, 40, 99)] == [0, 2, 5, 5, 5, 10, 20, 20]
    assert (one.latest, one.most_ps) == ((0, 1), 20)


def test_a_folded_plan_and_a_plan_of_every_node_say_the_same():
    noisy = RING.with_(jitter=0.05, seed=3)
    alike, every = (
        lateness(peerlab.simulate(noisy), lambda s, n=n: peerlab.simulate(s, every_node=n))
        for n in (False, True)
    )
    assert alike.late_ps == every.late_ps


@pytest.mark.parametrize("nodes", [8, 30])
def test_each_dot_of_the_ring_is_a_node_or_the_latest_of_a_few(nodes):
    run = peerlab.simulate(RING.with_(nodes=nodes, jitter=0.05))
    one = lateness(run, peerlab.simulate)
    places = dots(one, 3)
    assert len(places) == min(nodes, DOTS)
    assert places == [(3 + k) % 8 for k in range(8)] if nodes == 8 else len(set(places)) == DOTS
    parcel = late(run, one)
    assert parcel["most_us"] * 1e6 == one.most_ps == max(map(max, one.late_ps))
    assert f"node {one.latest[0]}" in parcel["words"]


def test_where_partners_change_no_single_transfer_is_named():
    """On DL1 an AllReduce is a pairwise exchange: its largest step of lateness is at a node that waits for the slow one."""
    slow = peerlab.Scenario(slow_nodes={3: 0.5})
    one = found(slow)
    assert source(one.late_ps, slow) is None
    assert (
        how_it_spreads(one.late_ps, slow)
        == "Partners change from step to step, so no single transfer is named."
    )


def test_of_two_that_are_late_in_the_same_step_the_sender_is_the_source():
    """Slices go on within a step: "what node 0 sends is late" stood below "the way from node 7 to node 0"."""
    ring = peerlab.Scenario(cluster="ideal-100g", nodes=8, jitter=0.1)
    steps = plan(ring).schedule.steps
    rows = tuple((100,) * steps if node in (0, 7) else (0,) * steps for node in range(8))
    assert source(rows, ring) == (7, 0)
