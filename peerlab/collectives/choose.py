"""From a scenario to its plan."""

from peerlab.collectives.plan import Plan
from peerlab.collectives.point_to_point import PointToPoint
from peerlab.collectives.ring import Ring
from peerlab.model.scenario import Scenario


def plan(scenario: Scenario) -> Plan:
    """Return the plan of a scenario's collective on its cluster."""
    size = scenario.nbytes
    if scenario.collective == "point-to-point":
        return Plan(nodes=2, devices=1, message_bytes=size, schedule=PointToPoint(size))
    devices = scenario.hardware.devices
    shard = -(-size // devices)
    adds, spreads = scenario.collective != "allgather", scenario.collective != "reduce-scatter"
    ring = Ring(scenario.nodes, shard, adds, spreads)
    return Plan(scenario.nodes, devices, size, ring, adds, spreads)
