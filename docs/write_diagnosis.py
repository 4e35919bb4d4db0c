"""Writes docs/diagnosis.md: what `peerlab diagnose` says about every log whose path is known.

`make docs` runs it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from documents import table

from peerlab.base.units import say_bytes, say_count, say_percent
from peerlab.diagnosis import Diagnosis, Forecast, diagnose
from peerlab.diagnosis.knowledge import knowledge
from peerlab.records import Records
from peerlab.records.library import measured_library

_TELLING = re.compile(r"\w*GPU_DIRECT_RDMA=\d")

HEAD = """\
# Which data path is a log from?

Written by `make docs` from `data/measured/`, `data/diagnosis.toml` and the simulation. `peerlab diagnose LOG` says the same
of one log, with every piece of evidence.

Every table of figures that comes with peerlab, and whose path is known from its source, was diagnosed four times without its
path: with its cluster named and without, with the lines and settings that tell the path and without them. Without its cluster a log is
held against what holds on any machine{recognised}.

{score}

Many of these clusters were described from these very logs: that their own path explains them is no prediction. That the other
paths explain them far worse is one, and so is the column on the right, which knows no cluster.
"""
WEIGHTS = """\
## How much evidence weighs

Weights are judgement, and the same for every log. A piece of evidence makes a path so many times likelier, beside the others:
{strengths}. They are multiplied; *points* in the tables below are
their natural logarithms, which are added up (2.3 points: 10 times likelier). A path is named if it is {clear:.0f} times ({probable:.0f} times: *probable*) likelier than
the next, and nothing strong contradicts it.
"""


def document() -> str:
    """Return the whole text."""
    rows = [_row(name, *one) for name, one in _cases()]
    right = sum(row[0] for row in rows)
    wrong = sum(row[1] for row in rows)
    score = (
        f"As it is, {right} of {len(rows)} are named as their source says; in all {4 * len(rows)} diagnoses "
        f"{wrong or 'none'} {'are' if wrong > 1 else 'is'} named wrongly.\n\n{_scores([row[3] for row in rows])}"
    )
    know = knowledge()
    factors = ", ".join(f"{name} {2.718281828**points:.3g}" for name, points in know.strengths.items())
    leads = {name: 2.718281828**points for name, points in know.leads.items()}
    parts = [
        HEAD.format(score=score, recognised=" or is recognised from the accelerators that the log names"),
        table(
            ("log", "its path", *_WAYS),
            [row[2] for row in rows],
        ),
        _flat(),
        WEIGHTS.format(strengths=factors, **leads),
        *_evidence(),
        *_forecasts(),
    ]
    return "\n".join(parts)


def _cases() -> Iterator[tuple[str, tuple[Records, str, str]]]:
    """Yield for each curve of known path its name, its records without that path, its cluster and the path."""
    of_others = {name: one for name, one in measured_library().items() if "cluster" in one.manifest}
    for name, records in of_others.items():
        # where one node needs no network, there is no path between nodes to be named
        for (nodes, path), rows in records.table.groupby(["nodes", "path"], dropna=False, sort=False):
            several = len(records.table["nodes"].unique()) > 1
            blind = replace(records, data=_without_path(rows), manifest=_without_cluster(records.manifest))
            title = f"{name}, {say_count(nodes, 'node')}" if several else name
            yield title, (blind, str(records.manifest["cluster"]), str(path) or "in-node")


def _without_path(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(path="")


def _without_cluster(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key != "cluster"}


def _silent(records: Records) -> Records:
    """Return records without what tells the path by name; where buffers are stays."""
    manifest = {
        **records.manifest,
        "environment": {},
        "command": _TELLING.sub("", records.manifest.get("command", "")),
    }
    buffers = [
        line
        for line in manifest.get("transport", [])
        if re.search(r"\b[DH] [DH]\b|MPI|-d \w+|on DEVICE", line)
    ]
    return replace(records, manifest={**manifest, "transport": buffers})


_WAYS = ("with its cluster", "without its cluster", "with it, without its lines", "without both")
"""How each log is diagnosed."""


def _row(
    name: str, records: Records, cluster: str, path: str
) -> tuple[bool, int, tuple[str, ...], list[bool | None]]:
    silent = _silent(records)
    told = [diagnose(records, cluster), diagnose(records), diagnose(silent, cluster), diagnose(silent)]
    wrong = sum(one.path not in (path, None) for one in told)
    right = [None if one.path is None else one.path == path for one in told]
    return told[0].path == path, wrong, (f"`{name}`", path, *(_say(one, path) for one in told)), right


def _scores(found: Sequence[Sequence[bool | None]]) -> str:
    """Return how many are right, open and wrong, for each way of diagnosing."""
    rows = [
        (way, *(f"{sum(one[place] is of for one in found)} of {len(found)}" for of in (True, None, False)))
        for place, way in enumerate(_WAYS)
    ]
    return table(("diagnosed", "right", "cannot tell", "wrong"), rows)


def _say(found: Diagnosis, path: str) -> str:
    if found.path is None:
        return f"cannot tell: {found.why}"
    mark = "" if found.path == path else " (WRONG)"
    return f"{found.path}{mark}, {found.verdict}, {say_percent(found.ranking[0].odds)}"


def _flat() -> str:
    rows = [
        {
            "kind": "imported",
            "collective": "allreduce",
            "size_bytes": size,
            "ranks": 2,
            "nodes": 2,
            "time_s": size / 2e9,
        }
        for size in (2**20, 2**21)
    ]
    found = diagnose(Records.of(rows, {"tool": "nccl-tests"}))
    return f"Two rows of 1 and 2 MiB at 2 GB/s between two nodes, and not a word more: **{found.verdict}**, {found.why}.\n"


def _evidence() -> Iterator[str]:
    yield "## The evidence\n"
    for name, (records, cluster, path) in _cases():
        found = diagnose(records, cluster)
        yield f"### `{name}`: {found.verdict if found.path is None else found.path} ({path}, by its source)\n"
        rows = [
            (
                one.seen,
                one.says,
                ", ".join(f"{p} {points:+.1f}" for p, points in one.points.items()) or "-",
                one.source,
            )
            for one in found.evidence
        ]
        yield table(("seen", "says", "points", "source"), rows)
        if found.notes:
            yield "".join(f"* {note}\n" for note in found.notes)


def _forecasts() -> Iterator[str]:
    yield "## What Peer Direct would bring, and what it brought\n"
    yield "Two of these machines were measured both ways. Their figures were fitted on these very logs.\n"
    library = measured_library()
    for name, other in (
        ("juliet/osu-latency-staged", "juliet/osu-latency-direct"),
        ("alps/nccl-2n8r-tcp", "alps/nccl-2n8r-rdma"),
    ):
        records = library[name]
        blind = replace(
            records, data=_without_path(records.table), manifest=_without_cluster(records.manifest)
        )
        cluster = "juliet" if name.startswith("juliet") else None
        yield f"### `{name}`\n"
        yield _forecast(diagnose(blind, cluster).forecast, library[other])


def _forecast(predicted: Forecast, reached: Records) -> str:
    found = reached.medians().drop_duplicates("size_bytes").set_index("size_bytes")["algbw_GBps"]
    rows: list[Sequence[str]] = [
        (
            say_bytes(size), f"{was:.3g} GB/s", f"{now:.3g} GB/s ({low:.3g} to {high:.3g})", f"{found[int(size)]:.3g} GB/s",
            f"{now / was:.3g} times", f"{found[int(size)] / was:.3g} times",
        )
        for size, was, now, low, high in zip(
            predicted.sizes, predicted.measured_GBps, predicted.GBps, predicted.low_GBps, predicted.high_GBps, strict=True
        )
    ]  # fmt: skip
    return table(
        (
            "message",
            "measured",
            "predicted with Peer Direct",
            "measured with it",
            "gain predicted",
            "gain measured",
        ),
        rows,
    )
