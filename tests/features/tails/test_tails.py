"""Many runs with noise: percentiles are told where runs are enough. What laws say that they come to is in `data/expected/9-noise.toml`."""

import json
import re

import numpy as np
import pytest
from command_line import peerlab_command
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.engine.expected_duration import forecast_s
from peerlab.features.tails.percentiles import PER_MILLE, percentile, runs_needed
from peerlab.features.tails.tails import Tails, tails, usual_seeds, with_noise
from peerlab.features.tails.tails_command import tails_text
from peerlab.features.tails.tails_page import tails_page
from peerlab.features.tails.tails_picture import tails_svg
from peerlab.features.tails.tails_sheets import SHEETS
from peerlab.features.tails.times import PathTimes
from peerlab.study.many_runs import many_runs

RING = {"cluster": "ideal-100g", "nodes": 8, "message_bytes": "64 MiB"}


def added(seeds, **fields):
    """Return by how much jitter makes a run longer in the mean, in sigmas of the noise of one transfer of 10 us."""
    runs = many_runs(
        peerlab.Scenario(
            cluster="ideal-100g", slice_bytes=None, message_bytes=fields["nodes"] * 125_000, **fields
        ),
        seeds,
    )
    return (runs.mean_ps - runs.quiet_ps) / (fields["jitter"] * 10_000_000)


@pytest.mark.parametrize(("nodes", "largest"), [(2, 0.5642), (3, 0.8463)])
def test_in_a_blocking_ring_of_two_or_three_all_wait_for_all(nodes, largest):
    """So every step takes what the largest of its normal numbers does (B2)."""
    steps = 2 * (nodes - 1)
    assert added(6000, nodes=nodes, jitter=0.02, dependency="step") == pytest.approx(
        steps * largest, rel=0.04
    )


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
    file.write_text("\n".join(lines[:12]) + "\n" + lines[12][:9])  # killed half way
    with pytest.warns(UserWarning, match="was cut off"):
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


def test_one_node_and_one_run_are_counted_so():
    answer = peerlab.tails(nodes=1, seeds=1, jitter=0.1, over=None, progress=False)
    assert tails_text(answer).startswith("1 node of ")
    assert ", 1 run with " in tails_text(answer).partition("\n")[0]
    assert ", 1 run with " in repr(answer)


def test_the_command_says_what_is_missing_and_writes_a_picture(tmp_path):
    words = [*NOISY_RING, "--seeds", "200"]
    status, out, _ = peerlab_command("tails", *words, "--write", tmp_path / "tails.svg")
    assert status == 0
    assert "p99 needs 800 more runs" in out
    assert "p99 needs 800 more runs" in (tmp_path / "tails.svg").read_text()
    status, out, _ = peerlab_command("tails", *words, "--json")
    assert json.loads(out)["paths"][0]["p99_missing"] == 800
    assert peerlab_command("tails", "--seeds", "0")[2].startswith(
        "peerlab: --seeds: 0 is not a number of runs"
    )
    for over, says in (("nosuch", "unknown 'nosuch'"), ("host-rdma", "host-rdma is the path itself")):
        line = ["tails", "--path", "host-rdma", "--over", over]
        assert peerlab_command(*line)[2].startswith(f"peerlab: --over: {says}")


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
    assert page.count("class='pl-says'>") == 3
    assert page.rindex("class='pl-says'>") < page.index("<svg")  # the answer comes before the runs
    # and right below the question; which run it is about says the row of runs below it
    assert re.search(
        r"to blame\?</h1>(<input[^>]*>)+<div>(<div class='pl-who[^>]*><p class='pl-says'>[^<]*</p></div>){3}</div>"
        r"<p class='pl-of'>Ideal 100G crossbar: AllReduce[^<]*; 100 runs with [^<]*</p><div class='pl-choice'",
        page,
    )
    assert not re.search(r"pl-says'>[^<]*%", page)  # the bar has the share
    # the headline and the pictures say it; where nobody is to blame it is folded
    assert "What node" not in re.sub(r"<details>.*?</details>|<title>.*?</title>|<[^>]*>", "", page)
    # the bars that prove it come before the runs, which are another finding
    assert page.index("<div class='pl-blames'>") < page.index("<div class='pl-about'>")
    assert page.index("<div class='pl-about'>") < page.index("<div class='pl-tails'>")
    # a run's button has its name, the picture what it took; which percentile lacks runs, the words above the picture
    assert re.findall(r"<label for='run\d'>([^<]*)</label>", page) == ["p50", "p90", "slowest"]
    assert page.count("p99 needs 900 more runs.") == 1
    assert page.count("class='pl-falls'") == len(SHEETS) * 24  # handfuls of seeds, on every sheet
    assert "<script" not in page
    # No rule finds the root element inside the body: in the dark the page was white.
    assert "body:not([data-jp-theme-light]) .pl-runs{" in page


def test_a_page_says_where_nobody_can_say_who_is_to_blame():
    run = peerlab.Scenario(cluster="ideal-100g-leafspine-2to1", nodes=4, jitter=0.1, message_bytes="64 KiB")
    page = tails_page(Tails((PathTimes(run, tuple(range(10**6, 10**6 + 30)), 10**6),), ()))
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
    lines = re.findall(
        r"v(-[\d.]+)' stroke='#\w+' stroke-width='4' stroke-linecap='round'", drawn
    )  # their rims
    assert sum(1 + round((-float(high) - 0.1) / 4.6) for high in lines) == 80
    assert "\u00d7 as fast at p50</text>" in drawn


def test_runs_that_are_far_out_are_counted_for_each_path_in_a_line_of_its_own():
    run = peerlab.Scenario(cluster="dl1", nodes=2, jitter=0.1)
    two = tuple(
        PathTimes(run.with_(path=path), (*range(t, t + 400 * 10**6, 10**6), 6 * t, 6 * t), t - 9)
        for path, t in (("peer-direct", 10**9), ("host-rdma", 2 * 10**9))
    )
    later = re.findall(r"<text x='[\d.]+' y='([\d.]+)'[^>]*>2 later,</text>", tails_svg(Tails(two, ())))
    assert len(set(later)) == 2


def test_a_name_that_is_no_picture_is_refused_before_anything_runs(tmp_path):
    runs = tmp_path / "runs.csv"
    status, _, problem = peerlab_command("tails", "--seeds", "2", "--output", runs, "--write", "tails.png")
    assert (status, problem.count("\n"), runs.exists()) == (1, 1, False)


def test_impossible_questions_are_refused():
    with pytest.raises(ScenarioError, match="seeds"):
        tails(seeds=0)
    with pytest.raises(ScenarioError, match="over"):
        tails(over="nowhere", seeds=2)


def test_where_nobody_says_how_many_runs_take_about_a_minute():
    staged, _ = with_noise(peerlab.Scenario(nodes=8, message_bytes="8 MiB", ticks=1000))
    both = [staged, staged.with_(path="peer-direct")]
    seeds = usual_seeds(both)
    assert 20 <= seeds < 1000
    assert seeds * sum(map(forecast_s, both)) <= 60
    assert usual_seeds([staged.with_(nodes=512)]) == 20
