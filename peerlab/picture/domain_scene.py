"""A rack in the data path's picture: the trays of an NVLink domain, the switches that join their devices, and one tray's device and NIC."""

from peerlab.base.units import say_count
from peerlab.model.resources import capacity_Bps
from peerlab.picture.drawing import HEIGHT
from peerlab.picture.geometry import BOX_TOP, NODE_WIDTH, SWITCH_BOTTOM, SWITCH_TOP
from peerlab.picture.sketch import Sketch

_LEFT, _RIGHT = 14.0, 390.0
_TRAYS = (34.0, 104.0)
"""Top and bottom of the trays, which stand side by side."""
_TITLE, _NICS = 17.0, 39.0
_SQUARE, _GAP = 7.0, 4.0
_MOST = 4
"""Devices of a tray that are drawn as squares, one below the other."""
_MOST_NICS = 8
"""NICs of a tray that are drawn, in rows of four."""


def draw_domain(sketch: Sketch, node: int) -> None:
    """Draw the trays of a domain and the NVLink switches that join them, in the place of a host."""
    g, d, s = sketch.geometry, sketch.drawing, sketch.run.scenario
    sketch.parts.add("device")
    # A domain may have more trays than take part: the others are drawn empty.
    each, of = s.nodes_per_domain, s.given_cluster.domain_nodes or s.nodes_per_domain
    busy, hot = sketch.part(node, "scaleup"), sketch.hot_part == "device"
    pitch = (_RIGHT - _LEFT) / of
    # Of one domain alone no NIC has anything to do.
    idle = s.domains == 1
    for tray in range(of):
        left = _LEFT + tray * pitch
        _tray(sketch, node, left + 1.5, left + pitch - 1.5, here=tray < each, idle=idle, busy=busy)
    d.box(
        "boxes", (g.x(node, _LEFT), SWITCH_TOP, g.x(node, _RIGHT), SWITCH_BOTTOM), "box", "hot" if hot else "edge", 2.5 if hot else 1.2,
    )  # fmt: skip
    rate = f"NVLink: {capacity_Bps(sketch.cluster, 'scaleup') / 1e9:.4g} GB/s a {sketch.cluster.device_name}{sketch.mark('domain.rate')}"
    share = sketch.share(node, "scaleup")
    sketch.told.add("scaleup")
    sentence = sketch.figure(node, "NVLink", f"{rate}, {share}" if share else rate) or "NVLink"
    at = (g.x(node, (_LEFT + _RIGHT) / 2), (SWITCH_TOP + SWITCH_BOTTOM) / 2)
    d.text(at, sentence, size=12, bold=True, ink="hot-ink" if hot else "ink")
    outer = sketch.align(1 - node)
    trays = say_count(each, "node") + (f" of {of}" if each < of else "")
    nics = say_count(sketch.cluster.nics, "NIC")
    words = sketch.figure(node, "trays", f"{trays}, {nics} {'idle' if idle else 'at work'}")
    d.text((g.x(node, _RIGHT), _TITLE), words, size=12, ink="muted", align=outer)


def _tray(
    sketch: Sketch, node: int, left: float, right: float, *, here: bool, idle: bool, busy: float
) -> None:
    """Draw a tray: its NICs above, its devices below, and their links to the switches, as full as they are busy."""
    g, d, c = sketch.geometry, sketch.drawing, sketch.run.scenario.given_cluster
    ink = "edge" if here else "faint"
    d.box("boxes", (g.x(node, left), _TRAYS[0], g.x(node, right), _TRAYS[1]), "box", ink, 1.0)
    middle = (left + right) / 2
    shown = min(c.devices, _MOST)
    nics = min(c.nics, _MOST_NICS)
    wide, of_row = min(2.2, (right - left - 4) / 2 / max(1, shown)), min(nics, _MOST)
    for place in range(nics):
        x = left + (right - left) * (place % of_row + 0.5) / of_row
        # two rows share the room above the devices
        y = _NICS + (place // of_row * (2 * wide + 3) - 2.5 if nics > of_row else 0)
        fill = "direct" if here and not idle else "box"
        line = "direct" if here and not idle else ink
        d.box(
            "slots",
            (g.x(node, x - wide), y, g.x(node, x + wide), y + 2 * wide + 2),
            fill,
            line,
        )
    top = _NICS + 13.0
    for place in range(shown):
        y = top + place * (_SQUARE + _GAP)
        edges = (g.x(node, middle - _SQUARE / 2), y, g.x(node, middle + _SQUARE / 2), y + _SQUARE)
        d.box("slots", edges, "gather" if here else "box", "gather" if here else "faint")
    if here:
        half = 3.0
        edges = (g.x(node, middle - half), _TRAYS[1], g.x(node, middle + half), SWITCH_TOP)
        d.box("pipes", edges, "box", "edge", 0.8)
        full = (g.x(node, middle - half * busy), _TRAYS[1], g.x(node, middle + half * busy), SWITCH_TOP)
        d.box("loads", full, "hot-fill" if sketch.hot_part == "device" else "gather", "none")


def draw_tray(sketch: Sketch, node: int) -> None:
    """Draw the background of a domain, and how its one device hangs at the switches; its NIC goes to the wire."""
    g, d = sketch.geometry, sketch.drawing
    d.box("panels", (g.x(node, 0.8), 0.8, g.x(node, NODE_WIDTH), HEIGHT - 0.8), "panel", "faint")
    half, x = 6.0, g.middle(0)
    d.box("pipes", (g.x(node, x - half), SWITCH_BOTTOM, g.x(node, x + half), BOX_TOP), "box", "edge", 1.0)
    full = half * sketch.part(node, "scaleup")
    d.box(
        "loads", (g.x(node, x - full), SWITCH_BOTTOM, g.x(node, x + full), BOX_TOP),
        "hot-fill" if sketch.hot_part == "device" else "gather", "none",
    )  # fmt: skip
    own = sketch.cluster.nics_per_device
    nics = f"{own} NICs" if own > 1 else "NIC"
    note = f"1 of {sketch.cluster.devices} {sketch.cluster.device_name} and its {nics}"
    note = sketch.figure(node, "device", note)
    d.text((g.x(node, _LEFT), g.foot), note, size=11, ink="muted", align=sketch.align(node))
