"""The kernel's calls that Python lacks, through ctypes. Every failure is an OSError with the kernel's errno."""

import ctypes
import errno
import mmap
import os
import signal
import struct
from typing import Any

# ctypes keeps errno apart for each thread, so that no call of Python's in between changes it
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

# The kernel's numbers; that of PR_SET_PTRACER spells "Yama".
_SET_PDEATHSIG, _SET_PTRACER, _ANYBODY = 1, 0x59616D61, ctypes.c_ulong(-1)
_IO_URING_SETUP, _IO_URING_REGISTER = 425, 427  # the same on every architecture
_REGISTER_BUFFERS2, _REGISTER_BUFFERS_UPDATE, _SPARSE = 15, 16, 1
_CAPABILITY_VERSION_3 = 0x20080522


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def _called(name: str, *arguments: Any, says: str = "") -> int:
    """Call libc; raise what it fails with, and what it `says` was called, if not `name`."""
    try:
        function = getattr(_LIBC, name)
    except AttributeError:
        raise OSError(errno.ENOSYS, f"{says or name}: {os.strerror(errno.ENOSYS)}") from None
    done = function(*arguments)
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{says or name}: {os.strerror(number)}")
    return int(done)


def address_of(ground: mmap.mmap) -> int:
    """Return where a writable mapping begins."""
    return ctypes.addressof(ctypes.c_char.from_buffer(ground))


def touch(ground: mmap.mmap, begin: int = 0, end: int | None = None) -> None:
    """Write to each page from `begin` to `end` of a mapping, so that all of them are there."""
    for at in range(begin, len(ground) if end is None else end, mmap.PAGESIZE):
        ground[at] = 1


def lock(start: int, nbytes: int) -> None:
    """Keep whole pages in memory (mlock)."""
    _called("mlock", ctypes.c_void_p(start), ctypes.c_size_t(nbytes))


def unlock(start: int, nbytes: int) -> None:
    """Undo :func:`lock`."""
    _called("munlock", ctypes.c_void_p(start), ctypes.c_size_t(nbytes))


def die_with_parent() -> None:
    """Have the kernel kill this process as soon as the thread that started it ends."""
    _called("prctl", _SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def let_others_write() -> None:
    """Allow processes of the same user to write into this one's memory where Yama would forbid it; else no change."""
    _LIBC.prctl(_SET_PTRACER, _ANYBODY, 0, 0, 0)


def write_into(pid: int, there: int, here: int, nbytes: int) -> int:
    """Copy from this process into another one (process_vm_writev); return the bytes copied."""
    local, remote = _Vector(here, nbytes), _Vector(there, nbytes)
    c_ulong, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    return _called(
        "process_vm_writev",
        ctypes.c_int(pid),
        ctypes.byref(local),
        c_ulong,
        ctypes.byref(remote),
        c_ulong,
        none,
    )


def drop_capabilities() -> None:
    """Give up root's privileges, such as to exceed the locked-memory limit; the user id stays."""
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _called("capset", header, struct.pack("6I", *[0] * 6))


class PinTable:
    """An io_uring's table of fixed buffers: filling a slot pins pages for good, as a NIC's registration does."""

    def __init__(self, slots: int) -> None:
        setup = ctypes.create_string_buffer(120)  # struct io_uring_params, which the kernel fills
        call = ctypes.c_long(_IO_URING_SETUP)
        # a ring of two entries, which are never used: its table of buffers is all that is wanted
        self._ring = _called("syscall", call, ctypes.c_uint(2), setup, says="io_uring_setup")
        table = struct.pack("=IIQQQ", slots, _SPARSE, 0, 0, 0)  # struct io_uring_rsrc_register
        try:
            self._register(_REGISTER_BUFFERS2, table, len(table))
        except OSError:
            self.close()
            raise

    def put(self, slot: int, start: int, nbytes: int) -> None:
        """Pin a range in a slot; an empty range unpins what is there."""
        # the kernel takes a null pointer for "nothing here any more"
        vector = _Vector(start or None, nbytes)
        update = struct.pack("=IIQQII", slot, 0, ctypes.addressof(vector), 0, 1, 0)  # io_uring_rsrc_update2
        self._register(_REGISTER_BUFFERS_UPDATE, update, len(update))

    def close(self) -> None:
        """Unpin everything."""
        os.close(self._ring)

    def _register(self, operation: int, argument: bytes, length: int) -> None:
        _called(
            "syscall",
            ctypes.c_long(_IO_URING_REGISTER),
            ctypes.c_uint(self._ring),
            ctypes.c_uint(operation),
            argument,
            ctypes.c_uint(length),
            says="io_uring_register",
        )
