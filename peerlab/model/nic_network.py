"""What the NICs speak, and the way from one to another, as a question asks for it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from peerlab.base.errors import ScenarioError
from peerlab.base.units import say_count
from peerlab.model.effective_machine import Change, Changes
from peerlab.model.hardware import Cluster
from peerlab.model.paths import data_path, stages
from peerlab.model.transport_files import (
    is_own_file,
    known_transports,
    load_transport,
    possible_transports,
    with_transport,
)
from peerlab.model.transport_record import TransportRecord, flight, goodput, way

_MOST_METRES = 100_000


@dataclass(frozen=True, kw_only=True)
class Network:
    """The network between the NICs of a question. What asks for a `machine` means the cluster with all figures, `Scenario.hardware`."""

    cluster: Cluster
    """The cluster as it was given."""
    path: str
    """The data path."""
    uses_nic: bool
    """Whether its slices go through the NICs."""
    transport: str | None
    """The transport that the question names; None: the cluster's."""
    mtu: int | None
    """Bytes of a packet; None: the transport's usual ones."""
    hops: int | None
    """Switches on the way; None: the transport's."""
    metres: float | None
    """Cable on the way; None: the transport's."""

    @property
    def name(self) -> str | None:
        """The transport that the question names, or the cluster."""
        return self.transport or self.cluster.transport

    @cached_property
    def used(self) -> TransportRecord | None:
        """The transport that serves the path; None: its headers are not counted, as where nobody names one."""
        if not self.name or not self.uses_nic:
            return None
        named = load_transport(self.name)
        return load_transport(named.instead[self.path]) if self.path in named.instead else named

    @property
    def _served_by_another(self) -> bool:
        """Whether another transport than the one that was named serves the path, whose packets are its own."""
        return bool(self.name) and self.path in load_transport(str(self.name)).instead

    @property
    def fitting(self) -> tuple[str, ...]:
        """Names of the transports that cluster and path can have; none where nothing leaves by a NIC."""
        if not self.uses_nic:
            return ()
        path, can = data_path(self.path), possible_transports(self.cluster)
        # only a path that does RDMA asks anything of its transport
        return tuple(name for name in can if load_transport(name).rdma or not path.is_rdma)

    def figures(self, machine: Cluster) -> tuple[str | None, int | None, float | None]:
        """Return name of the transport that is used, its packets in bytes, and its goodput; None where headers are not counted."""
        return (self.used.name, machine.mtu_bytes, goodput(machine)) if self.used else (None, None, None)

    def words(self, machine: Cluster) -> str:
        """Return what the transport is, in words; empty without one."""
        if self.used is None:
            return ""
        if not self.used.figures:
            return "an ideal transport, without headers"
        hops, metres = self._way(machine)
        parts = (f"packets of {machine.mtu_bytes} bytes", say_count(hops, "switch"), f"{metres:g} m")
        return ", ".join((self.used.title, *parts))

    def joined(self, cluster: Cluster) -> Cluster:
        """Return a cluster with the figures of the transport that serves the path."""
        if self.used is None:
            return cluster
        # the packets asked for are those of the transport that was named
        return with_transport(cluster, self.used, None if self._served_by_another else self.mtu)

    # ---- what it does to figures ---------------------------------------------------------------------------------

    def changes(self) -> Changes:
        """Return what the question's switches and cable put in the place of the transport's own."""
        cable = None if self.metres is None else round(1000 * self.metres)
        asks = {
            "hops": (self.hops, f"hops={self.hops}"),
            "cable_mm": (cable, f"metres={self.metres}"),
        }
        return {
            field: (Change(how="is", amount=amount, by="the scenario", why=why),)
            for field, (amount, why) in asks.items()
            if amount is not None
        }

    def own_flight(self, machine: Cluster) -> list[Change]:
        """Return what makes the latency of a hop where the cluster leaves it to the transport: its NICs, its own switches and cable."""
        made = flight(machine, self._by)
        # nothing, where the cluster says its latency itself: that holds its switches already
        return made and made + way(machine, machine.hops or 0, (machine.cable_mm or 0) / 1000, self._by)

    def asked_flight(self, machine: Cluster) -> list[Change]:
        """Return the same with the question's switches and cable in place of the transport's own, which may be fewer."""
        made = flight(machine, self._by) if self.used else []
        return made and made + way(machine, *self._way(machine), self._by)

    def further_flight(self, machine: Cluster) -> list[Change]:
        """Return what switches and cable beyond the transport's own add to a latency that holds those already."""
        if self.used is None:
            return []
        hops, metres = self._way(machine)
        # Never less: of a latency that was measured as a whole nobody knows what its switches took.
        more = max(0, hops - (machine.hops or 0)), max(0.0, metres - (machine.cable_mm or 0) / 1000)
        return way(machine, *more, "the scenario")

    def _way(self, machine: Cluster) -> tuple[int, float]:
        """Return switches and metres on the way, as the question has them, or the transport."""
        return (
            (machine.hops or 0) if self.hops is None else self.hops,
            (machine.cable_mm or 0) / 1000 if self.metres is None else self.metres,
        )

    @property
    def _by(self) -> str:
        return f"transport {self.used.title}" if self.used else "transport"

    # ---- what is refused -----------------------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse a transport that the cluster or the path lacks, a packet that it forbids, and a way that is none.

        Raises
        ------
        ScenarioError
            With the field, and what is allowed.
        """
        cluster = self.cluster
        _check_metres(self.metres)
        if cluster.leaves_latency and not self.uses_nic:
            self._check_flight()
        if not self.name:
            self._check_nameless()
            return
        named = load_transport(self.name)
        # a file of one's own may be meant for any machine
        if not is_own_file(self.name) and self.name not in possible_transports(cluster):
            has = ", ".join(cluster.transports)
            raise ScenarioError("transport", f"{cluster.name} has no {self.name!r}; it has: {has}")
        if not self.uses_nic and self.transport:
            raise ScenarioError("transport", f"nothing leaves by a NIC on path {self.path!r}; leave it out")
        if data_path(self.path).is_rdma and not named.rdma:
            fits = ", ".join(self.fitting)
            raise ScenarioError(
                "transport", f"{named.title} has no RDMA, and path {self.path!r} needs it; give {fits}"
            )
        if self.mtu is not None:
            named.check_mtu(self.mtu)

    def _check_nameless(self) -> None:
        cluster = self.cluster
        needs = f"needs a transport; name one of {', '.join(cluster.transports or known_transports())}"
        for field, value in (("mtu", self.mtu), ("hops", self.hops), ("metres", self.metres)):
            if value is not None:
                raise ScenarioError(field, f"{value} {needs}")
        if cluster.leaves_latency and self.uses_nic:
            raise ScenarioError(
                "transport", f"{cluster.name} leaves its latency to the transport, so it {needs}"
            )

    def _check_flight(self) -> None:
        """Refuse a path without NICs that needs the latency which the cluster leaves to the transport of its NICs."""
        if any(stage.crosses_fabric for stage in stages(self.cluster, self.path)):
            why = f"{self.cluster.name} leaves its latency to the transport of its NICs, and {self.path!r} uses none"
            raise ScenarioError("path", f"{why}; give fabric.latency in its file")


def _check_metres(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _MOST_METRES:
        text = f"{value:.10g}" if isinstance(value, float) else repr(value)
        raise ScenarioError("metres", f"a cable of {text} m is not possible; give 0 to {_MOST_METRES} m")
