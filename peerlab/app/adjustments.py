"""What else has to change with what a user changes, so that the lab can show it."""

from peerlab.app.widgets import Changes
from peerlab.errors import PeerlabError
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.presets import load_cluster
from peerlab.model.scenario import Scenario


def fitting(scenario: Scenario, changes: Changes) -> Changes:
    """Return the changes with a path that a new cluster has, and an algorithm, a placement, a protocol and a wiring that it can have.

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
            "library": None,
            "library_version": None,
            "protocol": "auto",
        }
    if "collective" in changes and changes["collective"] not in ALGORITHMS[scenario.algorithm].collectives:
        fitted["algorithm"] = "auto"
    if "protocol" not in changes and scenario.protocol != "auto" and not _has_protocol(scenario, fitted):
        fitted["protocol"] = "auto"
    return fitted


def _has_protocol(scenario: Scenario, changes: Changes) -> bool:
    """Return whether the protocol that was chosen is there after the changes: a library forbids some on some paths."""
    free = {**changes, "protocol": "auto"}
    try:
        scenario.with_(**free).with_(protocol=scenario.protocol)
    except PeerlabError:
        return False
    return True
