"""Kinds of noise: each draws from streams of its own, and does to service times what its record says."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.engine.arrays.many_seeds import side_by_side, times_of_seeds
from peerlab.engine.arrays.noise_of_runs import NoiseOfRuns
from peerlab.engine.arrays.side_by_side import times
from peerlab.engine.noise_draws import Places, detours, detours_side_by_side, held_up, phases, spreads
from peerlab.engine.standing_still import through
from peerlab.engine.system import System, least
from peerlab.model.noise import NOISE_KINDS, Noise, assumed_noise
from peerlab.question.scenario_fields import FIELDS

US = 10**6
PAIR = peerlab.Scenario(
    cluster="ideal-100g", nodes=2, message_bytes=2500, slice_bytes=None, collective="allgather"
)
"""Two nodes send 1250 bytes to each other in 100,000 ps, which fly for 5 us."""


def test_every_kind_is_a_field_with_an_assumed_amount_within_its_range():
    assert set(assumed_noise()) == set(NOISE_KINDS) <= set(FIELDS)
    assert len({kind.stream for kind in NOISE_KINDS.values()}) == len(NOISE_KINDS)
    for name, one in assumed_noise().items():
        assert one.range[0] <= one.amount <= one.range[1]
        noisy = PAIR.with_(**{name: one.amount})
        assert NOISE_KINDS[name].says(noisy.noise) == noisy.noise.in_words != ""


def test_a_node_draws_the_same_whoever_else_takes_part():
    assert spreads(7, 0.1, 3) == spreads(7, 0.1, 64)[:3]
    assert phases(7, 1000, 3) == phases(7, 1000, 64)[:3]
    noise = Noise(detours=0.1, detour_ps=100, detour_tail=1.5)
    few, many = (detours(7, noise, Places(4, 3, 2, 2, nodes)) for nodes in (2, 5))
    by_node = [one.reshape(4, 3, 2, 2, -1)[..., :2] for one in (few, many)]
    assert (by_node[0] == by_node[1]).all()
    assert few.any()


def test_another_kind_moves_no_draw_of_a_kind():
    alone = PAIR.with_(jitter=0.2, seed=4)
    assert (least(alone).factors == least(alone.with_(spread=0.1, detours=0.1, ticks=1000)).factors).all()
    rare = PAIR.with_(detours=0.3, seed=4)
    assert (least(rare).detours == least(rare.with_(jitter=0.1, spread=0.1)).detours).all()


def test_a_spread_has_median_one_and_is_felt_at_both_ends_of_a_transfer():
    drawn = np.array([spreads(seed, 0.3, 2) for seed in range(2000)])
    assert np.median(drawn) == pytest.approx(1, abs=0.02)
    assert np.log(drawn).std() == pytest.approx(0.3, rel=0.03)
    for seed in range(5):
        slower = max(spreads(seed, 0.3, 2))
        assert peerlab.simulate(PAIR.with_(spread=0.3, seed=seed)).time_ps == round(100_000 * slower) + 5 * US


def test_a_detour_is_as_long_as_a_pareto_says_and_as_frequent():
    noise, places = Noise(detours=0.01, detour_ps=100 * US, detour_tail=1.5), Places(10, 10, 1, 1, 100)
    drawn = np.concatenate([lasts for _, lasts in held_up(range(50), noise, places)])
    assert len(drawn) == pytest.approx(5000, rel=0.05)
    assert drawn.min() >= 100 * US
    assert (drawn > 400 * US).mean() == pytest.approx(4**-1.5, rel=0.12)


def test_a_held_up_slice_ends_as_much_later():
    quiet = peerlab.simulate(PAIR).time_ps
    late = PAIR.with_(detours=1.0, detour_us=3, detour_tail=50)
    assert peerlab.simulate(late).time_ps == quiet + int(least(late).detours.max())


def test_detours_of_runs_side_by_side_are_those_of_each():
    noise, places = Noise(detours=0.05, detour_ps=10, detour_tail=1.0), Places(5, 2, 3, 1, 4)
    beside = list(detours_side_by_side(list(held_up([1, 2], noise, places)), places))
    for run, seed in enumerate([1, 2]):
        for step, found in enumerate(beside):
            alone = detours(seed, noise, places)[step]
            assert not alone.any() if found is None else (found[run] == alone).all()
    assert list(detours_side_by_side(list(held_up([1], Noise(), places)), places)) == [None] * 5


@given(st.integers(0, 500), st.integers(1, 300), st.integers(0, 49), st.integers(1, 49))
def test_work_waits_while_its_node_stands_still(start, work, phase, length):
    period, now, left = 50, start, work
    while left:  # a picosecond at a time
        left -= (now - phase) % period >= length
        now += 1
    assert through(start, work, phase, period, length) == now
    arrays = (np.array([one]) for one in (start, work, phase))
    assert through(*arrays, period, length).tolist() == [now]


def test_ticks_of_equal_mean_do_unequal_harm():
    ring = peerlab.Scenario(cluster="ideal-100g", nodes=32, message_bytes="256 KiB", dependency="step")
    often, seldom = {"ticks": 1000, "tick_us": 25}, {"ticks": 10, "tick_us": 2500}
    took = {
        name: times([ring.with_(**one, seed=seed) for seed in range(40)])
        for name, one in (("often", often), ("seldom", seldom))
    }
    quiet = peerlab.simulate(ring).time_ps
    assert all(time >= quiet for one in took.values() for time in one)
    assert np.median(took["often"]) > np.median(took["seldom"]) or max(took["seldom"]) > max(took["often"])
    assert max(took["seldom"]) > quiet + 2000 * US  # it meets one of the long ones, as a rule


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"spread": -1}, "spread"),
        ({"detours": 2}, "a probability"),
        ({"detours": "often"}, "a probability"),
        ({"detour_tail": 0}, "an exponent"),
        ({"ticks": True}, "ticks a second"),
        ({"ticks": 1000, "tick_us": 1000}, "leaves no time to work"),
        ({"ticks": 1e-9}, "less than the simulation can count"),
        ({"ticks": 1e-300}, "less than the simulation can count"),
        ({"detours": 1, "detour_tail": 0.1, "detour_us": 1e9}, "longer than the simulation can count"),
    ],
)
def test_impossible_noise_is_refused_in_a_line(fields, says):
    with pytest.raises(ScenarioError, match=says):
        peerlab.simulate(PAIR.with_(**fields))


def test_how_long_noisy_runs_may_take_is_known_before_they_run():
    ring = PAIR.with_(nodes=4, jitter=0.2, spread=0.1, detours=0.3, ticks=1000)
    noisy = [ring.with_(seed=seed) for seed in range(20)]
    bound = NoiseOfRuns(least(ring), range(20), [0.2] * 20).longest(
        peerlab.simulate(PAIR.with_(nodes=4)).time_ps, 12
    )
    assert max(times(noisy)) < bound < 100 * max(times(noisy))


def test_times_of_many_seeds_are_those_of_a_run_for_each():
    ring = PAIR.with_(nodes=3, jitter=0.2, detours=0.1)
    assert side_by_side(ring)
    alone = [peerlab.simulate(ring.with_(seed=seed), engine="referee").time_ps for seed in range(4, 9)]
    assert times_of_seeds(ring, range(4, 9)) == alone


def test_a_node_is_a_step_ahead_of_its_predecessor_and_all_but_one_round_of_its_successor():
    """Of 8 nodes one is held up in its first transfer: who sends to it goes on for 7 steps, who gets from it for 1 (B13)."""
    ring = peerlab.Scenario(
        cluster="ideal-100g",
        nodes=8,
        message_bytes=8 * 125_000,
        slice_bytes=None,
        dependency="slice",
        jitter=0.1,
    )
    factors = np.ones((14, 1, 1, 8))
    factors[0, 0, 0, 3] = 1000
    with patch.object(System, "factors", factors):
        columns = peerlab.simulate(ring, engine="loop", every_node=True).recording.unrolled
    node, step, end = (columns[name] for name in ("node", "step", "end"))
    late = end[(node == 3) & (step == 0)].max()
    ahead = [len(set(step[(node == one) & (end < late)].tolist())) for one in range(8)]
    assert (ahead[2], ahead[4]) == (7, 1)
