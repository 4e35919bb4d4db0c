"""What the page of transports side by side gets: what each delivers at any moment, where its slices are, and its figures."""

from collections.abc import Sequence
from typing import TypedDict

from peerlab.answer.race import delivery
from peerlab.answer.run import Run
from peerlab.base.units import PS_PER_US, say_percent, say_time
from peerlab.features.fabrics.fabric_report import HEADINGS, LATENCY, cells, heading
from peerlab.model.hardware import say_counted
from peerlab.model.stages import stage_kind
from peerlab.picture.delivered import delivered_columns
from peerlab.picture.road import Road, road
from peerlab.picture.road_slices import parts_of
from peerlab.picture.words import names_proxy, waits_for
from peerlab.study.fabric_comparison import FabricComparison, OnTransport

_SEEN = [1, 3, 6]
"""Columns that the page's table begins with: latency, goodput and what limits it; the time stands at its bar, and the others are folded."""


class TransportParcel(TypedDict):
    """One transport."""

    name: str
    """Its key, as a link and `--transport` say it."""
    title: str
    figures: list[str]
    """In the order of the parcel's columns."""
    finish_us: float
    header_us: float
    """What its headers cost."""
    total: float
    """Bytes that it delivers to a node."""
    times: bytes
    """32-bit floats: the moments at which bytes arrive, microseconds."""
    shares: bytes
    """32-bit floats: which share of all its bytes has arrived then."""
    waits: str
    proxy: bool
    """Whether that is said with the library's proxy, which no sign of its road names."""
    """What it mostly waits for."""
    road: Road


class FabricsParcel(TypedDict):
    """What the page gets."""

    about: str
    source: str
    counts: str
    """What counts as delivered."""
    headline: str
    """What it comes to, as the title of a slide."""
    note: str
    """What follows besides how far apart the times are, which stands above it."""
    details: str
    """Why that is so, in sentences that are folded."""
    words: str
    """The comparison in words, for those who do not see it."""
    columns: list[str]
    seen: list[int]
    """Those that stand beside the headline; the others are folded."""
    end_us: float
    colours: list[list[str]]
    """What slices do on the data paths: the role of its colour, and words."""
    transports: list[TransportParcel]
    """The fastest first."""


def fabrics_parcel(comparison: FabricComparison) -> FabricsParcel:
    """Return what the page needs of one question on several transports."""
    transports = comparison.transports
    times = "; ".join(f"{transport.title} {say_time(transport.run.time_ps)}" for transport in transports)
    figures = say_counted(*(transport.run.scenario.hardware for transport in transports))
    return {
        "about": heading(comparison),
        "source": f"Simulated by peerlab from {figures}. {LATENCY[0].upper()}{LATENCY[1:]}.",
        "counts": "A slice counts as delivered when its last byte is in the receiver's memory.",
        "headline": _headline(transports[0], transports[-1]),
        "note": comparison.note,
        "details": comparison.details,
        "words": f"{heading(comparison)}. {times}. {comparison.finding}",
        "columns": list(HEADINGS[1:]),
        "seen": _seen(comparison),
        "end_us": transports[-1].run.time_ps / PS_PER_US,
        "colours": _colours(transports),
        "transports": [_transport(transport) for transport in transports],
    }


def _seen(comparison: FabricComparison) -> list[int]:
    """Return the columns that stand beside the headline: of transports that take the same time those in which they differ, as the headline has the time and what limits it."""
    rows = [cells(transport)[1:] for transport in comparison.transports]
    differ = [column for column, figures in enumerate(zip(*rows, strict=True)) if len(set(figures)) > 1]
    return differ if comparison.are_alike and differ else _SEEN


def _colours(transports: Sequence[OnTransport]) -> list[list[str]]:
    """Return the colours of all roads and what each stands for, in the order of the way; one colour has one entry."""
    parts = [part for transport in transports for part in parts_of(transport.run)]
    kinds = [stage_kind(part.stage.name) for part in parts]
    return list({kind.role: [kind.role, kind.legend or kind.says] for kind in kinds}.values())


def _headline(fast: OnTransport, slow: OnTransport) -> str:
    if fast is slow:
        return f"{fast.title} takes {say_time(fast.run.time_ps)}"
    ratio = f"{slow.run.time_ps / fast.run.time_ps:.2f}"
    # Two digits are what the page shows: what they cannot tell apart takes as long.
    if ratio == "1.00":
        return f"{slow.title} takes as long as {fast.title}"
    return f"{slow.title} takes {ratio} times as long as {fast.title}"


def _transport(transport: OnTransport) -> TransportParcel:
    run = transport.run
    delivered = delivery(run)
    times, shares = delivered_columns(delivered)
    return {
        "name": transport.name,
        "title": transport.title,
        "figures": list(cells(transport)[1:]),
        "finish_us": run.time_ps / PS_PER_US,
        "header_us": transport.header_ps / PS_PER_US,
        "total": delivered.total,
        "times": times,
        "shares": shares,
        "waits": waits_for(run),
        "proxy": names_proxy(run),
        "road": _named_road(run),
    }


def _named_road(run: Run) -> Road:
    """Return the data path of a run; what limits it has the name there that it has in the table."""
    way, limits = road(run), run.bottleneck
    wire = way["signs"][0]
    if limits and limits.resource is None:
        wire["words"] = [limits.label, f"{say_percent(limits.share)} of time"]
    elif limits and wire["hot"] and len(wire["words"]) == 1:
        wire["words"] = [limits.label, f"{say_percent(run.wire_busy)} busy"]
    return way
