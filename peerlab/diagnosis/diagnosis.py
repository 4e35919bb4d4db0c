"""Tells which data path a log is from: adds up the evidence, lists each piece, and says so where it does not suffice."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peerlab.base.display import shown
from peerlab.base.errors import RecordsError
from peerlab.base.units import say_share
from peerlab.diagnosis.candidates import candidates
from peerlab.diagnosis.evidence import (
    Evidence,
    from_latency,
    from_lines,
    names_nothing,
)
from peerlab.diagnosis.fits import Fit, best, fits, from_clusters, from_latencies, recognised
from peerlab.diagnosis.forecast import Forecast, forecast
from peerlab.diagnosis.hops import from_hops
from peerlab.diagnosis.knowledge import Knowledge, NextMeasurement, knowledge
from peerlab.diagnosis.misfit import contradicts
from peerlab.diagnosis.observed import Observed, fullest, observe, say_runs
from peerlab.diagnosis.pathology import pathology, trusted
from peerlab.diagnosis.rates import from_rates
from peerlab.diagnosis.remarks import notes
from peerlab.diagnosis.setup import from_setup
from peerlab.diagnosis.shortfall import Shortfall, shortfall
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.records import Records, checked_records

CANNOT_TELL = "cannot tell"
CLEAR = "clear"
"""The surest verdict."""
BELOW_BAND = "below its band"
"""What `data/diagnosis.toml` calls a run that is slower than its own path."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """One path, and how well it explains the log."""

    path: str
    """Key of `explanations`."""
    points: float
    """Sum over the evidence."""
    odds: float
    """Its share of all explanations, 0 to 1, if the weights are right, which are judgement."""
    fit: Fit | None
    """Its simulated curve beside the log's, if a known cluster has this path."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What a log tells about the path it took."""

    path: str | None
    """The path that explains it best; None: cannot tell."""
    verdict: str
    """``clear``, ``probable`` or ``cannot tell``."""
    why: str
    """One sentence."""
    ranking: tuple[Explanation, ...]
    """All paths that were weighed, the best first."""
    evidence: tuple[Evidence, ...]
    """What was seen and what it says, the weightiest first."""
    notes: tuple[str, ...]
    """What else should be known to read this log: sentences."""
    warnings: tuple[str, ...]
    """What was left out of the log when it was read, what in it is doubtful, and what was inferred: sentences."""
    decides: NextMeasurement | None
    """Where the path is not clear: the one fact that would settle it, and the command for it."""
    checks: tuple[NextMeasurement, ...]
    """What to measure next."""
    forecast: Forecast
    """What Peer Direct would bring."""
    shortfall: Shortfall | None
    """How far the run lies below the band of the path that it took; None where it does not."""
    clusters: tuple[str, ...]
    """Clusters whose simulations were compared with the log."""
    chosen: bool
    """Whether these were named by the user, or by the records; else they were recognised."""
    seen: Observed
    """The curve of the log, with the lines and settings around it."""

    _repr_html_ = shown

    def __repr__(self) -> str:
        text = self.verdict if self.path is None else f"{self.path}, {self.verdict}"
        return f"Diagnosis({text}: {self.why})"

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain values that JSON can hold, units in the names."""
        return {
            "log": self.seen.says,
            "path": self.path,
            "verdict": self.verdict,
            "why": self.why,
            "ranking": [
                {"path": way.path, "points": way.points, "odds": way.odds, "simulated": _plain_fit(way.fit)}
                for way in self.ranking
            ],
            "evidence": [{**vars(evidence), "points": dict(evidence.points)} for evidence in self.evidence],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "decides": vars(self.decides) if self.decides else None,
            "checks": [vars(check) for check in self.checks],
            "forecast": _plain_forecast(self.forecast),
            "shortfall": {**vars(self.shortfall), "says": self.shortfall.says} if self.shortfall else None,
            "clusters": list(self.clusters),
            "cluster_chosen": self.chosen,
        }


def diagnose(records: Records, cluster: str | Path | Cluster | None = None) -> Diagnosis:
    r"""Return which data path explains some records best, with the evidence, and what Peer Direct would bring.

    Parameters
    ----------
    cluster:
        Where the log is from: a known name, a cluster file, or a `Cluster`. One that the log contradicts is not held against it.
        None: as the records' manifest says, or recognised from the accelerators that the log names, or general limits only.

    Of several runs in one log (`Records.runs`) it is about that of most nodes; the notes say so.

    Raises
    ------
    RecordsError
        If there is nothing to go by, or the records say themselves which path they took.
    HardwareError
        If there is no such cluster.

    >>> from peerlab import load
    >>> diagnose(load("# OSU MPI Allreduce Latency Test v7.0\n# Size       Avg Latency(us)\n1048576            512.25\n")).path is None
    True
    """
    records, several = _one_run(records)
    observed, know = observe(records), knowledge()
    _check_open(observed)
    named = _named(cluster, records)
    unlike = contradicts(observed, named) if named else ""
    # A cluster that the log contradicts counts as none: then the names of accelerators decide, as without it.
    chosen = named is not None and not unlike
    clusters = [named] if named and chosen else recognised(observed)
    cluster_fits, held_up = fits(observed, clusters), pathology(observed, know)
    gathered = (
        *from_lines(observed, know), *from_setup(observed, know, clusters), *from_latency(observed, know), *from_hops(observed, know), *from_rates(observed, know),
        *from_clusters(cluster_fits, know, chosen=chosen), *from_latencies(observed, clusters, know),
    )  # fmt: skip
    # Which paths are weighed follows from all evidence, also from what is not trusted: a line or a rate that
    # names a path puts it into the ranking, and nothing more.
    paths = candidates(observed, clusters, gathered, chosen=chosen, nameless=names_nothing(observed, know))
    kept = [piece for piece in gathered if not held_up or trusted(piece)]
    evidence = sorted(kept, key=lambda piece: -_weight(piece, paths))
    ranking = _ranking(paths, evidence, best(cluster_fits))
    verdict, why = _verdict(ranking, evidence, know, sizes=len(observed.sizes))
    why += f"; {held_up}, so its figures were not weighed" if held_up else ""
    path = None if verdict == CANNOT_TELL else ranking[0].path
    own = next((explanation.fit for explanation in ranking if explanation.path == path), None)
    below, decides = shortfall(observed, own), _decides(know, observed, ranking, verdict, path)
    odds = None if verdict == CLEAR else ranking[0].odds
    return Diagnosis(
        path=path,
        verdict=verdict,
        why=why,
        ranking=ranking,
        evidence=tuple(evidence),
        notes=(*filter(None, [several]), *_left_aside(named, unlike), *notes(observed, path, own)),
        warnings=tuple(records.warnings),
        decides=decides,
        checks=_checks(know, path, verdict, observed.tool, below),
        forecast=forecast(observed, path, own, clusters, below, odds),
        shortfall=below,
        clusters=tuple(machine.name for machine in clusters),
        chosen=chosen,
        seen=observed,
    )


def _decides(
    know: Knowledge, observed: Observed, ranking: Sequence[Explanation], verdict: str, path: str | None
) -> NextMeasurement | None:
    """Return the fact that would settle which path it is; None where it is clear. Links inside a node, even if only probable, are no matter of a NIC."""
    if verdict == CLEAR or path == IN_NODE:
        return None
    return know.decides(_tied(ranking, know), observed.tool, observed.command)


def _one_run(records: Records) -> tuple[Records, str]:
    """Return the run of a log that is diagnosed, and what is said of the others; nothing where there are none."""
    runs = checked_records(records).runs
    if len(runs) < 2:
        return records, ""
    note = f"{say_runs(runs)}. This is about that of most nodes; the others: peerlab.load(FILE).runs."
    return fullest(runs), note


def _checks(
    know: Knowledge, path: str | None, verdict: str, tool: str, below: Shortfall | None
) -> tuple[NextMeasurement, ...]:
    """Return what to measure next: what holds up a run that is slower than its own path comes first."""
    held_up = know.checks_for(BELOW_BAND, tool) if below else ()
    return (*held_up, *know.checks_for(path or CANNOT_TELL, tool, clear=verdict == CLEAR))


def _check_open(observed: Observed) -> None:
    if observed.path:
        raise RecordsError(
            f"these records say themselves which path they took: {observed.path}; there is nothing to find out. A notebook shows "
            "them side by side: peerlab.load(FILE)"
        )


def _named(cluster: str | Path | Cluster | None, records: Records) -> Cluster | None:
    """Return the cluster that was named, by the user or else by the records; None where none was."""
    if cluster is None and records.manifest.get("cluster") in known_clusters():
        cluster = str(records.manifest["cluster"])
    return load_cluster(cluster) if isinstance(cluster, (str, Path)) else cluster


def _left_aside(named: Cluster | None, unlike: str) -> tuple[str, ...]:
    """Return what says that the cluster that was named is not the log's."""
    return (f"Not held against {named.name}: {unlike}.",) if named and unlike else ()


def _weight(evidence: Evidence, paths: Sequence[str]) -> float:
    return max((abs(points) for path, points in evidence.points.items() if path in paths), default=0.0)


def _far(fit: Fit | None) -> float:
    return abs(math.log(fit.ratio)) if fit and fit.ratio > 0 else math.inf


def _ranking(
    paths: Sequence[str], evidence: Sequence[Evidence], nearest: dict[str, Fit]
) -> tuple[Explanation, ...]:
    # Points are logarithms of likelihoods: their sums multiply them. No path is likelier beforehand.
    points = {path: sum(piece.points.get(path, 0.0) for piece in evidence) for path in paths}
    total = sum(math.exp(value) for value in points.values())
    # of equals the one first whose simulation is nearer to the log; then as in `explanations`
    ordered = sorted(paths, key=lambda path: (-round(points[path], 9), _far(nearest.get(path))))
    return tuple(
        Explanation(
            path=path, points=points[path], odds=math.exp(points[path]) / total, fit=nearest.get(path)
        )
        for path in ordered
    )


def _verdict(
    ranking: Sequence[Explanation], evidence: Sequence[Evidence], know: Knowledge, *, sizes: int
) -> tuple[str, str]:
    """Return the verdict, and why in one sentence."""
    # What forbids a verdict is asked before who leads: a path that leads far is still no answer then.
    other = next((piece for piece in evidence if piece.elsewhere), None)
    if other:
        return CANNOT_TELL, f"{other.seen} says {other.says}"
    first = ranking[0]
    if sentence := _contradiction(first.path, evidence, know):
        return CANNOT_TELL, sentence
    speaks = {piece.kind for piece in evidence if piece.points.get(first.path, 0) > 0}
    if speaks == {"cluster"} and first.fit:  # a curve of which one size was large enough to be simulated
        sizes = len(first.fit.sizes)
    if sizes == 1 and "line" not in speaks and first.odds < know.ranges["odds_of_one_size"].low:
        enough = say_share(know.ranges["odds_of_one_size"].low)
        return (
            CANNOT_TELL,
            f"one size alone names no path at odds below {enough}: {first.path} has {say_share(first.odds)}",
        )
    if len(ranking) == 1:
        return CLEAR, f"{first.path} is the only path that the cluster has"
    second = ranking[1]
    lead = first.points - second.points
    # the surest verdict first
    for verdict, least in know.leads.items():
        if lead >= least:
            # the weights are judgement, so larger odds would promise digits that nobody has
            times = f"{math.exp(lead):.0f} times" if lead < math.log(1000) else "more than 1000 times"
            return (
                verdict,
                f"{first.path} explains the log {times} better than the second best, {second.path}",
            )
    tied = _tied(ranking, know)
    return CANNOT_TELL, f"nothing in the log separates {', '.join(tied[:-1])} and {tied[-1]} well enough"


def _tied(ranking: Sequence[Explanation], know: Knowledge) -> list[str]:
    """Return the paths that are not worse enough than the best, two at the least."""
    first = ranking[0]
    tied = [other.path for other in ranking if first.points - other.points < know.leads["probable"]]
    return tied if len(tied) > 1 else [explanation.path for explanation in ranking[:2]]


def _contradiction(first: str, evidence: Sequence[Evidence], know: Knowledge) -> str:
    """Return what contradicts the path that leads, or nothing."""
    # a little less, so that no rounding of logarithms decides
    strong, decides = know.strengths["strong"] * 0.99, know.strengths["decides"] * 0.99
    for piece in evidence:
        against = piece.points.get(first, 0.0) <= -strong
        other = next(
            (path for path, points in piece.points.items() if path != first and points >= decides), None
        )
        if against or other:
            instead = f"speaks for {other}" if other else "speaks against it"
            return (
                f"the evidence contradicts itself: {first} leads, but {piece.seen} {instead} ({piece.says})"
            )
    return ""


def _plain(values: Iterable[float]) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _plain_fit(fit: Fit | None) -> dict[str, Any] | None:
    if fit is None:
        return None
    return {
        "cluster": fit.cluster.name,
        "message_bytes": _plain(fit.sizes),
        "measured_GBps": _plain(fit.measured_GBps),
        "simulated_GBps": _plain(fit.simulated_GBps),
        "measured_over_simulated": fit.ratio,
    }


def _plain_forecast(prediction: Forecast) -> dict[str, Any]:
    if prediction.why_not:
        return {"why_not": prediction.why_not}
    return {
        "cluster": prediction.cluster,
        "fitted_on": prediction.fitted_on,
        "model_error_factor": prediction.spread,
        "message_bytes": _plain(prediction.sizes),
        "measured_GBps": _plain(prediction.measured_GBps),
        "peer_direct_GBps": _plain(prediction.GBps),
        "low_GBps": _plain(prediction.low_GBps),
        "high_GBps": _plain(prediction.high_GBps),
        "ratio": _plain(prediction.ratio),
        "gain_in_words": prediction.gain.range_in_words(),
    }
