"""From a scenario to its plan."""

from peerlab.collectives.binary_tree import BinaryTree
from peerlab.collectives.halving_doubling import HalvingDoubling, RecursiveDoubling
from peerlab.collectives.pairwise import Pairwise
from peerlab.collectives.plan import Plan, Schedule
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
    rail = _schedule(scenario.algorithm, scenario.nodes, shard, adds, spreads)
    return Plan(scenario.nodes, devices, size, rail, adds, spreads)


def _schedule(algorithm: str, ranks: int, nbytes: int, adds: bool, spreads: bool) -> Schedule:
    """Return what the ranks of one rail do; ``auto`` and ``hierarchical`` are rings."""
    match algorithm:
        case "halving-doubling":
            return HalvingDoubling(ranks, nbytes, adds, spreads)
        case "recursive-doubling":
            return RecursiveDoubling(ranks, nbytes)
        case "binary-tree":
            return BinaryTree(ranks, nbytes)
        case "pairwise":
            return Pairwise(ranks, nbytes, adds, spreads)
        case _:
            return Ring(ranks, nbytes, adds, spreads)
