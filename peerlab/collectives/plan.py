"""A plan: every transfer of a collective, known before time starts.

The buffer is cut into equal chunks, the last one padded, as libraries do that exchange equal counts. A rank numbers the
chunks by *position*, its own order of using them, so that in a symmetric schedule every rank does the same at the same
time, whatever the message size. What is padding costs time and carries nothing. A transfer of chunks is cut into slices, which are not padded.
"""

# Positions, not addresses. Every rank numbers the chunks in its own order of using them: position 0 is the
# chunk that it sends first. By position all ranks of a symmetric schedule do the same. So one rank's order
# of slices holds for all (`engine/slice_dependencies`: a slice must have arrived before it is passed on),
# and so do the addresses that the registration cache sees.

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from peerlab.base.errors import ScenarioError

MOST_SLICES = 2**18
"""Slices of one transfer, at most."""


class Schedule(Protocol):
    """The transfers among `ranks` peers: in a step a rank sends at most one, and receives at most one.

    The first `reducing_steps` steps add what arrives to the receiver's own, the others overwrite.
    """

    @property
    def ranks(self) -> int:
        """Peers that take part."""
        ...

    @property
    def steps(self) -> int:
        """Steps of the schedule."""
        ...

    @property
    def reducing_steps(self) -> int:
        """The first so many steps add; the others hand out."""
        ...

    @property
    def transfers(self) -> int:
        """Transfers of all ranks in all steps."""
        ...

    @property
    def chunks(self) -> int:
        """Chunks that the buffer is cut into."""
        ...

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk on the wire, padding included."""
        ...

    @property
    def symmetric(self) -> bool:
        """Whether every rank sends and receives in every step, in the same positions."""
        ...

    @property
    def is_ring(self) -> bool:
        """Whether every rank sends to the next one in every step what the one before has just sent to it."""
        ...

    def __hash__(self) -> int:
        """Schedules are frozen: what follows from one is remembered."""
        ...

    def to(self, rank: int, step: int) -> int:
        """Return the rank that `rank` sends to in `step`, or -1."""
        ...

    def source(self, rank: int, step: int) -> int:
        """Return the rank that sends to `rank` in `step`, or -1."""
        ...

    def turn(self, step: int) -> int:
        """Return which turn round the devices of the receiving node a step is (`Plan.further`); 0: every device stays on its rail."""
        ...

    def sends(self, step: int) -> range:
        """Return the positions that are sent in `step`, in the order of sending."""
        ...

    def receives(self, step: int) -> range:
        """Return the positions, at the receiver, where they arrive."""
        ...

    def chunk(self, rank: int, position: int) -> int:
        """Return which chunk of the buffer a rank has at a position."""
        ...

    def owned(self, rank: int) -> range:
        """Return the positions that hold the finished sum at this rank after the reducing steps."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """A collective on a cluster: one schedule per rail, within exchanges among a node's devices.

    With several devices a node, device d of every node forms rail d. The devices first add up their contributions
    over the scale-up links, each becoming owner of one shard; every rail runs `schedule` on its shard; then each
    device hands its shard to the others. All three overlap, slice by slice. A reduce-scatter ends before the last of
    them, an allgather begins after the first.

    In a broadcast the root, device 0 of node 0, has everything: it hands each other device of its node that one's shard, and then its own
    shard. It sends without waiting and receives nothing; the others of its node hand their shards to everybody but the root.

    In an all-to-all nothing is added up and nothing is passed on: `schedule` goes to every device of every other node, and
    meanwhile each device hands the others of its own node their chunks over the scale-up links.
    """

    nodes: int
    """Nodes that take part."""
    devices: int
    """Devices per node that take part; 1: no exchange inside a node."""
    message_bytes: int
    """Bytes each rank contributes."""
    schedule: Schedule
    """What each rail does between the nodes, on its shard."""
    adds: bool = True
    """Whether the result holds sums (an allgather's does not)."""
    spreads: bool = True
    """Whether every rank gets the whole result (of a reduce-scatter it gets its own chunk, of an all-to-all one of each rank)."""
    below: int = 1
    """Devices below one PCIe switch of a node; an all-to-all goes round them."""
    rooted: bool = False
    """Whether device 0 of node 0, the root, has the whole message at first, and nobody else anything."""

    def further(self, device: int, turn: int, *, back: bool = False) -> int:
        """Return the device that a device sends to in a turn (or, `back`, the one that sends to it), round a switch, then the switches.

        So in every step all devices below one switch send to those below one other, and a switch does what every switch does.

        >>> eight = Plan(2, 8, 64, schedule=None, below=2)
        >>> [eight.further(1, turn) for turn in range(8)]
        [1, 0, 3, 2, 5, 4, 7, 6]
        """
        (switch, place), (across, along) = divmod(device, self.below), divmod(turn, self.below)
        way, switches = -1 if back else 1, self.devices // self.below
        return (switch + way * across) % switches * self.below + (place + way * along) % self.below

    def receiver(self, rank: int, step: int) -> int:
        """Return the rank that a rank sends to in a step, or -1; rank r is device ``r % devices`` of node ``r // devices``."""
        node, device = divmod(rank, self.devices)
        to = self.schedule.to(node, step)
        return to if to < 0 else to * self.devices + self.further(device, self.schedule.turn(step))

    @property
    def exchanges(self) -> bool:
        """Whether a node's devices exchange among themselves."""
        return self.devices > 1

    @property
    def collects(self) -> bool:
        """Whether a node's devices add up their contributions before they send."""
        return self.exchanges and self.adds

    @property
    def scatters(self) -> bool:
        """Whether the root hands the other devices of its node their shards first."""
        return self.exchanges and self.rooted

    def is_root(self, node: int, device: int) -> bool:
        """Return whether a device has everything at first, so that it waits for nothing and nobody hands it anything."""
        return self.rooted and node == device == 0

    def begins_in_node(self, node: int, device: int) -> bool:
        """Return whether what a device sends first comes to it inside its node: a sum, or its shard from the root."""
        return self.collects or self.spares_root(node, device)

    def spares_root(self, node: int, device: int) -> bool:
        """Return whether one of those to whom a device hands what is final is the root, which has it: nothing goes there."""
        return self.scatters and node == 0 and not self.is_root(node, device)

    @property
    def hands_out(self) -> bool:
        """Whether a device hands what is final to the node's other devices."""
        return self.exchanges and self.spreads

    @property
    def hands_own(self) -> bool:
        """Whether a device hands the node's other devices what it has from the beginning: its own chunk, or a chunk each."""
        return self.exchanges and not self.adds and not self.rooted

    @property
    def ranks(self) -> int:
        """Ranks in all."""
        return self.nodes * self.devices

    @property
    def shard_bytes(self) -> int:
        """Bytes of one device's shard, padding included."""
        return -(-self.message_bytes // self.devices)


@lru_cache(maxsize=256)
def waits(schedule: Schedule, rank: int) -> tuple[tuple[int, ...], ...]:
    """Return for each step the earlier ones whose arrivals are part of what `rank` sends, in order.

    A further, last entry says the same of what `rank` owns after the reducing steps. Steps that wait for the same arrivals
    share one tuple.
    """
    written: dict[int, list[int]] = {}
    # In a pairwise exchange each step of the second half waits for all of the first: as one object they take
    # N places, and not N x N.
    shared: dict[tuple[int, ...], tuple[int, ...]] = {}

    def arrivals(positions: range) -> tuple[int, ...]:
        numbers = tuple(written.get(positions[0], ())) if len(positions) == 1 else ()
        if len(positions) > 1:
            numbers = tuple(sorted({step for p in positions for step in written.get(p, ())}))
        return shared.setdefault(numbers, numbers)

    needed: list[tuple[int, ...]] = []
    own: tuple[int, ...] = ()
    for step in range(schedule.steps + 1):
        if step == schedule.reducing_steps:
            own = arrivals(schedule.owned(rank))
        if step == schedule.steps:
            break
        needed.append(arrivals(schedule.sends(step)) if schedule.to(rank, step) >= 0 else ())
        if schedule.symmetric or schedule.source(rank, step) >= 0:
            for position in schedule.receives(step):
                if step < schedule.reducing_steps:
                    written.setdefault(position, []).append(step)
                else:
                    # what overwrites takes the place of all that came before
                    written[position] = [step]
    return (*needed, own)


@lru_cache(maxsize=256)
def is_chain(schedule: Schedule) -> bool:
    """Return whether each step sends exactly what the last one brought, so that steps are alike, as in a ring."""
    if not schedule.symmetric or schedule.steps == 0 or schedule.chunks == 1:
        return False
    return all(
        needs == (step - 1,) and schedule.sends(step) == schedule.receives(step - 1)
        for step, needs in enumerate(waits(schedule, 0)[1:-1], 1)
    )


@lru_cache(maxsize=256)
def overlaps(schedule: Schedule) -> bool:
    """Return whether a later step waits for no arrival, as in a pairwise exchange, so that flights of several steps overlap."""
    return schedule.symmetric and any(not wait for wait in waits(schedule, 0)[1:-1])


@lru_cache(maxsize=256)
def neighbours(schedule: Schedule, rank: int) -> frozenset[int]:
    """Return the ranks that `rank` sends to or receives from in any step."""
    ends = (schedule.to, schedule.source)
    return frozenset(end(rank, step) for step in range(schedule.steps) for end in ends) - {-1}


@lru_cache(maxsize=4096)
def slice_sizes(nbytes: int, limit: int | None, least: int = 2, smallest: int = 1) -> tuple[int, ...]:
    """Return the sizes of a transfer's slices: full ones, then what remains.

    A full one has at most `limit` bytes, and at most such a part of the transfer that there are `least` slices or about as many, but no
    less than `smallest` bytes; None as limit: the transfer goes whole. The bytes are never divided anew into even slices: one byte more would then change the size of all.

    >>> slice_sizes(10, 4), slice_sizes(10, 100), slice_sizes(10, None), slice_sizes(1, 4), slice_sizes(50, 64, 8), slice_sizes(50, 64, 8, 20)
    ((4, 4, 2), (5, 5), (10,), (1,), (7, 7, 7, 7, 7, 7, 7, 1), (20, 20, 10))
    """
    if limit is None:
        return (nbytes,)
    # refused before a tuple of so many sizes is made
    if nbytes > limit * MOST_SLICES:
        raise ScenarioError(
            "slice_bytes",
            f"{limit} B cuts a transfer of {nbytes} B into more than {MOST_SLICES} slices; give larger ones",
        )
    # `limit` comes last: it is the library's buffer, whatever is wished
    full = min(limit, max(-(-nbytes // least), smallest))
    count, rest = divmod(nbytes, full)
    return (full,) * count + (rest,) * (rest > 0)
