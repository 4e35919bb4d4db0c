"""What else may be true where a cluster's file assumes something that has no range.

How a node is wired is so or not so: no band between two numbers holds it. So each such assumption has alternatives, whole
clusters that can be simulated instead:

* a NIC with a port of the CPU (root port) of its own: what it moves through host memory no longer shares the uplink with the
  copies. An uplink of twice the rate stands in for that; Peer Direct's way over the CPU is not modelled.
* one PCIe switch per socket: the node keeps its accelerators and NICs, and fewer uplinks carry their traffic.
* any other count that is assumed: half of it, and twice as much.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from peerlab.errors import HardwareError
from peerlab.model.hardware import Cluster, Figure
from peerlab.model.scenario import Scenario
from peerlab.model.used_figures import figures_used

_TOPOLOGY = ("node.numa_domains", "node.switches_per_numa", "node.devices_per_switch", "node.nics_per_switch")
"""Figures that say together how a node is wired: one assumption, whichever of them is marked."""


@dataclass(frozen=True)
class Alternative:
    """A cluster as it would be if one of its assumptions did not hold."""

    says: str
    """What holds instead, after *if*: ``each NIC has a root port of its own``."""
    cluster: Cluster
    """The cluster in which it holds."""
    stand_in: str = ""
    """What is simulated instead, where the model has no words for it."""


def alternatives(*scenarios: Scenario) -> dict[Figure, tuple[Alternative, ...]]:
    """Return what else may be true, by the assumed figure without a range that one of the `scenarios` (of one cluster) meets.

    An assumption that cannot be simulated otherwise has no alternatives.
    """
    met = frozenset[str]().union(*map(figures_used, scenarios))
    return {figure: others for figure, others in _of(scenarios[0].hardware).items() if figure.key in met}


@lru_cache(maxsize=64)
def _of(cluster: Cluster) -> Mapping[Figure, tuple[Alternative, ...]]:
    """Return the alternatives to every assumed figure without a range, in the order of the cluster's file.

    Of several figures that say how a node is wired one stands for all: the NICs' place, which data paths feel most, if it is
    assumed.
    """
    unranged = [one for one in cluster.assumptions if not one.range]
    wiring = [one for one in unranged if one.key in _TOPOLOGY]
    named = [one for one in wiring if one.key == "node.nics_per_switch"] or wiring[:1]
    counted = [one for one in unranged if one not in wiring]
    return MappingProxyType(
        {figure: tuple(_wirings(cluster)) for figure in named}
        | {figure: tuple(_counts(cluster, figure)) for figure in counted}
    )


def _wirings(cluster: Cluster) -> Iterator[Alternative]:
    uplink = cluster.figures.get("switch.uplink")
    if uplink:
        apart = cluster.with_figure("switch.uplink", 2 * uplink.value)
        stand_in = f"simulated with an uplink of {apart.figures['switch.uplink']}, twice the rate"
        yield Alternative("each NIC has a root port of its own", apart, stand_in)
    switches = cluster.switches_per_numa
    if switches > 1:
        joined = cluster.with_figure("node.switches_per_numa", 1)
        for key in ("node.devices_per_switch", "node.nics_per_switch"):
            joined = joined.with_figure(key, switches * cluster.figures[key].value)
        yield Alternative("one PCIe switch joins all that a socket has", joined)


def _counts(cluster: Cluster, figure: Figure) -> Iterator[Alternative]:
    for value in (figure.value / 2, 2 * figure.value):
        with suppress(HardwareError):  # half of one is no count, and a count has an end
            changed = cluster.with_figure(figure.key, value)
            yield Alternative(f"{figure.label} are {changed.figures[figure.key]}", changed)
