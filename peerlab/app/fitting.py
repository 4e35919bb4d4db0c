"""What else has to change with what a user changes, so that the lab can show it."""

from peerlab.app.widgets import Changes
from peerlab.model.placement import name_of, placement
from peerlab.model.presets import load_cluster
from peerlab.model.scenario import Scenario


def fitting(scenario: Scenario, changes: Changes) -> Changes:
    """Return the changes with a path that a new cluster has, an algorithm that it can have, and a placement that fits.

    A ``placement`` may be given by name; one that has a name follows the nodes and the seed.

    Raises
    ------
    PeerlabError
        If there is no such cluster, or the nodes, the seed or the placement are impossible.
    """
    fitted = dict(changes)
    if "cluster" in changes:
        machine = load_cluster(changes["cluster"])
        fits = scenario.path in machine.paths
        fitted |= {
            "path": scenario.path if fits else machine.paths[0],
            "algorithm": "auto",
            "placement": None,
        }
    if changes.get("collective") == "point-to-point":
        fitted["algorithm"] = "auto"
    name = changes.get("placement", name_of(scenario) if {"nodes", "seed"} & changes.keys() else None)
    if isinstance(name, str) and name != "own":
        plain = {key: value for key, value in fitted.items() if key in ("nodes", "seed")}
        fitted["placement"] = placement(name, scenario.with_(**plain, placement=None))
    return fitted
