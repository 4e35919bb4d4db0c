"""What this machine allows beyond the usual: tried, never assumed. An attempt takes a page or two and gives them back."""

import errno
import mmap
import os
from collections.abc import Callable, Mapping

from peerlab.machine import linux


def _write_across() -> None:
    with mmap.mmap(-1, mmap.PAGESIZE) as ground:
        start = linux.address_of(ground)
        linux.write_into(os.getpid(), start, start, mmap.PAGESIZE)


def _pin() -> None:
    table = linux.PinTable(1)
    with mmap.mmap(-1, mmap.PAGESIZE) as ground:
        try:
            table.put(0, linux.address_of(ground), mmap.PAGESIZE)
        finally:
            table.close()


def _lock() -> None:
    with mmap.mmap(-1, mmap.PAGESIZE) as ground:
        linux.lock(linux.address_of(ground), mmap.PAGESIZE)


def _share() -> None:
    os.close(os.memfd_create("peerlab"))


_TRIALS: Mapping[str, Callable[[], None]] = {
    "cma": _write_across,
    "io_uring": _pin,
    "mlock": _lock,
    "memfd": _share,
}


def why_not(extra: str) -> str:
    """Return why ``cma``, ``io_uring``, ``mlock`` or ``memfd`` does not work here, in the kernel's words; empty if it does."""
    try:
        _TRIALS[extra]()
    except OSError as problem:
        return f"{errno.errorcode.get(problem.errno or 0, '?')} ({problem.strerror})"
    return ""
