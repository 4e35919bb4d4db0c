"""Simulations of known clusters' paths as the log was measured, and how far each is from it."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from peerlab.answer.known_answers import answer
from peerlab.answer.metrics import algbw_GBps, busbw_GBps, wire_limit_GBps
from peerlab.answer.sensitivity import Band, band
from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.base.numbers import np
from peerlab.base.units import MIB, PS_PER_US, say_count
from peerlab.diagnosis.evidence import Evidence, message_us, named, told_source, waits_for_copies
from peerlab.diagnosis.knowledge import Knowledge
from peerlab.diagnosis.observed import Floats, Observed
from peerlab.diagnosis.replay import nodes_of, scenario, shape
from peerlab.engine.simulate import simulate
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE, PATHS
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records.benchmarks import benchmark

_POINTS, _POINTS_OF_MANY = 5, 3
"""Sizes that are simulated, at most; fewer where more than two clusters were recognised, so that any log is answered in seconds."""
_ENOUGH = 3
"""With fewer sizes a path that fits may do so by chance."""
_LARGEST = 256 * MIB
"""Larger ones are left aside where enough smaller ones are: rates hardly change."""
MOST_SIMULATED = 1024 * MIB
"""Still larger ones are compared with the rate that is simulated here."""
_FULL = 0.75
"""From this share of a NIC's rate on, it counts as used."""
_NAMELESS = ("GPU", "Device")
"""Names of clusters' devices that name none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """One path of one cluster beside the log."""

    path: str
    cluster: Cluster
    """As the log used it: perhaps with fewer devices a node."""
    sizes: Floats
    """Simulated sizes, bytes, ascending."""
    measured_GBps: Floats  # noqa: N815
    """Algorithm bandwidth of the log there, GB/s."""
    simulated_GBps: Floats  # noqa: N815
    """Algorithm bandwidth of the simulation, GB/s."""
    largest: Scenario | None
    """The scenario of the largest size; None inside a node, where nothing is simulated."""
    sent_GBps: float  # noqa: N815
    """What a node of the log sent at most, GB/s."""

    @cached_property
    def high_GBps(self) -> float:  # noqa: N802
        """Simulated at the largest size with all assumed figures at their better ends, GB/s.

        These are many simulations, and only a path that the log beats is asked for them.
        """
        simulated, asked = float(self.simulated_GBps[-1]), self.largest
        if asked is None:
            return simulated
        try:  # how far figures move a rate hardly changes with the size
            ends = simulated_band(asked.with_(message_bytes=min(asked.nbytes, _LARGEST)))
            return simulated * ends.high_GBps / ends.value_GBps
        except (ScenarioError, HardwareError):  # an end that the cluster cannot have
            return simulated

    @property
    def full_nics(self) -> int | None:
        """NICs of a node that would carry everything if nearly full; None where they would not be full, or were all."""
        share = self.sent_GBps / (self.cluster.nic_Bps / 1e9)
        full = math.ceil(share)
        return full if 0 < full < self.cluster.nics and share >= _FULL * full else None

    @property
    def ratio(self) -> float:
        """Measured over simulated bandwidth, the median over the sizes."""
        return float(median(self.measured_GBps / self.simulated_GBps))

    @property
    def largest_ratio(self) -> float:
        """Measured over simulated bandwidth at the largest size, where what a library does before and between slices matters least."""
        return float(self.measured_GBps[-1] / self.simulated_GBps[-1])

    @property
    def spread(self) -> float:
        """How far the log is from the simulation, as a factor of 1 or more: the median over the sizes."""
        return math.exp(median(abs(math.log(ratio)) for ratio in self.measured_GBps / self.simulated_GBps))


def recognised(seen: Observed) -> list[Cluster]:
    """Return the known clusters whose accelerators the log names, or that its tool is made for."""
    clusters = [load_cluster(name) for name in known_clusters()]
    # a tool that runs on Gaudi alone names its accelerators by itself
    if benchmark(seen.tool).gaudi and not seen.devices:
        return [cluster for cluster in clusters if cluster.device_name.startswith("Gaudi")]
    return [
        cluster
        for cluster in clusters
        if cluster.device_name not in _NAMELESS and _named(cluster.device_name, seen.devices)
    ]


def names_another(cluster: Cluster, devices: Sequence[str]) -> bool:
    """Return whether a log names its accelerators, and none is of this cluster."""
    names = named(devices)
    return bool(names) and cluster.device_name not in _NAMELESS and not _named(cluster.device_name, names)


def _named(name: str, devices: Iterable[str]) -> bool:
    # "Gaudi 2" is written "Gaudi2" as well, and is no "Gaudi"
    spelt = re.escape(name.lower()).replace(r"\ ", " ?")
    after = "(?![a-z0-9])" if name[-1].isdigit() else "(?! ?[a-z0-9])"
    words = re.compile(f"(?<![a-z0-9]){spelt}{after}")
    return any(words.search(device.lower()) for device in devices)


def fits(seen: Observed, clusters: Sequence[Cluster]) -> list[Fit]:
    """Return how far each path of each cluster is from the log; paths that cannot be simulated are left out."""
    cluster_fits, points = [], _POINTS if len(clusters) <= 2 else _POINTS_OF_MANY
    for cluster in clusters:
        shaped = shape(cluster, seen)
        for path in (*cluster.paths, IN_NODE):
            fit = shaped and _fit(seen, shaped, path, points)
            if fit:
                cluster_fits.append(fit)
    return cluster_fits


def most_simulated(seen: Observed) -> int:
    """Return from which size on a log is compared with the rate that is simulated there: where no law chooses by the size, rates are flat early."""
    return MOST_SIMULATED if seen.by_nccl_law else _LARGEST


def _fit(observed: Observed, cluster: Cluster, path: str, points: int) -> Fit | None:
    large = np.flatnonzero(observed.large)
    # the largest sizes take longest to simulate and say the same
    if (moderate := large[observed.sizes[large] <= _LARGEST]).size >= _ENOUGH:
        large = moderate
    if not large.size:
        return None
    # simulated where the log measured, not in between: nothing of the log is interpolated
    some = large[spread_over(large.size, points)]
    most = most_simulated(observed)
    try:
        scenarios = [scenario(observed, cluster, path, min(int(size), most)) for size in observed.sizes[some]]
        simulated = [_algbw(asked, cluster) for asked in scenarios]
    except (ScenarioError, HardwareError):
        return None
    if None in simulated:
        return None
    return Fit(
        path=path,
        cluster=cluster,
        sizes=observed.sizes[some].astype(float),
        measured_GBps=observed.algbw_GBps[some],
        simulated_GBps=np.array(simulated, dtype=np.float64),
        largest=scenarios[-1],
        sent_GBps=observed.node_rate(observed.fastest_GBps, nodes_of(observed, cluster) or 1),
    )


def spread_over(count: int, most: int) -> list[int]:
    """Return at most so many places of a list, from its first to its last, as far apart as can be.

    >>> spread_over(10, 4), spread_over(2, 4)
    ([0, 3, 6, 9], [0, 1])
    """
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def _algbw(asked: Scenario | None, cluster: Cluster) -> float | None:
    if asked is None:
        return cluster.scaleup_Bps / 1e9 if cluster.scaleup_Bps else None
    return algbw_GBps(asked, answer(asked, simulate).time_ps)


def ends_GBps(asked: Scenario) -> tuple[float, float]:  # noqa: N802
    """Return the algorithm bandwidth at the worse and at the better ends of all assumed figures, GB/s."""
    ends = simulated_band(asked)
    # the band is one of bus bandwidths; at one size both bandwidths are in proportion
    algbw = algbw_GBps(asked, answer(asked, simulate).time_ps) / ends.value_GBps
    return algbw * ends.low_GBps, algbw * ends.high_GBps


def simulated_band(asked: Scenario) -> Band:
    """Return from where to where the bus bandwidth of a scenario may lie; what was simulated before is not simulated again."""

    def busbw(variant: Scenario) -> float:
        return busbw_GBps(variant, answer(variant, simulate).time_ps)

    return band(asked, busbw, busbw(asked), wire_limit_GBps)


def best(cluster_fits: Sequence[Fit]) -> dict[str, Fit]:
    """Return for each path the fit that is nearest to the log."""
    nearest: dict[str, Fit] = {}
    for fit in cluster_fits:
        # in logarithms: twice as fast is as far off as half as fast
        if fit.path not in nearest or abs(math.log(fit.ratio)) < abs(math.log(nearest[fit.path].ratio)):
            nearest[fit.path] = fit
    return nearest


def from_clusters(cluster_fits: Sequence[Fit], know: Knowledge, *, chosen: bool) -> Iterator[Evidence]:
    """Yield what the simulated paths say; clusters that nobody has chosen may be the wrong ones."""
    for path, fit in best(cluster_fits).items():
        points, sentence = _verdict(
            fit, [other for other in cluster_fits if other.path == path], know, chosen=chosen
        )
        if not chosen and (between := _between(path, cluster_fits, know)):
            points, sentence = 0.0, between
        fitted = f"; its figures were fitted on {fit.cluster.fitted_on}" if fit.cluster.fitted_on else ""
        yield Evidence(
            kind="cluster",
            seen=f"{fit.ratio:.2g} times the bandwidth of {path} on {fit.cluster.name}, simulated at {say_count(len(fit.sizes), 'size')}",
            says=sentence,
            points=dict.fromkeys((path, *_no_faster(path, cluster_fits, points)), points) if points else {},
            known=chosen and not fit.cluster.assumptions,
            source=f"data/hardware/{fit.cluster.name}.toml and the simulation{fitted}",
        )


def _between(path: str, cluster_fits: Sequence[Fit], know: Knowledge) -> str:
    """Return that a log is faster than a path on one recognised cluster and slower than on another, so that NICs between theirs would do; empty where it is not.

    Nearer to either of them than to be explained, it says something of that one.
    """
    near = know.ranges["explains"]
    ordered = sorted((fit for fit in cluster_fits if fit.path == path), key=lambda fit: fit.ratio)
    if len(ordered) < 2 or any(near.low <= fit.ratio <= near.high for fit in ordered):
        return ""
    slower, faster = ordered[0], ordered[-1]
    if not slower.ratio < 1 < faster.ratio:
        return ""
    return f"between this path on {faster.cluster.name} and on {slower.cluster.name}, as NICs between theirs would be"


def _no_faster(path: str, cluster_fits: Sequence[Fit], points: float) -> list[str]:
    """Return the paths for which it is too fast as well that is too fast for `path`: those through host memory that nobody simulated.

    They send over the same NICs, and make the way longer.
    """
    direct = path in PATHS and PATHS[path].uses_device_memory and PATHS[path].is_rdma
    simulated = {fit.path for fit in cluster_fits}
    staged = [
        name
        for name, record in PATHS.items()
        if record.is_rdma and record.is_staged and name not in simulated
    ]
    return (
        staged
        if direct and points < 0 and all(fit.ratio > 1 for fit in cluster_fits if fit.path == path)
        else []
    )


def _verdict(fit: Fit, alike: Sequence[Fit], know: Knowledge, *, chosen: bool) -> tuple[float, str]:
    """Return points for the path of a fit, and why; `alike`: those of its path on every cluster that the log may be from."""
    near, far, weigh = know.ranges["explains"], know.ranges["far_below"], know.strengths
    by_chance = fit.spread > know.ranges["meets"].high
    enough = len(fit.sizes) >= _ENOUGH
    # before all others: where NVLink limits, every path between the nodes would fit alike
    if fit.largest is not None and fit.largest.nodes_per_domain > 1:
        return 0.0, "NVLink inside the domains limits it, so that it says nothing of the path between them"
    if fit.ratio > near.high:
        return _above(fit, alike, know, chosen=chosen, enough=enough)
    if fit.ratio >= near.low:
        strength = "strong" if enough else "weak" if by_chance else "fair"
        also = "" if chosen else _would_do_as_well(fit, know)
        sentence = "this path explains it" + (f"; so may {also}" if also else "")
        return weigh["weak" if also else strength], sentence
    if fit.ratio < far.high:
        return _far_below(fit, know, enough=enough, chosen=chosen)
    return 0.0, "this path would be faster, unless something holds it up"


def _above(
    fit: Fit, alike: Sequence[Fit], know: Knowledge, *, chosen: bool, enough: bool
) -> tuple[float, str]:
    """Return points for a path that the log is faster than, and why."""
    weigh, way = know.strengths, PATHS.get(fit.path)
    # the band's end is asked for here alone, as it takes many simulations; the fastest cluster comes first
    fastest = sorted(alike, key=lambda other: -other.simulated_GBps[-1])
    if any(other.measured_GBps[-1] <= know.ranges["beyond"].high * other.high_GBps for other in fastest):
        return -weigh["weak"], "faster than this path should be; possible if assumed figures are better"
    if way and way.uses_kernel_tcp:  # the cloud's network and the number of streams decide
        return -weigh[
            "weak"
        ], "faster than this path is here; how fast TCP is, no figure of a cluster promises"
    sentence = "faster than this path can be, even with all assumed figures at their better ends"
    return -weigh["decides" if chosen else "fair" if enough else "weak"], sentence


def _other_nics_would_do(fit: Fit, know: Knowledge) -> bool:
    """Return whether other NICs would let another path be as fast: the name of an accelerator says nothing of a machine's NICs.

    Below half of the narrowest usual NIC nothing but TCP, or a path that is held up, is as slow.
    """
    return fit.path in PATHS and fit.sent_GBps > min(know.nics_GBps) / 2


def _quicker_cores_would_do(fit: Fit, know: Knowledge) -> bool:
    """Return whether TCP would be as fast as RDMA through host memory: what cores and streams carry, no name of an accelerator tells."""
    way, near = PATHS.get(fit.path), know.ranges["near"].high
    staged = bool(way and way.is_rdma and way.is_staged)
    return staged and fit.sent_GBps <= know.ranges["tcp_streams"].high and fit.spread > near


def _would_do_as_well(fit: Fit, know: Knowledge) -> str:
    """Return what else would be as fast on a machine of which the log names the accelerators alone; empty where nothing is."""
    if _other_nics_would_do(fit, know):
        return "another one over other NICs than this cluster's"
    return "TCP with quicker cores than this cluster's" if _quicker_cores_would_do(fit, know) else ""


def _far_below(fit: Fit, know: Knowledge, *, enough: bool, chosen: bool) -> tuple[float, str]:
    """Return points for a path that would be much faster than the log, and why."""
    way = PATHS.get(fit.path)
    if way and way.is_rdma and not chosen and _other_nics_would_do(fit, know):
        return 0.0, "this path would be much faster, unless the machine has narrower NICs than this cluster"
    if way and way.uses_kernel_tcp:
        return 0.0, "this path would be much faster; but none is slower: something holds it up"
    if way and way.is_rdma and fit.full_nics:
        some = f"{fit.full_nics} of {say_count(fit.cluster.nics, 'NIC')} of a node"
        return -know.strengths[
            "weak"
        ], f"this path would be much faster, unless only {some} carried everything"
    return -know.strengths["strong" if enough else "weak"], "this path would be much faster"


def from_latencies(seen: Observed, clusters: Sequence[Cluster], know: Knowledge) -> Iterator[Evidence]:
    """Yield whether small messages take far longer than the clusters' own fabric does."""
    rdma = [path for path, record in PATHS.items() if record.is_rdma]
    able = [cluster for cluster in clusters if set(cluster.paths) & set(rdma)]
    took = message_us(seen, know)
    # NCCL's protocols have latencies of their own, and a copy by the driver has one on whatever path
    if not able or took is None or seen.nccl or waits_for_copies(seen):
        return
    # of the clusters that it may be from the slowest: whoever is too slow for that is so for all
    slowest, usual = max(able, key=lambda cluster: cluster.latency_ps), know.ranges["own_latency"]
    times = took[0] * PS_PER_US / slowest.latency_ps
    if times > usual.high:
        yield Evidence(
            kind="latency",
            seen=f"a message of a few bytes takes {times:.2g} times the fabric's latency on {slowest.name}",
            says=f"more than RDMA should ({usual.high:g} times)",
            points=dict.fromkeys(rdma, -know.strengths["strong"]),
            known=True,
            source=f"data/hardware/{slowest.name}.toml: fabric.latency; {told_source(usual)}",
            of_smallest=True,
        )
