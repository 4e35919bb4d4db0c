"""The boxes of a collective: every number and every move of the executor, as HTML."""

import re

import pytest

import peerlab
from peerlab.features.exercises.lessons.steps import steps_html


def panes(html):
    return html.split("class='pl-pane'")[1:]


def test_every_step_shows_what_the_executor_holds():
    one = peerlab.steps("ring", numbers=[[10**rank * box for box in range(1, 5)] for rank in range(4)])
    shown = panes(one._repr_html_())
    assert len(shown) == len(one.walk.steps) + 1
    for after, pane in enumerate(shown):
        numbers = [int(number) for number in re.findall(r"<td[^>]*><b>(\d+)</b>", pane)]
        assert numbers == one.walk.held(after).flatten().tolist()


def test_the_digits_of_a_number_tell_whose_contributions_are_in_it():
    shown = panes(peerlab.steps("ring", 4)._repr_html_())
    assert [re.findall(r"<b>(\d+)</b>", shown[0])[rank * 4 : rank * 4 + 4] for rank in range(4)] == [
        [number] * 4 for number in ("1", "10", "100", "1000")
    ]
    assert set(re.findall(r"<b>(\d+)</b>", shown[1])) >= {"11", "110", "1100", "1001"}
    assert set(re.findall(r"<b>(\d+)</b>", shown[-1])) == {"1111"}


def test_a_step_says_what_came_what_went_and_how_much_was_sent():
    first = panes(peerlab.steps("ring", 4)._repr_html_())[1]
    assert first.count("<small>") == 8  # a box of which nothing is told has its number in its middle
    assert first.count("class='pl-came'") == first.count("class='pl-went'") == 4
    assert "<b>11</b><small>+1 from 0</small>" in first
    assert "Every rank sends 1 box; who receives adds it to its own." in first
    assert "Sent so far: 0.25 of a rank's buffer." in first


def test_the_colours_of_steps_have_a_key_where_there_are_several():
    """Lines below the buttons were blue and green, and nothing said why."""

    def key(html):
        return re.findall(r"<span><i class='([\w-]+)'></i>([^<]+)", html)

    reduced = peerlab.steps("ring", 4)._repr_html_()
    assert key(reduced) == [("pl-adds", "adding up"), ("pl-hands", "handing out")]
    exchanged = peerlab.steps(ranks=4, collective="alltoall")._repr_html_()
    assert not key(exchanged)
    assert not re.search("class='pl-(hands|adds)'", exchanged)


def test_finished_boxes_are_marked_when_they_hold_every_contribution():
    marked = [pane.count("pl-full") for pane in panes(peerlab.steps("ring", 4)._repr_html_())]
    assert marked == [0, 0, 0, 4, 8, 12, 16]


def test_a_tree_says_how_many_send_and_how_much_at_most():
    shown = panes(peerlab.steps("binary-tree", 7)._repr_html_())
    assert "2 ranks send 7 boxes each; who receives adds them to its own." in shown[1]
    assert "at most: 3 of a rank's buffer" in shown[-1]


@pytest.mark.parametrize("ranks", range(2, 9))
def test_a_tree_of_any_size_is_shown_without_its_empty_steps(ranks):
    one = peerlab.steps("binary-tree", ranks)
    assert len(panes(one._repr_html_())) == len(one.walk.steps) + 1
    assert all(step.moves for step in one.walk.steps)
    assert (one.walk.held(len(one.walk.steps)) == one.walk.total).all()


def test_two_outputs_do_not_share_their_buttons():
    walk = peerlab.steps("ring", 2).walk
    names = [set(re.findall(r"name='([^']+)'", steps_html(walk))) for _ in range(2)]
    assert len(names[0]) == len(names[1]) == 1
    assert names[0] != names[1]


def test_without_styles_all_steps_stand_one_below_the_other():
    html = re.sub(r"<style>.*?</style>", "", peerlab.steps("ring", 3)._repr_html_(), flags=re.DOTALL)
    assert "style=" not in html
    assert "hidden" not in html.replace("aria-hidden", "")
    assert [f"Step {n} of 4" in html for n in (1, 2, 3, 4)] == [True] * 4


def test_an_arrow_goes_from_every_rank_that_sends_to_who_receives():
    ring, tree = (panes(peerlab.steps(*what)._repr_html_()) for what in (("ring", 4), ("binary-tree", 7)))
    assert [pane.count("class='pl-arrow'") for pane in ring] == [0, 4, 4, 4, 4, 4, 4]
    assert tree[1].count("class='pl-arrow'") == 2  # two ranks send
    assert len(set(re.findall(r"<path class='pl-arrow' d='([^']+)'", ring[1]))) == 4


def test_one_button_plays_all_steps_and_each_has_its_turn():
    html = steps_html(peerlab.steps("ring", 3).walk)
    key = re.search(r"id='(pl-\w+)-play'", html)[1]
    delays = re.findall(rf"#{key}-(\d)-pane,[^}}]+animation-delay:(-?\d+)s", html)
    assert [int(n) for n, _ in delays] == [0, 1, 2, 3, 4]
    turns = [int(delay) % 10 for _, delay in delays]  # seconds into a round of 5 x 2 s
    assert turns == [0, 2, 4, 6, 8]
