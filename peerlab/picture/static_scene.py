"""The static part of the data path's picture; it needs no plotting library."""

from itertools import pairwise

from peerlab.model.stages import stage_kind
from peerlab.picture.domain_scene import draw_domain, draw_tray
from peerlab.picture.drawing import Drawing, Point
from peerlab.picture.geometry import ENTRY, ways
from peerlab.picture.scene_alone import draw_alone
from peerlab.picture.scene_host import draw_host, draw_node
from peerlab.picture.scene_network import draw_devices, draw_wire
from peerlab.picture.scene_unwired import draw_unwired
from peerlab.picture.sketch import Sketch
from peerlab.picture.theme import way_role
from peerlab.picture.wire import sends


def draw(sketch: Sketch) -> Drawing:
    """Draw the static scene, from the background up."""
    alone = sketch.run.scenario.domains == 1
    for node in (0,) if alone else (0, 1):
        if sketch.run.scenario.nodes_per_domain > 1:
            draw_tray(sketch, node)
            draw_domain(sketch, node)
        else:
            draw_node(sketch, node)
            draw_host(sketch, node)
        draw_devices(sketch, node)
    if alone:
        draw_alone(sketch)
        return sketch.drawing
    (draw_wire if sends(sketch.run.scenario) else draw_unwired)(sketch)
    for device in range(sketch.cluster.devices_per_switch):
        for stage in sketch.drawn:
            way = ways(sketch.geometry, stage_kind(stage).track, device)[0]
            for line in _across(way) if sketch.slices else [way]:
                sketch.drawing.line(line, way_role(stage))
    return sketch.drawing


def _across(way: list[Point]) -> list[list[Point]]:
    """Return the parts of a way that go across, each with its end in the port of a device or a NIC, where slices hide it: in the uplink dots would lie beside them."""
    parts: list[list[Point]] = []
    for (x, y), (x2, y2) in pairwise(way):
        if y != y2 and not min(y, y2) < ENTRY <= max(y, y2):
            continue
        leg = [(x, y), (x2, y2)] if y == y2 else [(x, min(y, ENTRY)), (x2, min(y2, ENTRY))]
        if parts and parts[-1][-1] == leg[0]:
            parts[-1].append(leg[1])
        else:
            parts.append(leg)
    return parts
