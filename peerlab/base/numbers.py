"""Arrays of numbers: numpy where it is installed, else its operations on Python's lists (`peerlab.base.whole_numbers`).

Modules that run in a browser tab take `np` and `NDArray` from here, all others import numpy. The two give the same bytes. `streams`
gives the generators of many seeds, faster than one after the other where numpy is.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from peerlab.base.many_streams import streams
else:
    try:
        import numpy as np
        from numpy.typing import NDArray

        from peerlab.base.many_streams import streams
    except ImportError:
        from peerlab.base import whole_numbers as np

        NDArray = np.ndarray

        def streams(seeds: Sequence[int], kind: int, count: int) -> Iterator[np.random.Generator]:
            """Yield the generator of each seed, for so many numbers from 0."""
            return (np.random.default_rng((seed, kind, number)) for seed in seeds for number in range(count))


__all__ = ["NDArray", "np", "streams"]
