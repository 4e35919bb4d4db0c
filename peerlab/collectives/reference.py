"""A reference executor: carries real numbers through a plan, so that the result can be checked.

Each byte of the buffer stands for one number. Transfers of a step happen together, from what the ranks held before.
"""

from collections.abc import Iterator

from peerlab.base.numbers import NDArray, np
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
    rank's own range. After a broadcast every row is the root's contribution, that of rank 0. After an all-to-all chunk s of rank r is what rank s had as its chunk r; the arrays then end with the padding
    of the last chunk.
    """
    if not (plan.adds or plan.spreads):
        return _exchanged(plan, contributions)
    nodes, devices, size = plan.nodes, plan.devices, plan.message_bytes
    held = contributions.reshape(nodes, devices, size).copy()
    shards = [slice(d * plan.shard_bytes, min((d + 1) * plan.shard_bytes, size)) for d in range(devices)]
    if plan.collects:  # every device adds up its shard over the node, from what the others contributed
        for device, shard in enumerate(shards):
            held[:, device, shard] = contributions.reshape(nodes, devices, size)[:, :, shard].sum(axis=1)
    if plan.scatters:  # the root hands the other devices of its node their shards
        for device, shard in enumerate(shards):
            held[0, device, shard] = held[0, 0, shard]
    for device, shard in enumerate(shards):
        for _ in rounds(plan.schedule, held[:, device, shard]):
            pass
    if plan.hands_out:
        for device, shard in enumerate(shards):
            held[:, :, shard] = held[:, device : device + 1, shard]
    return held.reshape(nodes * devices, size)


def _exchanged(plan: Plan, contributions: Numbers) -> Numbers:
    """Return what every rank of an all-to-all holds: it has kept its own chunk, and the rest came over the network or inside the node."""
    count, chunk = plan.ranks, plan.schedule.chunk_bytes
    padded = np.zeros((count, count * chunk), np.int64)
    padded[:, : plan.message_bytes] = contributions
    sent = padded.reshape(count, count, chunk)
    held = np.zeros_like(sent)
    for rank in range(count):
        first = rank - rank % plan.devices
        inside = range(first, first + plan.devices) if plan.hands_own else (rank,)
        for to in (*inside, *(plan.receiver(rank, step) for step in range(plan.schedule.steps))):
            held[to, rank] += sent[rank, to]  # what came twice would be there twice
    return held.reshape(count, count * chunk)


def own_range(plan: Plan, rank: int) -> slice:
    """Return the bytes that belong to a rank: its node's chunk of its device's shard."""
    node, device = divmod(rank, plan.devices)
    low, high = device * plan.shard_bytes, min((device + 1) * plan.shard_bytes, plan.message_bytes)
    chunk = plan.schedule.chunk_bytes
    return slice(min(low + node * chunk, high), min(low + (node + 1) * chunk, high))


def rounds(schedule: Schedule, held: Numbers) -> Iterator[Numbers]:
    """Carry the numbers in `held` (one row per rank) through a schedule, in place; yield them after every step."""
    for step in range(schedule.steps):
        # what arrives in a step is not passed on in it
        before = held.copy()
        for rank in range(schedule.ranks):
            to = schedule.to(rank, step)
            for part, place in zip(sent(schedule, rank, step), received(schedule, to, step), strict=True):
                if step < schedule.reducing_steps:
                    held[to, place] += before[rank, part]
                else:
                    held[to, place] = before[rank, part]
        yield held


def sent(schedule: Schedule, rank: int, step: int) -> list[slice]:
    """Return the parts of the buffer that a rank sends in a step, in the order of sending."""
    return _parts(schedule, rank, schedule.sends(step)) if schedule.to(rank, step) >= 0 else []


def received(schedule: Schedule, rank: int, step: int) -> list[slice]:
    """Return the parts of the buffer where a rank receives in a step; an all-to-all's receive buffer lies behind what it sends."""
    return _parts(schedule, rank, schedule.receives(step)) if rank >= 0 else []


def _parts(schedule: Schedule, rank: int, positions: range) -> list[slice]:
    size = schedule.chunk_bytes
    chunks = [schedule.chunk(rank, position) for position in positions]
    return [slice(chunk * size, (chunk + 1) * size) for chunk in chunks]
