"""What the page of a network with neighbours gets: the cells of every port, what stopped them, and the figures of each fabric."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from peerlab.base.units import PS_PER_US, say_share, say_time
from peerlab.engine.ports.port_scene import PortFlow, PortScene
from peerlab.engine.ports.port_trace import CellSpan, PortTrace
from peerlab.features.neighbours.neighbours_report import HEAD, cells, heading
from peerlab.study.port_answer import PortAnswer
from peerlab.study.port_figures import port_fabrics
from peerlab.study.port_question import OWN

MOST_CELLS = 100_000
"""Cells on all links that a page plays, of all its fabrics: some 4 MB."""
_KINDS = ("up", "down", "trunk")
"""Links in the order of a scene: from each host, to each host, between the leaves."""


class PortParcelLink(TypedDict):
    """A directed link, and the port that sends over it."""

    name: str
    kind: str
    """``up`` from a host, ``down`` to a host, or ``trunk``."""
    leaf: int
    """The leaf at its sender, of a host's link its own."""
    host: int
    """-1: a trunk."""


class PortParcelFlow(TypedDict):
    """Who sends to whom."""

    src: int
    dst: int
    own: bool
    """Whether it belongs to the collective, or to the victim."""


class PortParcelCells(TypedDict):
    """Cells by when they were sent, port by port; times are microseconds, in packed columns."""

    count: int
    arrays: dict[str, bytes]
    """``queued start end`` as 32-bit floats; ``link via flow wire again`` as 32-bit integers. `via` is the link by which a cell came to this port, -1 in its host."""


class PortParcelFabric(TypedDict):
    """One fabric: what happened on it, and its figures."""

    title: str
    does: str
    """What it does when a queue grows, in words."""
    time: str
    share: str
    figures: list[str]
    """In the order of the parcel's columns."""
    words: str
    """What the picture shows, for a reader who does not see it."""
    length_us: float
    alone_us: float
    """Time of the collective without neighbours; 0: there is none."""
    ends: bool
    """Whether the scene ends with its collective, and was not cut before."""
    marks: dict[str, int]
    """Bytes at which something happens: ``credits``, ``xoff``, ``xon`` of an account, ``kmin``, ``kmax``, ``queue`` of a port; those that the fabric has."""
    cells: PortParcelCells
    pauses: list[list[float]]
    """``[link, from, until]``."""
    starved: list[list[float]]
    signals: list[list[float]]
    """``[link, on, sent, arrives]``: a pause (1) or its end (0) on its way against the bytes."""
    lost: list[list[float]]
    """``[link, at]``, as long as it is played: packets that a port or its link lost."""


class PortParcel(TypedDict):
    """What the page gets."""

    about: str
    source: str
    columns: list[str]
    """Figures of a fabric."""
    played_us: float
    """As much of the scene as a page has room for; the figures are those of all of it."""
    links: list[PortParcelLink]
    flows: list[PortParcelFlow]
    leaves: list[int]
    """Of each host."""
    fabrics: list[PortParcelFabric]


def port_parcel(answers: Sequence[PortAnswer]) -> PortParcel:
    """Return what the page needs of one question on several fabrics."""
    first = answers[0]
    scene = first.trace.scene
    played_ps = _played_ps(answers)
    return {
        "about": about(first),
        "source": "Simulated by peerlab, cell by cell. Thresholds are examples or assumptions: peerlab neighbours --help names each figure.",
        "columns": list(HEAD[1:]),
        "played_us": played_ps / PS_PER_US,
        "links": [_link(scene, number) for number in range(len(scene.links))],
        "flows": [{"src": flow.src, "dst": flow.dst, "own": flow.job == OWN} for flow in scene.flows],
        "leaves": list(scene.leaves),
        "fabrics": [_fabric(answer, played_ps) for answer in answers],
    }


def about(answer: PortAnswer) -> str:
    """Return what is simulated, in a sentence without its fabric."""
    return heading(answer)


def _link(scene: PortScene, number: int) -> PortParcelLink:
    hosts = scene.hosts
    # Up links come first, one for each host, then down links, then trunks of leaf 0, then of leaf 1.
    kind, host = _KINDS[min(2, number // hosts)], number % hosts if number < 2 * hosts else -1
    leaf = int(number >= 2 * hosts + scene.trunks) if host < 0 else scene.leaves[host]
    return {"name": scene.links[number].name, "kind": kind, "leaf": leaf, "host": host}


def _fabric(answer: PortAnswer, played_ps: int) -> PortParcelFabric:
    trace, port_fabric = answer.trace, answer.trace.scene.fabric
    marking = port_fabric.marking
    marks = {
        "credits": port_fabric.credits,
        "xoff": port_fabric.xoff,
        "xon": port_fabric.xon,
        "queue": port_fabric.queue,
    }
    marks |= {"kmin": marking.kmin, "kmax": marking.kmax} if marking else {}
    pauses = {"xoff": 1.0, "xon": 0.0}
    return {
        "title": answer.title,
        "does": _does(answer),
        "time": say_time(answer.time_ps),
        "share": say_share(answer.share),
        "figures": list(cells(answer)[1:]),
        "words": _words(answer),
        "length_us": answer.time_ps / PS_PER_US,
        "alone_us": answer.alone_ps / PS_PER_US,
        "ends": answer.ends,
        "marks": {name: value for name, value in marks.items() if value},
        "cells": _cells(trace, played_ps),
        "pauses": [[float(span.link), *_us(span.start_ps, span.end_ps)] for span in trace.pauses],
        "starved": [[float(span.link), *_us(span.start_ps, span.end_ps)] for span in trace.starved],
        "signals": [
            [float(signal.of), pauses[signal.kind], *_us(signal.sent_ps, signal.arrives_ps)]
            for signal in trace.signals
            if signal.kind in pauses
        ],
        "lost": _lost(trace, played_ps),
    }  # fmt: skip


def _lost(trace: PortTrace, played_ps: int) -> list[list[float]]:
    lost = {
        (event.link, event.at_ps)
        for event in trace.packets
        if event.kind in ("drop", "loss") and event.at_ps <= played_ps
    }
    return [[float(link), *_us(at_ps)] for link, at_ps in sorted(lost)]


def _does(answer: PortAnswer) -> str:
    return port_fabrics()[answer.question.fabric].does


def _words(answer: PortAnswer) -> str:
    figures = ", ".join(f"{name} {value}" for name, value in zip(HEAD[1:], cells(answer)[1:], strict=True))
    return f"{about(answer)}. {answer.title}: {_does(answer)}. {figures}."


def _played_ps(answers: Sequence[PortAnswer]) -> int:
    """Return how much of the longest scene can be played."""
    starts = sorted(cell.start_ps for answer in answers for cell in answer.trace.cells)
    longest = max(answer.time_ps for answer in answers)
    # The first cell that has no room ends what is played, on all fabrics at the same moment.
    return starts[MOST_CELLS] if len(starts) > MOST_CELLS else longest


def _cells(trace: PortTrace, played_ps: int) -> PortParcelCells:
    scene = trace.scene
    # Cells that never left their port stand in its queue to the end.
    played = [cell for cell in [*trace.cells, *trace.left] if cell.queued_ps <= played_ps]
    trunk_of = {
        (cell.flow, cell.first, cell.end_ps): cell.link for cell in played if cell.link >= 2 * scene.hosts
    }
    rows = sorted(played, key=lambda cell: (cell.link, cell.start_ps, cell.queued_ps))
    trunks: dict[tuple[int, int], int] = {}
    # Of a cell that was sent twice the later way counts.
    for (flow, first, _), link in sorted(trunk_of.items(), key=lambda entry: entry[0][2]):
        trunks[flow, first] = link
    integers = {
        "link": [cell.link for cell in rows],
        "via": [_via(scene, scene.flows[cell.flow], cell, trunks) for cell in rows],
        "flow": [cell.flow for cell in rows],
        "wire": [cell.wire for cell in rows],
        "again": [int(cell.again) for cell in rows],
    }
    times = {
        "queued": [cell.queued_ps / PS_PER_US for cell in rows],
        "start": [cell.start_ps / PS_PER_US for cell in rows],
        "end": [cell.end_ps / PS_PER_US for cell in rows],
    }
    arrays = {name: np.array(column, np.float32).tobytes() for name, column in times.items()}
    arrays |= {name: np.array(column, np.int32).tobytes() for name, column in integers.items()}
    return {"count": len(rows), "arrays": arrays}


def _via(scene: PortScene, flow: PortFlow, cell: CellSpan, trunks: dict[tuple[int, int], int]) -> int:
    """Return the link by which a cell came to the port where it is."""
    if cell.link < scene.hosts:
        return -1
    # To a trunk it came from its host, and so it did to a receiver below the same leaf.
    if cell.link >= 2 * scene.hosts or not scene.trunk_links(flow):
        return flow.src
    return trunks.get((cell.flow, cell.first), flow.src)


def _us(*times_ps: int) -> list[float]:
    # Nanoseconds: finer than any pixel, and half as long as text.
    return [round(time / PS_PER_US, 3) for time in times_ps]
