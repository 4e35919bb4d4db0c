"""Below the curves: what the machine should reach, and which algorithm runs there."""

import peerlab

REACH, RUNS = "What should it reach?", "Which algorithm runs?"


def test_an_answer_that_is_open_follows_what_is_shown():
    lab = peerlab.explore(cluster="p4d", nodes=2, path="peer-direct")
    assert set(lab.answers.toggles) == {REACH, RUNS}
    assert lab.answers.answers[REACH].value == ""
    lab.answers.toggles[REACH].value = True
    assert "AllReduce on 2 nodes of" in lab.answers.answers[REACH].value
    assert "pl-band" in lab.answers.answers[REACH].value
    lab.controls.nodes.value = 4
    assert "AllReduce on 4 nodes of" in lab.answers.answers[REACH].value
    lab.answers.toggles[REACH].value = False
    assert lab.answers.answers[REACH].value == ""
    lab.close()


def test_the_map_of_choices_stands_there_and_a_library_without_choices_says_so():
    lab = peerlab.explore(cluster="p5", nodes=2, path="peer-direct")
    lab.answers.toggles[RUNS].value = True
    assert "pl-map" in lab.answers.answers[RUNS].value
    lab.close()
    lab = peerlab.explore()
    lab.answers.toggles[RUNS].value = True
    assert "has no library that chooses an algorithm" in lab.answers.answers[RUNS].value
    lab.close()
