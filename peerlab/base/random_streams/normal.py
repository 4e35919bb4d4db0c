"""Normal numbers as numpy draws them: by the ziggurat of Marsaglia and Tsang (2000), of 256 layers."""

from functools import cache
from math import exp, log1p
from typing import NamedTuple

from peerlab.base.data_file import read_facts
from peerlab.base.random_streams.pcg64 import PCG64

FILE = "normal_layers.toml"
_STEPS = 2.0**52
"""A place in a layer is a whole number below this."""


class _Layers(NamedTuple):
    """The layers under the bell curve."""

    widths: list[float]
    """Width of a layer, divided by `_STEPS`."""
    inside: list[int]
    """Places of a layer below this lie under the curve for sure."""
    heights: list[float]
    """The curve's height where a layer ends."""
    last: float
    """Where the tail begins."""


@cache
def _layers() -> _Layers:
    document = read_facts(FILE, "file of layers", dict)
    widths, last = document["widths"], document["last"]
    # what lies inside the layer above does so; none of the top layer does, and of the lowest what is no tail
    inside = [int(last / widths[0]), 0]
    inside += [int(widths[layer - 1] / widths[layer] * _STEPS) for layer in range(2, len(widths))]
    heights = [1.0, *(exp(-0.5 * (width * _STEPS) ** 2) for width in widths[1:])]
    return _Layers(widths, inside, heights, last)


def normal(bits: PCG64) -> float:
    """Return a number of mean 0 and standard deviation 1."""
    # The bell curve is covered by layers of one area: a place in a layer is drawn, and drawn again if it lies above the curve.
    layers = _layers()
    while True:
        word = bits.word()
        layer, place = word & 0xFF, word >> 9 & 0xFFFFFFFFFFFFF
        x = place * layers.widths[layer]
        if word >> 8 & 1:
            x = -x
        if place < layers.inside[layer]:  # 99 of 100 times
            return x
        if not layer:
            return _beyond(bits, layers.last, below=bool(place >> 8 & 1))
        above, own = layers.heights[layer - 1 : layer + 1]
        if (above - own) * bits.share() + own < exp(-0.5 * x * x):
            return x


def _beyond(bits: PCG64, last: float, *, below: bool) -> float:
    """Return a number of the tail (Marsaglia 1964)."""
    while True:
        x, y = -log1p(-bits.share()) * (1 / last), -log1p(-bits.share())
        if y + y > x * x:
            return -(last + x) if below else last + x
