"""A rank's message in a GPU's memory."""

import os
from functools import cache

import numpy as np

from peerlab.collectives.ring_moves import Numbers, RingLayout
from peerlab.features.measure.cuda.cuda_arms import CudaDirect, CudaStaged, CudaStagedPageable
from peerlab.features.measure.cuda.driver import Gpu
from peerlab.features.measure.cuda.gpus import ALLOCATION, counted
from peerlab.features.measure.ranks.arms import Arm, Neighbours
from peerlab.features.measure.ranks.memory.rank_memory import RankMemory
from peerlab.features.measure.ranks.pins import Registrar
from peerlab.features.measure.schedule import UNREGISTERED, MeasuredCase, Measurement
from peerlab.model.registration import Region


class DmaBufPins:
    """Regions of device memory, each exported as a DMA-BUF."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._files: dict[Region, int] = {}

    def pin(self, region: Region) -> None:
        """Export a region."""
        self._files[region] = self._gpu.dma_buf(region.start, region.nbytes)

    def unpin(self, region: Region) -> None:
        """Close what was exported."""
        os.close(self._files.pop(region))

    def close(self) -> None:
        """Nothing to do: every region was closed."""


class HostRegisteredPins:
    """Regions of host memory, pinned by the GPU's driver."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu

    def pin(self, region: Region) -> None:
        """Register a region."""
        self._gpu.register(region.start, region.nbytes)

    def unpin(self, region: Region) -> None:
        """Deregister it."""
        self._gpu.unregister(region.start)

    def close(self) -> None:
        """Nothing to do: every region was deregistered."""


_PINS: dict[str, type[DmaBufPins | HostRegisteredPins]] = {
    "dma-buf": DmaBufPins,
    "host-register": HostRegisteredPins,
}
"""By the names of the memory's pinnings."""


class CudaMemory(RankMemory):
    """Memory of the GPU that this rank has, alone or with others."""

    def __init__(self, rank: int, plan: Measurement) -> None:
        self._plan = plan
        self._gpu = _gpu(rank)
        # Rings of several sizes share a rank's memory: they are measured one after another.
        self._base = _ground(rank, max(RingLayout(ranks, size).footprint for ranks, size in plan.blocks))

    @property
    def key(self) -> str:
        """A handle of CUDA IPC."""
        return self._gpu.exported(self._base)

    def reach(self, key: int | str) -> int:
        """Open the neighbour's memory."""
        return self._gpu.opened(str(key))

    def prepare(self, ring: RingLayout) -> None:
        """Take host memory for what goes in before the clock starts, and comes out after it has stopped."""
        self._ring = ring
        self._host = np.empty(ring.nbytes // 4, np.float32)

    def fill(self, numbers: Numbers, rank: int, run: int) -> None:
        """Write in host memory and copy in."""
        numbers.fill(rank, run, self._host)
        self._gpu.copy_in(self._base, self._host.ctypes.data, self._host.nbytes)
        self._gpu.wait()

    def is_sum(self, numbers: Numbers, ranks: int, run: int) -> bool:
        """Copy out what the GPU's memory holds, and compare."""
        self._host[:] = 0  # what is compared has come from the GPU, or is wrong
        self._gpu.copy_out(self._host.ctypes.data, self._base, self._host.nbytes)
        self._gpu.wait()
        return numbers.is_sum(ranks, run, self._host)

    def lane(self, case: MeasuredCase, beside: Neighbours) -> tuple[Arm, Registrar | None]:
        """Return an arm between GPU memories."""
        registrar = None
        if case.registration != UNREGISTERED:
            registrar = Registrar(case.registration, lambda: _PINS[self._plan.pins](self._gpu))
        arms = {"staged": CudaStaged, "staged-pageable": CudaStagedPageable, "direct": CudaDirect}
        made = arms[case.arm](self._gpu, self._base, self._ring, self._plan.slice_bytes, beside, registrar)
        return made, registrar


@cache
def _gpu(rank: int) -> Gpu:
    """Return the GPU of a rank: ranks are dealt to the GPUs in turn."""
    return Gpu(rank % counted())


@cache
def _ground(rank: int, nbytes: int) -> int:
    # Whole units of the driver's: smaller pieces share a unit, whose base a handle of CUDA IPC would mean.
    whole = -(-nbytes // ALLOCATION) * ALLOCATION
    return _gpu(rank).allocate(whole)
