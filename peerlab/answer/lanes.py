"""Lanes: under which names, in which order, resources are shown over time."""

import heapq
import math
from collections.abc import Iterable

from peerlab.base.numbers import NDArray, np
from peerlab.model.resources import resource_kind


def lane_name(kind: str) -> str:
    """Return the name of the lane of a kind of resource."""
    return (resource := resource_kind(kind)).lane_name or resource.label


def has_lane(kind: str) -> bool:
    """Return whether a kind of resource always has a lane where a cluster has it, busy or not."""
    return resource_kind(kind).lane is not None


def in_order(kinds: Iterable[str]) -> list[str]:
    """Return kinds of resources in the order of their lanes, those without a place of their own last."""
    places = {kind: resource_kind(kind).lane for kind in kinds}
    return sorted(places, key=lambda kind: math.inf if (place := places[kind]) is None else place)


def tracks(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each span the first track on which it overlaps no other; spans are sorted by start."""
    values = np.zeros(len(start), np.int64)
    ends: list[tuple[int, int]] = []  # (end, track) of tracks in use
    free: list[int] = []
    for row, (begin, finish) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while ends and ends[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(ends)[1])
        # the lowest free one, so that tracks fill from the top
        track = heapq.heappop(free) if free else len(ends)
        values[row] = track
        heapq.heappush(ends, (finish, track))
    return values
