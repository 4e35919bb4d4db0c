"""numpy's generators for many seeds: what each begins with is computed for all at once, which is a third of the time."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from peerlab.base.random_streams.seed_sequence import WORD, SeedSequence


class _Begin(ISeedSequence):
    """What a generator begins with, as numpy asks for it."""

    def __init__(self, words: Any) -> None:
        self._words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Return its words: four of 64 bits, as PCG64 wants them."""
        del n_words, dtype
        return self._words


def streams(seeds: Sequence[int], kind: int, count: int) -> Iterator[np.random.Generator]:
    """Yield ``default_rng((seed, kind, number))`` of each seed, for so many numbers from 0."""
    if max(seeds, default=0) > WORD:  # it would be two words
        for seed in seeds:
            yield from (np.random.default_rng((seed, kind, number)) for number in range(count))
        return
    each = np.repeat(np.array(seeds, np.uint64), count)
    numbers = np.tile(np.arange(count, dtype=np.uint64), len(seeds))
    words = SeedSequence((each, kind, numbers)).generate_state(4, np.uint64)
    for row in np.stack(words, axis=1):
        yield np.random.Generator(np.random.PCG64(_Begin(row)))  # type: ignore[arg-type]
