"""The transport, its packets and the way from NIC to NIC: four of the rarer settings."""

from collections.abc import Mapping
from typing import Any

import ipywidgets as w

from peerlab.model.transport_files import load_transport
from peerlab.page.widgets import offer
from peerlab.question.scenario import Scenario

_NONE = "headers not counted"
_USUAL = "its usual"
"""Value of the option for the transport that the cluster's file names, or for none."""
_RESTS = "needs a transport"
"""Stands in the first of three fields where no transport says a figure."""
_NOTHING = "\u2013"
"""Stands in the other two."""


class TransportSettings:
    """Widgets for the transport of a scenario."""

    def __init__(self, made: Mapping[str, w.Widget]) -> None:
        self.transport, self.mtu, self.hops, self.metres = (
            made[name] for name in ("transport", "mtu", "hops", "metres")
        )

    def show(self, s: Scenario) -> None:
        """Offer the transports that cluster and path can have; without one there is no packet and no way to set."""
        own = s.given_cluster.transport
        offers = [(f"usual: {load_transport(own).title}" if own else _NONE, _USUAL)]
        offers += [(load_transport(name).title, name) for name in s.fitting_transports]
        offer(self.transport, offers, s.transport or _USUAL)
        self.transport.disabled = len(offers) == 1
        used = s.used_transport
        for field, value in ((self.mtu, s.mtu), (self.hops, s.hops), (self.metres, s.metres)):
            field.value = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        machine, adds = s.hardware, bool(used and used.figures)
        self.mtu.placeholder = str(machine.mtu_bytes) if adds and machine.mtu_bytes else _RESTS
        self.hops.placeholder = str(machine.hops) if adds else _NOTHING
        # Clusters have it in millimetres, which are whole.
        self.metres.placeholder = f"{(machine.cable_mm or 0) / 1000:g}" if adds else _NOTHING


def chosen_transport(name: str) -> dict[str, Any]:
    """Return what another transport changes."""
    return {"transport": None if name == _USUAL else name}
