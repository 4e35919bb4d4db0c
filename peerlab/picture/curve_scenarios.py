"""The scenarios of the curves: each data path along nodes or message sizes, and the key by which curves are the same."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from zlib import crc32

from peerlab.base.errors import ScenarioError
from peerlab.base.units import GIB, KIB
from peerlab.model.hardware import Cluster
from peerlab.model.paths import data_path
from peerlab.picture.theme import UNCACHED
from peerlab.question.scenario import Scenario

NODES = tuple(2**k for k in range(1, 11))
"""Nodes of the curve: 2 to 1024."""
SIZES = (*tuple(64 * KIB * 4**k for k in range(7)), GIB)
"""Message sizes of the curve: 64 KiB to 1 GiB."""
_APART = ("cluster", "path", "registration")
"""Fields that the key of some curves leaves out: `lines` varies them, or they have a key of their own."""
AXES = {"nodes": NODES, "message_bytes": SIZES}


@dataclass(frozen=True)
class PathCurve:
    """One path's curve."""

    name: str
    """A data path, or `UNCACHED`: Peer Direct without its cache."""
    scenarios: tuple[Scenario | None, ...]
    """A scenario for each value of the axis; None where it is impossible (too few nodes for a slow one)."""


def lines(scenario: Scenario, axis: str) -> list[PathCurve]:
    """Return every curve of a scenario along an axis of `AXES`, as the scenarios that have to be simulated."""
    kept = _kept(scenario)
    paths: list[tuple[str, dict[str, str]]] = []
    for path in scenario.hardware.paths:
        if data_path(path).uses_device_memory:
            paths.append((UNCACHED, {"path": path, "registration": "per-transfer"}))
        paths.append((path, {"path": path, "registration": kept}))
    return [PathCurve(name, tuple(at(scenario, axis, v, way) for v in AXES[axis])) for name, way in paths]


def _kept(scenario: Scenario) -> str:
    """Return how memory is registered on every curve but the one without a cache: a switch leaves the curves as they are."""
    return scenario.registration if scenario.registration != "per-transfer" else "cached"


def at(scenario: Scenario, axis: str, value: int, changes: Mapping[str, str]) -> Scenario | None:
    """Return a scenario at one value of an axis, with changes; None where it is impossible."""
    try:
        return scenario.with_(**changes, **{axis: value})
    except ScenarioError:
        return None


# To write a whole cluster out takes longer than any other part of the key.
@lru_cache(maxsize=64)
def machine_key(machine: Cluster) -> str:
    """Return a key of the cluster: it differs between machines, and if one figure of a machine is changed."""
    return f"{machine.name} {crc32(repr(machine).encode())}"


def key(scenario: Scenario, axis: str) -> str:
    """Return a key that two scenarios share if their curves along an axis are the same: all fields that `lines` does not vary."""
    others = [field.name for field in fields(scenario) if field.name not in {*_APART, axis}]
    return "|".join(
        [machine_key(scenario.hardware), _kept(scenario), *(f"{getattr(scenario, name)}" for name in others)]
    )


def line_of(scenario: Scenario) -> str:
    """Return the name of the curve that a scenario lies on."""
    return (
        UNCACHED
        if scenario.data_path.uses_device_memory and scenario.registration == "per-transfer"
        else str(scenario.path)
    )
