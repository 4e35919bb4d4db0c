"""The referee of ports: the same scene with SimPy, in the most readable way.

A cell that is sent, one that flies and a word that goes back are processes of their own. What a port holds is not counted but looked at: an
account is the cells that came by a link and have not left, credits are what is not unanswered. All that happens at one picosecond is put in
order first (`_settle`); then every port that is free looks for something to send.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from math import inf
from typing import Any

import simpy

from peerlab.engine.ports.port_laws import Marks, Shed, follow_ps, trunk_of
from peerlab.engine.ports.port_scene import PortLink, PortScene
from peerlab.engine.ports.port_sender import PortCell, ends_of
from peerlab.engine.ports.port_trace import (
    PacketEvent,
    PauseSpan,
    PortTrace,
    Signal,
    StarvedSpan,
)
from peerlab.engine.ports.scene_checks import never_ends
from peerlab.engine.ports.sender_events import ARRIVES, CREDIT, ENDS, PAUSE, WAKE, SenderEvents

_AFTER_ALL_ELSE = 9
"""SimPy's priority of what settles an instant: after every event of that time."""


@dataclass(eq=False)
class SimPort:
    """A port: the cells that wait in it, those of its link that the far end holds, and those it has no credits back for."""

    number: int
    link: PortLink
    shed: Shed | None
    waiting: list[tuple[PortCell, "SimPort", int]] = field(default_factory=list)
    """In order of arrival, each with the port that it came by and since when it waits."""
    sends: PortCell | None = None
    held: list[PortCell] = field(default_factory=list)
    unanswered: list[PortCell] = field(default_factory=list)
    paused: dict[int, int] = field(default_factory=dict)
    """Since when, by lane."""
    pause_asked: set[int] = field(default_factory=set)
    """Lanes for which its far end asked for a pause last."""
    starved: int = -1
    turn: int = 0

    @property
    def queued(self) -> int:
        """Bytes at the port."""
        return sum(cell.wire for cell, _, _ in self.waiting) + (self.sends.wire if self.sends else 0)

    def account(self, vl: int) -> int:
        """Return the bytes of a lane that the far end holds."""
        return sum(cell.wire for cell in self.held if cell.vl == vl)

    def credits(self, scene: PortScene, vl: int) -> int:
        """Return the bytes that may be sent; without credits any number."""
        if not scene.fabric.credits or self.link.sink >= 0:
            return 1 << 62
        return scene.fabric.credits - sum(cell.wire for cell in self.unanswered if cell.vl == vl)


class PortReferee:
    """A scene, as processes."""

    def __init__(self, scene: PortScene) -> None:
        self.scene, self.fabric, self.env = scene, scene.fabric, simpy.Environment()
        self.trace, self.ends = PortTrace(scene), ends_of(scene)
        self.ports = [
            SimPort(
                number, link, Shed(scene.fabric.queue) if scene.fabric.queue and link.source < 0 else None
            )
            for number, link in enumerate(scene.links)
        ]
        self.marks = [Marks(self.fabric.marking) for _ in self.ends] if self.fabric.marking else None
        self.instant: list[tuple[int, int, tuple[int, ...], Callable[[], None]]] = []
        self.over = self.env.event()
        self.senders = SenderEvents(self.ends, scene, self._word, self.trace)

    def run(self) -> PortTrace:
        """Simulate until the scene ends."""
        self.senders.begin()
        until = self.scene.until_ps
        cut = self.env.timeout(until) if until else self.env.event()
        ended = cut | self.over
        while not ended.processed:
            if self.env.peek() == inf:
                raise never_ends()
            self.env.step()
        return self._close(int(self.env.now))

    # an instant

    def _happens(self, kind: int, key: int, about: tuple[int, ...], does: Callable[[], None]) -> None:
        """Let something happen now, in its order among all that does."""
        if not self.instant:
            settle = simpy.Event(self.env)
            settle.callbacks = [lambda _: self._settle()]
            settle._ok, settle._value = True, None  # noqa: SLF001  (an event that has happened, after all others)
            self.env.schedule(settle, priority=_AFTER_ALL_ELSE)  # type: ignore[arg-type]
        self.instant.append((kind, key, about, does))

    def _settle(self) -> None:
        now = self.env.now
        for _, _, _, does in sorted(self.instant, key=lambda event: event[:3]):
            does()
            if self.senders.over:
                self.over.succeed()
                return
        self.instant.clear()
        if self.fabric.xoff:
            for port in self.ports:
                for vl in range(self.fabric.vls):
                    self._decide(int(now), port, vl)
        for port in self.ports:
            if port.sends is None:
                self._look(int(now), port)

    def _later(
        self, delay: int, kind: int, key: int, about: tuple[int, ...], does: Callable[[], None]
    ) -> None:
        self.env.process(self._flight(delay, kind, key, about, does))

    def _flight(
        self, delay: int, kind: int, key: int, about: tuple[int, ...], does: Callable[[], None]
    ) -> Generator[Any, None, None]:
        yield self.env.timeout(delay)
        self._happens(kind, key, about, does)

    def _word(self, at: int, kind: int, flow: int, *about: int) -> None:
        """Let something reach one end of a flow."""
        number, count, *_ = about
        does = lambda: self.senders.handle(at, kind, flow, number, count)  # noqa: E731
        self._later(at - int(self.env.now), kind, flow, about, does)  # type: ignore[arg-type]

    # ports

    def _look(self, now: int, port: SimPort) -> None:
        """Let a free port send what may go, or note what keeps it."""
        if port.link.source >= 0:
            self._look_at_flows(now, port)
            return
        vls = range(self.fabric.vls)
        heads = {vl: next((waiting for waiting in port.waiting if waiting[0].vl == vl), None) for vl in vls}
        lacking = False
        for vl in (*vls[port.turn :], *vls[: port.turn]):
            head = heads[vl]
            if head is None or vl in port.paused:
                continue
            if port.credits(self.scene, vl) < head[0].wire:
                lacking = True
                continue
            port.waiting.remove(head)
            port.turn = (vl + 1) % self.fabric.vls
            self.env.process(self._sends(port, *head))
            return
        if lacking and port.starved < 0:
            port.starved = now

    def _look_at_flows(self, now: int, port: SimPort) -> None:
        flows = [ends for ends in self.ends if ends.flow.src == port.number]
        wakes, lacking = [], False
        for ends in (*flows[port.turn :], *flows[: port.turn]):
            first, packets = ends.proposal()
            vl = ends.flow.vl
            if packets <= 0 or vl in port.paused:
                continue
            if self.senders.paces[ends.number] > now:
                wakes.append(self.senders.paces[ends.number])
                continue
            wire = ends.wire(first, packets)
            if port.credits(self.scene, vl) < wire:
                lacking = True
                continue
            port.turn = (flows.index(ends) + 1) % len(flows)
            cell = ends.send(first, packets, wire)
            self.env.process(self._sends(port, cell, None, now))
            self.senders.sent(now, cell, now + port.link.service_ps(wire))
            return
        if lacking and port.starved < 0:
            port.starved = now
        if wakes:
            self._later(min(wakes) - now, WAKE, port.number, (), lambda: None)

    def _sends(
        self, port: SimPort, cell: PortCell, came_by: SimPort | None, queued: int
    ) -> Generator[Any, None, None]:
        """A port is busy until the last byte has left; the cell flies on before."""
        now = int(self.env.now)
        took = port.link.service_ps(cell.wire)
        port.sends = cell
        if port.starved >= 0:
            self.trace.starved.append(StarvedSpan(port.number, port.starved, now))
            port.starved = -1
        port.unanswered.append(cell)
        self.trace.sent.append(cell.span(port.number, now, now + took, queued))
        follows = follow_ps(cell.wire, self.fabric.packet, self.scene.hop_ps, port.link)
        key = port.number << 20 | cell.flow
        self._later(follows, ARRIVES, key, (), lambda: self._arrives(port, cell, now + took))
        yield self.env.timeout(took)
        self._happens(ENDS, port.number, (), lambda: self._leaves(port, cell, came_by))

    def _next(self, port: SimPort, cell: PortCell) -> SimPort | None:
        """Return the port that a cell leaves its next switch by, as of now; None at its receiver."""
        if port.link.sink >= 0:
            return None
        flow = self.ends[cell.flow].flow
        trunks = self.scene.trunk_links(flow)
        if port.number in trunks:
            _, *below = self.scene.between(flow, port.number)
            return self.ports[below[0] if below else self.scene.hosts + flow.dst]
        if port.link.source < 0 or not trunks:
            return self.ports[self.scene.hosts + flow.dst]
        hashed = trunk_of(self.scene, cell.flow, flow)
        if hashed >= 0:
            return self.ports[hashed]
        return min((self.ports[k] for k in trunks), key=lambda trunk: (trunk.queued, trunk.number))

    def _leaves(self, port: SimPort, cell: PortCell, came_by: SimPort | None) -> None:
        port.sends = None
        if came_by is None:
            return
        came_by.held.remove(cell)
        now = int(self.env.now)
        back = self.scene.hop_ps + self.fabric.processing_ps
        if self.fabric.credits:
            self.trace.returned.append((came_by.number, now, now + back, cell.wire, cell.vl))
        self._later(
            back, CREDIT, came_by.number << 4 | cell.vl, (cell.wire,), lambda: came_by.unanswered.remove(cell)
        )

    def _arrives(self, came_by: SimPort, cell: PortCell, end: int) -> None:
        now = int(self.env.now)
        port = self._next(came_by, cell)
        if port is None:
            packet_ps = came_by.link.service_ps(min(cell.wire, self.fabric.packet))
            self.senders.received(now, cell, end, packet_ps)
            return
        cell.hop += 1
        if self._is_lost(came_by, port, cell):
            self.senders.dropped(now, port.number, cell)
            came_by.unanswered.remove(cell)
            return
        if self.marks and not cell.marked and self.marks[cell.flow].marked(port.queued, cell.packets):
            cell.marked = True
            self.trace.packets.append(
                PacketEvent("mark", now, port.number, cell.flow, cell.first, cell.packets)
            )
        came_by.held.append(cell)
        port.waiting.append((cell, came_by, now))

    def _is_lost(self, came_by: SimPort, port: SimPort, cell: PortCell) -> bool:
        if self.fabric.xoff:
            holds = self.fabric.xoff + self.fabric.headroom
            over = came_by.account(cell.vl) + cell.wire - holds
            if over > 0 and self.fabric.overrun == "drop":
                return True
            if over > self.trace.overrun:
                self.trace.overrun, self.trace.overrun_link = over, came_by.number
        return port.shed is not None and port.shed.loses(cell.flow, cell.wire, port.queued)

    # pauses

    def _decide(self, now: int, port: SimPort, vl: int) -> None:
        """Let the far end of a link ask for a pause, or for its end."""
        account, asked = port.account(vl), vl in port.pause_asked
        if not (account < self.fabric.xon if asked else account > self.fabric.xoff):
            return
        port.pause_asked ^= {vl}
        arrives = now + self.scene.hop_ps + self.fabric.processing_ps
        self.trace.signals.append(Signal("xon" if asked else "xoff", port.number, vl, now, arrives))
        key = port.number << 4 | vl
        self._later(
            arrives - now, PAUSE, key, (int(not asked),), lambda: self._pause(arrives, port, vl, ends=asked)
        )

    def _pause(self, now: int, port: SimPort, vl: int, *, ends: bool) -> None:
        if ends:
            self.trace.pauses.append(PauseSpan(port.number, vl, port.paused.pop(vl), now))
        else:
            port.paused[vl] = now

    def _close(self, now: int) -> PortTrace:
        for port in self.ports:
            self.trace.pauses += [PauseSpan(port.number, vl, since, now) for vl, since in port.paused.items()]
            if port.starved >= 0:
                self.trace.starved.append(StarvedSpan(port.number, port.starved, now))
            self.trace.left += [cell.span(port.number, now, now, queued) for cell, _, queued in port.waiting]
        return self.trace.closed(now)
