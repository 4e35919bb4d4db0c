"""What a run has delivered at any moment, as the columns that a page plays."""

from peerlab.answer.race import Delivery
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import PS_PER_US

_MOST = 2000
"""Moments of a delivery that a page gets: more than a picture has pixels."""


def delivered_columns(delivery: Delivery) -> tuple[bytes, bytes]:
    """Return the moments at which bytes arrive, in microseconds, and which share of all has arrived then, as 32-bit floats."""
    # Each moment once: a short run has fewer than the page has room for.
    kept = np.unique(np.linspace(0, len(delivery.times_ps) - 1, _MOST).astype(int))
    return _packed(delivery.times_ps[kept] / PS_PER_US), _packed(delivery.nbytes[kept] / delivery.total)


def _packed(values: NDArray[np.float64]) -> bytes:
    return values.astype("<f4").tobytes()
