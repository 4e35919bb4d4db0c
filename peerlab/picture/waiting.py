"""Where slices stand that wait for a track of the data path's picture, and where their number is written."""

from peerlab.model.stages import Track
from peerlab.picture.drawing import WIDTH, Point
from peerlab.picture.geometry import (
    BOX_TOP,
    MEMORY,
    PORT_WIRE,
    SHARED_HALF,
    SLOT,
    STAND,
    SUM_BOX,
    SWITCH_TOP,
    UPLINK,
    Geometry,
)

MOST_WAITING = 16
"""Waiting slices drawn per device and stage; a number tells of the others."""
FROM_DEVICE: tuple[Track, ...] = (
    "device to host memory",
    "device to device",
    "device to shared memory",
    "port to port",
)
"""Tracks whose slices wait in device memory."""


def waiting_places(geometry: Geometry, track: Track, device: int) -> list[Point]:
    """Return where slices wait before they go on a track, first in the queue first."""
    g, places = geometry, []
    for i in range(MOST_WAITING):
        row, column = divmod(i, 8)
        # Two shelves, for even and odd devices.
        shelf = (MEMORY[0] + 12 + i * SLOT * 0.83, MEMORY[3] - 8 - device % 2 * SLOT)
        if track in FROM_DEVICE:
            left, right = g.device(device)
            # Eight in a row have seven gaps.
            pitch = min(SLOT, (right - left - 16) / 7)
            places.append((g.x(0, (left + right) / 2 + (column - 3.5) * pitch), STAND - row * 1.5))
        elif track in ("host memory to host memory", "host memory to the other device", "through the CPU"):
            places.append(shelf)
        elif track in ("host memory to device", "through the receiver's CPU"):
            places.append((g.x(1, shelf[0]), shelf[1]))
        elif track == "shared memory to the other device":
            places.append((WIDTH / 2 + (column - 3.5) * SLOT, PORT_WIRE + SHARED_HALF - 4 - row * 2))
        else:
            places.append((g.x(1, g.middle(device) + (column - 3.5) * SLOT), STAND))
    return places


def badge_place(geometry: Geometry, track: Track) -> tuple[float, float, str]:
    """Return where the number of slices that wait for a track is written, and how it is aligned."""
    match track:
        case "device to host memory":
            return geometry.x(0, UPLINK - 2 * geometry.lane - 8), SWITCH_TOP - 14, "right"
        case "host memory to host memory" | "host memory to the other device" | "through the CPU":
            return geometry.x(0, MEMORY[0] - 6), MEMORY[3] - 16, "right"
        case "host memory to device" | "through the receiver's CPU":
            return geometry.x(1, MEMORY[0] - 6), MEMORY[3] - 16, "left"
        case "shared memory to the other device":
            return SUM_BOX[1] + 6, PORT_WIRE - 14, "left"
        case "device to device" | "device to shared memory" | "port to port":
            return _beside_devices(geometry, track)
    return geometry.x(1, geometry.beside_link), BOX_TOP - 9, "right"


def _beside_devices(geometry: Geometry, track: Track) -> tuple[float, float, str]:
    """Return the same for device memory of node 0: below the devices, where nothing joins the nodes there.

    Beside the devices' links a number reads as what a link carries.
    """
    if track == "device to device":
        _, right = geometry.device(geometry.cluster.devices_per_switch - 1)
        return geometry.x(0, right), geometry.foot, "right"
    return geometry.x(0, geometry.beside_link), BOX_TOP - 9, "left"
