"""The lower half of the data path's picture: devices, NICs, and the wire between the nodes."""

from peerlab.model.resources import RESOURCES, resource_kind
from peerlab.model.stages import stage_kind
from peerlab.view.drawing import HEIGHT, WIDTH, within
from peerlab.view.geometry import (
    BOX_BOTTOM,
    BOX_TOP,
    NIC,
    NODE_WIDTH,
    PORT,
    PORT_HALF,
    PORT_WIRE,
    SWITCH_BOTTOM,
    WIRE,
)
from peerlab.view.sketch import Sketch
from peerlab.view.wire import say_latency, say_rate, wire_Bps


def draw_devices(sketch: Sketch, node: int) -> None:
    """Draw the devices and the NIC of a node, and their links to the switch."""
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    for device in range(c.devices_per_switch):
        left, right = g.device(device)
        if g.switch:
            _link(sketch, node, g.middle(device), c.device_pcie_Bps)
        hot = sketch.hot_part == "device"
        edges = (g.x(node, left), BOX_TOP, g.x(node, right), BOX_BOTTOM)
        d.box("boxes", edges, "box", "hot" if hot else "edge", 2.5 if hot else 1.2)
        name = within(c.device_name, right - left, "" if c.devices_per_switch == 1 else f" {device}")
        d.text((g.x(node, g.middle(device)), 207), name, size=13, bold=True)
        if c.hbm_Bps:
            d.text(
                (g.x(node, g.middle(device)), 221), f"HBM{sketch.mark('device.hbm')}", size=11, ink="muted"
            )
    if g.switch:
        _link(sketch, node, PORT, c.nic_Bps)
    _nic(sketch, node)


def _nic(sketch: Sketch, node: int) -> None:
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    hot = sketch.hot_part == "NIC"
    edges = (g.x(node, NIC[0]), BOX_TOP, g.x(node, NIC[1]), BOX_BOTTOM)
    edge = "hot" if hot else "edge" if sketch.uses_nic else "faint"
    d.box("boxes", edges, "box", edge, 2.5 if hot else 1.2)
    beside, ink = g.x(node, (NIC[0] + PORT - 10) / 2), "ink" if sketch.uses_nic else "muted"
    d.text((beside, 207), "NIC" + sketch.mark("node.nics_per_switch"), size=13, bold=True, ink=ink)
    rate, speed = c.nic_Bps * 8 / 1e9, sketch.speed(node)
    slow = speed < 1 and sketch.uses_nic
    d.text(
        (beside, 223),
        f"{rate * speed:g} Gb/s" if sketch.uses_nic else "not used",
        size=11,
        bold=slow,
        ink="hot-ink" if slow else "muted",
    )


def _link(sketch: Sketch, node: int, x: float, rate: int | None) -> None:
    half = sketch.geometry.thickness(rate) / 2
    g = sketch.geometry
    sketch.drawing.box(
        "pipes", (g.x(node, x - half), SWITCH_BOTTOM, g.x(node, x + half), BOX_TOP), "box", "faint"
    )


def draw_wire(sketch: Sketch) -> None:
    """Draw what joins the nodes, with its rate, its latency and how busy it is."""
    d, s = sketch.drawing, sketch.run.scenario
    kinds = ("port_tx", "port_rx") if sketch.native else ("nic_tx", "nic_rx")
    fabric = sketch.hot if sketch.hot in RESOURCES and resource_kind(sketch.hot).scope == "fabric" else ""
    hot = sketch.hot in (*kinds, "latency") or bool(fabric)
    y, half = (PORT_WIRE, PORT_HALF) if sketch.native else (WIRE, sketch.geometry.thickness(wire_Bps(s)) / 2)
    inside = sketch.geometry.middle(0) if sketch.native else NIC[1]
    edges = (inside, y - half, WIDTH - inside, y + half)
    d.box("pipes", edges, "box", "hot" if hot else "edge", 1.6 if hot else 1.0)
    busy = sketch.part(0, kinds[0])
    if busy:
        load = (inside, y - half * busy, WIDTH - inside, y + half * busy)
        d.box("loads", load, f"{_crossing(sketch)}-wash", "none")
    named = sketch.hot != "latency" and hot
    share = (
        f"{resource_kind(fabric).label} {sketch.run.busy[fabric]:.0%} busy"
        if fabric
        else _sender(sketch) + sketch.share(0, kinds[0])
        if sketch.native or sketch.uses_nic
        else "not used"
    )
    names = (
        (y - half - 42, y - half - 26, y - half - 10)
        if sketch.native
        else (y - half - 10, y + half + 11, y + half + 27)
    )
    name = say_rate(s, sketch.sight.node, sketch.speed(0))
    d.text((WIDTH / 2, names[0]), name, size=12, bold=True)
    d.text((WIDTH / 2, names[1]), share, size=12, bold=named, ink="hot-ink" if named else "muted")
    hot = sketch.hot == "latency"
    ink = "hot-ink" if hot else "muted"
    d.text((WIDTH / 2, names[2]), say_latency(s), size=11, bold=hot, ink=ink)


def _crossing(sketch: Sketch) -> str:
    """Return the role of the stage that crosses the wire."""
    return next((kind.role for kind in map(stage_kind, sketch.stages) if kind.counts_as == "send"), "network")


def draw_alone(sketch: Sketch) -> None:
    """Say, where a second node would be, what a node does that has no partner."""
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    x, y = g.x(1, NODE_WIDTH / 2), HEIGHT / 2
    d.text((x, y - 24), "One node: nothing crosses a NIC or a wire.", size=13, bold=True)
    if c.devices == 1:
        d.text((x, y), f"Its one {c.device_name} has nobody to exchange with.", size=12, ink="muted")
        return
    hot = sketch.hot in ("scaleup", "scaleup_reduce")
    d.text((x, y), f"Its {c.devices} {c.device_name} exchange over links of their own,", size=12, ink="muted")
    rate = f"{c.scaleup_Bps * (c.devices - 1) / 1e9:g} GB/s each{sketch.mark('scaleup.rate')}"
    busy = sketch.share(0, "scaleup")
    d.text((x, y + 20), f"{rate}, {busy}", size=12, bold=hot, ink="hot-ink" if hot else "muted")


def _sender(sketch: Sketch) -> str:
    """Return whose NIC is meant where nodes differ."""
    alike = sketch.run.trace.folded or sketch.run.scenario.collective == "point-to-point"
    if alike or not sketch.share(0, "nic_tx"):
        return ""
    return f"node {sketch.sight.node}'s {'ports' if sketch.native else 'NIC'} sending, "
