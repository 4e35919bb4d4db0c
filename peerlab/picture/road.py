"""A data path unrolled from left to right: its stops, and the stretches between them.

Heights are levels: 0 is that of devices and NICs, 1 that of host memory. So a detour climbs, twice; Peer Direct stays flat.
"""

from typing import TypedDict

from peerlab.answer.run import Run
from peerlab.base.numbers import np
from peerlab.base.units import say_percent
from peerlab.model.stages import stage_kind
from peerlab.picture.frames import PageRows
from peerlab.picture.road_slices import RoadPart, kinds_on, parts_of, slices_on
from peerlab.picture.wire import say_wire, sends

PORTS = (0.39, 0.61)
"""Where the road leaves the one node and reaches the other, of its width."""
HILLS = (0.18, 0.82)
"""Where host memory is."""
_APART = 0.07
"""Between two stops in one host memory."""
_SLOPE = (0.076, 0.142)
"""How far from the middle of a hill its top ends, and its foot begins."""


class Stop(TypedDict):
    """A place on the road."""

    x: float
    level: int
    name: str
    hot: bool


class Stretch(TypedDict):
    """A part of the road between two stops."""

    points: list[list[float]]
    """``[x, level]``: the first is a stop, the last the next one."""
    role: str
    flight: bool
    """Whether slices take time to cross it."""
    hot: bool
    """Whether what limits the run works on it."""


class Sign(TypedDict):
    """Words beside the road."""

    x: float
    level: int
    """0 below the road at its foot; 1 below its top."""
    words: list[str]
    hot: bool


class Road(TypedDict):
    """A data path as the page draws it."""

    stops: list[Stop]
    stretches: list[Stretch]
    signs: list[Sign]
    spared: list[float]
    """Where host memory is that the road does not touch."""
    slices: PageRows
    """When slices come to a stretch, enter it with their nose, leave it with that, enter and leave it with their tail."""


def road(run: Run) -> Road:
    """Return the data path of a run, unrolled, with the slices of one device pair of the node that is shown."""
    parts = parts_of(run)
    stops = _stops(run, parts)
    stretches: list[Stretch] = [
        {
            "points": _points(part, stops[i], stops[i + 1]),
            "role": stage_kind(part.stage.name).role,
            "flight": part.part == "wire",
            "hot": _limits(run, part),
        }
        for i, part in enumerate(parts)
    ]
    hills, path = _hills(stops), run.scenario.data_path
    spares = not path.uses_own_ports and not path.is_bare
    return {
        "stops": stops,
        "stretches": stretches,
        "signs": _signs(run, hills),
        "spared": [hill for hill in HILLS if hill not in hills] if spares else [],
        "slices": slices_on(run, parts),
    }


def _stops(run: Run, parts: list[RoadPart]) -> list[Stop]:
    """Return the stops, one more than there are parts: the devices at both ends, host memory, and the two ends of the wire."""
    s, last = run.scenario, len(parts)
    wires = [i for i, part in enumerate(parts) if part.part == "wire"]
    ports = (wires[0], wires[-1] + 1) if wires else ()
    levels = [parts[0].start, *(part.end for part in parts)]
    # Without a wire the whole road is the first node's.
    middle = ports[0] if ports else last
    sides = (
        [i for i, level in enumerate(levels) if level and (i <= middle) == left] for left in (True, False)
    )
    places = {i: x for side, hill in zip(sides, HILLS, strict=True) for i, x in _spread(side, hill)}
    places |= dict(zip(ports, PORTS, strict=False))
    # A stop with a place of its own keeps it, also at an end of the road.
    places = {0: 0.0, last: 1.0} | places
    numbers = sorted(places)
    names = {0: s.hardware.device_name, last: s.hardware.device_name}
    names |= dict.fromkeys(ports, "port" if s.data_path.uses_own_ports else "NIC")
    return [
        {
            "x": float(np.interp(i, numbers, [places[k] for k in numbers])),
            "level": level,
            "name": "host memory" if level else names.get(i, ""),
            "hot": i in ports and _of_a_nic(run) and _sends(run),
        }
        for i, level in enumerate(levels)
    ]


def _sends(run: Run) -> bool:
    """Return whether sending or receiving limits a run."""
    bottleneck = run.bottleneck
    if bottleneck is None or bottleneck.resource is None:
        return False
    return bottleneck.resource.counts_as == "send" or bottleneck.resource.receives


def _wire_limits(run: Run) -> bool:
    """Return whether the wire limits a run: what is sent onto it, or the flight, which is no resource."""
    return _sends(run) or (run.bottleneck is not None and run.bottleneck.resource is None)


def _limits(run: Run, part: RoadPart) -> bool:
    """Return whether what limits a run works on a stretch; the busiest NIC of unlike ones is marked at its stops instead."""
    if _wire_limits(run):
        return part.part == "wire" and not _of_a_nic(run)
    return run.bottleneck is not None and part.part != "wire" and run.bottleneck.kind in kinds_on(part)


def _of_a_nic(run: Run) -> bool:
    """Return whether what is said of the wire is that of the busiest NIC: NICs are not alike."""
    s = run.scenario
    return sends(s) and not (run.trace.folded or s.collective_record.is_message)


def _spread(stops: list[int], middle: float) -> list[tuple[int, float]]:
    """Return stops in one host memory with their places around the middle of the hill."""
    return [(stop, middle + (k - (len(stops) - 1) / 2) * _APART) for k, stop in enumerate(stops)]


def _points(part: RoadPart, start: Stop, end: Stop) -> list[list[float]]:
    """Return the line of a stretch: level, up the hill, or down."""
    points = [[start["x"], part.start]]
    if part.start != part.end:
        top = start if part.start else end
        away = -1 if top is end else 1  # the foot lies before the hill, or behind it
        edge, foot = (top["x"] + away * distance for distance in _SLOPE)
        points += [[edge, 1], [foot, 0]] if part.start else [[foot, 0], [edge, 1]]
    return [*points, [end["x"], part.end]]


def _hills(stops: list[Stop]) -> list[float]:
    """Return where the road climbs to host memory."""
    middle = sum(PORTS) / 2
    return [
        hill
        for hill in HILLS
        if any(stop["level"] and (stop["x"] < middle) == (hill < middle) for stop in stops)
    ]


def _signs(run: Run, hills: list[float]) -> list[Sign]:
    """Return how busy the wire is, and what limits the run, once: at its last hill, on a flat road where that would be."""
    bottleneck = run.bottleneck
    wire = ["busiest NIC", f"{say_percent(run.wire_busy)} busy"] if _of_a_nic(run) else [say_wire(run)]
    # A flight limits the run, and that is no resource.
    flies = bottleneck is not None and bottleneck.resource is None
    if bottleneck is not None and flies:
        wire = [f"in flight {say_percent(bottleneck.share)}", "of the time"]
    signs: list[Sign] = [{"x": sum(PORTS) / 2, "level": 0, "words": wire, "hot": flies or _sends(run)}]
    if bottleneck is not None and not signs[0]["hot"]:
        words = [bottleneck.label, f"{say_percent(bottleneck.share)} busy"]
        signs.append({"x": (hills or HILLS)[-1], "level": int(bool(hills)), "words": words, "hot": True})
    return signs
