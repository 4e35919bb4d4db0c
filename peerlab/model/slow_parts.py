"""Slow and lost parts of a machine: single NICs, and links between two nodes; whole nodes are `peerlab.model.disturbance`'s."""

import re
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from peerlab.base.errors import ScenarioError

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

NEIGHBOUR, REBALANCE = "neighbour", "rebalance"
FAILOVERS = (NEIGHBOUR, REBALANCE)
"""What a library does with a NIC that is lost: its neighbour takes over its rail, or all NICs of the node share its channels."""
# A link cannot be lost as a NIC can: nothing takes its place, so a transfer would never end.
_LEAST_SHARE = 0.001
_PAIR = re.compile(r"(\d{1,6})\s*[.>]\s*(\d{1,6})")

Pair = tuple[int, int]


class SlowParts(dict[Pair, float]):
    """Slow parts as a scenario keeps them: sorted, checked and not to be changed, so that they can be a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def checked_slow_nics(given: Any, s: "Scenario") -> SlowParts | None:
    """Return the share of its rate that each slow NIC has, by node and NIC; 0: it is lost.

    Raises
    ------
    ScenarioError
        If there is no such NIC, its share is impossible, or nothing could take over what a lost one did.
    """
    slow_parts = _pairs("slow_nics", given, "4.1", 0.0)
    if slow_parts is None:
        return None
    _refuse_domains("slow_nics", s)
    count = s.given_cluster.nics if s.uses_nic else s.given_cluster.devices
    for node, nic in slow_parts:
        if node >= s.nodes or nic >= count:
            raise ScenarioError(
                "slow_nics",
                f"there is no NIC {node}.{nic}; nodes are 0 to {s.nodes - 1}, and each has NICs 0 to {count - 1}",
            )
        if all(slow_parts.get((node, other), 1.0) == 0 for other in range(count)):
            raise ScenarioError("slow_nics", f"node {node} would have no NIC left")
    if 0 in slow_parts.values() and not s.uses_nic and s.failover == NEIGHBOUR:
        raise ScenarioError(
            "slow_nics",
            "a port is its device's own, and no neighbour can take over; give failover='rebalance'",
        )
    return slow_parts


def checked_slow_links(given: Any, s: "Scenario") -> SlowParts | None:
    """Return the share of its rate that each slow link has, by the node that sends and the one that receives.

    Raises
    ------
    ScenarioError
        If there are no such nodes, the share is impossible, or the fabric's links are shared.
    """
    slow_parts = _pairs("slow_links", given, "3>4", _LEAST_SHARE)
    if slow_parts is None:
        return None
    _refuse_domains("slow_links", s)
    for source, destination in slow_parts:
        if max(source, destination) >= s.nodes or source == destination:
            raise ScenarioError(
                "slow_links",
                f"there is no link {source}>{destination}; it leads from one of nodes 0 to {s.nodes - 1} to another",
            )
    if s.fabric.contended:
        raise ScenarioError(
            "slow_links",
            "links of this fabric are shared by transfers, so that none is a pair's own; give slow_nodes",
        )
    return slow_parts


def _refuse_domains(name: str, s: "Scenario") -> None:
    if s.nodes_per_domain > 1:
        raise ScenarioError(
            name,
            f"{s.nodes_per_domain} nodes share an NVLink domain here; single parts of one are not simulated, give slow_nodes",
        )


def _pairs(name: str, given: Any, example: str, least: float) -> SlowParts | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ScenarioError(
            name,
            f"{given!r:.60} is not a mapping such as {{'{example}': 0.5}}, or '{example}:0.5' as an option",
        )
    entries = {}
    for key, share in given.items():
        match = _PAIR.fullmatch(key) if isinstance(key, str) else None
        pair = (int(match[1]), int(match[2])) if match else key
        if not (
            # `type` and not isinstance: True is no node
            isinstance(pair, tuple)
            and len(pair) == 2
            and all(type(number) is int and number >= 0 for number in pair)
        ):
            raise ScenarioError(name, f"{key!r:.40} is not two numbers such as '{example}'")
        if isinstance(share, bool) or not isinstance(share, Real) or not least <= float(share) <= 1:
            raise ScenarioError(name, f"{share!r:.40} is not a share of the full rate, {least:g} to 1")
        entries[pair] = float(share)
    # sorted and without full rates, as slow nodes are: one question has one key
    slow = {pair: share for pair, share in sorted(entries.items()) if share < 1}
    return SlowParts(slow) if slow else None


def part_speed(s: "Scenario", node: int, nic: int) -> float:
    """Return the share of its rate that a NIC of a node has, or a port; where channels are rebalanced, that of the node's mean NIC."""
    whole = s.slow_domains.get(node, 1.0) if s.slow_domains else 1.0
    if not s.slow_nics:
        return whole
    if s.failover == REBALANCE:
        # a lost NIC counts as 0: the others carry its share, and each is as fast as the mean of all
        count = s.given_cluster.nics if s.uses_nic else s.given_cluster.devices
        return whole * sum(s.slow_nics.get((node, place), 1.0) for place in range(count)) / count
    return whole * s.slow_nics.get((node, nic), 1.0)


def serving_nic(s: "Scenario", node: int, nic: int) -> int:
    """Return the NIC that does what a NIC of a node should: itself, or where it is lost the next one that is not."""
    if not s.slow_nics or s.failover == REBALANCE:
        return nic
    # ends: a node that would have no NIC left was refused (`checked_slow_nics`)
    while s.slow_nics.get((node, nic), 1.0) == 0:
        nic = (nic + 1) % s.given_cluster.nics
    return nic


def link_share(s: "Scenario", source: int, destination: int) -> float:
    """Return the share of its rate that the link from a node to another has."""
    return s.slow_links.get((source, destination), 1.0) if s.slow_links else 1.0


def lost_to_neighbour(s: "Scenario") -> bool:
    """Return whether a NIC does what another, which is lost, should."""
    return bool(s.slow_nics) and s.failover == NEIGHBOUR and 0 in (s.slow_nics or {}).values()


def parts_of(given: Mapping[Any, float] | None) -> list[tuple[Pair, float]]:
    """Return the slow NICs or links of a scenario, which keeps each as two numbers, with their shares."""
    return list((given or {}).items())
