"""What both engines of ports compute alike: when a cell may follow, which packets are lost, marked or shed, and which trunk a flow takes.

Nothing here is drawn at the moment that it happens. Drops, marks and losses are *diffused errors*: every flow carries what it owes, in
whole numbers, and loses a packet once it owes a whole one.
"""

# "Full at this picosecond" would lock flows out: arrivals of equal periods meet a queue always in the same phase, and in an exact
# simulation a victim then got exactly 0 of the 0.36 that it gets with 5 % of jitter. Shares of what arrived do not
# depend on phases.

import math
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from peerlab.engine.ports.port_scene import ONE, MarkedRates, PortFabric, PortFlow, PortLink, PortScene

_SPREAD = 618_033_989
"""Flows begin with other debts, so that their losses do not fall into one moment: the fractions of the golden ratio."""
_REMEMBERED = 16
"""A port remembers who sent as many bytes as its queue holds times this, so that no phase of arrivals weighs."""


def follow_ps(wire: int, packet: int, hop_ps: int, link: PortLink) -> int:
    """Return how long after its begin at a port a cell can leave the next one: its first packet has arrived."""
    # A trunk is faster than the link before it, so a whole cell would leave it before its last packet came: its packets and those of
    # others leave in turn, which a cell says as its share of the trunk's time, at once. Hosts have one rate, so no cell reaches one
    # sooner than its packets do. To hold it back until its end is there would add half a cell's time that no packet waits.
    return hop_ps + link.service_ps(min(wire, packet))


def trunk_of(scene: PortScene, number: int, flow: PortFlow) -> int:
    """Return the trunk that a hash gives a flow (ECMP); -1 where it needs none or takes the emptiest one."""
    trunks = scene.trunk_links(flow)
    if not trunks or (scene.spray and len(trunks) > 1):
        return -1
    digest = blake2b(f"{scene.seed},{flow.draws(number)}".encode(), digest_size=8).digest()
    return trunks[int.from_bytes(digest, "big") % len(trunks)]


@dataclass
class Losses:
    """Which packets of a flow are lost on their way."""

    fabric: PortFabric
    number: int
    good: int = field(init=False)
    """Packets before the next lost one."""
    _debt: int = field(init=False)
    _random: Random | None = field(init=False)

    def __post_init__(self) -> None:
        seed = self.fabric.loss_seed
        self._debt = self.number * _SPREAD % ONE
        self._random = None if seed is None else Random(f"{seed},{self.number}")  # noqa: S311
        self.good = self._next()

    def _next(self) -> int:
        share = self.fabric.loss_ppb
        if not share:
            return 1 << 62
        if self._random is not None:
            return int(math.log(1 - self._random.random()) / math.log1p(-share / ONE)) if share < ONE else 0
        count = max(1, -(-(ONE - self._debt) // share))
        self._debt += count * share - ONE
        return count - 1

    def among(self, count: int) -> int:
        """Return how many of the next packets arrive before one is lost; `count`: none is."""
        if self.good >= count:
            self.good -= count
            return count
        arrived = self.good
        self.good = self._next()
        return arrived


@dataclass
class Marks:
    """Which cells of a flow are marked."""

    marking: MarkedRates
    debt: int = 0

    def share_ppb(self, queued: int) -> int:
        """Return which share of packets a queue marks, in 1e-9."""
        rule = self.marking
        if queued <= rule.kmin:
            return 0
        if queued > rule.kmax:
            return ONE
        return (queued - rule.kmin) * rule.pmax_ppb // (rule.kmax - rule.kmin)

    def marked(self, queued: int, packets: int) -> bool:
        """Return whether a cell is marked that meets so many bytes in its queue."""
        self.debt += packets * self.share_ppb(queued)
        if self.debt < ONE:
            return False
        self.debt %= ONE
        return True


@dataclass
class Shed:
    """What a full queue loses: shares of the flows that overload it, in proportion to what they sent."""

    holds: int
    """Bytes that the queue holds."""
    owed: int = 0
    """Bytes that were let in beyond its share of that, and will be lost of what comes next; below 0: lost before they were owed."""
    _sent: dict[int, int] = field(default_factory=dict)
    _debts: dict[int, int] = field(default_factory=dict)
    _total: int = 0

    def loses(self, flow: int, wire: int, queued: int) -> bool:
        """Return whether a cell that arrives is lost."""
        self._remember(flow, wire)
        # so that what is let in and owed fits, too
        room = max(wire, self.holds - len(self._sent) * wire)
        if queued - self.owed + wire > room:
            self._divide(flow, wire)
        if self._debts.get(flow, 0) < wire and queued + wire <= self.holds:
            return False
        # where a flow that came late finds no room at all, it pays before it owes
        self._debts[flow] = self._debts.get(flow, 0) - wire
        self.owed -= wire
        return True

    def _remember(self, flow: int, wire: int) -> None:
        self._sent[flow] = self._sent.get(flow, 0) + wire
        self._total += wire
        if self._total > _REMEMBERED * self.holds:
            self._sent = {link: sent // 2 for link, sent in self._sent.items()}
            self._total = sum(self._sent.values())

    def _divide(self, flow: int, wire: int) -> None:
        """Divide the bytes that have no room among the flows; what division leaves is the arriving one's."""
        rest = wire
        for number, sent in self._sent.items():
            part = wire * sent // self._total
            self._debts[number] = self._debts.get(number, 0) + part
            rest -= part
        self._debts[flow] += rest
        self.owed += wire
