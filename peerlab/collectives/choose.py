"""Makes the plan of a scenario: which schedule each rail runs, and how its transfers are cut into slices."""

from collections.abc import Callable

from peerlab.collectives.binary_tree import BinaryTree
from peerlab.collectives.direct_exchange import DirectExchange
from peerlab.collectives.halving_doubling import HalvingDoubling, RecursiveDoubling
from peerlab.collectives.hop_chain import HopChain
from peerlab.collectives.pairwise import Pairwise
from peerlab.collectives.pipeline_chain import PipelineChain
from peerlab.collectives.plan import Plan, Schedule, slice_sizes
from peerlab.collectives.point_to_point import PointToPoint
from peerlab.collectives.ring import Ring
from peerlab.question.scenario import Scenario

SCHEDULES: dict[str, Callable[..., Schedule]] = {
    "ring": Ring,
    "halving-doubling": HalvingDoubling,
    "recursive-doubling": RecursiveDoubling,
    "binary-tree": BinaryTree,
    "pairwise": Pairwise,
    "chain": HopChain,
    "direct": DirectExchange,
    "pipeline": PipelineChain,
}
"""What the ranks of one rail may do: from ranks, bytes, and for one half of an allreduce which of the two there is.

A direct exchange is made of nodes, the bytes from one rank to another, and devices.
"""


def plan(scenario: Scenario, nbytes: int | None = None) -> Plan:
    """Return the plan of a scenario's collective on its cluster; `nbytes`: of another message, for which the library does the same."""
    size = scenario.nbytes if nbytes is None else nbytes
    if scenario.collective_record.is_message:
        return Plan(nodes=2, devices=1, message_bytes=size, schedule=PointToPoint(size))
    devices = scenario.hardware.devices
    if scenario.collective_record.exchanges:
        # rounded up, as are shards: all ranks send as much, and what is padding carries nothing
        chunk, below = -(-size // scenario.ranks), scenario.hardware.devices_per_switch
        among = SCHEDULES[scenario.schedule_name](scenario.domains, chunk, devices)
        return Plan(scenario.domains, devices, size, among, adds=False, spreads=False, below=below)
    shard = -(-size // devices)
    adds, spreads = scenario.collective_record.adds, scenario.collective_record.spreads
    rooted = scenario.collective_record.rooted
    # An AllReduce has both halves, as every schedule by default, and a broadcast has none: neither says so.
    half = {} if (adds and spreads) or rooted else {"adds": adds, "spreads": spreads}
    rail = SCHEDULES[scenario.schedule_name](scenario.domains, shard, **half)
    return Plan(scenario.domains, devices, size, rail, adds, spreads, rooted=rooted)


def slices(scenario: Scenario) -> tuple[int, ...]:
    """Return the bytes of each slice of a scenario's largest transfer between nodes; empty where nodes exchange nothing.

    >>> slices(Scenario(nodes=8, message_bytes="64 MiB"))[0]  # an eighth of a chunk of 1 MiB
    131072
    """
    schedule = plan(scenario).schedule
    chunks = max((len(schedule.sends(step)) for step in range(schedule.steps)), default=0)
    if not chunks:
        return ()
    return cut(scenario, chunks * schedule.chunk_bytes)


def cut(scenario: Scenario, nbytes: int) -> tuple[int, ...]:
    """Return the bytes of each slice of a transfer of so many bytes."""
    return slice_sizes(nbytes, scenario.slice_limit, scenario.least_slices, scenario.smallest_slice)
