"""NVLink domains that reach beyond a node: which nodes share one, and the cluster as a library meets it, a domain in the place of a node.

NCCL itself does it so: it joins what all servers of a clique see to one topology, and counts the domains as its nodes
(NVIDIA/nccl src/mnnvl.cc and src/graph/topo.cc). A cluster without ``[domain]`` has a domain for each node.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from peerlab.base.errors import ScenarioError
from peerlab.model.collective import collective_of
from peerlab.model.disturbance import Slow
from peerlab.model.hardware import Cluster, Figure, internal_value
from peerlab.question.presets import load_cluster
from peerlab.question.settings import Settings

NODES, RATE, SHARP, HOP = "domain.nodes", "domain.rate", "domain.sharp", "domain.hop"
"""Keys of the figures of a domain."""
_EACH = "per pair of devices, per direction"


def nodes_per_domain(cluster: Cluster, nodes: int) -> int:
    """Return how many of `nodes` share NVLink: they are dealt evenly over as few domains as hold them.

    Raises
    ------
    ScenarioError
        If they cannot be dealt evenly.

    >>> from peerlab.question.presets import load_cluster
    >>> rack = load_cluster("gb200-nvl72")
    >>> [nodes_per_domain(rack, nodes) for nodes in (2, 18, 32, 64)]
    [2, 18, 16, 16]
    """
    most = cluster.domain_nodes or 1
    if most == 1:
        return 1
    least = -(-nodes // most)
    # Twice as many domains as are needed would leave half of each empty, which nobody means.
    number = next((count for count in range(least, 2 * least) if nodes % count == 0), 0)
    if not number:
        below, above = nodes // least * least, -(-nodes // least) * least
        raise ScenarioError(
            "nodes",
            f"{nodes} nodes cannot be dealt evenly over NVLink domains of at most {most}; give {below} or {above}",
        )
    return nodes // number


def joined(cluster: Cluster, count: int) -> Cluster:
    """Return the cluster whose node is a domain of `count` nodes: all their devices and NICs, and NVLink between all pairs of devices.

    A cluster that was joined before is joined anew, so that a question about the machine of another question finds what its file says.
    """
    if count == cluster.nodes_joined == 1:
        return cluster
    here = f"NVLink domain of {count} nodes"
    # Sockets are multiplied, and with them all that hangs below them: switches, accelerators and NICs.
    sockets = cluster.numa_domains // cluster.nodes_joined * count
    devices = cluster.devices // cluster.nodes_joined * count
    rate, written = cluster.figures[RATE], cluster.figures["node.numa_domains"]
    # The figure is a device's rate to all others; the model has a link for each pair.
    each = round(internal_value(rate) / (devices - 1))
    figures: dict[str, Figure] = dict(cluster.figures) | {
        "node.numa_domains": replace(written, value=sockets, basis=f"per {here}", origin=here),
        "scaleup.rate": _own(rate, "scaleup.rate", each / 10**9, "GB/s", _EACH, here),
    }
    # inside one node a switch may add up that the domain has not
    figures.pop("scaleup.sharp", None)
    if sharp := cluster.figures.get(SHARP):
        figures["scaleup.sharp"] = _own(sharp, "scaleup.sharp", sharp.value, sharp.unit, sharp.basis, here)
    values: dict[str, Any] = {
        "nodes_joined": count,
        "numa_domains": sockets,
        "scaleup_Bps": each,
        "sharp_Bps": cluster.domain_sharp_Bps,
    }
    return replace(cluster, figures=MappingProxyType(figures), **values)


def _own(figure: Figure, key: str, value: float, unit: str, basis: str, origin: str) -> Figure:
    """Return what a figure of the domain is inside it; its range stays with the figure that it came from."""
    return replace(figure, key=key, value=value, unit=unit, basis=basis, origin=origin, range=None)


def slow_domains(slow: Mapping[int, float] | None, each: int) -> Slow | None:
    """Return what share of its rate each domain of `each` nodes has that holds a slow node: all of it waits for the slowest.

    >>> slow_domains({1: 0.5, 16: 0.9, 17: 0.8}, 16)
    {0: 0.5, 1: 0.8}
    """
    entries: dict[int, float] = {}
    for node, share in (slow or {}).items():
        # consecutive nodes share a domain
        entries[node // each] = min(share, entries.get(node // each, 1.0))
    return Slow(entries) if entries else None


@dataclass(frozen=True, kw_only=True)
class DomainSettings(Settings):
    """A question's settings, with which of its nodes NVLink joins."""

    @cached_property
    def given_cluster(self) -> Cluster:
        """The cluster as it was given."""
        return self.cluster if isinstance(self.cluster, Cluster) else load_cluster(self.cluster)

    @cached_property
    def nodes_per_domain(self) -> int:
        """Nodes whose devices NVLink joins; 1 where it ends at the node, and for a message, which goes from one domain to another."""
        is_message = collective_of(self.collective).is_message
        return 1 if is_message else nodes_per_domain(self.given_cluster, self.nodes)

    @property
    def domains(self) -> int:
        """Groups of nodes that NVLink joins, as many as nodes where it ends at the node: between them the NICs carry what is sent."""
        return self.nodes // self.nodes_per_domain

    @cached_property
    def slow_domains(self) -> Slow | None:
        """The slow nodes, as domains: where NVLink joins several nodes, all of them wait for the slowest."""
        return slow_domains(self.slow_nodes, self.nodes_per_domain)

    def check_domains(self) -> None:
        """Refuse nodes that cannot be dealt over domains, and a placement where there are some.

        Raises
        ------
        ScenarioError
            With the field, and what is possible.
        """
        if self.nodes_per_domain > 1 and self.placement is not None:
            raise ScenarioError(
                "placement",
                f"{self.nodes_per_domain} nodes share an NVLink domain here, and where a domain hangs is not simulated; leave it out",
            )
