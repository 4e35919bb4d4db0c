"""What an array run does where nodes begin apart: when each lane begins, when its node is done, and places that are held meanwhile."""

from collections import deque
from collections.abc import Mapping, Sequence

from peerlab.base.numbers import NDArray, np
from peerlab.engine.begins import Begins, Held, Pool, waits_for_arrival
from peerlab.engine.scaleup import Exchange
from peerlab.engine.system import System

Times = NDArray[np.int64]
"""One run's: shape ``(1, lanes)``, or ``(lanes,)``."""


class LanesApart:
    """The begins of one run of a ring, for every lane."""

    def __init__(self, system: System, begins: Begins) -> None:
        self._system, self._begins, self.posted = system, begins, begins.posted
        self._nodes = np.array([lane.node for lane in system.lanes], np.int64)
        to = np.array([system.lanes[system.receiver(lane, 0)].node for lane in range(len(self._nodes))])
        at, opens = np.array(begins.at, np.int64), np.array(begins.opens, np.int64)
        self.begun = at[self._nodes]
        """When a lane's node begins."""
        self.begun_there = at[to]
        """When the node begins that a lane sends to."""
        self.gate = np.maximum(self.begun, self.begun_there if system.scenario.blocking else opens[to])
        """When a lane's slices may go at the soonest."""
        self._done = self.begun[None, :].copy()
        self.own_handed_ps = 0
        """How long a lane's scale-up links take for slices of its own, which it hands out when its node begins."""
        self._early_free = np.zeros_like(self._done)
        """When they are free of what others sent before that: it is handed out first."""

    def arrive(self, there: Times, sent: Times) -> None:
        """Note when what came last is at every lane, and when what it sent last has arrived."""
        np.maximum(self._done, there, out=self._done)
        if waits_for_arrival(self._system):
            np.maximum(self._done, sent, out=self._done)

    def leave(self, past: Times) -> None:
        """Note that a resource of every lane's node is through with what the lane sends."""
        np.maximum(self._done, past, out=self._done)

    def links_free(self, at: Times, free: Times) -> Times:
        """Return when links are free for a final slice that is there `at` a time; `free`: of their own slices and all that came after they began."""
        return np.where(at <= self.begun, self._early_free, free)

    def hand_out(self, at: Times, duration: int, free: Times) -> Times:
        """Hand out a final slice; return when the links are free then, also of their own."""
        early = at <= self.begun
        self._early_free = np.where(early, np.maximum(self._early_free, at) + duration, self._early_free)
        behind = np.maximum(free, self._early_free + self.own_handed_ps)
        return np.where(early, behind, np.maximum(free, at) + duration)

    def ended(
        self, traffic: Exchange | None, handed_out: Times, held: Mapping[int, deque[Times]]
    ) -> tuple[list[int], Held]:
        """Return when each node is done, also with the exchange inside it, and which places are held then."""
        plan, inside = self._system.plan, np.zeros(len(self._nodes), np.int64)
        if traffic:
            inside = (int(traffic.ready[-1]) if plan.collects else 0) + self.begun
        if traffic and plan.hands_out:
            inside = np.maximum(inside, handed_out + traffic.latency_ps)
        done = self.done(inside)
        return done, self.held_after(done, held)

    def done(self, inside: Times) -> list[int]:
        """Return when each node is done, where its lanes are `inside` it."""
        latest = np.array(self._begins.at, np.int64)
        np.maximum.at(latest, self._nodes, np.maximum(self._done[0], inside))
        return [int(moment) for moment in latest]

    def held(self) -> Mapping[int, deque[Times]]:
        """Return by pool, as lane 0 has it, the places that are held: when each comes free, the oldest first."""
        if not self._begins.held:
            return {}
        places = self._system.scenario.places
        values = np.zeros((places, 1, len(self._nodes)), np.int64)
        lanes = {(sender.node, sender.device): lane for lane, sender in enumerate(self._system.lanes)}
        for (_, *end), until in self._begins.held:
            # those behind come free last; what is free from the beginning is in front
            values[places - len(until) :, 0, lanes[end[0], end[1]]] = sorted(until)
        first = self._system.lanes[0]
        pool = self._system.pool("source", (first.node, first.device), places)
        return {pool: deque(values)}

    def held_after(self, done: Sequence[int], held: Mapping[int, deque[Times]]) -> Held:
        """Return the places that senders hold when they are done; receivers hold none."""
        first, entries = self._system.lanes[0], dict[Pool, tuple[int, ...]]()
        pool = self._system.pools.get(("source", first.node, first.device), -1)
        for lane, sender in enumerate(self._system.lanes):
            freed = [int(values[0, lane]) for values in held.get(pool, ())]
            until = tuple(t for t in freed if t > done[sender.node])
            if until:
                entries["source", sender.node, sender.device] = until
        return tuple(sorted(entries.items()))
