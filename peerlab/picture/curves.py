"""The curves: bus bandwidth against nodes or message size, a line for every path, and a mark for this scenario.

Behind each line is a band: the range in which it may lie if the assumed figures lie at the ends of their ranges
(`peerlab.answer.sensitivity`). The bands come after the lines; until then a parcel has none.
"""

# A parcel is typed on both sides. Python's `TypedDict` and the script's JSDoc typedef say the same record,
# and a test compares them field by field. Another test compares the records with what runs really give.

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import TypedDict

from peerlab.answer.metrics import wire_limit_GBps
from peerlab.answer.run import Run
from peerlab.answer.sensitivity import Band, limit_band
from peerlab.base.units import say_bytes, say_percent, say_time
from peerlab.model.fabrics import NIC
from peerlab.model.hardware import Cluster
from peerlab.model.paths import PATHS, data_path, path_short, path_title, sending_kinds
from peerlab.model.resources import resource_kind
from peerlab.picture.curve_scenarios import AXES, PathCurve, at, key, line_of, machine_key
from peerlab.picture.left_out import say_left_out, values_simulated
from peerlab.picture.library_switches import SWITCHES, switches_of
from peerlab.picture.theme import UNCACHED, line_roles
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS

LINES, RANGES, WHOLE = "lines", "ranges", "whole"
"""What of the curves is there: some lines, all lines, and all ranges, too."""


class CurveLine(TypedDict):
    """One path's line; what has no value there is none, for each value of the axis."""

    name: str
    label: str
    short: str
    """The same where room is short."""
    role: str
    """Of its colour."""
    ink: str
    """Of its name's colour."""
    x: list[int]
    y: list[float | None]
    """Bus bandwidth, GB/s."""
    low: list[float | None]
    high: list[float | None]
    switch: list[bool]
    """Whether the library chooses otherwise from here on."""
    note: list[str]
    twin: bool
    """Whether a line before it has its colour."""


class CurveLimit(TypedDict):
    """What the wire can carry, for each value of the axis."""

    label: str
    y: list[float | None]
    low: list[float | None]
    high: list[float | None]


class CurvesParcel(TypedDict):
    """What the page draws the curves of."""

    axis: str
    values: list[int]
    names: list[str]
    simulated: int
    """How many of the values are shown: beyond, some lines take long to simulate."""
    lines: list[CurveLine]
    limits: dict[str, CurveLimit]
    key: str
    """Of the scenarios whose curves they are."""
    state: str
    """`LINES`: more lines follow; `RANGES`: ranges follow; `WHOLE`; ``old``: they are those of the scenario before."""
    bands: str
    """The legend of the ranges; empty where there are none."""
    about: str
    switches: str
    """The legend of what a library chooses otherwise; empty where it is nowhere."""


def label(line: str, name: Callable[[str], str] = path_title) -> str:
    """Return what a curve is called beside its line, where `name` names a data path."""
    return "no cache" if line == UNCACHED else name(line)


def curves(
    scenario: Scenario,
    axis: str,
    computed: Sequence[tuple[PathCurve, Sequence[Run | None]]],
    bands: Mapping[str, Sequence[Band | None]] | None = None,
    *,
    state: str = RANGES,
) -> CurvesParcel:
    """Return what the page needs to draw the curves of `scenario`.

    `computed` holds each line with a run, or None, for each value of the axis; `bands` those of the lines that have
    theirs already, by name; `state` says what follows (where no figure has a range, no range does).
    """
    there, complete = bands or {}, state == WHOLE
    twins = _twins([line.name for line, _ in computed])
    return {
        "axis": axis,
        "values": list(AXES[axis]),
        "names": [say_bytes(v) if FIELDS[axis].size else str(v) for v in AXES[axis]],
        "simulated": values_simulated(axis, computed),
        "lines": [
            _drawn(axis, line, runs, there.get(line.name), twin=line.name in twins) for line, runs in computed
        ],
        "limits": _limits(scenario, axis, banded=bands is not None),
        "key": key(scenario, axis),
        "state": WHOLE if state == RANGES and not _has_ranges(scenario) else state,
        "bands": BAND * (_has_ranges(scenario) and any(map(any, there.values()))),
        "about": "; ".join(
            filter(
                None,
                (
                    _about_bands(scenario, computed, there, complete=complete),
                    "" if state == LINES else say_left_out(axis, computed, label),
                ),
            )
        ),
        # Along nodes nothing is marked: only by size does a library choose.
        "switches": SWITCHES if any(any(switches_of(axis, runs)) for _, runs in computed) else "",
    }


def _twins(names: Sequence[str]) -> set[str]:
    """Return the lines that have the colour of another one before them, in the order of all paths: they are dashed."""
    paths = [name for name in PATHS if name in names]
    roles = [line_roles(name) for name in paths]
    return {name for place, name in enumerate(paths) if roles[place] in roles[:place]}


def _drawn(
    axis: str, line: PathCurve, runs: Sequence[Run | None], bands: Sequence[Band | None] | None, *, twin: bool
) -> CurveLine:
    role, ink = line_roles(line.name)
    own = bands or [None] * len(runs)
    switches = switches_of(axis, runs)
    return {
        "name": line.name,
        "label": label(line.name),
        "short": label(line.name, path_short),
        "role": role,
        "ink": ink,
        "x": list(AXES[axis]),
        "y": [run.busbw_GBps if run else None for run in runs],
        "low": [band.low_GBps if band else None for band in own],
        "high": [band.high_GBps if band else None for band in own],
        "switch": [bool(switch) for switch in switches],
        "note": [
            _note(run, band) + words if run else ""
            for run, band, words in zip(runs, own, switches, strict=True)
        ],
        "twin": twin,
    }


def _limits(scenario: Scenario, axis: str, *, banded: bool) -> dict[str, CurveLimit]:
    """Return the limit of the NICs, of the devices' own ports, and of what else a path sends with; the page shows that of the path."""
    ways: dict[str, list[str]] = {"nic": [], "native": []}
    for path in scenario.hardware.paths:
        if sends := sending_kinds(scenario.hardware, path):
            ways.setdefault(_limit_name(path, sends), []).append(path)
    # Where a machine has both, each limit says whose ports it is of.
    says = {"nic": "NIC limit" if ways["native"] else "wire limit", "native": "port limit"}
    entries: dict[str, CurveLimit] = {}
    for name, paths in ways.items():
        if paths:
            # The limit of the path that is shown, where it sends so; else of the first that does.
            way = str(scenario.path) if scenario.path in paths else paths[0]
            label = says.get(name, f"{name} limit")
            limit = _limit(scenario.with_(path=way), scenario.hardware, axis, AXES[axis], banded)
            entries[name] = {"label": label, "y": limit["y"], "low": limit["low"], "high": limit["high"]}
    return entries


def _limit_name(path: str, sends: Sequence[str]) -> str:
    """Return by which name the page finds the limit of a path that sends with these kinds of resources."""
    if data_path(path).uses_own_ports:
        return "native"
    others = [resource_kind(kind).label for kind in sends if kind not in NIC]
    return others[0] if others else "nic"


# each line of a picture that grows asks again; the cluster is in the key, as its file may change
@lru_cache(maxsize=64)
def _limit(
    scenario: Scenario, _machine: Cluster, axis: str, values: tuple[int, ...], banded: bool
) -> dict[str, list[float | None]]:
    """Return the wire limit at these values of an axis; where `banded`, with the range in which it may lie."""
    scenarios = [at(scenario, axis, value, {}) for value in values]
    bands = [limit_band(point, wire_limit_GBps) if point and banded else None for point in scenarios]
    return {
        "y": [_number(wire_limit_GBps(point)) if point else None for point in scenarios],
        "low": [_number(band.low_GBps) if band else None for band in bands],
        "high": [_number(band.high_GBps) if band else None for band in bands],
    }


def _number(value: float) -> float | None:
    # JSON has no NaN.
    return None if math.isnan(value) else value


def _about_bands(
    scenario: Scenario,
    computed: Sequence[tuple[PathCurve, Sequence[Run | None]]],
    bands: Mapping[str, Sequence[Band | None]],
    *,
    complete: bool,
) -> str:
    """Say what a band is, or why there is none; a run without one took too long to simulate at all ends."""
    if not _has_ranges(scenario):
        return "no range: no assumed figure has one"
    there = sum(band is not None for line in bands.values() for band in line)
    if not there:
        return "no range: slow to simulate" if complete else ""
    some = complete and there < sum(run is not None for _, runs in computed for run in runs)
    return ABOUT + IN_PART * some


def _has_ranges(scenario: Scenario) -> bool:
    return any(figure.range for figure in scenario.hardware.figures.values())


BAND = "range"
IN_PART = " (in part: some take long to simulate)"
ABOUT = "Range: from where to where the line lies if the assumed figures (†) lie at the ends of their ranges, and as far as the library's law was off on machines that it was not fitted on"
_IF = "if all assumed figures (†) that have a range lie at its ends"
"""What a band says."""


class Mark(TypedDict):
    """The mark of a run on the curves, as the page gets it."""

    nodes: int
    message_bytes: int
    y: float
    """Bus bandwidth, GB/s."""
    role: str
    """Of its colour."""
    line: str
    """The curve that it lies on."""
    limit: str
    """What carries this path: ``nic``, ``native`` for own ports, or what else sends is called; see `_limits`."""
    cached: bool
    """Whether a registration cache changes anything."""
    past: bool
    """Whether slices go past the host's memory."""
    of: dict[str, str]
    """For each axis the key of the curves that it belongs to."""
    machine: str
    """Key of the cluster."""


def mark(run: Run) -> Mark:
    """Return the mark of a run on the curves."""
    line, machine = line_of(run.scenario), machine_key(run.scenario.hardware)
    role, _ = line_roles(line)
    path = run.scenario.data_path
    sends = sending_kinds(run.scenario.hardware, str(run.scenario.path))
    return {
        "nodes": run.scenario.nodes,
        "message_bytes": run.scenario.nbytes,
        "y": run.busbw_GBps,
        "role": role,
        "line": line,
        "limit": _limit_name(str(run.scenario.path), sends),
        "cached": path.uses_device_memory,
        "past": not path.is_staged,
        "of": {axis: key(run.scenario, axis) for axis in AXES},
        "machine": machine,
    }


def _note(run: Run, band: Band | None) -> str:
    s, bottleneck = run.scenario, run.bottleneck
    what = f"{s.nodes} nodes, {say_bytes(s.nbytes)}: {run.busbw_GBps:.3g} GB/s, {say_time(run.time_ps)}"
    beyond = "; more ranks than the vendor's library allows" if s.extrapolates else ""
    sentence = f"{what}; {bottleneck.label} {say_percent(bottleneck.share)}{beyond}" if bottleneck else what
    # The page shows it as HTML, and the title of a library's file may be anybody's.
    sentence += f"<br>{escape(s.library_says, quote=False)}" if s.choice else ""
    if not band:
        return sentence
    law = f"; {band.reach.in_words}" if band.reach.error else ""
    return f"{sentence}<br>{band.low_GBps:.3g} to {band.high_GBps:.3g} GB/s {_IF}{law}"
