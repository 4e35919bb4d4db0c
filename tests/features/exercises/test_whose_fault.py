"""Lab 10: victims, losses, two jobs, and what counters say of each cause."""

import pytest

from peerlab.engine.ports.port_forms import go_back_n, victim_one_class
from peerlab.features.exercises.catalogue import find, transfer_of
from peerlab.features.exercises.labs import whose_fault
from peerlab.features.exercises.labs.port_counters import (
    BUSIEST,
    CAUSES,
    DROPPED,
    IDLEST,
    PAUSE,
    SEQUENCE,
    TIMEOUT,
    WAIT,
    answered,
    counters,
    of_cause,
    of_lost_tail,
    said_cause,
)

PAUSED, STARVED, LOST, OVERFLOW, COLLIDED = CAUSES


@pytest.mark.parametrize("fabric", [whose_fault.IB, whose_fault.PFC])
def test_the_victim_has_what_the_closed_form_says_and_a_queue_of_its_own_frees_it(fabric):
    assert whose_fault.share(fabric) == pytest.approx(victim_one_class(4, 2.0), abs=0.015)
    assert whose_fault.freed().filter(like="own", axis=0).min().min() > 0.99
    assert whose_fault.freed().drop(whose_fault.freed().index[-1]).max().max() < 0.3


@pytest.mark.parametrize(("loss", "wait_us"), [(1e-3, 180), (1e-3, 500), (1e-2, 180), (1e-2, 500)])
def test_what_a_loss_costs_is_what_go_back_n_says_with_the_time_that_a_gap_takes(loss, wait_us):
    by_hand = go_back_n(loss, wait_us / whose_fault._packet_us())
    assert whose_fault.counted(loss, wait_us) == pytest.approx(by_hand, rel=0.04)
    assert find("10-loss").judge(eval(find("10-loss").solution)).right  # noqa: S307  (our own words)


def test_each_cause_has_counters_of_its_own():
    shown = {cause: counters(of_cause(cause)) for cause in CAUSES}
    up = {
        cause: {name for name, value in of.items() if value and name not in (BUSIEST, IDLEST)}
        for cause, of in shown.items()
    }
    assert up == {
        PAUSED: {PAUSE},
        STARVED: {WAIT},
        LOST: {SEQUENCE},
        OVERFLOW: {SEQUENCE, DROPPED},
        COLLIDED: {PAUSE},
    }
    assert shown[COLLIDED][IDLEST] == 0
    assert shown[COLLIDED][BUSIEST] >= 99
    assert shown[PAUSED][IDLEST] == shown[PAUSED][BUSIEST]


def test_a_last_packet_that_is_lost_costs_the_timer_of_its_sender():
    answer = of_lost_tail()
    assert counters(answer)[TIMEOUT] == 1
    assert answer.time_ps > answer.trace.scene.fabric.timeout_ps > 100 * answer.alone_ps
    assert said_cause(counters(answer)) == LOST


@pytest.mark.parametrize("cause", CAUSES)
def test_whatever_is_drawn_is_slow_and_its_counters_say_why(cause):
    transfer = transfer_of("10")
    drawn = [values for values in map(transfer.values, range(transfer.count)) if values[0] == cause]
    for _, nodes, others in drawn:
        task = transfer.make(cause, nodes, others)
        assert task.truth() == cause, (nodes, others)
        assert task.judge(cause).right
    assert {1 / of_cause(*values, "768 KiB").share > 1.05 for values in drawn if values[2] == 4} == {True}


def test_what_frees_a_victim_does():
    """A lane or class of its own, marks, spraying: each is simulated; a cable has to be changed."""
    asked = {"message_bytes": "1 MiB", "neighbour": "neighbour(4)"}
    for fabric in ("infiniband", "roce-pfc"):
        assert answered(fabric=fabric, vls=2, **asked).share > 0.95
    assert answered(fabric="roce-pfc", **asked).share < 0.5
    assert answered(fabric="roce-dcqcn", start="fair", neighbour="victim(4)").share > 0.9
    sprayed = {**CAUSES[COLLIDED].fields(8, 4), "spread": "spray"}
    assert answered(**sprayed, message_bytes="1 MiB").share > 0.99


def test_thresholds_that_are_too_low_idle_the_port_and_help_nobody():
    table = whose_fault.thresholds()
    busy, victim, lost = (table[name].tolist() for name in table)
    assert busy == sorted(busy, reverse=True)
    assert victim == sorted(victim, reverse=True)
    assert set(lost) == {0}


def test_two_jobs_keep_their_overlap_and_the_one_that_crosses_less_pays():
    assert [str(one) for one in whose_fault.two_jobs().lost] == ["3/2", "3"]
    assert whose_fault.two_jobs().victim == 1
    assert find("10-slide").truth() == "it stays, in every step"
