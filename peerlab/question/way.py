"""The way of a byte, hop by hop, as a table: what it crosses, at which end, and how often."""

from peerlab.base.data_frames import pd
from peerlab.model.resources import resource_kind
from peerlab.model.stages import stage_kind
from peerlab.question.scenario import Scenario, checked_scenario

_ENDS = {"source": "sender", "destination": "receiver"}


def way(scenario: Scenario) -> pd.DataFrame:
    """Return what a byte crosses from one node's device to the next node's, in order: one row per stage and resource.

    Columns: ``stage`` (as the legend calls it), ``end`` (``sender`` or ``receiver``), ``crosses`` (a resource, as its lane
    is called) and ``times`` (how often the byte crosses it in this stage).

    Raises
    ------
    ScenarioError
        If it is no scenario.

    >>> way(Scenario(path="peer-direct"))["crosses"].tolist()
    ['device PCIe out', 'NIC send', 'NIC receive', 'device PCIe in']
    """
    return pd.DataFrame(crossed(scenario), columns=["stage", "end", "crosses", "times"])


def crossed(scenario: Scenario) -> list[tuple[str, str, str, int]]:
    """Return the rows of `way`: stage, end, what the byte crosses there, and how often."""
    says = checked_scenario(scenario).hardware.says
    return [
        (says(stage_kind(stage.name).says), _ENDS[use.side], says(resource_kind(use.kind).label), use.touches)
        for stage in scenario.stages
        for use in stage.uses
    ]
