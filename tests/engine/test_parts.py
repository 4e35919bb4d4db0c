"""The engines' other parts, each with literals: pipelines, the exchange inside a node, jitter, what repeats, the arrays."""

from pathlib import Path

import numpy as np
import pytest
from story import BOTH

import peerlab
from peerlab.answer.trace import SPAN_COLUMNS, Block, sums, unroll
from peerlab.collectives.choose import plan
from peerlab.collectives.plan import slice_sizes
from peerlab.engine import jitter, recording
from peerlab.engine.arrays.array_record import ArrayRecord
from peerlab.engine.arrays.ring_arrays import Batch
from peerlab.engine.arrays.side_by_side import times
from peerlab.engine.inventory import Inventory
from peerlab.engine.loop.data_readiness import DataReadiness
from peerlab.engine.loop.event_loop import Loop
from peerlab.engine.loop.few_lanes import FewLanes
from peerlab.engine.loop.steady_state import Repeats
from peerlab.engine.loop.transfers import Course
from peerlab.engine.pipeline import Pipeline
from peerlab.engine.referee.event_log import EventLog
from peerlab.engine.referee.simpy_resources import Clock
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.scaleup import exchange, fifo
from peerlab.engine.simulate import fastest
from peerlab.engine.slice_dependencies import Order
from peerlab.engine.span_rows import array, spans_of
from peerlab.engine.system import System, least

US = 10**6
"""Picoseconds."""
HERE = Path(__file__).parent

# ---- the way of a slice --------------------------------------------------------------------------------------------


def test_a_staged_path_is_copy_send_copy_with_a_bounce_buffer_at_each_end():
    """1250 bytes: 100,000 ps at 12.5 GB/s (NIC), 78,125 ps at 16 GB/s (copy engine)."""
    asked = peerlab.Scenario(cluster="ideal-100g-staged", path="host-rdma", nodes=2, message_bytes=1250)
    inventory = Inventory(asked, plan(asked), folded=False, one_switch=False)
    ends = {"source": (0, 0), "destination": (1, 0)}
    legs = Pipeline(asked, inventory, ends, adds=False, gated=False).legs(1250, 1, (), last=True)
    kinds = [[inventory.resources[one.resource].kind for one in leg.visits] for leg in legs]
    assert kinds == [["copy_up"], ["nic_tx", "nic_rx"], ["copy_down"]]
    assert [{one.duration_ps for one in leg.visits} for leg in legs] == [{78_125}, {100_000}, {78_125}]
    assert [(leg.acquire, leg.release) for leg in legs] == [(0, -1), (1, 0), (-1, 1)]
    slower = Pipeline(asked, inventory, ends, adds=False, gated=False).legs(
        1250, 1, (2.0, 1.0, 1.0), last=True
    )
    assert slower[0].visits[0].duration_ps == 156_250


def test_devices_of_one_switch_share_its_nic_and_those_of_one_socket_its_memory():
    asked = peerlab.Scenario(cluster="dl1", nodes=2)
    inventory = Inventory(asked, plan(asked), folded=False, one_switch=False)

    def which(kind):
        return [inventory.resource(kind, 0, device) for device in (0, 1, 2, 7)]

    assert which("nic_tx") == [0, 0, 1, 2]
    assert which("dram") == [3, 3, 3, 4]
    assert which("copy_up") == [5, 6, 7, 8]


def test_halving_sends_half_of_what_the_last_step_brought():
    """Four ranks, chunks of 100 bytes, slices of 50: four slices arrive in step 0, the first two of them go on in step 1.

    What comes in step 0 comes from the upper end, so its first slice is the second that step 1 sends.
    """
    schedule = plan(
        peerlab.Scenario(cluster="ideal-100g", nodes=4, message_bytes=400, algorithm="halving-doubling")
    ).schedule
    order = Order(schedule, 0, lambda chunks: slice_sizes(100 * chunks, 50))
    assert order.waits == ((), (0,), (0, 1), (0, 1, 2), (0, 1))
    assert order.feeds(0, 1) == [[1], [0], [], []]
    assert order.needs(1) == [1, 1]


def test_a_slice_is_ready_when_the_last_of_what_it_waits_for_has_come():
    """Halving, in the loop: step 2 of rank 0 hands out what steps 0 and 1 have brought."""
    asked = peerlab.Scenario(
        cluster="ideal-100g", nodes=4, message_bytes=400, algorithm="halving-doubling", slice_bytes=None
    )
    system = System(asked.with_(dependency="slice"), folded=True)
    ready = DataReadiness(system, Course(4, 2), None, [], None, None)
    assert system.order(0).needs(2) == [2]
    assert ready.pass_on(10, 0, 0, 0, 0) == [1 * system.pieces]  # step 1 waits for step 0 alone
    assert ready.pass_on(20, 1, 1, 0, 0) == [2 * system.pieces]


def test_the_least_that_stands_for_all_is_simulated():
    held = [
        (system.folded, system.one_switch, len(system.lanes))
        for fields in ({}, {"slow_nodes": {1: 0.5}}, {"jitter": 0.1})
        for system in [least(peerlab.Scenario(cluster="dl1", nodes=4, **fields))]
    ]
    assert held == [(True, True, 2), (False, True, 4 * 2), (False, False, 4 * 8)]


# ---- inside a node -------------------------------------------------------------------------------------------------


def test_first_come_first_served_is_a_running_maximum():
    arrive, lasts = np.array([0, 5, 40]), np.array([10, 10, 10])
    assert fifo(arrive, lasts).tolist() == [10, 20, 50]
    assert fifo(arrive, lasts, free=15).tolist() == [25, 35, 50]


@BOTH
def test_the_exchange_in_closed_form_is_what_an_engine_simulates(engine):
    """Gaudi 2: a slice of 7 x 32 KiB every 873,814 ps on links of 800,000 ps latency, then 120,373 ps to add it up."""
    asked = peerlab.Scenario(
        cluster="gaudi2", path="host-rdma", nodes=2, message_bytes="1 MiB", slice_bytes="32 KiB"
    )
    traffic = exchange(System(asked, folded=True))
    assert traffic.link_end.tolist() == [873_814 * n for n in (1, 2, 3, 4)]
    assert traffic.ready.tolist() == [873_814 * n + 800_000 + 120_373 for n in (1, 2, 3, 4)]
    run = peerlab.simulate(asked, engine=engine)
    spans = run.recording.unrolled
    added = (spans["stage"] == run.trace.stages.index("gather-reduce")) & (spans["device"] == 0)
    assert sorted(spans["end"][added].tolist()) == traffic.ready.tolist()


# ---- jitter --------------------------------------------------------------------------------------------------------


def test_every_engine_looks_up_the_same_factors():
    shape = (2, 1, 1, 3)
    one = jitter.factors(7, 0.1, shape)
    beside = list(jitter.side_by_side([7, 8], [0.1, 0.0], 2, shape[1:]))
    assert all((found[0] == one[step]).all() and (found[1] == 1).all() for step, found in enumerate(beside))
    assert list(jitter.side_by_side([7], [0.0], 2, shape[1:])) == [None, None]


def test_a_service_time_with_jitter_is_whole_and_never_nothing():
    assert [jitter.slowed(100, 1.234), jitter.slowed(100, 0.9951), jitter.slowed(1, 0.001)] == [123, 100, 1]


@BOTH
def test_a_slice_takes_its_factor_longer(engine):
    asked = peerlab.Scenario(
        cluster="ideal-100g", collective="point-to-point", nodes=2, message_bytes=1250, jitter=0.5, seed=1
    )
    run = peerlab.simulate(asked, engine=engine)
    factor = jitter.factors(1, 0.5, (1, 1, 1, 2))[0, 0, 0, 0]
    assert run.time_ps == jitter.slowed(100_000, factor) + 5 * US


# ---- what repeats --------------------------------------------------------------------------------------------------


def test_of_a_ring_of_twelve_seven_steps_are_left_out_and_unroll_to_the_same():
    """A step is 100,000 ps on the NIC and 5 us in flight; the state of step 2 is that of step 1."""
    asked = peerlab.Scenario(
        cluster="ideal-100g", nodes=12, message_bytes=12 * 1250, collective="allgather", slice_bytes=None
    )
    system = System(asked.with_(dependency="slice"), folded=True)
    short, whole = (Loop(system, RegistrationQueue(system), None, None) for _ in range(2))
    watch = Repeats(None)
    short.run(watch)
    whole.run()
    block = Block(first=6, last=9, repeats=7, period_ps=5_100_000, period_steps=1, after_step=1)
    assert [skip.spans for skip in watch.skips] == [block]
    assert (len(short.rows), len(whole.rows)) == (12, 33)
    assert (short.end + 7 * 5_100_000, whole.end) == (56_100_000, 56_100_000)
    names = (
        "node",
        "device",
        "step",
        "slice",
        "stage",
        "resource",
        "queued",
        "start",
        "end",
        "nbytes",
        "work",
    )
    rows = spans_of(system, short.rows, [block])
    unrolled = unroll({name: rows[:, index] for index, name in enumerate(names)}, (block,))
    found = np.column_stack([unrolled[name] for name in names])
    expected = spans_of(system, whole.rows, [])
    assert (found[np.lexsort(found.T)] == expected[np.lexsort(expected.T)]).all()


# ---- rows and arrays -----------------------------------------------------------------------------------------------

RING = peerlab.Scenario(
    cluster="ideal-100g", nodes=3, message_bytes=3750, collective="allgather", dependency="slice", slice_bytes=None
)  # fmt: skip
"""Each node sends 1250 bytes in 100,000 ps, twice; they fly for 5 us."""


def test_the_arrays_keep_the_rows_of_the_lanes_that_are_asked_for_and_totals_of_any():
    system = System(RING, folded=False)
    batch = Batch(system, [0, 0], [0.0, 0.0])
    assert batch.run().tolist() == [10_200_000, 10_200_000]
    assert isinstance(batch.record, ArrayRecord)
    assert batch.record.rows == []
    for totals in batch.record.totals((0, 2), None):
        by_kind = {
            one.kind: sum(
                totals.served_ps[i] for i, other in enumerate(system.resources) if other.kind == one.kind
            )
            for one in system.resources
        }
        assert by_kind == {
            "registration": 0,
            "wire": 2 * 10_000_000,
            "nic_tx": 2 * 200_000,
            "nic_rx": 2 * 200_000,
        }
        assert totals.flown_ps == 10_000_000
    kept = Batch(system, [0], [0.0], (1,))
    kept.run()
    rows = np.concatenate(kept.record.rows)
    sent = rows[rows[:, 4] == system.resource("nic_tx", 1, 0)]
    assert sent[:, [0, 1, 6, 7, 8]].tolist() == [[1, 0, 0, 100_000, 1250], [1, 1, 5_100_000, 5_200_000, 1250]]


def test_seeds_side_by_side_take_the_times_that_each_takes_alone():
    many = [RING.with_(jitter=0.3, seed=seed) for seed in range(3)]
    alone = [peerlab.simulate(one, engine="referee").time_ps for one in many]
    assert fastest(least(many[0])) == "arrays"
    assert times(many) == alone
    assert len(set(alone)) == 3


@pytest.mark.parametrize("by", [recording.by_referee, recording.by_loop, recording.by_arrays])
def test_a_recording_has_the_same_spans_whoever_made_it(by):
    system = System(RING, folded=False)
    made = by(system, RegistrationQueue(system), None)
    assert made.end_ps == 10_200_000
    # the receiving NIC begins 5 us after the sending one
    assert sorted(set(made.unrolled["start"].tolist())) == [0, 5_000_000, 5_100_000, 10_100_000]
    assert len(made.unrolled["start"]) == 3 * 2 * 3  # nodes, steps; sent, in flight, received


def test_a_loops_row_says_step_slice_and_lane_in_its_id():
    """Id 7 of three lanes with one slice a transfer: step 2, lane 1."""
    system = System(RING, folded=False)
    assert spans_of(system, [(7, 8, 0, 1, 2, 9, 4, 5)], []).tolist() == [[1, 0, 2, 0, 8, 0, 1, 2, 9, 4, 5]]
    assert array([], 10).shape == (0, 10)


def test_of_few_lanes_the_spans_are_kept_and_of_all_lanes_the_sums():
    scenario = peerlab.Scenario(
        cluster="ideal-100g-leafspine-2to1", nodes=8, message_bytes="64 KiB", jitter=0.2
    )
    spans = peerlab.simulate(scenario, engine="loop").recording.spans
    rows = np.stack([spans[name] for name in SPAN_COLUMNS], axis=1)
    system = System(scenario, folded=False)
    few = FewLanes(system, [lane for lane, at in enumerate(system.lanes) if at.node in (2, 3)])
    kept = np.concatenate([few.take(rows[:1000]), few.take(rows[1000:])])
    assert kept.tolist() == rows[np.isin(rows[:, 0], (2, 3))].tolist()
    whole, taken = sums(dict(zip(SPAN_COLUMNS, rows.T, strict=True))), few.totals()
    assert taken.served_ps.tolist() == whole.served_ps.tolist()
    assert taken.nbytes.tolist() == whole.nbytes.tolist()
    assert taken.flown_ps == whole.flown_ps


def test_the_log_of_the_referee_is_silent_until_it_is_asked_for(caplog):
    system = System(peerlab.Scenario(nodes=2, message_bytes="64 KiB"), folded=False)
    EventLog(system, Clock()).note((0, 1, 0), "arrives")
    assert caplog.messages == []
    caplog.set_level("DEBUG", "peerlab.referee")
    EventLog(system, Clock()).note((0, 1, 0), "arrives")
    assert caplog.messages == ["0.0 µs: slice 1 of step 0 of device 0 of node 0 arrives"]


def test_every_module_of_the_engines_is_named_in_a_test():
    text = "".join(one.read_text() for one in HERE.glob("*.py"))
    folder = Path(peerlab.__file__).parent / "engine"
    modules = [
        one.relative_to(folder).with_suffix("").parts
        for one in folder.rglob("*.py")
        if one.stem != "__init__" and one.name != "batch.py"  # a former name
    ]
    assert len(modules) > 20
    assert [one for one in modules if not _imported(one, text)] == []


def _imported(module, text):
    package, name = ".".join(("peerlab.engine", *module[:-1])), module[-1]
    return f"from {package}.{name} import" in text or any(
        line.startswith(f"from {package} import") and name in line.replace(",", "").split()
        for line in text.splitlines()
    )
