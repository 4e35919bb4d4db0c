"""A port of the loop: its queues, what its far end holds of its cells, and who may send."""

from collections import deque
from collections.abc import Sequence

from peerlab.engine.ports.port_laws import Shed, follow_ps, trunk_of
from peerlab.engine.ports.port_scene import PortFlow, PortScene
from peerlab.engine.ports.port_sender import FlowEnds, PortCell
from peerlab.engine.ports.port_trace import PauseSpan, PortTrace, StarvedSpan
from peerlab.engine.ports.sender_events import ARRIVES, ENDS, KEY_BITS

Waiting = tuple[PortCell, "LoopPort", int]
"""A cell in a queue, the port that it came by, and since when it waits."""


class LoopPort:
    """One end of a directed link, the sending one."""

    __slots__ = (
        "account",
        "arrives",
        "backlog",
        "busy",
        "ends",
        "flows",
        "hop_ps",
        "in_turn",
        "into_switch",
        "link",
        "number",
        "packet",
        "pause_asked",
        "paused",
        "pool",
        "queues",
        "shed",
        "starved",
        "took",
        "turn",
    )  # fmt: skip

    def __init__(self, number: int, scene: PortScene, flows: list[FlowEnds]) -> None:
        fabric, vls = scene.fabric, scene.fabric.vls
        self.number = number
        self.link = scene.links[number]
        self.into_switch = self.link.sink < 0
        self.ends, self.arrives = ENDS << KEY_BITS | number, ARRIVES << KEY_BITS | number << 20
        """Kind and key of what follows when it sends a cell, of a flow 0."""
        self.flows = flows
        """Of a host: its flows."""
        self.queues: list[deque[Waiting]] = [deque() for _ in range(vls)]
        self.backlog = 0
        self.account = [0] * vls
        """Bytes at the far end that came by this link and have not left it."""
        self.pool = [fabric.credits] * vls if fabric.credits and self.into_switch else None
        """Bytes that may be sent."""
        self.pause_asked = [False] * vls
        """Whether the far end has asked for a pause last."""
        self.paused = [-1] * vls
        """Since when it is paused; -1: it is not."""
        self.starved = -1
        """Since when it has cells and no credits."""
        self.busy = False
        self.turn = 0
        """The lane, or the flow of a host, that is looked at first."""
        count = len(flows) or vls
        self.in_turn = [[(first + k) % count for k in range(count)] for first in range(count + 1)]
        """By what `turn` is: the numbers of all lanes or flows, that one first; one beyond the last is the first again."""
        self.shed = Shed(fabric.queue) if fabric.queue and self.link.source < 0 else None
        self.hop_ps, self.packet = scene.hop_ps, fabric.packet
        self.took: dict[int, tuple[int, int]] = {}
        """What `times` returned, by bytes."""

    def times(self, wire: int) -> tuple[int, int]:
        """Return how long it sends a cell, and how long after its begin the next port may begin with it."""
        took = self.took.get(wire)
        if took is None:
            follows = follow_ps(wire, self.packet, self.hop_ps, self.link)
            took = self.took[wire] = (self.link.service_ps(wire), follows)
        return took

    def next_waiting(self) -> Waiting | None:
        """Take the cell that a switch sends next, its lanes in turn; None where no lane has one that may go."""
        pool = self.pool
        for vl in self.in_turn[self.turn]:
            queue = self.queues[vl]
            if queue and self.paused[vl] < 0 and (pool is None or pool[vl] >= queue[0][0].wire):
                self.turn = vl + 1
                return queue.popleft()
        return None

    @property
    def lacks_credits(self) -> bool:
        """Whether a cell waits that only credits keep."""
        return self.pool is not None and any(
            queue and paused < 0 for queue, paused in zip(self.queues, self.paused, strict=True)
        )

    def close(self, now: int, trace: PortTrace) -> None:
        """Note what was going on when the scene ended."""
        number = self.number
        trace.pauses += [
            PauseSpan(number, vl, since, now) for vl, since in enumerate(self.paused) if since >= 0
        ]
        if self.starved >= 0:
            trace.starved.append(StarvedSpan(number, self.starved, now))
        trace.left += [
            cell.span(number, now, now, queued) for queue in self.queues for cell, _, queued in queue
        ]


def route_of(scene: PortScene, ends: FlowEnds, ports: Sequence[LoopPort]) -> list[LoopPort | None]:
    """Return the ports that a flow's cells leave by; None where each looks for the emptiest trunk."""
    flow = ends.flow
    up, down = ports[flow.src], ports[scene.hosts + flow.dst]
    trunk = trunk_of(scene, ends.number, flow)
    return [up, *(ports[link] if trunk >= 0 else None for link in scene.between(flow, trunk)), down]


def free_trunk(scene: PortScene, flow: PortFlow, came_by: LoopPort, ports: Sequence[LoopPort]) -> LoopPort:
    """Return the trunk with the least waiting, for a cell of a flow that takes any; or the one down from the spine that it took."""
    if came_by.number >= scene.hosts:
        return ports[scene.between(flow, came_by.number)[1]]
    return min((ports[k] for k in scene.trunk_links(flow)), key=lambda port: (port.backlog, port.number))
