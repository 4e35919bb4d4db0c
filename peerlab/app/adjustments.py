"""What else has to change with what a user changes, so that the lab can show it."""

from peerlab.app.widgets import Changes
from peerlab.errors import PeerlabError
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.presets import load_cluster
from peerlab.model.scenario import Scenario

_OF_TRANSPORT = ("transport", "mtu", "hops", "metres")


def fitting(scenario: Scenario, changes: Changes) -> Changes:
    """Return the changes with a path that a new cluster has, and an algorithm, a placement, a protocol, a wiring and a transport that it can have.

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
            **dict.fromkeys(_OF_TRANSPORT),
        }
    if "collective" in changes and changes["collective"] not in ALGORITHMS[scenario.algorithm].collectives:
        fitted["algorithm"] = "auto"
    if (
        "protocol" not in changes
        and scenario.protocol != "auto"
        and not _possible(scenario, fitted, "protocol")
    ):
        fitted["protocol"] = "auto"
    chosen = scenario.algorithm != "auto" and "path" in changes and "algorithm" not in fitted
    if chosen and not _possible(scenario, fitted, "algorithm"):
        fitted["algorithm"] = "auto"
    if "transport" not in fitted and scenario.transport and not _possible(scenario, fitted, "transport"):
        fitted |= dict.fromkeys(_OF_TRANSPORT)
    return fitted


def _possible(scenario: Scenario, changes: Changes, field: str) -> bool:
    """Return whether what was chosen for a field is there after the changes: a library forbids protocols, a path transports."""
    rest = dict.fromkeys(_OF_TRANSPORT) if field == "transport" else {field: "auto"}
    chosen = {name: getattr(scenario, name) for name in rest}
    try:
        scenario.with_(**{**changes, **rest}).with_(**chosen)
    except PeerlabError:
        return False
    return True
