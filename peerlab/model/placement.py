"""Which node stands where: the usual placements on a leaf-spine fabric, by name."""

import random
from typing import Any

from peerlab.model.scenario import Scenario

PLACEMENTS = ("contiguous", "strided", "shuffled")

Placement = tuple[int, ...] | None


def placement(name: str, scenario: Scenario, nodes: int | None = None) -> Placement:
    """Return the placement called `name` for the nodes of `scenario` (or for `nodes`): node to host position.

    ``contiguous``: neighbours in the ring fill one leaf switch after the other (None, the default); ``strided``: dealt
    out over the leaves in turn, so that every neighbour is below another leaf; ``shuffled``: by the scenario's seed.
    """
    count = nodes or scenario.nodes
    match name:
        case "strided":
            below = scenario.hardware.hosts_per_leaf or 1
            return tuple(sorted(range(count), key=lambda host: (host % below, host // below)))
        case "shuffled":
            order = list(range(count))
            random.Random(scenario.seed).shuffle(order)  # noqa: S311  (an experiment to repeat, not a secret)
            return tuple(order)
    return None


def name_of(scenario: Scenario) -> str:
    """Return which of `PLACEMENTS` a scenario has, or ``own``."""
    given = scenario.placement
    if given is None or given == tuple(range(scenario.nodes)):
        return "contiguous"
    return next((name for name in PLACEMENTS if given == placement(name, scenario)), "own")


def along(scenario: Scenario, axis: str, value: int) -> dict[str, Any]:
    """Return the changes that bring `scenario` to a value of `axis`; a placement by name follows the nodes."""
    changes: dict[str, Any] = {axis: value}
    if axis == "nodes" and name_of(scenario) != "own" and scenario.placement is not None:
        changes["placement"] = placement(name_of(scenario), scenario, value)
    return changes
