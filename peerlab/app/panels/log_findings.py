"""The findings in a user's log: its path, the cluster that it was compared with, and the scenario that shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from peerlab.app.adjustments import fitting
from peerlab.base.errors import PeerlabError
from peerlab.base.units import say_bytes, say_count
from peerlab.diagnosis import Diagnosis, diagnose, taken_elsewhere
from peerlab.diagnosis.replay import nodes_of
from peerlab.features.diagnose.diagnosis_report import path_name
from peerlab.features.expect.judging import BELOW, UNKNOWN, LogVerdict, judge
from peerlab.features.step.step_report import elsewhere_html, profiled_html
from peerlab.model.collective import COLLECTIVES, collective_of
from peerlab.model.hardware import Cluster
from peerlab.model.paths import path_title
from peerlab.page.widgets import Changes
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records import Records
from peerlab.records.load import read_log
from peerlab.records.text import log_of
from peerlab.training.loading import trace_in
from peerlab.training.own_step import on_each_path


@dataclass(frozen=True)
class LogFindings:
    """The findings in a log."""

    name: str
    """Of the file, or what its user calls it."""
    records: Records
    """What it says."""
    diagnosis: Diagnosis
    """Which path it is from."""
    shown: Cluster | None = None
    """The cluster that the lab showed when the log was read."""
    unlike: str = ""
    """What of the log contradicts that cluster; empty: it was compared with it."""
    verdicts: tuple[LogVerdict, ...] = ()
    """Whether each run of it is well."""

    @property
    def compared(self) -> bool:
        """Whether the log was compared with the cluster that the lab showed."""
        return self.shown is not None and not self.unlike

    @property
    def cluster(self) -> Cluster | None:
        """The cluster that it was compared with; else the one that explains it best, or the only one recognised; None: none."""
        if self.compared:
            return self.shown
        first = self.diagnosis.ranking[0]
        if self.diagnosis.path and first.fit:
            return first.fit.cluster
        return load_cluster(self.diagnosis.clusters[0]) if len(self.diagnosis.clusters) == 1 else None

    @property
    def nodes(self) -> int | None:
        """How many nodes took part; where the log does not say, as many as its ranks fill on that cluster."""
        return nodes_of(self.diagnosis.seen, self.cluster) if self.cluster else self.diagnosis.seen.nodes


def look_at(held: str | bytes, name: str, shown: Cluster | None = None) -> LogFindings:
    """Read a log and compare it with the cluster that is shown, unless it contradicts it or says where it was taken.

    Raises
    ------
    PeerlabError
        If it is no log, or says nothing about a path.
    """
    records = read_log(log_of(held, name))
    unlike = taken_elsewhere(records, shown) if shown else ""
    own = None if unlike else shown
    return LogFindings(name, records, diagnose(records, own), shown, unlike, judge(records, own))


def look_at_trace(held: str | bytes, name: str, shown: Scenario | None) -> tuple[str, str] | None:
    """Return what a profiler's trace says, in short and as HTML with each path of the cluster that is shown; None if it is none.

    Raises
    ------
    PeerlabError
        If it is one, and cannot be read.
    """
    found = trace_in(held, name)
    if found is None:
        return None
    told = profiled_html(found)
    if shown is not None:
        try:
            runs = on_each_path(found, shown)
        except PeerlabError as problem:
            return repr(found), f"{told}<p class='pl-error'>{escape(str(problem))}</p>"
        told += elsewhere_html(runs, found.usual.time_ms) if runs else ""
    return repr(found), told


def as_measured(scenario: Scenario, found: LogFindings) -> Scenario:
    """Return the scenario of a log: its cluster, nodes, operation, path and largest message; as it was without a cluster."""
    return scenario.with_(**_changes(scenario, found, int(found.diagnosis.seen.sizes[-1])))


def way_to(scenario: Scenario, found: LogFindings) -> Changes:
    """Return the changes that turn a scenario into that of the log; a message size within the log's sizes stays."""
    sizes = found.diagnosis.seen.sizes
    nearest = min(max(scenario.nbytes, int(sizes[0])), int(sizes[-1]))
    changes = _changes(scenario, found, nearest)
    return {field: value for field, value in changes.items() if getattr(scenario, field) != value}


def _changes(scenario: Scenario, log_findings: LogFindings, nbytes: int) -> Changes:
    cluster, seen = log_findings.cluster, log_findings.diagnosis.seen
    if cluster is None:
        return {}
    changes: Changes = {"message_bytes": nbytes}
    if cluster != scenario.hardware:
        changes["cluster"] = cluster.name
    if seen.collective in COLLECTIVES:
        changes["collective"] = seen.collective
    if log_findings.nodes:
        changes["nodes"] = log_findings.nodes
    path = {"path": log_findings.diagnosis.path} if log_findings.diagnosis.path in cluster.paths else {}
    return {**fitting(scenario, changes), **path}


_SAY: dict[str, Callable[[Any], str]] = {
    "cluster": lambda name: load_cluster(name).title,
    "nodes": lambda count: say_count(count, "node"),
    "collective": lambda name: collective_of(name).title,
    "message_bytes": say_bytes,
    "path": path_title,
}


def say_changes(changes: Changes) -> str:
    """Return changes of a scenario in a few words.

    >>> say_changes({"nodes": 2, "message_bytes": 1048576})
    '2 nodes, 1 MiB'
    """
    return ", ".join(say(changes[field]) for field, say in _SAY.items() if field in changes)


def start_of(records: Records, otherwise: Scenario) -> Scenario:
    """Return the scenario of some records, or another one where their machine is not recognised."""
    try:
        return as_measured(otherwise, LogFindings("records", records, diagnose(records)))
    except PeerlabError:  # records of this machine, or of several paths, have no scenario
        return otherwise


def in_short(found: LogFindings) -> str:
    """Return whether the log is well, its path, what it was compared with, what Peer Direct would bring, and what the pictures show."""
    diagnosis = found.diagnosis
    path = f"{path_name(diagnosis.path)}, {diagnosis.verdict}" if diagnosis.path else "cannot tell the path"
    return f"{found.name}: {_well(found)}. Path: {path}. {_where(found)} With Peer Direct: {_gain(found)}. The evidence is below the figures."


def _well(log_findings: LogFindings) -> str:
    """Return the verdict on the log: that of its worst run, with what would look like it."""
    worst = next(
        (verdict for verdict in log_findings.verdicts if verdict.verdict == BELOW),
        log_findings.verdicts[0] if log_findings.verdicts else None,
    )
    if worst is None or worst.verdict == UNKNOWN:
        return f"whether it is well is not known{f' ({worst.why})' if worst else ''}"
    because = f". {worst.because.removesuffix('.')}" if worst.because else ""
    runs = (
        f" ({log_findings.verdicts.index(worst) + 1} of {len(log_findings.verdicts)} runs)"
        if len(log_findings.verdicts) > 1
        else ""
    )
    return f"{worst.why}{runs}{because}"


def _gain(log_findings: LogFindings) -> str:
    would = log_findings.diagnosis.forecast
    if would.why_not and any(verdict.verdict == BELOW for verdict in log_findings.verdicts):
        return "another path would not mend what is missing"
    return would.why_not or (
        f"{would.ratio[-1]:.2f} times at {say_bytes(int(would.sizes[-1]))}; {would.gain.range_in_words()}"
    )


def _where(log_findings: LogFindings) -> str:
    if log_findings.compared and log_findings.shown:
        return f"It is compared with {log_findings.shown.title}, which is chosen above."
    if log_findings.cluster:
        return f"It is compared with {log_findings.cluster.title}, recognised from the log."
    still = (
        f": {log_findings.unlike}. The pictures still show {log_findings.shown.title}"
        if log_findings.shown
        else ""
    )
    return f"It is compared with no cluster{still}."
