"""Columns of a trace of ports for its page: cells, credits that come back, rates of senders, and words that go against the bytes."""

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from peerlab.base.units import PS_PER_US
from peerlab.engine.ports.fair_rates import fair_rates
from peerlab.engine.ports.port_laws import follow_ps, trunk_of
from peerlab.engine.ports.port_scene import PortFlow, PortScene
from peerlab.engine.ports.port_trace import CellSpan, PortTrace, RateChange, Signal

AGAIN, MARKED, DISCARDED = 1, 2, 4
"""What a cell is: sent before, marked by a queue, refused by its receiver since one before it is missing."""
_WORDS = {"xon": 0, "xoff": 1, "cnp": 2}
"""Words that are drawn on their way, by the number that the page has for each."""


class PortColumns(TypedDict):
    """Packed columns: times are microseconds."""

    count: int
    arrays: dict[str, bytes]
    """Times and shares as 32-bit floats, whole numbers as 32-bit integers."""


def packed(floats: Mapping[str, list[float]], integers: Mapping[str, list[int]]) -> PortColumns:
    """Return columns of one length, packed."""
    arrays = {name: np.array(column, np.float32).tobytes() for name, column in floats.items()}
    arrays |= {name: np.array(column, np.int32).tobytes() for name, column in integers.items()}
    return {"count": len(next(iter(integers.values()))), "arrays": arrays}


def cell_columns(trace: PortTrace, played_ps: int) -> PortColumns:
    """Return the cells of all ports, port by port and by when they were sent."""
    scene = trace.scene
    # Cells that never left their port stand in its queue to the end.
    played = [cell for cell in [*trace.cells, *trace.left] if cell.queued_ps <= played_ps]
    trunk_of_cell = {
        (cell.flow, cell.first, cell.end_ps): cell.link for cell in played if cell.link >= 2 * scene.hosts
    }
    rows = sorted(played, key=lambda cell: (cell.link, cell.start_ps, cell.queued_ps))
    trunks: dict[tuple[int, int], int] = {}
    # Of a cell that was sent twice the later way counts.
    for (flow, first, _), link in sorted(trunk_of_cell.items(), key=lambda entry: entry[0][2]):
        trunks[flow, first] = link
    refused = {
        (event.flow, event.first, event.at_ps): event.packets
        for event in trace.packets
        if event.kind == "discard"
    }
    return packed(
        {
            "queued": [cell.queued_ps / PS_PER_US for cell in rows],
            "start": [cell.start_ps / PS_PER_US for cell in rows],
            "end": [cell.end_ps / PS_PER_US for cell in rows],
        },
        {
            "link": [cell.link for cell in rows],
            "via": [_via(scene, scene.flows[cell.flow], cell, trunks) for cell in rows],
            "flow": [cell.flow for cell in rows],
            "wire": [cell.wire for cell in rows],
            "kind": [_kind(scene, cell, refused) for cell in rows],
        },
    )


def _kind(scene: PortScene, cell: CellSpan, refused: Mapping[tuple[int, int, int], int]) -> int:
    link = scene.links[cell.link]
    kind = AGAIN * cell.again + MARKED * cell.marked
    if refused and link.sink >= 0:
        # its receiver looks at it once its first packet is there
        arrives = cell.start_ps + follow_ps(cell.wire, scene.fabric.packet, scene.hop_ps, link)
        kind += DISCARDED * (refused.get((cell.flow, cell.first, arrives)) == cell.packets)
    return kind


def _via(scene: PortScene, flow: PortFlow, cell: CellSpan, trunks: Mapping[tuple[int, int], int]) -> int:
    """Return the link by which a cell came to the port where it is."""
    if cell.link < scene.hosts:
        return -1
    # To a trunk it came from its host, and so it did to a receiver below the same leaf.
    if cell.link >= 2 * scene.hosts or not scene.trunk_links(flow):
        return flow.src
    return trunks.get((cell.flow, cell.first), flow.src)


def credit_columns(trace: PortTrace, played_ps: int) -> PortColumns:
    """Return the credits that came back, link by link and by when they were sent."""
    rows = sorted(credit for credit in trace.credits if credit.sent_ps <= played_ps)
    return packed(
        {
            "sent": [credit.sent_ps / PS_PER_US for credit in rows],
            "arrives": [credit.arrives_ps / PS_PER_US for credit in rows],
        },
        {"link": [credit.link for credit in rows], "wire": [credit.wire for credit in rows]},
    )


def rate_columns(trace: PortTrace, played_ps: int) -> PortColumns:
    """Return the rates of all senders and what they rise towards, flow by flow and in time, as shares of a host's rate."""
    scene = trace.scene
    marking, line = scene.fabric.marking, scene.host_Bps
    rows: list[RateChange] = []
    if marking is not None:
        fair = marking.start != "cold"
        first = fair_rates(scene) if fair else [line] * len(scene.flows)
        rows = [RateChange(0, flow, rate, rate) for flow, rate in enumerate(first)]
        rows += [change for change in trace.rates if change.at_ps <= played_ps]
        rows.sort(key=lambda change: (change.flow, change.at_ps))
    return packed(
        {
            "at": [change.at_ps / PS_PER_US for change in rows],
            "rate": [change.rate_Bps / line for change in rows],
            "target": [change.target_Bps / line for change in rows],
        },
        {"flow": [change.flow for change in rows]},
    )


def words_on_links(trace: PortTrace) -> list[list[float]]:
    """Return pauses, their ends and notifications on every link that they cross: link, which it is, when it enters and leaves it."""
    rows: list[list[float]] = []
    for signal in trace.signals:
        if signal.kind in _WORDS:
            kind = float(_WORDS[signal.kind])
            rows += [[float(link), kind, *us(*span)] for link, *span in _way(trace.scene, signal)]
    return rows


def _way(scene: PortScene, signal: Signal) -> list[tuple[int, int, int]]:
    """Return the links that a word crosses against the bytes, each with when it enters and leaves it."""
    if signal.kind != "cnp":
        return [(signal.of, signal.sent_ps, signal.arrives_ps)]
    flow = scene.flows[signal.of]
    # where each cell looks for the emptiest trunk, the word takes the first
    between = scene.between(flow, trunk_of(scene, signal.of, flow))
    links = [scene.hosts + flow.dst, *reversed(between), flow.src]
    took = signal.arrives_ps - signal.sent_ps
    edges = [signal.sent_ps + took * place // len(links) for place in range(len(links) + 1)]
    return list(zip(links, edges, edges[1:], strict=False))


def us(*times_ps: int) -> list[float]:
    """Return times in microseconds, to the nanosecond: finer than any pixel, and half as long as text."""
    return [round(time / PS_PER_US, 3) for time in times_ps]
