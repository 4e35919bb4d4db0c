"""What a measurement leaves behind, seen in /proc."""

import re
import time
from contextlib import suppress
from pathlib import Path

WORKER = "peerlab.features.measure.ranks.worker"


def processes(session):
    """Return process id to command of every live process of a session; zombies have no command."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().decode().replace("\0", " ").strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(said[3]) == session and command:
            found[int(folder.name)] = command
    return found


def ranks(session):
    """Return the process ids of the ranks of a measurement, in order."""
    return sorted(pid for pid, command in processes(session).items() if WORKER in command)


PATIENCE_S = 60
"""So long something may take that takes less than two seconds on a quiet machine: what hangs does so for good."""


def wait_until(done, seconds=PATIENCE_S):
    """Wait until `done()`; return whether it came true in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def own_files():
    """Return what this process has open, sockets and shared memory included, but for the folder that says so."""
    return open_files("self")


def open_files(pid):
    """Return what a process has open, as far as it lives."""
    names = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for one in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed since, as the folder that was just read
                names.append(str(one.readlink()))
    return sorted(names)


def shared_files():
    """Return the names in /dev/shm, but for those of MPI and of the UCX below it, whose tests run beside."""
    names = (file.name for file in Path("/dev/shm").iterdir())  # noqa: S108  (it is looked at, no more)
    return sorted(name for name in names if not name.startswith(("mpich_shm_", "ucx_shm_")))


def socket_ids(session):
    """Return the ids of the sockets that the processes of a session hold."""
    names = [name for pid in processes(session) for name in open_files(pid)]
    return {found[1] for name in names if (found := re.fullmatch(r"socket:\[(\d+)\]", name))}


def loopback():
    """Return the TCP sockets of this machine on loopback that are open, by the id of what holds them."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows = [line.split() for line in lines if line.split()[1].startswith("0100007F")]
    return {row[9] for row in rows if row[3] in ("01", "0A")}  # established, listening
