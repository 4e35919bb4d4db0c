"""Lanes: under which names, in which order, resources are shown over time."""

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from peerlab.model.path import RESOURCES

ORDER = (
    "uplink_up",
    "uplink_down",
    "dram",
    "core",
    "registration",
    "nic_tx",
    "port_tx",
    "wire",
    "nic_rx",
    "port_rx",
    "reduce",
    "scaleup",
)
"""Kinds that always have a lane, in the order in which a byte meets them."""

_NAMES = {"wire": "in flight", "reduce": "reduce (HBM)", "scaleup": "scale-up", "core": "CPU cores"}


def lane_name(kind: str) -> str:
    """Return the name of the lane of a kind of resource."""
    return _NAMES.get(kind, RESOURCES[kind].label)


def in_order(kinds: Sequence[str]) -> list[str]:
    """Return kinds of resources in the order of their lanes, those without a place of their own last."""
    return sorted(kinds, key=lambda kind: ORDER.index(kind) if kind in ORDER else len(ORDER))


def tracks(start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each span the first track on which it overlaps no other; spans are sorted by start."""
    found = np.zeros(len(start), np.int64)
    ends: list[tuple[int, int]] = []  # (end, track) of tracks in use
    free: list[int] = []
    for row, (begin, finish) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while ends and ends[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(ends)[1])
        track = heapq.heappop(free) if free else len(ends)
        found[row] = track
        heapq.heappush(ends, (finish, track))
    return found
