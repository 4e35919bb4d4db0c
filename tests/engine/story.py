"""Short stories for the engines' parts: slices whose ways are written out, run by the referee's parts and by the loop's.

All times are picoseconds, all slices have one byte. A way is a list of legs; resources and windows are named by their places in the
story's lists.
"""

import pytest

import peerlab
from peerlab.answer.trace import SPAN_COLUMNS, Resource
from peerlab.engine.legs import Flight, Leg, Link, Visit
from peerlab.engine.loop.event_loop import Loop
from peerlab.engine.referee.processes import Referee
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.span_rows import array, spans_of
from peerlab.engine.system import System
from peerlab.model.stages import stage_number

STAGE = stage_number("network")
BOTH = pytest.mark.parametrize("engine", ["referee", "loop"])
NIC = Resource("nic_tx", 0, 0, 10**12, shared=False)
DRAM = Resource("dram", 0, 0, 10**12, shared=True)


class Story(System):
    """Slices from node 0 to node 1, or around a ring, all there at the start; ways, resources and windows are given."""

    def __init__(self, ways, resources, places=(), **fields):
        """Take the way of each slice, the same for every sender, or a function that returns them for a sender."""
        self._written = ways if callable(ways) else lambda _: ways
        asked = {"nodes": 2, "collective": "point-to-point", "dependency": "slice", **fields}
        chunks = 1 if asked["collective"] == "point-to-point" else asked["nodes"]
        many = len(self._written(0))
        size = {"message_bytes": many * chunks, "slice_bytes": 1 if many > 1 else None}
        super().__init__(peerlab.Scenario(cluster="ideal-100g", **size, **asked), folded=False)
        self.resources, self.places = list(resources), list(places)

    def legs(self, lane, step, *, plain=False):  # noqa: ARG002
        return tuple(tuple(way) for way in self._written(lane))


def use(resource, lasts, engine=-1):
    """Return a visit of a resource; for a shared one, through one of its engines."""
    return Visit(resource, lasts, 1, engine)


def flow(route, nbytes):
    """Return a visit of a fabric's links, the first of which is the NIC that sends."""
    return Visit(route[0], nbytes, nbytes, link=Link(route, float(nbytes), (nbytes,) * len(route)))


def served_by(*visits, **more):
    """Return a leg that visits resources, in this order."""
    return Leg(STAGE, visits, **more)


def flies(lasts):
    """Return a leg of latency alone: what comes after it begins so much later."""
    return Leg(STAGE, flight=Flight(lasts, 0))


def then_flies(lasts, after=1):
    """Return a latency behind so many visits."""
    return Flight(lasts, 0, after)


def told(engine, story, resource=0, columns=("slice", "start", "end")):
    """Return what an engine says that a resource did, in the order of start, then slice."""
    queue = RegistrationQueue(story)
    if engine == "referee":
        run = Referee(story, queue)
        run.run()
        rows = array(run.spans, len(SPAN_COLUMNS))
    else:
        run = Loop(story, queue, None, None)
        run.run()
        rows = spans_of(story, run.rows, [])
    spans = [dict(zip(SPAN_COLUMNS, row, strict=True)) for row in rows.tolist()]
    mine = [one for one in spans if one["resource"] == resource and one["stage"] == STAGE]
    mine.sort(key=lambda one: (one["start"], one["slice"]))
    return [tuple(one[name] for name in columns) for one in mine]
