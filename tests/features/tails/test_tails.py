"""Many runs with noise: percentiles are told where runs are enough, and laws say what they come to."""

import json
import re
from math import exp

import numpy as np
import pytest
from command_line import peerlab_command
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.engine.arrays.many_seeds import times_of_seeds
from peerlab.engine.expected_duration import forecast_s
from peerlab.features.tails.percentiles import PER_MILLE, nearest_rank, percentile, runs_needed
from peerlab.features.tails.tails import Tails, tails, usual_seeds, with_noise
from peerlab.features.tails.tails_page import tails_page
from peerlab.features.tails.tails_picture import tails_svg
from peerlab.features.tails.times import PathTimes

RING = {"cluster": "ideal-100g", "nodes": 8, "message_bytes": "64 MiB"}
LARGEST = {8: 1.4236, 64: 2.3437}
"""Mean of the largest of so many normal numbers."""


def quotients(seeds, **fields):
    """Return the times of seeds over the quiet time, ascending."""
    asked = peerlab.Scenario(**RING).with_(**fields)
    noise = dict.fromkeys(("jitter", "spread", "detours", "ticks"), 0.0)
    quiet = peerlab.simulate(asked.with_(**noise)).time_ps
    return np.sort(np.array(times_of_seeds(asked, range(seeds))) / quiet)


@pytest.mark.parametrize(
    ("jitter", "mean", "median", "p99"), [(0.05, 1.054, 1.054, 1.074), (0.2, 1.228, 1.227, 1.326)]
)
def test_jitter_moves_a_blocking_ring_and_makes_no_tail(jitter, mean, median, p99):
    found = quotients(4000, dependency="step", jitter=jitter)
    assert found.mean() == pytest.approx(mean, rel=0.002)
    assert nearest_rank(found, 0.5) == pytest.approx(median, rel=0.002)
    assert nearest_rank(found, 0.99) == pytest.approx(p99, rel=0.004)


def test_a_pipelined_ring_of_sixteen():
    found = quotients(2000, nodes=16, dependency="slice", slice_bytes=None, jitter=0.2)
    assert found.mean() == pytest.approx(1.180, rel=0.002)
    assert nearest_rank(found, 0.5) == pytest.approx(1.179, rel=0.002)
    assert nearest_rank(found, 0.99) == pytest.approx(1.237, rel=0.005)


def added(seeds, **fields):
    """Return by how much jitter makes a run longer in the mean, in sigmas of the noise of one transfer of 10 us."""
    asked = peerlab.Scenario(
        cluster="ideal-100g", slice_bytes=None, message_bytes=fields["nodes"] * 125_000, **fields
    )
    quiet = peerlab.simulate(asked.with_(jitter=0)).time_ps
    return (np.mean(times_of_seeds(asked, range(seeds))) - quiet) / (asked.jitter * 10_000_000)


def test_latency_absorbs_jitter_and_blocking_code_has_none():
    """A pipelined ring of 32, L ten times the noise: 16.45 sigma (law 16.30); a blocking ring of 64: 145.3 (B4, B9)."""
    assert added(1000, nodes=32, jitter=0.05, dependency="slice") == pytest.approx(16.45, rel=0.02)
    assert added(300, nodes=64, jitter=0.02, dependency="step") == pytest.approx(145.3, rel=0.01)


@pytest.mark.parametrize(("nodes", "largest"), [(2, 0.5642), (3, 0.8463)])
def test_in_a_blocking_ring_of_two_or_three_all_wait_for_all(nodes, largest):
    """So every step takes what the largest of its normal numbers does (B2)."""
    steps = 2 * (nodes - 1)
    assert added(6000, nodes=nodes, jitter=0.02, dependency="step") == pytest.approx(
        steps * largest, rel=0.04
    )


@pytest.mark.parametrize("nodes", [8, 64])
def test_a_spread_of_nodes_costs_what_the_slowest_of_them_does(nodes):
    found = quotients(1500, nodes=nodes, spread=0.1, message_bytes="1 GiB", dependency="step")
    assert found.mean() == pytest.approx(exp(0.1 * LARGEST[nodes]), rel=0.004)
    assert nearest_rank(found, 0.99) / nearest_rank(found, 0.5) == pytest.approx(
        {8: 1.18, 64: 1.14}[nodes], rel=0.015
    )


def test_rare_detours_make_the_tail_that_their_number_and_length_say():
    rare = {"detours": 7e-4, "detour_us": 100, "detour_tail": 1.5}
    asked = peerlab.Scenario(**RING).with_(message_bytes="64 KiB", dependency="step", **rare)
    quiet = peerlab.simulate(asked.with_(detours=0)).time_ps
    late = np.sort((np.array(times_of_seeds(asked, range(4000))) - quiet) / 100e6)
    transfers = 8 * 14 * 7e-4
    assert (late > 0).mean() == pytest.approx(1 - exp(-transfers), abs=0.012)
    # a share 0.01 of runs is later than x_m (N K p / 0.01)^(1 / alpha)
    assert nearest_rank(late, 0.99) == pytest.approx((transfers / 0.01005) ** (1 / 1.5), rel=0.2)


def test_a_percentile_is_told_once_ten_runs_lie_beyond_it():
    for one in PER_MILLE:
        assert percentile(range(runs_needed(one)), one).missing == 0
        assert percentile(range(runs_needed(one) - 3), one).missing == 3


@given(st.integers(0, 10**6))
def test_an_interval_holds_the_truth_as_often_as_it_says(seed):
    drawn = np.random.default_rng(seed).random((200, 1000))
    found = [percentile(np.sort(one), 900) for one in np.rint(drawn * 1e9).astype(int)]
    assert np.mean([one.low_ps <= 0.9e9 <= one.high_ps for one in found]) > 0.88


def test_a_sweep_gives_the_times_that_runs_side_by_side_have(tmp_path):
    asked = {
        "nodes": 4,
        "cluster": "ideal-100g",
        "message_bytes": "1 MiB",
        "jitter": 0.1,
        "spread": 0.1,
        "seeds": 25,
    }
    here, file = tails(**asked), tmp_path / "runs.csv"
    assert tails(**asked, output=file, progress=False).paths[0].times_ps == here.paths[0].times_ps
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:12]) + "\n")  # stopped half way
    assert tails(**asked, output=file, progress=False).paths[0].times_ps == here.paths[0].times_ps


def test_the_gain_is_the_ratio_of_equal_percentiles_and_noise_is_assumed_where_none_is_asked_for():
    found = tails(cluster="ideal-100g-staged", nodes=2, message_bytes="64 KiB", seeds=20, progress=False)
    assert found.assumed == ("jitter", "spread", "detours")
    direct, staged = (
        PathTimes(found.paths[0].scenario, tuple(range(k, 100 * k + 1, k)), k) for k in (10, 17)
    )
    assert Tails((direct, staged), ()).gain(900) == pytest.approx(1.7)
    assert Tails((direct, staged), ()).gain(990) is None
    assert found.gain(500) is None


NOISY_RING = ["--cluster", "ideal-100g", "--nodes", "4", "--message", "1MiB", "--jitter", "0.1"]


def test_the_command_says_what_is_missing_and_writes_a_picture(tmp_path):
    words = [*NOISY_RING, "--seeds", "200"]
    status, out, _ = peerlab_command("tails", *words, "--write", tmp_path / "tails.svg")
    assert status == 0
    assert "p99 needs 800 more runs" in out
    assert "p99 needs 800 more runs" in (tmp_path / "tails.svg").read_text()
    status, out, _ = peerlab_command("tails", *words, "--json")
    assert json.loads(out)["paths"][0]["p99_missing"] == 800
    assert peerlab_command("tails", "--seeds", "0")[2].startswith("peerlab: seeds: 0 is not a number of runs")


def test_a_page_shows_who_is_to_blame_for_the_run_that_is_chosen(tmp_path):
    words = [*NOISY_RING, "--seeds", "100"]
    status, _, _ = peerlab_command("tails", *words, "--write", tmp_path / "tails.html")
    page = (tmp_path / "tails.html").read_text()
    found = tails(cluster="ideal-100g", nodes=4, message_bytes="1 MiB", jitter=0.1, seeds=100, progress=False)
    assert status == 0
    assert re.findall(r"aria-label='The run at (\S+), seed (\d+)'", page) == [
        (name, str(found.paths[0].run_at(per_mille).seed))
        for name, per_mille in (("p50", 500), ("p90", 900), ("slowest", 1000))
    ]
    assert page.count("Who is to blame?</text>") == 3
    assert "<script" not in page


def test_a_page_says_where_nobody_can_say_who_is_to_blame():
    run = peerlab.Scenario(cluster="ideal-100g-leafspine-2to1", nodes=4, jitter=0.1, message_bytes="64 KiB")
    page = tails_page(Tails((PathTimes(run, tuple(range(10**9, 10**9 + 30)), 10**9),), ()))
    assert "Nobody can say who is to blame" in page


def test_the_run_at_a_percentile_took_what_the_percentile_says():
    found = tails(cluster="ideal-100g", nodes=4, message_bytes="1 MiB", jitter=0.1, seeds=100, progress=False)
    for one in found.paths[0].percentiles[:2]:
        assert peerlab.simulate(found.paths[0].run_at(one.per_mille)).time_ps == one.value_ps


def test_a_picture_has_a_dot_for_every_run_that_is_not_far_out():
    run = peerlab.Scenario(cluster="dl1", nodes=2, jitter=0.1)
    two = [
        PathTimes(run.with_(path=path), tuple(range(t, t + 40 * 10**7, 10**7)), t - 9)
        for path, t in (("peer-direct", 10**9), ("host-rdma", 2 * 10**9))
    ]
    drawn = tails_svg(Tails(tuple(two), ()), "dark")
    lines = re.findall(r"v(-[\d.]+)' stroke='#\w+' stroke-width='3.8' stroke-linecap='round'", drawn)
    assert sum(1 + round((-float(high) - 0.1) / 4.6) for high in lines) == 80
    assert " times at p50" in drawn


def test_runs_that_are_far_out_are_counted_for_each_path_in_a_line_of_its_own():
    run = peerlab.Scenario(cluster="dl1", nodes=2, jitter=0.1)
    two = tuple(
        PathTimes(run.with_(path=path), (*range(t, t + 400 * 10**6, 10**6), 2 * t, 2 * t), t - 9)
        for path, t in (("peer-direct", 10**9), ("host-rdma", 2 * 10**9))
    )
    later = re.findall(r"<text x='[\d.]+' y='([\d.]+)'[^>]*>2 later</text>", tails_svg(Tails(two, ())))
    assert len(set(later)) == 2


def test_a_name_that_is_no_picture_is_refused_before_anything_runs(tmp_path):
    runs = tmp_path / "runs.csv"
    status, _, problem = peerlab_command("tails", "--seeds", "2", "--output", runs, "--write", "tails.png")
    assert (status, problem.count("\n"), runs.exists()) == (1, 1, False)


def test_impossible_questions_are_refused():
    with pytest.raises(ScenarioError, match="seeds"):
        tails(seeds=0)
    with pytest.raises(ScenarioError, match="path"):
        tails(over="nowhere", seeds=2)


def test_where_nobody_says_how_many_runs_take_about_a_minute():
    staged, _ = with_noise(peerlab.Scenario(nodes=8, message_bytes="8 MiB"))
    both = [staged, staged.with_(path="peer-direct")]
    seeds = usual_seeds(both)
    assert 20 <= seeds < 1000
    assert seeds * sum(map(forecast_s, both)) <= 60
    assert usual_seeds([staged.with_(nodes=512)]) == 20
