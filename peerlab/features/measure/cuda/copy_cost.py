"""How long copies between a GPU and its host take, and how long registering memory takes: measured, with the noise."""

import json
import mmap
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import product
from typing import Any

from peerlab.base.errors import MeasurementError
from peerlab.base.units import MIB, parse_bytes, say_bytes
from peerlab.collectives.ring_moves import PAGE
from peerlab.features.measure.cuda.driver import Gpu
from peerlab.features.measure.cuda.gpus import GpuHere, gpus_here
from peerlab.features.measure.measured_rows import shuffled
from peerlab.features.measure.memories import MEMORIES
from peerlab.features.measure.ranks import room
from peerlab.features.measure.ranks.manifest import describe_machine
from peerlab.features.measure.ranks.starting import answer_on_a_gpu, apart
from peerlab.features.measure.schedule import several, whole_number
from peerlab.machine import linux
from peerlab.records.copy_times import HOSTS, TOOL, WAYS, CopyCost, CopyTime, RegisterTime

DEFAULT_COPY_SIZES = (4, "1 KiB", "4 KiB", "64 KiB", "256 KiB", "1 MiB", "8 MiB", "64 MiB")
_MOST_BYTES = 1024 * MIB
_MOST_REPETITIONS = 1000
_EACH = 8
"""Copies of one size below 1 MiB that are timed together and averaged: timing each would add a reading of the clock to it."""
_HOST_BUFFERS = 4
"""Of the largest size, in host memory: pinned and pageable, one for either direction."""
_HOST_MEMORY, _DEVICE_MEMORY = "host memory, cuMemHostRegister", "device memory, exported as DMA-BUF"


def copy_cost(
    sizes: int | str | Iterable[int | str] = DEFAULT_COPY_SIZES, repetitions: int = 15, gpu: int = 0
) -> CopyCost:
    """Copy between a GPU's memory and the host's, and register regions of both, in a process of its own; return what that takes.

    Parameters
    ----------
    sizes:
        Bytes of each copy, or text such as ``"1 MiB"``; 1 B to 1 GiB. Regions are whole pages, of these sizes.
    repetitions:
        Of everything, after one that does not count; 3 to 1000. Copies have an order of its own in each.
    gpu:
        Which GPU, as CUDA counts those that this process may use.

    Raises
    ------
    MissingPackage
        If ``pip install 'peerlab[cuda]'`` is lacking.
    MeasurementError
        If a value is impossible, or there is no GPU, no room on it, or too little host memory; one line.
    """
    wanted = sorted({_size(size) for size in several("sizes", sizes)})
    repetitions = whole_number("repetitions", repetitions, 3, _MOST_REPETITIONS)
    gpus = gpus_here()
    gpu = whole_number("gpu", gpu, 0, len(gpus) - 1)
    here = gpus[gpu]
    if 2 * max(wanted) > here.free_bytes:
        raise MeasurementError(
            f"sizes: {say_bytes(max(wanted))}, both ways, does not fit into the {say_bytes(here.free_bytes)} that are free on the GPU"
        )
    room.check_bytes(
        _HOST_BUFFERS * max(wanted) + MEMORIES["cuda"].process_bytes,
        f"{say_bytes(max(wanted))}, pinned and pageable,",
        "choose smaller sizes",
    )
    answer = apart(__name__, "copying", json.dumps([wanted, repetitions, gpu, here.dma_buf]))
    notes = [] if here.dma_buf else [f"the driver exports no DMA-BUF of {here.name}"]
    return CopyCost(
        copies=[CopyTime(**fields) for fields in answer["copies"]],
        registrations=[RegisterTime(**fields) for fields in answer["registrations"]],
        idle_us=answer["idle_us"],
        manifest=_manifest(here, repetitions),
        notes=notes,
    )


def _manifest(here: GpuHere, repetitions: int) -> dict[str, Any]:
    machine = describe_machine()
    kept = ("version", "python", "kernel", "processors", "locked_memory_limit", "load_before")
    return {
        "tool": TOOL,
        "devices": [here.name],
        "accelerators": [str(here)],
        "processor": machine["devices"][0],
        "date": date.today().isoformat(),  # noqa: DTZ011  (the user's day)
        "repetitions": repetitions,
        **{name: machine[name] for name in kept},
    }


def _size(value: int | str) -> int:
    try:
        nbytes = parse_bytes(value)
    except ValueError as problem:
        raise MeasurementError(f"sizes: {problem}") from None
    if not 0 < nbytes <= _MOST_BYTES:
        raise MeasurementError(f"sizes: {value!r} is not from 1 B to {say_bytes(_MOST_BYTES)}")
    return nbytes


@dataclass(frozen=True)
class _Case:
    """One kind of copy at one size."""

    way: str
    host: str
    size_bytes: int


class _Copier:
    """Both kinds of host memory beside device memory, one of each for either direction."""

    def __init__(self, gpu: Gpu, largest: int) -> None:
        self._gpu = gpu
        self._other = gpu.new_stream()
        self._devices = gpu.allocate(largest), gpu.allocate(largest)
        grounds = [mmap.mmap(-1, largest) for _ in range(2)]
        for ground in grounds:
            linux.touch(ground)
        self._grounds = grounds
        pinned = [gpu.pinned(largest) for _ in range(2)]
        self._hosts = {
            "pinned": [int(buffer.ctypes.data) for buffer in pinned],
            "pageable": [linux.address_of(ground) for ground in grounds],
        }

    def seconds(self, case: _Case) -> float:
        """Return what starting and awaiting took, seconds: the mean of some, where one is short."""
        count = _EACH if case.size_bytes < MIB else 1
        began = time.perf_counter()
        for _ in range(count):
            self._copy(case)
        return (time.perf_counter() - began) / count

    def idle_us(self) -> float:
        """Return what awaiting nothing takes."""
        taken = []
        for _ in range(200):
            began = time.perf_counter()
            self._gpu.wait()
            taken.append(time.perf_counter() - began)
        return 1e6 * statistics.median(taken)

    def _copy(self, case: _Case) -> None:
        gpu, (out, into), (mine, other) = self._gpu, self._hosts[case.host], self._devices
        if case.way == "to host":
            gpu.copy_out(out, mine, case.size_bytes)
        elif case.way == "to device":
            gpu.copy_in(mine, into, case.size_bytes)
        else:
            gpu.copy_out(out, mine, case.size_bytes)
            gpu.copy_in(other, into, case.size_bytes, self._other)
            gpu.wait(self._other)
        gpu.wait()


def _copies(gpu: Gpu, sizes: Sequence[int], repetitions: int) -> tuple[list[dict[str, Any]], float]:
    copier = _Copier(gpu, max(sizes))
    cases = [_Case(way, host, size) for way, host, size in product(WAYS, HOSTS, sizes)]
    taken: dict[_Case, list[tuple[float, float]]] = {case: [] for case in cases}
    for repetition in range(-1, repetitions):
        for place in shuffled(range(len(cases)), repetition):
            # Twice in a row: the ratio of the two is the noise that no difference may be smaller than.
            pair = copier.seconds(cases[place]), copier.seconds(cases[place])
            if repetition >= 0:  # the first one warms up
                taken[cases[place]].append(pair)
    return [vars(case) | _spread(pairs) for case, pairs in taken.items()], copier.idle_us()


def _spread(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    low, middle, high = _quartiles([1e6 * first for first, _ in pairs])
    again_low, again, again_high = _quartiles([second / first for first, second in pairs])
    return {
        "time_us": middle,
        "low_us": low,
        "high_us": high,
        "again": again,
        "again_low": again_low,
        "again_high": again_high,
    }


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _registrations(
    gpu: Gpu, sizes: Sequence[int], repetitions: int, *, dma_buf: bool
) -> list[dict[str, Any]]:
    # Whole pages: nothing else can be registered.
    regions = sorted({max(PAGE, size // PAGE * PAGE) for size in sizes})
    rows = []
    for size in regions:
        with mmap.mmap(-1, size) as ground:
            linux.touch(ground)
            address = linux.address_of(ground)
            undo = partial(_unregister, gpu, address)
            rows.append(
                _registered(_HOST_MEMORY, size, repetitions, partial(gpu.register, address, size), undo)
            )
    if dma_buf:
        base = gpu.allocate(max(regions))
        for size in regions:
            export = partial(gpu.dma_buf, base, size)
            rows.append(_registered(_DEVICE_MEMORY, size, repetitions, export, os.close))
    return rows


def _unregister(gpu: Gpu, address: int, _: None) -> None:
    gpu.unregister(address)


def _registered(
    what: str, size: int, repetitions: int, register: Callable[[], Any], deregister: Callable[[Any], None]
) -> dict[str, Any]:
    """Return the row of a kind of region and a size; the first time does not count."""
    taken: list[tuple[float, float]] = []
    for _ in range(repetitions + 1):
        began = time.perf_counter()
        handle = register()
        there = time.perf_counter()
        deregister(handle)
        taken.append((1e6 * (there - began), 1e6 * (time.perf_counter() - there)))
    low, middle, high = _quartiles([register_us for register_us, _ in taken[1:]])
    return {
        "what": what,
        "size_bytes": size,
        "register_us": middle,
        "low_us": low,
        "high_us": high,
        "deregister_us": statistics.median(deregister_us for _, deregister_us in taken[1:]),
    }


def _measured(sizes: Sequence[int], repetitions: int, index: int, dma_buf: bool) -> dict[str, Any]:
    gpu = Gpu(index)
    copies, idle_us = _copies(gpu, sizes, repetitions)
    rows = _registrations(gpu, sizes, repetitions, dma_buf=dma_buf)
    return {"copies": copies, "registrations": rows, "idle_us": idle_us}


if __name__ == "__main__":
    answer_on_a_gpu(lambda: _measured(*json.loads(sys.argv[1])))
