"""What of a scenario the transport decides: a part of `Scenario`, in a module of its own."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from peerlab.errors import ScenarioError
from peerlab.model.effective_machine import Change, Changes
from peerlab.model.hardware import Cluster
from peerlab.model.paths import data_path, stages
from peerlab.model.transport_files import (
    known_transports,
    load_transport,
    possible_transports,
    with_transport,
)
from peerlab.model.transport_record import TransportRecord, flight, goodput, way
from peerlab.units import say_count

_MOST_METRES = 100_000


class WithTransport:
    """The transport's part of a scenario; fields are those of `Scenario`."""

    path: str | None
    transport: str | None
    mtu: int | str | None
    hops: int | None
    metres: float | None

    if TYPE_CHECKING:

        @property
        def given_cluster(self) -> Cluster:
            """The cluster as it was given."""

        @property
        def hardware(self) -> Cluster:
            """The cluster with all figures."""

        @property
        def uses_nic(self) -> bool:
            """Whether slices go through the NICs."""

    @cached_property
    def used_transport(self) -> TransportRecord | None:
        """The transport that serves the path; None: its headers are not counted, as where nobody names one."""
        name = self.transport or self.given_cluster.transport
        if not name or not self.uses_nic:
            return None
        found = load_transport(name)
        return load_transport(found.instead[str(self.path)]) if self.path in found.instead else found

    @property
    def fitting_transports(self) -> tuple[str, ...]:
        """Names of the transports that cluster and path can have; none where nothing leaves by a NIC."""
        if not self.uses_nic:
            return ()
        path, can = data_path(str(self.path)), possible_transports(self.given_cluster)
        return tuple(name for name in can if load_transport(name).rdma or not path.is_rdma)

    @property
    def goodput(self) -> float:
        """The share of a full packet on the wire that is payload, 0 to 1; 1 without a transport."""
        return goodput(self.hardware)

    @property
    def transport_figures(self) -> tuple[str | None, int | None, float | None]:
        """Name of the transport that was used, its packets in bytes, and its goodput; None where headers are not counted."""
        used = self.used_transport
        return (used.name, self.hardware.mtu_bytes, self.goodput) if used else (None, None, None)

    @property
    def transport_says(self) -> str:
        """What the transport is, in words, such as ``RoCE v2, packets of 1024 bytes, 3 switches, 40 m``; empty without one."""
        used, machine = self.used_transport, self.hardware
        if used is None:
            return ""
        if not used.figures:
            return "an ideal transport, without headers"
        hops, metres = self._asked_way
        parts = (f"packets of {machine.mtu_bytes} bytes", say_count(hops, "switch"), f"{metres:g} m")
        return ", ".join((used.title, *parts))

    def on_transport(self, cluster: Cluster) -> Cluster:
        """Return a cluster with the figures of the transport that serves the path."""
        used = self.used_transport
        if used is None:
            return cluster
        own = used.name == (self.transport or self.given_cluster.transport)
        return with_transport(cluster, used, self.mtu if own else None)  # type: ignore[arg-type]

    def changes_of_way(self) -> Changes:
        """Return what the scenario's switches and cable put in the place of the transport's own."""
        told = {
            "hops": (self.hops, f"hops={self.hops}"),
            "cable_mm": (None if self.metres is None else round(1000 * self.metres), f"metres={self.metres}"),
        }
        return {
            field: (Change(how="is", amount=amount, by="the scenario", why=why),)
            for field, (amount, why) in told.items()
            if amount is not None
        }

    def own_flight(self) -> list[Change]:
        """Return what makes the latency of a hop where the cluster leaves it to the transport: its NICs, its own switches and cable."""
        machine, by = self.hardware, self._by_transport
        made = flight(machine, by)
        return made and made + way(machine, machine.hops or 0, (machine.cable_mm or 0) / 1000, by)

    def asked_flight(self) -> list[Change]:
        """Return the same with the scenario's switches and cable in place of the transport's own, which may be fewer."""
        machine, by = self.hardware, self._by_transport
        made = flight(machine, by) if self.used_transport else []
        return made and made + way(machine, *self._asked_way, by)

    def further_flight(self) -> list[Change]:
        """Return what switches and cable beyond the transport's own add to a latency that holds those already."""
        machine, (hops, metres) = self.hardware, self._asked_way
        if self.used_transport is None:
            return []
        more = max(0, hops - (machine.hops or 0)), max(0.0, metres - (machine.cable_mm or 0) / 1000)
        return way(machine, *more, "the scenario")

    @property
    def _asked_way(self) -> tuple[int, float]:
        """Switches and metres on the way, as the scenario has them, or the transport."""
        machine = self.hardware
        return (
            (machine.hops or 0) if self.hops is None else self.hops,
            (machine.cable_mm or 0) / 1000 if self.metres is None else self.metres,
        )

    @property
    def _by_transport(self) -> str:
        return f"transport {self.used_transport.title}" if self.used_transport else "transport"

    def check_transport(self) -> None:
        """Refuse a transport that the cluster or the path lacks, a packet that it forbids, and a way that is none.

        Raises
        ------
        ScenarioError
            With the field, and what is allowed.
        """
        cluster, name = self.given_cluster, self.transport or self.given_cluster.transport
        _check_metres(self.metres)
        if cluster.leaves_latency and not self.uses_nic:
            self._check_flight(cluster)
        if not name:
            self._check_nameless(cluster)
            return
        found = load_transport(name)
        if name not in possible_transports(cluster):
            has = ", ".join(cluster.transports)
            raise ScenarioError("transport", f"{cluster.name} has no {name!r}; it has: {has}")
        if not self.uses_nic and self.transport:
            raise ScenarioError("transport", f"nothing leaves by a NIC on path {self.path!r}; leave it out")
        path = data_path(str(self.path))
        if path.is_rdma and not found.rdma:
            fits = ", ".join(self.fitting_transports)
            raise ScenarioError(
                "transport", f"{found.title} has no RDMA, and path {self.path!r} needs it; give {fits}"
            )
        if self.mtu is not None:
            found.check_mtu(int(self.mtu))

    def _check_nameless(self, cluster: Cluster) -> None:
        needs = f"needs a transport; name one of {', '.join(cluster.transports or known_transports())}"
        for field, value in (("mtu", self.mtu), ("hops", self.hops), ("metres", self.metres)):
            if value is not None:
                raise ScenarioError(field, f"{value} {needs}")
        if cluster.leaves_latency and self.uses_nic:
            raise ScenarioError(
                "transport", f"{cluster.name} leaves its latency to the transport, so it {needs}"
            )

    def _check_flight(self, cluster: Cluster) -> None:
        """Refuse a path without NICs that needs the latency which the cluster leaves to the transport of its NICs."""
        if any(one.crosses_fabric for one in stages(cluster, str(self.path))):
            why = (
                f"{cluster.name} leaves its latency to the transport of its NICs, and {self.path!r} uses none"
            )
            raise ScenarioError("path", f"{why}; give fabric.latency in its file")


def _check_metres(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _MOST_METRES:
        said = f"{value:.10g}" if isinstance(value, float) else repr(value)
        raise ScenarioError("metres", f"a cable of {said} m is not possible; give 0 to {_MOST_METRES} m")
