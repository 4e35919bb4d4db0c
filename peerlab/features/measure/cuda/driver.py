"""CUDA's driver interface, as far as a measurement needs it; every failure is one line in a user's words."""

import ctypes
from importlib import import_module
from typing import Any

import numpy as np

from peerlab.base.errors import MeasurementError
from peerlab.base.extras import extra_needed
from peerlab.features.measure.ranks.arms import Bytes

# What adds one buffer of float32 to another. It is compiled by the driver when it is loaded, so that no
# compiler is needed; CUDA's documentation of PTX has the words.
_ADD = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry add_f32(.param .u64 to, .param .u64 what, .param .u32 count)
{
 .reg .pred %past;
 .reg .b32 %r<5>;
 .reg .f32 %f<3>;
 .reg .b64 %d<5>;
 ld.param.u64 %d0, [to];
 ld.param.u64 %d1, [what];
 ld.param.u32 %r0, [count];
 mov.u32 %r1, %ctaid.x;
 mov.u32 %r2, %ntid.x;
 mov.u32 %r3, %tid.x;
 mad.lo.u32 %r4, %r1, %r2, %r3;
 setp.ge.u32 %past, %r4, %r0;
 @%past bra DONE;
 mul.wide.u32 %d2, %r4, 4;
 add.u64 %d3, %d0, %d2;
 add.u64 %d4, %d1, %d2;
 ld.global.f32 %f0, [%d3];
 ld.global.f32 %f1, [%d4];
 add.f32 %f2, %f0, %f1;
 st.global.f32 [%d3], %f2;
DONE:
 ret;
}
\0"""
_THREADS = 256
"""Threads of one block of that program."""

_HINTS = {
    "CUDA_ERROR_NO_DEVICE": "the driver finds no GPU that this process may use (CUDA_VISIBLE_DEVICES, or the container's devices)",
    "CUDA_ERROR_OUT_OF_MEMORY": "choose smaller sizes or fewer ranks, or end what else uses the GPU",
    "CUDA_ERROR_DEVICE_UNAVAILABLE": "another process has the GPU to itself (compute mode exclusive), or no process may use it (compute mode prohibited)",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "the driver's library and its kernel module are of different versions",
    "CUDA_ERROR_SYSTEM_NOT_READY": "the NVLink switches are not ready (is nvidia-fabricmanager running?)",
}
"""What helps, by the driver's name of an error."""


def binding() -> Any:
    """Return the module that speaks to the driver.

    Raises
    ------
    MissingPackage
        If it is not installed.
    MeasurementError
        If there is no driver.
    """
    with extra_needed("measuring an NVIDIA GPU"):
        driver = import_module("cuda.bindings.driver")
    try:
        call("starting", driver.cuInit(0))
    except RuntimeError:  # the binding's word for a library that is not there
        raise MeasurementError(
            "no NVIDIA driver on this machine (libcuda.so.1 is not found), so no GPU can be measured"
        ) from None
    return driver


def call(doing: str, answered: tuple[Any, ...]) -> Any:
    """Return what a call of the driver answered.

    Raises
    ------
    MeasurementError
        If it failed, with the driver's name of the reason and what helps.
    """
    status, *values = answered
    if int(status):
        hint = _HINTS.get(status.name, "")
        raise MeasurementError(
            f"the GPU's driver: {doing} failed: {status.name}" + (f": {hint}" if hint else "")
        )
    return values[0] if len(values) == 1 else values


class Gpu:
    """One GPU as one process uses it: a context and a stream, in which all work keeps its order."""

    def __init__(self, index: int) -> None:
        """Take the GPU of an index, as CUDA counts those that this process may use."""
        self._driver = binding()
        device = call("finding the GPU", self._driver.cuDeviceGet(index))
        # The primary context: memory that another process exported can be opened by one context alone.
        context = call("making a context", self._driver.cuDevicePrimaryCtxRetain(device))
        call("entering the context", self._driver.cuCtxSetCurrent(context))
        self.stream = self.new_stream()
        module = call("loading the program that adds", self._driver.cuModuleLoadData(_ADD))
        self._add = call(
            "finding the program that adds", self._driver.cuModuleGetFunction(module, b"add_f32")
        )

    def new_stream(self) -> Any:
        """Return one more stream."""
        non_blocking = self._driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        return call("making a stream", self._driver.cuStreamCreate(non_blocking))

    def allocate(self, nbytes: int) -> int:
        """Return the address of new device memory."""
        return int(call(f"taking {nbytes} B of its memory", self._driver.cuMemAlloc(nbytes)))

    def pinned(self, nbytes: int) -> Bytes:
        """Return new host memory that is pinned: the copy engine reads and writes it by itself."""
        address = int(call(f"pinning {nbytes} B of host memory", self._driver.cuMemAllocHost(nbytes)))
        return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))

    def copy_out(self, host: int, device: int, nbytes: int, stream: Any = None) -> None:
        """Start a copy from device memory to host memory; addresses."""
        call("a copy out", self._driver.cuMemcpyDtoHAsync(host, device, nbytes, stream or self.stream))

    def copy_in(self, device: int, host: int, nbytes: int, stream: Any = None) -> None:
        """Start a copy from host memory to device memory; addresses."""
        call("a copy in", self._driver.cuMemcpyHtoDAsync(device, host, nbytes, stream or self.stream))

    def copy(self, to: int, what: int, nbytes: int) -> None:
        """Start a copy between device memories, the neighbour's too."""
        call("a copy to the neighbour", self._driver.cuMemcpyDtoDAsync(to, what, nbytes, self.stream))

    def add(self, to: int, what: int, count: int) -> None:
        """Start adding `count` float32 to as many others; addresses."""
        types = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)
        blocks = (-(-count // _THREADS), 1, 1)
        launched = self._driver.cuLaunchKernel(
            self._add, *blocks, _THREADS, 1, 1, 0, self.stream, ((to, what, count), types), 0
        )
        call("adding", launched)

    def wait(self, stream: Any = None) -> None:
        """Wait until all work of a stream is done."""
        call("waiting", self._driver.cuStreamSynchronize(stream or self.stream))

    def exported(self, address: int) -> str:
        """Return a handle of device memory, by which another process opens it; hexadecimal."""
        return bytes(call("exporting memory", self._driver.cuIpcGetMemHandle(address)).reserved).hex()

    def opened(self, handle: str) -> int:
        """Return the address here of what another process exported."""
        ipc = self._driver.CUipcMemHandle()
        ipc.reserved = bytes.fromhex(handle)
        peers = self._driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
        return int(call("opening the neighbour's memory", self._driver.cuIpcOpenMemHandle(ipc, peers)))

    def dma_buf(self, start: int, nbytes: int) -> int:
        """Return a file descriptor by which a NIC's driver could reach whole pages of device memory."""
        kind = self._driver.CUmemRangeHandleType.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
        exported = self._driver.cuMemGetHandleForAddressRange(start, nbytes, kind, 0)
        return int(call("exporting a DMA-BUF", exported))

    def register(self, start: int, nbytes: int) -> None:
        """Pin host memory that is there already, and map it for the GPU."""
        call("registering host memory", self._driver.cuMemHostRegister(start, nbytes, 0))

    def unregister(self, start: int) -> None:
        """Unpin host memory."""
        call("deregistering host memory", self._driver.cuMemHostUnregister(start))
