"""What is wrong with the cluster file that a learner of lab 06 wrote: it cannot be read, or does not say what the data sheet says."""

from math import isclose
from pathlib import Path
from typing import Any

from peerlab.features.exercises.labs import review
from peerlab.model.hardware import Cluster
from peerlab.question.completeness import check
from peerlab.question.presets import load_cluster

_ROUNDED = 0.01
"""How far a figure may be rounded: 28 GB/s are 28.2; what PCIe carries before its headers is further off."""


def check_file(answer: Any) -> str | None:
    """Return what is wrong with a learner's cluster file."""
    if not isinstance(answer, str | Path) or Path(answer).suffix != ".toml":
        return "Answer with the name of your file, as `mine` holds it."
    report = check(answer)
    # Before anything else: of a file that cannot be used no figure can be judged.
    if report.missing or report.wrong:
        return (
            f"peerlab cannot use it yet: {[*report.wrong, *(missing.key for missing in report.missing)][0]}."
        )
    cluster = load_cluster(answer)
    # What was never put in comes before what is odd: a draft's own figures are plausible.
    if untouched := [sentence for key in review.SHEET if (sentence := _untouched(cluster, key))]:
        return untouched[0]
    if report.implausible:
        return f"It can be read, but: {report.implausible[0]}."
    return next((sentence for key in review.SHEET if (sentence := _check_figure(cluster, key))), None)


def _untouched(cluster: Cluster, key: str) -> str | None:
    """Return which figure was not put in at all."""
    mine, before = cluster.figures[key], review.drafted().figures[key]
    if (mine.value, mine.unit) != (before.value, before.unit):
        return None
    return f"`{key}` is still that of the draft: {before.value:g} {before.unit}."


def _check_figure(cluster: Cluster, key: str) -> str | None:
    """Return what is wrong with a figure that the data sheet gives."""
    mine = cluster.figures[key]
    if not isclose(_meant(cluster, key), _meant(review.filled_in(), key), rel_tol=_ROUNDED):
        return f"`{key}` = {mine.value:g} {mine.unit} is not what the data sheet says; mind the unit, and what it is of: {mine.basis}."
    return f"`{key}` has no source yet; where was it read?" if mine.assumption else None


# By what the simulation uses, so that 25 GB/s and 200 Gbit/s are the same.
def _meant(cluster: Cluster, key: str) -> int:
    return {"nic.rate": cluster.nic_Bps, "switch.uplink": cluster.uplink_Bps}[key]
