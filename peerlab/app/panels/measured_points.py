"""Measured points on the simulated curves: tables that come with peerlab, the user's records or log, this machine."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from peerlab.app.panels.background_measurement import Measuring
from peerlab.app.panels.own_log import OwnLog
from peerlab.features.measure.this_machine import here
from peerlab.page.widgets import Changes
from peerlab.picture.measured import MeasuredPoint, overlay, points
from peerlab.question.scenario import Scenario
from peerlab.records import Records, measured_for

if TYPE_CHECKING:
    from peerlab.app.panels.log_findings import LogFindings


class MeasuredPoints:
    """Puts measured points that fit the scenario on the curves.

    `show` is called with the points, `on_log` with the findings in a user's log, `on_go` with the changes that lead to the
    scenario of the log.

    Attributes
    ----------
    log:
        The panel for a log of one's own.
    measuring:
        The measurement of this machine.
    """

    def __init__(
        self,
        records: Sequence[Records],
        show: Callable[[dict[str, object]], None],
        on_log: "Callable[[LogFindings], None]",
        on_go: Callable[[Changes], None],
    ) -> None:
        self._show, self._on_log = show, on_log
        self._own = [point for record in records for point in points(record, own=True)]
        self._of_log: tuple[MeasuredPoint, ...] = ()
        self._here = here([])
        self._scenario: Scenario | None = None
        self.log = OwnLog(self._log_read, on_go)
        self.measuring = Measuring(self._machine_measured)

    def draw(self, scenario: Scenario) -> None:
        """Show what fits a scenario."""
        self._scenario = scenario
        # What is the user's comes last, and so lies on top.
        known = [*_shipped(scenario.hardware.name), *self._own, *self._of_log]
        self.log.show(scenario)
        self._show({**overlay(scenario, known), "here": self._here})

    def _log_read(self, log_findings: "LogFindings | None") -> None:
        self._of_log = (
            points(
                log_findings.records, log_findings.diagnosis.path or "", own=True, nodes=log_findings.nodes
            )
            if log_findings
            else ()
        )
        self._redraw()
        if log_findings and self._of_log:
            self._on_log(log_findings)

    def _machine_measured(self, parcel: dict[str, object]) -> None:
        self._here = parcel
        self._redraw()

    def _redraw(self) -> None:
        if self._scenario:
            self.draw(self._scenario)


@cache
def _shipped(cluster: str) -> tuple[MeasuredPoint, ...]:
    """Return the measurements of a cluster that come with peerlab."""
    return tuple(point for records in measured_for(cluster).values() for point in points(records))
