"""Names of two scenarios that stand beside each other: the fields in which they differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from peerlab.base.units import say_bytes
from peerlab.model.collective import collective_of
from peerlab.model.paths import path_title
from peerlab.question.scenario import Scenario

_CACHES = {"cached": "with a registration cache", "per-transfer": "without a registration cache"}
_FIRST = ("cluster", "path", "registration", "collective", "message_bytes", "nodes")
"""The fields that are named first, and in this order; the others follow."""


def told_apart(scenarios: Sequence[Scenario]) -> list[str]:
    """Return a name for each of two scenarios: the fields in which it differs from the other, else its data path."""
    names = [*_FIRST, *(field.name for field in fields(Scenario) if field.init and field.name not in _FIRST)]
    sentences = []
    # each against the other: both names have the same fields, in the same order
    for scenario, other in (scenarios, reversed(scenarios)):
        parts = [_say(scenario, name) for name in names if getattr(scenario, name) != getattr(other, name)]
        sentences.append(", ".join(parts) or path_title(str(scenario.path)))
    return sentences


def _say(scenario: Scenario, name: str) -> str:
    words: dict[str, Callable[[Any], str]] = {
        "cluster": lambda _: scenario.hardware.title,
        "path": path_title,
        "registration": lambda kind: _CACHES.get(kind, "one pool"),
        "collective": lambda kind: collective_of(kind).title,
        "message_bytes": say_bytes,
        "nodes": lambda nodes: f"{nodes} nodes",
        "library": lambda _: scenario.used_library.title if scenario.used_library else "no library",
        "slow_nodes": _slow,
        "jitter": lambda share: f"jitter {100 * share:g} %",
        "spread": lambda share: f"spread of nodes {100 * share:g} %",
    }
    value = getattr(scenario, name)
    return words[name](value) if name in words else _other(name, value)


def _slow(shares: Mapping[int, float] | None) -> str:
    return (
        ", ".join(f"node {node} at {100 * share:g} %" for node, share in (shares or {}).items())
        or "no slow node"
    )


def _other(name: str, value: Any) -> str:
    """Return a field of the rarer kind: its name in words, and its value."""
    what = name.removesuffix("_bytes").replace("_", " ")
    if isinstance(value, bool):
        return f"with{'' if value else 'out'} {what}"
    shown = say_bytes(value) if name.endswith("_bytes") and isinstance(value, int) else value
    return f"{what} {'not set' if value is None else shown}"
