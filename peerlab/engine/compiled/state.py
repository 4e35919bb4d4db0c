"""Everything that the compiled loop knows, as arrays of records of 64-bit integers; times are picoseconds.

A slice that arrives ends there, and its receiver sends a slice of the same number in the next step. So as many slices are under way, or
wait to be, as there are in one step, and each has a *slot*, which the slice that its receiver sends then takes over.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Records = Any
"""A `numpy.recarray`: one record, or an array of them."""
Whole = NDArray[np.int64]
"""Whole numbers."""


def _record(*names: str) -> np.dtype[np.void]:
    return np.dtype([(name, np.int64) for name in names])


SLOT = _record(
    "slice_id",  # its key: (step * pieces + piece) * lanes + lane, as in the loop
    "step", "piece", "lane",
    "to",  # the lane that it goes to, in a line
    "leg",  # index in `legs`
    "due",  # what its entry on the heap is about: READY, GATED, THROUGH, STAGE_OVER, BEGUN, ENTERS or ENTERED
    "taken",  # how many resources of its stage have begun with it
    "through",  # how many are through with it, or will be at a time that is known
    "ready",  # when the last of those is, the latency behind it included
    "worked",  # bits of the shared resources whose own work is done
    "asked",  # when it asked for a place in a window
    "before", "after",  # neighbours in the queue that it is in; a slice is in one at a time
)  # fmt: skip
SERVER = _record(
    "kind",  # EXCLUSIVE, SEVERAL or SHARED
    "free",  # exclusive: when it is through with everything that it has taken, as far as that is known
    "held",  # exclusive: whether it has a slice and does not know until when
    "idle",  # several: servers that have no slice
    "first", "last",  # slots that wait for it
    "copies", "engine", "engines",  # shared: users that each stands for, its first engine, how many
    "active",  # shared: engines that are worked for
    "rounds", "since",  # shared: how many until `since`, which is the first end of a round not before now
    "changed",  # shared: whether its next end may have changed in this instant
    "owner",  # the node that has it, or -1
)  # fmt: skip
ENGINE = _record(
    "taken",  # whether it has a slice, on which the work is done or not
    "over",  # round in which the work is done; -1: it is done, or there is none
    "slot", "number",  # which slice, and which resource of its stage this is
    "first", "last",  # slots that wait for it
)  # fmt: skip
POOL = _record(
    "places", "touched", "first", "last",
    "given",  # how many places were given back, where nodes begin apart
)  # fmt: skip
LEG = _record(
    "stage",  # index in `STAGES`
    "number",  # which stage of the path, for the jitter
    "visit", "visits",  # its first visit, and how many
    "flight_ps", "after", "wire",  # latency behind so many visits, and where it is drawn; 0 ps: none
    "acquire", "release",  # pools, or -1
    "gated",  # whether it needs the receiver's own contribution
    "ends",  # whether the slice has arrived behind it
    "there",  # whether it begins at the receiver
)  # fmt: skip
VISIT = _record(
    "resource", "lasts", "nbytes",
    "engine",  # index in `engines`, or -1
    "behind",  # whether slices of the lane's own come first
    "follows",  # whether its order is that of the visit before it, so that its begin is known with that one's
    "phase",  # when its node stands still first, or -1
    "held_up",  # 1 where a detour holds it up
)  # fmt: skip
LANE = _record(
    "node", "device", "receiver",
    "kept",  # whether its spans are recorded
    "handed_out",  # when its scale-up links have handed out every final slice until now
    # where nodes begin apart:
    "at",  # when its node begins
    "gate",  # when its slices may go at the soonest
    "there",  # when the node begins that it sends to
    "own",  # how long its scale-up links take for slices of its own, which it hands out when its node begins
    "early",  # when they have handed out what others sent before that
    # in a line:
    "feeder",  # the lane that sends to it in the first step
    "next",  # the step of the slice behind the first of its line
    "parked",  # whether that waits for the sum
    "arrived",  # how many of those that are added up are there
    "queued", "added",  # when the last of them came to be added up, and when it was
    "last",  # its slice
)  # fmt: skip
ENTRY = _record("time", "what")
COUNTS = _record(
    "entries",  # on the heap
    "row",  # which row of `arriving` takes new ones
    "arriving", "freed", "changed", "touched",  # in this instant
    "spans", "finished",  # rows written
    "lanes", "pieces", "steps", "reducing",  # of the schedule
    "lookup_ps",  # of a warm registration cache
    "registers", "prefetches", "gates", "jitters", "detours", "hands_out",  # whether
    "period_ps", "pause_ps",  # how often nodes stand still, and for how long
    "in_line",  # whether the slices of a lane stand in a line (`in_line`), each with legs of its own
    "unused",  # slots that no slice has
    "legs", "visits",  # of a slice, where they are its own
    "begun",  # the latest step that a lane has begun
    "end",  # when the last slice has arrived
    "apart", "ahead",  # whether nodes begin apart, and whether slices come to a node before it begins
    "waits",  # whether a sender is done only when what it sent has arrived
    "beginning",  # slices that may go on at the end of this instant, since a node begins
    "passed",  # the instant in which nodes began last
    "now", "events",  # until now
)  # fmt: skip

EXCLUSIVE, SEVERAL, SHARED = range(3)
READY, GATED, THROUGH, STAGE_OVER, BEGUN, ENTERS, ENTERED = range(7)


class State(NamedTuple):
    """The arrays."""

    counts: Records
    """One record."""
    slots: Records
    queued: Whole
    """When the slice of a slot arrived at each resource of its stage; shape ``(slots, visits)``."""
    starts: Whole
    """When each has begun with it, or will."""
    works: Whole
    """How long each needs for it, alone."""
    heap: Records
    """What is due: an item is a slot, ``slots`` + a slot (it arrives at its next resource), ``2 slots`` + a shared resource, or
    behind all of those a place that is held from before."""
    where: Whole
    """Place of each item on the heap, or -1."""
    servers: Records
    """By resource."""
    engines: Records
    """Those of one resource side by side."""
    pools: Records
    ways: Whole
    """First leg of a slice; shape ``(lanes, 2, 2)``: whether the step adds, whether it is the last slice of its transfer."""
    legs: Records
    """Those of one way one after the other."""
    visits: Records
    """Those of one leg one after the other."""
    factors: NDArray[np.float64]
    """Jitter, shape ``(steps, slices, stages, lanes)``."""
    detours: Whole
    """How long slices are held up, picoseconds; same shape."""
    lanes: Records
    own_ps: Whole
    """When the node's own contribution to each slice that is added up is there, in the order of steps."""
    handed_ps: Whole
    """How long the scale-up links take to hand out each slice of a chunk."""
    posted: Whole
    """When the memory of each transfer is found in the cache, or -1; shape ``(steps, lanes)``."""
    arriving: Whole
    """Slots that arrive at a resource in this instant, with their place in the order of taking them; two rows in turn."""
    freed: Whole
    """Resource and engine of the visits that are over in this instant; shape ``(visits, 2)``."""
    changed: Whole
    """Shared resources whose next end may have changed in this instant."""
    touched: Whole
    """Pools of which a place was asked for, or given back, in this instant."""
    spans: Whole
    """`SPAN_COLUMNS`, shape ``(columns, rows)``."""
    finished: Whole
    """Slice, lane that has it, and when, of final slices; shape ``(3, rows)``."""
    line: "InLine"
    """What a ring does not need."""
    apart: "NodesBegun"
    """What is needed where nodes begin apart."""


class NodesBegun(NamedTuple):
    """The arrays of nodes that begin apart."""

    beginning: Whole
    """Slots that may go on at the end of this instant."""
    done: Whole
    """By node: when it was done, as far as is known."""
    held: Whole
    """The pool of each place that is held from before."""
    given: Whole
    """When the latest places of each pool were given back, one after the other in turns; shape ``(pools, places)``."""


class InLine(NamedTuple):
    """The arrays of lanes whose slices stand in line."""

    from_ps: Whole
    """By step that adds: when a slice may ask for its place."""
    partners: Whole
    """The node that each sends to; shape ``(steps, nodes)``."""
    legs: Records
    """Those of every lane in the first step, one after the other: what other steps have is put together of them."""
    visits: Records
    leg_ends: Whole
    """Whether wire, pool to take from and pool to give back are the receiver's; shape ``(legs, 3)``."""
    visit_ends: Whole
    """Whether each visit is the receiver's."""
    unused: Whole
    """Slots that no slice has, the next to take last."""
    came: Whole
    """When each slice that is added up arrives; shape ``(steps that add, lanes)``, by the lane that sends it."""
    adds_ps: Whole
    """How long it takes to add it up; same shape."""
