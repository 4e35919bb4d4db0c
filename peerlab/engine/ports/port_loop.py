"""The fast engine of ports: one heap of events, handled instant by instant.

Order within an instant, as in the referee: what ends leaves its accounts; signals arrive; cells arrive; pauses are decided;
ports that are free begin. Ties go by number of link or flow. A signal takes a picosecond or more, so no instant feeds itself.
"""

from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from typing import Any

from peerlab.base.errors import ScenarioError
from peerlab.engine.loop.collector import not_collecting
from peerlab.engine.ports.loop_port import LoopPort, free_trunk, route_of
from peerlab.engine.ports.port_laws import Marks
from peerlab.engine.ports.port_limits import EVENTS_PER_HOP, MOST_EVENTS
from peerlab.engine.ports.port_scene import PortScene
from peerlab.engine.ports.port_sender import PortCell, ends_of
from peerlab.engine.ports.port_trace import PacketEvent, PauseSpan, PortTrace, Signal, StarvedSpan
from peerlab.engine.ports.scene_checks import never_ends, what_fits
from peerlab.engine.ports.sender_events import (
    ARRIVES,
    CREDIT,
    DONE,
    ENDS,
    KEY_BITS,
    KINDS,
    PAUSE,
    WAKE,
    SenderEvents,
)

Event = tuple[int, int, Any, Any, Any]
"""When, kind and key, and what it is about; of equal ones the last three are whole numbers."""
_SET_APART = 1 << 12
"""Cells after which the collector is told not to walk through them again."""
_KEY = (1 << KEY_BITS) - 1


def run_ports(scene: PortScene) -> PortTrace:
    """Simulate a scene; return all that happened.

    Raises
    ------
    ScenarioError
        If there are too many events, or an ingress account is overrun.
    """
    return PortLoop(scene).run()


def _push(heap: list[Event], at: int, kind: int, key: int, first: Any, second: Any, third: Any) -> None:
    """Let something happen."""
    heappush(heap, (at, kind << KEY_BITS | key, first, second, third))


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
        self.routes = [route_of(scene, ends, self.ports) for ends in self.ends]
        self.marks = [Marks(self.fabric.marking) for _ in self.ends] if self.fabric.marking else None
        self.touched: list[LoopPort] = []
        self.accounts: set[tuple[int, int]] = set()
        self.watched = self.fabric.loses or self.marks is not None
        """Whether receivers look at each cell; else it is enough to count."""
        never = 1 << 62
        self.xoff, self.xon = (self.fabric.xoff, self.fabric.xon) if self.fabric.xoff else (never, 0)
        self.holds = self.fabric.xoff + self.fabric.headroom if self.fabric.xoff else never
        """Bytes that an account has room for."""
        self.credit_ps = scene.hop_ps + self.fabric.processing_ps
        """From when a cell leaves until its credits are back."""
        self.done_ps = scene.hop_ps + scene.latency_ps
        self.wakes, self.most = [-1] * scene.hosts, MOST_EVENTS // EVENTS_PER_HOP
        # bound to the heap, not to the loop: in a circle, a scene's cells would stay until Python's collector looks at them, which it does not here
        self.push = partial(_push, self.heap)
        self.senders = SenderEvents(self.ends, scene, self.push, self.trace)
        self.tells = self.senders.timeouts or self.senders.rates is not None
        """Whether a sender makes something of each cell that it sends."""

    def run(self) -> PortTrace:
        """Handle instant after instant until the scene ends."""
        with not_collecting() as set_apart:
            return self._run(set_apart)

    def _run(self, set_apart: Callable[[], None]) -> PortTrace:
        self.senders.begin()
        heap, until, sent = self.heap, self.scene.until_ps, self.trace.sent
        handle, due = self._handlers(), min(_SET_APART, self.most)
        while heap:
            now = heap[0][0]
            if until and now >= until:
                break
            while heap and heap[0][0] == now:
                _, order, first, second, third = heappop(heap)
                if handle[order >> KEY_BITS](now, order, first, second, third):
                    return self._close(now)
            if self.accounts:
                self._decide(now)
            if self.touched:
                self._let_go(now)
            if len(sent) > due:
                if len(sent) > self.most:
                    raise ScenarioError("cell", f"too many events; {what_fits(self.scene, 2 * MOST_EVENTS)}")
                set_apart()
                due = min(len(sent) + _SET_APART, self.most)
        if not until:
            raise never_ends()
        return self._close(until)

    def _handlers(self) -> list[Callable[[int, int, Any, Any, Any], bool | None]]:
        """Return what handles each kind of event: it gets the time, kind and key, and what it is about, and says if the scene is over."""
        handlers = [self._sender_event(kind) for kind in range(KINDS)]
        handlers[ENDS], handlers[ARRIVES], handlers[CREDIT] = self._ends, self._arrives, self._credit
        handlers[PAUSE], handlers[WAKE] = self._pause, self._wake
        return handlers

    def _sender_event(self, kind: int) -> Callable[[int, int, Any, Any, Any], bool | None]:
        def handle(now: int, order: int, first: int, second: int, _third: int) -> bool:
            for number in self.senders.handle(now, kind, order & _KEY, first, second):
                self.touched.append(self.ports[self.ends[number].flow.src])
            return self.senders.over

        return handle

    def _ends(self, now: int, _order: int, port: LoopPort, came_by: LoopPort | None, cell: PortCell) -> None:
        port.busy = False
        self.touched.append(port)
        if came_by is None:
            return
        vl, wire = cell.vl, cell.wire
        port.backlog -= wire
        came_by.account[vl] -= wire
        # an account that may end a pause: what it comes to when all of this instant has happened decides
        if came_by.account[vl] < self.xon and came_by.pause_asked[vl]:
            self.accounts.add((came_by.number, vl))
        if came_by.pool is not None:
            order = CREDIT << KEY_BITS | came_by.number << 4 | vl
            self.trace.returned.append((came_by.number, now, now + self.credit_ps, wire, vl))
            heappush(self.heap, (now + self.credit_ps, order, wire, 0, 0))

    def _credit(self, _now: int, order: int, wire: int, _two: int, _three: int) -> None:
        key = order & _KEY
        port = self.ports[key >> 4]
        port.pool[key & 15] += wire  # type: ignore[index]
        # a busy one looks when it is free
        if not port.busy:
            self.touched.append(port)

    def _wake(self, _now: int, order: int, _one: int, _two: int, _three: int) -> None:
        self.touched.append(self.ports[order & _KEY])

    def _pause(self, now: int, order: int, begins: int, _two: int, _three: int) -> None:
        key = order & _KEY
        port, vl = self.ports[key >> 4], key & 15
        if begins:
            port.paused[vl] = now
            return
        self.trace.pauses.append(PauseSpan(port.number, vl, port.paused[vl], now))
        port.paused[vl] = -1
        self.touched.append(port)

    def _arrives(self, now: int, _order: int, came_by: LoopPort, cell: PortCell, end: int) -> None:
        """Let a cell reach the next port, or its receiver."""
        if not came_by.into_switch:
            self.senders.received(now, cell, end, came_by.times(min(cell.wire, came_by.packet))[0])
            return
        flow, wire, vl = cell.flow, cell.wire, cell.vl
        cell.hop += 1
        port = self.routes[flow][cell.hop] or free_trunk(
            self.scene, self.scene.flows[flow], came_by, self.ports
        )
        account = came_by.account[vl] + wire
        if (account > self.holds or port.shed is not None) and self._is_lost(came_by, port, cell):
            self.senders.dropped(now, port.number, cell)
            if came_by.pool is not None:
                came_by.pool[vl] += wire
            return
        if self.marks is not None and not cell.marked and self.marks[flow].marked(port.backlog, cell.packets):
            cell.marked = True
            self.trace.packets.append(PacketEvent("mark", now, port.number, flow, cell.first, cell.packets))
        port.backlog += wire
        came_by.account[vl] = account
        if account > self.xoff and not came_by.pause_asked[vl]:
            self.accounts.add((came_by.number, vl))
        port.queues[vl].append((cell, came_by, now))
        if not port.busy:
            self.touched.append(port)

    def _is_lost(self, came_by: LoopPort, port: LoopPort, cell: PortCell) -> bool:
        over = came_by.account[cell.vl] + cell.wire - self.holds
        if over > 0 and self.fabric.overrun == "drop":
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
            if account > self.xoff if not port.pause_asked[vl] else account < self.xon:
                port.pause_asked[vl] = not port.pause_asked[vl]
                arrives = now + self.scene.hop_ps + fabric.processing_ps
                kind = "xoff" if port.pause_asked[vl] else "xon"
                self.trace.signals.append(Signal(kind, number, vl, now, arrives))
                self.push(arrives, PAUSE, number << 4 | vl, int(port.pause_asked[vl]), 0, 0)
        self.accounts.clear()

    def _let_go(self, now: int) -> None:
        """Let every free port at which something has changed in this instant look for something to send."""
        for port in self.touched:
            if port.busy:
                continue
            if port.flows:
                self._host_begins(now, port)
            elif port.backlog:
                waiting = port.next_waiting()
                if waiting is not None:
                    self._send(now, port, *waiting)
                elif port.starved < 0 and port.lacks_credits:
                    port.starved = now
        self.touched.clear()

    def _host_begins(self, now: int, port: LoopPort) -> None:
        """Let the next flow of a host send a cell, its flows in turn."""
        wake, starved = -1, False
        for number in port.in_turn[port.turn]:
            ends = port.flows[number]
            first, packets = ends.proposal()
            if packets <= 0 or port.paused[ends.vl] >= 0:
                continue
            at = self.senders.paces[ends.number]
            if at > now:
                wake = at if wake < 0 else min(wake, at)
                continue
            wire = ends.wire(first, packets)
            if port.pool is not None and port.pool[ends.vl] < wire:
                starved = True
                continue
            port.turn = number + 1
            cell = ends.send(first, packets, wire)
            end = self._send(now, port, cell, None, now)
            if self.tells:
                self.senders.sent(now, cell, end)
            return
        if starved and port.starved < 0:
            port.starved = now
        if wake >= 0 and self.wakes[port.number] != wake:
            self.wakes[port.number] = wake
            self.push(wake, WAKE, port.number, 0, 0, 0)

    def _send(self, now: int, port: LoopPort, cell: PortCell, came_by: LoopPort | None, queued: int) -> int:
        """Let a port begin with a cell; return when it ends."""
        wire, flow, number = cell.wire, cell.flow, port.number
        took, follows = port.took.get(wire) or port.times(wire)
        end = now + took
        port.busy = True
        if port.starved >= 0:
            self.trace.starved.append(StarvedSpan(number, port.starved, now))
            port.starved = -1
        if port.pool is not None:
            port.pool[cell.vl] -= wire
        self.trace.sent.append(
            (number, now, end, queued, flow, cell.first, cell.packets, wire, cell.again, cell.marked)
        )
        heappush(self.heap, (end, port.ends, port, came_by, cell))
        if port.into_switch or self.watched:
            heappush(self.heap, (now + follows, port.arrives + flow, port, cell, end))
        else:
            message = self.ends[flow].count(cell.first, cell.packets)
            if message >= 0:
                self.push(end + self.done_ps, DONE, flow, message, 0, 0)
        return end

    def _close(self, now: int) -> PortTrace:
        """Return the trace, with what was going on at the end."""
        for port in self.ports:
            port.close(now, self.trace)
        return self.trace.closed(now)
