"""A step whose nodes differ: composed rank by rank against the referee, which runs all of it in one world, with ==; and its laws."""

import json
import re
from fractions import Fraction
from math import lcm
from unittest.mock import patch

import numpy as np
import pytest
from command_line import peerlab_command
from hypothesis import example, given
from hypothesis import strategies as st
from small_workloads import workload
from test_step_engines import registered, spans

import peerlab
from peerlab.base.errors import PeerlabError, ScenarioError, WorkloadError
from peerlab.base.places import folder
from peerlab.engine.compiled import refusals
from peerlab.engine.noise_draws import Pauses
from peerlab.question.presets import read_cluster
from peerlab.training import rank_by_rank
from peerlab.training.node_lane import NodeLane
from peerlab.training.nodes_differ import durations, of_devices
from peerlab.training.program import Computing, Exchanging, Program
from peerlab.training.rank_by_rank import AnsweredExchanges, RankByRank, _answered
from peerlab.training.step_band import end_ps, step_gain
from peerlab.training.step_composition import scenarios_of, step_forecast_s
from peerlab.training.training_step import Step
from peerlab.training.uneven_world import UnevenWorld
from peerlab.training.waited_for import in_a_row, who_was_last

COUNT = 'unit = "1", basis = "per leaf", source = "test" }'
LEAVES = read_cluster(
    (folder("data") / "hardware" / "dl1.toml").read_text().replace(
        "[fabric]",
        "[fabric]\nhosts_per_leaf = { value = 2, " + COUNT + "\noversubscription = { value = 2, " + COUNT,
    ),
    "dl1-leaves",
)  # fmt: skip


@st.composite
def asked(draw):
    """Draw a small step on nodes that differ."""
    nodes = draw(st.integers(2, 4))
    cluster = draw(st.sampled_from(["dl1", "dl1", "p4d", "g4dn-metal", LEAVES]))
    fields = {
        "cluster": cluster,
        "nodes": nodes,
        "path": draw(st.sampled_from(peerlab.Scenario(cluster=cluster).hardware.paths)),
        "library": draw(st.sampled_from([None, "none", "none"])),
        "workload": workload(*draw(st.lists(st.integers(1, 20_000), min_size=1, max_size=4))),
        "compute_ms": draw(st.sampled_from([0.001, 0.1, 0.5])),
        "slowdown": draw(st.sampled_from([0, 0.137, 0.9])),
        "shard": draw(st.sampled_from(["ddp", "ddp", "zero1", "fsdp"])),
        "overlap": draw(st.booleans()),
        "first_bucket_bytes": draw(st.sampled_from([1, 10_000])),
        "bucket_bytes": draw(st.sampled_from([1, 50_000])),
        "open": draw(st.sampled_from([None, "begin", "posted"])),
        "compute_jitter": draw(st.sampled_from([0, 0.1, 1.0])),
        "compute_jitter_of": draw(st.sampled_from(["node", "node", "device"])),
        "jitter": draw(st.sampled_from([0, 0, 0.2])),
        "spread": draw(st.sampled_from([0, 0, 0.2])),
        "window": draw(st.sampled_from([None, 1])),
        "seed": draw(st.integers(0, 3)),
        "steps": draw(st.sampled_from([1, 1, 2, 3])),
    }
    if fields["shard"] != "ddp":  # there a device may begin a block while another is late
        fields["compute_jitter_of"] = "node"
    if fields["path"] == "peer-direct":
        fields["registration"] = draw(st.sampled_from(["cached", "cached", "per-transfer", "pool"]))
        fields["iterations"] = draw(st.sampled_from(["auto", 1]))
    if draw(st.booleans()):
        fields["slow_nodes"] = {nodes - 1: 0.3}
    if draw(st.integers(0, 3)) == 0:
        fields |= {"ticks": draw(st.sampled_from([300, 20_000])), "tick_us": draw(st.sampled_from([1, 30]))}
    if draw(st.booleans()):
        fields["slow_compute"] = {0: 0.5}
    return fields


def check_equal(fields):
    composed, referee = (peerlab.step(engine=engine, **fields) for engine in ("auto", "referee"))
    assert composed.trace.computed == referee.trace.computed
    for one, other in zip(composed.trace.placed, referee.trace.placed, strict=True):
        assert (one.op, one.ready_ps, one.begin_ps, one.end_ps) == (
            other.op,
            other.ready_ps,
            other.begin_ps,
            other.end_ps,
        )
        assert one.apart == other.apart
        if one.apart and not one.run.trace.folded:  # else one node stands for all
            assert spans(one.run) == spans(other.run)
            assert registered(one.run) == registered(other.run)
    assert composed.trace.begins == referee.trace.begins
    if composed.trace.row:
        assert composed.trace.row.ends == referee.trace.row.ends
    return composed


@given(asked())
def test_a_step_composed_rank_by_rank_is_the_referees(fields):
    run = check_equal(fields)
    before = None
    for one in run.trace.placed:
        if one.apart and before:
            assert all(b >= e for b, e in zip(one.apart.begins, before.ends, strict=True))
        before = one.apart
    assert run.trace.exposed_ps + sum(one.end_ps - one.begin_ps for one in run.trace.computed) == run.time_ps


@given(asked(), st.integers(2, 8))
def test_steps_of_a_row_repeat_as_if_each_were_composed(fields, count):
    """From where a step would be as one before, only later, the rest is known; where each draws noise of its own, none is."""
    fields = {**fields, "steps": count, "cluster": "dl1", "path": "peer-direct"}
    found = peerlab.step(**fields)
    with patch("peerlab.training.rank_by_rank.RankByRank._state", return_value=None):
        each = peerlab.step(**fields)
    assert found.trace.row.ends == each.trace.row.ends
    assert found.trace.begins == each.trace.begins
    assert [one.apart for one in found.trace.placed] == [one.apart for one in each.trace.placed]
    row = found.trace.row
    assert not (row.repeats and (fields["jitter"] or fields["compute_jitter"]))
    if row.repeats and count > row.steady_from + row.repeats:
        assert row.lasts[-1] == row.lasts[-1 - row.repeats]


UNIT = 5_000_000
"""Picoseconds of a unit of time in the example by hand: the latency of the ideal fabric."""
RING = {"cluster": "ideal-100g", "nodes": 3, "slice_bytes": None, "dependency": "slice", "library": "none"}
"""Three nodes whose exchange of 375,000 bytes has 4 steps of 2 units of service and 1 of latency."""


def by_hand(engine, times, after=((0,), (1,)), size=375_000, **more):
    """Answer a step of two buckets whose computing takes so many units on each node."""
    asked = Step.of(workload=workload(1), compute_ms=1, **{**RING, **more})
    written = Program(
        tuple(Computing("backward", f"l{n}", 0) for n in range(len(times[0]))),
        tuple(Exchanging("allreduce", f"bucket {n}", size, one, n) for n, one in enumerate(after)),
    )
    lasts = [[one * UNIT for one in node] for node in times]
    scenarios = scenarios_of(asked, written)
    with patch("peerlab.training.nodes_differ.durations", return_value=lasts):
        if engine == "rank_by_rank":
            return RankByRank(asked, written, scenarios, None).run()
        return UnevenWorld(asked, written, scenarios).run()


def units(values):
    return tuple(one / UNIT for one in values)


@pytest.mark.parametrize("engine", ["rank_by_rank", "uneven_world"])
def test_the_row_by_hand_of_two_buckets(engine):
    """Rank 2 is 3 late: the step takes 3 more, ranks 0 and 1 wait 3 and 2 before the second bucket, the late one nothing."""
    one, two = by_hand(engine, [(10, 12), (10, 12), (13, 12)]).apart
    assert (units(one.begins), units(one.ends)) == ((10, 10, 13), (25, 24, 25))
    assert (units(two.begins), units(two.ends)) == ((25, 24, 25), (37, 37, 37))
    assert (one.last, two.last) == ((2,), (0, 2))
    quiet = by_hand(engine, [(10, 12)] * 3).apart
    assert [units(each.ends) for each in quiet] == [(22,) * 3, (34,) * 3]
    one, two = by_hand(engine, [(10, 12), (10, 12), (13, 12)], dependency="step").apart
    assert [units(each.ends) for each in (one, two)] == [(25,) * 3, (37,) * 3]
    two = by_hand(engine, [(10, 12), (10, 12), (13, 12)], slowdown=0.25).apart[1]
    # a second bucket that is ready at 25.75 is ready at the next whole unit in the row, and a picosecond is a whole one here
    assert units(two.begins) == pytest.approx((25.75, 25.5, 28))
    assert units(two.ends) == pytest.approx((40, 39, 40))


LOST = {"begin": lambda hops: max(0, hops - 3), "posted": lambda hops: abs(hops - 2)}
"""What is lost of a node's lateness, within a step, on its way so many nodes down the ring: a receive that is posted passes on two nodes at a time."""


def comes_back(nodes, late, opens):
    """Return what a step takes longer, on average, as one of its nodes computes `late` longer: the maximum cycle mean in max-plus algebra."""
    lost, most = [0] + [nodes * nodes] * (nodes - 1), Fraction(0)
    for turns in range(1, nodes + 1):
        lost = [
            min(lost[at - hops] + LOST[opens](hops) for hops in range(1, nodes + 1)) for at in range(nodes)
        ]
        most = max(most, Fraction(late - lost[0], turns))
    return most


@pytest.mark.parametrize("engine", ["rank_by_rank", "uneven_world"])
@given(nodes=st.integers(3, 7), late=st.integers(0, 60), opens=st.sampled_from(["begin", "posted"]))
@example(nodes=3, late=1, opens="posted")
@example(nodes=7, late=2, opens="posted")
def test_a_row_without_barriers_forgives_what_latency_hides(engine, nodes, late, opens):
    """One node computes longer: round by round its lateness comes back to it, less what it was ahead of the others."""
    if engine == "uneven_world":
        nodes = min(nodes, 4)  # slow and plain
    times = [(10 + late * (node == 1),) for node in range(nodes)]
    turns = lcm(*range(1, nodes + 1))  # a multiple of any number of steps after which they come again
    ring = {"nodes": nodes, "open": opens, "steps": 28 + turns, "size": nodes * 125_000}
    answer = by_hand(engine, times, after=((0,),), **ring)
    assert answer.row.lasts[0] == (10 + late + 6 * (nodes - 1)) * UNIT  # a barrier forgives nothing
    mean = Fraction(sum(answer.row.lasts[-turns:]), turns * UNIT)
    assert mean == 10 + 6 * (nodes - 1) + comes_back(nodes, late, opens)
    if engine == "rank_by_rank":
        assert Fraction(answer.row.steady_ps, UNIT) == pytest.approx(mean)


@given(st.lists(st.lists(st.integers(0, 60), min_size=3, max_size=3), min_size=3, max_size=3), st.booleans())
def test_where_all_end_together_a_step_is_the_latest_of_its_buckets(times, blocking):
    """T = max_k (M_k + sum of X_j for j >= k), M_k when the latest rank is ready for the k-th (B11)."""
    found = by_hand("rank_by_rank", times, [(0,), (1,), (2,)], dependency="step" if blocking else "slice")
    ready = [max(sum(node[: k + 1]) for node in times) for k in range(3)]
    law = max(ready[k] + 12 * (3 - k) for k in range(3))
    if blocking:
        assert found.end_ps == law * UNIT
    assert law * UNIT <= found.end_ps <= (law + 3 * 2) * UNIT  # a pipelined ring ends within (N - 1) L


def test_overlap_averages_the_noise_of_computing():
    """64 ranks, compute 160, exchange 80, 16 buckets, sigma 8 a step: 183.7 with overlap, 314.9 if each bucket is waited for (B12)."""
    drawn, buckets, e_64 = np.random.default_rng(1), 16, 2.3437
    exchange, compute, sigma = 80 / buckets, 160 / buckets, 8.0
    overlapped, waited = [], []
    for _ in range(400):
        noise = compute + drawn.normal(0, sigma / buckets**0.5, (64, buckets))
        ready = noise.cumsum(axis=1).max(axis=0)
        overlapped.append(max(ready[k] + exchange * (buckets - k) for k in range(buckets)))
        waited.append((noise.max(axis=0) + exchange).sum())
    assert np.mean(overlapped) == pytest.approx(160 + exchange + sigma * e_64, rel=0.005)
    assert np.mean(waited) == pytest.approx(240 + buckets**0.5 * sigma * e_64, rel=0.005)


@given(st.data(), st.integers(1, 5), st.integers(1, 4), st.booleans())
def test_a_node_is_as_late_as_its_latest_device(data, devices, count, overlap):
    """What all devices of a node come to, each on a lane of its own that meets the same exchanges, its one lane comes to."""
    buckets = data.draw(st.lists(st.integers(0, count - 1), unique=True, max_size=count)) if overlap else []
    exchanges = [*sorted(buckets), count - 1]
    program = Program(
        (*(Computing("backward", str(n), 0) for n in range(count)), Computing("optimizer", "o", 0, tuple(range(len(exchanges))))),
        tuple(Exchanging("allreduce", str(n), 8, (one,), n) for n, one in enumerate(exchanges)),
    )  # fmt: skip
    times = np.array(
        [
            data.draw(st.lists(st.integers(0, 99), min_size=count + 1, max_size=count + 1))
            for _ in range(devices)
        ]
    )
    lanes = [NodeLane(program, one.tolist(), 0) for one in (*times, of_devices(program, times))]
    free = 0
    for exchange in program.exchanging:
        *each, node = (lane.ready(exchange) for lane in lanes)
        assert node == max(each)
        begin = max(node, free)
        free = begin + data.draw(st.integers(0, 150))
        for lane in lanes:
            lane.placed.append((begin, free))
    *each, node = (lane.finish() for lane in lanes)
    assert node == max(each)


def test_devices_that_draw_their_own_noise_cost_what_the_latest_of_all_does():
    """8 nodes of 8 devices, computing of 100 and sigma 1: the exchange begins e_64 later in the mean (B12)."""
    step = Step.of(
        nodes=8,
        library="none",
        compute_ms=100,
        compute_jitter=0.01,
        compute_jitter_of="device",
        bucket_bytes="all",
        overlap=False,
    )
    program = Program((Computing("backward", "all", 10**11),), ())
    late = [max(one[0] for one in durations(step, program, turn)) / 1e9 - 100 for turn in range(300)]
    assert np.mean(late) == pytest.approx(2.3437, rel=0.04)
    with pytest.raises(WorkloadError, match="a device begins a block while another of its node is late"):
        peerlab.step(nodes=3, shard="fsdp", compute_jitter=0.1, compute_jitter_of="device")
    with pytest.raises(WorkloadError, match="compute_jitter_of: unknown 'rank'"):
        Step.of(compute_jitter_of="rank")


def test_a_lane_slows_only_while_its_own_exchange_is_under_way():
    written = Program(
        (Computing("backward", "a", 10), Computing("backward", "b", 100)), (Exchanging("allreduce", "x", 8, (0,), 0),)
    )  # fmt: skip
    lane = NodeLane(written, (10, 100), 250)
    assert lane.ready(written.exchanging[0]) == 10
    lane.placed.append((20, 60))
    # 10 until 20, 30 of 40 until 60, the other 60 after it
    assert lane.finish() == 120
    assert lane.computed == [(0, 10), (10, 120)]
    assert lane.exposed() == [0]


def test_a_lane_computes_nothing_while_its_node_stands_still():
    """Again and again 20 of 100 from 35 on, and 250 thousandths slower beside an exchange."""
    written = Program((Computing("backward", "a", 30), Computing("backward", "b", 0), Computing("optimizer", "c", 100)), (Exchanging("allreduce", "x", 8, (0,), 0),))  # fmt: skip
    lane = NodeLane(written, (30, 0, 100), 250, 40, Pauses(35, 100, 20))
    # it stands still until 55, goes on to 85; nothing takes no time in a pause, either
    assert lane.ready(written.exchanging[0]) == 85
    lane.placed.append((100, 200))
    # 15 until the exchange; beside it 80 in which the node goes on are 60; 25 are left
    assert lane.finish() == 225
    assert lane.computed == [(40, 85), (85, 85), (85, 225)]


def test_who_was_last_is_named_in_words():
    run = peerlab.step(nodes=3, path="peer-direct", library="none", slow_compute={1: 0.8})
    (told,) = who_was_last(run.trace)
    assert told.startswith("Waited for: node 1 was last at 5 of 5 exchanges, the others waited up to")
    assert run.exchanges()["began_last"].tolist() == [(1,)] * 5
    assert who_was_last(peerlab.step(nodes=3, path="peer-direct", library="none").trace) == []
    assert run.as_dict()["slow_compute"] == {1: 0.8}


def test_what_a_step_takes_in_a_row_is_told_in_words():
    asked = {"cluster": "p4d", "nodes": 4, "path": "peer-direct", "library": "none", "compute_ms": 1}
    cold, alike, drawn, alone = (
        peerlab.step(**asked, **more)
        for more in (
            {"slow_nodes": {1: 0.5}, "iterations": 1, "steps": 6},
            {"steps": 3},
            {"compute_jitter": 0.1, "steps": 4},
            {},
        )
    )
    (told,) = in_a_row(cold.trace)
    assert told == (
        "6 steps in a row without a barrier between them: 6.6 ms a step, each as the one before from step 3 on; "
        "1.03 ms less than the first, which all nodes begin together."
    )
    assert cold.as_dict()["steady_s"] == cold.steady_s == pytest.approx(6.6e-3, rel=1e-3)
    assert cold.as_dict()["steady_from"] == 3
    assert in_a_row(alike.trace)[0].endswith("a step, each as the first.")
    assert "a step, the mean of the second half (" in in_a_row(drawn.trace)[0]
    assert drawn.as_dict()["steady_from"] is None
    assert (in_a_row(alone.trace), "steps" in alone.as_dict()) == ([], False)
    assert alone.steady_s == alone.time_s
    # one step of a row says little where each draws noise of its own, so a gain is that of the row
    rows = [
        peerlab.step(**{**asked, "path": path}, compute_jitter=0.1, steps=4)
        for path in ("host-rdma", "peer-direct")
    ]
    assert rows[1].gain(rows[0]) == rows[0].trace.row.steady_ps / rows[1].trace.row.steady_ps
    assert alone.gain(drawn) == drawn.time_ps / alone.time_ps


def test_the_command_says_what_a_step_of_a_row_takes():
    asked = (
        "step",
        "--nodes",
        "3",
        "--cluster",
        "p4d",
        "--library",
        "none",
        "--slow-compute",
        "1:0.8",
        "--steps",
        "4",
    )
    status, out, problem = peerlab_command(*asked)
    assert (status, problem) == (0, "")
    assert "against the first path, in a row" in out
    assert "e+0" not in out  # thousands of samples a second have no exponent
    assert (
        " ".join(out.split()).count("4 steps in a row without a barrier between them") == 4
    )  # of every data path
    found = json.loads(peerlab_command(*asked, "--path", "peer-direct", "--ticks", "500", "--json")[1])[
        "steps"
    ]
    assert found[0]["steps"] == 4
    assert 0 < found[0]["steady_s"] < 1.1 * found[0]["first_step_s"]
    # without noise of computing nobody draws any
    status, _, problem = peerlab_command("step", "--compute-jitter-of", "node")
    assert (status, problem) == (
        1,
        "peerlab: --compute-jitter-of: says who draws --compute-jitter; give that, too\n",
    )


def test_a_slow_node_makes_a_step_longer_by_no_more_than_its_own_share():
    quiet, slow = (
        peerlab.step(nodes=8, path="peer-direct", library="none", algorithm="hierarchical", slow_compute=one)
        for one in (None, {4: 0.8})
    )
    assert quiet.time_ps < slow.time_ps <= quiet.time_ps / 0.8 + 1
    alone = slow.step.compute.ps / 0.8
    assert slow.time_ps == pytest.approx(alone + quiet.trace.exposed_ps, rel=0.01)


def test_links_that_two_exchanges_would_share_are_answered_in_one_world():
    fields = {
        "cluster": LEAVES, "nodes": 4, "path": "peer-direct", "library": "none", "algorithm": "hierarchical", "compute_ms": 0.01,
        "workload": workload(20_000, 20_000), "first_bucket_bytes": 1, "bucket_bytes": 1, "slow_compute": {0: 0.5},
    }  # fmt: skip
    run = peerlab.step(**fields)
    assert run.engine == "referee"
    with pytest.raises(WorkloadError, match="engine: two exchanges are under way at once"):
        peerlab.step(**fields, engine="composition")


@pytest.mark.long("noise")
def test_equal_exchanges_that_nodes_begin_together_are_simulated_once():
    """What happened before the first node begins is over: neither places that were held nor other memory make another question of it."""
    for path in ("peer-direct", "host-rdma"):
        asked = {"workload": "bert-large", "nodes": 4, "path": path, "slow_nodes": {1: 0.8}}
        before = _answered.misses
        composed = peerlab.step(**asked)
        sizes = {(one.op.collective, one.op.nbytes) for one in composed.trace.placed}
        assert len(sizes) < len(composed.trace.placed) / 4
        assert _answered.misses - before <= len(sizes)
        assert composed.time_ps == peerlab.step(**asked, engine="referee").time_ps


def test_nodes_too_many_to_be_told_apart_are_answered_where_nobody_goes_on_before_all_are_done():
    asked = {
        "nodes": 6,
        "path": "peer-direct",
        "library": "none",
        "algorithm": "hierarchical",
        "slow_nodes": {4: 0.6},
    }
    exact = peerlab.step(**asked)
    with (
        patch("peerlab.training.rank_by_rank.MOST_OF_ALL", 10),
        patch("peerlab.training.rank_by_rank.refuses", return_value="no"),
        patch("peerlab.training.rank_by_rank._answered", rank_by_rank._answer),
    ):
        assert peerlab.step(**asked).time_ps == exact.time_ps
        with pytest.raises(ScenarioError, match="nodes: 6 nodes that differ"):
            peerlab.step(**asked, slowdown=0.1)
        with pytest.raises(ScenarioError, match="each goes on when it is done"):
            peerlab.step(**asked, compute_ms=1)
        with pytest.raises(ScenarioError, match="each goes on when it is done"):
            peerlab.step(**asked, steps=2)


def test_nodes_that_compute_apart_are_forecast_though_their_exchange_alone_folds():
    """1,000 steps of 64 nodes that draw their computing times began without a word, for hours."""
    one = step_forecast_s(Step.of(path="peer-direct", compute_jitter=0.2, nodes=64))
    assert 3 < one < 60
    many = step_forecast_s(Step.of(path="peer-direct", compute_jitter=0.2, nodes=64, steps=1000))
    assert many == pytest.approx(1000 * one)


def test_a_step_of_hours_is_refused_before_it_begins_unless_its_user_insists(monkeypatch):
    asked = ["step", "--steps", "1000", "--compute-jitter", "0.2", "--nodes", "64"]
    status, out, problem = peerlab_command(*asked)
    assert (status, out) == (1, "")
    assert re.fullmatch(
        r"peerlab: 1000 steps of 64 nodes that differ would take about \d+ h to simulate; give --steps \d+ \(an hour\) or "
        r"fewer --nodes or one --path; --anyway begins it all the same\n",
        problem,
    )

    def begins(*_, **__):
        raise PeerlabError("it began")

    monkeypatch.setattr(peerlab, "step", begins)
    status, _, problem = peerlab_command(*asked, "--anyway")
    assert (status, problem.split("\n")[-2]) == (1, "peerlab: it began")


def test_answers_of_exchanges_are_kept_by_their_spans(monkeypatch):
    """64 noisy exchanges of 64 nodes were 600 MB."""
    answered = AnsweredExchanges()
    monkeypatch.setattr(rank_by_rank, "_answered", answered)
    asked = {"path": "peer-direct", "compute_jitter": 0.2, "nodes": 4}
    peerlab.step(Step.of(**asked, steps=4))
    assert len(answered.kept) == answered.misses == 20
    answered.kept.most_weight = answered.kept.weight // 4
    peerlab.step(Step.of(**asked, steps=4, seed=2))
    assert 1 <= len(answered.kept) <= 6


def test_a_step_that_takes_long_is_forecast_unless_it_is_refused_at_once(monkeypatch):
    """Machine code runs what all nodes begin together; where they begin apart, the loop does."""

    def forecast(**more):
        return step_forecast_s(Step.of(path="peer-direct", slow_nodes={4: 0.8}, **more))

    monkeypatch.setattr(refusals, "installed", lambda: False)
    without = forecast(nodes=256)
    assert 5 < without < forecast(nodes=512)
    monkeypatch.setattr(refusals, "installed", lambda: True)
    monkeypatch.setattr(refusals, "broken", lambda: "")
    monkeypatch.setattr(refusals, "on_disk", lambda: True)
    assert forecast(nodes=256) < without / 10
    assert forecast(nodes=256, slow_compute={0: 0.5}) >= without
    assert (
        forecast(nodes=256, compute_ms=1) > without / 2
    )  # each bucket is ready before the one before is over
    assert step_forecast_s(Step.of(nodes=512)) == 0
    assert step_forecast_s(Step.of(nodes=512, path="host-rdma", slow_nodes={4: 0.8})) == 0


@pytest.mark.long("noise")
@pytest.mark.parametrize(
    "more", [{"slow_compute": {0: 0.5}}, {"compute_jitter": 0.05}, {"slow_nodes": {1: 0.5}}]
)
def test_a_slow_node_does_not_widen_what_is_not_sure_of_the_exchange(more):
    asked = {"workload": "resnet50", "nodes": 2, "batch": 32, **more}
    runs = [peerlab.step(**asked, path=path) for path in ("peer-direct", "host-tcp")]
    for run in runs:
        assert end_ps(run, 1) == run.time_ps
        assert run.time_ps < end_ps(run, 1.1) < 1.1 * run.time_ps
    reach = step_gain(*runs).cluster.reach
    assert 0.9 < reach.low <= 1 <= reach.high < 1.2
