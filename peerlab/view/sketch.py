"""What every part of the data path's picture needs: the run, positions, busy shares, and the sign of assumed figures."""

from peerlab.analysis.run import Run
from peerlab.model.paths import kinds
from peerlab.model.resources import RESOURCES, resource_kind
from peerlab.model.stages import stage_kind
from peerlab.view.drawing import Drawing
from peerlab.view.geometry import Geometry
from peerlab.view.shown_nodes import shares, shown_nodes
from peerlab.view.wire import assumed


class Sketch:
    """One run, and the drawing that its parts are added to."""

    def __init__(self, run: Run) -> None:
        self.run, self.cluster = run, run.scenario.hardware
        self.path = run.scenario.data_path
        self.native = self.path.uses_own_ports
        self.geometry, self.drawing = Geometry(self.cluster, self.native), Drawing()
        self.sight = shown_nodes(run)
        right = self.sight.partner[0] if len(self.sight.partner) == 1 else -1
        self.busy = [shares(run, self.sight.node), shares(run, right) if right >= 0 else None]
        found = run.bottleneck
        self.hot = found.kind if found else ""
        self.hot_part = resource_kind(self.hot).drawn if self.hot in RESOURCES else ""
        used = kinds(self.cluster, str(run.scenario.path))
        self.uses_nic = any(resource_kind(kind).scope == "nic" for kind in used)
        self.stages = [stage.name for stage in run.scenario.stages]
        self.drawn = [stage for stage in self.stages if stage_kind(stage).track]
        self.cores = any(use.kind == "core" for stage in run.scenario.stages for use in stage.uses)

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

    def align(self, node: int) -> str:
        """Return how words at the outer side of a drawn node are aligned."""
        return "left" if node == 0 else "right"

    def speed(self, node: int) -> float:
        """Return the share of the full rate that the NICs of a drawn node have."""
        slow = self.run.scenario.slow_nodes or {}
        left, partners = self.sight.node, self.sight.partner
        if node == 0:
            return slow.get(left, 1.0)
        return slow.get(partners[0], 1.0) if len(partners) == 1 else 1.0
