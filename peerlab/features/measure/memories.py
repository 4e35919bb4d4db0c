"""Where the ranks' messages lie, and what can be measured there: one record for each kind of memory."""

from collections.abc import Mapping
from dataclasses import dataclass

from peerlab.base.units import MIB


@dataclass(frozen=True)
class Pinning:
    """How a region is registered."""

    arm: str
    """The arm whose regions are registered in this way."""
    says: str
    """This way of registering in words."""
    exports: bool = False
    """Whether it exports the accelerator's memory, which not every driver can."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A kind of memory that ranks exchange messages from and into."""

    arms: Mapping[str, str]
    """Every data path that can be measured, and where its bytes go."""
    usual: tuple[str, ...]
    """The arms that are measured if none is named."""
    pinnings: Mapping[str, Pinning]
    """How regions can be registered, by the names of ``pins``; the first is the usual one."""
    what_it_is: str
    """What its figures are of: stands wherever they are shown."""
    copied_by: str = ""
    """The arm whose messages have a copy in host memory, one for each registration; empty if messages lie there anyway."""
    process_bytes: int
    """Host memory of a rank's interpreter with all that it loads, and a reserve."""
    accelerator: bool
    """Whether it is an accelerator's memory: ranks reach that through its driver; host memory they share."""


MEMORIES: Mapping[str, Memory] = {
    "host": Memory(
        arms={
            "staged": "device memory -> bounce buffer -> TCP -> bounce buffer -> device memory",
            "tcp": "device memory -> TCP -> device memory",
            "staged-shm": "device memory -> bounce buffer -> the neighbour's bounce buffer -> device memory",
            "direct": "one-sided stores into the neighbour's device memory",
            "cma": "one-sided process_vm_writev into the neighbour's device memory: the kernel pins and copies",
        },
        usual=("staged", "tcp", "staged-shm", "direct"),
        pinnings={
            "mlock": Pinning(
                "direct",
                "registered by mlock: an emulation, whose pages may still move; it costs and counts as pinning does",
            ),
            "io_uring": Pinning(
                "direct", "registered as fixed buffers of an io_uring: the kernel pins the pages"
            ),
        },
        what_it_is="processor stores into a shared mapping: no NIC, no PCIe, no wire; the relative cost structure is real, "
        "the absolute figures are this machine's",
        process_bytes=32 * MIB,  # 18 MiB of its own were measured (Python 3.11, Linux)
        accelerator=False,
    ),
    "cuda": Memory(
        arms={
            "staged": "GPU memory -> pinned host memory -> TCP -> pinned host memory -> GPU memory",
            "staged-pageable": "GPU memory -> ordinary host memory -> TCP -> ordinary host memory -> GPU memory",
            "direct": "one copy into the neighbour's GPU memory, which CUDA IPC maps",
        },
        usual=("staged", "staged-pageable", "direct"),
        pinnings={
            "dma-buf": Pinning(
                "direct",
                "registered by exporting GPU memory as a DMA-BUF, the first half of what a NIC needs; no NIC imports it",
                exports=True,
            ),
            "host-register": Pinning(
                "staged-pageable",
                "registered by cuMemHostRegister: the driver pins ordinary host memory and maps it for the GPU",
            ),
        },
        what_it_is="copies of a GPU's copy engines and TCP over loopback: PCIe is real, there is no NIC and no wire; ranks that "
        "share a GPU take turns on it, unless MPS runs",
        copied_by="staged-pageable",
        process_bytes=192 * MIB,  # 141 MiB were measured with CUDA's driver (H200, driver 580)
        accelerator=True,
    ),
}
"""Every kind of memory, by the name that a user gives."""

PINNINGS: Mapping[str, Pinning] = {
    name: pinning for memory in MEMORIES.values() for name, pinning in memory.pinnings.items()
}
"""Every way to register a region, whatever the memory; no two share a name."""
