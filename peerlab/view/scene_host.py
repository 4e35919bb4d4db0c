"""The upper half of a node in the data path's picture: host memory, CPU, the uplink to them, the switch below it."""

from peerlab.model.stages import Track
from peerlab.view.drawing import HEIGHT
from peerlab.view.geometry import (
    CPU,
    MEMORY,
    NODE_WIDTH,
    SWITCH_BOTTOM,
    SWITCH_TOP,
    UPLINK,
    waiting_places,
)
from peerlab.view.sketch import Sketch


def draw_node(sketch: Sketch, node: int) -> None:
    """Draw the background of a node, below everything else of it."""
    g, d, s = sketch.geometry, sketch.drawing, sketch.run.scenario
    d.box("panels", (g.x(node, 0.8), 0.8, g.x(node, NODE_WIDTH), HEIGHT - 0.8), "panel", "faint")
    if s.collective != "point-to-point" and s.nodes > 1:
        d.line(g.stub(node), "faint", 2)
    switches = sketch.cluster.numa_domains * sketch.cluster.switches_per_numa
    if switches > 1 and s.collective != "point-to-point":
        several = "such groups" if "switch.uplink" in sketch.cluster.leaves_out else "PCIe switches"
        note = f"1 of {switches} {several}" + (", all alike" if sketch.run.trace.folded else "")
        d.text((g.x(node, 14), g.foot), note, size=11, ink="muted", align=sketch.align(node))


def draw_host(sketch: Sketch, node: int) -> None:
    """Draw what is above the devices of a node, or say why nothing is known of it."""
    if sketch.geometry.host:
        _host(sketch, node)
        _uplink(sketch, node)
    else:
        _no_host(sketch, node)
    if sketch.geometry.switch:
        _switch(sketch, node)


def _host(sketch: Sketch, node: int) -> None:
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    staged, works = sketch.run.scenario.staged, sketch.cores
    hot = {name: sketch.hot == name for name in ("dram", "core")}
    for (left, top, right, bottom), kind, used in ((MEMORY, "dram", staged), (CPU, "core", works)):
        edge = "hot" if hot[kind] else ("edge" if used else "faint")
        d.box(
            "boxes",
            (g.x(node, left), top, g.x(node, right), bottom),
            "box",
            edge,
            2.5 if hot[kind] else 1.2,
        )
    ink = "ink" if staged else "muted"
    d.text((g.x(node, sum(MEMORY[::2]) / 2), 39), "Host memory", size=13, bold=True, ink=ink)
    use = "untouched" if not staged else sketch.share(node, "dram") if c.dram_Bps else "no limit here"
    dram = f"DRAM{sketch.mark('host.dram')}" + (f", {use}" if use else "")
    d.text((g.x(node, sum(MEMORY[::2]) / 2), 54), dram, size=11, ink="hot-ink" if hot["dram"] else "muted")
    d.text(
        (g.x(node, sum(CPU[::2]) / 2), 46),
        "CPU cores" if works else "CPU",
        size=13,
        bold=True,
        ink="ink" if works else "muted",
    )
    cores = c.devices * c.cores_per_device if c.cores_per_device else 0
    note = f"{sketch.run.cores_busy:.1f} of {cores}" if works else ("schedules" if staged else "not needed")
    d.text((g.x(node, sum(CPU[::2]) / 2), 62), note, size=11, ink="hot-ink" if hot["core"] else "muted")
    if staged:
        _bounce_buffers(sketch, node)


_BUFFERS: tuple[Track, Track] = ("host memory to host memory", "host memory to device")
"""What slices wait for in the bounce buffers of the sending side, and of the receiving side."""


def _bounce_buffers(sketch: Sketch, node: int) -> None:
    """Draw a place for every bounce buffer of the side that this node shows."""
    track = _BUFFERS[node]
    for device in range(min(sketch.cluster.devices_per_switch, 2)):
        for x, y in waiting_places(sketch.geometry, track, device)[: sketch.run.scenario.window_slices]:
            sketch.drawing.box("slots", (x - 4.5, y - 4.5, x + 4.5, y + 4.5), "panel", "faint")


def _no_host(sketch: Sketch, node: int) -> None:
    """Say in place of a host why none is drawn: a bare fabric has none, and of other clusters nothing is known about it."""
    lines = (
        ("A bare fabric: no host, nothing to stage through.", "The reference simulations use it.")
        if not sketch.geometry.switch
        else ("Host memory and CPU: not described here,", f"and not used by {sketch.path.title}.")
    )
    x = sketch.geometry.x(node, NODE_WIDTH / 2)
    for line, text in enumerate(lines):
        sketch.drawing.text((x, 82 + 18 * line), text, size=12, ink="muted")


def _switch(sketch: Sketch, node: int) -> None:
    g, d = sketch.geometry, sketch.drawing
    d.box("pipes", (g.x(node, 14), SWITCH_TOP, g.x(node, 390), SWITCH_BOTTOM), "box", "faint", 1.2)
    name = "links in the node" if "switch.uplink" in sketch.cluster.leaves_out else "PCIe switch"
    align = "right" if node == 0 else "left"
    d.text((g.x(node, 386), 136), name, size=11, ink="muted", align=align)


def _uplink(sketch: Sketch, node: int) -> None:
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    hot = sketch.hot_part == "uplink"
    half = g.thickness(c.uplink_Bps) / 2
    for kind, side in (("uplink_up", -1), ("uplink_down", 1)):
        x = UPLINK + side * g.lane
        edges = (g.x(node, x - half), MEMORY[3], g.x(node, x + half), SWITCH_TOP)
        d.box("pipes", edges, "box", "hot" if hot else "edge", 2.5 if hot else 1.0)
        full = half * sketch.part(node, kind)
        if full:
            edges = (g.x(node, x - full), MEMORY[3], g.x(node, x + full), SWITCH_TOP)
            d.box("loads", edges, "hot-fill" if hot else "faint", "none")
    x = g.x(node, UPLINK + 2 * g.lane + 10)
    align = sketch.align(node)
    if "switch.uplink" not in c.figures:
        name, rate = "way to host memory", ""
        share = "not a limit here" if sketch.run.scenario.staged else "not used"
    else:
        name, rate = "PCIe uplink", f"{c.uplink_Bps / 1e9:g} GB/s each way{sketch.mark('switch.uplink')}"
        share = sketch.share(node, "uplink_up", "uplink_down")
    d.text((x, 101), name, size=12, bold=True, align=align)
    if rate:
        d.text((x, 116), rate, size=11, ink="muted", align=align)
    d.text(
        (x, 131 if rate else 116),
        share,
        size=11,
        bold=hot,
        ink="hot-ink" if hot else "muted",
        align=align,
    )
