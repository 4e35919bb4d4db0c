"""What every part of the data path's picture needs: the run, positions, busy shares, and the sign of assumed figures."""

from peerlab.answer.lanes import has_lane
from peerlab.answer.run import Run
from peerlab.base.units import say_percent
from peerlab.model.disturbance import Slow
from peerlab.model.paths import sending_kinds
from peerlab.model.resources import Part, resource_kind
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import Drawing, within
from peerlab.picture.geometry import geometry_of, passes
from peerlab.picture.shown_nodes import AS_BUSY, bottleneck_at, nic_name, shares, shown_nodes
from peerlab.picture.wire import assumed

_SEEN = 0.0005
"""From this busy share on a part is not called idle: it is 0.1 % when rounded."""


class Sketch:
    """One run, and the drawing that its parts are added to."""

    def __init__(self, run: Run, *, slices: bool = True) -> None:
        self.run, self.cluster = run, run.scenario.hardware
        self.slices = slices
        """Whether all slices are drawn: some wait left of the uplink, those of other nodes pass the NIC to what is not drawn."""
        self.path = run.scenario.data_path
        self.native = self.path.uses_own_ports
        self.geometry, self.drawing = geometry_of(run), Drawing()
        self.sight = shown_nodes(run)
        # A partner that changes from step to step has no share of its own.
        self._right = right = self.sight.partner[0] if len(self.sight.partner) == 1 else -1
        switch = self.sight.switch
        self.busy = [shares(run, self.sight.node, switch), shares(run, right, switch) if right >= 0 else None]
        self.first_device = switch * self.cluster.devices_per_switch
        """The number in its node of the first device that is drawn."""
        self._nics = self.cluster.used_nics_per_switch
        self._is_message = run.scenario.collective_record.is_message
        bottleneck = run.bottleneck
        self.hot = bottleneck.kind if bottleneck else ""
        self._hot_resource = bottleneck_at(run)
        self.hot_part = bottleneck.resource.drawn if bottleneck and bottleneck.resource else ""
        self._hot_share = bottleneck.share if bottleneck else 0.0
        self.stages = [stage.name for stage in run.scenario.stages]
        self.drawn = [stage for stage in self.stages if stage_kind(stage).track]
        self.kinds = tuple(dict.fromkeys(use.kind for stage in run.scenario.stages for use in stage.uses))
        self.sends = sending_kinds(self.cluster, str(run.scenario.path))
        self.parts: set[Part] = set()
        """Parts that are drawn."""
        self.told: set[str] = set()
        """Kinds of resources of which the picture says how busy they are, or that another of their part is busier."""
        self._figures: dict[str, str] = {}

    def is_hot(self, part: Part, node: int) -> bool:
        """Return whether a part of a drawn node is marked as the bottleneck.

        A NIC that sends is marked where slices come from, one that receives where they go. Where nodes differ, only the NIC that is the
        bottleneck is marked, and of other parts one that is nearly as busy: it may be out of sight.
        """
        if part != self.hot_part:
            return False
        kind = resource_kind(self.hot)
        if part == "NIC" and node != int(kind.receives):
            return False
        if part == "NIC" and not self._is_message and (hot := self._hot_resource):
            return hot.node == self.number(node) and hot.index // self._nics == self.sight.switch
        return self.is_as_busy(node)

    def number(self, node: int) -> int:
        """Return which node of the run is drawn at a place, 0 or 1; -1 where that changes from step to step."""
        return self._right if node else self.sight.node

    def is_as_busy(self, node: int) -> bool:
        """Return whether what is drawn of a node is about as busy as the bottleneck."""
        return self.run.trace.folded or self.part(node, self.hot) >= AS_BUSY * self._hot_share

    def nics(self, node: int) -> tuple[str, str]:
        """Return what the NICs of a drawn node are called, and of several which they are: nothing where that changes, or all nodes are alike."""
        count, number, first = self.cluster.nics_per_switch, self.number(node), self.sight.switch * self._nics
        alike = self.run.trace.folded or self._is_message or number < 0
        if count == 1:
            return "NIC" if alike else nic_name(number, first), ""
        last = first + self._nics - 1
        between = ", " if last == first + 1 else " to "
        which = between.join(f"{number}.{index}" for index in dict.fromkeys((first, last)))
        return f"{count} NICs", "" if alike else f"{which}, "

    def mark(self, key: str) -> str:
        """Return the sign of an assumed figure, if it is one."""
        return assumed(self.run.scenario, key)

    def on(self, part: Part) -> list[str]:
        """Return the kinds of resources that the path uses and this part stands for."""
        return [kind for kind in self.kinds if resource_kind(kind).drawn == part]

    def uses(self, part: Part) -> bool:
        """Return whether slices go through a part, whether or not it limits them."""
        tracks = (stage_kind(stage).track for stage in self.drawn)
        return bool(self.on(part)) or any(part in passes(track, native=self.native) for track in tracks)

    def busiest(self, node: int, kinds: list[str]) -> str:
        """Return which of some kinds is busiest at a drawn node, or the first; empty if there are none."""
        return max(kinds, key=lambda kind: self.part(node, kind), default="")

    def says(self, node: int, part: Part, beside: str, width: float) -> tuple[str, str]:
        """Return the name of the busiest kind on a part, and how busy it is; what is said so is `told`.

        The name is empty where words `beside` say it already, and shortened where it is wider than `width`: then the
        caption has to tell.
        """
        kinds = self.on(part)
        kind, share = self.busiest(node, kinds), self.share(node, *kinds)
        name = "" if not kind or resource_kind(kind).label.startswith(beside) else resource_kind(kind).label
        short = within(name, width)
        if share and short == name:
            self.told.update(kinds)
        return short, share

    def share(self, node: int, *kinds: str) -> str:
        """Return how busy a resource of a drawn node is; nothing where the partner changes from step to step."""
        shares = self.busy[node] if not self.run.trace.folded else self.run.busy
        if shares is None:
            return ""
        busy = max((shares.get(kind, 0.0) for kind in kinds), default=0.0)
        return f"{say_percent(busy)} busy" if busy >= _SEEN else "idle"

    def figure(self, node: int, place: str, words: str) -> str:
        """Return the figure at a place of a drawn node; nothing at the second node where the first, drawn before it, has the same."""
        first = self._figures.setdefault(place, words)
        return "" if node and first == words else words

    def part(self, node: int, kind: str) -> float:
        """Return the busy share to fill a pipe with, 0 to 1."""
        shares = self.busy[node] if not self.run.trace.folded else self.run.busy
        return (shares or {}).get(kind, 0.0)

    def is_told(self, kind: str) -> bool:
        """Return whether the picture says how busy a kind is, or shows its part and the timeline has its lane."""
        return kind in self.told or (has_lane(kind) and resource_kind(kind).drawn in self.parts)

    def align(self, node: int) -> str:
        """Return how words at the outer side of a drawn node are aligned."""
        return "left" if node == 0 else "right"

    def speed(self, node: int) -> float:
        """Return the share of the full rate that a drawn node has where it sends."""
        slow = self.run.scenario.slow_domains or Slow()
        if not any(resource_kind(kind).slowed_with_node for kind in self.kinds):
            return 1.0
        left, partners = self.sight.node, self.sight.partner
        if node == 0:
            return slow.get(left, 1.0)
        return slow.get(partners[0], 1.0) if len(partners) == 1 else 1.0
