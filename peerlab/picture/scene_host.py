"""The upper half of a node in the data path's picture: host memory, CPU, the uplink to them, the switch below it."""

from peerlab.model.resources import Part, capacity_Bps, resource_kind
from peerlab.model.stages import Track
from peerlab.picture.drawing import CELL, HEIGHT, HOT_EDGE, WAY_OF_OTHERS
from peerlab.picture.geometry import (
    ARROW,
    CPU,
    MEMORY,
    NODE_WIDTH,
    SWITCH_BOTTOM,
    SWITCH_RIGHT,
    SWITCH_TOP,
    UPLINK,
)
from peerlab.picture.sketch import Sketch
from peerlab.picture.waiting import waiting_places


def draw_node(sketch: Sketch, node: int) -> None:
    """Draw the background of a node, below everything else of it."""
    g, d, s = sketch.geometry, sketch.drawing, sketch.run.scenario
    d.box("panels", (g.x(node, 0.8), 0.8, g.x(node, NODE_WIDTH), HEIGHT - 0.8), "panel", "faint")
    if sketch.slices and not s.collective_record.is_message and s.domains > 1:
        d.line(g.stub(node), WAY_OF_OTHERS, 2)
    switches = sketch.cluster.numa_domains * sketch.cluster.switches_per_numa
    if switches > 1 and not s.collective_record.is_message:
        several = "such groups" if "switch.uplink" in sketch.cluster.leaves_out else "PCIe switches"
        d.text(
            (g.x(node, 14), g.foot),
            sketch.figure(node, "switches", f"1 of {switches} {several}"),
            size=11,
            ink="muted",
            align=sketch.align(node),
        )


def draw_host(sketch: Sketch, node: int) -> None:
    """Draw what is above the devices of a node, or say why nothing is known of it."""
    if sketch.geometry.host or any(map(sketch.uses, _HOST_PARTS)):
        sketch.parts.update(_HOST_PARTS)
        _memory(sketch, node)
        _cpu(sketch, node)
        _uplink(sketch, node)
    else:
        _no_host(sketch, node)
    if sketch.geometry.switch:
        _switch(sketch, node)


_HOST_PARTS: tuple[Part, ...] = ("host memory", "CPU", "uplink")


def _box(sketch: Sketch, node: int, at: tuple[float, ...], *, hot: bool, used: bool) -> float:
    """Draw a box and return its middle."""
    g, (left, top, right, bottom) = sketch.geometry, at
    edge = "hot" if hot else ("edge" if used else "faint")
    sketch.drawing.box(
        "boxes", (g.x(node, left), top, g.x(node, right), bottom), "box", edge, HOT_EDGE if hot else 1.2
    )
    return g.x(node, (left + right) / 2)


def _memory(sketch: Sketch, node: int) -> None:
    d, staged = sketch.drawing, sketch.run.scenario.bounces
    hot, used = sketch.is_hot("host memory", node), staged or sketch.uses("host memory")
    x, top = _box(sketch, node, MEMORY, hot=hot, used=used), MEMORY[1]
    # Above the buffers; as high as the CPU's words where there are none.
    first, second = (11, 25) if staged and (node == 0 or not sketch.path.half_staged) else (22, 38)
    d.text((x, top + first), "Host memory", size=13, bold=True, ink="ink" if used else "muted")
    name, use = "", "no limit here" if used else "untouched"
    # It is passed, and no figure of it limits anything: that is not idle.
    if sketch.on("host memory"):
        name, use = sketch.says(node, "host memory", "DRAM", MEMORY[2] - MEMORY[0] - 70)
        use = sketch.figure(node, "host memory", use)
    name = name or f"DRAM{sketch.mark('host.dram')}"
    d.text((x, top + second), f"{name}, {use}" if use and not hot else name, size=11, ink="muted")
    if staged and (node == 0 or not sketch.path.half_staged):
        _bounce_buffers(sketch, node)


_CPU_NAME = (29.5, 22.0, 15.0)
"""Where the CPU's name stands in its box, below its top: alone, or above one line or two."""


def _cpu(sketch: Sketch, node: int) -> None:
    d, c, works = sketch.drawing, sketch.cluster, sketch.uses("CPU")
    hot = sketch.is_hot("CPU", node)
    x, top = _box(sketch, node, CPU, hot=hot, used=works), CPU[1]
    name, share = sketch.says(node, "CPU", "CPU", CPU[2] - CPU[0] - 8)
    cores = c.devices * c.cores_per_device if c.cores_per_device else 0
    if name or (works and not any(resource_kind(kind).is_core for kind in sketch.kinds)):
        note = sketch.figure(node, "CPU", share) if sketch.on("CPU") else "no limit here"
    elif works:
        note = sketch.figure(node, "CPU", f"{sketch.run.cores_busy:.1f} of {cores}")
    else:
        note = "schedules" if sketch.run.scenario.bounces else "no copies"
    # What is no core says what the CPU does: two lines below its name.
    is_core = any(resource_kind(kind).is_core for kind in sketch.kinds)
    title, lines = (
        ("CPU", [name, note]) if name and not is_core else (name or ("CPU cores" if works else "CPU"), [note])
    )
    lines = list(filter(None, lines))
    first = top + _CPU_NAME[len(lines)]
    d.text((x, first), title, size=13, bold=True, ink="ink" if works else "muted")
    for row, line in enumerate(lines, 1):
        d.text((x, first + (16 if len(lines) == 1 else 14.5) * row), line, size=11, ink="muted")


_BUFFERS: tuple[Track, Track] = ("host memory to host memory", "host memory to device")
"""What slices wait for in the bounce buffers of the sending side, and of the receiving side."""


def _bounce_buffers(sketch: Sketch, node: int) -> None:
    """Draw a place for every bounce buffer of the side that this node shows."""
    track = _BUFFERS[node]
    # There are two shelves.
    for device in range(min(sketch.cluster.devices_per_switch, 2)):
        for x, y in waiting_places(sketch.geometry, track, device)[: sketch.run.scenario.window_slices]:
            sketch.drawing.box(
                "slots", (x - CELL / 2, y - CELL / 2, x + CELL / 2, y + CELL / 2), "panel", "lane"
            )


def _no_host(sketch: Sketch, node: int) -> None:
    """Say in place of a host why none is drawn: a bare fabric has none, and of other clusters nothing is known about it."""
    lines = (
        ("A bare fabric: no host, nothing to stage through.", "The reference simulations use it.")
        if not sketch.geometry.switch
        else ("Host memory and CPU: not described here,", f"and not used by {sketch.path.title}.")
    )
    x = sketch.geometry.x(node, NODE_WIDTH / 2)
    for line, text in enumerate(lines):
        sketch.drawing.text((x, 56 + 18 * line), text, size=12, ink="muted")


def _switch(sketch: Sketch, node: int) -> None:
    g, d = sketch.geometry, sketch.drawing
    right = SWITCH_RIGHT if g.apart else 390
    d.box("pipes", (g.x(node, 14), SWITCH_TOP, g.x(node, right), SWITCH_BOTTOM), "box", "lane", 1.2)
    name = "links in the node" if "switch.uplink" in sketch.cluster.leaves_out else "PCIe switch"
    if g.redirected:
        name = "PCIe switch, ACS redirect"
    # Beside the uplink's words is no room for it where the bar ends before the NIC; left of the uplink slices wait.
    outer = g.apart or (name == "PCIe switch" and not sketch.slices)
    align = sketch.align(node) if outer else "right" if node == 0 else "left"
    d.text((g.x(node, 18 if outer else 386), SWITCH_TOP - 8), name, size=11, ink="muted", align=align)


_LANES = ("uplink_up", "uplink_down")


def _beside_lanes(sketch: Sketch) -> list[str]:
    """Return what else crosses the uplink: it loads both directions."""
    return [kind for kind in sketch.on("uplink") if kind not in _LANES]


def _limits(sketch: Sketch, node: int, lane: str) -> bool:
    """Return whether a direction of the uplink limits the run."""
    return sketch.is_hot("uplink", node) and sketch.hot in (lane, *_beside_lanes(sketch))


def _uplink(sketch: Sketch, node: int) -> None:
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    others = _beside_lanes(sketch)
    half = g.thickness(c.uplink_Bps) / 2
    for kind, side in zip(_LANES, (-1, 1), strict=True):
        x, hot = UPLINK + side * g.lane, _limits(sketch, node, kind)
        edges = (g.x(node, x - half), MEMORY[3], g.x(node, x + half), SWITCH_TOP)
        d.box("pipes", edges, "box", "hot" if hot else "edge", HOT_EDGE if hot else 1.0)
        # Nothing but slices fills a full lane: their amber, its edge and a third hue would melt.
        if full := not hot and half * max(sketch.part(node, resource) for resource in (kind, *others)):
            edges = (g.x(node, x - full), MEMORY[3], g.x(node, x + full), SWITCH_TOP)
            d.box("loads", edges, "faint", "none")
    x = g.x(node, UPLINK + 2 * g.lane + ARROW + 12)
    align = sketch.align(node)
    name, rate, share = _uplink_words(sketch, node)
    hot_name = any(_limits(sketch, node, kind) for kind in _LANES)
    mark = sketch.mark("switch.uplink")
    # Below the way over the CPU, if there is one: slices on it are broad.
    over_cpu = g.apart or g.redirected
    top = MEMORY[3] + (26.5 if over_cpu else 9)
    says = [rate, share]
    if over_cpu:
        # There is room for one line more, and to the right of it as far as the NIC's link: the sign of an assumption stands behind the name.
        name += mark * (mark in rate)
        says = [", ".join(filter(None, (rate.removesuffix(mark).removesuffix(" each way"), share)))]
    says = [words for row, line in enumerate(says) if (words := sketch.figure(node, f"uplink {row}", line))]
    for row, line in enumerate([name, *says]):
        at = (x, top + (14 if over_cpu else 15.5) * row)
        ink = "muted" if row else "hot-ink" if hot_name else "ink"
        d.text(at, line, size=11 if row else 12, bold=not row, ink=ink, align=align)


def arrows(sketch: Sketch) -> list[tuple[float, float, str, str]]:
    """Return the arrows beside the two lanes of the uplinks that are drawn, each where its direction ends: to host memory, and from it; and the role of its colour."""
    g = sketch.geometry
    if "uplink" not in sketch.parts:
        return []
    nodes = (0,) if sketch.run.scenario.domains == 1 else (0, 1)
    # clear of slices, which fill the lanes
    aside = 2 * g.lane + ARROW / 2
    ends = ((UPLINK - aside, MEMORY[3] + 9, "↑"), (UPLINK + aside, SWITCH_TOP - 9, "↓"))
    inks = {
        (node, kind): "hot-ink" if _limits(sketch, node, kind) else "ink" for node in nodes for kind in _LANES
    }
    return [
        (g.x(node, x), y, arrow, inks[node, kind])
        for node in nodes
        for kind, (x, y, arrow) in zip(_LANES, ends, strict=True)
    ]


def _uplink_words(sketch: Sketch, node: int) -> tuple[str, str, str]:
    """Return name and rate of the uplink, or of what else limits the way to host memory, and how busy it is.

    Of a bottleneck the headline says that, and an empty lane that it is idle. A direction that is the bottleneck has the name that headline
    and timeline have for it.
    """
    c, there = sketch.cluster, "switch.uplink" in sketch.cluster.figures
    name, share = sketch.says(node, "uplink", "PCIe", NODE_WIDTH - UPLINK - 80)
    if share == "idle" or sketch.is_hot("uplink", node):
        share = ""
    if not sketch.on("uplink"):
        passed = sketch.run.scenario.bounces or sketch.uses("uplink")
        share = "not a limit here" if passed else "" if there else "not used"
    if name:
        rate = capacity_Bps(c, sketch.busiest(node, sketch.on("uplink")))
        return name, f"{rate / 1e9:g} GB/s" if rate else "", share
    if not there:
        return "way to host memory", "", share
    each, mark = f"{c.uplink_Bps / 1e9:g} GB/s", sketch.mark("switch.uplink")
    if sketch.hot in _LANES and _limits(sketch, node, sketch.hot):
        return resource_kind(sketch.hot).label, each + mark, share
    return "PCIe uplink", f"{each} each way{mark}", share
