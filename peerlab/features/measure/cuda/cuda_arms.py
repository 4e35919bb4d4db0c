"""The data paths between GPUs' memories: how a slice gets from this rank's into its right neighbour's."""

import mmap
import os
from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from peerlab.collectives.ring_moves import FLOAT, PAGE, RingLayout, RingMove
from peerlab.features.measure.cuda.driver import Gpu
from peerlab.features.measure.ranks.arms import Arm, Bytes, Neighbours, exchange
from peerlab.features.measure.ranks.pins import Registrar
from peerlab.machine import linux


class _CudaArm(Arm):
    """An arm whose device memory is a GPU's."""

    def __init__(
        self,
        gpu: Gpu,
        base: int,
        ring: RingLayout,
        slice_bytes: int,
        beside: Neighbours,
        registrar: Registrar | None = None,
    ) -> None:
        super().__init__(base, slice_bytes, registrar)
        self._gpu, self._ring, self._beside = gpu, ring, beside
        self._take_host_memory()

    def _take_host_memory(self) -> None:
        """Take what of the host's memory a slice passes; none, unless an arm stages in it."""

    def run(self, moves: Sequence[RingMove]) -> None:
        """Do all moves of an AllReduce, to the last sum."""
        super().run(moves)
        self._gpu.wait()

    def _add(self, to: int, landed: int, nbytes: int) -> None:
        if nbytes:
            self._gpu.add(self._address + to, self._address + landed, nbytes // FLOAT)


class CudaStaged(_CudaArm):
    """Through pinned bounce buffers and TCP: the detour of a NIC that cannot reach the GPU's memory."""

    # TCP's copies, and one of the copy engine's at either end.
    COPIES: ClassVar[tuple[int, int] | None] = (2, 2)

    def _take_host_memory(self) -> None:
        self._leaving, self._landing = _bounces(self._gpu, self._slice_bytes)

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Copy out, exchange, copy in."""
        self._through(move, at, self._leaving[:out], self._landing[:into])

    def _through(self, move: RingMove, at: int, leaving: Bytes, landing: Bytes) -> None:
        gpu = self._gpu
        if len(leaving):
            gpu.copy_out(leaving.ctypes.data, self._address + move.source_at + at, len(leaving))
        # Before the exchange, which sends what was copied out, and fills a buffer that the last slice may
        # still be copied in from.
        gpu.wait()
        exchange(self._beside.send, self._beside.receive, leaving, landing)
        if len(landing):
            gpu.copy_in(self._address + move.lands_at + at, landing.ctypes.data, len(landing))


@cache
def _bounces(gpu: Gpu, slice_bytes: int) -> tuple[Bytes, Bytes]:
    """Return a process's bounce buffers: its cases run one after another, and share them."""
    return gpu.pinned(slice_bytes), gpu.pinned(slice_bytes)


class CudaStagedPageable(CudaStaged):
    """Through ordinary host memory, as large as the message, and TCP; the memory is registered where the plan says so."""

    def _take_host_memory(self) -> None:
        # Each chunk and each scratch begins on a page of its own: the driver registers no page twice.
        ground = mmap.mmap(-1, self._ring.footprint + self._ring.ranks * PAGE)
        linux.touch(ground)
        self._ground = np.frombuffer(ground, np.uint8)
        self._places: dict[int, int] = {}
        self._free = 0

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Copy out, exchange, copy in."""
        source, lands = self._offset(move.source_at) + at, self._offset(move.lands_at) + at
        self._through(move, at, self._ground[source : source + out], self._ground[lands : lands + into])

    def _place(self, at: int) -> int:
        return int(self._ground.ctypes.data) + self._offset(at)

    def _offset(self, at: int) -> int:
        """Return the place in host memory of the bytes that begin at an offset in device memory."""
        if at not in self._places:
            self._places[at] = self._free
            self._free += -(-self._ring.largest_chunk // PAGE) * PAGE
        return self._places[at]


class CudaDirect(_CudaArm):
    """One copy into the neighbour's memory, which this process has mapped; then a message to the neighbour that it is there."""

    # The sender's copy engine copies; the receiver does nothing but wait.
    COPIES: ClassVar[tuple[int, int] | None] = (1, 0)

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Put, tell the right neighbour, and wait for what the left one puts."""
        beside = self._beside
        if out:
            there = beside.right_address + move.there_at + at
            self._gpu.copy(there, self._address + move.source_at + at, out)
            # What wakes the neighbour promises that the slice is there.
            self._gpu.wait()
            os.eventfd_write(beside.arrived_right, 1)
        if into:
            os.eventfd_read(beside.arrived)
