"""From a seed, or several numbers, to the words that a generator begins with: O'Neill's `seed_seq`, as in numpy's `SeedSequence`."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

_POOL = 4
"""Words of 32 bits that are mixed."""
WORD = 2**32 - 1
"""The largest word of 32 bits."""


class _Hash:
    """Hashes one word after another; its factor goes on with each."""

    def __init__(self, factor: int, times: int) -> None:
        self._factor, self._times = factor, times

    def __call__(self, word: Any) -> Any:
        word = word ^ self._factor  # not in place: it may be an array
        self._factor = self._factor * self._times & WORD
        word = word * self._factor & WORD
        return word ^ word >> 16


class SeedSequence:
    """Words that look random and follow from one number or several; of numbers, one may be an array of words: then so are the results.

    >>> SeedSequence((1, 2)).generate_state(2)
    [1596810411, 3615836353]
    """

    def __init__(self, entropy: int | Sequence[Any]) -> None:
        numbers = [entropy] if isinstance(entropy, int) else entropy
        words = [word for number in numbers for word in _words(number)]
        hashed = _Hash(0x43B0D7E5, 0x931E8875)
        self._pool = [hashed(word) for word in [*words, *[0] * _POOL][:_POOL]]
        # every word of the pool meets each other one, then each word of a long seed meets all
        for source, place in permutations(range(_POOL), 2):
            self._mix(place, hashed(self._pool[source]))
        for word in words[_POOL:]:
            for place in range(_POOL):
                self._mix(place, hashed(word))

    def _mix(self, place: int, word: Any) -> None:
        mixed = (0xCA01F9DD * self._pool[place] - 0x4973F715 * word) & WORD
        self._pool[place] = mixed ^ mixed >> 16

    def generate_state(self, n_words: int, dtype: object = None) -> list[Any]:
        """Return so many words of 32 bits; of 64 bits where a `dtype` is given, which can only be `uint64`."""
        hashed = _Hash(0x8B51F9DD, 0x58F38DED)
        count = n_words if dtype is None else 2 * n_words
        words = [hashed(self._pool[number % _POOL]) for number in range(count)]
        if dtype is None:
            return words
        return [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]


def _words(number: Any) -> list[Any]:
    """Return the words of 32 bits of a number, the lowest first; an array has one of each."""
    if not isinstance(number, int):
        return [number]
    if number < 0:
        raise ValueError(f"{number} is no seed: it is below 0")
    return [number >> shift & WORD for shift in range(0, max(1, number.bit_length()), 32)]
