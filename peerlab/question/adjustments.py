"""Where a user changes one field of a scenario, others change with it: a new cluster may lack the path, a new collective the algorithm."""

from dataclasses import fields
from typing import Any

from peerlab.base.errors import PeerlabError
from peerlab.model.algorithms import ALGORITHMS
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import set_back_with

Changes = dict[str, Any]
"""Fields of a scenario with their new values."""


def fitting(scenario: Scenario, changes: Changes) -> Changes:
    """Return the changes with a path that a new cluster has, and an algorithm, a placement, a protocol, a wiring and a transport that it can have.

    Raises
    ------
    PeerlabError
        If there is no such cluster.
    """
    # what a user changes himself is not set back, even where another of his changes would do so
    fitted = _set_back(scenario, changes) | changes
    if "cluster" in changes:
        machine = load_cluster(changes["cluster"])
        fits = scenario.path in machine.paths
        fitted["path"] = scenario.path if fits else machine.paths[0]
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
        fitted |= _unset(scenario, "transport")
    return fitted


def _possible(scenario: Scenario, changes: Changes, field: str) -> bool:
    """Return whether what was chosen for a field is there after the changes: a library forbids protocols, a path transports."""
    rest = _unset(scenario, field)
    chosen = {name: getattr(scenario, name) for name in rest}
    try:
        scenario.with_(**{**changes, **rest}).with_(**chosen)
    except PeerlabError:
        return False
    return True


def _set_back(scenario: Scenario, changes: Changes) -> Changes:
    """Return the fields that go with those that change, back at their defaults: another transport has packets and switches of its own."""
    usual = {field.name: field.default for field in fields(scenario)}
    return {name: usual[name] for changed in changes for name in set_back_with(changed)}


def _unset(scenario: Scenario, field: str) -> Changes:
    """Return a field at its default, with those that follow it."""
    usual = next(
        scenario_field.default for scenario_field in fields(scenario) if scenario_field.name == field
    )
    return {field: usual} | _set_back(scenario, {field: usual})
