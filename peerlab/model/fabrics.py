"""What joins the nodes of a cluster: which links transfers share, and whether every pair of nodes is alike.

A new fabric is a class here and its place in `FABRICS`; engines, views and checks ask the object that `Scenario.fabric` returns.
"""

# A fabric and a schedule say what they are. `Scenario.fabric` is the network that slices cross: its shared
# links between two hosts, `contended` (slices are flows), `uniform` (all transfers cross the same links, so
# one node may stand for all). A path that uses no NIC has a crossbar. Of a schedule, engines and pages ask
# `symmetric`, `is_ring`, `is_chain` and `neighbours`. So a check such as "may one node stand for all?"
# reads the same for a fabric or an algorithm that is added tomorrow, and no code lists names.

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from peerlab.base.units import say_count
from peerlab.model.hardware import FIGURE_FIELDS, Cluster
from peerlab.model.stages import Stage

NIC = ("nic_tx", "nic_rx")
"""Kinds of resource that a fabric joins: the sending and the receiving end of a NIC."""


@dataclass(frozen=True, slots=True)
class SharedLink:
    """One link between nodes that several transfers may cross at a time."""

    kind: str
    """Key of `RESOURCES`."""
    index: int
    """Which of its kind."""
    capacity_Bps: int  # noqa: N815
    """Bytes per second, for all that cross it together."""


@dataclass(frozen=True)
class Fabric(ABC):
    """The network between the hosts of a cluster. Hosts are counted from 0; a placement says which node runs on which."""

    name: ClassVar[str]
    """Short name, such as ``leaf-spine``."""
    figures: ClassVar[tuple[str, ...]]
    """Keys of the figures that describe it: a cluster whose file has all of them has this fabric."""
    contended: ClassVar[bool] = True
    """Whether transfers of different nodes share links: then a slice is a flow at its max-min fair rate."""
    uniform: ClassVar[bool] = True
    """Whether all transfers cross the same links, whoever sends to whom, so that it does not matter where nodes stand."""

    by_leaf: ClassVar[bool] = False
    """Whether each leaf switch has links of its own, and there are no others: leaves more then take nothing from those that are there."""

    cluster: Cluster
    """The cluster that has it."""

    @classmethod
    def is_in(cls, cluster: Cluster) -> bool:
        """Return whether a cluster has this fabric."""
        # a crossbar has no figures, so every cluster would have it: it is no part of FABRICS
        return all(getattr(cluster, FIGURE_FIELDS[key]) is not None for key in cls.figures)

    @property
    def title(self) -> str:
        """What people read, such as ``leaf switches with 8 nodes each, oversubscribed 2 to 1``."""
        return self.name

    @property
    def hosts_per_leaf(self) -> int:
        """Hosts that stand together below one switch, consecutive ones; 1 where none are nearer to each other than others."""
        return 1

    @abstractmethod
    def links(self, source: int, destination: int) -> tuple[SharedLink, ...]:
        """Return the shared links that a transfer from one host to another crosses, in the order of crossing."""

    @abstractmethod
    def links_at(self, host: int) -> tuple[SharedLink, ...]:
        """Return the shared links at which a host stands, which its picture shows.

        Whatever a transfer crosses stands at its source or at its destination.
        """


@dataclass(frozen=True)
class Crossbar(Fabric):
    """A network that never limits: between two nodes there are their two NICs and a latency."""

    name = "crossbar"
    figures = ()
    contended = False

    def links(self, source: int, destination: int) -> tuple[SharedLink, ...]:  # noqa: ARG002  (between all hosts the same)
        """Return none."""
        return ()

    def links_at(self, host: int) -> tuple[SharedLink, ...]:  # noqa: ARG002  (at all hosts the same)
        """Return none."""
        return ()


@dataclass(frozen=True)
class Backbone(Fabric):
    """One link that everything crosses."""

    name = "backbone"
    figures = ("fabric.backbone",)

    @property
    def title(self) -> str:
        """Its rate."""
        return f"one backbone of {self.cluster.backbone_Bps / 1e9:g} GB/s that all nodes share"

    def links(self, source: int, destination: int) -> tuple[SharedLink, ...]:  # noqa: ARG002  (between all hosts the same)
        """Return the backbone."""
        return (SharedLink("backbone", 0, self.cluster.backbone_Bps),)

    def links_at(self, host: int) -> tuple[SharedLink, ...]:
        """Return the backbone."""
        return self.links(host, host)


@dataclass(frozen=True)
class LeafSpine(Fabric):
    """Leaf switches with some hosts each; what leaves a leaf goes up to the spine and down to another leaf.

    All links of a leaf to the spine together are one link: its hosts' rate divided by the oversubscription.
    """

    name = "leaf-spine"
    figures = ("fabric.hosts_per_leaf", "fabric.oversubscription")
    uniform = False
    by_leaf = True

    @property
    def title(self) -> str:
        """How many nodes a leaf switch has, and how oversubscribed it is."""
        each = say_count(self.hosts_per_leaf, "node")
        return f"leaf switches with {each} each, oversubscribed {self.cluster.oversubscription} to 1"

    @property
    def hosts_per_leaf(self) -> int:
        """As in the cluster's file."""
        return self.cluster.hosts_per_leaf

    def links(self, source: int, destination: int) -> tuple[SharedLink, ...]:
        """Return the way up and the way down; none between hosts below one leaf."""
        if source // self.hosts_per_leaf == destination // self.hosts_per_leaf:
            return ()
        return self._link("leaf_up", source), self._link("leaf_down", destination)

    def links_at(self, host: int) -> tuple[SharedLink, ...]:
        """Return both directions between the host's leaf and the spine."""
        return self._link("leaf_up", host), self._link("leaf_down", host)

    def _link(self, kind: str, host: int) -> SharedLink:
        # one link for all cables of a leaf: how flows are spread over single cables is not modelled
        rate = self.hosts_per_leaf * self.cluster.node_wire_Bps // self.cluster.oversubscription
        return SharedLink(kind, host // self.hosts_per_leaf, rate)


@dataclass(frozen=True)
class Combined(Fabric):
    """Several fabrics one after the other: a cluster file may have the figures of more than one."""

    name = "combined"
    parts: tuple[Fabric, ...]
    """The fabrics that a transfer crosses, in this order."""

    @property
    def figures(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of all of them."""
        return tuple(chain.from_iterable(part.figures for part in self.parts))

    @property
    def uniform(self) -> bool:  # type: ignore[override]
        """Whether all of them are."""
        return all(part.uniform for part in self.parts)

    @property
    def title(self) -> str:
        """All of their titles."""
        return " and ".join(part.title for part in self.parts)

    @property
    def hosts_per_leaf(self) -> int:
        """The most of all of them."""
        return max(part.hosts_per_leaf for part in self.parts)

    def links(self, source: int, destination: int) -> tuple[SharedLink, ...]:
        """Return those of every part."""
        return tuple(chain.from_iterable(part.links(source, destination) for part in self.parts))

    def links_at(self, host: int) -> tuple[SharedLink, ...]:
        """Return those of every part."""
        return tuple(chain.from_iterable(part.links_at(host) for part in self.parts))


FABRICS: tuple[type[Fabric], ...] = (Backbone, LeafSpine)
"""Every fabric that limits, in the order in which a transfer crosses them; a cluster that has none of them is a crossbar."""


def fabric_of(cluster: Cluster, stages: Iterable[Stage]) -> Fabric:
    """Return the fabric that slices cross which go through these stages: a crossbar, if they go past the NICs."""
    # Devices' own ports have wires of their own, on which a limit of the hosts' network would be wrong.
    crosses = any(use.kind in NIC for stage in stages for use in stage.uses)
    parts = tuple(law(cluster) for law in FABRICS if crosses and law.is_in(cluster))
    if len(parts) > 1:
        return Combined(cluster, parts)
    return parts[0] if parts else Crossbar(cluster)
