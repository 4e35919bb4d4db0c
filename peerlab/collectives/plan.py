"""A plan: every transfer of a collective, known before time starts.

Chunks are equal, the last one padded, as libraries do that exchange equal counts; so every rank of a symmetric
schedule does the same at the same time, whatever the message size. What is padding costs time and carries nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Transfer:
    """One rank sends one range of the buffer to another, which adds it to its own or keeps it."""

    step: int
    """Step of the schedule."""
    source: int
    """Sending rank."""
    destination: int
    """Receiving rank."""
    start: int
    """First byte of the range."""
    end: int
    """Byte after the range; less than the wire carries where the chunk is padded."""
    reduces: bool
    """Whether the receiver adds (else it overwrites)."""


class Schedule(Protocol):
    """The transfers among `ranks` peers, one per sending rank and step, all of `transfer_bytes` on the wire."""

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
    def transfer_bytes(self) -> int:
        """Bytes of each transfer on the wire, padding included."""
        ...

    @property
    def chunks(self) -> int:
        """Chunks that the buffer is cut into."""
        ...

    @property
    def senders(self) -> Sequence[int]:
        """Ranks that send, each in every step."""
        ...

    def to(self, rank: int) -> int:
        """Return the rank that `rank` sends to."""
        ...

    def transfer(self, rank: int, step: int) -> Transfer:
        """Return what `rank` sends in `step`."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """A collective on a cluster: one schedule per rail, within exchanges among a node's devices.

    With several devices a node, device d of every node forms rail d. The devices first add up their contributions
    over the scale-up links, each becoming owner of one shard; every rail runs `schedule` on its shard; then each
    device hands its shard to the others. All three overlap, slice by slice. A reduce-scatter ends before the last of
    them, an allgather begins after the first.
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
    """Whether every rank gets the whole result (of a reduce-scatter it gets its own chunk)."""

    @property
    def exchanges(self) -> bool:
        """Whether a node's devices exchange among themselves."""
        return self.devices > 1

    @property
    def collects(self) -> bool:
        """Whether a node's devices add up their contributions before they send."""
        return self.exchanges and self.adds

    @property
    def hands_out(self) -> bool:
        """Whether a device hands what is final to the node's other devices."""
        return self.exchanges and self.spreads

    @property
    def ranks(self) -> int:
        """Ranks in all."""
        return self.nodes * self.devices

    @property
    def shard_bytes(self) -> int:
        """Bytes of one device's shard, padding included."""
        return -(-self.message_bytes // self.devices)

    @property
    def symmetric(self) -> bool:
        """Whether every node does the same at the same time."""
        return len(self.schedule.senders) == self.nodes


def slice_sizes(nbytes: int, limit: int | None) -> tuple[int, ...]:
    """Return the sizes of a transfer's slices: at least two unless `limit` is None, the last the smallest.

    >>> slice_sizes(10, 4), slice_sizes(10, 100), slice_sizes(10, None), slice_sizes(1, 4)
    ((4, 4, 2), (5, 5), (10,), (1,))
    """
    if limit is None:
        return (nbytes,)
    size = min(limit, -(-nbytes // 2))
    whole, rest = divmod(nbytes, size)
    return (size,) * whole + ((rest,) if rest else ())
