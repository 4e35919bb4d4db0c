"""Positions of the parts of a node in the data path's picture, and the tracks of slices through it."""

from dataclasses import dataclass, replace
from itertools import pairwise

from peerlab.answer.run import Run
from peerlab.model.hardware import Cluster
from peerlab.model.paths import data_path
from peerlab.model.resources import Part
from peerlab.model.stages import Track, stage_kind
from peerlab.picture.drawing import HEIGHT, WIDTH, Point

NODE_WIDTH = 404.0
SWITCH_TOP, SWITCH_BOTTOM = 121.0, 141.0
SWITCH_RIGHT = 262.0
"""Where the switch ends if the NIC does not hang below it."""
ROOT = 78.5
"""Where slices cross the CPU between two of its ports: below its box."""
BUS = (SWITCH_TOP + SWITCH_BOTTOM) / 2
BOX_TOP, BOX_BOTTOM = 158.0, 204.0
WIRE = 181.0
MEMORY = (84.0, 8.0, 264.0, 67.0)
CPU = (276.0, 8.0, 390.0, 67.0)
NIC = (276.0, 390.0)
PORT = 376.0
"""Where slices go through the NIC: beside its words, which stand in its middle."""
SUM_LANE = 9.0
"""How far from the wire's middle slices go up to a switch that adds up, above it, and come down, below."""
_WIRES, _WIRE_PITCH = 36.0, 14.0
"""Room for the wires of a switch's NICs, and the distance of two at most."""
SUM_BOX = (474.0, WIDTH - 474.0)
"""Left and right of that switch: slices are out of sight in it."""
SHARED_HALF = 13.0
"""Half the height of memory that both nodes reach; it is as wide as that switch, and stands where ports are joined."""
PORT_WIRE, PORT_PITCH, PORT_HALF = 209.0, 4.0, 6.0
"""Where the devices' own ports are joined: middle, distance of two devices' links, half the thickness."""
SHELF = (BOX_BOTTOM - 14.0, BOX_BOTTOM - 3.5)
"""Top and bottom of where slices stand in a device: as far from its edge as in host memory."""
STAND = sum(SHELF) / 2
"""Where they stand."""
EDGE = 30.0
"""How far inside a device slices begin where no switch joins it to its NIC."""
ENTRY = BOX_TOP - 2
"""Where slices enter and leave a device: on the edge of its box, clear of its name."""
UPLINK = 140.0
ARROW = 12.0
"""Room for an arrow beside a lane of the uplink: it says which way slices go there."""
THICKNESS = 1.5
"""Units of thickness per GB/s."""
BREADTH = 20.0
"""Of all slices that pass a link side by side, where it is not thinner."""
_BESIDE_SLICES = 3.0
"""From slices to both edges of their lane of the uplink, so that each is seen in its own and the edge is, too."""
SLOT = 12.5
"""Distance between waiting slices."""
_BESIDE = MEMORY[2] - 20
"""Where slices leave host memory for a NIC that hangs at the CPU."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


@dataclass(frozen=True)
class Geometry:
    """Positions of the parts of a node of one cluster; node 1 is the mirror image of node 0."""

    cluster: Cluster
    """The machine."""
    native: bool = False
    """Whether slices leave by the devices' own ports, past PCIe switch and NIC."""
    sums: bool = False
    """Whether a switch between the nodes adds up: what all send goes up to it, and comes down to all as a sum."""
    shared: bool = False
    """Whether slices go through memory that both nodes reach, past NIC and wire."""
    domain: bool = False
    """Whether NVLink joins several nodes: their trays stand in the place of a host, and a device and its NIC of one below them."""
    aside: float = 0.0
    """How far beside the middle slices go along the switch, -1 to 1 of half the breadth of all; through ports they go in the middle."""
    in_lane: float = 0.0
    """The same in a direction of the uplink."""

    @property
    def host(self) -> bool:
        """Whether the cluster says how host memory is reached; what it leaves out with a reason is never a limit."""
        return not self.domain and "switch.uplink" in {**self.cluster.figures, **self.cluster.leaves_out}

    @property
    def switch(self) -> bool:
        """Whether something joins devices, NIC and host (on a bare fabric nothing does)."""
        return not self.domain and not all(data_path(path).is_bare for path in self.cluster.paths)

    @property
    def apart(self) -> bool:
        """Whether the NIC hangs at the CPU, past the switch."""
        return self.cluster.wiring.place.over_cpu and self.host

    @property
    def redirected(self) -> bool:
        """Whether the switch sends what goes to the NIC up to the CPU and down again."""
        return self.cluster.wiring.redirected and self.host

    def x(self, node: int, x: float) -> float:
        """Return a position of node 0 as it is in `node`."""
        return x if node == 0 else WIDTH - x

    def device(self, device: int) -> tuple[float, float]:
        """Return left and right of a device's box in node 0."""
        count = self.cluster.devices_per_switch
        # Margins of 14 units on both sides, of 18 to the NIC, in front of which slices wait, and of 6 between two devices.
        pitch = (NIC[0] - 14.0 - 12.0) / count
        return 14.0 + device * pitch, 14.0 + (device + 1) * pitch - 6.0

    def middle(self, device: int) -> float:
        """Return the middle of a device's box in node 0."""
        left, right = self.device(device)
        return (left + right) / 2

    @property
    def beside_link(self) -> float:
        """Where words begin that stand beside the first device's link to the switch: behind it, if between two is more room."""
        half = self.thickness(self.cluster.device_pcie_Bps) / 2
        before = self.middle(0) - half - 16
        after = self.middle(1) - self.middle(0) - 2 * half if self.cluster.devices_per_switch > 1 else 0.0
        return self.middle(0) + half + 6 if after > before + 12 else 16.0

    @property
    def wires(self) -> int:
        """How many wires are drawn: one for each device that has NICs of its own below the switch; one where devices share a NIC.

        A switch that adds up is drawn with one: above its middle slices go up, below it sums come down.
        """
        return 1 if self.sums else self.cluster.used_nics_per_switch

    @property
    def wire_pitch(self) -> float:
        """Distance of two wires."""
        return min(_WIRE_PITCH, _WIRES / self.wires)

    def wire(self, device: int) -> float:
        """Return the height at which slices of a device cross the NIC and the wire."""
        return WIRE + (device % self.wires - (self.wires - 1) / 2) * self.wire_pitch

    def wire_half(self, rate_Bps: int) -> float:  # noqa: N803
        """Return half the thickness of one wire of this capacity: beside others it leaves a gap."""
        return min(self.thickness(rate_Bps), self.wire_pitch - 2 if self.wires > 1 else HEIGHT) / 2

    @property
    def foot(self) -> float:
        """Where the words below the boxes stand."""
        return 224.0 if self.shared else 221.0 if self.native else 216.0

    @property
    def below(self) -> bool:
        """Whether something joins the nodes below their boxes: their devices' own ports, or memory that both reach."""
        return self.native or self.shared

    def names(self) -> dict[str, list[float]]:
        """Return where the names of the nodes stand: ``node`` at the top, ``other`` at the way to the next one."""
        x = 390.0 if self.below else 366.0
        return {"node": [14.0, WIDTH - 14.0, 17.0], "other": [x, WIDTH - x, self.foot]}

    @property
    def lane(self) -> float:
        """Distance of the uplink's two directions from its middle."""
        return self.thickness(self.cluster.uplink_Bps) / 2 + 1

    @property
    def lane_breadth(self) -> float:
        """Breadth of all slices that pass a direction of the uplink side by side."""
        return min(BREADTH, self.thickness(self.cluster.uplink_Bps) - 2 * _BESIDE_SLICES)

    @property
    def up(self) -> float:
        """Where slices go up the uplink in node 0."""
        return UPLINK - self.lane + self.in_lane * self.lane_breadth / 2

    @property
    def down(self) -> float:
        """Where they come down."""
        return UPLINK + self.lane + self.in_lane * self.lane_breadth / 2

    def along(self, place: float) -> float:
        """Return where slices are that go along a place with room for all side by side."""
        return place + self.aside * BREADTH / 2

    @property
    def _coming_down(self) -> "Geometry":
        """These positions for slices from a NIC: sums that a switch sends go on the other side of links than what goes up."""
        return replace(self, aside=-self.aside, in_lane=-self.in_lane) if self.sums else self

    @staticmethod
    def thickness(rate_Bps: int | None) -> float:  # noqa: N803
        """Return how thick a link of this capacity is drawn; one that is left out never limits anything."""
        # Never too thin to be seen, nor thicker than there is room.
        return 12.0 if rate_Bps is None else max(3.0, min(rate_Bps / 1e9 * THICKNESS, 26.0))

    # ---- ways --------------------------------------------------------------------------------------------------

    def to_memory(self, node: int, device: int) -> list[Point]:
        """Return the way from a device up to host memory."""
        x, up, bus = self.middle(device), self.up, self.along(BUS)
        return self._at(node, [(x, ENTRY), (x, bus), (up, bus), (up, MEMORY[3] - 14)])

    def memory_to_nic(self, node: int, device: int) -> list[Point]:
        """Return the way of a device's slices from host memory down to the NIC."""
        down, bus = (self.along(_BESIDE), self.along(ROOT)) if self.apart else (self.down, self.along(BUS))
        return self._at(node, [(down, MEMORY[3] - 14), (down, bus), (PORT, bus), (PORT, self.wire(device))])

    def device_to_nic(self, node: int, device: int) -> list[Point]:
        """Return the way from a device across the switch to the NIC, over the CPU if need be, or straight where there is no switch."""
        x, nic, up, down = self.middle(device), PORT, self.up, self.down
        wire, bus, root = self.wire(device), self.along(BUS), self.along(ROOT)
        if not self.switch:  # clear of the device's name
            return self._at(node, [(self.device(device)[1] - EDGE, wire), (nic, wire)])
        if self.apart:
            return self._at(node, [(x, ENTRY), (x, bus), (up, bus), (up, root), (nic, root), (nic, wire)])
        if self.redirected:
            turn = [(up, bus), (up, root), (down, root), (down, bus)]
            return self._at(node, [(x, ENTRY), (x, bus), *turn, (nic, bus), (nic, wire)])
        return self._at(node, [(x, ENTRY), (x, bus), (nic, bus), (nic, wire)])

    def device_to_port(self, node: int, device: int) -> list[Point]:
        """Return the way from a device out of its own ports, below the boxes."""
        x = self.middle(device)
        # Links of a node's devices lie beside each other, around the middle.
        y = PORT_WIRE + (device - (self.cluster.devices_per_switch - 1) / 2) * PORT_PITCH
        return self._at(node, [(x, BOX_BOTTOM - 4), (x, y)])

    def to_shared(self, node: int, device: int) -> list[Point]:
        """Return the way from a device to memory that both nodes reach, below the boxes."""
        points = self.device_to_port(node, device)
        return [*points, (self.x(node, SUM_BOX[0]), points[-1][1])]

    def nic_to_memory(self, node: int, device: int) -> list[Point]:
        """Return the way that a device's received slices take up to host memory: the direction that copies out take as well."""
        g = self._coming_down
        up, bus = (g.along(_BESIDE), g.along(ROOT)) if self.apart else (g.up, g.along(BUS))
        return self._at(node, [(PORT, self.wire(device)), (PORT, bus), (up, bus), (up, MEMORY[3] - 14)])

    def from_memory(self, node: int, device: int) -> list[Point]:
        """Return the way from host memory down to a device: the direction that the NIC reads through as well."""
        g = self._coming_down
        x, down, bus = self.middle(device), g.down, g.along(BUS)
        return self._at(node, [(down, MEMORY[3] - 14), (down, bus), (x, bus), (x, ENTRY)])

    def nic_to_device(self, node: int, device: int) -> list[Point]:
        """Return the way of what the NIC writes into device memory: over the CPU it goes up and down by the other side of the uplink."""
        g = self._coming_down
        points = g.device_to_nic(node, device)[::-1]
        up, down = self.x(node, g.up), self.x(node, g.down)
        swapped = {up: down, down: up}
        # Up and down swap sides; all other places lie on neither.
        return [(swapped.get(x, x), y) for x, y in points]

    def through_cpu(self, node: int) -> list[Point]:
        """Return the way from host memory through the CPU and back."""
        # clear of the words in both
        y, start, turn = self.along((CPU[1] + CPU[3]) / 2), MEMORY[2] - 14, self.along(CPU[0] + 9)
        return self._at(node, [(start, y + 8), (turn, y + 8), (turn, y - 8), (start, y - 8)])

    def stub(self, node: int) -> list[Point]:
        """Return the way from the NIC to what is not drawn, the NIC included."""
        return [(self.x(node, PORT), WIRE), *self.leaving(node)]

    def leaving(self, node: int) -> list[Point]:
        """Return the way from the NIC to what is not drawn: the node's other neighbour, or into the switch that adds up."""
        if self.sums:
            return self._at(node, [(PORT, WIRE - SUM_LANE), (WIDTH / 2, WIRE - SUM_LANE)])
        return self._at(node, [(PORT, HEIGHT)])

    def coming(self, node: int) -> list[Point]:
        """Return the way from there to the NIC."""
        if self.sums:
            return self._at(node, [(WIDTH / 2, WIRE + SUM_LANE), (PORT, WIRE + SUM_LANE)])
        return self._at(node, [(PORT, HEIGHT)])

    def across(self) -> list[Point]:
        """Return the way between the two NICs, without these: straight, or up into the switch that adds up and down from it."""
        return [*self.leaving(0), *self.coming(1)] if self.sums else []

    def _at(self, node: int, points: list[Point]) -> list[Point]:
        return [(self.x(node, x), y) for x, y in points]


def geometry_of(run: Run) -> Geometry:
    """Return the positions in the picture of a run."""
    s = run.scenario
    shared = any(stage_kind(stage.name).track in SHARED for stage in s.stages)
    return Geometry(
        s.hardware,
        native=s.data_path.uses_own_ports,
        sums=s.sums_between,
        shared=shared,
        domain=s.nodes_per_domain > 1,
    )


def ways(geometry: Geometry, track: Track, device: int) -> list[list[Point]]:
    """Return the ways of a slice on a track of `peerlab.model.stages.Track`, in the order of `OWN`, `NEXT`, `PREVIOUS`, `BACK` of `peerlab.picture.shown_nodes`.

    A slice goes from node 0 to node 1; from node 1 to a third node; from a third node to node 0; from node 1 back to node 0. The last three
    share uplinks and NICs with the first, so they are drawn too, hollow. Out of sight a way ends.
    """
    g = geometry
    own, following, before = _ways(g, track, device)
    # What node 1 sends back is the mirror image of what it gets.
    return [own, following, before, [(WIDTH - x, y) for x, y in own]]


def stops(geometry: Geometry, track: Track, device: int) -> list[list[float | None]]:
    """Return how far along each of `ways` a slice may be before it is sent, received and turned (`peerlab.picture.frames.moves`).

    Those are the sender's NIC, the receiver's, and the corner before the last part; None: there is nothing of the kind on the way. A slice
    from somebody else comes into sight when the NIC takes it; from a switch that adds up when that sends it.
    """
    lines = ways(geometry, track, device)
    if track in ("device to host memory", "host memory to device"):
        return [[None, None, _fraction(points, 2)] for points in lines]
    if track not in _CROSSING:
        return [[None] * 3 for _ in lines]
    own, following, before, _ = lines
    corners = len(geometry.across())
    # The first corner at the receiver; where a switch adds up, past the corners at the switch.
    half = next(at for at, (x, _) in enumerate(own) if x > WIDTH / 2 and (not corners or x >= WIDTH - PORT))
    turns = len(own) - corners > 4
    beside = corners // 2 or 1  # corners between a NIC and where slices are out of sight
    sent = half - (corners or 1)
    across = [_fraction(own, sent), _fraction(own, half), _fraction(own, -2) if turns else None]
    leaves = [_fraction(following, -1 - beside), None, None]
    comes = [0.0 if corners else None, _fraction(before, beside), _fraction(before, -2) if turns else None]
    return [across, leaves, comes, across]


_CROSSING: tuple[Track, ...] = (
    "host memory to host memory",
    "host memory to the other device",
    "device to device",
    "port to port",
)
"""Tracks from node to node, over the wire: a stage on one of them uses a resource that sends (`tests/picture/test_wires.py`)."""
SHARED: tuple[Track, ...] = ("device to shared memory", "shared memory to the other device")
"""Tracks from node to node with no wire between them."""


def _fraction(points: list[Point], corner: int) -> float | None:
    """Return which part of a broken line lies before one of its corners."""
    if not points:
        return None
    # All ways go across or up, so lengths only add up.
    lengths = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(points)]
    return sum(lengths[: corner % len(points)]) / sum(lengths)


def _ways(g: Geometry, track: Track, device: int) -> tuple[list[Point], list[Point], list[Point]]:
    here = (g.middle(device), STAND)
    inside: dict[str, tuple[list[Point], list[Point], list[Point]]] = {
        "device to host memory": (g.to_memory(0, device), g.to_memory(1, device), []),
        "through the CPU": (g.through_cpu(0), g.through_cpu(1), []),
        "through the receiver's CPU": (g.through_cpu(1)[::-1], [], g.through_cpu(0)[::-1]),
        "host memory to device": (g.from_memory(1, device), [], g.from_memory(0, device)),
        "device to shared memory": (g.to_shared(0, device), g.to_shared(1, device), []),
        "shared memory to the other device": (
            g.to_shared(1, device)[::-1],
            [],
            g.to_shared(0, device)[::-1],
        ),
        "inside the device": ([(g.x(1, here[0]), here[1])], [], [here]),
    }
    return inside[track] if track in inside else _between(g, track, device)


def _between(g: Geometry, track: Track, device: int) -> tuple[list[Point], list[Point], list[Point]]:
    """Return the ways from node to node."""
    entry, leave = g.coming(0), g.leaving(1)
    if track == "host memory to host memory":
        into = [g.nic_to_memory(node, device) for node in (0, 1)]
        out = [g.memory_to_nic(node, device) for node in (0, 1)]
        return [*out[0], *g.across(), *into[1]], [*out[1], *leave], [*entry, *into[0]]
    if track == "port to port" and g.native:
        left, right = g.device_to_port(0, device), g.device_to_port(1, device)
        y = left[-1][1]
        return [*left, *right[::-1]], [*right, (WIDTH, y)], [(0.0, y), *left[::-1]]
    half = track == "host memory to the other device"
    out = [(g.memory_to_nic if half else g.device_to_nic)(node, device) for node in (0, 1)]
    into = [g.nic_to_device(node, device) for node in (0, 1)]
    return [*out[0], *g.across(), *into[1]], [*out[1], *leave], [*entry, *into[0]]


_PASSES: dict[Track, tuple[Part, ...]] = {
    "device to host memory": ("device link", "uplink", "host memory"),
    "host memory to device": ("device link", "uplink", "host memory"),
    "through the CPU": ("host memory", "CPU"),
    "through the receiver's CPU": ("host memory", "CPU"),
    "host memory to host memory": ("host memory", "uplink", "NIC", "wire"),
    "host memory to the other device": ("host memory", "uplink", "NIC", "wire", "device link"),
    "device to device": ("device link", "NIC", "wire"),
    "port to port": ("NIC", "wire"),
}


def passes(track: Track, *, native: bool) -> tuple[Part, ...]:
    """Return the parts of the picture that slices on a track go through; the devices' own ports are part of the wire."""
    return ("wire",) if native and track == "port to port" else _PASSES.get(track, ())
