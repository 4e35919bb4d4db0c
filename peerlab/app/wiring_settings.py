"""Where the NICs hang, and ACS redirect: two of the rarer settings."""

import ipywidgets as w

from peerlab.app.widgets import Tell, offer, select
from peerlab.model.scenario import Scenario

_WIRINGS = (
    ("as the cluster says", "auto"),
    ("below one switch", "switch"),
    ("below one CPU", "root-port"),
    ("across sockets", "other-socket"),
    ("below one switch per socket", "socket-switch"),
)
_REDIRECTS = (("as the cluster says", "auto"), ("off", "off"), ("on", "on"))


class WiringSettings:
    """Widgets for the wiring of a scenario."""

    def __init__(self) -> None:
        self.place = select(
            "GPU and NIC are",
            _WIRINGS,
            "pl-wiring",
            "Where each NIC hangs, seen from the accelerators that it serves",
        )
        self.acs = select(
            "ACS redirect",
            _REDIRECTS,
            "pl-acs",
            "Whether switches send what goes from card to card up to the CPU first",
        )

    @property
    def fields(self) -> list[w.Widget]:
        """The widgets, in their order."""
        return [self.place, self.acs]

    def connect(self, tell: Tell) -> None:
        """Say what each control changes."""
        tell(self.place, "wiring", lambda place: {"wiring": place})
        tell(self.acs, "acs_redirect", lambda way: {"acs_redirect": way})

    def show(self, s: Scenario) -> None:
        """Offer where NICs may hang; of a cluster without a PCIe uplink nothing of the kind is known."""
        known = s.given_cluster.wiring
        there = "switch.uplink" in s.given_cluster.figures and s.is_wired
        assumed = ", as assumed \u2020" if known.assumption else ""
        near = next(name for name, place in _WIRINGS if place == known.nic)
        place = "auto" if s.wiring == known.nic else s.wiring
        others = [one for one in _WIRINGS if one[1] not in ("auto", known.nic)]
        offer(self.place, [(f"{near}{assumed}", "auto"), *others], place)
        now = "on" if known.acs_redirect else "off"
        redirect = "auto" if s.acs_redirect == now else s.acs_redirect
        kept = [one for one in _REDIRECTS if one[1] not in ("auto", now)]
        offer(self.acs, [(f"{now}{assumed}", "auto"), *kept], redirect)
        self.place.disabled = self.acs.disabled = not there
