"""What a resource, a window, a fabric and the order of slices do to three slices: the same in the referee as in the loop."""

import pytest
from story import BOTH, DRAM, NIC, STAGE, Story, flies, flow, served_by, then_flies, told, use

from peerlab.engine.legs import Leg, Visit
from peerlab.engine.loop.loop_resources import Serving
from peerlab.engine.loop.windows import Windows
from peerlab.engine.max_min import max_min
from peerlab.engine.processor_sharing import FairShare, Job
from peerlab.engine.referee.simpy_resources import Clock, Exclusive, Shared, Window
from peerlab.trace import Resource

# ---- resources -----------------------------------------------------------------------------------------------------


@BOTH
def test_a_resource_serves_one_slice_at_a_time_lowest_first(engine):
    story = Story([[served_by(use(0, 10))], [served_by(use(0, 20))], [served_by(use(0, 30))]], [NIC])
    assert told(engine, story) == [(0, 0, 10), (1, 10, 30), (2, 30, 60)]


@BOTH
def test_who_comes_first_is_served_first_and_a_resource_waits_for_nobody(engine):
    ways = [[flies(at), served_by(use(0, 10))] for at in (7, 5, 40)]
    assert told(engine, Story(ways, [NIC])) == [(1, 5, 15), (0, 15, 25), (2, 40, 50)]


@BOTH
def test_two_cores_serve_two_slices_at_a_time(engine):
    ways = [[served_by(use(0, lasts))] for lasts in (10, 30, 10)]
    cores = Resource("core", 0, 0, 10**12, shared=False, servers=2)
    assert told(engine, Story(ways, [cores])) == [(0, 0, 10), (1, 0, 30), (2, 10, 20)]


@BOTH
def test_a_stage_is_over_when_the_slowest_of_its_resources_is_through(engine):
    ways = [[served_by(use(0, 10), use(1, 25)), served_by(use(2, 5))]] * 3
    story = Story(ways, [NIC, NIC, NIC])
    assert told(engine, story, 0) == [(0, 0, 10), (1, 10, 20), (2, 20, 30)]
    assert told(engine, story, 2) == [(0, 25, 30), (1, 50, 55), (2, 75, 80)]


@BOTH
def test_slices_overlap_in_a_pipeline_of_two_stages(engine):
    story = Story([[served_by(use(0, 10)), served_by(use(1, 20))]] * 3, [NIC, NIC])
    assert told(engine, story, 0) == [(0, 0, 10), (1, 10, 20), (2, 20, 30)]
    assert told(engine, story, 1) == [(0, 10, 30), (1, 30, 50), (2, 50, 70)]


@BOTH
def test_what_a_node_sends_itself_goes_before_what_it_receives(engine):
    """Both nodes send one slice of each number through their own copy engine, then through the receiver's."""

    def ways(node):
        return [[served_by(use(node, 10), Visit(1 - node, 10, 1, behind=True))]] * 2

    story = Story(ways, [NIC, NIC], collective="allgather", algorithm="ring")
    whose = told(engine, story, 0, ("node", "slice", "start", "end"))
    assert whose == [(0, 0, 0, 10), (1, 0, 10, 20), (0, 1, 20, 30), (1, 1, 30, 40)]


# ---- shared resources ----------------------------------------------------------------------------------------------


@BOTH
def test_who_shares_a_resource_gets_its_share_from_the_end_of_the_present_picosecond_each(engine):
    """Two engines are served in rounds of 2 ps. The third comes at 5, joins at 6, and is alone from 27 on."""
    ways = [[served_by(use(0, 10, 0))], [served_by(use(0, 10, 1))], [flies(5), served_by(use(0, 10, 2))]]
    assert told(engine, Story(ways, [DRAM])) == [(0, 0, 27), (1, 0, 27), (2, 6, 30)]


@BOTH
def test_one_engine_of_a_shared_resource_takes_one_slice_at_a_time(engine):
    ways = [[served_by(use(0, 10, 0))], [served_by(use(0, 10, 0))], [served_by(use(0, 15, 1))]]
    assert told(engine, Story(ways, [DRAM])) == [(0, 0, 20), (2, 0, 30), (1, 20, 35)]


@BOTH
def test_where_a_user_stands_for_two_each_of_them_gets_half(engine):
    two = Resource("dram", 0, 0, 10**12, shared=True, copies=2)
    assert told(engine, Story([[served_by(use(0, 10, 0))]], [two])) == [(0, 0, 20)]


def test_processor_sharing_loses_no_picosecond():
    """Three users of 10 ps each, from 0 on: 30 ps in all, whoever looks in between."""
    fair = FairShare(copies=1)
    for engine in range(3):
        fair.arrive(0, engine, Job(engine, STAGE, 10, 1, 0))
    assert fair.next_end() == 30
    fair.arrive(29, 0, Job(3, STAGE, 10, 1, 29))  # waits: its engine is busy
    assert fair.next_end() == 30
    assert [(start, job.slice_id) for start, job in fair.finish(30)] == [(0, 0), (0, 1), (0, 2)]
    assert fair.next_end() == 40


# ---- a contended fabric --------------------------------------------------------------------------------------------


def test_rates_are_max_min_fair():
    """Link 0 has 10 for two flows, one of which gets no more than 2 on link 1."""
    assert max_min([(0,), (0, 1)], {0: 10.0, 1: 2.0}, {}) == [8.0, 2.0]
    assert max_min([(0,), (0, 1)], {0: 10.0, 1: 2.0}, {1: 2}) == [9.0, 1.0]


@BOTH
def test_flows_over_a_link_go_at_their_fair_rate_until_one_ends(engine):
    """The link carries 1 byte/ps, the second NIC 0.25: 0.75 is left for the first, whose next slice waits for it."""
    slow = Resource("nic_tx", 1, 0, 10**12 // 4, shared=True)
    fast, link = (
        Resource("nic_tx", 0, 0, 10**12, shared=True),
        Resource("backbone", -1, 0, 10**12, shared=True),
    )
    ways = [
        [served_by(flow((0, 2), 75))],
        [served_by(flow((1, 2), 50))],
        [served_by(flow((0, 2), 150))],
    ]
    assert told(engine, Story(ways, [fast, slow, link]), 2) == [(0, 0, 100), (1, 0, 200), (2, 100, 275)]


# ---- windows -------------------------------------------------------------------------------------------------------


@BOTH
def test_a_slice_in_flight_holds_its_place_in_the_window(engine):
    ways = [[served_by(use(0, 10), acquire=0), Leg(STAGE, flight=flies(90).flight, release=0)]] * 3
    assert told(engine, Story(ways, [NIC], [1])) == [(0, 0, 10), (1, 100, 110), (2, 200, 210)]
    assert told(engine, Story(ways, [NIC], [2])) == [(0, 0, 10), (1, 10, 20), (2, 100, 110)]


@BOTH
def test_who_has_waited_longer_gets_the_place(engine):
    """Slice 2 came at 3, slice 1 at 5; the place of slice 0 is free at 10."""
    hold = served_by(use(0, 10), acquire=0, release=0)
    story = Story([[hold], [flies(5), hold], [flies(3), hold]], [NIC], [1])
    assert told(engine, story) == [(0, 0, 10), (2, 10, 20), (1, 20, 30)]


def test_places_are_given_out_at_the_end_of_an_instant():
    windows = Windows()
    windows.meet([1])
    windows.ask(4, 0, 8)
    windows.ask(4, 0, 7)
    assert windows.grant() == [7]
    assert windows.grant() == []
    windows.give_back(0)
    assert windows.grant() == [8]


def test_the_referees_resources_tell_when_they_served_and_its_window_who_waits():
    clock, log = Clock(), []
    alone, fair, window = Exclusive(clock, NIC), Shared(clock, DRAM), Window(clock, 1)
    for key in (1, 0):
        alone.serve((key,), -1, 10, lambda *when, key=key: log.append(("alone", key, *when)))
        fair.serve((key,), key, 10, lambda *when, key=key: log.append(("fair", key, *when)))
    held = [window.take((key,)) for key in (1, 0)]
    clock.env.run()
    assert sorted(log) == [
        ("alone", 0, 0, 0, 10),
        ("alone", 1, 0, 10, 20),
        ("fair", 0, 0, 0, 20),
        ("fair", 1, 0, 0, 20),
    ]
    assert [one.triggered for one in held] == [False, True]


def test_the_loops_resources_put_the_end_of_a_service_on_the_heap():
    heap, rows = [], []
    serving = Serving(1, heap, rows)
    serving.meet([NIC])
    serving.take(3, [(1, served_by(use(0, 10))), (0, served_by(use(0, 10)))])
    assert [(when, what) for when, _, what, _ in sorted(heap)] == [(13, 0), (23, 1)]
    assert rows == [(0, STAGE, 0, 3, 3, 13, 1), (1, STAGE, 0, 3, 13, 23, 1)]


# ---- the order of slices -------------------------------------------------------------------------------------------

RING = {"nodes": 3, "collective": "allgather", "algorithm": "ring"}


def sends(node):
    """Return three slices of 10 ps through a NIC of each node, that fly for 5 ps."""
    return [[served_by(use(node, 10), flight=then_flies(5))]] * 3


@BOTH
def test_in_a_ring_a_slice_goes_on_as_soon_as_it_is_there(engine):
    """Slice 0 is there at 15; slices 1 and 2 have queued since 0, so it leaves at 30."""
    columns = ("step", "slice", "queued", "start", "end")
    assert told(engine, Story(sends, [NIC] * 3, **RING), 0, columns) == [
        (0, 0, 0, 0, 10), (0, 1, 0, 10, 20), (0, 2, 0, 20, 30),
        (1, 0, 15, 30, 40), (1, 1, 25, 40, 50), (1, 2, 35, 50, 60),
    ]  # fmt: skip


@BOTH
def test_a_ring_waits_for_the_slice_that_it_passes_on(engine):
    way = {node: [[served_by(use(node, 10), flight=then_flies(100))]] for node in range(3)}
    story = Story(way.__getitem__, [NIC] * 3, **RING)
    assert told(engine, story, 1, ("step", "start", "end")) == [(0, 0, 10), (1, 110, 120)]


@BOTH
def test_blocking_code_begins_a_step_when_both_ends_are_through_with_the_one_before(engine):
    """Node 2 needs 40 ps a slice. Its transfer is over at 45, those of the others at 15.

    Nodes 0 and 2 take part in that transfer, so both come to the next step at 45. Node 1 is there at 15, and waits for node 0, which
    sends to it.
    """
    lasts = (10, 10, 40)
    story = Story(
        lambda node: [[served_by(use(node, lasts[node]), flight=then_flies(5))]],
        [NIC] * 3,
        **{**RING, "dependency": "step"},
    )
    found = [told(engine, story, node, ("step", "start", "end")) for node in range(3)]
    assert found == [[(0, 0, 10), (1, 45, 55)], [(0, 0, 10), (1, 45, 55)], [(0, 0, 40), (1, 45, 85)]]


@BOTH
@pytest.mark.parametrize(("dependency", "begins"), [("slice", 30), ("step", 35)])
def test_blocking_code_waits_for_a_whole_transfer(engine, dependency, begins):
    story = Story(sends, [NIC] * 3, **{**RING, "dependency": dependency})
    assert told(engine, story, 0, ("step", "slice", "start"))[3] == (1, 0, begins)
