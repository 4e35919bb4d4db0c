"""Slow nodes and jitter as a scenario keeps them, checked; slow parts and other noise are checked beside their own records."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from peerlab.base.errors import ScenarioError
from peerlab.model.noise import checked_noise
from peerlab.model.slow_parts import checked_slow_links, checked_slow_nics, parts_of

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

_MOST_JITTER = 2.0
_LEAST_SPEED = 0.001


class Slow(dict[int, float]):
    """Slow nodes as a scenario keeps them: sorted, checked and not to be changed, so that they can be a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        # Equal dicts have to hash alike, whatever their order: they are sorted where they are made.
        return hash(tuple(self.items()))


def checked_slow_nodes(given: Any, nodes: int) -> Slow | None:
    """Return slow nodes as a scenario keeps them; None if there are none.

    Raises
    ------
    ScenarioError
        If there is no such node, or its share of the full rate is impossible.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ScenarioError(
            "slow_nodes", f"{given!r} is not a mapping such as {{4: 0.5}}, or 4:0.5 as an option"
        )
    for node, share in given.items():
        if not _is_a(Integral, node) or not 0 <= node < nodes:
            raise ScenarioError("slow_nodes", f"there is no node {node!r}; nodes are 0 to {nodes - 1}")
        if not _is_a(Real, share) or not _LEAST_SPEED <= share <= 1:
            raise ScenarioError(
                "slow_nodes", f"{share!r} is not a share of the full rate, {_LEAST_SPEED} to 1"
            )
    # A node at its full rate is not slow: {3: 1.0} and None are the same question, with one key in caches.
    slow = {int(node): float(share) for node, share in sorted(given.items()) if share < 1}
    return Slow(slow) if slow else None


def most_disturbed(s: "Scenario", nodes: int) -> int:
    """Return the slowest of so many nodes, else the one with the slowest NIC; of equals the first, so that it is node 0 where all are alike.

    >>> from peerlab import Scenario
    >>> most_disturbed(Scenario(slow_nics={(3, 1): 0}), 8)
    3
    """
    slow = dict(s.slow_domains or {})
    if not slow:
        for (node, _), share in parts_of(s.slow_nics):
            slow[node] = min(share, slow.get(node, share))
    # a message goes between two nodes, whichever others are slow
    there = {node: share for node, share in slow.items() if node < nodes}
    return min(there, key=lambda node: (there[node], node), default=0)


def checked_jitter(given: Any) -> float:
    """Return the sigma of the jitter.

    Raises
    ------
    ScenarioError
        If it is none.
    """
    if not _is_a(Real, given) or not 0 <= given <= _MOST_JITTER:
        raise ScenarioError("jitter", f"{given!r} is not a sigma from 0 to {_MOST_JITTER:g}, such as 0.1")
    return float(given)


def checked_disturbance(s: "Scenario") -> dict[str, Any]:
    """Return the fields that make nodes differ, or a run random, as a scenario keeps them.

    Raises
    ------
    ScenarioError
        If one is impossible.
    """
    return {
        "slow_nodes": checked_slow_nodes(s.slow_nodes, s.nodes),
        "slow_nics": checked_slow_nics(s.slow_nics, s),
        "slow_links": checked_slow_links(s.slow_links, s),
        "jitter": checked_jitter(s.jitter),
        **checked_noise(s),
    }


def _is_a(kind: type, value: object) -> bool:
    """Return whether a value is a number of a kind; True and False are none."""
    return isinstance(value, kind) and not isinstance(value, bool)
