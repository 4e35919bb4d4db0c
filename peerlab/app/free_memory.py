"""Memory that is free goes back to the system, where the C library would keep it: a kernel lives for hours beside others."""

import ctypes
from contextlib import suppress


def give_free_memory_back() -> None:
    """Do so; takes some milliseconds, and nothing where the C library is not glibc.

    What a large run leaves is free in pieces between what is still held; glibc keeps these, as much as the run itself.
    """
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
