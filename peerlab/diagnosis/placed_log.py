"""A log beside the cluster that somebody looks at: what it is held against, and the scenario that shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from peerlab.base.units import say_bytes, say_count
from peerlab.diagnosis.diagnosis import Diagnosis, diagnose
from peerlab.diagnosis.misfit import taken_elsewhere
from peerlab.diagnosis.replay import nodes_of
from peerlab.model.collective import COLLECTIVES, collective_of
from peerlab.model.hardware import Cluster
from peerlab.model.paths import path_title
from peerlab.question.adjustments import Changes, fitting
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records import Records
from peerlab.records.load import read_log
from peerlab.records.text import log_of


@dataclass(frozen=True)
class PlacedLog:
    """A log, its diagnosis, and the cluster that it was held against."""

    name: str
    """Of the file, or what its user calls it."""
    records: Records
    """What it says."""
    diagnosis: Diagnosis
    """Which path it is from."""
    shown: Cluster | None = None
    """The cluster that was shown when the log was read."""
    unlike: str = ""
    """What of the log contradicts that cluster; empty: it was compared with it."""

    @property
    def held_against(self) -> Cluster | None:
        """The cluster that was shown, unless the log contradicts it."""
        return None if self.unlike else self.shown

    @property
    def compared(self) -> bool:
        """Whether the log was compared with the cluster that was shown."""
        return self.held_against is not None

    @property
    def cluster(self) -> Cluster | None:
        """The cluster that the log was compared with; else the one that explains the log best, or the only one recognised; None: there is none."""
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


def placed(held: str | bytes, name: str, shown: Cluster | None = None) -> PlacedLog:
    """Read a log and compare it with the cluster that is shown, unless it contradicts it or says where it was taken.

    Raises
    ------
    PeerlabError
        If it is no log, or says nothing about a path.
    """
    # A log that is from elsewhere is diagnosed all the same, but not against the cluster that is shown.
    records = read_log(log_of(held, name))
    unlike = taken_elsewhere(records, shown) if shown else ""
    return PlacedLog(name, records, diagnose(records, None if unlike else shown), shown, unlike)


def as_measured(scenario: Scenario, log: PlacedLog) -> Scenario:
    """Return the scenario of a log: its cluster, nodes, operation, path and largest message; as it was without a cluster."""
    return scenario.with_(**_changes(scenario, log, int(log.diagnosis.seen.sizes[-1])))


def way_to(scenario: Scenario, log: PlacedLog) -> Changes:
    """Return the changes that turn a scenario into that of the log; a message size within the log's sizes stays."""
    sizes = log.diagnosis.seen.sizes
    # the user's own size stays where the log measured on both sides of it
    nearest = min(max(scenario.nbytes, int(sizes[0])), int(sizes[-1]))
    changes = _changes(scenario, log, nearest)
    return {field: value for field, value in changes.items() if getattr(scenario, field) != value}


def _changes(scenario: Scenario, log: PlacedLog, nbytes: int) -> Changes:
    cluster, observed = log.cluster, log.diagnosis.seen
    if cluster is None:
        return {}
    changes: Changes = {"message_bytes": nbytes}
    if cluster != scenario.given_cluster:
        changes["cluster"] = cluster.name
    if observed.collective in COLLECTIVES:
        changes["collective"] = observed.collective
    if log.nodes:
        changes["nodes"] = log.nodes
    path = {"path": log.diagnosis.path} if log.diagnosis.path in cluster.paths else {}
    # after `fitting`, which chooses a path of the cluster without knowing the log's
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
