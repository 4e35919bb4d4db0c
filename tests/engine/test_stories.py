"""What a resource, a window, a fabric and the order of slices do to three slices: the same in the referee as in the loop."""

import pytest
from story import BOTH, DRAM, NIC, STAGE, Story, flies, flow, served_by, then_flies, told, use

from peerlab.answer.trace import Resource
from peerlab.engine.legs import Leg, Visit
from peerlab.engine.loop.in_order import in_order
from peerlab.engine.loop.loop_resources import Serving
from peerlab.engine.loop.windows import Windows
from peerlab.engine.max_min import max_min
from peerlab.engine.processor_sharing import FairShare, Job
from peerlab.engine.referee.simpy_resources import Clock, Exclusive, Shared, Window

RING = {"nodes": 3, "collective": "allgather", "algorithm": "ring"}

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
def test_a_stage_is_over_when_its_last_resource_is_through(engine):
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
    """Both nodes send two slices through their own core, then through the receiver's, where they arrive behind its own."""

    def ways(node):
        return [[served_by(use(node, 10), Visit(1 - node, 10, 1, behind=True))]] * 2

    story = Story(ways, [NIC, NIC], collective="allgather", algorithm="ring")
    whose = told(engine, story, 0, ("node", "slice", "start", "end"))
    assert whose == [(0, 0, 0, 10), (0, 1, 10, 20), (1, 0, 20, 30), (1, 1, 30, 40)]


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
        fair.arrive(0, engine, Job(engine, 0, 10))
    assert fair.next_end() == 30
    fair.arrive(29, 0, Job(3, 0, 10))  # waits: its engine is busy
    assert fair.next_end() == 30
    assert fair.finish(30) == [(0, 0), (1, 0), (2, 0)]  # slices, and which resource of their stage this is
    assert fair.free(30, 0) == (3, 30)
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
    """Slice 2 came at 3, slice 1 at 5; the place of slice 0 is free at 10. What slices do first is one kind of leg, as in every pipeline."""
    hold = served_by(use(0, 10), acquire=0, release=0)
    story = Story([[flies(0), hold], [flies(5), hold], [flies(3), hold]], [NIC], [1])
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


def test_the_referees_resources_tell_when_they_have_begun_and_worked_and_its_window_who_waits():
    clock, log = Clock(), []
    alone, fair, window = Exclusive(clock, NIC), Shared(clock, DRAM), Window(clock, 1)

    def follow(name, number, one, claim):
        yield claim.begun
        begun = clock.now
        yield claim.worked
        log.append((name, number, begun, clock.now))
        one.release(claim)

    for number in (1, 0):
        clock.env.process(follow("alone", number, alone, alone.ask((number,), use(0, 10))))
        clock.env.process(follow("fair", number, fair, fair.ask((number,), use(0, 10, number))))
    held = [window.take((key,)) for key in (1, 0)]
    clock.env.run()
    assert sorted(log) == [("alone", 0, 0, 10), ("alone", 1, 10, 20), ("fair", 0, 0, 20), ("fair", 1, 0, 20)]
    assert [one.triggered for one in held] == [False, True]


def test_the_loops_resources_put_the_end_of_a_stage_on_the_heap():
    heap, rows = [], []
    serving = Serving(1, heap, rows)
    serving.meet([NIC])
    for slice_id in (1, 0):
        serving.enter(slice_id, served_by(use(0, 10)))
    serving.take(3)
    assert [(when, what) for when, _, what, _ in sorted(heap)] == [(13, 0), (23, 1)]
    assert rows == [(0, STAGE, 0, 3, 3, 13, 1, 10), (1, STAGE, 0, 3, 13, 23, 1, 10)]


# ---- the chain of a stage ------------------------------------------------------------------------------------------

ALL = ("slice", "queued", "start", "end", "work")


@BOTH
def test_a_resource_begins_with_a_slice_when_the_one_upstream_has_and_has_it_until_that_one_is_through(
    engine,
):
    """The uplink needs 30 ps a slice, the NIC behind it 10: it begins with it, and is held until 30."""
    story = Story([[served_by(use(0, 30), use(1, 10))]] * 2, [NIC, NIC])
    assert told(engine, story, 0, ALL) == [(0, 0, 0, 30, 30), (1, 0, 30, 60, 30)]
    assert told(engine, story, 1, ALL) == [(0, 0, 0, 30, 10), (1, 30, 30, 60, 10)]


@BOTH
def test_a_resource_that_is_held_takes_nobody_elses_slice(engine):
    """Slice 1 comes to the NIC at 5 by another way; slice 0 has it until the uplink is through at 30."""
    ways = [[served_by(use(0, 30), use(1, 10))], [flies(5), served_by(use(1, 10))]]
    assert told(engine, Story(ways, [NIC, NIC]), 1) == [(0, 0, 30), (1, 30, 40)]


@BOTH
def test_across_the_wire_all_is_a_latency_later(engine):
    """5 ps of latency: the receiver begins at 5 and is through at 35, though it needs 10 ps alone."""
    story = Story([[served_by(use(0, 30), use(1, 10), flight=then_flies(5))]], [NIC, NIC])
    assert told(engine, story, 0, ALL) == [(0, 0, 0, 30, 30)]
    assert told(engine, story, 1, ALL) == [(0, 5, 5, 35, 10)]


@BOTH
def test_behind_a_shared_resource_the_end_is_known_only_when_it_comes(engine):
    """Two engines share memory, 20 ps of work each: both are through at 40, and each NIC is held until then."""
    ways = [[served_by(use(0, 20, engine), use(1 + engine, 5))] for engine in range(2)]
    story = Story(ways, [DRAM, NIC, NIC])
    assert told(engine, story, 1, ALL) == [(0, 0, 0, 40, 5)]
    assert told(engine, story, 2, ALL) == [(1, 0, 0, 40, 5)]


@BOTH
def test_a_shared_resource_that_has_done_its_work_takes_no_share_but_its_engine_is_held(engine):
    """Slice 0: 50 ps upstream, 10 of memory. Slice 1 has the memory alone from 20 on; slice 2 waits for the engine of slice 0."""
    ways = [
        [served_by(use(0, 50), use(1, 10, 0))],
        [served_by(use(1, 30, 1))],
        [flies(1), served_by(use(1, 10, 0))],
    ]
    assert told(engine, Story(ways, [NIC, DRAM]), 1) == [(0, 0, 50), (1, 0, 40), (2, 50, 60)]


@BOTH
def test_a_flow_over_a_fabric_is_one_resource_of_the_chain(engine):
    """The uplink needs 30 ps; the flow of 20 bytes could be over at 20, and its NIC has it until 30. The next flow begins then."""
    nic, link = (
        Resource("nic_tx", 0, 0, 10**12, shared=True),
        Resource("backbone", -1, 0, 10**12, shared=True),
    )
    way = [served_by(use(0, 30), flow((1, 2), 20), use(3, 5), flight=then_flies(7, after=2))]
    story = Story([way, way], [NIC, nic, link, NIC])
    assert told(engine, story, 2, ALL) == [(0, 0, 0, 30, 20), (1, 30, 30, 60, 20)]
    assert told(engine, story, 3, ALL) == [(0, 7, 7, 37, 5), (1, 37, 37, 67, 5)]


@BOTH
def test_one_of_two_cores_is_held_while_the_other_goes_on(engine):
    """Slice 0 holds a core until its uplink is through at 40; slices 1 and 2 share the other."""
    cores = Resource("core", 0, 0, 10**12, shared=False, servers=2)
    ways = [
        [served_by(use(0, 40), use(1, 10))],
        [flies(5), served_by(use(1, 10))],
        [flies(6), served_by(use(1, 10))],
    ]
    assert told(engine, Story(ways, [NIC, cores]), 1) == [(0, 0, 40), (1, 5, 15), (2, 15, 25)]


def test_on_a_ring_the_receiving_nic_takes_its_slices_in_the_order_of_the_sending_one():
    story = Story(
        lambda node: [[served_by(use(node, 10), use(3 + (node + 1) % 3, 10), use(6, 1))]] * 3,
        [NIC] * 7,
        **RING,
    )
    assert in_order(story) == {3, 4, 5}  # the last resource has slices of all three


# ---- the order of slices -------------------------------------------------------------------------------------------


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
