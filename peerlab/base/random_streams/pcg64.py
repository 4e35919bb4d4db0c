"""PCG64: random bits, as `numpy.random.PCG64` gives them (O'Neill 2014: XSL-RR over a state of 128 bits)."""

from collections.abc import Sequence

from peerlab.base.random_streams.seed_sequence import SeedSequence

_TIMES = 0x2360ED051FC65DA44385DF649FCCF645
_STATE, _HALF, _QUARTER = 2**128 - 1, 2**64 - 1, 2**32 - 1


class PCG64:
    """A stream of bits."""

    def __init__(self, seed: int | Sequence[int]) -> None:
        words: list[int] = SeedSequence(seed).generate_state(4, "uint64")
        first, second, third, fourth = words
        self._step = (third << 64 | fourth) << 1 & _STATE | 1
        self._state = ((first << 64 | second) + self._step) * _TIMES + self._step & _STATE
        self._kept: int | None = None

    def word(self) -> int:
        """Return 64 bits."""
        self._state = state = self._state * _TIMES + self._step & _STATE
        mixed, turn = (state >> 64 ^ state) & _HALF, state >> 122
        return (mixed >> turn | mixed << (64 - turn)) & _HALF

    def half_word(self) -> int:
        """Return 32 bits: the lower half of a word, and the next time its upper half."""
        if self._kept is not None:
            half, self._kept = self._kept, None
            return half
        word = self.word()
        self._kept = word >> 32
        return word & _QUARTER

    def share(self) -> float:
        """Return a number from 0 up to and without 1."""
        return (self.word() >> 11) * 2.0**-53

    def below(self, end: int) -> int:
        """Return a whole number from 0 up to and without `end`, each as likely (Lemire 2019)."""
        if end == 1:
            return 0
        # numpy spends half a word on what fits into one
        draw, bits = (self.half_word, 32) if end <= 2**32 else (self.word, 64)
        uneven, product = 2**bits % end, draw() * end
        while product & (2**bits - 1) < uneven:
            product = draw() * end
        return product >> bits
