"""Random numbers of a tab are numpy's, bit for bit: words, shares, whole numbers, normal and binomial numbers, from any seed."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from peerlab.base import random_streams
from peerlab.base.many_streams import streams
from peerlab.base.whole_numbers import random as ours

SEEDS = st.integers(0, 2**80) | st.lists(st.integers(0, 2**64), min_size=1, max_size=6).map(tuple)


@given(SEEDS, st.integers(1, 9))
def test_words_of_a_seed_are_those_of_numpy(seed, count):
    theirs, mine = np.random.SeedSequence(seed), ours.SeedSequence(seed)
    assert mine.generate_state(count) == theirs.generate_state(count).tolist()
    assert mine.generate_state(count, np.uint64) == theirs.generate_state(count, np.uint64).tolist()


@given(
    st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 2**33), max_size=5),
    st.integers(0, 200),
    st.integers(0, 4),
)
def test_streams_of_many_seeds_are_those_that_each_would_have(seeds, kind, count):
    each = [np.random.default_rng((seed, kind, number)) for seed in seeds for number in range(count)]
    expected = [stream.standard_normal(2).tolist() for stream in each]
    assert [stream.standard_normal(2).tolist() for stream in streams(seeds, kind, count)] == expected


@given(SEEDS, st.data())
def test_one_stream_gives_the_same_numbers_whatever_is_drawn_from_it_in_turn(seed, data):
    theirs, mine = np.random.default_rng(seed), ours.default_rng(seed)
    draws = st.sampled_from(("share", "whole", "normal", "successes"))
    for draw in data.draw(st.lists(draws, min_size=1, max_size=6)):
        if draw == "share":
            assert mine.random(5).tolist() == theirs.random(5).tolist()
        elif draw == "whole":
            # to both sides of what half a word holds
            end = data.draw(st.integers(1, 2**40) | st.integers(2**32 - 2, 2**32 + 2))
            assert mine.integers(end) == theirs.integers(end)
            assert mine.integers(end, size=3).tolist() == theirs.integers(end, size=3).tolist()
        elif draw == "normal":
            assert mine.standard_normal((2, 3)).tolist() == theirs.standard_normal((2, 3)).tolist()
        else:
            trials, chance = data.draw(st.integers(0, 10**7)), data.draw(st.floats(0, 1))
            assert mine.binomial(trials, chance) == theirs.binomial(trials, chance)


def test_normal_numbers_of_every_layer_and_of_the_tail_are_those_of_numpy(run_seed):
    seed = int(run_seed)
    theirs, mine = np.random.default_rng(seed).standard_normal(100_000), ours.default_rng(seed)
    assert mine.standard_normal(100_000).tolist() == theirs.tolist()
    assert np.abs(theirs).max() > 3.7  # the tail begins at 3.65


@given(SEEDS, st.integers(1, 10**7), st.floats(-8, 0))
def test_few_and_many_successes_are_those_of_numpy(seed, trials, magnitude):
    chance = 10**magnitude
    theirs, mine = np.random.default_rng(seed), ours.default_rng(seed)
    for _ in range(5):
        assert mine.binomial(trials, chance) == theirs.binomial(trials, chance)
    assert mine.random() == theirs.random()


def test_it_stays_small():
    folder = Path(random_streams.__file__).parent
    lines = [line for file in folder.glob("*.py") for line in file.read_text().splitlines() if line.strip()]
    assert len(lines) <= 250
