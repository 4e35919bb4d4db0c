"""The transport, its packets and the way from NIC to NIC: four of the rarer settings."""

from typing import Any

import ipywidgets as w

from peerlab.app.widgets import Tell, given, offer, select, text_field, whole
from peerlab.model.scenario import Scenario
from peerlab.model.transport_files import load_transport

_NONE = "headers not counted"
_CLUSTERS = "the cluster's"
"""Value of the option for the transport that the cluster's file names, or for none."""
_USUAL = "its usual"
"""Stands in an empty field where no transport says a figure."""


class TransportSettings:
    """Widgets for the transport of a scenario."""

    def __init__(self) -> None:
        self.transport = select(
            "Transport",
            [(_NONE, _CLUSTERS)],
            "pl-transport",
            "What the NICs speak: its headers, switches, cable and message rate count",
        )
        self.mtu = text_field("MTU", _USUAL, "pl-mtu", "Packet size of the transport, such as 4096")
        self.hops = text_field("Hops", _USUAL, "pl-hops", "Switches from NIC to NIC")
        self.metres = text_field("Metres", _USUAL, "pl-metres", "Cable from NIC to NIC")

    @property
    def fields(self) -> list[w.Widget]:
        """The widgets, in their order."""
        return [self.transport, self.mtu, self.hops, self.metres]

    def connect(self, tell: Tell) -> None:
        """Say what each control changes."""
        tell(self.transport, "transport", _chosen)
        tell(self.mtu, "mtu", lambda text: {"mtu": text if given(text) else None})
        tell(self.hops, "hops", lambda text: {"hops": whole(text) if given(text) else None})
        tell(self.metres, "metres", lambda text: {"metres": _metres(text) if given(text) else None})

    def show(self, s: Scenario) -> None:
        """Offer the transports that cluster and path can have; without one there is no packet and no way to set."""
        own = s.given_cluster.transport
        offers = [(f"{_CLUSTERS}: {load_transport(own).title}" if own else _NONE, _CLUSTERS)]
        offers += [(load_transport(name).title, name) for name in s.fitting_transports]
        offer(self.transport, offers, s.transport or _CLUSTERS)
        self.transport.disabled = len(offers) == 1
        used = s.used_transport
        for field, value in ((self.mtu, s.mtu), (self.hops, s.hops), (self.metres, s.metres)):
            field.value = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
            field.disabled = used is None or not used.figures
        machine, adds = s.hardware, bool(used and used.figures)
        self.mtu.placeholder = str(machine.mtu_bytes) if adds and machine.mtu_bytes else _USUAL
        self.hops.placeholder = str(machine.hops) if adds else _USUAL
        self.metres.placeholder = f"{(machine.cable_mm or 0) / 1000:g}" if adds else _USUAL


def _chosen(name: str) -> dict[str, Any]:
    """Return what another transport changes: packets, switches and cable are its own again."""
    return {"transport": None if name == _CLUSTERS else name} | dict.fromkeys(("mtu", "hops", "metres"))


def _metres(text: str) -> float | str:
    """Return a number, or the text for the scenario to refuse in its own words."""
    try:
        return float(text)
    except ValueError:
        return text
