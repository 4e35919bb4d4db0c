"""What the page of a network with neighbours gets: the cells of every port, what stopped them, and the figures of each fabric."""

from collections.abc import Sequence
from typing import TypedDict

from peerlab.base.units import PS_PER_US, say_share, say_time
from peerlab.engine.ports.port_scene import PortScene
from peerlab.engine.ports.port_trace import PortTrace
from peerlab.features.neighbours.neighbours_picture import shared_port, shown_ps, victim_host
from peerlab.features.neighbours.neighbours_report import (
    HEAD,
    cells,
    happened,
    heading,
    played_cells,
    played_head,
)
from peerlab.features.neighbours.port_columns import (
    PortColumns,
    cell_columns,
    credit_columns,
    rate_columns,
    us,
    words_on_links,
)
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


class PortParcelFabric(TypedDict):
    """One fabric: the cells of its ports, what stopped them, and its figures."""

    title: str
    does: str
    """What it does when a queue grows, in words."""
    time: str
    share: str
    bar: float
    """How much of its room the bar of its first figure takes: the time, or without a collective the share; above 1 it is drawn broken."""
    tick: float
    """Where that bar has a mark: the time alone; -1: nowhere."""
    figures: list[str]
    """In the order of the parcel's columns."""
    happened: str
    """How long its ports were stopped and what was lost or marked, as a sentence; empty: nothing."""
    words: str
    """What the picture shows, for a reader who does not see it."""
    length_us: float
    alone_us: float
    """Time of the collective without neighbours; 0: there is none."""
    ends: bool
    """Whether the scene ends with its collective, and was not cut before."""
    marks: dict[str, int]
    """Bytes at which something happens: ``credits``, ``xoff``, ``xon`` of an account, ``kmin``, ``kmax``, ``queue`` of a port; those that the fabric has."""
    cells: PortColumns
    """Cells port by port and by when they were sent: ``queued start end link via flow wire kind``. `via` is the link by which a cell came to this port, -1 in its
    host; `kind` adds 1 of one that was sent before, 2 of a marked one, 4 of one that its receiver refuses."""
    credits: PortColumns
    """Credits on their way back, link by link: ``sent arrives link wire``."""
    pool: int
    """Bytes that a link may have unanswered, in all its lanes; 0: it asks for no credit."""
    rates: PortColumns
    """Rates of senders that slow down by marks, flow by flow: ``at rate target flow``, shares of a host's rate."""
    pauses: list[list[float]]
    """``[link, from, until]``."""
    starved: list[list[float]]
    signals: list[list[float]]
    """``[link, which, sent, arrives]``: the end of a pause (0), a pause (1) or a notification (2) on its way against the bytes."""
    lost: list[list[float]]
    """``[link, at]``, as long as it is played: packets that a port or its link lost."""


class PortParcel(TypedDict):
    """What the page gets."""

    about: str
    source: str
    columns: list[str]
    """Figures of a fabric."""
    played_us: float
    """As much of the scene as is played, and the axis of time shows; the figures are those of all of it."""
    shared: int
    """The link whose port everybody shares."""
    victim: int
    """The link from the victim's host."""
    who: str
    """Whose the share is: of a victim, or of the receiver where all send into one host."""
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
        "source": "Simulated by peerlab, cell by cell; figures of fabrics are examples or assumptions (peerlab neighbours --help).",
        "columns": list(played_head(first)[1:]),
        "played_us": played_ps / PS_PER_US,
        "shared": shared_port(first),
        "victim": victim_host(first),
        "who": first.who,
        "links": [_link(scene, number) for number in range(len(scene.links))],
        "flows": [{"src": flow.src, "dst": flow.dst, "own": flow.job == OWN} for flow in scene.flows],
        "leaves": list(scene.leaves),
        "fabrics": [_fabric(answer, played_ps, shown_ps(answers)) for answer in answers],
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


def _fabric(answer: PortAnswer, played_ps: int, longest_ps: int) -> PortParcelFabric:
    trace, port_fabric = answer.trace, answer.trace.scene.fabric
    marking = port_fabric.marking
    marks = {
        "credits": port_fabric.credits,
        "xoff": port_fabric.xoff,
        "xon": port_fabric.xon,
        "queue": port_fabric.queue,
    }
    marks |= {"kmin": marking.kmin, "kmax": marking.kmax} if marking else {}
    return {
        "title": answer.title,
        "does": _what_fabric_does(answer),
        "time": say_time(answer.time_ps),
        "share": say_share(answer.share),
        "bar": answer.time_ps / longest_ps if answer.alone_ps else answer.share,
        "tick": min(1.0, answer.alone_ps / longest_ps) if answer.alone_ps else -1.0,
        "figures": list(played_cells(answer)[1:]),
        "happened": happened(answer),
        "words": _words(answer),
        "length_us": answer.time_ps / PS_PER_US,
        "alone_us": answer.alone_ps / PS_PER_US,
        "ends": answer.ends,
        "marks": {name: value for name, value in marks.items() if value},
        "cells": cell_columns(trace, played_ps),
        "credits": credit_columns(trace, played_ps),
        "pool": port_fabric.credits * port_fabric.vls,
        "rates": rate_columns(trace, played_ps),
        "pauses": [[float(span.link), *us(span.start_ps, span.end_ps)] for span in trace.pauses],
        "starved": [[float(span.link), *us(span.start_ps, span.end_ps)] for span in trace.starved],
        "signals": words_on_links(trace),
        "lost": _lost(trace, played_ps),
    }  # fmt: skip


def _lost(trace: PortTrace, played_ps: int) -> list[list[float]]:
    lost = {
        (event.link, event.at_ps)
        for event in trace.packets
        if event.kind in ("drop", "loss") and event.at_ps <= played_ps
    }
    return [[float(link), *us(at_ps)] for link, at_ps in sorted(lost)]


def _what_fabric_does(answer: PortAnswer) -> str:
    return port_fabrics()[answer.question.fabric].does


def _words(answer: PortAnswer) -> str:
    figures = ", ".join(f"{name} {value}" for name, value in zip(HEAD[1:], cells(answer)[1:], strict=True))
    return f"{about(answer)}. {answer.title}: {_what_fabric_does(answer)}. {figures}."


def _played_ps(answers: Sequence[PortAnswer]) -> int:
    """Return how much of the longest scene is played: as much as a page has room for, and no scene that was cut far beyond those that ended."""
    starts = sorted(cell.start_ps for answer in answers for cell in answer.trace.cells)
    longest = shown_ps(answers)
    # The first cell that has no room ends what is played, on all fabrics at the same moment.
    return min(longest, starts[MOST_CELLS]) if len(starts) > MOST_CELLS else longest
