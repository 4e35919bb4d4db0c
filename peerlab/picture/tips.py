"""Tips on the parts of the data path's picture: what each is, what it can carry, how busy it is, and where that figure is from."""

from collections.abc import Iterator
from typing import TypedDict

from peerlab.model.hardware import FIGURE_OF_FIELD
from peerlab.model.resources import Part, resource_kind
from peerlab.picture.drawing import WIDTH
from peerlab.picture.geometry import (
    BOX_BOTTOM,
    BOX_TOP,
    CPU,
    MEMORY,
    NIC,
    PORT,
    PORT_HALF,
    PORT_WIRE,
    SWITCH_BOTTOM,
    SWITCH_TOP,
    UPLINK,
    WIRE,
    Box,
)
from peerlab.picture.sketch import Sketch


class Tip(TypedDict):
    """The tip on one part of the picture."""

    box: Box
    """Left, top, right and bottom of the part."""
    title: str
    lines: list[str]
    """What each kind of resource there carries, and how busy it is."""
    sources: list[str]
    """Where those figures are from."""


def tips(sketch: Sketch) -> list[Tip]:
    """Return the tips on the parts that are drawn."""
    nodes = (0,) if sketch.run.scenario.domains == 1 else (0, 1)
    rows = [
        (node, part, title, box)
        for node in nodes
        for part, title, box in _parts(sketch, node)
        if part in sketch.parts
    ]
    if "wire" in sketch.parts:
        # High enough for a pointer to find it, however thin the wire is.
        y, half = (PORT_WIRE, PORT_HALF) if sketch.native else (WIRE, 9.0 * sketch.geometry.wires)
        rows.append((0, "wire", _wires(sketch), (NIC[1], y - half, WIDTH - NIC[1], y + half)))
    return [
        {"box": box, "title": title, "lines": _busy(sketch, node, part), "sources": _sources(sketch, part)}
        for node, part, title, box in rows
    ]


def _parts(sketch: Sketch, node: int) -> Iterator[tuple[Part, str, Box]]:
    """Yield the parts of a node with their names and places."""
    g = sketch.geometry

    def box(left: float, top: float, right: float, bottom: float) -> Box:
        # In a mirror image left and right have changed places.
        sides = sorted((g.x(node, left), g.x(node, right)))
        return sides[0], top, sides[1], bottom

    yield "host memory", "host memory (DRAM)", box(*MEMORY)
    yield "CPU", "CPU", box(*CPU)
    yield "uplink", "PCIe uplink", box(UPLINK - 2 * g.lane, MEMORY[3], UPLINK + 2 * g.lane, SWITCH_TOP)
    yield "NIC", _nics(sketch), box(NIC[0], BOX_TOP, NIC[1], BOX_BOTTOM)
    for device in range(sketch.cluster.devices_per_switch):
        left, right = g.device(device)
        name, half = (
            f"{sketch.cluster.device_name} {sketch.first_device + device}",
            max(5.0, g.thickness(sketch.cluster.device_pcie_Bps) / 2),
        )
        yield "device", name, box(left, BOX_TOP, right, BOX_BOTTOM)
        x = g.middle(device)
        yield "device link", f"PCIe link of {name}", box(x - half, SWITCH_BOTTOM, x + half, BOX_TOP)
    link = "PCIe link of the NIC" if sketch.cluster.nics_per_switch == 1 else "PCIe links of the NICs"
    yield "NIC", link, box(PORT - 6, SWITCH_BOTTOM, PORT + 6, BOX_TOP)


def _nics(sketch: Sketch) -> str:
    """Return how many NICs the box stands for, and whose they are."""
    c = sketch.cluster
    if c.nics_per_switch == 1:
        return "NIC"
    each = f"{c.nics_per_device} of each {c.device_name}" if c.nics_per_switch >= c.devices_per_switch else ""
    shared = f"shared by {c.devices_per_switch} {c.device_name}"
    return f"{c.nics_per_switch} NICs, {each or shared}"


def _wires(sketch: Sketch) -> str:
    """Return whose wires the picture shows."""
    c = sketch.cluster
    if sketch.native or c.nics_per_switch == 1:
        return "wire"
    if c.nics_per_device > 1:
        return f"wires, drawn as one for the {c.nics_per_device} NICs of each {c.device_name}"
    return f"wires of {c.nics_per_switch} NICs"


def _kinds(sketch: Sketch, part: Part) -> list[str]:
    """Return the kinds of resources of the path on a part."""
    return list(dict.fromkeys(sketch.sends if part == "wire" else sketch.on(part)))


def _key(kind: str) -> str:
    """Return the figure that says what a kind of resource carries; empty where none does."""
    return FIGURE_OF_FIELD.get(resource_kind(kind).rate, "")


def _busy(sketch: Sketch, node: int, part: Part) -> list[str]:
    lines = []
    for kind in _kinds(sketch, part):
        figure = sketch.cluster.figures.get(_key(kind))
        carries = f"{figure}, " if figure else ""
        # Nothing is said of a partner that changes.
        share = sketch.share(node, kind) or "as busy as the partner of each step"
        lines.append(f"{sketch.cluster.says(resource_kind(kind).label)}: {carries}{share}")
    rests = "passed, and never a limit here" if sketch.uses(part) else "not used on this path"
    return lines or [rests]


def _sources(sketch: Sketch, part: Part) -> list[str]:
    keys = [_key(kind) for kind in _kinds(sketch, part)]
    keys += ["fabric.latency"] if keys and part == "wire" and not sketch.native else []
    lines = []
    for figure in map(sketch.cluster.figures.get, dict.fromkeys(keys)):
        if figure:
            why = f"assumed (†): {figure.assumption}" if figure.assumption else f"source: {figure.source}"
            lines.append(f"{figure.label} {figure}, {why}")
    return lines
