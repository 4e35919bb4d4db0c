"""A reference executor: carries real numbers through a plan, so that the result can be checked.

Each byte of the buffer stands for one number. Transfers of a step happen together, from what the ranks held before.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from peerlab.collectives.plan import Plan, Schedule

Numbers = NDArray[np.int64]


def execute(plan: Plan, contributions: Numbers) -> Numbers:
    """Return what every rank holds after the plan.

    Parameters
    ----------
    plan:
        Any plan.
    contributions:
        Shape ``(ranks, message_bytes)``; rank r is device ``r % devices`` of node ``r // devices``.

    Returns
    -------
    Array of the same shape. After an AllReduce every row is the sum of all contributions; after a reduce-scatter each row
    is so in the rank's own range (`own_range`); after an allgather every row holds each rank's contribution in that
    rank's own range.
    """
    nodes, devices, size = plan.nodes, plan.devices, plan.message_bytes
    held = contributions.reshape(nodes, devices, size).copy()
    shards = [slice(d * plan.shard_bytes, min((d + 1) * plan.shard_bytes, size)) for d in range(devices)]
    if plan.collects:  # every device adds up its shard over the node, from what the others contributed
        for device, shard in enumerate(shards):
            held[:, device, shard] = contributions.reshape(nodes, devices, size)[:, :, shard].sum(axis=1)
    for device, shard in enumerate(shards):
        for _ in rounds(plan.schedule, held[:, device, shard]):
            pass
    if plan.hands_out:
        for device, shard in enumerate(shards):
            held[:, :, shard] = held[:, device : device + 1, shard]
    return held.reshape(nodes * devices, size)


def own_range(plan: Plan, rank: int) -> slice:
    """Return the bytes that belong to a rank: its node's chunk of its device's shard."""
    node, device = divmod(rank, plan.devices)
    low, high = device * plan.shard_bytes, min((device + 1) * plan.shard_bytes, plan.message_bytes)
    chunk = plan.schedule.chunk_bytes
    return slice(min(low + node * chunk, high), min(low + (node + 1) * chunk, high))


def rounds(schedule: Schedule, held: Numbers) -> Iterator[Numbers]:
    """Carry the numbers in `held` (one row per rank) through a schedule, in place; yield them after every step."""
    for step in range(schedule.steps):
        before = held.copy()
        for rank in range(schedule.ranks):
            to = schedule.to(rank, step)
            for part in sent(schedule, rank, step):
                if step < schedule.reducing_steps:
                    held[to, part] += before[rank, part]
                else:
                    held[to, part] = before[rank, part]
        yield held


def sent(schedule: Schedule, rank: int, step: int) -> list[slice]:
    """Return the parts of the buffer that a rank sends in a step, in the order of sending."""
    if schedule.to(rank, step) < 0:
        return []
    size = schedule.chunk_bytes
    chunks = [schedule.chunk(rank, position) for position in schedule.sends(step)]
    return [slice(chunk * size, (chunk + 1) * size) for chunk in chunks]
