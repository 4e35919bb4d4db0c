"""Parts of the compiled loop, each with literals, and one against the part of the loop that it copies."""

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.trace import SPAN_COLUMNS
from peerlab.engine.compiled import fair_share, heap, in_line, queues, serving
from peerlab.engine.compiled.compiled_line import CompiledLine
from peerlab.engine.compiled.compiled_loop import LAST_PS, make_run
from peerlab.engine.compiled.compiled_ring import CompiledRing
from peerlab.engine.compiled.compiling import compiled
from peerlab.engine.compiled.flatten import flatten
from peerlab.engine.compiled.flatten_legs import ways_of
from peerlab.engine.compiled.flatten_line import flatten_line
from peerlab.engine.compiled.machine_code import name
from peerlab.engine.compiled.state import EXCLUSIVE, STAGE_OVER
from peerlab.engine.scaleup import exchange
from peerlab.engine.system import System, least


def from_python(function):
    """Return a function of the compiled loop with the wrapper by which Python calls it; the loop's own have none."""
    return numba.njit(function.py_func, _nrt=False)


put, pop = map(from_python, (heap.put, heap.pop))
take_slot, give_slot = map(from_python, (in_line.take_slot, in_line.give_slot))
ask, append, popleft, sort = map(from_python, (queues.ask, queues.append, queues.popleft, queues.sort))
arrive, next_end = map(from_python, (fair_share.arrive, fair_share.next_end))
arrives, enter, set_alarms, take = map(
    from_python, (serving.arrives, serving.enter, serving.set_alarms, serving.take)
)

RING = peerlab.Scenario(
    cluster="ideal-100g", nodes=3, message_bytes=3750, collective="allgather", dependency="slice", slice_bytes=None
)  # fmt: skip
"""Each node sends 1250 bytes in 100,000 ps, twice; they fly for 5 us."""
SHARED = peerlab.Scenario(path="host-rdma", nodes=2, message_bytes=8 << 20, slow_nodes={1: 0.5})
"""Host memory of DL1 is shared by the copies of a socket."""


def state(scenario=RING):
    system = System(scenario, folded=False)
    return flatten(system, None, range(len(system.lanes)), 0)


def column(s, name):
    return s.spans[SPAN_COLUMNS.index(name), : s.counts[0].spans].tolist()


# ---- arrays --------------------------------------------------------------------------------------------------------


def test_of_a_ring_of_three_nodes_three_slices_are_on_the_heap_at_time_0():
    s = state()
    assert (s.counts[0].entries, s.counts[0].steps, len(s.slots)) == (3, 2, 3)
    assert s.slots.lane.tolist() == [0, 1, 2]
    assert s.lanes.receiver.tolist() == [1, 2, 0]
    assert s.heap.what[:3].tolist() == s.where[:3].tolist() == [0, 1, 2]
    assert set(s.servers.kind.tolist()) == {EXCLUSIVE}
    assert s.visits.lasts.tolist()[:2] == [100_000, 100_000]  # NIC send, NIC receive
    assert (s.legs.flight_ps[0], s.legs.after[0]) == (5_000_000, 1)
    assert s.spans.shape == (len(SPAN_COLUMNS), 3 * 2 * 3)  # nodes, steps; sent, in flight, received


def test_a_slot_of_a_line_has_the_way_from_its_lane_to_whom_that_sends_in_its_step():
    system = least(peerlab.Scenario(path="peer-direct", nodes=3, message_bytes=3 << 10, slow_nodes={1: 0.5}))
    s = flatten_line(system, exchange(system), 0)
    lanes, before = len(system.lanes), int(s.counts[0].unused)
    assert (s.counts[0].entries, s.lanes.next.tolist()) == (lanes, [1] * lanes)
    assert s.slots.to[:3].tolist() == [1, 2, 0]
    slot = take_slot(s, 0, 1)  # of the second step, in which node 0 sends to node 2
    assert (s.slots[slot].to, s.slots[slot].slice_id, s.counts[0].unused) == (2, lanes, before - 1)
    way, each = system.legs(0, 1)[0][0], int(s.counts[0].visits)
    mine = s.visits[slot * each : (slot + 1) * each]
    assert mine.resource.tolist() == [visit.resource for visit in way.visits]
    assert mine.lasts.tolist() == [visit.duration_ps for visit in way.visits]
    give_slot(s, slot)
    assert s.counts[0].unused == before


def test_a_window_that_is_never_full_takes_no_memory():
    scenario = peerlab.Scenario(path="peer-direct", nodes=3, message_bytes=3 << 10, slow_nodes={1: 0.5})
    few, many = (
        flatten_line(system, exchange(system), 0)
        for window in (4, 65_536)
        for system in [least(scenario.with_(window=window))]
    )
    assert len(few.slots) == len(many.slots) < 100  # of four steps


def test_a_line_runs_to_the_end_and_says_when_each_lane_asked():
    system = least(peerlab.Scenario(path="peer-direct", nodes=3, message_bytes=3 << 10, slow_nodes={1: 0.5}))
    line = CompiledLine(system)
    line.run(None)
    spans = dict(zip(SPAN_COLUMNS, line.spans(), strict=True))
    assert spans["end"].max() <= line.end
    assert len(line.asked()) == system.plan.schedule.steps
    assert all((later >= 0).all() for later in line.asked())


# ---- heap ----------------------------------------------------------------------------------------------------------


@given(
    due=st.lists(st.integers(0, 50), min_size=1, max_size=30), moves=st.lists(st.integers(0, 50), max_size=30)
)
def test_the_heap_gives_what_is_due_in_the_order_of_time_and_moves_what_is_on_it(due, moves):
    s = state(RING.with_(message_bytes=3 * 30 * 8, slice_bytes=8))
    s.counts[0].entries = 0
    s.where[:] = -1
    for item, time in enumerate(due):
        put(s, time, item)
    for item, time in enumerate(moves[: len(due)]):
        put(s, time, item)
    expected = {**dict(enumerate(due)), **dict(enumerate(moves[: len(due)]))}
    items = [pop(s) for _ in due]
    assert sorted(items) == sorted(expected)
    assert [expected[one] for one in items] == sorted(expected.values())
    assert s.counts[0].entries == 0
    assert set(s.where[: len(due)].tolist()) == {-1}


# ---- queues --------------------------------------------------------------------------------------------------------


def test_for_a_place_in_a_window_the_first_comes_first_and_of_one_instant_the_lowest_key():
    s = state(RING.with_(window=1))
    for now, slot in ((5, 2), (5, 0), (7, 1)):
        ask(s, now, 0, slot)
    assert s.touched[: s.counts[0].touched].tolist() == [0]
    assert [popleft(s, s.pools[0]) for _ in range(4)] == [0, 2, 1, -1]


def test_who_comes_later_to_a_resource_waits_behind():
    s = state()
    for slot in (1, 0, 2):
        append(s, s.servers[0], slot)
    assert [popleft(s, s.servers[0]) for _ in range(4)] == [1, 0, 2, -1]


@given(st.lists(st.integers(-9, 9), max_size=9))
def test_the_first_values_are_sorted_and_the_others_left(values):
    found = np.array([*values, 3, 1], np.int64)
    sort(found, len(values))
    assert found.tolist() == [*sorted(values), 3, 1]


# ---- a shared resource ---------------------------------------------------------------------------------------------


def test_two_slices_share_a_resource_in_rounds_of_a_picosecond_each():
    """10 and 4 ps of work: the shorter is over after four rounds of two, at 8 ps; the longer at 14 ps."""
    s = state(SHARED)
    resource, server = next((index, one) for index, one in enumerate(s.servers) if one.engines > 1)
    first = next(one for one in s.visits if one.resource == resource and one.engine == server.engine)
    second = next(one for one in s.visits if one.resource == resource and one.engine == server.engine + 1)
    s.works[0, 0], s.works[1, 0] = 10, 4
    assert arrive(s, 0, first, 0) == 0
    assert next_end(s, server) == 10 * server.copies
    assert arrive(s, 0, second, 1) == 0
    assert next_end(s, server) == 8 * server.copies
    assert arrive(s, 0, second, 2) == -1  # its engine has another
    assert s.counts[0].changed == 1


# ---- serving, and the loop -----------------------------------------------------------------------------------------


def test_a_free_nic_begins_at_once_and_the_receiving_nic_when_the_latency_is_over():
    s = state()
    for slot in (0, 2):
        s.slots[slot].leg = s.ways[s.slots[slot].lane, 0, 1]
        enter(s, slot)
    take(s, 0)
    set_alarms(s)
    assert column(s, "start") == [0, 0, 5_000_000, 0, 0, 5_000_000]  # sent, in flight, received
    assert column(s, "end") == [100_000, 5_100_000, 5_100_000] * 2
    assert s.slots.due[[0, 2]].tolist() == [STAGE_OVER, STAGE_OVER]
    assert s.heap.time[s.where[[0, 2]]].tolist() == [5_100_000, 5_100_000]


def test_what_comes_while_the_nic_sends_waits():
    s = state(RING.with_(message_bytes=7500, slice_bytes=1250))
    for slot in (3, 0):  # the second slice of lane 0, and the first
        s.slots[slot].leg = s.ways[0, 0, 0]
        arrives(s, slot)
        s.works[slot, :] = 100_000
    take(s, 0)
    sent = [start for start, stage in zip(column(s, "start"), column(s, "queued"), strict=True) if stage == 0]
    assert sorted(set(sent)) == [0, 100_000]
    assert column(s, "slice")[0] == 0  # the lowest key comes first


def test_the_loop_runs_to_the_end_or_until_it_has_seen_so_many_events():
    s, run = state(), make_run(name())
    assert run(s, 1)
    assert s.counts[0].now == 0
    while run(s, 100):
        pass
    assert (s.counts[0].end, s.counts[0].spans) == (10_200_000, 18)
    assert s.counts[0].now < LAST_PS


def test_a_ring_is_run_and_the_spans_of_one_lane_are_kept():
    ring = CompiledRing(System(RING, folded=False), keep=[1])
    ring.run(None)
    assert ring.end == 10_200_000
    assert sorted(zip(*(ring.spans()[SPAN_COLUMNS.index(one)].tolist() for one in ("node", "start")), strict=True)) == [
        (1, 0), (1, 0), (1, 5_000_000), (1, 5_100_000), (1, 5_100_000), (1, 10_100_000)
    ]  # fmt: skip


def test_a_compiled_function_is_the_function_that_it_is_made_of():
    def twice(value: int) -> int:
        return 2 * value

    assert (from_python(compiled(twice))(21), twice(21)) == (42, 42)
    assert name() == name()


def test_each_lane_points_at_its_legs_and_every_span_of_them_is_counted():
    system = System(RING, folded=False)
    ways, schedule = ways_of(system), system.plan.schedule
    steps = {int(step < schedule.reducing_steps): step for step in (0, schedule.steps - 1)}
    for lane in range(len(system.lanes)):
        for adds, step in steps.items():
            for last, legs in (
                (0, system.legs(lane, step, plain=True)[0]),
                (1, system.legs(lane, step, plain=True)[-1]),
            ):
                first = ways.first[lane, adds, last]
                assert ways.rows[lane, adds, last] == sum(len(leg.visits) + bool(leg.flight) for leg in legs)
                assert first + len(legs) <= len(ways.legs)
    assert sum(map(len, (ways.legs, ways.visits))) > len(system.lanes)
