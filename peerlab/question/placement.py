"""Which node stands where in a leaf-spine fabric: by name, or host by host."""

import random
from functools import lru_cache
from numbers import Integral
from typing import Any

from peerlab.base.errors import ScenarioError, nearest

PLACEMENTS = ("contiguous", "strided", "shuffled")

Placement = tuple[int, ...] | str | None

_MOST_HOSTS = 2**20


@lru_cache(maxsize=64)
def hosts(placement: Placement, nodes: int, below: int, seed: int) -> tuple[int, ...]:
    """Return for each node the host it runs on; `below` is how many hosts a leaf switch has.

    ``contiguous`` (and None): neighbours in the ring fill one leaf switch after the other; ``strided``: dealt out over the
    leaves in turn, so that every neighbour is below another leaf; ``shuffled``: by the seed.
    """
    if isinstance(placement, tuple):
        return placement
    order = list(range(nodes))
    match placement:
        case "strided":
            # A host's leaf is host // below, so neighbours in this order stand below different leaves.
            order.sort(key=lambda host: (host % below, host // below))
        case "shuffled":
            # a generator of its own: no other draw of a run may move the placement
            random.Random(seed).shuffle(order)  # noqa: S311  (an experiment to repeat, not a secret)
    return tuple(order)


def checked_placement(given: Any, nodes: int) -> Placement:
    """Return a placement as a scenario keeps it.

    Raises
    ------
    ScenarioError
        If it is neither a known name nor a different host for each node.
    """
    if given is None:
        return None
    if isinstance(given, str):
        if given not in PLACEMENTS:
            raise ScenarioError(
                "placement", f"unknown {given!r}; {nearest(given, PLACEMENTS)}; or a host per node"
            )
        return given
    numbers: tuple[Any, ...] = tuple(given) if isinstance(given, (tuple, list)) else ()
    # hosts may be more than nodes: which stay empty is part of the question
    whole = all(_is_whole(host) and 0 <= int(host) < _MOST_HOSTS for host in numbers)
    if len(numbers) != nodes or not whole or len(set(numbers)) != len(numbers):
        example = ", ".join(map(str, range(min(nodes, 4)))) + (", ..." if nodes > 4 else "")
        raise ScenarioError(
            "placement",
            f"give {nodes} different hosts, one for each node, such as {example}; or {', '.join(PLACEMENTS)}",
        )
    return tuple(int(host) for host in numbers)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
