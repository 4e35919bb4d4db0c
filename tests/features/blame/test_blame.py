"""Who is to blame: a planted slow node is named, a late transfer accuses a pair, and where nothing is planted nobody is."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

import peerlab
from peerlab.answer.lateness import source
from peerlab.base.errors import ScenarioError
from peerlab.engine.arrays.many_seeds import times_of_seeds
from peerlab.engine.ordinary import time_if_ordinary
from peerlab.features.blame.blame_picture import blame_html, blame_of_run, shares_chart
from peerlab.features.blame.blaming import Blame, blame_beside
from peerlab.features.blame.late_picture import in_words, late_chart

RING = peerlab.Scenario(cluster="ideal-100g", nodes=8, message_bytes="8 MiB", slice_bytes=None, jitter=0.05)


@pytest.mark.parametrize(("dependency", "node"), [("step", 5), ("slice", 0)])
def test_a_planted_slow_node_is_named(dependency, node):
    found = peerlab.blame(RING.with_(dependency=dependency, slow_nodes={node: 1 / 1.2}, seed=node))
    assert found.named == (node,)
    assert f"Node {node} explains" in shares_chart(found)


def test_a_slow_node_is_late_in_every_step_and_no_single_transfer_makes_it():
    found = peerlab.blame(RING.with_(dependency="step", slow_nodes={5: 0.8}))
    assert (source(found.late_ps, found.scenario), in_words(found)) == (
        None,
        "The lateness adds up step by step: no single transfer makes it.",
    )
    picture = late_chart(found)
    assert picture.count("<i style='--late:") > 8 * 14
    assert "node 7" in picture
    assert late_chart(Blame(RING, 100, 50, 60, (0.9, 0.1), ())) == ""


def test_where_nothing_is_planted_nobody_is_named():
    assert [peerlab.blame(RING.with_(dependency="step", seed=seed)).named for seed in range(3)] == [()] * 3


def test_one_late_transfer_accuses_both_of_its_ends():
    rare = RING.with_(dependency="step", detours=0.0003, detour_us=2000, detour_tail=50)
    times = times_of_seeds(rare, range(200))
    found = peerlab.blame(rare.with_(seed=times.index(max(times))))
    assert len(found.named) == 2
    assert (found.named[1] - found.named[0]) % 8 == 1
    way = f"node {found.named[0]} → node {found.named[1]}"
    drawn = shares_chart(found)
    # The way is the answer, so it has the bar: two nodes with all of it each read as a contradiction.
    assert "Delay explained by each way" in drawn
    assert re.findall(r"pl-named'><span class='pl-node'>([^<]+)<", drawn) == [way]
    assert "explains" in found.in_words
    assert "of what was lost" in found.in_words
    # the delay goes both ways in a blocking ring, a node a step: of eight the farthest is four away
    node, step = source(found.late_ps, found.scenario)
    late = found.late_ps[node][step]
    for away in range(5):
        for other in ((node + away) % 8, (node - away) % 8):
            row = found.late_ps[other]
            if step + away < 14:
                assert row[step + away] > 0.9 * late
            if away:
                assert row[step + away - 1] < 0.5 * late
    end = (
        "; 4 steps later every node is late." if step + 4 < 14 else "; not every node is late before the end."
    )
    assert in_words(found) == f"What node {node} sends in step {step + 1} is late{end}"
    assert f"step {step + 1} is late" in late_chart(found)


def test_a_run_in_which_nothing_is_made_ordinary_is_the_run():
    noisy = RING.with_(detours=0.05, spread=0.1, nodes=4)
    assert time_if_ordinary(noisy, [], []) == peerlab.simulate(noisy).time_ps


def test_what_cannot_be_told_is_refused():
    with pytest.raises(ScenarioError, match="nobody is to blame"):
        peerlab.blame(RING.with_(jitter=0))
    with pytest.raises(ScenarioError, match="at most 64"):
        peerlab.blame(RING.with_(nodes=65))
    with pytest.raises(ScenarioError, match="share links"):
        peerlab.blame(cluster="ideal-100g-leafspine-2to1", nodes=4, jitter=0.1)


def test_nobody_explains_more_than_all_of_what_was_lost():
    """Without node 0 the run would be faster than ordinary ones, which is no part of what it lost; a run that lost nothing has nothing to explain."""
    assert Blame(RING, 100, 50, 60, (1.04, -0.1), ()).explained == (1, 0)
    assert Blame(RING, 50, 50, 60, (30.0, 2.0), ()).explained == (0, 0)
    assert "103 %" not in shares_chart(Blame(RING, 100, 50, 60, (1.03, 0.1), ()))


def test_a_sentence_says_who():
    found = Blame(RING, 100, 50, 60, (0.9, 0.1), (((0, 1), 0.1),))
    assert (found.named, found.excess_ps, repr(found)) == (
        (0,),
        50,
        "Blame(Node 0 explains 90 % of what was lost.)",
    )


def test_of_one_step_each_node_has_a_bar_and_who_suffers_a_grey_one():
    """Node 0 was as orange and as bold as node 7, whose sending it waited for."""
    found = Blame(
        RING, 100, 50, 60, (0.9, 0.9, 0.0), (((0, 1), 1.0),), ((9_000_000,), (8_000_000,), (1_000_000,))
    )
    begins = source(found.late_ps, RING)
    assert begins == (0, 0)
    drawn = late_chart(found)
    assert found.named == (0, 1)
    assert "8 µs" in drawn
    bars = re.findall(
        r"pl-line ([^']*)'><span[^>]*>(node \d)<[^%]*width:([\d.]+)%'></i></span><span[^>]*>(\d µs)<", drawn
    )
    assert bars == [
        ("pl-named", "node 0", "100", "9 µs"),
        ("", "node 1", "88.9", "8 µs"),
        ("", "node 2", "11.1", "1 µs"),
    ]
    # what the two colours mean stands below them
    assert "it begins here" in drawn
    assert "late because of that" in drawn


def test_where_there_is_nothing_there_is_no_bar():
    """A track for 0 % was as long as a bar for all of it."""
    found = Blame(
        RING, 100, 50, 60, (0.9, 0.9, 0.0), (((0, 1), 1.0), ((1, 2), 0.0)), ((9_000_000,), (0,), (0,))
    )
    for drawn in (shares_chart(found), late_chart(found)):
        assert drawn.count("<i style='width:") == 1


def test_rows_of_nothing_are_one_row_unless_each_stands_beside_its_steps():
    """Of 16 bars 12 said 0 % or 0 s, below which the one that explains all stood; and beside a tall picture of steps two lines left most of the card empty."""
    ways = tuple(((node, (node + 1) % 8), 1.0 if node == 7 else 0.0) for node in range(8))
    late = tuple((9_000_000,) if node in {0, 7} else (0,) for node in range(8))
    found = Blame(RING.with_(nodes=8), 100, 50, 60, (0.0,) * 8, ways, late)
    for drawn, rows in (
        (shares_chart(found), ["node 7 → node 0", "7 others"]),
        (late_chart(found), ["node 0", "node 7", "6 others"]),
    ):
        assert re.findall(r"pl-line (?!\S* ?pl-each)[^>]*><span[^>]*>(node [^<]+|\d others)<", drawn) == rows
        assert drawn.count("pl-each") == int(rows[-1][0])
    assert "pl-by-cells'" not in blame_html(found)
    assert "pl-by-cells'" in blame_html(replace(found, late_ps=((9, 9),) * 8))
    # two rows of nothing stay, as does a picture that has nothing else
    assert "others" not in shares_chart(Blame(RING, 100, 50, 60, (0.9, 0.0, 0.0), ()))
    assert "others" not in shares_chart(Blame(RING, 100, 50, 60, (0.0,) * 4, ()))


def test_only_who_is_to_blame_is_orange_among_the_late():
    """In the last steps all nodes were as orange as the one to blame."""
    late = tuple((node * 10**6, 9 * 10**6) for node in range(4))
    for blamed, named in (((0.0, 0.0, 0.9, 0.0), ["node 2"]), ((0.0,) * 4, [])):
        drawn = late_chart(Blame(RING.with_(nodes=4, dependency="step"), 100, 50, 60, blamed, (), late))
        assert re.findall(r"pl-named'><span[^>]*>([^<]*)<", drawn) == named


@pytest.mark.parametrize("nodes", [8, 64])
def test_the_last_step_has_its_number(nodes):
    """The numbers were every second one, and the last of 14 steps had none."""
    steps = 2 * (nodes - 1)
    drawn = late_chart(Blame(RING, 100, 50, 60, (0.9, 0.0), (), ((10**6,) * steps,) * 2))
    broad, slim = (
        re.findall(r">(?:step )?(\d+)<", row) for row in re.findall(r"pl-numbers'>(.*?)</div>", drawn)
    )
    assert [row[0] for row in (broad, slim)] == ["1", "1"]
    assert [row[-1] for row in (broad, slim)] == [str(steps)] * 2
    assert (len(broad) <= 14, len(slim) <= 7) == (True, True)
    # and they are evenly apart: of 126 steps they were 1, 10, 19 up to 109, then 126
    for row in (broad, slim):
        gaps = [int(after) - int(before) for before, after in pairwise(row)]
        assert max(gaps) - min(gaps) <= (nodes == 8)


def test_a_run_is_simulated_once_to_say_who_is_to_blame_for_it(monkeypatch):
    asked = RING.with_(slow_nodes={3: 0.8}, nodes=4)
    simulated = []

    def counted(scenario, **how):
        simulated.append(scenario)
        return peerlab.simulate(scenario, **how)

    monkeypatch.setattr("peerlab.features.blame.blaming.simulate", counted)
    found = blame_beside(asked, [10**9])
    assert simulated.count(asked) == 1
    assert found.time_ps == peerlab.simulate(asked).time_ps
    assert len(found.late_ps) == 4


def test_beside_a_picture_of_runs_how_long_they_take_is_not_said_again():
    drawn = blame_of_run(RING.with_(nodes=4), [10**9] * 41).pictures
    assert "runs take" not in drawn
    assert "in the median" in blame_of_run(RING.with_(nodes=4, slow_nodes={1: 0.8}), [10**9] * 41).pictures


def test_beside_who_is_late_stands_why_one_of_them_is_to_blame():
    """In the last steps all are equally late, so that the picture did not say why it was node 3."""
    asked = RING.with_(slow_nodes={3: 0.8})
    drawn = blame_of_run(asked, [10**9] * 41).pictures.replace("\u00a0", " ")
    (why,) = re.findall("<p class='pl-why'>(.*?)</p>", drawn)
    assert re.fullmatch(
        r"Had node 3 been ordinary, \d+ % of the delay would be gone: the others are late .*", why
    )
    nobody = blame_of_run(RING, [10**12] * 41).pictures
    assert "<p class='pl-why'>" not in nobody
    # the key below the cells holds for all rows: who is to blame has a frame, and no shades of its own
    assert "pl-named .pl-cells i" not in drawn


def test_a_node_and_its_number_stay_on_one_line():
    found = Blame(RING, 100, 50, 60, (0.9, 0.9), (((0, 1), 1.0),))
    assert (
        "<p class='pl-says'>The way from node\u00a00 to node\u00a01 explains 100\u00a0% of what"
        in blame_html(found)
    )


def test_for_an_ordinary_run_nothing_is_simulated_of_its_parts(monkeypatch):
    """A page of many runs took a simulation for each node and way of a run for which nobody is to blame."""
    run, others = RING.with_(nodes=4), [10**12] * 41
    whole = blame_beside(run, others)
    monkeypatch.setattr("peerlab.features.blame.blaming.time_if_ordinary", None)
    verdict, pictures = blame_of_run(run, others)
    assert verdict == whole.verdict == whole.in_words
    assert verdict.startswith("Nobody is to blame")
    assert "explained by" not in pictures
