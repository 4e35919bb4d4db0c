"""Locks of open files, of which the kernel lets go when a process ends, however it ends."""

import sys
import time

if sys.platform != "win32":
    import fcntl

_LOOK_S = 0.01


def lock(file: int, *, patience_s: float = 0.0) -> None:
    """Lock an open file until it is closed; where there are no locks (some network file systems, Windows), do nothing.

    Parameters
    ----------
    file:
        Its descriptor.
    patience_s:
        How long to wait for whoever has it, in seconds.

    Raises
    ------
    BlockingIOError
        If another has it and keeps it for so long.
    """
    if sys.platform == "win32":
        return
    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(_LOOK_S)
        except OSError:  # a file system without locks
            return
        else:
            return
