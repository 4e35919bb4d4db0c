import numpy as np
import pytest

from peerlab.base.errors import PeerlabError
from peerlab.collectives.walk import walk

DIFFERENT = [[10**rank * box for box in range(1, 9)] for rank in range(8)]
"""Eight ranks' numbers, no two of them alike."""


@pytest.mark.parametrize(
    ("algorithm", "ranks"),
    [("ring", 4), ("ring", 7), ("pairwise", 5), ("halving-doubling", 8), ("recursive-doubling", 4)]
    + [("binary-tree", ranks) for ranks in (2, 5, 8)],
)
def test_every_rank_ends_with_the_sum(algorithm, ranks):
    one = walk(algorithm, ranks)
    assert (one.held(len(one.steps)) == one.total).all()
    assert set(one.total) == {int("1" * ranks)}  # every rank's digit, in every box


def test_a_ring_sends_one_box_a_step_to_the_next_rank():
    one = walk("ring", 4)
    assert [step.adds for step in one.steps] == [True] * 3 + [False] * 3
    assert all([(move.to - move.rank) % 4 for move in step.moves] == [1] * 4 for step in one.steps)
    assert all(len(move.boxes) == 1 for step in one.steps for move in step.moves)
    assert one.sent(6) == [2 * 3 / 4] * 4
    finished = (one.held(3) == one.total).sum(axis=1)
    assert list(finished) == [1] * 4  # half way, each rank owns one finished box


def test_what_a_step_says_it_moves_is_all_that_changes():
    for algorithm in ("ring", "halving-doubling", "binary-tree", "pairwise"):
        for step in walk(algorithm, numbers=DIFFERENT).steps:
            received = np.zeros_like(step.before, bool)
            for move in step.moves:
                came = step.before[move.rank, list(move.boxes)]
                own = step.before[move.to, list(move.boxes)] if step.adds else 0
                assert (step.after[move.to, list(move.boxes)] == own + came).all()
                received[move.to, list(move.boxes)] = True
            assert (step.after[~received] == step.before[~received]).all()


def test_own_numbers_are_summed_even_if_they_do_not_divide():
    one = walk(numbers=[[3, -1, 4, 1, 5], [2, 7, 1, 8, 2], [1, 1, 2, 3, 5]])
    assert one.ranks == 3
    assert (one.held(4) == [6, 7, 7, 12, 12]).all()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"ranks": 1}, "give 2 to 8"),
        ({"ranks": 9}, "give 2 to 8"),
        ({"ranks": "four"}, "give 2 to 8"),
        ({"algorithm": "rign"}, "ring"),
        ({"algorithm": "halving-doubling", "ranks": 6}, "power of two"),
        ({"numbers": [[1, 2], [3]]}, "all of the same length"),
        ({"numbers": 3}, "a row of whole numbers"),
        ({"numbers": [[1] * 17] * 2}, "too many"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_in_one_line(wrong, says):
    with pytest.raises(PeerlabError, match=says) as refused:
        walk(**wrong)
    assert "\n" not in str(refused.value)
