"""What a machine cannot pass, whatever its library does: wires, links inside a node, PCIe and host memory, all at the better ends of their ranges."""

from dataclasses import dataclass
from math import inf

from peerlab.answer.sensitivity import end_of
from peerlab.library.rate_bounds import exchange_bound_Bps, path_bound_Bps
from peerlab.model.hardware import FIGURE_KINDS, Cluster
from peerlab.model.paths import sending_kinds
from peerlab.model.resources import capacity_Bps, count_in_node
from peerlab.question.domains import joined
from peerlab.question.scenario import Scenario

_GB = 1e9
_ADDS_UP = "infiniband"
"""The transport whose switches may add up (SHARP)."""


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """The least of what bounds a machine."""

    busbw_GBps: float  # noqa: N815
    """Bus bandwidth, GB/s."""
    says: str
    """Which part it is, with its figures, as a clause."""


def ceiling(scenario: Scenario) -> Ceiling:
    """Return what no run of a scenario passes.

    Bus bandwidth counts more than the wire carries: on two nodes a tree sends each byte of a node once, where busbw counts it nearly twice.

    >>> round(ceiling(Scenario(cluster="p4d", nodes=2, path="peer-direct")).busbw_GBps)
    94
    """
    machine = at_best(scenario.hardware)
    factor = scenario.collective_record.bus_factor(scenario.ranks)
    several = scenario.nodes_per_domain > 1
    inside = "NVLink inside its domain" if several else "the links inside a node"
    if scenario.domains == 1:  # no NIC has work
        return Ceiling(busbw_GBps=_inside_Bps(scenario) * factor / _GB, says=inside)
    sends, adds_up = _sends(scenario)
    wire = _wire_Bps(machine, scenario)
    rates = f"{wire / _GB:.4g} GB/s of wire a {'domain' if several else 'node'}"
    times = f"{factor / sends:.3g}"
    counts = f"of which busbw counts {'each byte once' if times == '1' else f'{times} times'}" + (
        ", if its switches add up" if adds_up else ""
    )
    bounds = [
        (wire / sends, f"{rates}, {counts}"),
        (_inside_Bps(scenario), inside if wire == inf else f"{inside}; {rates}, {counts}, would carry more"),
        (path_bound_Bps(machine, str(scenario.path)) / sends, "PCIe and host memory on the way to the NICs"),
    ]
    most, sentence = min(bounds, key=lambda bound: bound[0])
    return Ceiling(busbw_GBps=most * factor / _GB, says=sentence)


def at_best(cluster: Cluster) -> Cluster:
    """Return a cluster whose assumed rates are at the upper ends of their ranges."""
    for key, figure in cluster.figures.items():
        # Only rates: what a latency costs is gone at the largest size, and a ceiling is never passed.
        if figure.range and FIGURE_KINDS[key] == "rate":
            cluster = cluster.with_figure(*end_of(figure, 1, better=True))
    return joined(cluster, cluster.nodes_joined)


def _sends(scenario: Scenario) -> tuple[float, bool]:
    """Return how often a node sends the message at the least, and whether the network's switches add up for that."""
    record = scenario.collective_record
    least = record.node_factor(scenario.domains, scenario.hardware.devices)
    # Adding up in switches spares the second pass; where a node sends no more than once there is none to
    # spare.
    if record.passes == 2 and least > 1 and _ADDS_UP in scenario.hardware.transports:
        return 1.0, True
    return least, False


def _wire_Bps(machine: Cluster, scenario: Scenario) -> float:  # noqa: N802
    each = [
        capacity_Bps(machine, kind) * count_in_node(machine, kind)
        for kind in sending_kinds(machine, str(scenario.path))
    ]
    return float(min(each, default=inf))


def _inside_Bps(scenario: Scenario) -> float:  # noqa: N802
    """Return the bytes of a message per second that links inside a node let through.

    Where their switch adds up by itself, what it was measured to carry is surer than the range of a link's rate.
    """
    if scenario.collective_record.passes != 2:
        return inf
    own, best = scenario.hardware, at_best(scenario.hardware)
    devices = own.devices
    if best.sharp_Bps and devices > 1:
        return max(exchange_bound_Bps(own), best.sharp_Bps * devices / (devices + 1))
    return exchange_bound_Bps(best)
