"""The lower half of the data path's picture: devices, NICs, and the wire between the nodes."""

from peerlab.answer.lanes import has_lane
from peerlab.answer.metrics import BUSY
from peerlab.base.units import say_percent
from peerlab.model.resources import capacity_Bps, resource_kind
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import HEIGHT, HOT_EDGE, SMALL, WIDTH, within
from peerlab.picture.geometry import (
    BOX_BOTTOM,
    BOX_TOP,
    CPU,
    NIC,
    PORT,
    PORT_HALF,
    PORT_WIRE,
    SHELF,
    SUM_BOX,
    SUM_LANE,
    SWITCH_BOTTOM,
    SWITCH_TOP,
)
from peerlab.picture.shown_nodes import unit
from peerlab.picture.sketch import Sketch
from peerlab.picture.waiting import FROM_DEVICE
from peerlab.picture.wire import say_latency, say_rate, wire_Bps

_LINES = (9.8, 24.4, 39.0)
"""Where the lines of words in the boxes of devices and NICs stand, below their tops, if there are three."""
_TWO, _ONE, _BESIDE_SLICES = (15.0, 31.0), (23.0,), (9.0, 38.0)
"""The same where nothing else is in a box: in its middle, as in the CPU's; and above and below slices that come straight from the device."""
_ALONE, _ABOVE = (15.4,), (9.8, 22.7)
"""The same above the slices in a device: of a name alone, and of two lines with as much room above, between and below them."""


def draw_devices(sketch: Sketch, node: int) -> None:
    """Draw the devices and the NIC of a node, and their links to the switch."""
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    sketch.parts.update(("device", "NIC"))
    for device in range(c.devices_per_switch):
        left, right = g.device(device)
        hot = sketch.is_hot("device", node)
        edges = (g.x(node, left), BOX_TOP, g.x(node, right), BOX_BOTTOM)
        d.box("boxes", edges, "box", "hot" if hot else "edge", HOT_EDGE if hot else 1.2)
        number = "" if c.devices_per_switch == 1 else f" {sketch.first_device + device}"
        name = within(c.device_name, right - left, number)
        words = [f"HBM{sketch.mark('device.hbm')}"] if c.hbm_Bps else []
        places = (_TWO if words else _ONE) if g.switch else _LINES
        if g.switch and _holds_slices(sketch):
            d.box("slots", (g.x(node, left + 6), SHELF[0], g.x(node, right - 6), SHELF[1]), "panel", "lane")
            places = _ABOVE if words else _ALONE
        middle = g.x(node, g.middle(device))
        d.text((middle, BOX_TOP + places[0]), name, size=13, bold=True)
        for y, line in zip(places[1:], words, strict=False):
            d.text((middle, BOX_TOP + y), line, size=11, ink="muted")
    if g.switch:
        _device_links(sketch, node)
        _nic_link(sketch, node)
    _nic(sketch, node)


def _holds_slices(sketch: Sketch) -> bool:
    """Return whether slices stand in the devices: before they leave, or while they are added up."""
    return any(stage_kind(stage).track in (*FROM_DEVICE, "inside the device") for stage in sketch.drawn)


def _nic_link(sketch: Sketch, node: int) -> None:
    """Draw the link of the NIC: to the switch, or past it to the CPU, where it hangs there."""
    if not sketch.geometry.apart:
        _link(sketch, node, PORT, _nic_Bps(sketch))
        return
    _link(sketch, node, PORT, _nic_Bps(sketch), top=CPU[3])
    name = "other socket" if sketch.cluster.wiring.place.over_sockets else "root port"
    x, align = (PORT - sketch.geometry.thickness(_nic_Bps(sketch)) / 2 - 6, "left" if node else "right")
    at = (sketch.geometry.x(node, x), (SWITCH_TOP + SWITCH_BOTTOM) / 2)
    sketch.drawing.text(at, f"{name}{_mark_wiring(sketch)}", size=11, ink="muted", align=align)


def _mark_wiring(sketch: Sketch) -> str:
    """Return the sign of an assumption where it is assumed that the NIC hangs where it is drawn."""
    return " †" if sketch.cluster.wiring.assumption else ""


def _device_links(sketch: Sketch, node: int) -> None:
    """Draw the links between devices and switch, and say beside the last how busy the busiest is."""
    g, rate = sketch.geometry, sketch.cluster.device_pcie_Bps
    sketch.parts.add("device link")
    hot, last = sketch.is_hot("device link", node), sketch.cluster.devices_per_switch - 1
    for device in range(last + 1):
        _link(sketch, node, g.middle(device), rate, hot=hot)
    x = g.middle(last) + g.thickness(rate) / 2 + 6
    # Words end in front of the NIC's link.
    room = PORT - g.thickness(_nic_Bps(sketch)) / 2 - 6 - x
    words = _link_words(sketch, node, room)
    if words and not hot:
        at = (g.x(node, x), (SWITCH_BOTTOM + BOX_TOP) / 2)
        words = sketch.figure(node, "device link", words)
        sketch.drawing.text(at, words, size=11, ink="muted", align=sketch.align(node))


def _link_words(sketch: Sketch, node: int, room: float) -> str:
    """Return how busy the device links are, or what else of a device is and has no lane, where there is room for that."""
    if sketch.on("device link"):
        name, share = sketch.says(node, "device link", "device PCIe", (room - _SHARE) * SMALL)
        return f"{name}, {share}" if name and share and not name.endswith("…") else share
    inside = [kind for kind in sketch.on("device") if not has_lane(kind)]
    name, share = (
        resource_kind(sketch.busiest(node, inside)).label if inside else "",
        sketch.share(node, *inside),
    )
    if not share or share == "idle" or within(name, (room - _SHARE) * SMALL) != name:
        return ""
    sketch.told.update(inside)
    return f"{name}, {share}"


_SHARE = 95.0
"""Room that a busy share takes behind a name, where words are largest."""


def _nic_Bps(sketch: Sketch) -> int:  # noqa: N802
    """Return the rate of what the path sends with, where a NIC stands for it; else that of the NIC."""
    kinds = [kind for kind in sketch.sends if kind in sketch.on("NIC")]
    return capacity_Bps(sketch.cluster, kinds[0]) if kinds else sketch.cluster.nic_Bps


def _nic(sketch: Sketch, node: int) -> None:
    g, d = sketch.geometry, sketch.drawing
    # within one NVLink domain no NIC has anything to do, whatever the path
    used = sketch.uses("NIC") and not (s := sketch.run.scenario).domains == 1 < s.nodes
    hot = sketch.is_hot("NIC", node)
    edges = (g.x(node, NIC[0]), BOX_TOP, g.x(node, NIC[1]), BOX_BOTTOM)
    edge = "hot" if hot else "edge" if used else "faint"
    d.box("boxes", edges, "box", edge, HOT_EDGE if hot else 1.2)
    name, *below = _nic_words(sketch, node, used=used)
    # slices pass between the words where they come straight from the device
    places = _BESIDE_SLICES if not g.switch else (_ONE, _TWO, _LINES)[len(below)]
    middle = g.x(node, sum(NIC) / 2)
    d.text((middle, BOX_TOP + places[0]), name, size=13, bold=True, ink="ink" if used else "muted")
    # the last line first: where room is short, what comes first has it, and that is the rate
    for y, words in reversed(list(zip(places[1:], below, strict=False))):
        d.text((middle, BOX_TOP + y), words, size=11, ink="muted")


def _nic_words(sketch: Sketch, node: int, *, used: bool) -> list[str]:
    """Return what the box of the NICs says: how many there are, and what each carries, in two lines if there is room for them."""
    count = sketch.cluster.nics_per_switch
    mark = _mark_wiring(sketch) or sketch.mark("node.nics_per_switch")
    name, which = sketch.nics(node)
    name += mark
    if not used:
        return [name, "idle" if sketch.run.scenario.nodes_per_domain > 1 else "not used"]
    if not sketch.on("NIC"):
        return [name, "no limit"]
    # A NIC's rate is said in bits, as its maker says it.
    rate = f"{_nic_Bps(sketch) * 8 / 1e9 * sketch.speed(node):.4g} Gb/s"
    below = [f"{which}each", rate] if count > 1 and sketch.geometry.switch else [rate]
    if not sketch.figure(node, "NIC", " ".join(below)):
        return [name]
    return [name, *below] if count == 1 or sketch.geometry.switch else [f"{name} of", *below]


def _link(
    sketch: Sketch, node: int, x: float, rate: int | None, *, hot: bool = False, top: float = SWITCH_BOTTOM
) -> None:
    # Nothing but slices fills it: beside them a grey ground, as wide as it is busy, was a second sign.
    g, d, half = sketch.geometry, sketch.drawing, sketch.geometry.thickness(rate) / 2
    edges = (g.x(node, x - half), top, g.x(node, x + half), BOX_TOP)
    d.box("pipes", edges, "box", "hot" if hot else "lane", HOT_EDGE if hot else 1.0)


def draw_wire(sketch: Sketch) -> None:
    """Draw what joins the nodes, with its rate, its latency and how busy it is."""
    d, s = sketch.drawing, sketch.run.scenario
    sketch.parts.add("wire")
    y, half = _draw_wires(sketch, hot=sketch.hot_part == "wire")
    # A line's height apart, if the wires leave room.
    lowest = max(y + half + 22, min(HEIGHT - 7, y + half + 27))
    names = (
        (y - half - 42, y - half - 26, y - half - 10)
        if sketch.native
        else (y - half - 10, max(y + half + 9, lowest - 16), lowest)
    )
    name = say_rate(s, sketch.speed(0))
    below = [_sending(sketch), say_latency(s)]
    if s.sums_between:
        # Slices go up and come down inside the box.
        half = max(half, SUM_LANE + 6)
        names = (y - half - 8, y + half + 13, y + half + 26)
        d.box("boxes", (SUM_BOX[0], y - half, SUM_BOX[1], y + half), "box", "edge", 1.6)
        d.text((WIDTH / 2, y), f"{s.domains} in, 1 out", size=13, bold=True)
        below[0] = ", ".join(filter(None, (name.removeprefix("wire, "), below[0])))
        name = f"switch adds up {s.domains} {unit(s)}s"
    d.text((WIDTH / 2, names[0]), name, size=12, bold=True)
    for y, words in zip(names[1:], filter(None, below), strict=False):
        # A wire that is hardly busy limits nothing: where the run waits for latency, its words say so.
        hot = sketch.hot == "latency" and words == below[-1]
        d.text((WIDTH / 2, y), words, size=11, bold=hot, ink="hot-ink" if hot else "muted")


def _draw_wires(sketch: Sketch, *, hot: bool) -> tuple[float, float]:
    """Draw the ports' joint link or the wires of the NICs, as full as they are busy; return the middle and half the height of all."""
    d, g = sketch.drawing, sketch.geometry
    half = PORT_HALF if sketch.native else g.wire_half(wire_Bps(sketch.run.scenario))
    places = [PORT_WIRE] if sketch.native else [g.wire(device) for device in range(g.wires)]
    inside = g.middle(0) if sketch.native else NIC[1]
    busy = max((sketch.part(0, kind) for kind in sketch.sends), default=0.0)
    for y in places:
        edges = (inside, y - half, WIDTH - inside, y + half)
        d.box("pipes", edges, "box", "hot" if hot else "edge", HOT_EDGE if hot else 1.0)
        if busy:
            load = (inside, y - half * busy, WIDTH - inside, y + half * busy)
            d.box("loads", load, f"{_crossing(sketch)}-wash", "none")
    return (places[0] + places[-1]) / 2, (places[-1] - places[0]) / 2 + half


def _joining(sketch: Sketch) -> list[str]:
    """Return the kinds of resources that join the nodes: NICs, ports, links of the fabric."""
    fabric = [kind for kind in sketch.run.busy if resource_kind(kind).scope == "fabric"]
    return list(dict.fromkeys((*sketch.sends, *sketch.on("NIC"), *sketch.on("wire"), *fabric)))


def _sending(sketch: Sketch) -> str:
    """Return how busy the nodes keep what joins them: what they send with, and what else is busy and has no lane.

    Of what else is the bottleneck and marked, and of one node's NIC, the headline says it.
    """
    others = [kind for kind in _joining(sketch) if kind not in sketch.sends and not has_lane(kind)]
    # What limits the run is told before all else.
    if sketch.hot in _joining(sketch) and sketch.hot not in sketch.sends:
        others = [sketch.hot]
    text = max(others, key=lambda kind: sketch.run.busy.get(kind, 0.0), default="")
    busy = sketch.run.busy.get(text, 0.0)
    label = sketch.cluster.says(resource_kind(text).label) if text else ""
    other = f"{label} {say_percent(busy)} busy" if busy >= BUSY else ""
    sketch.told.update(others if other else ())
    sketch.told.update(sketch.sends)
    if _is_marked(sketch):
        if sketch.hot not in sketch.sends or _sender(sketch):
            return ""
        other = ""
    if sketch.sends:
        return _sender(sketch) + sketch.share(0, *sketch.sends) + (f"; {other}" if other else "")
    return other or ("no limit here" if sketch.uses("wire") else "not used")


def _is_marked(sketch: Sketch) -> bool:
    """Return whether the bottleneck is what joins the nodes, and in sight."""
    at_nic = sketch.is_hot("NIC", 0) or sketch.is_hot("NIC", 1)
    return sketch.hot in _joining(sketch) and (sketch.hot_part != "NIC" or at_nic)


def _crossing(sketch: Sketch) -> str:
    """Return the role of the stage that crosses the wire."""
    return next((kind.role for kind in map(stage_kind, sketch.stages) if kind.counts_as == "send"), "network")


def _sender(sketch: Sketch) -> str:
    """Return whose NIC is meant where nodes differ."""
    alike = sketch.run.trace.folded or sketch.run.scenario.collective_record.is_message
    if alike:
        return ""
    what = "ports" if sketch.native else "NIC" if sketch.cluster.nics_per_switch == 1 else "NICs"
    return f"{unit(sketch.run.scenario)} {sketch.sight.node}'s {what} "
