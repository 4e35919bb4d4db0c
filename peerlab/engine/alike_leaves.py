"""How long a ring takes below many leaf switches that are all alike: a leaf more takes as long as the one before.

Three rings of the same chunks below fewer leaves say what a further leaf takes. Where they do not agree, the ring is simulated whole.
"""

# A law with a reason, not a fit. Below full leaves a ring goes on in the same way at each of them: node i of a leaf sends to node i + 1,
# the last to the first of the next leaf. So a node does what the node of the same place below any other leaf does, at the same time, and
# how far it is after so many steps does not depend on how many leaves there are. Their number is how many steps there are, 2(N - 1) of an
# AllReduce. What queues and shared links make of a ring repeats itself after some steps (time only adds up and waits there); where three
# counts of leaves agree, it does so after a leaf's steps at the latest.

from functools import lru_cache

from peerlab.base.errors import ScenarioError
from peerlab.collectives.choose import cut, plan
from peerlab.question.scenario import Scenario

_LEAVES = (4, 3, 2)
"""Leaf switches of the rings that are simulated, the most first."""


@lru_cache(maxsize=1000)
def fewer_leaves(asked: Scenario) -> tuple[Scenario, ...]:
    """Return the same ring below 4, 3 and 2 leaf switches; none where its leaves are not alike, or are no more than these."""
    each = asked.fabric.hosts_per_leaf
    leaves, over = divmod(asked.nodes, each)
    if over or leaves <= _LEAVES[0] or not _goes_on(asked):
        return ()
    rings = [_below(asked, count * each) for count in _LEAVES]
    return tuple(ring for ring in rings if ring) if all(rings) else ()


def leaves_left_out(asked: Scenario) -> int:
    """Return how many leaf switches more a scenario has than the largest of `fewer_leaves`."""
    return asked.nodes // asked.fabric.hosts_per_leaf - _LEAVES[0]


def _goes_on(asked: Scenario) -> bool:
    """Return whether a ring does the same at each leaf: nodes differ by their place below it alone."""
    alike = not (asked.noise or asked.has_slow_parts or asked.placement or asked.choice)
    if not alike or not asked.fabric.by_leaf:
        return False
    schedule = plan(asked).schedule
    return schedule.is_ring and schedule.symmetric


def _below(asked: Scenario, nodes: int) -> Scenario | None:
    """Return the ring of so many nodes, with the same chunks and the same slices; None if there is none."""
    message = plan(asked).schedule.chunk_bytes * nodes * asked.hardware.devices
    try:
        fewer = asked.with_(nodes=nodes, message_bytes=message)
    except ScenarioError:  # such an algorithm needs the nodes that there are
        return None
    return fewer if _looks(fewer) == _looks(asked) else None


def _looks(ring: Scenario) -> tuple[object, ...]:
    """Return what a node sees of a ring, whatever the number of nodes."""
    schedule = plan(ring).schedule
    return type(schedule), schedule.chunk_bytes, cut(ring, schedule.chunk_bytes), ring.law.opening(ring)
