"""The timeline: a lane per resource, a span wherever it served."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

from peerlab.answer.lanes import has_lane, in_order, lane_name
from peerlab.answer.run import Run
from peerlab.answer.trace import Trace
from peerlab.base.numbers import np
from peerlab.base.units import PS_PER_S, PS_PER_US
from peerlab.model.paths import data_path, kinds
from peerlab.model.resources import RESOURCES, resource_kind
from peerlab.model.stages import stage_kind, stage_number
from peerlab.picture.frames import PageRows, Segments, lane_spans
from peerlab.picture.picture import Picture
from peerlab.picture.shown_nodes import AS_BUSY, drawn, focus, shown_switch, unit
from peerlab.picture.theme import stage_role

SPAN_COLUMNS = (
    "lane",
    "track",
    "stage",
    "device",
    "step",
    "slice",
    "queued",
    "start",
    "done",
    "end",
    "nbytes",
)
_TIMES = ("queued", "start", "done", "end")


@dataclass(frozen=True)
class TimelineLane:
    """One line of the timeline."""

    kind: str
    """Key of `RESOURCES`."""
    label: str
    """Name in plain words."""
    resources: tuple[int, ...]
    """Indices of the resources drawn on it."""


def _has_kind(run: Run, kind: str, on_paths: frozenset[str]) -> bool:
    """Whether the cluster has a resource of this kind at all, used or not; `on_paths` are those that any of its paths uses."""
    s, hardware = run.scenario, run.scenario.hardware
    there = {
        "registration": any(data_path(path).uses_device_memory for path in hardware.paths),
        "scaleup": hardware.devices > 1 and not s.collective_record.is_message and s.memory == "device",
        "reduce": s.reduces and s.collective_record.adds,
    }
    if resource_kind(kind).in_flight:  # whatever the path, a slice is in flight between the nodes
        return True
    return there.get(kind, kind in on_paths or kind in run.busy)


def lanes(run: Run) -> list[TimelineLane]:
    """Return the lanes of a run, in the order in which a byte meets them.

    Whatever the path, a cluster has the same lanes, so that a switch changes the spans and not the picture; a resource
    that is the bottleneck and has no lane gets one.
    """
    bottleneck = run.bottleneck
    wanted = in_order(
        [kind for kind in RESOURCES if has_lane(kind) or (bottleneck and bottleneck.kind == kind)]
    )
    there, hardware = _in_sight(run), run.scenario.hardware
    on_paths = frozenset(kind for path in hardware.paths for kind in kinds(hardware, path))
    rows = []
    for kind in wanted:
        if _has_kind(run, kind, on_paths):
            mine = [i for i, r in enumerate(run.trace.resources) if r.kind == kind and there[i]]
            rows.append(TimelineLane(kind, lane_name(kind), tuple(mine)))
    return rows


def _in_sight(run: Run) -> list[bool]:
    """Return for each resource whether it is shown: those of one PCIe switch of the node, and its links of the fabric."""
    s, node = run.scenario, focus(run)
    nodes = (0, 1) if s.collective_record.is_message else (node,)  # one sends, the other receives
    below = drawn(run, nodes, shown_switch(run))
    # Of a fabric only the links at this host: those further on serve others, too.
    links = {(link.kind, link.index) for link in s.fabric.links_at(s.host(node))}
    return [
        (resource.kind, resource.index) in links
        if resource_kind(resource.kind).scope == "fabric"
        else below[index]
        for index, resource in enumerate(run.trace.resources)
    ]


def _tracks(trace: Trace, segments: Segments) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the track of every row within its lane: spans that may overlap get tracks of their own."""
    rows = segments.rows
    shared = np.array([r.shared for r in trace.resources])[rows["resource"]]
    per_device = np.array([resource_kind(r.kind).scope == "device" for r in trace.resources])[
        rows["resource"]
    ]
    # Spans overlap where a resource is shared: a track for each stage and device. Else one for each device.
    key = np.where(shared, rows["stage"] * 1000 + rows["device"], np.where(per_device, rows["device"], 0))
    track = np.zeros(len(key), np.int64)
    for lane in np.unique(rows["lane"]):
        mine = rows["lane"] == lane
        # Tracks are numbered from 0 in each lane, without gaps.
        track[mine] = np.unique(key[mine], return_inverse=True)[1]
    return track


class PageLane(TypedDict):
    """A lane as the page gets it."""

    label: str
    tracks: int
    """Spans that may overlap lie on so many tracks."""
    used: bool
    on_path: bool
    """Whether a slice passes it between two nodes on the run's data path; the page folds the others."""
    hot: bool
    """Whether its resource is the bottleneck, or as busy."""
    after: dict[int, str]
    """Number of a stage to the lane whose resource has to be through with a slice before this lane's is."""
    capacity: int
    """Spans that its resources serve at once."""
    rate: float | None
    """Bytes per microsecond, where spans share it."""


class TimelineParcel(TypedDict):
    """What the timeline gets for a run."""

    lanes: list[PageLane]
    spans: PageRows
    """One row for every span; columns are `SPAN_COLUMNS`."""
    stages: list[str]
    """What each stage is called."""
    roles: list[str]
    """The role of each stage's colour."""
    title: str
    device: str
    """What a device is called."""
    end_us: float


def timeline(picture: Picture) -> TimelineParcel:
    """Return what the page needs to draw the timeline of a run."""
    run = picture.run
    shown = lanes(run)
    lane_of = {resource: number for number, lane in enumerate(shown) for resource in lane.resources}
    segments = lane_spans(run.trace, lane_of)
    segments.rows["track"] = _tracks(run.trace, segments)
    used = segments.rows["lane"]
    # A slice waits for its region's registration, too, if the region has none yet.
    passed = {"registration", *(use.kind for stage in run.scenario.stages for use in stage.uses)}
    return {
        "lanes": [
            {
                "label": lane.label,
                "tracks": int(segments.rows["track"][used == number].max(initial=0)) + 1,
                "used": bool((used == number).any()),
                "on_path": lane.kind in passed,
                "hot": _is_hot(picture, lane),
                "after": _after(run, lane),
                "capacity": _capacity(run.trace, lane),
                "rate": _rate(run.trace, lane),
            }
            for number, lane in enumerate(shown)
        ],
        "spans": segments.page(SPAN_COLUMNS, _TIMES),
        "stages": [run.scenario.hardware.says(stage_kind(stage).says) for stage in run.trace.stages],
        "roles": [stage_role(stage) for stage in run.trace.stages],
        "title": _title(run),
        "device": run.scenario.hardware.device_name,
        "end_us": run.time_ps / PS_PER_US,
    }


def _is_hot(picture: Picture, lane: TimelineLane) -> bool:
    """Return whether what a lane stands for is the bottleneck, or about as busy."""
    run, bottleneck = picture.run, picture.run.bottleneck
    if bottleneck and bottleneck.resource is None:  # slices in flight, which is no resource
        return resource_kind(lane.kind).in_flight
    if not bottleneck or bottleneck.kind != lane.kind:
        return False
    if resource_kind(lane.kind).scope != "fabric":
        return picture.sketch.is_as_busy(0)
    # A link of the fabric is no node's.
    used = run.used_ps
    most = max(used[i] for i, resource in enumerate(run.trace.resources) if resource.kind == lane.kind)
    return bool(max((used[i] for i in lane.resources), default=0) >= AS_BUSY * most)


def _capacity(trace: Trace, lane: TimelineLane) -> int:
    """Return how many spans a lane's resources serve at once."""
    mine = [trace.resources[i] for i in lane.resources]
    return (
        # A shared resource has no places: each of them counts once.
        len(mine)
        if any(resource.shared for resource in mine)
        else sum(resource.servers for resource in mine) or 1
    )


def _rate(trace: Trace, lane: TimelineLane) -> float | None:
    """Return the rate that spans of a lane share, bytes per microsecond, or nothing if they share none.

    The time that a shared resource is busy follows from bytes, as its spans overlap.
    """
    shared = next(
        (resource for resource in (trace.resources[i] for i in lane.resources) if resource.shared), None
    )
    # A span that was recorded stands for `copies` of its kind, which share the resource with it.
    return shared.capacity_Bps / shared.copies * PS_PER_US / PS_PER_S if shared else None


def _after(run: Run, lane: TimelineLane) -> dict[int, str]:
    """Return the lanes of the resources upstream of a lane's, by number of the stage: it is through with a slice after those."""
    entries = {}
    for stage in run.scenario.stages:
        for before, use in pairwise(stage.uses):
            if use.kind == lane.kind:
                entries[stage_number(stage.name)] = lane_name(before.kind)
    return entries


def _title(run: Run) -> str:
    if run.scenario.collective_record.is_message:
        return "both nodes"
    return f"{unit(run.scenario)} {focus(run)}"


def critical(run: Run) -> dict[str, object]:
    """Return the critical path for the timeline: lane (-1: none drawn), start and end in microseconds.

    ``breakdown`` says how long the path was held up by what: the resource that served last, or a slice's flight.
    """
    shown = lanes(run)
    lane_of = {resource: number for number, lane in enumerate(shown) for resource in lane.resources}
    resource = run.recording.unrolled["resource"]
    held: dict[str, float] = {}
    for segment in run.critical_path:
        name = (
            "waiting" if segment.row < 0 else lane_name(run.trace.resources[int(resource[segment.row])].kind)
        )
        held[name] = held.get(name, 0.0) + (segment.end_ps - segment.start_ps) / PS_PER_US
    rows = [(lane_of.get(int(resource[s.row]), -1) if s.row >= 0 else -1, s) for s in run.critical_path]
    return {
        "lane": [lane for lane, _ in rows],
        "start": [segment.start_ps / PS_PER_US for _, segment in rows],
        "end": [segment.end_ps / PS_PER_US for _, segment in rows],
        "breakdown": dict(sorted(held.items(), key=lambda item: -item[1])),
    }
