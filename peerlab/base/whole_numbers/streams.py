"""`numpy.random`: the generator and the distributions that noise draws from."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from peerlab.base.absent import Absent
from peerlab.base.random_streams.binomial import binomial
from peerlab.base.random_streams.normal import normal
from peerlab.base.random_streams.pcg64 import PCG64
from peerlab.base.random_streams.seed_sequence import SeedSequence  # noqa: F401  numpy's name
from peerlab.base.whole_numbers.rows import ndarray


class Generator:
    """Draws what `numpy.random.Generator` over PCG64 draws.

    >>> default_rng(1).standard_normal()
    0.345584192064786
    """

    def __init__(self, bits: PCG64) -> None:
        self._bits = bits

    def standard_normal(self, size: Any = None) -> Any:
        """Return numbers of mean 0 and standard deviation 1."""
        return _sized(lambda: normal(self._bits), size)

    def random(self, size: Any = None) -> Any:
        """Return numbers from 0 up to and without 1."""
        return _sized(self._bits.share, size)

    def integers(self, high: int, size: Any = None) -> Any:
        """Return whole numbers from 0 up to and without `high`."""
        return _sized(lambda: self._bits.below(high), size)

    def binomial(self, n: int, p: float) -> int:
        """Return how many of `n` trials succeed."""
        return binomial(self._bits.share, n, p)

    def __getattr__(self, name: str) -> Any:
        return getattr(Absent("numpy.random.Generator"), name)


def default_rng(seed: int | Sequence[int]) -> Generator:
    """Return the generator that begins with a seed, or with several numbers."""
    return Generator(PCG64(seed))


def _sized(draw: Callable[[], Any], size: Any) -> Any:
    if size is None:
        return draw()
    shape = (size,) if isinstance(size, int) else tuple(size)
    return ndarray([draw() for _ in range(prod(shape))], shape)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(Absent("numpy.random"), name)
