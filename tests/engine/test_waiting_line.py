"""Where slices stand in line for their places, and where adding up is left to the end: what the loop may leave out follows from both."""

import pytest

import peerlab
from peerlab.engine.loop.adding_up import adds_last
from peerlab.engine.loop.event_loop import Loop
from peerlab.engine.loop.waiting_line import WaitingLine, stands_in_line
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.system import System


def made(**fields):
    """Return a folded system of many nodes of DL1, whose messages are one slice each, and its registration queue."""
    scenario = peerlab.Scenario(**{"nodes": 40, "path": "peer-direct", "message_bytes": "4 MiB", **fields})
    system = System(scenario, folded=True)
    queue = RegistrationQueue(system, warm=True)
    queue.begin(0)
    return system, queue


@pytest.mark.parametrize(
    ("fields", "stands"),
    [
        ({}, True),
        ({"path": "host-rdma"}, True),
        ({"collective": "alltoall"}, True),
        ({"collective": "allgather"}, True),
        ({"nodes": 2, "message_bytes": "64 MiB"}, False),  # four slices a step, which come in turn
        (
            {"algorithm": "hierarchical", "library": "none"},
            False,
        ),  # each step of a ring waits for the one before
        ({"dependency": "step"}, False),
        ({"prefetch": True}, False),
    ],
)
def test_slices_stand_in_line_where_a_step_is_one_slice_and_waits_for_no_arrival(fields, stands):
    assert stands_in_line(*made(**fields)) is stands


def test_they_do_not_where_memory_has_to_be_registered_first():
    system, _ = made(registration="per-transfer")
    assert not stands_in_line(system, RegistrationQueue(system))


def test_only_the_first_of_each_line_is_known_to_the_loop():
    system, queue = made()
    loop, most = Loop(system, queue, None, None), []
    loop.run(lambda loop, *_: most.append(len(loop.transfers.under_way)))
    assert isinstance(loop.line, WaitingLine)
    window = system.scenario.window_slices
    assert max(most) <= len(system.lanes) * (window + 1) < system.plan.schedule.steps


def test_adding_up_is_left_to_the_end_where_nothing_else_has_its_resource():
    system, _ = made()
    legs = adds_last(system)
    assert {system.resources[leg.visits[0].resource].kind for leg in legs} == {"reduce"}
    assert adds_last(made(collective="alltoall")[0]) == []  # adds nothing
