"""What else has to change with what a user changes, so that the lab can show it."""

from peerlab.app.widgets import Changes
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.presets import load_cluster
from peerlab.model.scenario import Scenario


def fitting(scenario: Scenario, changes: Changes) -> Changes:
    """Return the changes with a path that a new cluster has, an algorithm and a placement that it can have, and its own wiring.

    Raises
    ------
    PeerlabError
        If there is no such cluster.
    """
    fitted = dict(changes)
    if "cluster" in changes:
        machine = load_cluster(changes["cluster"])
        fits = scenario.path in machine.paths
        fitted |= {
            "path": scenario.path if fits else machine.paths[0],
            "algorithm": "auto",
            "placement": None,
            "wiring": "auto",
            "acs_redirect": "auto",
        }
    if "collective" in changes and changes["collective"] not in ALGORITHMS[scenario.algorithm].collectives:
        fitted["algorithm"] = "auto"
    return fitted
