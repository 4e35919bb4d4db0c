"""Measured points on the simulated curves: those that fit the scenario shown, told apart by shape and words."""

# Measured never looks simulated. A line is simulated, a diamond measured: hollow if it came with peerlab,
# filled if it is the user's. A point is drawn only where cluster, operation, ranks and the other axis
# agree; where something was measured elsewhere, the legend says where. Measurements on this machine are
# drawn as ratios to `staged`, with the noise of the control behind them: no GB/s of this machine stands
# beside another's.

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from peerlab.base.units import PS_PER_S, say_bytes, say_count, say_time
from peerlab.model.paths import PATHS, path_titles
from peerlab.picture.curve_scenarios import machine_key
from peerlab.picture.theme import line_roles
from peerlab.question.scenario import Scenario
from peerlab.records import Records
from peerlab.records.conditions_measured import condition_rows

_SAME_SIZE = 0.02
"""Sizes so near to each other are one: 64 MiB in one tool are 67,108,864 bytes, in another 67,108,860."""
_PREFERRED = ("out-of-place", "latency", "")
"""Of several ways to measure the same, the one that is shown."""


@dataclass(frozen=True)
class MeasuredPoint:
    """The median of what was measured under one condition."""

    collective: str
    nodes: int
    ranks: int
    size_bytes: int
    busbw_GBps: float  # noqa: N815  (the unit)
    path: str
    """A path of a scenario, or nothing where nobody knows."""
    note: str
    """Figures and source, escaped, for whoever points at it."""
    own: bool
    """Whether it is the user's; else it came with peerlab."""


def points(
    records: Records, path: str = "", *, own: bool = False, nodes: int | None = None
) -> tuple[MeasuredPoint, ...]:
    """Return the points of records; what has no bandwidth, or names no ranks, cannot be placed.

    `path` and `nodes` are those of rows that do not name theirs; without, each rank is taken for a node.
    """
    needed = ("busbw_GBps", "ranks", "size_bytes")
    rows = [row for row in condition_rows(records.rows) if all(row[name] is not None for name in needed)]
    entries: dict[tuple[Any, ...], MeasuredPoint] = {}
    # The preferred way comes first, and the first that has a place keeps it.
    for row in sorted(rows, key=_preference):
        known = row["nodes"] if row["nodes"] is not None else nodes or row["ranks"]
        point = _point({**row, "path": row["path"] or path, "nodes": known}, own=own)
        entries.setdefault((point.collective, point.nodes, point.ranks, point.size_bytes, point.path), point)
    return tuple(entries.values())


def _preference(row: Mapping[Any, Any]) -> int:
    variant = row["variant"]
    return _PREFERRED.index(variant) if variant in _PREFERRED else len(_PREFERRED)


def _point(row: Mapping[Any, Any], *, own: bool) -> MeasuredPoint:
    ranks, size, busbw = int(row["ranks"]), int(row["size_bytes"]), float(row["busbw_GBps"])
    nodes = int(row["nodes"])
    way = f", {row['variant']}" if row["variant"] else ""
    took = "" if row["time_s"] is None else f", {say_time(round(row['time_s'] * PS_PER_S))}"
    figures = f"{say_count(nodes, 'node')}, {say_count(ranks, 'rank')}, {say_bytes(size)}: {busbw:.3g} GB/s{took}{way}"
    note = f"{escape(figures)}<br>{escape(str(row['kind']))}: {escape(str(row['source']))}"
    return MeasuredPoint(str(row["collective"]), nodes, ranks, size, busbw, str(row["path"]), note, own)


def overlay(scenario: Scenario, known: Sequence[MeasuredPoint]) -> dict[str, object]:
    """Return what the page needs to draw those of some points that fit the curves of `scenario`.

    For each axis of the curves: points that agree with the scenario in all but what the axis varies; and what was
    measured of this collective elsewhere on the axis that is not shown.
    """
    if (
        scenario.algorithm_record.in_network
    ):  # what came with peerlab was measured without switches that add up
        known = [point for point in known if point.own]
    same = [
        point for point in known if point.collective == scenario.collective and _whole_node(scenario, point)
    ]
    here = [point for point in same if point.nodes == scenario.nodes or scenario.collective_record.is_message]
    at_size = [point for point in same if abs(point.size_bytes / scenario.nbytes - 1) <= _SAME_SIZE]
    return {
        "machine": machine_key(scenario.hardware),
        "message_bytes": _drawn(here, "size_bytes"),
        "nodes": _drawn(at_size, "nodes"),
        "hint": {
            "message_bytes": ""
            if here
            else _elsewhere(f"{say_count(n, 'node')}" for n in sorted({p.nodes for p in same})),
            "nodes": "" if at_size else _elsewhere(map(say_bytes, sorted({p.size_bytes for p in same}))),
        },
    }


def _whole_node(scenario: Scenario, point: MeasuredPoint) -> bool:
    """Return whether all devices of each node took part, as they do in the simulation."""
    if scenario.collective_record.is_message:
        # A message is between two ranks, however many devices a node has.
        return point.ranks == 2
    return point.ranks == point.nodes * (scenario.hardware.devices // scenario.nodes_per_domain)


def _elsewhere(places: Iterable[str]) -> str:
    """Return where on the other axis something was measured."""
    names = list(places)
    if not names:
        return ""
    return f"measured at {names[0]}" + (f" to {names[-1]}" if len(names) > 1 else "")


def _drawn(chosen: Sequence[MeasuredPoint], axis: str) -> dict[str, list[object]]:
    # A path that nobody names has no path's colour.
    roles = [line_roles(point.path) if point.path in PATHS else ("ink", "ink") for point in chosen]
    return {
        "x": [getattr(point, axis) for point in chosen],
        "y": [point.busbw_GBps for point in chosen],
        "line": [ink for _, ink in roles],
        "own": [point.own for point in chosen],
        "label": [path_titles().get(point.path, "path unknown") for point in chosen],
        "note": [point.note for point in chosen],
    }
