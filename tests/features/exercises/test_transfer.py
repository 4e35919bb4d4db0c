"""Transfer tasks: every seed has a task that can be answered, and neighbours never the same one."""

import pytest

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.exercises import own_seed
from peerlab.features.exercises.catalogue import _LABS, find, transfer_of
from peerlab.features.exercises.exercise import Number
from peerlab.question.presets import load_cluster

SEEDS = range(50)
SLOW = {"00"}
"""Labs whose task simulates a band, half a second each: a few seeds are drawn, and all by `make soak`."""

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("lab", sorted(_LABS))
def test_every_seed_has_a_task_of_its_own_that_can_be_answered(lab, drawn):
    transfer = transfer_of(lab)
    assert transfer.count >= len(SEEDS)
    tasks = [transfer.drawn(seed) for seed in drawn(SEEDS, count=4 if lab in SLOW else 8)]
    assert len({one.question for one in tasks}) == len(tasks)
    for one in tasks:
        assert one.judge(one.truth()).right, one.question
        assert one.judge(eval(one.solution)).right, one.question  # noqa: S307  (our own words)
        wrong = [answer for answer, _ in one.wrong()]
        assert not any(one.judge(answer).right for answer in wrong), one.question
        assert len([*wrong, *getattr(one, "bounds", ())]) >= 2, one.question


def test_no_two_of_50_seeds_ask_about_the_same_headline():
    """The question names nodes, machine and size, so that other values are another question."""
    transfer = transfer_of("00")
    values = [transfer.values(seed) for seed in SEEDS]
    assert len({(nodes, load_cluster(cluster).title, size) for nodes, cluster, size in values}) == len(SEEDS)
    asked = transfer.drawn(3).question
    nodes, cluster, size = values[3]
    assert f"on {nodes} nodes of {load_cluster(cluster).title}:" in asked
    assert f"the message has {size}," in asked


@pytest.mark.parametrize("lab", sorted(_LABS))
def test_as_many_seeds_as_there_are_tasks_draw_each_of_them_once(lab):
    transfer = transfer_of(lab)
    assert len({tuple(transfer.values(seed)) for seed in range(transfer.count)}) == transfer.count


@pytest.mark.parametrize("lab", ["04", "05", "06", "10"])
def test_no_verdict_is_always_right(lab):
    truths = [transfer_of(lab).drawn(seed).truth() for seed in SEEDS]
    assert max(map(truths.count, truths)) < 0.7 * len(truths)
    assert len(set(truths)) >= 3


def test_a_learner_keeps_a_seed_and_a_trainer_may_name_one(tmp_path):
    own = peerlab.exercise("02-transfer").exercise.seed
    assert peerlab.exercise("02-transfer").exercise.seed == own
    assert int((tmp_path / own_seed.FILE).read_text()) == own
    named = peerlab.exercise("02-transfer", seed=7)
    assert (
        named.exercise == find("02-transfer", 7) or named.exercise.question == find("02-transfer", 7).question
    )
    assert "seed 7" in named.children[0].value
    with pytest.raises(PeerlabError, match="seed must be a whole number"):
        peerlab.exercise("02-transfer", seed="seven")


def test_where_nothing_can_be_kept_a_task_is_drawn_all_the_same(tmp_path):
    (tmp_path / own_seed.FILE).write_text("a note of mine")
    assert isinstance(peerlab.exercise("02-transfer").exercise, Number)
    assert (tmp_path / own_seed.FILE).read_text() == "a note of mine"


def test_a_log_in_a_question_is_set_line_by_line():
    shown = peerlab.exercise("05-transfer", seed=1).children[0].value
    lines = shown.partition("<pre>")[2].partition("</pre>")[0].splitlines()
    assert len(lines) == 3
    assert "algbw" in lines[1]
