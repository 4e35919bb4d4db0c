"""Rates of a fair start: the max-min share of every flow, in whole bytes a second."""

from peerlab.engine.max_min import max_min
from peerlab.engine.ports.port_laws import trunk_of
from peerlab.engine.ports.port_scene import PortScene


def fair_rates(scene: PortScene) -> list[int]:
    """Return the max-min fair rate of each flow on the wire, as if all sent at once."""
    routes = []
    capacities = {number: float(link.rate_Bps) for number, link in enumerate(scene.links)}
    for number, flow in enumerate(scene.flows):
        trunk = trunk_of(scene, number, flow)
        between = scene.between(flow, trunk)
        if trunk < 0:
            # cells that take any trunk have all of them: the first one stands for them
            capacities |= {link: float(scene.trunk_Bps * scene.trunks) for link in between}
        routes.append((flow.src, *between, scene.hosts + flow.dst))
    return [int(rate) for rate in max_min(routes, capacities, {})]
