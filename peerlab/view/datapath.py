"""The data path: two nodes facing each other, drawn as they are wired, and slices on their way through them."""

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, MultiLine, Quad, Range1d, Scatter, Text
from bokeh.plotting import figure

from peerlab.model.path import RESOURCES
from peerlab.run import Run
from peerlab.view.drawing import HEIGHT, WIDTH, Drawing
from peerlab.view.geometry import (
    BOX_BOTTOM,
    BOX_TOP,
    CPU,
    MEMORY,
    NIC,
    NODE_WIDTH,
    PORT,
    PORT_HALF,
    PORT_WIRE,
    SWITCH_BOTTOM,
    SWITCH_TOP,
    UPLINK,
    WIRE,
    Geometry,
    badge_place,
    waiting_places,
    ways,
)
from peerlab.view.sight import shares, sight
from peerlab.view.theme import FONT, stage_role
from peerlab.view.wire import assumed, say_latency, say_rate, wire_Bps


class _Scene:
    """Draws one run."""

    def __init__(self, run: Run) -> None:
        self.run, self.cluster = run, run.scenario.hardware
        self.native = run.scenario.path == "native"
        self.geometry, self.drawing = Geometry(self.cluster, self.native), Drawing()
        self.sight = sight(run)
        right = self.sight.partner[0] if len(self.sight.partner) == 1 else -1
        self.busy = [shares(run, self.sight.node), shares(run, right) if right >= 0 else None]
        found = run.bottleneck
        self.hot = found.kind if found else ""
        self.stages = [stage.name for stage in run.scenario.stages]
        self.cores = any(use.kind == "core" for stage in run.scenario.stages for use in stage.uses)

    def draw(self) -> Drawing:
        for node in (0, 1):
            self._node(node)
            if self.geometry.host:
                self._host(node)
                self._uplink(node)
            else:
                self._no_host(node)
            if self.geometry.switch:
                self._switch(node)
            self._below(node)
        self._wire()
        for device in range(self.cluster.devices_per_switch):
            for stage in self.stages:
                self.drawing.line(ways(self.geometry, stage, device)[0], stage_role(stage))
        return self.drawing

    def mark(self, key: str) -> str:
        """Return the sign of an assumed figure, if it is one."""
        return assumed(self.run.scenario, key)

    def share(self, node: int, *kinds: str) -> str:
        """Return how busy a resource of a drawn node is; nothing where the partner changes from step to step."""
        shares = self.busy[node] if not self.run.trace.folded else self.run.busy
        if shares is None:
            return ""
        busy = max((shares.get(kind, 0.0) for kind in kinds), default=0.0)
        return f"{busy:.0%} busy" if busy >= 0.0005 else "idle"

    def part(self, node: int, kind: str) -> float:
        """Return the busy share to fill a pipe with, 0 to 1."""
        shares = self.busy[node] if not self.run.trace.folded else self.run.busy
        return (shares or {}).get(kind, 0.0)

    def _align(self, node: int) -> str:
        return "left" if node == 0 else "right"

    def _node(self, node: int) -> None:
        g, d, s = self.geometry, self.drawing, self.run.scenario
        d.box("panels", (g.x(node, 0.8), 0.8, g.x(node, NODE_WIDTH), HEIGHT - 0.8), "panel", "faint")
        if s.collective != "point-to-point" and s.nodes > 1:
            d.line(g.stub(node), "faint", 2)
        switches = self.cluster.numa_domains * self.cluster.switches_per_numa
        if switches > 1 and s.collective != "point-to-point":
            several = "such groups" if "switch.uplink" in self.cluster.leaves_out else "PCIe switches"
            note = f"1 of {switches} {several}" + (", all alike" if self.run.trace.folded else "")
            d.text((g.x(node, 14), g.foot), note, size=11, ink="muted", align=self._align(node))

    def _host(self, node: int) -> None:
        g, d, c = self.geometry, self.drawing, self.cluster
        staged, works = self.run.scenario.staged, self.cores
        hot = {name: self.hot == name for name in ("dram", "core")}
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
        use = "untouched" if not staged else self.share(node, "dram") if c.dram_Bps else "not a limit here"
        dram = f"DRAM{self.mark('host.dram')}" + (f", {use}" if use else "")
        d.text(
            (g.x(node, sum(MEMORY[::2]) / 2), 54), dram, size=11, ink="hot-ink" if hot["dram"] else "muted"
        )
        d.text((g.x(node, sum(CPU[::2]) / 2), 46), "CPU", size=13, bold=True, ink="ink" if works else "muted")
        cores = c.devices * c.cores_per_device if c.cores_per_device else 0
        note = (
            f"{self.run.cores_busy:.1f} of {cores} cores"
            if works
            else ("schedules only" if staged else "not needed")
        )
        d.text((g.x(node, sum(CPU[::2]) / 2), 62), note, size=11, ink="hot-ink" if hot["core"] else "muted")
        if staged:
            self._bounce_buffers(node)

    def _bounce_buffers(self, node: int) -> None:
        """Draw a place for every bounce buffer of the side that this node shows."""
        stage = "network" if node == 0 else "h2d"
        for device in range(min(self.cluster.devices_per_switch, 2)):
            for x, y in waiting_places(self.geometry, stage, device)[: self.run.scenario.window_slices]:
                self.drawing.box("slots", (x - 4.5, y - 4.5, x + 4.5, y + 4.5), "panel", "faint")

    def _no_host(self, node: int) -> None:
        """Say what stands where a host would: nothing on a bare fabric, nothing that is known elsewhere."""
        lines = (
            ("A bare fabric: no host, nothing to stage through.", "The reference simulations use it.")
            if self.cluster.paths == ("wire",)
            else ("Host memory and CPU: not described here,", f"and not used on {self.run.scenario.path}.")
        )
        x = self.geometry.x(node, NODE_WIDTH / 2)
        for line, text in enumerate(lines):
            self.drawing.text((x, 82 + 18 * line), text, size=12, ink="muted")

    def _switch(self, node: int) -> None:
        g, d = self.geometry, self.drawing
        d.box("pipes", (g.x(node, 14), SWITCH_TOP, g.x(node, 390), SWITCH_BOTTOM), "box", "faint", 1.2)
        name = "links in the node" if "switch.uplink" in self.cluster.leaves_out else "PCIe switch"
        align = "right" if node == 0 else "left"
        d.text((g.x(node, 386), 136), name, size=11, ink="muted", align=align)

    def _uplink(self, node: int) -> None:
        g, d, c = self.geometry, self.drawing, self.cluster
        hot = self.hot.startswith("uplink")
        half = g.thickness(c.uplink_Bps) / 2
        for kind, side in (("uplink_up", -1), ("uplink_down", 1)):
            x = UPLINK + side * g.lane
            edges = (g.x(node, x - half), MEMORY[3], g.x(node, x + half), SWITCH_TOP)
            d.box("pipes", edges, "box", "hot" if hot else "edge", 2.5 if hot else 1.0)
            full = half * self.part(node, kind)
            if full:
                edges = (g.x(node, x - full), MEMORY[3], g.x(node, x + full), SWITCH_TOP)
                d.box("loads", edges, "hot-fill" if hot else "faint", "none")
        x = g.x(node, UPLINK + 2 * g.lane + 10)
        align = self._align(node)
        if "switch.uplink" not in c.figures:
            name, rate = "way to host memory", ""
            share = "not a limit here" if self.run.scenario.staged else "not used"
        else:
            name, rate = "PCIe uplink", f"{c.uplink_Bps / 1e9:g} GB/s each way{self.mark('switch.uplink')}"
            share = self.share(node, "uplink_up", "uplink_down")
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

    def _below(self, node: int) -> None:
        g, d, c = self.geometry, self.drawing, self.cluster
        for device in range(c.devices_per_switch):
            left, right = g.device(device)
            if g.switch:
                self._link(node, g.middle(device), c.device_pcie_Bps)
            hot = self.hot in (
                "reduce",
                "scaleup",
                "scaleup_reduce",
                "copy_up",
                "copy_down",
                "link_up",
                "link_down",
            )
            edges = (g.x(node, left), BOX_TOP, g.x(node, right), BOX_BOTTOM)
            d.box("boxes", edges, "box", "hot" if hot else "edge", 2.5 if hot else 1.2)
            name = c.device_name if c.devices_per_switch == 1 else f"{c.device_name} {device}"
            d.text((g.x(node, g.middle(device)), 207), name, size=13, bold=True)
            if c.hbm_Bps:
                d.text(
                    (g.x(node, g.middle(device)), 221), f"HBM{self.mark('device.hbm')}", size=11, ink="muted"
                )
        if g.switch:
            self._link(node, PORT, c.nic_Bps)
        self._nic(node)

    def _nic(self, node: int) -> None:
        g, d, c = self.geometry, self.drawing, self.cluster
        hot = self.hot in ("nic_tx", "nic_rx")
        edges = (g.x(node, NIC[0]), BOX_TOP, g.x(node, NIC[1]), BOX_BOTTOM)
        edge = "hot" if hot else "faint" if self.native else "edge"
        d.box("boxes", edges, "box", edge, 2.5 if hot else 1.2)
        beside, ink = g.x(node, (NIC[0] + PORT - 10) / 2), "muted" if self.native else "ink"
        d.text((beside, 207), "NIC" + self.mark("node.nics_per_switch"), size=13, bold=True, ink=ink)
        rate, speed = c.nic_Bps * 8 / 1e9, self._speed(node)
        slow = speed < 1 and not self.native
        d.text(
            (beside, 223),
            "not used" if self.native else f"{rate * speed:g} Gb/s",
            size=11,
            bold=slow,
            ink="hot-ink" if slow else "muted",
        )

    def _speed(self, node: int) -> float:
        """Return the share of the full rate that the NICs of a drawn node have."""
        slow = self.run.scenario.slow_nodes or {}
        left, partners = self.sight.node, self.sight.partner
        if node == 0:
            return slow.get(left, 1.0)
        return slow.get(partners[0], 1.0) if len(partners) == 1 else 1.0

    def _link(self, node: int, x: float, rate: int | None) -> None:
        half = self.geometry.thickness(rate) / 2
        g = self.geometry
        self.drawing.box(
            "pipes", (g.x(node, x - half), SWITCH_BOTTOM, g.x(node, x + half), BOX_TOP), "box", "faint"
        )

    def _wire(self) -> None:
        d, s = self.drawing, self.run.scenario
        kinds = ("port_tx", "port_rx") if self.native else ("nic_tx", "nic_rx")
        fabric = self.hot if RESOURCES.get(self.hot, RESOURCES["wire"]).scope == "fabric" else ""
        hot = self.hot in (*kinds, "latency") or bool(fabric)
        y, half = (PORT_WIRE, PORT_HALF) if self.native else (WIRE, self.geometry.thickness(wire_Bps(s)) / 2)
        inside = self.geometry.middle(0) if self.native else NIC[1]
        edges = (inside, y - half, WIDTH - inside, y + half)
        d.box("pipes", edges, "box", "hot" if hot else "edge", 1.6 if hot else 1.0)
        busy = self.part(0, kinds[0])
        if busy:
            role = "direct" if "direct" in self.stages else "network"
            load = (inside, y - half * busy, WIDTH - inside, y + half * busy)
            d.box("loads", load, f"{role}-wash", "none")
        named = self.hot != "latency" and hot
        share = (
            f"{RESOURCES[fabric].label} {self.run.busy[fabric]:.0%} busy"
            if fabric
            else self._sender() + self.share(0, kinds[0])
        )
        names = (
            (y - half - 42, y - half - 26, y - half - 10)
            if self.native
            else (y - half - 10, y + half + 11, y + half + 27)
        )
        name = say_rate(s, self.sight.node, self._speed(0))
        d.text((WIDTH / 2, names[0]), name, size=12, bold=True)
        d.text((WIDTH / 2, names[1]), share, size=12, bold=named, ink="hot-ink" if named else "muted")
        hot = self.hot == "latency"
        ink = "hot-ink" if hot else "muted"
        d.text((WIDTH / 2, names[2]), say_latency(s), size=11, bold=hot, ink=ink)

    def _sender(self) -> str:
        """Return whose NIC is meant where nodes differ."""
        alike = self.run.trace.folded or self.run.scenario.collective == "point-to-point"
        if alike or not self.share(0, "nic_tx"):
            return ""
        return f"node {self.sight.node}'s {'ports' if self.native else 'NIC'} sending, "


def scene(run: Run) -> dict[str, object]:
    """Return what the page needs to draw the data path of a run: what stands still, ways and waiting places."""
    drawn = _Scene(run)
    geometry, seen = drawn.geometry, drawn.sight
    stages = [*drawn.stages, "reduce"]
    devices = range(run.scenario.hardware.devices_per_switch)
    index = {name: number for number, name in enumerate(run.trace.stages)}
    return {
        **drawn.draw().page(),
        "ways": {index[s]: [ways(geometry, s, d) for d in devices] for s in stages},
        "waiting": {index[s]: [waiting_places(geometry, s, d) for d in devices] for s in stages},
        "badges": {index[s]: badge_place(geometry, s) for s in stages},
        "roles": {index[s]: stage_role(s) for s in stages},
        "neighbours": run.scenario.collective != "point-to-point",
        "sight": {**seen.page(), "slow": _slow(run)},
        "names": geometry.names(),
    }


def _slow(run: Run) -> dict[str, str]:
    """Return what is said beside the names of slow nodes."""
    what = "ports" if run.scenario.path == "native" else "NICs"
    return {
        str(node): f"{what} at {100 * speed:g} %" for node, speed in (run.scenario.slow_nodes or {}).items()
    }


_BOX = {"left": "left", "right": "right", "top": "top", "bottom": "bottom"}


def build() -> figure:
    """Return the empty figure; the page fills its sources."""
    plot = figure(
        name="scene",
        x_range=Range1d(0, WIDTH),
        y_range=Range1d(HEIGHT, 0),
        aspect_ratio=WIDTH / HEIGHT,
        sizing_mode="scale_width",
        toolbar_location=None,
        tools="",
        min_border=0,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
    )
    plot.axis.visible = False
    plot.grid.visible = False
    radius = {"panels": 10, "pipes": 4, "loads": 2, "boxes": 7, "slots": 2}
    for name in ("panels", "pipes", "loads", "lines", "boxes", "slots"):
        source = ColumnDataSource(getattr(Drawing(), name), name=f"scene_{name}")
        if name == "lines":
            glyph = MultiLine(
                xs="xs", ys="ys", line_color="line", line_width="width", line_dash=[2, 5], line_alpha=0.8
            )
        else:
            glyph = Quad(
                **_BOX, fill_color="fill", line_color="line", line_width="width", border_radius=radius[name]
            )
        plot.add_glyph(source, glyph)
    _add_moving(plot)
    return plot


def _add_moving(plot: figure) -> None:
    """Add what the page changes in every frame: table rows, the ring, slices, words."""
    rows = ColumnDataSource({**{name: [] for name in _BOX}, "fill": [], "line": []}, name="scene_rows")
    plot.add_glyph(rows, Quad(**_BOX, fill_color="fill", line_color="line", border_radius=4))
    dots = ColumnDataSource({"x": [], "y": [], "fill": [], "size": []}, name="scene_ring")
    plot.add_glyph(
        dots, Scatter(x="x", y="y", size="size", fill_color="fill", line_color=None, marker="circle")
    )
    text = {"x": "x", "y": "y", "text": "text", "text_font_size": "size", "text_font_style": "style"}
    text |= {"text_color": "ink", "text_align": "align", "text_baseline": "baseline"}
    columns: dict[str, list[object]] = {
        name: [] for name in ("x", "y", "text", "size", "style", "ink", "align", "baseline")
    }
    for name in ("scene_texts", "scene_words"):
        plot.add_glyph(ColumnDataSource(dict(columns), name=name), Text(**text, text_font=value(FONT)))
    slices = ColumnDataSource({"x": [], "y": [], "fill": [], "line": [], "size": []}, name="scene_slices")
    plot.add_glyph(
        slices,
        Scatter(
            x="x", y="y", size="size", fill_color="fill", line_color="line", line_width=1.5, marker="square"
        ),
    )
