"""What two scenarios are called beside each other: what tells one from the other."""

from collections.abc import Callable, Sequence
from typing import Any

from peerlab.model.checks import COLLECTIVE_NAMES
from peerlab.model.paths import path_title
from peerlab.model.scenario import Scenario
from peerlab.units import say_bytes

_CACHES = {"cached": "with a registration cache", "per-transfer": "without a registration cache"}
_NAMES = ("cluster", "path", "registration", "collective", "message_bytes", "nodes")


def told_apart(scenarios: Sequence[Scenario]) -> list[str]:
    """Return a name for each of two scenarios: the fields in which it differs from the other, else its data path."""
    told = []
    for one, other in (scenarios, reversed(scenarios)):
        parts = [_say(one, name) for name in _NAMES if getattr(one, name) != getattr(other, name)]
        told.append(", ".join(parts) or path_title(str(one.path)))
    return told


def _say(scenario: Scenario, name: str) -> str:
    words: dict[str, Callable[[Any], str]] = {
        "cluster": lambda _: scenario.hardware.title,
        "path": path_title,
        "registration": lambda kind: _CACHES.get(kind, "one pool"),
        "collective": lambda kind: COLLECTIVE_NAMES[kind],
        "message_bytes": say_bytes,
        "nodes": lambda nodes: f"{nodes} nodes",
    }
    return words[name](getattr(scenario, name))
