"""NVLink domains that reach beyond a node: which nodes share one, and the cluster as a library meets it, a domain in the place of a node.

NCCL itself does it so: it joins what all servers of a clique see to one topology, and counts the domains as its nodes
(NVIDIA/nccl src/mnnvl.cc and src/graph/topo.cc). A cluster without ``[domain]`` has a domain for each node.
"""

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from peerlab.errors import ScenarioError
from peerlab.model.hardware import Cluster, Figure, internal_value

if TYPE_CHECKING:
    from peerlab.model.scenario import Scenario

NODES, RATE, SHARP, HOP = "domain.nodes", "domain.rate", "domain.sharp", "domain.hop"
"""Keys of the figures of a domain."""
NEEDED = (NODES, RATE)
"""Those that a domain cannot be without."""
_EACH = "per pair of devices, per direction"


def nodes_per_domain(cluster: Cluster, nodes: int) -> int:
    """Return how many of `nodes` share NVLink: they are dealt evenly over as few domains as hold them.

    Raises
    ------
    ScenarioError
        If they cannot be dealt evenly.

    >>> from peerlab.model.presets import load_cluster
    >>> rack = load_cluster("gb200-nvl72")
    >>> [nodes_per_domain(rack, nodes) for nodes in (2, 18, 32, 64)]
    [2, 18, 16, 16]
    """
    most = cluster.domain_nodes or 1
    if most == 1:
        return 1
    least = -(-nodes // most)
    found = next((count for count in range(least, 2 * least) if nodes % count == 0), 0)
    if not found:
        below, above = nodes // least * least, -(-nodes // least) * least
        raise ScenarioError(
            "nodes",
            f"{nodes} nodes cannot be dealt evenly over NVLink domains of at most {most}; give {below} or {above}",
        )
    return nodes // found


def joined(cluster: Cluster, count: int) -> Cluster:
    """Return the cluster whose node is a domain of `count` nodes: all their devices and NICs, and NVLink between all pairs of devices."""
    if count == 1:
        return cluster
    here = f"NVLink domain of {count} nodes"
    sockets = cluster.figures["node.numa_domains"]
    devices = cluster.devices * count
    rate = cluster.figures[RATE]
    figures: dict[str, Figure] = dict(cluster.figures) | {
        "node.numa_domains": replace(sockets, value=sockets.value * count, basis=f"per {here}", origin=here),
        "scaleup.rate": _own(rate, "scaleup.rate", rate.value / (devices - 1), _EACH, here),
    }
    figures.pop("scaleup.sharp", None)
    if sharp := cluster.figures.get(SHARP):
        figures["scaleup.sharp"] = _own(sharp, "scaleup.sharp", sharp.value, sharp.basis, here)
    values: dict[str, Any] = {
        "numa_domains": cluster.numa_domains * count,
        "scaleup_Bps": int(internal_value(figures["scaleup.rate"])),
        "sharp_Bps": cluster.domain_sharp_Bps,
    }
    return replace(cluster, figures=MappingProxyType(figures), **values)


def _own(figure: Figure, key: str, value: float, basis: str, origin: str) -> Figure:
    """Return what a figure of the domain is inside it; its range stays with the figure that it came from."""
    return replace(figure, key=key, value=value, basis=basis, origin=origin, range=None)


def check(scenario: "Scenario") -> None:
    """Refuse what is not simulated inside a domain of several nodes.

    Raises
    ------
    ScenarioError
        With the field, and what is possible.
    """
    if scenario.nodes_per_domain == 1:
        return
    inside = f"{scenario.nodes_per_domain} nodes share an NVLink domain here"
    if scenario.slow_nodes:
        raise ScenarioError(
            "slow_nodes", f"{inside}, and a slow one among them is not simulated; leave it out"
        )
    if scenario.placement is not None:
        raise ScenarioError("placement", f"{inside}, and where a domain hangs is not simulated; leave it out")
    if scenario.collective_record.is_message and scenario.domains == 1:
        most = scenario.given_cluster.domain_nodes
        raise ScenarioError(
            "nodes", f"{inside}, so that a message uses no NIC, which is not simulated; give {2 * most}"
        )
