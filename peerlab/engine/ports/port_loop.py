"""The fast engine of ports: one heap of events, handled instant by instant.

Order within an instant, as in the referee: what ends leaves its accounts; signals arrive; cells arrive; pauses are decided;
ports that are free begin. Ties go by number of link or flow. A signal takes a picosecond or more, so no instant feeds itself.
"""

from heapq import heappop, heappush
from typing import Any

from peerlab.base.errors import ScenarioError
from peerlab.engine.ports.loop_port import LoopPort
from peerlab.engine.ports.port_laws import Marks, follow_ps, trunk_of
from peerlab.engine.ports.port_limits import EVENTS_PER_HOP, MOST_EVENTS
from peerlab.engine.ports.port_scene import PortScene
from peerlab.engine.ports.port_sender import FlowEnds, PortCell, ends_of
from peerlab.engine.ports.port_trace import CellSpan, PacketEvent, PauseSpan, PortTrace, Signal, StarvedSpan
from peerlab.engine.ports.scene_checks import what_fits
from peerlab.engine.ports.sender_events import (
    ARRIVES,
    CREDIT,
    DONE,
    ENDS,
    KEYS,
    PAUSE,
    WAKE,
    SenderEvents,
)

Event = tuple[int, int, Any, Any, Any]
"""When, kind and key, and what it is about; of equal ones the last three are whole numbers."""


def run_ports(scene: PortScene) -> PortTrace:
    """Simulate a scene; return all that happened.

    Raises
    ------
    ScenarioError
        If there are too many events, or an ingress account is overrun.
    """
    return PortLoop(scene).run()


class PortLoop:
    """The state of a scene."""

    def __init__(self, scene: PortScene) -> None:
        self.scene, self.fabric = scene, scene.fabric
        self.heap: list[Event] = []
        self.trace = PortTrace(scene)
        self.ends = ends_of(scene)
        flows = [[ends for ends in self.ends if ends.flow.src == host] for host in range(scene.hosts)]
        self.ports = [
            LoopPort(number, scene, flows[number] if number < scene.hosts else [])
            for number in range(len(scene.links))
        ]
        self.routes = [self._route(ends) for ends in self.ends]
        self.marks = [Marks(self.fabric.marking) for _ in self.ends] if self.fabric.marking else None
        self.touched: list[LoopPort] = []
        self.accounts: set[tuple[int, int]] = set()
        self.watched = self.fabric.loses or self.marks is not None
        """Whether receivers look at each cell; else it is enough to count."""
        self.wakes = [-1] * scene.hosts
        self.follows: dict[tuple[int, int], int] = {}
        self.senders = SenderEvents(self.ends, scene, self.push, self.trace)
        self.most = MOST_EVENTS // EVENTS_PER_HOP
        self.sent: list[tuple[int, int, int, int, int, int, int, int, bool]] = []
        """Rows of `CellSpan`, which are made of them at the end: that is a tenth of the time."""

    def _route(self, ends: FlowEnds) -> list[LoopPort | None]:
        """Return the ports that a flow's cells leave by; None where each looks for the emptiest trunk."""
        up, down = self.ports[ends.flow.src], self.ports[self.scene.hosts + ends.flow.dst]
        if not self.scene.trunk_links(ends.flow):
            return [up, down]
        trunk = trunk_of(self.scene, ends.number, ends.flow)
        return [up, self.ports[trunk] if trunk >= 0 else None, down]

    def push(self, at: int, kind: int, key: int, *about: Any) -> None:
        """Let something happen."""
        heappush(self.heap, (at, kind * KEYS + key, *about))

    def run(self) -> PortTrace:
        """Handle instant after instant until the scene ends."""
        self.senders.begin()
        heap, until = self.heap, self.scene.until_ps
        while heap and not (until and heap[0][0] >= until):
            now = heap[0][0]
            while heap and heap[0][0] == now:
                _, order, *about = heappop(heap)
                self._handle(now, order, *about)
                if self.senders.over:
                    return self._close(now)
            self._decide(now)
            for port in self.touched:
                if not port.busy:
                    self._begin(now, port)
            self.touched.clear()
        if not until:
            raise ScenarioError("recovery", "packets were lost that nobody sends again, so this never ends")
        return self._close(until)

    def _handle(self, now: int, order: int, one: Any, two: Any, three: Any) -> None:
        kind, key = divmod(order, KEYS)
        if kind == ENDS:
            self._ends(now, one, two, three)
        elif kind == ARRIVES:
            self._arrives(now, one, two, three)
        elif kind == CREDIT:
            port = self.ports[key >> 4]
            port.pool[key & 15] += one  # type: ignore[index]
            self.touched.append(port)
        elif kind == PAUSE:
            self._pause(now, self.ports[key >> 4], key & 15, one)
        elif kind == WAKE:
            self.touched.append(self.ports[key])
        else:
            for flow in self.senders.handle(now, kind, key, one, two):
                self.touched.append(self.routes[flow][0])  # type: ignore[arg-type]

    def _ends(self, now: int, port: LoopPort, came_by: LoopPort | None, cell: PortCell) -> None:
        port.busy = False
        self.touched.append(port)
        if came_by is None:
            return
        port.backlog -= cell.wire
        came_by.account[cell.vl] -= cell.wire
        if self.fabric.xoff:
            self.accounts.add((came_by.number, cell.vl))
        if came_by.pool is not None:
            back = now + self.scene.hop_ps + self.fabric.processing_ps
            self.push(back, CREDIT, came_by.number << 4 | cell.vl, cell.wire, 0, 0)

    def _pause(self, now: int, port: LoopPort, vl: int, begins: int) -> None:
        if begins:
            port.paused[vl] = now
            return
        self.trace.pauses.append(PauseSpan(port.number, vl, port.paused[vl], now))
        port.paused[vl] = -1
        self.touched.append(port)

    def _arrives(self, now: int, came_by: LoopPort, cell: PortCell, end: int) -> None:
        """Let a cell reach the next port, or its receiver."""
        if not came_by.into_switch:
            self.senders.received(now, cell, end, came_by.service_ps(min(cell.wire, self.fabric.packet)))
            return
        cell.hop += 1
        port = self.routes[cell.flow][cell.hop]
        if port is None:
            trunks = self.scene.trunk_links(self.ends[cell.flow].flow)
            port = min((self.ports[k] for k in trunks), key=lambda one: (one.backlog, one.number))
        if self._is_lost(came_by, port, cell):
            self.senders.dropped(now, port.number, cell)
            if came_by.pool is not None:
                came_by.pool[cell.vl] += cell.wire
            return
        if (
            self.marks is not None
            and not cell.marked
            and self.marks[cell.flow].marked(port.backlog, cell.packets)
        ):
            cell.marked = True
            self.trace.packets.append(
                PacketEvent("mark", now, port.number, cell.flow, cell.first, cell.packets)
            )
        port.backlog += cell.wire
        came_by.account[cell.vl] += cell.wire
        if self.fabric.xoff:
            self.accounts.add((came_by.number, cell.vl))
        port.queues[cell.vl].append((cell, came_by, now))
        self.touched.append(port)

    def _is_lost(self, came_by: LoopPort, port: LoopPort, cell: PortCell) -> bool:
        fabric = self.fabric
        if fabric.xoff:
            over = came_by.account[cell.vl] + cell.wire - fabric.xoff - fabric.headroom
            if over > 0 and fabric.overrun == "drop":
                return True
            if over > self.trace.overrun:
                self.trace.overrun, self.trace.overrun_link = over, came_by.number
        return port.shed is not None and port.shed.loses(cell.flow, cell.wire, port.backlog)

    def _decide(self, now: int) -> None:
        """Ask senders to pause, or to go on, by what their accounts are now."""
        fabric = self.fabric
        for number, vl in sorted(self.accounts):
            port = self.ports[number]
            account = port.account[vl]
            if account > fabric.xoff if not port.pause_asked[vl] else account < fabric.xon:
                port.pause_asked[vl] = not port.pause_asked[vl]
                arrives = now + self.scene.hop_ps + fabric.processing_ps
                kind = "xoff" if port.pause_asked[vl] else "xon"
                self.trace.signals.append(Signal(kind, number, vl, now, arrives))
                self.push(arrives, PAUSE, number << 4 | vl, int(port.pause_asked[vl]), 0, 0)
        self.accounts.clear()

    def _begin(self, now: int, port: LoopPort) -> None:
        """Let a free port send, if anything may go."""
        if port.link.source >= 0:
            self._host_begins(now, port)
            return
        waiting = port.next_waiting()
        if waiting is not None:
            self._send(now, port, *waiting)
        elif port.starved < 0 and port.lacks_credits:
            port.starved = now

    def _host_begins(self, now: int, port: LoopPort) -> None:
        """Let the next flow of a host send a cell, its flows in turn."""
        flows, count = port.flows, len(port.flows)
        wake, starved = -1, False
        for k in range(count):
            ends = flows[(port.turn + k) % count]
            first, packets = ends.proposal()
            if packets <= 0 or port.paused[ends.flow.vl] >= 0:
                continue
            at = self.senders.paces[ends.number]
            if at > now:
                wake = at if wake < 0 else min(wake, at)
                continue
            wire = ends.wire(first, packets)
            if port.pool is not None and port.pool[ends.flow.vl] < wire:
                starved = True
                continue
            port.turn = (port.turn + k + 1) % count
            cell = ends.send(first, packets, wire)
            self._send(now, port, cell, None, now)
            self.senders.sent(now, cell, now + port.service_ps(wire))
            return
        if starved and port.starved < 0:
            port.starved = now
        if wake >= 0 and self.wakes[port.number] != wake:
            self.wakes[port.number] = wake
            self.push(wake, WAKE, port.number, 0, 0, 0)

    def _send(self, now: int, port: LoopPort, cell: PortCell, came_by: LoopPort | None, queued: int) -> None:
        wire, flow = cell.wire, cell.flow
        end = now + port.service_ps(wire)
        port.busy = True
        if port.starved >= 0:
            self.trace.starved.append(StarvedSpan(port.number, port.starved, now))
            port.starved = -1
        if port.pool is not None:
            port.pool[cell.vl] -= wire
        self.sent.append((port.number, now, end, queued, flow, cell.first, cell.packets, wire, cell.again))
        if len(self.sent) > self.most:
            raise ScenarioError("cell", f"too many events; {what_fits(self.scene, 2 * MOST_EVENTS)}")
        self.push(end, ENDS, port.number, port, came_by, cell)
        if not port.into_switch and not self.watched:
            message = self.ends[flow].count(cell.first, cell.packets)
            if message >= 0:
                self.push(end + self.scene.hop_ps + self.scene.latency_ps, DONE, flow, message, 0, 0)
            return
        key = (min(wire, self.fabric.packet), port.link.rate_Bps)
        follows = self.follows.get(key)
        if follows is None:
            follows = follow_ps(wire, self.fabric.packet, self.scene.hop_ps, port.link)
            self.follows[key] = follows
        self.push(now + follows, ARRIVES, port.number << 20 | flow, port, cell, end)

    def _close(self, now: int) -> PortTrace:
        """Return the trace, with what was going on at the end."""
        trace = self.trace
        trace.cells = [CellSpan(*one) for one in self.sent]
        for port in self.ports:
            for vl, since in enumerate(port.paused):
                if since >= 0:
                    trace.pauses.append(PauseSpan(port.number, vl, since, now))
            if port.starved >= 0:
                trace.starved.append(StarvedSpan(port.number, port.starved, now))
            trace.left += [
                CellSpan(
                    port.number, now, now, queued, cell.flow, cell.first, cell.packets, cell.wire, cell.again
                )
                for queue in port.queues
                for cell, _, queued in queue
            ]
        return trace.closed(now)
