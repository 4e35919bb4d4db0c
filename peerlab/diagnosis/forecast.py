"""What Peer Direct would bring: its curve, simulated on the log's cluster, with its uncertainty."""

# The forecast is a simulation of Peer Direct, not a factor. The log's curve is simulated with Peer Direct
# on its cluster, with all assumed figures at the ends of their ranges. The result is widened by how far the
# simulation of the path that the log did take is from the log.

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log

from peerlab.answer.gain import Assumption, GainBand, without_range
from peerlab.base.errors import PeerlabError
from peerlab.base.numbers import np
from peerlab.base.units import say_share
from peerlab.diagnosis.fits import Fit, simulated_band, spread_over
from peerlab.diagnosis.observed import Floats, Observed
from peerlab.diagnosis.replay import scenario, shape
from peerlab.diagnosis.shortfall import Shortfall
from peerlab.engine.simulate import simulate
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE, PEER_DIRECT, data_path

_POINTS = 10
"""Sizes that are simulated, at most."""
_BANDS = 3
"""Sizes whose band is simulated, which takes many simulations; between them its ends are taken as straight in the size's logarithm."""


def _none() -> Floats:
    return np.array([])


@dataclass(frozen=True, kw_only=True, eq=False)
class Forecast:
    """The log's curve with Peer Direct on, at the log's large sizes; empty arrays where there is no forecast."""

    why_not: str = ""
    """Why there is none; empty where there is one."""
    cluster: str = ""
    """The cluster that it was simulated on."""
    without: str = ""
    """The cluster that the log fits, where that is another one, which has no Peer Direct; empty where it is the same."""
    sizes: Floats = field(default_factory=_none)
    """Message sizes, bytes, ascending."""
    measured_GBps: Floats = field(default_factory=_none)  # noqa: N815
    """Algorithm bandwidth of the log, GB/s."""
    GBps: Floats = field(default_factory=_none)
    """Algorithm bandwidth with Peer Direct, GB/s."""
    low_GBps: Floats = field(default_factory=_none)  # noqa: N815
    """The same with all assumed figures at their worse ends, less the model's own error, GB/s."""
    high_GBps: Floats = field(default_factory=_none)  # noqa: N815
    """The same with all assumed figures at their better ends, plus the model's own error, GB/s."""
    spread: float = 1.0
    """The model's own error, as a factor: how far this log is from the simulation of the path it took."""
    fitted_on: str = ""
    """What figures of the cluster were fitted on; elsewhere they extrapolate."""
    left_out: tuple[Assumption, ...] = ()
    """The gain at the largest size with each alternative to an assumption without a range, as no band holds these."""

    @property
    def gain(self) -> GainBand:
        """The gain at the largest size, from where to where it may lie, and what that leaves out."""
        return GainBand(self.low_ratio[-1], self.ratio[-1], self.high_ratio[-1], self.left_out)

    @property
    def ratio(self) -> Floats:
        """With Peer Direct over measured, at each size."""
        return self.GBps / self.measured_GBps

    @property
    def low_ratio(self) -> Floats:
        """The same at the lower end of the uncertainty."""
        return self.low_GBps / self.measured_GBps

    @property
    def high_ratio(self) -> Floats:
        """The same at the upper end of the uncertainty."""
        return self.high_GBps / self.measured_GBps


def forecast(
    seen: Observed,
    path: str | None,
    own: Fit | None,
    clusters: Sequence[Cluster],
    below: Shortfall | None = None,
    odds: float | None = None,
) -> Forecast:
    """Return what Peer Direct would bring to a log that took this `path`.

    `own` is how that path's simulation meets the log, `clusters` those the log may be from, `below` how far it lies below that path,
    `odds` the share of all explanations, 0 to 1, of a path that is only probable; None: the path is clear.
    """
    if reason := _needless(seen, path, below, odds):
        return Forecast(why_not=reason)
    if not clusters:
        return Forecast(
            why_not="no cluster to predict with: name one, or describe yours (peerlab clusters new)"
        )
    first = own.cluster.name if own else clusters[0].name
    # the cluster whose path explains the log first, the others in their order
    ordered = sorted(clusters, key=lambda cluster: cluster.name != first)
    able = [cluster for cluster in ordered if PEER_DIRECT in cluster.paths]
    if not able:
        return Forecast(why_not=f"{ordered[0].name} has no Peer Direct: {ordered[0].lacks[PEER_DIRECT]}")
    if own is None and len(able) > 1:
        names = ", ".join(cluster.name for cluster in able)
        return Forecast(why_not=f"the log may be from several clusters ({names}): name one")
    try:
        return replace(_predict(seen, able[0], own), without="" if ordered[0] is able[0] else ordered[0].name)
    except PeerlabError as problem:
        return Forecast(why_not=f"{able[0].name} cannot be simulated as this log was measured: {problem}")


def _needless(observed: Observed, path: str | None, below: Shortfall | None, odds: float | None) -> str:
    """Return why nothing is to be predicted, or nothing."""
    if path is None:
        return "the path is not known, so nobody can say what another one would bring"
    if path == IN_NODE:
        where = "one node" if (observed.nodes or 1) == 1 else "one NVLink domain"
        return f"{where}: no network, so nothing for Peer Direct to shorten"
    if observed.memory == "host":
        return "the buffers lie in host memory: Peer Direct would change nothing; measure device memory (osu_bw D D)"
    if what := _reaches_memory(path):
        sure = f" at odds of {say_share(odds)}" if odds else ""
        return what + sure + _gains_elsewhere(below, odds)
    return "" if observed.large.any() else "the log has no message of 1 MiB or more"


def _reaches_memory(path: str) -> str:
    """Return what on a path reaches device memory already; empty where bytes are staged."""
    if path == PEER_DIRECT:
        return "it is Peer Direct already"
    if data_path(path).uses_device_memory:
        return "the NIC reads and writes device memory already"
    return "the devices' own ports need no host memory" if data_path(path).uses_own_ports else ""


def _gains_elsewhere(below: Shortfall | None, odds: float | None) -> str:
    if below:
        return f", and yet {below.says}: another path would not mend that"
    return ": if so, there is nothing to gain" if odds else ": nothing to gain"


def _predict(observed: Observed, cluster: Cluster, own: Fit | None) -> Forecast:
    shaped = shape(cluster, observed)
    if shaped is None:
        raise PeerlabError(f"{observed.ranks} ranks do not fill its nodes")
    # Without a path of this cluster beside the log nobody knows the model's error there, and none is claimed.
    spread = own.spread if own else 1.0
    large = np.flatnonzero(observed.large)
    some = large[spread_over(large.size, _POINTS)]
    sizes, measured = observed.sizes[some], observed.algbw_GBps[some]
    scenarios = [scenario(observed, shaped, PEER_DIRECT, int(size)) for size in sizes]
    runs = [simulate(asked) for asked in scenarios if asked is not None]
    if len(runs) < len(scenarios):
        raise PeerlabError("no network")
    value, run = np.array([result.algbw_GBps for result in runs]), runs[-1]
    marked = spread_over(sizes.size, _BANDS)
    ends = [simulated_band(runs[place].scenario) for place in marked]
    places, values = [log(size) for size in sizes], [log(sizes[place]) for place in marked]
    # the ends as shares of the value, which change less with the size than the value does
    low, high = (
        value * np.array([np.interp(place, values, share) for place in places])
        for share in (
            [end.low_GBps / end.value_GBps for end in ends],
            [end.high_GBps / end.value_GBps for end in ends],
        )
    )

    def gain(machine: Cluster) -> float:
        # over what was measured, not over a simulation of it: the log is the same on whatever wiring
        return float(simulate(run.scenario.with_(cluster=machine)).algbw_GBps / measured[-1])

    return Forecast(
        cluster=cluster.name,
        sizes=sizes.astype(float),
        measured_GBps=measured,
        GBps=value,
        low_GBps=low / spread,
        high_GBps=high * spread,
        spread=spread,
        fitted_on=cluster.fitted_on,
        left_out=tuple(without_range([run.scenario], gain, float(value[-1] / measured[-1]))),
    )
