"""How many scenarios make a task."""

from hypothesis import given
from hypothesis import strategies as st

from peerlab.features.sweep.batches import Pace

COSTS = st.floats(1e-5, 5.0)


def test_the_first_tasks_measure():
    assert Pace().size(1000, 4) == 1


@given(COSTS, st.integers(1, 10_000), st.integers(1, 64))
def test_a_task_lasts_long_enough_to_be_worth_sending_or_is_the_last(each_s, left, workers):
    pace, size = Pace(), 1
    for _ in range(12):  # sizes grow step by step
        pace.learn(size, size * each_s)
        size = pace.size(10**6, workers)
    last = pace.size(left, workers)
    assert 1 <= last <= left
    assert last * each_s >= 0.05 * (1 - 1e-9) or last == left


@given(COSTS, st.integers(1, 64))
def test_a_task_is_never_much_longer_than_it_need_be(each_s, workers):
    pace, size = Pace(), 1
    for _ in range(12):
        pace.learn(size, size * each_s)
        size = pace.size(10**6, workers)
    assert (size - 1) * each_s <= 0.2 * (1 + 1e-9)


def test_a_task_grows_at_most_fourfold_as_the_next_scenarios_may_be_larger():
    pace = Pace()
    pace.learn(3, 1e-6)
    assert pace.size(10**6, 1) == 12


def test_near_the_end_the_rest_is_shared():
    pace = Pace()
    pace.learn(100, 100 * 0.02)
    assert pace.size(1000, 4) == 10
    assert pace.size(16, 4) == 4
    assert pace.size(4, 4) == 3  # not below 50 ms
