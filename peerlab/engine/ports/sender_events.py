"""What senders and receivers do as time passes, for the loop: messages that arrive, notifications, timers, gaps and timeouts."""

from collections.abc import Callable

from peerlab.engine.ports.fair_rates import fair_rates
from peerlab.engine.ports.port_scene import PortFlow, PortScene
from peerlab.engine.ports.port_sender import FlowEnds, PortCell, rest_ps, return_ps
from peerlab.engine.ports.port_trace import MessageEnd, PacketEvent, PortTrace, RateChange, Signal
from peerlab.engine.ports.rate_control import SenderRate

KEY_BITS = 40
"""Of an event's key; its kind stands above them."""
KINDS = 12
ENDS, CREDIT, PAUSE, DONE, START, CNP, ALPHA, TIMER, GAP, TIMEOUT, WAKE, ARRIVES = range(KINDS)
"""Kinds of events in the order in which an instant handles them."""


class SenderEvents:
    """Both ends of all flows, in time."""

    def __init__(
        self, ends: list[FlowEnds], scene: PortScene, push: Callable[..., None], trace: PortTrace
    ) -> None:
        self.ends, self.scene, self.push, self.trace = ends, scene, push, trace
        self.paces = [0] * len(ends)
        """When each flow may send its next cell."""
        marking, fabric = scene.fabric.marking, scene.fabric
        self.rates: list[SenderRate] | None = None
        if marking:
            self.rates = [SenderRate(marking, scene.host_Bps, fair) for fair in fair_rates(scene)]
        self.heard = [-1] * len(ends)
        """When each receiver last sent a notification."""
        self.timeouts = fabric.loses and fabric.recovery.startswith("go-back") and fabric.timeout_ps > 0
        self.followers: list[list[int]] = [[] for _ in ends]
        for end in ends:
            if end.flow.after is not None:
                self.followers[end.flow.after].append(end.number)
        self.jobs: dict[str, list[FlowEnds]] = {}
        """Flows that send collective after collective, by job."""
        for end in ends:
            if end.flow.collective:
                self.jobs.setdefault(end.flow.job, []).append(end)
        self.begun = dict.fromkeys(self.jobs, 1)
        """How many collectives of each job may be sent."""
        self.left = scene.finite
        self.over = False

    def begin(self) -> None:
        """Let every flow start."""
        for ends in self.ends:
            self.push(ends.flow.start_ps, START, ends.number, ends.flow.sendable(1), 0, 0)
            if self.rates and self.rates[ends.number].counting:
                self._set_timers(0, ends.number)

    def handle(self, now: int, kind: int, flow: int, one: int, two: int) -> list[int]:
        """Handle an event of a flow; return the flows that may send for it."""
        ends = self.ends[flow]
        if kind == DONE:
            return self._done(now, ends, one)
        if kind == START:
            ends.allow(one)
        elif kind == GAP:
            self._gap(now, ends, one, two)
        elif kind == TIMEOUT:
            if ends.timed_out(one):
                self._gap(now, ends, ends.expected, 0)
                self.trace.signals.append(
                    Signal("timeout", flow, ends.flow.vl, now - self.scene.fabric.timeout_ps, now)
                )
        else:
            self._rate(now, kind, flow, one)
        return [flow]

    def _done(self, now: int, ends: FlowEnds, message: int) -> list[int]:
        self.trace.messages.append(MessageEnd(now, ends.number, message))
        before, done = ends.done, ends.arrived(message)
        # it came before one that was sent earlier, or a second time
        if done == before:
            return []
        if done == ends.flow.messages and ends.flow.counts:
            self.left -= 1
            self.over = not self.left
        for number in self.followers[ends.number]:
            self.ends[number].allow(min(done + 1, self._most(self.ends[number].flow)))
        if ends.flow.collective:
            self._next_collective(now, ends.flow)
        return self.followers[ends.number]

    def _most(self, flow: PortFlow) -> int:
        """Return the messages of a flow that may be sent once those that it waits for are there."""
        return self.begun[flow.job] * flow.collective if flow.collective else flow.messages

    def _next_collective(self, now: int, flow: PortFlow) -> None:
        """Let a job begin its next collective after its computing, if the last message of this one has arrived."""
        most = self._most(flow)
        if most < flow.messages and all(ends.done >= most for ends in self.jobs[flow.job]):
            self.begun[flow.job] += 1
            for ends in self.jobs[flow.job]:
                self.push(
                    now + flow.compute_ps, START, ends.number, ends.flow.sendable(self.begun[flow.job]), 0, 0
                )

    def _gap(self, now: int, ends: FlowEnds, packet: int, count: int) -> None:
        if count:
            ends.lost.append((packet, count))
            return
        in_vain = ends.go_back(packet)
        if in_vain:
            self.trace.packets.append(PacketEvent("discard", now, -1, ends.number, ends.expected, in_vain))

    def _rate(self, now: int, kind: int, flow: int, epoch: int) -> None:
        """Let the rate of a flow fall or rise."""
        rates, marking = self.rates, self.scene.fabric.marking
        if rates is None or marking is None:
            return
        rate = rates[flow]
        if kind == CNP:
            rate.notified()
            self._set_timers(now, flow)
        elif epoch != rate.epoch:
            return
        elif kind == ALPHA:
            rate.unheard()
            self.push(now + marking.alpha_ps, ALPHA, flow, epoch, 0, 0)
            return
        else:
            rate.timed()
            self.push(now + marking.timer_ps, TIMER, flow, epoch, 0, 0)
        self.trace.rates.append(RateChange(now, flow, rate.current, rate.target))

    def _set_timers(self, now: int, flow: int) -> None:
        marking = self.scene.fabric.marking
        if self.rates is None or marking is None:
            return
        self.push(now + marking.alpha_ps, ALPHA, flow, self.rates[flow].epoch, 0, 0)
        self.push(now + marking.timer_ps, TIMER, flow, self.rates[flow].epoch, 0, 0)

    def sent(self, now: int, cell: PortCell, end: int) -> None:
        """Take that a host began to send a cell."""
        ends = self.ends[cell.flow]
        if self.rates is not None:
            rate = self.rates[cell.flow]
            self.paces[cell.flow] = now + rate.gap_ps(cell.wire)
            if rate.sent(cell.wire):
                self.trace.rates.append(RateChange(now, cell.flow, rate.current, rate.target))
        if self.timeouts and ends.is_idle:
            self.push(end + self.scene.fabric.timeout_ps, TIMEOUT, cell.flow, ends.sendings, 0, 0)

    def received(self, now: int, cell: PortCell, end: int, packet_ps: int) -> None:
        """Take the first packet of a cell at its receiver."""
        ends, scene = self.ends[cell.flow], self.scene
        arrival = ends.take(cell)
        if arrival.message >= 0:
            self.push(end + scene.hop_ps + scene.latency_ps, DONE, cell.flow, arrival.message, 0, 0)
        if arrival.lost >= 0:
            self.trace.packets.append(PacketEvent("loss", now, -1, cell.flow, arrival.lost, 1))
        discarded = cell.packets - arrival.packets - (arrival.lost >= 0)
        if discarded:
            self.trace.packets.append(PacketEvent("discard", now, -1, cell.flow, cell.first, discarded))
        if arrival.gap_at >= 0 and scene.fabric.recovery != "none":
            at = now + arrival.gap_at * packet_ps
            self._tell_gap(at, ends, arrival.packet, 0 if ends.in_order else 1)
        marking = scene.fabric.marking
        heard = self.heard[cell.flow]
        if cell.marked and marking and (heard < 0 or now - heard >= marking.cnp_ps):
            self.heard[cell.flow] = now
            arrives = now + return_ps(scene, ends.flow)
            self.trace.signals.append(Signal("cnp", cell.flow, cell.vl, now, arrives))
            self.push(arrives, CNP, cell.flow, 0, 0, 0)

    def dropped(self, now: int, link: int, cell: PortCell) -> None:
        """Take that a switch lost a cell."""
        self.trace.packets.append(PacketEvent("drop", now, link, cell.flow, cell.first, cell.packets))
        ends = self.ends[cell.flow]
        if self.scene.fabric.recovery == "selective":
            self._tell_gap(now + rest_ps(self.scene, ends.flow, cell), ends, cell.first, cell.packets)

    def _tell_gap(self, now: int, ends: FlowEnds, packet: int, count: int) -> None:
        """Let a receiver tell a sender what is missing: so many packets, or with 0 everything from one on."""
        arrives = now + return_ps(self.scene, ends.flow) + self.scene.fabric.recovery_ps
        self.trace.signals.append(Signal("gap", ends.number, ends.flow.vl, now, arrives))
        self.push(arrives, GAP, ends.number, packet, count, 0)
