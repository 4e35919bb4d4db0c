"""A run draws from cases that are alike: as many as are asked for, evenly, by its seed, and what once failed always."""

import random
from collections import Counter
from itertools import product
from types import SimpleNamespace

import pytest
from drawing import draw, not_drawn

WIDTHS = list(product("abcde", (480, 848, 1120, 1280, 1920)))


def seeded(seed):
    return random.Random(seed)  # noqa: S311  (no secret)


@pytest.mark.parametrize("seed", range(5))
def test_each_part_of_a_product_comes_as_often_as_any_other(seed):
    for width in (5, 10):
        found = draw(WIDTHS, seeded(seed), width)
        assert len(found) == width
        for place in (0, 1):
            assert set(Counter(one[place] for one in found).values()) == {width // 5}


def test_a_seed_draws_the_same_and_others_draw_all_in_time():
    assert draw(WIDTHS, seeded(1), part=5) == draw(WIDTHS, seeded(1), part=5)
    met = {one for seed in range(60) for one in draw(WIDTHS, seeded(seed), part=5)}
    assert met == {*WIDTHS}


def test_what_once_failed_is_always_there_and_the_order_stays():
    for seed in range(20):
        found = draw(range(100), seeded(seed), part=10, always=[42])
        assert 42 in found
        assert len(found) == 11
        assert found == sorted(found)


def test_few_cases_are_all_drawn_and_one_of_many_at_least():
    assert draw("ab", seeded(0), 5) == ["a", "b"]
    assert len(draw("abc", seeded(0), part=10)) == 1
    assert draw([], seeded(0), part=10) == []


class Item(SimpleNamespace):
    """A test with one number and some marks."""

    __hash__ = object.__hash__

    def __init__(self, name, number, **marks):
        callspec = SimpleNamespace(params={"one": number}, indices={"one": number})
        super().__init__(nodeid=f"{name}[{number}]", callspec=callspec, get_closest_marker=marks.get)


def test_of_marked_tests_a_run_leaves_out_what_was_not_drawn():
    third = SimpleNamespace(args=(), kwargs={"part": 3})
    marked = [
        Item("test_a", number, sample=third, always=third if number == 7 else None) for number in range(10)
    ]
    others = [Item("test_b", number) for number in range(10)]
    for seed in "123":
        left_out = not_drawn(marked + others, seed)
        assert len(left_out) == 10 - 1 - 3
        assert {*left_out} < {*marked} - {marked[7]}


def test_of_the_long_tests_of_a_subject_a_tenth_is_drawn():
    """Whether they are one test's or several tests', and what a sample has left out is not counted."""

    def subject(name):
        return SimpleNamespace(args=(name,), kwargs={})

    half = SimpleNamespace(args=(), kwargs={"part": 2})
    notebooks = [
        *(Item("test_a", number, sample=half, long=subject("notebooks")) for number in range(20)),
        *(Item(f"test_{number}", number, long=subject("notebooks")) for number in range(10)),
    ]
    decks = [Item(f"test_deck_{number}", number, long=subject("decks")) for number in range(10)]
    drawn = [{*notebooks, *decks} - {*not_drawn(notebooks + decks, str(seed))} for seed in range(400)]
    assert all(len(one & {*notebooks}) == (10 + 10) // 10 for one in drawn)
    assert all(len(one & {*decks}) == 1 for one in drawn)
    assert set().union(*drawn) == {*notebooks, *decks}
