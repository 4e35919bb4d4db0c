"""What both ends of a flow know: which packets are next, which have arrived, and which are sent again. Neither knows the time."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from peerlab.engine.ports.port_laws import Losses
from peerlab.engine.ports.port_scene import ENDLESS, PortFlow, PortScene
from peerlab.engine.ports.port_trace import CellSpan
from peerlab.engine.ports.scene_checks import hops


@dataclass(slots=True, eq=False)
class PortCell:
    """Whole packets of a flow that move together."""

    flow: int
    first: int
    """Number of its first packet within the flow."""
    packets: int
    wire: int
    """Bytes on the wire."""
    vl: int
    again: bool
    """Whether its first packet was sent before."""
    epoch: int
    """How often the sender had gone back."""
    hop: int = 0
    """How many ports it has reached."""
    marked: bool = False

    def span(self, link: int, start_ps: int, end_ps: int, queued_ps: int) -> CellSpan:
        """Return that a port sent it."""
        return CellSpan(
            link, start_ps, end_ps, queued_ps, self.flow, self.first, self.packets, self.wire, self.again, self.marked
        )  # fmt: skip


@dataclass(eq=False)
class FlowEnds:
    """Sender and receiver of a flow."""

    number: int
    flow: PortFlow
    scene: PortScene
    next: int = 0
    """The packet that is sent next."""
    high: int = 0
    """The first that was never sent."""
    allowed: int = 0
    """Packets that may be sent: those of messages whose turn has come."""
    expected: int = 0
    """Packets that arrived in order."""
    epoch: int = 0
    """How often the sender went back."""
    sendings: int = 0
    """Cells sent; what they were when a timeout was set says whether it still counts."""
    answered: int = -1
    """The epoch of the last notice of a gap."""
    lost: deque[tuple[int, int]] = field(default_factory=deque)
    """Ranges that are sent again before anything new."""
    got: dict[int, int] = field(default_factory=dict)
    """Packets that arrived, of messages that are not whole."""
    whole: set[int] = field(default_factory=set)
    """Messages that arrived before one that was sent earlier."""
    done: int = 0
    """Messages that arrived, and all before them."""

    def __post_init__(self) -> None:
        fabric, flow = self.scene.fabric, self.flow
        self.vl = flow.vl
        self.endless = flow.is_endless
        self.per_message = ENDLESS if self.endless else -(-flow.nbytes // fabric.mtu)
        self.in_order = fabric.loses and fabric.recovery.startswith("go-back")
        self.losses = Losses(fabric, flow.draws(self.number)) if fabric.loss_ppb else None
        self._short = 0 if self.endless else self.per_message * fabric.mtu - flow.nbytes
        self._cell = self.scene.cell_packets
        self._packet = fabric.packet

    def allow(self, messages: int) -> None:
        """Let so many messages be sent."""
        self.allowed = max(self.allowed, messages * self.per_message)

    def proposal(self) -> tuple[int, int]:
        """Return first packet and number of packets of the next cell; none where nothing is to be sent."""
        if self.lost:
            first, count = self.lost[0]
            return first, min(count, self._cell)
        first = self.next
        count = self.allowed - first
        if count <= 0:
            return first, 0
        rest = self.per_message - first % self.per_message
        count = count if count < rest else rest
        return first, count if count < self._cell else self._cell

    def wire(self, first: int, count: int) -> int:
        """Return the bytes of packets on the wire; the last of a message may be short."""
        short = self._short if self._short and (first + count) % self.per_message == 0 else 0
        return count * self._packet - short

    def send(self, first: int, count: int, wire: int) -> PortCell:
        """Take the packets of a proposal; return them as a cell."""
        if self.lost:
            start, length = self.lost.popleft()
            if length > count:
                self.lost.appendleft((start + count, length - count))
        else:
            self.next = first + count
        again, end = first < self.high, first + count
        self.high = end if end > self.high else self.high
        self.sendings += 1
        return PortCell(self.number, first, count, wire, self.vl, again, self.epoch)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to be sent."""
        return not self.lost and self.next >= self.allowed

    def go_back(self, packet: int) -> int:
        """Send everything again from a packet on, or from the begin of its message; return how many that had arrived count no more."""
        had = self.expected
        if self.scene.fabric.recovery == "go-back-0":
            packet -= packet % self.per_message
            self.expected = packet
            self.got.pop(packet // self.per_message, None)
        self.next = packet
        self.epoch += 1
        return had - self.expected

    def timed_out(self, sendings: int) -> bool:
        """Return whether nothing was sent since a timeout was set, and something has not arrived."""
        return self.sendings == sendings and self.expected < self.next

    def take(self, cell: PortCell) -> "Arrival":
        """Take what arrives of a cell: in order, or in any where losses are sent again one by one."""
        if not self.in_order:
            return self._take_any(cell)
        first, end = cell.first, cell.first + cell.packets
        if not first <= self.expected < end:
            gap = first > self.expected and self._answers(cell)
            return Arrival(0, 0 if gap else -1, self.expected)
        skipped = self.expected - first
        wanted = cell.packets - skipped
        arrived = self.losses.among(wanted) if self.losses else wanted
        message = self.count(self.expected, arrived)
        self.expected += arrived
        if arrived == wanted:
            return Arrival(arrived, message=message)
        # what follows the lost packet says that it is missing; the cell may end with it
        gap_at = skipped + arrived + 1
        gap = gap_at < cell.packets and self._answers(cell)
        return Arrival(arrived, gap_at if gap else -1, self.expected, lost=self.expected, message=message)

    def _answers(self, cell: PortCell) -> bool:
        """Return whether the receiver tells of a gap: once for each time that the sender went back."""
        if cell.epoch <= self.answered:
            return False
        self.answered = cell.epoch
        return True

    def _take_any(self, cell: PortCell) -> "Arrival":
        arrived = self.losses.among(cell.packets) if self.losses else cell.packets
        message = self.count(cell.first, arrived)
        if arrived == cell.packets or self.losses is None:
            return Arrival(arrived, message=message)
        # after the lost one the rest of the cell goes on; a second loss in one cell is the next cell's
        lost, rest = cell.first + arrived, cell.packets - arrived - 1
        message = self.count(lost + 1, rest)
        self.losses.good = max(0, self.losses.good - rest)
        return Arrival(arrived + rest, arrived + 1, lost, lost=lost, message=message)

    def count(self, first: int, packets: int) -> int:
        """Count packets that arrived; return the number of the message that is whole with them, or -1."""
        if not packets or self.endless:
            return -1
        message = first // self.per_message
        total = self.got.get(message, 0) + packets
        if total < self.per_message:
            self.got[message] = total
            return -1
        self.got.pop(message, None)
        return message

    def arrived(self, message: int) -> int:
        """Take a message as arrived; return how many have, with all before them."""
        self.whole.add(message)
        while self.done in self.whole:
            self.whole.discard(self.done)
            self.done += 1
        return self.done


class Arrival(NamedTuple):
    """What came of a cell at its receiver."""

    packets: int
    """How many counted."""
    gap_at: int = -1
    """The packet of the cell that tells of a gap; -1: none does."""
    packet: int = -1
    """What is missing."""
    lost: int = -1
    """The packet that was lost on the way; -1: none was."""
    message: int = -1
    """The message that is whole with it; -1: none is."""


def ends_of(scene: PortScene) -> list[FlowEnds]:
    """Return both ends of every flow."""
    return [FlowEnds(number, flow, scene) for number, flow in enumerate(scene.flows)]


def return_ps(scene: PortScene, flow: PortFlow) -> int:
    """Return how long a receiver's word takes to its sender: it is short, and waits for nobody."""
    return hops(scene, flow) * scene.hop_ps


def rest_ps(scene: PortScene, flow: PortFlow, cell: PortCell) -> int:
    """Return how long after a loss in a switch the packet behind it reaches the receiver."""
    links = hops(scene, flow) - cell.hop
    return links * (scene.hop_ps + scene.links[flow.src].service_ps(scene.fabric.packet))
