"""A node without a partner in the data path's picture: what it does where a second node would be."""

from peerlab.model.paths import REDUCE
from peerlab.model.resources import capacity_Bps
from peerlab.picture.drawing import HEIGHT
from peerlab.picture.geometry import NODE_WIDTH
from peerlab.picture.sketch import Sketch
from peerlab.picture.theme import stage_role
from peerlab.question.node_exchange import node_exchange


def draw_alone(sketch: Sketch) -> None:
    """Say, where a second node would be, what a node does that has no partner."""
    g, d, c = sketch.geometry, sketch.drawing, sketch.cluster
    x, y = (NODE_WIDTH + g.x(1, 0.0)) / 2, HEIGHT / 2  # the words are broader than a node
    in_switch = sketch.run.scenario.sums_inside
    if c.devices > 1 and in_switch:
        _node_switch(sketch, x)
        y = 46.0
    s = sketch.run.scenario
    joined = s.nodes_per_domain > 1
    if joined:
        y += 76  # the time and what is busy stand above, between the nodes
    sentence = (
        "One NVLink domain: no byte crosses a NIC."
        if joined
        else "One node: nothing crosses a NIC or a wire."
    )
    d.text((x, y - 24), sentence, size=13, bold=True)
    if c.devices == 1:
        d.text((x, y), f"Its one {c.device_name} has nobody to exchange with.", size=12, ink="muted")
        return
    way = node_exchange(sketch.run.scenario)
    hot = sketch.hot in (way.resource, "scaleup_reduce")
    sketch.told.add(way.resource)
    does = (
        "read sums that their switch makes (NVLink SHARP)"
        if in_switch
        else "exchange over NVLink switches"
        if joined
        else "exchange over links of their own"
    )
    d.text((x, y), f"Its {c.devices} {c.device_name} {does},", size=12, ink="muted")
    level = "domain" if joined else "scaleup"
    mark = sketch.mark(f"{level}.sharp" if in_switch else f"{level}.rate")
    rate = f"{capacity_Bps(c, way.resource) / 1e9:g} GB/s each{mark}"
    busy = sketch.share(0, way.resource)
    d.text((x, y + 20), f"{rate}, {busy}", size=12, bold=hot, ink="hot-ink" if hot else "muted")


_SWITCH, _DEVICES, _MOST = (90.0, 118.0), (172.0, 196.0), 8
"""Top and bottom of a node's switch and of its devices, and how many of these are drawn."""


def _node_switch(sketch: Sketch, x: float) -> None:
    """Draw the switch of a node that adds up: a slice goes up to it from every device, the sum comes down to all."""
    d, count = sketch.drawing, sketch.cluster.devices
    drawn = min(count, _MOST)
    pitch = (NODE_WIDTH - 28.0) / drawn
    left, half = x - pitch * drawn / 2, pitch / 2 - 4
    hot = sketch.hot == node_exchange(sketch.run.scenario).resource
    d.box(
        "boxes", (left + 4, _SWITCH[0], x + (x - left) - 4, _SWITCH[1]), "box", "hot" if hot else "edge", 1.6
    )
    d.text((x, sum(_SWITCH) / 2), f"NVSwitch: {count} in, 1 out", size=13, bold=True)
    for device in range(drawn):
        at = left + pitch * (device + 0.5)
        for side, role in ((-7.0, "gather"), (7.0, stage_role(REDUCE.name))):
            d.box("loads", (at + side - 3, _SWITCH[1], at + side + 3, _DEVICES[0]), role, "none")
        d.box("boxes", (at - half, _DEVICES[0], at + half, _DEVICES[1]), "box", "edge", 1.2)
        d.text((at, sum(_DEVICES) / 2), str(device), size=11, bold=True)
    d.text(
        (x, _DEVICES[1] + 14),
        f"{sketch.cluster.device_name} 0 to {drawn - 1}: left slices up, right sums down",
        size=11,
        ink="muted",
    )
