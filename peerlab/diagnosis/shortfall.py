"""A run whose path is clear, and which is still slower than its own path: what is missing is said, and never that all is well."""

from dataclasses import dataclass

from peerlab.base.errors import PeerlabError
from peerlab.base.units import say_bytes, say_share
from peerlab.diagnosis.fits import Fit, ends_GBps, most_simulated
from peerlab.diagnosis.observed import Observed
from peerlab.diagnosis.replay import scenario
from peerlab.engine.simulate import simulate
from peerlab.model.paths import PATHS


@dataclass(frozen=True, kw_only=True)
class Shortfall:
    """How far a run lies below its own path's band, at the largest size of the log; algorithm bandwidths in GB/s."""

    path: str
    """Key of `PATHS`."""
    cluster: str
    """The cluster whose simulation it is."""
    message_bytes: int
    measured_GBps: float  # noqa: N815
    low_GBps: float  # noqa: N815
    """With all assumed figures at their worse ends."""
    expected_GBps: float  # noqa: N815
    """With all figures as they stand."""
    high_GBps: float  # noqa: N815
    """With all assumed figures at their better ends."""

    @property
    def says(self) -> str:
        """The shortfall as a sentence without its end."""
        return (
            f"at {say_bytes(self.message_bytes)} it carries {self.measured_GBps:.3g} GB/s of the message, "
            f"{say_share(1 - self.measured_GBps / self.expected_GBps)} less than {self.path} on {self.cluster} should "
            f"({self.expected_GBps:.3g} GB/s, band {self.low_GBps:.3g} to {self.high_GBps:.3g})"
        )


def shortfall(seen: Observed, own: Fit | None) -> Shortfall | None:
    """Return how far the log lies below the band of the path that it took; None where it does not, or nothing is simulated.

    It is held against the log's largest message, where the law of a library is surest. Inside one node no law says what is reached.
    """
    # also of links inside a node, which are no data path
    if own is None or own.path not in PATHS:
        return None
    size, measured = int(seen.sizes[-1]), float(seen.algbw_GBps[-1])
    try:
        asked = scenario(seen, own.cluster, own.path, min(size, most_simulated(seen)))
        if asked is None:
            return None
        expected = simulate(asked).algbw_GBps
        # before its band, which takes many simulations
        if measured >= expected:
            return None
        low, high = ends_GBps(asked)
    except PeerlabError:
        return None
    # within its band a run is as expected, whatever else might be wrong with it
    if measured >= low:
        return None
    return Shortfall(
        path=own.path,
        cluster=own.cluster.name,
        message_bytes=size,
        measured_GBps=measured,
        low_GBps=low,
        expected_GBps=expected,
        high_GBps=high,
    )
