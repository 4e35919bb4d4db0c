"""The findings in a user's log: its path, the cluster that it was compared with, and the scenario that shows it.

It is loaded when there is a log: most labs are shown without one.
"""

from dataclasses import dataclass, replace
from html import escape

from peerlab.base.errors import PeerlabError
from peerlab.base.units import say_bytes
from peerlab.diagnosis import diagnose
from peerlab.diagnosis.placed_log import PlacedLog, as_measured, placed, say_changes, way_to
from peerlab.features.diagnose.diagnosis_document import path_name
from peerlab.features.diagnose.diagnosis_report import diagnosis_below
from peerlab.features.expect.expect_report import for_page, verdict_beside_list
from peerlab.features.expect.verdicts.judging import judge
from peerlab.features.expect.verdicts.log_verdict import LogVerdict, in_lab
from peerlab.features.expect.verdicts.verdict_rules import BELOW, HEALTHY, HELD_UP, UNKNOWN
from peerlab.features.step.step_report import elsewhere_html, profiled_html
from peerlab.model.hardware import Cluster
from peerlab.question.adjustments import Changes
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records import Records
from peerlab.training.loading import trace_in
from peerlab.training.own_step import on_each_path

_WORST_FIRST = (BELOW, HELD_UP, UNKNOWN, HEALTHY)


@dataclass(frozen=True)
class LogFindings(PlacedLog):
    """The findings in a log."""

    verdicts: tuple[LogVerdict, ...] = ()
    """Whether each run of it is well."""

    def as_measured(self, scenario: Scenario) -> Scenario:
        """Return the log's scenario at its largest message; what it does not say is as in another scenario."""
        return as_measured(scenario, self)

    def way_from(self, scenario: Scenario) -> tuple[Changes, str]:
        """Return the changes that turn a scenario into that of the log, and the same in a few words."""
        changes = way_to(scenario, self)
        return changes, say_changes(changes)

    def in_short(self) -> str:
        """Return whether the log is well, its path, what it was compared with, what Peer Direct would bring, and what the pictures show."""
        diagnosis = self.diagnosis
        path = (
            f"{path_name(diagnosis.path)}, {diagnosis.verdict}" if diagnosis.path else "cannot tell the path"
        )
        return f"{self.name}: {_well(self)}. Path: {path}. {_where(self)} With Peer Direct: {_gain(self)}. The evidence is below the figures."

    def in_full(self) -> tuple[str, str]:
        """Return as HTML the verdict, and what stands below the list of clusters: what it rests on, and the diagnosis.

        What reading the log warned of stands elsewhere.
        """
        verdict, below = verdict_beside_list([verdict.as_dict() for verdict in self.verdicts])
        return verdict, below + diagnosis_below(replace(self.diagnosis, warnings=()), self.name)

    def machines(self) -> tuple[str, ...]:
        """Return the names of known clusters, first those that only the user can tell the log's own from."""
        likely = [name for verdict in self.verdicts for name in verdict.may_be or ()]
        return tuple(dict.fromkeys([*likely, *known_clusters()]))

    @property
    def held(self) -> Cluster | None:
        """The cluster that the verdict was reached with; None where the user has to say which."""
        if any(verdict.may_be is not None for verdict in self.verdicts):
            return None
        names = {verdict.cluster for verdict in self.verdicts if verdict.cluster}
        if self.compared or len(names) != 1:
            return self.cluster
        return load_cluster(names.pop())


def look_at(held: str | bytes, name: str, shown: Cluster | None = None) -> LogFindings:
    """Read a log and compare it with the cluster that is shown, unless it contradicts it or says where it was taken.

    Raises
    ------
    PeerlabError
        If it is no log, or says nothing about a path.
    """
    log = placed(held, name, shown)
    return LogFindings(**vars(log), verdicts=judge(log.records, chosen=shown))


def look_at_trace(held: str | bytes, name: str, shown: Scenario | None) -> tuple[str, str] | None:
    """Return what a profiler's trace says, in short and as HTML with each path of the cluster that is shown; None if it is none.

    Raises
    ------
    PeerlabError
        If it is one, and cannot be read.
    """
    profiled_training = trace_in(held, name)
    if profiled_training is None:
        return None
    training_html = profiled_html(profiled_training)
    if shown is not None:
        try:
            runs = on_each_path(profiled_training, shown)
        except PeerlabError as problem:
            # The trace was read all the same; only its step cannot be simulated there.
            return repr(profiled_training), f"{training_html}<p class='pl-error'>{escape(str(problem))}</p>"
        training_html += elsewhere_html(runs, profiled_training.usual.time_ms) if runs else ""
    return repr(profiled_training), training_html


def start_of(records: Records, otherwise: Scenario) -> Scenario:
    """Return the scenario of some records, or another one where their machine is not recognised."""
    try:
        return as_measured(otherwise, LogFindings("records", records, diagnose(records)))
    except PeerlabError:  # records of this machine, or of several paths, have no scenario
        return otherwise


def _well(log_findings: LogFindings) -> str:
    """Return the verdict on the log: that of its worst run, with what would look like it."""
    verdicts = log_findings.verdicts
    worst = min(verdicts, key=lambda verdict: _WORST_FIRST.index(verdict.verdict), default=None)
    if worst is None or worst.verdict == UNKNOWN:
        ways = in_lab(len(verdicts))
        why = f" ({for_page(worst.why, ways).removesuffix('.')})" if worst else ""
        return f"whether it is well is not known{why}"
    because = f". {worst.because.removesuffix('.')}" if worst.verdict == BELOW and worst.because else ""
    runs = f" (run {verdicts.index(worst) + 1} of {len(verdicts)})" if len(verdicts) > 1 else ""
    return f"{worst.why}{runs}{because}"


def _gain(log_findings: LogFindings) -> str:
    would = log_findings.diagnosis.forecast
    if would.why_not and any(verdict.verdict == BELOW for verdict in log_findings.verdicts):
        return "another path would not mend what is missing"
    where = f" on {load_cluster(would.cluster).title}" if would.without else ""
    return would.why_not or (
        f"{would.ratio[-1]:.2f} times at {say_bytes(int(would.sizes[-1]))}{where}; {would.gain.range_in_words()}"
    )


def _where(log_findings: LogFindings) -> str:
    if log_findings.compared and log_findings.shown:
        return f"It is compared with {log_findings.shown.title}, which is chosen."
    if log_findings.cluster:
        return f"It is compared with {log_findings.cluster.title}, recognised from the log."
    still = (
        f": {log_findings.unlike}. The pictures still show {log_findings.shown.title}"
        if log_findings.shown
        else ""
    )
    return f"It is compared with no cluster{still}."
