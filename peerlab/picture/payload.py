"""Everything the page gets for one run, as one parcel of plain values and arrays.

The records of a parcel are typed twice: here and in the modules of the views, and beside what reads them in ``peerlab/page``.
A test compares the two, field by field.
"""

# The browser owns the clock. Python sends one parcel per scenario (`picture/payload`); frames never come
# from the kernel, so the picture plays on without it. Bokeh's own scheduling paints a frame or two after
# new data, behind every waiting message; `page/bokeh_patches.js` paints in the same turn of the event loop.
# That, and keeping parsed cluster files, halved the time from switch to repaint. Bokeh also prepares every
# glyph for being selected or muted and writes a style sheet for each in every paint;
# `page/bokeh_patches.js` leaves that out. Slices that move are on a canvas above the rest, so that a frame
# repaints nothing that stands still. Figures are painted for the first time when they have data.

from collections.abc import Mapping
from typing import TypedDict

from peerlab.answer.run import Run
from peerlab.base.units import PS_PER_US
from peerlab.collectives.choose import plan
from peerlab.picture.baseline import settings
from peerlab.picture.curves import Mark, mark
from peerlab.picture.headline import Card, cards
from peerlab.picture.picture import Picture
from peerlab.picture.views import VIEWS
from peerlab.picture.words import alt_text


class Meta(TypedDict):
    """What concerns the page as a whole, or several views."""

    number: int
    """Counts the parcels."""
    key: str
    """Two runs share it if their times may be compared on one axis."""
    end_us: float
    before_us: float | None
    """How long the run before took, if it may be compared."""
    nodes: int
    counted: str
    """What these are: ``node``, or ``domain`` where NVLink joins several."""
    devices: int
    """Devices of a node that take part."""
    drawn: int
    """Those that are drawn."""
    steps: int
    reducing: int
    """Steps in which values are added up; they come first."""
    collective: str
    ring: bool
    sums: bool
    """Whether switches between the nodes add up."""
    recorded: int
    """Of how many nodes the rows of the data path are."""
    hot: str
    """Kind of the resource that is the bottleneck, or nothing."""
    code: str
    """The scenario as Python."""
    words: str
    """The picture in words."""
    mark: Mark
    ghost: Mark | None
    """The mark of the run before."""
    settings: dict[str, str]
    """Each setting by field, as it stands before a figure: ``with the cache``."""
    settings_before: dict[str, str] | None
    """Those of the run before."""


class Parcel(TypedDict):
    """What the page gets for one run."""

    meta: Meta
    before: list[Card] | None
    """The headline's cards of the run before."""
    views: dict[str, Mapping[str, object]]
    """Name of a view to what that gets: the record that `View.send` returns."""


def payload(run: Run, before: Run | None = None, number: int = 0) -> Parcel:
    """Return what the page needs to show `run`; `before` is what was shown until now, `number` counts the parcels."""
    picture = Picture(run)
    return {
        "meta": _meta(run, before, number),
        "before": cards(before) if before is not None else None,
        "views": {name: view.send(picture) for name, view in VIEWS.items() if view.send},
    }


def _meta(run: Run, before: Run | None, number: int) -> Meta:
    s, schedule = run.scenario, plan(run.scenario).schedule
    comparable = before is not None and _kept(before) == _kept(run)
    return {
        "number": number,
        "key": "|".join(map(str, _kept(run))),
        "end_us": run.time_ps / PS_PER_US,
        "before_us": before.time_ps / PS_PER_US if before is not None and comparable else None,
        "nodes": s.domains,
        "counted": s.hardware.counted_as,
        "devices": s.hardware.devices if not s.collective_record.is_message else 1,
        "drawn": s.hardware.devices_per_switch if not s.collective_record.is_message else 1,
        "steps": schedule.steps,
        "reducing": schedule.reducing_steps,
        "collective": s.collective,
        "ring": schedule.is_ring,
        "sums": s.sums_between,
        "recorded": 1 if run.trace.folded or s.collective_record.is_message else 3,
        "hot": run.bottleneck.kind if run.bottleneck else "",
        "code": s.as_code(),
        "words": alt_text(run),
        "mark": mark(run),
        "ghost": mark(before) if before is not None else None,
        "settings": settings(s),
        "settings_before": settings(before.scenario) if before is not None else None,
    }


def _kept(run: Run) -> tuple[object, ...]:
    """Return a key that two runs share if their times may be compared on one axis."""
    s = run.scenario
    # What is left may differ: path, library and registration are what one compares.
    return (s.hardware.name, s.nodes, s.nbytes, s.collective)
