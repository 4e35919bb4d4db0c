"""What can be measured for real on this host, with or without RDMA. Each is tried, for nothing says it beforehand."""

from collections.abc import Callable

from peerlab.doctor.check import PASS, UNKNOWN, WARN, Check, Seen
from peerlab.doctor.host import Host

GROUP = "real measurement"
"""Checks of this group say nothing about peer direct."""

_WHERE = "tried in a process of its own"


def _tried(name: str, works: str) -> Callable[[Host], Seen]:
    """Return a look at what came of an attempt of ``ask_kernel.py``."""

    def look(host: Host) -> Seen:
        said = (host.measuring or {}).get(name)
        if not isinstance(said, str):
            return Seen(UNKNOWN, "it could not be tried")
        return Seen(WARN, f"refused: {said}") if said else Seen(PASS, works)

    return look


CHECKS = (
    Check(
        id="pin-io-uring",
        title="Pinning pages as a NIC's driver does",
        where=f"io_uring_register(IORING_REGISTER_BUFFERS), {_WHERE}",
        rule="the kernel pins a buffer of 16 pages",
        why="It is the kernel's own pinning, so it measures what a registration costs, without an RDMA card.",
        mend="Container profiles often forbid io_uring (docker run --security-opt seccomp=unconfined); mlock is the emulation.",
        source="io_uring_register(2)",
        look=_tried("io_uring", "a buffer was pinned"),
        group=GROUP,
    ),
    Check(
        id="pin-mlock",
        title="Locking pages",
        where=f"mlock(), {_WHERE}",
        rule="the kernel locks 16 pages",
        why="An emulation of registration: the pages stay, though they may still move.",
        mend="Raise ulimit -l.",
        source="mlock(2)",
        look=_tried("mlock", "16 pages were locked"),
        group=GROUP,
    ),
    Check(
        id="put-process",
        title="One-sided copy into another process",
        where=f"process_vm_writev(), {_WHERE}",
        rule="a process may write into its child's memory",
        why="A put without the receiver's help, as RDMA does, with one copy.",
        mend="Allow ptrace of children (kernel.yama.ptrace_scope up to 1; docker run --cap-add=SYS_PTRACE).",
        source="process_vm_writev(2)",
        look=_tried("put", "8 B were written"),
        group=GROUP,
    ),
    Check(
        id="shared-memory",
        title="Memory shared between processes",
        where=f"memfd_create(), {_WHERE}",
        rule="the kernel makes a memory file",
        why="It stands for device memory in a real AllReduce on this machine.",
        mend="Any Linux from 3.17 on has it; a container profile must forbid it explicitly.",
        source="memfd_create(2)",
        look=_tried("memfd", "a memory file was made"),
        group=GROUP,
    ),
)
