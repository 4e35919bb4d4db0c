"""A log in the tab: its path, evidence and verdict as in the notebook. It is read where it was pasted, and leaves the machine never."""

from base64 import b64decode
from collections.abc import Mapping
from functools import cache
from typing import Any

from peerlab.base.feature import registered
from peerlab.diagnosis.placed_log import PlacedLog, placed, say_changes, way_to
from peerlab.picture.measured import MeasuredPoint, overlay, points
from peerlab.question.scenario import Scenario
from peerlab.records import measured_for


class LogInTab:
    """The log that somebody gave, if any, and what was measured of the cluster that is shown."""

    def __init__(self) -> None:
        self._log: PlacedLog | None = None
        self._points: tuple[MeasuredPoint, ...] = ()

    def read(self, asked: Mapping[str, Any], shown: Scenario) -> Mapping[str, object]:
        """Return what a log says, as HTML, and the changes that lead to its scenario.

        `asked` has its ``name``, and its ``text`` or, of a file, ``base64``.

        Raises
        ------
        PeerlabError
            If it is no log, or says nothing about a path.
        """
        # A chosen file comes as bytes, whatever it was written in; what was pasted is text.
        held = b64decode(asked["base64"]) if "base64" in asked else asked["text"]
        log = self._log = placed(held, asked["name"], shown.given_cluster)
        self._points = points(log.records, log.diagnosis.path or "", own=True, nodes=log.nodes)
        verdicts = registered("offers", "verdicts on a log")(log.records, chosen=shown.given_cluster)
        html = registered("offers", "HTML of verdicts")([verdict.as_dict() for verdict in verdicts])
        html += registered("offers", "HTML of a diagnosis")(log.diagnosis, log.name)
        changes = way_to(shown, log)
        return {"html": html, "changes": changes, "leads": say_changes(changes), "says": _held_against(log)}

    def remove(self) -> None:
        """Forget the log."""
        self._log, self._points = None, ()

    def measured(self, shown: Scenario) -> Mapping[str, object]:
        """Return the measured points that fit the curves of what is shown."""
        return overlay(shown, [*_shipped(shown.hardware.name), *self._points])


def _held_against(log: PlacedLog) -> str:
    """Return which cluster the log was compared with, and what to do where that is none."""
    if log.held_against:
        return f"Compared with {log.held_against.title}, which is chosen above."
    if log.cluster:
        return f"Compared with {log.cluster.title}, recognised from the log."
    return f"Compared with no cluster: {log.unlike}. Choose the log's own above, then press again."


@cache
def _shipped(cluster: str) -> tuple[MeasuredPoint, ...]:
    """Return the measurements of a cluster that come with peerlab."""
    return tuple(point for records in measured_for(cluster).values() for point in points(records))
