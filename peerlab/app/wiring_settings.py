"""Where the NICs hang, and ACS redirect: two of the rarer settings."""

from collections.abc import Mapping

import ipywidgets as w

from peerlab.app.field_controls import controls
from peerlab.page.widgets import offer
from peerlab.question.scenario import Scenario

_WIRINGS, _REDIRECTS = (tuple(controls()[name].options()) for name in ("wiring", "acs_redirect"))


class WiringSettings:
    """Widgets for the wiring of a scenario."""

    def __init__(self, made: Mapping[str, w.Widget]) -> None:
        self.place, self.acs = made["wiring"], made["acs_redirect"]

    def show(self, s: Scenario) -> None:
        """Offer where NICs may hang; of a cluster without a PCIe uplink nothing of the kind is known."""
        wiring = s.given_cluster.wiring
        sign = " \u2020" if wiring.assumption else ""
        near = next(name for name, place in _WIRINGS if place == wiring.nic)
        # What the cluster has by itself is `auto` in the list, and stands there once.
        place = "auto" if s.wiring == wiring.nic else s.wiring
        others = [option for option in _WIRINGS if option[1] not in ("auto", wiring.nic)]
        offer(self.place, [(f"{near}{sign}", "auto"), *others], place)
        now = "on" if wiring.acs_redirect else "off"
        redirect = "auto" if s.acs_redirect == now else s.acs_redirect
        kept = [option for option in _REDIRECTS if option[1] not in ("auto", now)]
        # It says for both fields what their sign is: the other one has no room.
        assumed = f", as assumed{sign}" if sign else ""
        offer(self.acs, [(f"{now}{assumed}", "auto"), *kept], redirect)
