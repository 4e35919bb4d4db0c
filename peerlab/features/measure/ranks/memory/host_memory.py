"""Host memory that plays device memory: a segment that all ranks of a machine can map."""

import mmap
import os

import numpy as np

from peerlab.collectives.ring_moves import Numbers, RingLayout
from peerlab.features.measure.ranks.arms import Arm, Bytes, Neighbours, arm
from peerlab.features.measure.ranks.memory.rank_memory import RankMemory
from peerlab.features.measure.ranks.pins import KINDS, Registrar
from peerlab.features.measure.schedule import UNREGISTERED, MeasuredCase, Measurement


def mapped(fd: int) -> Bytes:
    """Return a whole segment as bytes."""
    return np.frombuffer(mmap.mmap(fd, os.fstat(fd).st_size), np.uint8)


class HostMemory(RankMemory):
    """A memfd that stands for a device's memory."""

    def __init__(self, segment: int, plan: Measurement) -> None:
        self._segment, self._plan = segment, plan
        self._device = mapped(segment)

    @property
    def key(self) -> int:
        """Where it begins in this process: another one may write there through the kernel (`cma`)."""
        return int(self._device.ctypes.data)

    def reach(self, key: int | str) -> int:
        """Return the key itself: an address in the neighbour's process."""
        return int(key)

    def prepare(self, ring: RingLayout) -> None:
        """Take the message's part of the segment."""
        self._message = self._device[: ring.nbytes].view(np.float32)

    def fill(self, numbers: Numbers, rank: int, run: int) -> None:
        """Write in place."""
        numbers.fill(rank, run, self._message)

    def is_sum(self, numbers: Numbers, ranks: int, run: int) -> bool:
        """Compare in place."""
        return numbers.is_sum(ranks, run, self._message)

    def lane(self, case: MeasuredCase, beside: Neighbours) -> tuple[Arm, Registrar | None]:
        """Return an arm between processes that share memory."""
        slice_bytes = self._plan.slice_bytes
        if case.registration == UNREGISTERED:
            return arm(case.arm, self._device, slice_bytes, beside), None
        registrar = Registrar(case.registration, KINDS[self._plan.pins])
        # Locks belong to a mapping and do not add up: each registration has a mapping of its own.
        return arm(case.arm, mapped(self._segment), slice_bytes, beside, registrar), registrar
