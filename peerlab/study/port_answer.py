"""What a network with neighbours does to an AllReduce: its time, bus bandwidth, share, and what pauses, credits and losses cost."""

from dataclasses import dataclass
from functools import cached_property

from peerlab.base.units import PS_PER_S, parse_bytes
from peerlab.engine.ports.port_trace import PortTrace
from peerlab.engine.ports.simulate_ports import simulate_ports
from peerlab.study.port_figures import port_fabrics
from peerlab.study.port_question import OWN, PortQuestion

_SETTLES = 0.3
"""The first part of an endless scene, which no mean counts."""


@dataclass(frozen=True, eq=False)
class PortAnswer:
    """One question on one fabric."""

    question: PortQuestion
    trace: PortTrace
    alone_ps: int
    """Time of the AllReduce without neighbours or losses on the same fabric; 0: there is no AllReduce."""

    @property
    def title(self) -> str:
        """The fabric in words."""
        return port_fabrics()[self.question.fabric].title

    @cached_property
    def ends(self) -> bool:
        """Whether there is an AllReduce, and it ended before the scene was cut."""
        scene = self.trace.scene
        wanted = sum(flow.messages for flow in scene.flows if flow.counts)
        return (
            bool(wanted)
            and sum(scene.flows[message.flow].counts for message in self.trace.messages) == wanted
        )

    @property
    def time_ps(self) -> int:
        """When the scene ended: with the AllReduce, if there is one."""
        return self.trace.time_ps

    @property
    def busbw_GBps(self) -> float:  # noqa: N802
        """Bus bandwidth of the AllReduce; 0 where there is none."""
        if not self.ends:
            return 0.0
        nodes = self.question.nodes
        payload = parse_bytes(self.question.message_bytes) * 2 * (nodes - 1) / nodes
        return payload * PS_PER_S / self.time_ps / 1e9

    @property
    def who(self) -> str:
        """Whose the share is: of a victim; of the AllReduce where nobody else sends; of the receiver where all send into one host."""
        if self.question.is_quiet:
            return "AllReduce"
        return "victim" if any(flow.job == OWN for flow in self.trace.scene.flows) else "receiver"

    @cached_property
    def share(self) -> float:
        """What the victim has of its speed alone, an upper bound where the scene was cut; without an AllReduce, what it, or a receiver, has of a host's rate."""
        if self.alone_ps:
            reached = self.alone_ps / self.time_ps
            # cut before it would have ended alone: no bound follows, but that it has no more than alone
            return reached if self.ends else min(reached, 1.0)
        own = self._shares(own=True)
        return sum(own) if own else self.neighbours

    @cached_property
    def neighbours(self) -> float:
        """What the neighbours' bytes that arrive come to, in rates of a host."""
        return sum(self._shares(own=False))

    def _shares(self, *, own: bool) -> list[float]:
        trace, flows = self.trace, self.trace.scene.flows
        # an AllReduce is counted from its first byte; an endless scene has no beginning that means anything
        start = 0 if self.alone_ps else int(self.time_ps * _SETTLES)
        chosen = [number for number, flow in enumerate(flows) if (flow.job == OWN) == own]
        return [trace.rate_Bps(flow, start, self.time_ps) / trace.scene.host_Bps for flow in chosen]

    @cached_property
    def again_bytes(self) -> int:
        """Bytes that hosts sent twice or more."""
        hosts = self.trace.scene.hosts
        # links up from the hosts come first (`PortScene.links`), so a byte counts once, where it enters
        return sum(cell.wire for cell in self.trace.cells if cell.again and cell.link < hosts)

    @property
    def paused_ps(self) -> int:
        """Time that ports were paused, all ports together, as their counters have it."""
        return sum(pause.end_ps - pause.start_ps for pause in self.trace.pauses)

    @property
    def starved_ps(self) -> int:
        """Time that ports had something to send and no credits, all ports together (``PortXmitWait``)."""
        return sum(span.end_ps - span.start_ps for span in self.trace.starved)

    @cached_property
    def counted(self) -> float:
        """Share of the packets that reach a receiver that it takes, none of them twice."""
        # the links down to the hosts
        down = range(self.trace.scene.hosts, 2 * self.trace.scene.hosts)
        reached = sum(cell.packets for cell in self.trace.cells if cell.link in down)
        return 1 - (self.packets("loss") + self.packets("discard")) / reached if reached else 0.0

    @cached_property
    def mean_queue(self) -> float:
        """Bytes that wait at the fullest port of a switch, in the mean after what a scene needs to settle."""
        scene, end = self.trace.scene, self.time_ps
        return max(
            self.trace.mean_queue(link, int(end * _SETTLES), end)
            # all but those up from the hosts, whose queues are in the hosts
            for link in range(scene.hosts, len(scene.links))
        )

    def packets(self, kind: str) -> int:
        """Return how many packets were marked, dropped, lost or discarded."""
        return sum(event.packets for event in self.trace.packets if event.kind == kind)

    def as_dict(self) -> dict[str, object]:
        """Return the figures, with units in their names."""
        return {
            "fabric": self.question.fabric,
            "neighbour": self.question.neighbour,
            "time_s": self.time_ps / PS_PER_S,
            "alone_s": self.alone_ps / PS_PER_S if self.alone_ps else None,
            "ended": self.ends,
            "busbw_GBps": self.busbw_GBps if self.ends else None,
            "share": self.share,
            "neighbours_share": self.neighbours,
            "sent_twice_bytes": self.again_bytes,
            "paused_s": self.paused_ps / PS_PER_S,
            "waits_for_credits_s": self.starved_ps / PS_PER_S,
            "packets": {kind: self.packets(kind) for kind in ("mark", "drop", "loss", "discard")},
            "cells": len(self.trace.cells),
        }


def answer_ports(question: PortQuestion, engine: str = "loop") -> PortAnswer:
    """Simulate a question, and its AllReduce alone.

    Raises
    ------
    PeerlabError
        If it cannot be simulated.
    """
    scene = question.scene()
    trace = simulate_ports(scene, engine)
    # without an AllReduce there is nothing to be slowed down
    if not scene.finite:
        return PortAnswer(question, trace, 0)
    if question.is_alone:
        return PortAnswer(question, trace, trace.time_ps)
    # On the same links: where flows collide, the scene has more trunks than the question says.
    quiet = {"neighbour": "quiet", "loss": 0.0, "loss_seed": None, "until_ms": None, "trunks": scene.trunks}
    alone = PortQuestion(
        **{**vars(question), **quiet, "trunk": scene.trunk_Bps * scene.trunks / scene.host_Bps}
    )
    return PortAnswer(question, trace, simulate_ports(alone.scene(), engine).time_ps)
