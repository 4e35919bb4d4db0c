"""How many ranks a log is about, where it does not say: bus bandwidth over algorithm bandwidth tells."""

import math

from peerlab.collectives.busbw import bus_factor

_MOST = 1 << 16


def infer_ranks(collective: str, algbw: float, busbw: float, resolution: float) -> int | None:
    """Return the only number of ranks whose factor lies within the rounding of two printed bandwidths, else None.

    >>> infer_ranks("allreduce", algbw=259.78, busbw=487.09, resolution=0.01)
    16
    """
    if not min(algbw, busbw) > resolution:
        return None
    half = resolution / 2
    low, high = (busbw - half) / (algbw + half), (busbw + half) / (algbw - half)
    top = bus_factor(collective, _MOST)
    if bus_factor(collective, 2) == top or high >= top:
        return None
    whole = bus_factor(collective, 2) * 2  # the factor is `whole` times (n - 1) / n
    fewest, most = (math.ceil(whole / (whole - low) - 1e-9), math.floor(whole / (whole - high) + 1e-9))
    return fewest if fewest == most and fewest > 1 else None
