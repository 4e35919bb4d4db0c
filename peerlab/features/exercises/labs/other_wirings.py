"""The exercise of lab 01 on where NICs hang: which setting turns Peer Direct into the detour."""

import math

from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.lessons.scenes import DIRECT, STAGED, simulated

SETTINGS: dict[str, dict[str, str]] = {
    "below one CPU": {"wiring": "root-port"},
    "across sockets": {"wiring": "other-socket"},
    "one switch per socket": {"wiring": "socket-switch"},
    "ACS redirect": {"acs_redirect": "on"},
}
"""Other wirings that the lab tries on Peer Direct."""


def _as_slow_as_the_detour() -> str:
    """Return the setting with which Peer Direct is most nearly as fast as the detour."""
    # The logarithm, as twice as fast and half as fast are equally far off.
    detour = simulated(STAGED).busbw_GBps
    fast = {name: simulated(DIRECT.with_(**fields)).busbw_GBps for name, fields in SETTINGS.items()}
    # Of the settings the one that comes nearest, so that a change of figures moves the answer along.
    return min(fast, key=lambda name: abs(math.log(fast[name] / detour)))


WIRING = (
    Choice(
        name="01-wiring",
        further=True,
        question="Which setting turns Peer Direct into the detour?",
        options={
            "below one CPU": "Then each byte crosses the uplink once in each direction, and on the detour twice. What does that make of the rate?",
            "across sockets": "That is slower than the detour: it waits for the link between the sockets.",
            "one switch per socket": "Then the detour becomes slower, and Peer Direct stays below the switch.",
            "ACS redirect": "",
        },
        called={
            "below one CPU": ("root port", "root-port", "PHB"),
            "across sockets": ("other socket", "other-socket", "SYS"),
            "one switch per socket": ("socket-switch",),
            "ACS redirect": ("ACS", "redirect", "acs_redirect"),
        },
        truth=_as_slow_as_the_detour,
        hints=(
            "Which way crosses the uplink as often as the detour does?",
            "Choose each setting in the explorer, with Peer Direct. The table in section 3 has the detour's bus bandwidth: which setting comes to it?",
        ),
        why="With ACS redirect every byte goes up and down the uplink, at both ends, like the detour: two crossings in each direction, "
        "so half of the uplink is left. The copies are spared, the gain is gone.",
        solution='"ACS redirect"',
    ),
)
"""Exercises of the lab's last section."""
