"""Everything that happened in a scene of ports; the height of a queue and what was sent twice follow from it."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from operator import itemgetter
from typing import NamedTuple

from peerlab.base.units import PS_PER_S
from peerlab.engine.ports.port_scene import PortScene


class CellSpan(NamedTuple):
    """A port sent a cell."""

    link: int
    start_ps: int
    end_ps: int
    queued_ps: int
    """From when it waited there."""
    flow: int
    first: int
    packets: int
    wire: int
    again: bool
    """Whether it was sent before."""
    marked: bool
    """Whether a queue has marked the cell, at this port or at one before."""


class PauseSpan(NamedTuple):
    """A port must not send in one class."""

    link: int
    vl: int
    start_ps: int
    end_ps: int


class StarvedSpan(NamedTuple):
    """A port had cells and no credits for any."""

    link: int
    start_ps: int
    end_ps: int


class CreditSpan(NamedTuple):
    """The credit of a cell that has left a buffer is on its way back to the port that may send as much again."""

    link: int
    """That port's."""
    sent_ps: int
    arrives_ps: int
    wire: int
    vl: int


class Signal(NamedTuple):
    """What goes against the bytes: ``xoff`` and ``xon`` of a link, ``cnp``, ``gap`` and ``timeout`` of a flow."""

    kind: str
    of: int
    """Link or flow."""
    vl: int
    sent_ps: int
    arrives_ps: int


class PacketEvent(NamedTuple):
    """What happened to packets of a flow: ``mark``, ``drop`` (a queue), ``loss`` (on the way), ``discard`` (after a gap, or before it where a message begins anew)."""

    kind: str
    at_ps: int
    link: int
    """-1: at its receiver."""
    flow: int
    first: int
    packets: int


class RateChange(NamedTuple):
    """A sender has another rate from now on."""

    at_ps: int
    flow: int
    rate_Bps: int  # noqa: N815
    target_Bps: int  # noqa: N815
    """What it rises towards."""


class MessageEnd(NamedTuple):
    """A message has arrived."""

    at_ps: int
    flow: int
    message: int


_LINK = itemgetter(0)
# `_make` asks each row how long it is
_CELL, _CREDIT = partial(tuple.__new__, CellSpan), partial(tuple.__new__, CreditSpan)
CellRow = tuple[int, int, int, int, int, int, int, int, bool, bool]
"""A `CellSpan`, as a plain tuple."""
CreditRow = tuple[int, int, int, int, int]
"""A `CreditSpan`, as a plain tuple."""


@dataclass(eq=False)
class PortTrace:
    """What an engine recorded of a scene."""

    scene: PortScene
    sent: list[CellRow] = field(default_factory=list)
    """Rows of `cells`, those of a port in the order of time; a tenth of a scene's time goes into making spans of them, and many questions want none."""
    returned: list[CreditRow] = field(default_factory=list)
    """Rows of `credits`, likewise."""
    pauses: list[PauseSpan] = field(default_factory=list)
    starved: list[StarvedSpan] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    packets: list[PacketEvent] = field(default_factory=list)
    rates: list[RateChange] = field(default_factory=list)
    messages: list[MessageEnd] = field(default_factory=list)
    left: list[CellSpan] = field(default_factory=list)
    """Cells that waited at ports when the scene ended; they begin and end then."""
    time_ps: int = 0
    """When that was."""
    overrun: int = 0
    """Most bytes that an ingress account had beyond its headroom."""
    overrun_link: int = -1

    def closed(self, time_ps: int) -> "PortTrace":
        """Return it in an order that no engine decides, without what began at its end or later."""
        self.time_ps = time_ps
        self.left.sort()
        self.pauses = sorted(pause for pause in self.pauses if pause.start_ps < time_ps)
        self.starved = sorted(span for span in self.starved if span.start_ps < time_ps)
        self.signals = sorted(signal for signal in self.signals if signal.sent_ps < time_ps)
        self.packets = sorted(event for event in self.packets if event.at_ps < time_ps)
        self.rates = sorted(change for change in self.rates if change.at_ps < time_ps)
        self.messages.sort()
        return self

    @cached_property
    def cells(self) -> list[CellSpan]:
        """What ports sent, by link and time."""
        rows, self.sent = self.sent, []  # which are not kept beside the spans
        # by link first: then sorting compares neighbours alone
        return sorted(map(_CELL, sorted((row for row in rows if row[1] < self.time_ps), key=_LINK)))

    @cached_property
    def credits(self) -> list[CreditSpan]:
        """Credits on their way back, by link and time."""
        rows, self.returned = self.returned, []
        return sorted(map(_CREDIT, sorted((row for row in rows if row[1] < self.time_ps), key=_LINK)))

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PortTrace):
            return NotImplemented
        names = {each.name for each in fields(self)} - {"sent", "returned"} | {"cells", "credits"}
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def on(self, link: int) -> Sequence[CellSpan]:
        """Return what a port sent."""
        cells = self.cells
        return cells[bisect_left(cells, (link,)) : bisect_left(cells, (link + 1,))]

    def delivered(self, flow: int) -> Sequence[CellSpan]:
        """Return what reached the receiver of a flow."""
        last = self.scene.hosts + self.scene.flows[flow].dst
        return [cell for cell in self.on(last) if cell.flow == flow]

    def rate_Bps(self, flow: int, start_ps: int, end_ps: int) -> float:  # noqa: N802
        """Return the bytes of the wire a second that arrived of a flow, in the mean of a window."""
        total = 0.0
        for cell in self.delivered(flow):
            inside = start_ps <= cell.start_ps and cell.end_ps <= end_ps
            total += (
                cell.wire if inside else cell.wire * overlap(cell.start_ps, cell.end_ps, start_ps, end_ps)
            )
        return total * PS_PER_S / (end_ps - start_ps)

    def busy(self, link: int, start_ps: int, end_ps: int) -> float:
        """Return the share of a window in which a port sent."""
        total = sum(max(0, min(cell.end_ps, end_ps) - max(cell.start_ps, start_ps)) for cell in self.on(link))
        return total / (end_ps - start_ps)

    def mean_queue(self, link: int, start_ps: int, end_ps: int) -> float:
        """Return the bytes at a port, those that leave included, in the mean of a window."""
        total = sum(cell.wire * (min(cell.end_ps, end_ps) - max(cell.queued_ps, start_ps)) for cell in self.on(link) if cell.end_ps > start_ps and cell.queued_ps < end_ps)  # fmt: skip
        return total / (end_ps - start_ps)


def overlap(start: int, end: int, first: int, last: int) -> float:
    """Return the share of a span that lies within a window."""
    return max(0, min(end, last) - max(start, first)) / (end - start)


def heights(cells: Sequence[CellSpan]) -> list[tuple[int, int]]:
    """Return the height of a queue after each change, from the cells that left it: a moment and bytes."""
    changes: dict[int, int] = {}
    for cell in cells:
        changes[cell.queued_ps] = changes.get(cell.queued_ps, 0) + cell.wire
        changes[cell.end_ps] = changes.get(cell.end_ps, 0) - cell.wire
    levels, height = [], 0
    for moment in sorted(changes):
        height += changes[moment]
        levels.append((moment, height))
    return levels
