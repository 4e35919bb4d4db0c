"""Slices as long as the time for which they have what they pass: where each is on its way, and where it waits in between."""

# A slice is as long as what it fills. A link is filled from the moment its resource begins with a slice
# until it is through; on the wire the slice's head moves with the latency since it is sent, its tail since
# it has left (`picture/trains`, and the same in `page/trains.js`). So a link that is 96 % busy looks full
# at 96 of 100 moments. In between a slice waits in front of what it waits for. What may pass a link at one
# time lies side by side: copies beside what the NIC reads and writes, and the devices beside each other. A
# test counts filled links against the trace.

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from peerlab.model.stages import Track, stage_kind
from peerlab.picture.drawing import WIDTH, Point
from peerlab.picture.geometry import (
    BOX_BOTTOM,
    BOX_TOP,
    BREADTH,
    NIC,
    SUM_BOX,
    SWITCH_TOP,
    UPLINK,
    Geometry,
    passes,
)

Part = tuple[float, float]
"""From where to where on a way, 0 to 1."""

WIDE, _BROADEST = 9.0, 8.5
"""How broad a slice is on the wire, and on a link at most."""
_FILLS = 0.7
"""The share of its room in a direction of the uplink that it fills: gaps to its neighbours, and to the edge that marks a bottleneck, are seen."""
BAR, BAR_WIDTH, BAR_PITCH, MOST_BARS = 8.0, 4.0, 6.0, 6
"""Length of a slice that waits, how broad it is, distance between two of them, and how many are drawn; a number tells of the others."""


NIC_RIM = 1.5
"""How far from the box of a NIC slices end: the edge that marks it as the bottleneck is clear of them."""


def occupied(now: int, times: Sequence[int], stops: Sequence[float | None]) -> list[tuple[Part, bool]]:
    """Return which parts of its way a slice has at a moment, each with whether that is the wire.

    It fills a link as long as that has it, and moves along the wire with its latency: the head since it is sent, the tail since it has
    left. From out of sight it comes while the receiver's NIC has it, as it leaves while the sender's has. `times` are those of `peerlab.picture.frames.PASSED`, `stops` those of `peerlab.picture.geometry.stops`.
    """
    start, freed, sent, left, received, landed, turned, through = times
    out, into, corner = stops
    rows: list[tuple[Part, bool]] = []

    def has(since: int, until: int, part: Part) -> None:
        if since <= now < until and part[1] > part[0]:
            rows.append((part, False))

    if out is None and into is None:
        has(start, freed if corner is not None else through, (0.0, 1.0 if corner is None else corner))
    elif out is not None:
        has(start, freed, (0.0, out))
        if into is None:
            has(sent, left, (out, 1.0))
        elif sent <= now < landed:
            head, tail = _share(now, sent, received), _share(now, left, landed)
            rows.append(((out + (into - out) * tail, out + (into - out) * head), True))
    elif into is not None:
        has(received, landed, (0.0, into))
    if into is not None:
        has(
            received, landed if corner is not None else through, (into, corner if corner is not None else 1.0)
        )
    if corner is not None:
        has(turned, through, (corner, 1.0))
    return rows


def waits(now: int, times: Sequence[int], stops: Sequence[float | None]) -> int | None:
    """Return whether a slice waits on its way at a moment: 0 in front of the second link, 1 behind the wire, None not at all."""
    _, freed, sent, _, _, landed, turned, _ = times
    out, into, corner = stops
    if out is None and into is None:
        return 0 if corner is not None and freed <= now < turned else None
    # A way that begins at the NIC, at 0, has no link before it to wait in.
    if out and freed <= now < sent:
        return 0
    return 1 if into is not None and corner is not None and landed <= now < turned else None


def _share(now: int, since: int, until: int) -> float:
    # Without latency it is there at once.
    return min(1.0, max(0.0, (now - since) / (until - since))) if until > since else float(now >= until)


_HAIR = 1e-6
"""Units of the picture that are nothing."""


def stretch(points: Sequence[Point], part: Part) -> list[Point]:
    """Return a part of a broken line."""
    legs = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(points)]
    low, high = (share * sum(legs) for share in part)
    rows: list[Point] = []
    at = 0.0
    for (a, b), leg in zip(pairwise(points), legs, strict=True):
        # By more than rounding: an end at a corner goes no hair beyond it.
        if at + leg > low + _HAIR and at < high - _HAIR and leg:
            ends = [max(0.0, low - at) / leg, min(leg, high - at) / leg]
            here = [(a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share) for share in ends]
            rows += here[1:] if rows else here
        at += leg
    return rows


def rises(geometry: Geometry, variant: int, part: Part, stops: Sequence[float | None]) -> bool:
    """Return whether a part of a way is that of node 1's slices from its NIC up to a switch that adds up: wire, like node 0's."""
    return geometry.sums and variant == 1 and part[0] == stops[0]


def comes_down(points: Sequence[Point], variant: int) -> bool:
    """Return whether what is on this part of a way, that lies in one node, is a sum: it goes on the other side of links than what goes up."""
    return variant in ((2, 3) if points[0][0] < WIDTH / 2 else (0,))


def beside_switch(points: Sequence[Point], variant: int) -> list[tuple[list[Point], bool]]:
    """Return what of a broken line is in sight on both sides of a switch that adds up, each with whether it is a sum.

    `variant` is the place among `peerlab.picture.geometry.ways`: at node 0 its own slice goes up and a sum comes down, at node 1 the other
    slices go up and the sum of its own comes down.
    """
    left, right = SUM_BOX
    rows = []
    for inside, edge in ((lambda x: x <= left, left), (lambda x: x >= right, right)):
        line = _within(points, edge, inside)
        if len(line) > 1:
            rows.append((line, comes_down(line, variant)))
    return rows


def _within(points: Sequence[Point], edge: float, inside: Callable[[float], bool]) -> list[Point]:
    """Return the part of a broken line on one side of an edge, which it crosses once at most, going across."""
    rows: list[Point] = []
    for (x, y), (after, beyond) in pairwise(points):
        if not inside(x) and not inside(after):
            continue
        ends = [(x, y) if inside(x) else (edge, y), (after, beyond) if inside(after) else (edge, beyond)]
        rows += ends[1:] if rows else ends
    return rows


def queues(geometry: Geometry, track: Track) -> list[list[list[Point]]]:
    """Return where slices wait on their way, for the phases of `waits` and for each of `peerlab.picture.geometry.ways`.

    They stand in front of what they wait for, the first of the queue first: beside the NIC, or the uplink's foot.
    """
    if track == "device to host memory":
        return [[_foot(geometry, 0), _foot(geometry, 1), [], []], [[], [], [], []]]
    if track in ("host memory to host memory", "device to device"):
        into = _foot if track == "host memory to host memory" else _before
        return [
            [_before(geometry, 0), _before(geometry, 1), [], _before(geometry, 1)],
            [into(geometry, 1), [], into(geometry, 0), into(geometry, 0)],
        ]
    return [[[], [], [], []], [[], [], [], []]]


def _before(geometry: Geometry, node: int) -> list[Point]:
    """Return the places beside the NIC, from below: their number stands below the boxes."""
    x = geometry.x(
        node, NIC[0] - 9
    )  # in the middle of the gap: what touched both boxes would look like a link
    return [(x, BOX_BOTTOM - 2 - i * BAR_PITCH) for i in range(MOST_BARS)]


def _foot(geometry: Geometry, node: int) -> list[Point]:
    """Return the places beside the foot of the uplink, from below."""
    x = UPLINK - 2 * geometry.lane - 6 - BAR / 2
    return [(geometry.x(node, x), SWITCH_TOP - 5 - i * BAR_PITCH) for i in range(MOST_BARS)]


def beside_nics(points: Sequence[Point]) -> list[list[Point]]:
    """Return the parts of a broken line outside the boxes of NICs: a slice ends at their edge, and its words stand alone in them."""
    rows = [list(points)]
    for left, right in (NIC, (WIDTH - NIC[1], WIDTH - NIC[0])):
        box = ((left - NIC_RIM, right + NIC_RIM), (BOX_TOP - NIC_RIM, BOX_BOTTOM + NIC_RIM))
        rows = [part for line in rows for part in _outside(line, box)]
    return rows


def _outside(points: Sequence[Point], box: Sequence[tuple[float, float]]) -> list[list[Point]]:
    """Return the parts of a broken line outside a box, its sides across and down."""
    rows: list[list[Point]] = [[]]
    for a, b in pairwise(points):
        enter, leave = 0.0, 1.0
        for begin, end, (low, high) in zip(a, b, box, strict=True):
            if begin == end:
                leave = leave if low < begin < high else -1.0
                continue
            ends = sorted(((low - begin) / (end - begin), (high - begin) / (end - begin)))
            enter, leave = max(enter, ends[0]), min(leave, ends[1])
        if leave <= enter:
            enter, leave = 1.0, 2.0
        here, there = (
            (a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share) for share in (enter, min(leave, 1.0))
        )
        if enter > 0:
            rows[-1] += [here] if rows[-1] else [a, here]
        if leave <= 1:
            rows.append([there, b] if leave < 1 else [])
    return [line for line in rows if line]


def _kinds(stages: Sequence[str]) -> list[str]:
    """Return what slices do that share links at one time, of the stages of a path: copied, sent."""
    return sorted({stage_kind(stage).counts_as for stage in stages} & {"copy", "send"}) or ["send"]


def _tracks(geometry: Geometry, stages: Sequence[str]) -> list[tuple[str, int]]:
    """Return what may pass a link of the node side by side, of even and odd devices: copies in the middle, as they are the most."""
    kinds = _kinds(stages)
    even, odd = [(kind, 0) for kind in reversed(kinds)], [(kind, 1) for kind in kinds]
    return [*even, *odd] if geometry.cluster.devices_per_switch > 1 else even


def _in_lane(geometry: Geometry, stages: Sequence[str]) -> list[tuple[str, int]]:
    """Return the same of a direction of the uplink: devices that share a NIC take turns with what it reads and writes, so that goes along the lane's axis."""
    tracks = _tracks(geometry, stages)
    takes_turns = (
        geometry.wires == 1 and not geometry.sums and {"copy", "send"} <= {kind for kind, _ in tracks}
    )
    return [("copy", 0), ("send", 0), ("copy", 1)] if takes_turns and ("send", 1) in tracks else tracks


def _aside(tracks: Sequence[tuple[str, int]], kind: str, device: int) -> float:
    """Return how far beside the middle of all tracks one is, -1 to 1 of half their breadth."""
    at = tracks.index((kind, device) if (kind, device) in tracks else (kind, 0))
    return (2 * at + 1) / len(tracks) - 1


def beside(geometry: Geometry, stages: Sequence[str], stage: str, device: int) -> Geometry:
    """Return the positions for the slices of a stage and a device: what may pass a link at one time lies side by side."""
    kinds, counts_as = _kinds(stages), stage_kind(stage).counts_as
    own = (counts_as if counts_as in kinds else kinds[0], device % 2)
    return replace(
        geometry,
        aside=_aside(_tracks(geometry, stages), *own),
        in_lane=_aside(_in_lane(geometry, stages), *own),
    )


def breadth(geometry: Geometry, stages: Sequence[str]) -> float:
    """Return how broad a slice on a link is: on the uplink, if the path goes there, all have room side by side."""
    tracks = [stage_kind(stage).track for stage in stages]
    climbs = geometry.apart or geometry.redirected
    climbs |= any("uplink" in passes(track, native=geometry.native) for track in tracks)
    broad = min(_BROADEST, 0.95 * BREADTH / len(_tracks(geometry, stages)))
    return min(broad, _FILLS * geometry.lane_breadth / len(_in_lane(geometry, stages))) if climbs else broad
