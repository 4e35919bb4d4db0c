"""The legs and visits of slices, as records of the compiled loop."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from peerlab.engine.compiled.state import LEG, VISIT, Records, Whole
from peerlab.engine.legs import Leg, Visit
from peerlab.engine.loop.in_order import in_order
from peerlab.engine.system import System


@dataclass(frozen=True)
class Ways:
    """The legs of the slices of every lane, one after the other."""

    first: Whole
    """First leg; shape ``(lanes, 2, 2)``: whether the step adds, whether it is the last slice of its transfer."""
    rows: Whole
    """Spans of a slice; same shape."""
    legs: Records
    visits: Records
    engines: dict[int, int]
    """By shared resource: how many engines it has."""


def ways_of(system: System) -> Ways:
    """Return the legs of every lane; its slices differ in whether they are added up, and in whether they are the last of a transfer."""
    known, schedule = in_order(system), system.plan.schedule
    steps = {adds: step for step in (0, schedule.steps - 1) for adds in [step < schedule.reducing_steps]}
    lanes = len(system.lanes)
    first, rows = np.zeros((lanes, 2, 2), np.int64), np.zeros((lanes, 2, 2), np.int64)
    legs: list[tuple[int, ...]] = []
    visits: list[tuple[int, ...]] = []
    for lane in range(lanes):
        for adds, step in steps.items():
            slices = system.legs(lane, step, plain=True)
            for last, way in enumerate((slices[0], slices[-1])):
                first[lane, int(adds), last] = len(legs)
                rows[lane, int(adds), last] = sum(len(leg.visits) + bool(leg.flight) for leg in way)
                for number, leg in enumerate(way):
                    there = system.at_receiver(leg, system.receiver(lane, step))
                    row = leg_row(leg, number, len(visits), ends=number == len(way) - 1)
                    legs.append((*row[:-1], int(there)))
                    visits += [visit_row(visit, known) for visit in leg.visits]
    return Ways(first, rows, *tables_of(legs, visits))


def tables_of(
    legs: Sequence[tuple[int, ...]], visits: Sequence[tuple[int, ...]]
) -> tuple[Records, Records, dict[int, int]]:
    """Return legs and visits as records, and how many engines each shared resource has."""
    table = np.array(visits, np.int64)
    engines: dict[int, int] = {}
    for resource, engine in np.unique(table[:, [0, 3]], axis=0).tolist():
        if engine >= 0:
            engines[resource] = engine + 1  # rows are sorted, so that the largest comes last
    return _table(np.array(legs, np.int64), LEG), _table(table, VISIT), engines


def _table(rows: Whole, dtype: np.dtype[np.void]) -> Records:
    return np.ascontiguousarray(rows).view(dtype).reshape(-1).view(np.recarray)


def leg_row(leg: Leg, number: int, visit: int, *, ends: bool) -> tuple[int, ...]:
    """Return a leg in the order of `LEG`."""
    flight = (leg.flight.duration_ps, leg.flight.after, leg.flight.wire) if leg.flight else (0, -1, -1)
    # the last is whether it begins at the receiver, which matters only where nodes begin apart
    last = (leg.acquire, leg.release, int(leg.gated), int(ends), 0)
    return (leg.stage, number, visit, len(leg.visits), *flight, *last)


def visit_row(visit: Visit, known: frozenset[int]) -> tuple[int, ...]:
    """Return a visit in the order of `VISIT`."""
    follows = visit.resource in known
    how = (visit.engine, int(visit.behind), int(follows))
    phase = visit.pauses.phase if visit.pauses else -1
    return (visit.resource, visit.duration_ps, visit.nbytes, *how, phase, int(visit.held_up))
