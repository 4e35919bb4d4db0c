"""The data path: two nodes facing each other, drawn as they are wired, and the slices that move through them."""

# One switch of one node in a picture. Two nodes face each other; slices between them are drawn filled, the
# same traffic with their other neighbours hollow, because it loads the same uplinks, which would otherwise
# look busy without a cause.

from typing import TypedDict

from peerlab.answer.run import Run
from peerlab.model.paths import REDUCE
from peerlab.model.resources import resource_kind
from peerlab.model.slow_parts import parts_of
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import CELL, WAY_OF_OTHERS, PageDrawing, Point
from peerlab.picture.frames import PASSED, PageRows, moves
from peerlab.picture.geometry import BOX_BOTTOM, BOX_TOP, BUS, NIC, SUM_BOX, stops, ways
from peerlab.picture.picture import Picture
from peerlab.picture.registration_table import LiveTable, StandingTable, table
from peerlab.picture.scene_host import arrows
from peerlab.picture.shown_nodes import ShownNodes, unit
from peerlab.picture.theme import stage_role
from peerlab.picture.tips import Tip, tips
from peerlab.picture.trains import NIC_RIM, beside, breadth, queues
from peerlab.picture.waiting import badge_place, waiting_places

_MOVE_TIMES = ("enter", *PASSED, "until")
MOVE_COLUMNS = ("device", "step", "slice", "whose", "stage", *_MOVE_TIMES)


class Sight(TypedDict):
    """Whom the picture shows; lists are those of `ShownNodes`."""

    node: int
    partner: tuple[int, ...]
    source: tuple[int, ...]
    beyond: tuple[int, ...]
    slow: dict[str, str]
    """The words beside the names of slow nodes."""
    unit: str
    """What two of are shown: ``node``, or ``domain`` where NVLink joins several."""


class Sums(TypedDict):
    """A switch between the nodes that adds up."""

    left: float
    right: float
    """From where to where it is: slices are out of sight in it."""
    role: str
    """The role of the colour of sums."""


class SceneParcel(PageDrawing):
    """What the data path gets for a run; keys of stages are their numbers in the trace."""

    ways: dict[int, list[list[list[Point]]]]
    """For each stage and device: the ways of its slices, see `geometry.ways`."""
    stops: dict[int, list[list[list[float | None]]]]
    """For each of `ways`: how far along it a slice may be before it is sent, received and turned, see `geometry.stops`."""
    waiting: dict[int, list[list[Point]]]
    """For each stage and device: where slices wait, first in the queue first."""
    queues: dict[int, list[list[list[Point]]]]
    """For each stage: where slices wait on their way, see `trains.queues`."""
    breadth: float
    """How broad a slice on a link is."""
    bus: float
    """The height at which ways cross the switches."""
    cell: float
    """The width of a bounce buffer; where slices stand in a device is wider."""
    nic: tuple[float, float, float, float]
    """Left, top, right and bottom of the NIC's box of node 0, with its edge: slices end there."""
    others: str
    """The role of the dotted ways to and from nodes that are not shown."""
    badges: dict[int, tuple[float, float, str]]
    """For each stage: where the number of slices that wait is written, and how it is aligned."""
    arrows: list[tuple[float, float, str, str]]
    """Arrows on the two sides of the uplinks: where they stand, what is written, and the role of its colour."""
    roles: dict[int, str]
    """For each stage: the role of its colour."""
    tips: list[Tip]
    """What is said of its parts beside the pointer."""
    sight: Sight
    sums: Sums
    """The switch that adds up; without a role there is none."""
    names: dict[str, list[float]]
    """Where the names of nodes stand."""
    moves: PageRows
    """One row for every stage of every slice; columns are `MOVE_COLUMNS`."""
    table: StandingTable | LiveTable
    """The registration table."""


def scene(picture: Picture) -> SceneParcel:
    """Return what the page needs to draw the data path of a run: the static scene, the tracks of slices, and where slices wait."""
    run, sketch = picture.run, picture.sketch
    geometry = sketch.geometry
    # A device adds up whatever stages its path has.
    tracks = {stage: stage_kind(stage).track for stage in (*sketch.drawn, REDUCE.name)}
    devices = range(run.scenario.hardware.devices_per_switch)
    index = {name: number for number, name in enumerate(run.trace.stages)}
    return {
        **picture.drawing.page(),
        "tips": tips(sketch),
        "ways": {
            index[s]: [ways(beside(geometry, sketch.drawn, s, d), track, d) for d in devices]
            for s, track in tracks.items()
        },
        "stops": {
            index[s]: [stops(beside(geometry, sketch.drawn, s, d), track, d) for d in devices]
            for s, track in tracks.items()
        },
        "waiting": {
            index[s]: [waiting_places(geometry, track, d) for d in devices] for s, track in tracks.items()
        },
        "queues": {index[s]: queues(geometry, track) for s, track in tracks.items()},
        "breadth": breadth(geometry, sketch.drawn),
        "bus": BUS,
        "cell": CELL,
        "nic": (NIC[0] - NIC_RIM, BOX_TOP - NIC_RIM, NIC[1] + NIC_RIM, BOX_BOTTOM + NIC_RIM),
        "others": WAY_OF_OTHERS,
        "badges": {index[s]: badge_place(geometry, track) for s, track in tracks.items()},
        "arrows": arrows(sketch),
        "roles": {index[s]: stage_role(s) for s in tracks},
        "sight": _sight(sketch.sight, run),
        "sums": {
            "left": SUM_BOX[0],
            "right": SUM_BOX[1],
            "role": stage_role(REDUCE.name) if geometry.sums else "",
        },
        "names": geometry.names(),
        "moves": moves(run.trace, sketch.sight).page(MOVE_COLUMNS, _MOVE_TIMES),
        "table": table(run),
    }


def _sight(seen: ShownNodes, run: Run) -> Sight:
    return {
        "node": seen.node,
        "partner": seen.partner,
        # Between the two stands the switch: nobody else sends to them, and they to nobody.
        "source": (-1,) if run.scenario.sums_between else seen.source,
        "beyond": (-1,) if run.scenario.sums_between else seen.beyond,
        "slow": _slow(run),
        "unit": unit(run.scenario),
    }


def _slow(run: Run) -> dict[str, str]:
    """Return the words beside the names of slow nodes, and of those with a slow or lost NIC, which may hang elsewhere than at the switch that is shown."""
    s = run.scenario
    slowed = [
        use.kind for stage in s.stages for use in stage.uses if resource_kind(use.kind).slowed_with_node
    ]
    # Nothing that this path uses is slower there, so no word says it.
    if not slowed:
        return {}
    what = "ports" if s.data_path.uses_own_ports else "NICs"
    nics: dict[int, list[str]] = {}
    for (node, nic), share in parts_of(s.slow_nics):
        # One word up to its number: the page breaks the line behind it.
        nics.setdefault(node, []).append(
            f"NIC\u00a0{node}.{nic} {f'at {100 * share:g} %' if share else 'lost'}"
        )
    words = {
        node: slow[0] if len(slow) == 1 else f"{len(slow)}\u00a0NICs slow" for node, slow in nics.items()
    }
    words |= {node: f"{what} at {100 * speed:g} %" for node, speed in (s.slow_domains or {}).items()}
    return {str(node): text for node, text in words.items()}
