"""The way of a byte, hop by hop, as a table: what it crosses, at which end, and how often."""

import pandas as pd

from peerlab.model.path import RESOURCES, STAGES
from peerlab.model.scenario import Scenario

_ENDS = {"source": "sender", "destination": "receiver"}
_ALONG = {
    "source": (
        "copy_up",
        "link_up",
        "link_both",
        "uplink_up",
        "dram",
        "core",
        "uplink_down",
        "nic_tx",
        "port_tx",
    ),
    "destination": (
        "nic_rx",
        "port_rx",
        "uplink_up",
        "dram",
        "core",
        "uplink_down",
        "link_both",
        "link_down",
        "copy_down",
    ),
}
"""Resources in the order in which a byte meets them; a stage names them in the order in which it asks for them."""


def way(scenario: Scenario) -> pd.DataFrame:
    """Return what a byte crosses from one node's device to the next node's, in order: one row per stage and resource.

    Columns: ``stage`` (as the legend calls it), ``end`` (``sender`` or ``receiver``), ``crosses`` (a resource, as its lane
    is called) and ``times`` (how often the byte crosses it in this stage).
    """
    rows = [
        (STAGES[stage.name], _ENDS[end], RESOURCES[use.kind].label, use.touches)
        for stage in scenario.stages
        for end, along in _ALONG.items()
        for use in sorted(
            (use for use in stage.uses if use.side == end), key=lambda use: along.index(use.kind)
        )
    ]
    return pd.DataFrame(rows, columns=["stage", "end", "crosses", "times"])
