"""Which GPUs there are, and whether a measurement fits: asked in a process of its own, as a context stays on the GPU."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from peerlab.base.errors import MeasurementError
from peerlab.base.units import MIB, say_bytes, say_count
from peerlab.collectives.ring_moves import RingLayout
from peerlab.features.measure.cuda.driver import binding, call
from peerlab.features.measure.ranks.starting import answer_on_a_gpu, apart
from peerlab.features.measure.schedule import Measurement

ALLOCATION = 2 * MIB
"""What the driver takes memory in: an allocation of whole units begins at one."""
_CONTEXT_BYTES = 640 * MIB
"""GPU memory that a process takes for its context, on the safe side: 524 MiB were measured (H200, driver 580)."""
_SHARE = 0.9
"""Share of the free memory that a measurement may take; the rest is left to whatever else runs."""
_BUSY = 1024 * MIB
"""GPU memory in use beyond which another program works on the GPU: an idle GPU holds some hundred MiB."""
_MPS_PIPES = "/tmp/nvidia-mps"  # noqa: S108  (where MPS's documentation puts it)
_AT_ONCE = "and use it at once, through MPS"
_IN_TURNS = (
    "and take turns on it: that can cost more than the paths differ, and the A/A control does not show it; through MPS "
    "(nvidia-cuda-mps-control -d) they use it at once"
)
_NO_NCCL = (
    "NCCL is not measured here: it refuses two ranks on one GPU (2.28.9: Duplicate GPU detected); with a GPU for each rank "
    "run nccl-tests, and read its log with peerlab import"
)


@dataclass(frozen=True, kw_only=True)
class GpuHere:
    """A GPU that this process may use."""

    name: str
    """As its driver names it."""
    driver: str
    """Version of CUDA that the driver has."""
    free_bytes: int
    """Memory that may still be taken."""
    total_bytes: int
    """Memory in all."""
    dma_buf: bool
    """Whether its memory can be exported as a DMA-BUF."""

    def __str__(self) -> str:
        exports = "exports DMA-BUF" if self.dma_buf else "exports no DMA-BUF"
        return f"{self.name}: {say_bytes(self.total_bytes)}, driver of CUDA {self.driver}, {exports}"


def counted() -> int:
    """Return how many GPUs this process may use.

    Raises
    ------
    MeasurementError
        If there is none.
    """
    count = int(call("counting the GPUs", binding().cuDeviceGetCount()))
    if not count:
        raise MeasurementError("the GPU's driver finds no GPU that this process may use")
    return count


def gpus_here() -> tuple[GpuHere, ...]:
    """Return the GPUs that this machine has for us.

    Raises
    ------
    MeasurementError
        If there is no driver or no GPU, or it cannot be used; one line.
    """
    return tuple(GpuHere(**fields) for fields in apart(__name__, "looking for GPUs"))


def check(plan: Measurement, gpus: tuple[GpuHere, ...]) -> None:
    """Refuse what does not fit into the GPUs' memory.

    Raises
    ------
    MeasurementError
        If it needs more than is free, with how much there is.
    """
    footprint = max(RingLayout(ranks, size).footprint for ranks, size in plan.blocks)
    ranks = max(plan.ranks)
    for index, gpu in enumerate(gpus):
        mine = len(range(index, ranks, len(gpus)))
        need = mine * (footprint + ALLOCATION + _CONTEXT_BYTES)
        if need > _SHARE * gpu.free_bytes:
            raise MeasurementError(
                f"sizes: {say_bytes(max(plan.sizes))} on {say_count(mine, 'rank')} needs {say_bytes(need)} of the GPU's memory, "
                f"{say_bytes(gpu.free_bytes)} of {say_bytes(gpu.total_bytes)} are free; choose smaller sizes or fewer ranks"
            )


def doubts(plan: Measurement, gpus: tuple[GpuHere, ...]) -> list[str]:
    """Return sentences on how far figures from these GPUs can be trusted."""
    sentences = []
    if max(plan.ranks) > len(gpus):
        ranks, shared = say_count(max(plan.ranks), "rank"), say_count(len(gpus), "GPU")
        sentences.append(f"{ranks} share {shared} {_AT_ONCE if mps_runs() else _IN_TURNS}")
    for gpu in gpus:
        used = gpu.total_bytes - gpu.free_bytes
        if used > _BUSY:
            sentences.append(
                f"{gpu.name} is in use by others ({say_bytes(used)} of its memory): expect noise"
            )
    return [*sentences, _NO_NCCL] if gpus else []


def mps_runs() -> bool:
    """Return whether NVIDIA's multi-process service listens: through it processes use a GPU at once."""
    control = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY") or _MPS_PIPES, "control")
    return os.access(control, os.F_OK)  # `exists` raises where the folder is another user's


def _all_gpus() -> list[GpuHere]:
    driver = binding()
    version = int(call("asking its version", driver.cuDriverGetVersion()))
    return [_gpu(driver, index, f"{version // 1000}.{version % 1000 // 10}") for index in range(counted())]


def _gpu(driver: Any, index: int, version: str) -> GpuHere:
    device = call("finding the GPU", driver.cuDeviceGet(index))
    context = call("making a context", driver.cuDevicePrimaryCtxRetain(device))
    call("entering the context", driver.cuCtxSetCurrent(context))
    free, total = call("asking for its memory", driver.cuMemGetInfo())
    exports = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
    name = bytes(call("asking its name", driver.cuDeviceGetName(128, device)))
    return GpuHere(
        name=name.partition(bytes(1))[0].decode(errors="replace"),
        driver=version,
        free_bytes=int(free),
        total_bytes=int(total),
        dma_buf=bool(call("asking for DMA-BUF", driver.cuDeviceGetAttribute(exports, device))),
    )


if __name__ == "__main__":
    answer_on_a_gpu(lambda: [asdict(gpu) for gpu in _all_gpus()])
