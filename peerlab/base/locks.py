"""Locks of open files, of which the kernel lets go when a process ends, however it ends."""

import os
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_LOOK_S = 0.01


def lock(file: int) -> None:
    """Lock an open file until it is closed; where there are no locks (some network file systems, Windows), do nothing.

    Parameters
    ----------
    file:
        Its descriptor.

    Raises
    ------
    BlockingIOError
        If another process has it.
    """
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    # before OSError, of which it is one kind: somebody has the lock, so locks do work here
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        return


def has_no_holder(file: int) -> bool:
    """Return whether no process holds the lock of an open file, and lock it; False where there are no locks, so that nobody knows."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def wait_for_lock(file: int) -> None:
    """Lock an open file that is there only to be locked; wait for another process for as long as it runs.

    Whoever has the lock writes its process id into the file. One that ends loses the lock. One that is suspended
    (Ctrl+Z, SIGSTOP) might keep it for ever.

    Raises
    ------
    BlockingIOError
        If the process that has it is suspended.
    """
    while True:
        try:
            lock(file)
        except BlockingIOError:
            if _is_suspended(os.pread(file, 20, 0).decode("ascii", "replace").strip()):
                raise
            time.sleep(_LOOK_S)
        else:
            os.pwrite(file, f"{os.getpid():<20}".encode(), 0)  # over the whole of another's id
            return


def _is_suspended(process: str) -> bool:
    """Return whether a process is stopped by a signal; where there is no /proc, nobody knows."""
    try:
        stat = Path(f"/proc/{int(process)}/stat").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return False
    return stat.rpartition(")")[2].split()[:1] in (
        ["T"],
        ["t"],
    )  # behind the program's name, which may hold anything
