"""Judges a log of a machine: each of its runs beside what the machine should reach, and the faults that would look like it."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from peerlab.base.errors import PeerlabError
from peerlab.base.units import say_bytes, say_count
from peerlab.diagnosis.fits import recognised
from peerlab.diagnosis.hops import older_nccl
from peerlab.diagnosis.misfit import contradicts
from peerlab.diagnosis.observed import Observed, observe
from peerlab.diagnosis.replay import nodes_of, scenario, shape
from peerlab.features.expect.expectation import expectation, usual_path
from peerlab.features.expect.verdicts.causes import (
    THE_CAUSE,
    JudgedSize,
    possible_causes,
    unseen_faults,
)
from peerlab.features.expect.verdicts.judged_sizes import columns_of_log, judged_sizes
from peerlab.features.expect.verdicts.log_verdict import LogVerdict, LogVerdicts
from peerlab.features.expect.verdicts.verdict_rules import (
    BELOW,
    HEALTHY,
    HELD_UP,
    UNKNOWN,
    RuledVerdict,
    ruled,
)
from peerlab.model.hardware import Cluster
from peerlab.question.floors import FloorFactor, floor_factor
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records import Records, checked_records
from peerlab.records.conditions_measured import grouped

_DRAFT = "peerlab clusters draft my.toml --from topo.xml"
_JUDGED = {BELOW: "below its floor", HELD_UP: "held up", UNKNOWN: "undecided"}
"""Verdicts in the words of a sentence, where those are others."""
_NETS = {
    "verbs": re.compile(r"NET/IB\b|Using network IB"),
    # From the first "NET/OFI" of a line: trying each of them takes a time that grows with their number squared.
    "efa": re.compile(r"NET/AWS Libfabric|(?m:^)(?>.*?NET/OFI).*efa|Using network AWS Libfabric"),
}


def judge(
    records: Records, cluster: str | Path | Cluster | None = None, *, chosen: Cluster | None = None
) -> LogVerdicts:
    """Return whether each run of some records is well, in their order.

    Parameters
    ----------
    cluster:
        Where they are from: a known name, a cluster file, or a `Cluster`; None: recognised from what the log names.
    chosen:
        Of a page, the cluster that it shows: where they are from unless the log says otherwise.

    Raises
    ------
    RecordsError
        If there is nothing to go by.
    HardwareError
        If there is no such cluster.
    """
    named = None if cluster is None else cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    runs = [records.some(places) for places in _runs(checked_records(records, "log"))]
    return LogVerdicts(
        _with_wrong_results(_verdict_of(run, *_named(run, named, chosen)), run) for run in runs or [records]
    )


def _named(records: Records, named: Cluster | None, chosen: Cluster | None) -> tuple[Cluster | None, str]:
    """Return the cluster of a run that is named, and why it is not that which is shown, as a sentence."""
    # The user's word first, then the log's own, and only then what its accelerators make likely; peerlab's own logs name their cluster.
    if named:
        return named, ""
    taken = records.manifest.get("cluster")
    if taken in known_clusters() and (chosen is None or chosen.name in known_clusters()):
        return load_cluster(taken), ""
    why = contradicts(observe(records), chosen) if chosen else ""
    if chosen and why:
        return None, f"It is not from {chosen.title}, which is shown: {why}."
    return chosen, ""


def _with_wrong_results(verdict: LogVerdict, run: Records) -> LogVerdict:
    """Return a verdict that also says at which sizes the results are wrong: no bandwidth makes such a run well."""
    sizes = {row["size_bytes"] for row in run.rows}
    wrong = sorted({row["size_bytes"] for row in run.rows if row["correct"] is False})
    if not wrong:
        return verdict
    where = say_bytes(wrong[0]) if len(wrong) == 1 else f"{len(wrong)} of {say_count(len(sizes), 'size')}"
    says = f"its results are wrong at {where} (#wrong)"
    if verdict.verdict in (HEALTHY, HELD_UP):
        return replace(
            verdict, verdict=UNKNOWN, why=f"{says}; by its times alone it would be {verdict.why}", unseen=()
        )
    return replace(verdict, why=f"{verdict.why}; {says}")


def _runs(records: Records) -> Iterator[list[int]]:
    """Yield the places of each run: of one test, its ranks and nodes; where half of the sizes come again, that is another run."""
    run = ("source", "collective", "dtype", "op", "ranks", "nodes")
    sized = [{**row, "place": place} for place, row in enumerate(records.rows) if row["size_bytes"]]
    for rows in grouped(sized, run).values():
        # The n-th time of each size and column belongs to the n-th run.
        again: dict[int, list[int]] = {}
        for each in grouped(rows, ("variant", "size_bytes")).values():
            for time, row in enumerate(each):
                again.setdefault(time, []).append(row["place"])
        counts = [len(places) for places in again.values()]
        # A size that is repeated now and then is no second run: half of the sizes have to come again.
        apart = min(counts) * 2 >= max(counts)
        yield from map(sorted, again.values() if apart else [[row["place"] for row in rows]])


def _verdict_of(records: Records, named: Cluster | None, aside: str) -> LogVerdict:
    observed, taken = _with_ranks(observe(records), named)
    columns = columns_of_log(records, observed)
    bare = tuple(
        JudgedSize(size=size, measured=max(both), expected=None, disturbed=False)
        for size, both in columns.items()
    )

    def unknown(why: str, may_be: Iterable[Cluster] | None = None) -> LogVerdict:
        return LogVerdict(
            may_be=None if may_be is None else tuple(cluster.name for cluster in may_be),
            verdict=UNKNOWN,
            why=why,
            rows=bare,
            causes=(),
            log=observed.says + taken,
            cluster=named.name if named else None,
        )

    if why := _unheld(observed):
        return unknown(why)
    if named and (why := contradicts(observed, named)):
        return unknown(f"the log cannot be from {named.name}: {why}")
    able = [named] if named else _alike(observed)
    comparisons = [held for machine in able if (held := _against(observed, columns, machine))]
    if not comparisons:
        fit = None if named else _fitting(observed)
        return unknown(_not_held(observed, named) if named else _no_cluster(observed, aside, fit or ()), fit)
    # Machines that give one verdict are as good as one; where they differ, only the user knows.
    if len({held.rule.verdict for held in comparisons}) > 1:
        each = "; ".join(
            f"{_JUDGED.get(held.rule.verdict, held.rule.verdict)} as {held.cluster.name}"
            for held in comparisons
        )
        several = [held.cluster for held in comparisons]
        return unknown(f"it may be from several machines: {each}; name its own with --cluster", several)
    verdict = _explained(min(comparisons, key=lambda held: held.distance), observed, taken)
    if named is None and verdict.verdict == BELOW and not any(cause.said for cause in verdict.causes):
        # accelerators alone do not say which NICs a machine has
        return unknown(
            f"as {verdict.cluster} it would be {verdict.why}; only its accelerators were recognised: name the machine with --cluster",
            [held.cluster for held in comparisons],
        )
    return verdict


def _with_ranks(observed: Observed, named: Cluster | None) -> tuple[Observed, str]:
    """Return what a log says, and that its ranks are taken as all devices of its nodes, where it does not say how many took part."""
    if named is None or observed.ranks or not observed.nodes:
        return observed, ""
    full = replace(observed, ranks=observed.nodes * named.devices)
    return full, "; it does not say how many ranks: all devices of its nodes"


def _not_held(observed: Observed, named: Cluster) -> str:
    """Return why a log is held against nothing though its machine is named."""
    if nodes_of(observed, named) is None:
        return "the log does not say how many nodes took part: give their number with --nodes"
    return f"such a run of {named.name} is not simulated"


def _alike(observed: Observed) -> list[Cluster]:
    """Return the known clusters that a log may be from."""
    return [
        cluster
        for cluster in recognised(observed)
        if not contradicts(observed, cluster) and _same_net(observed, cluster)
    ]


def _fitting(observed: Observed) -> list[Cluster]:
    """Return the known clusters that nothing in a log contradicts."""
    return [
        cluster
        for cluster in map(load_cluster, known_clusters())
        # A machine on which the run would stay inside one node has no floor to hold it against.
        if floor_of(cluster) and not contradicts(observed, cluster) and (nodes_of(observed, cluster) or 1) > 1
    ]


def _no_cluster(observed: Observed, aside: str, fit: Sequence[Cluster]) -> str:
    """Return what is needed of a log whose machine nothing in it names, or names none that is known.

    `aside` says why the one that is shown is not it, `fit` are those that nothing contradicts.
    """
    if observed.devices and not fit:
        return f"the log names {observed.devices[0]}, and no known machine has it in such a run: describe yours (`{_DRAFT}`)"
    which = f", such as {', '.join(cluster.name for cluster in fit)}" if fit else ""
    named = (
        f"nothing in the log names its machine: name it with --cluster{which}; or describe it with `{_DRAFT}`"
    )
    return f"{named}. {aside}" if aside else named


def floor_of(cluster: Cluster) -> FloorFactor | None:
    """Return the factor of a floor of a cluster's usual path; None where it has none, or no two of its nodes exchange anything."""
    try:
        return floor_factor(Scenario(cluster=cluster, nodes=2, path=usual_path(cluster)))
    except PeerlabError:
        return None


def _unheld(observed: Observed) -> str:
    """Return why a log is held against nothing."""
    if old := older_nccl(observed):
        return f"NCCL {old} is older than those whose law is known"
    if not observed.by_nccl_law:
        return f"what {observed.collective} of {observed.tool or 'this tool'} should reach is not known: no law of it was held against logs"
    if observed.nodes == 1:
        return "one node: no law inside a node was held against logs"
    return "the buffers lie in host memory" if observed.memory == "host" else ""


def _same_net(observed: Observed, cluster: Cluster) -> bool:
    """Return whether what the log says of its network suits a cluster that was only recognised."""
    sentence = " ".join(observed.said)
    nets = [name for name, words in _NETS.items() if words.search(sentence)]
    return not nets or any(str(cluster.library).endswith(name) for name in nets)


@dataclass(frozen=True)
class _Held:
    """A log held against a machine: how it compares, before anybody asks why."""

    cluster: Cluster
    asked: Scenario
    rows: tuple[JudgedSize, ...]
    rule: RuledVerdict
    notes: tuple[str, ...]

    @property
    def distance(self) -> float:
        """How far the log is from what the machine should reach: the mean of logarithms."""
        logs = [abs(math.log(row.measured / row.expected.expected)) for row in self.rows if row.expected]
        return sum(logs) / len(logs)


def _against(observed: Observed, columns: dict[int, list[float]], machine: Cluster) -> _Held | None:
    shaped = shape(machine, observed)
    if shaped is None or (nodes_of(observed, machine) or 1) < 2:
        return None
    try:
        asked = scenario(observed, shaped, usual_path(shaped), max(columns))
        if asked is None:
            return None
        should = expectation(asked, columns, anyway=True)
    except PeerlabError:
        return None
    rows = judged_sizes(columns, should)
    return _Held(machine, asked, rows, ruled(rows, sure=should.factor is not None), tuple(should.notes))


def _explained(held: _Held, observed: Observed, taken: str) -> LogVerdict:
    """Return the verdict with the faults that would look like the log."""
    asked, rows, rule = held.asked, held.rows, held.rule
    causes, ruled_out = possible_causes(asked, rows, rule.short, observed) if rule.short else ((), ())
    if rule.verdict in (HELD_UP, HEALTHY):
        # other work on the machine looks like a fault by chance, as does a run that is only low: what explains it is said
        causes, ruled_out = tuple(cause for cause in causes if cause.explains >= THE_CAUSE), ()
    unseen = tuple(unseen_faults(asked, rows[-1], observed)) if rule.verdict == HEALTHY else ()
    return LogVerdict(
        unseen=unseen, verdict=rule.verdict, why=rule.why, rows=rows, causes=causes, falls_short=len(rule.short), ruled_out=ruled_out, log=observed.says + taken,
        cluster=held.cluster.name, notes=held.notes, between_nodes=asked.domains > 1, nic_GBps=_carried_GBps(asked, rows[-1].measured),
    )  # fmt: skip


def _carried_GBps(asked: Scenario, busbw: float) -> float | None:  # noqa: N802
    """Return what a NIC carries at a bus bandwidth: a ring sends nearly twice the message of a node, a tree of two nodes once."""
    if asked.choice is None or not asked.hardware.nics:
        return None
    return busbw / asked.collective_record.bus_factor(asked.ranks) * asked.choice.load / asked.hardware.nics
