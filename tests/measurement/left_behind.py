"""What a measurement leaves behind, seen in /proc."""

import os
import time
from pathlib import Path

WORKER = "peerlab.measurement.worker"


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


def wait_until(done, seconds=20):
    """Wait until `done()`; return whether it came true in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def own_files():
    """Return what this process has open, sockets and shared memory included."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except FileNotFoundError:
            continue  # the folder itself, as it was read
    return sorted(found)


def shared_files():
    """Return the names in /dev/shm."""
    return sorted(os.listdir("/dev/shm"))


def loopback():
    """Return the TCP sockets of this machine on loopback that are open, by the id of what holds them."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows = [line.split() for line in lines if line.split()[1].startswith("0100007F")]
    return {row[9] for row in rows if row[3] in ("01", "0A")}  # established, listening
