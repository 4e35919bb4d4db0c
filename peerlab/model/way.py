"""The way of a byte, hop by hop, as a table: what it crosses, at which end, and how often."""

import pandas as pd

from peerlab.model.path import RESOURCES, STAGES
from peerlab.model.scenario import Scenario

_ENDS = {"source": "sender", "destination": "receiver"}


def way(scenario: Scenario) -> pd.DataFrame:
    """Return what a byte crosses from one node's device to the next node's, in order: one row per stage and resource.

    Columns: ``stage`` (its name), ``what`` (it in words), ``end`` (``sender`` or ``receiver``), ``crosses`` (a
    resource in words) and ``times`` (how often the byte crosses it in this stage).
    """
    rows = [
        (stage.name, STAGES[stage.name], _ENDS[use.side], RESOURCES[use.kind].label, use.touches)
        for stage in scenario.stages
        for use in stage.uses
    ]
    return pd.DataFrame(rows, columns=["stage", "what", "end", "crosses", "times"])
