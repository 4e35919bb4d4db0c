"""What the model says, as records, so that it can lie beside what was measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from peerlab.base.version import __version__
from peerlab.records.columns import COLUMNS
from peerlab.records.schema import Records

_FIGURES = {
    "message_bytes": "size_bytes",
    "registration_hits": "hits",
    "registration_misses": "misses",
    "registration_evictions": "evictions",
    "registration_time_s": "registration_s",
}
"""Figures of a run that records call otherwise."""


def simulated(answers: Sequence[Mapping[str, Any]]) -> Records:
    """Return answers of the model as records of kind ``simulated``.

    Parameters
    ----------
    answers:
        `Run.as_dict()` of some runs, or rows of a sweep's table (``table.to_dict("records")``); rows that say why a
        combination is impossible are left out.

    >>> simulated([{"cluster": "dl1", "collective": "allreduce", "message_bytes": 64, "ranks": 8, "time_s": 1e-6}])
    Records(1 row of allreduce, simulated)
    """
    possible = [answer for answer in answers if not isinstance(answer.get("error"), str)]
    clusters = list(dict.fromkeys(str(answer["cluster"]) for answer in possible if "cluster" in answer))
    manifest = {"tool": "peerlab", "version": __version__, "cluster": ", ".join(clusters)}
    return Records.of([_row(answer) for answer in possible], manifest)


def _row(answer: Mapping[str, Any]) -> dict[str, Any]:
    named = {_FIGURES.get(name, name): value for name, value in answer.items()}
    # A missing value is left out, and so becomes what the column has for none.
    entries = {name: value for name, value in named.items() if name in COLUMNS and value is not None}
    return entries | {"kind": "simulated", "source": f"peerlab: {answer.get('cluster', '')}"}
