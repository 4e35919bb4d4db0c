"""What can be measured for real on this host, with or without RDMA. Each is tried, for nothing says it beforehand."""

from collections.abc import Callable

from peerlab.features.doctor.check import PASS, WARN, Check, Seen
from peerlab.features.doctor.host import Host

GROUP = "real measurement"
"""Checks of this group say nothing about peer direct."""


def _tried(extra: str, works: str) -> Callable[[Host], Seen]:
    """Return a look at what comes of an attempt."""

    def look(host: Host) -> Seen:
        refused = host.why_not(extra)
        return Seen(WARN, refused) if refused else Seen(PASS, works)

    return look


CHECKS = (
    Check(
        id="pin-io-uring",
        title="Pinning pages as a NIC's driver does",
        where="io_uring_register(IORING_REGISTER_BUFFERS2), tried",
        rule="the kernel pins a page",
        why="It is the kernel's own pinning, so it measures what a registration costs, without an RDMA card.",
        mend="Container profiles often forbid io_uring (docker run --security-opt seccomp=unconfined); mlock is the emulation.",
        source="io_uring_register(2)",
        look=_tried("io_uring", "a page was pinned"),
        group=GROUP,
    ),
    Check(
        id="pin-mlock",
        title="Locking pages",
        where="mlock(), tried",
        rule="the kernel locks a page",
        why="An emulation of registration: the pages stay, though they may still move.",
        mend="Raise ulimit -l.",
        source="mlock(2)",
        look=_tried("mlock", "a page was locked"),
        group=GROUP,
    ),
    Check(
        id="put-process",
        title="One-sided copy into another process",
        where="process_vm_writev(), tried",
        rule="the kernel lets a process write by this call",
        why="A put without the receiver's help, as RDMA does, with one copy.",
        mend="Container profiles may forbid it (docker run --cap-add=SYS_PTRACE).",
        source="process_vm_writev(2)",
        look=_tried("cma", "a page was written"),
        group=GROUP,
    ),
    Check(
        id="shared-memory",
        title="Memory shared between processes",
        where="memfd_create(), tried",
        rule="the kernel makes a memory file",
        why="It stands for device memory in a real AllReduce on this machine.",
        mend="Any Linux from 3.17 on has it; a container profile must forbid it explicitly.",
        source="memfd_create(2)",
        look=_tried("memfd", "a memory file was made"),
        group=GROUP,
    ),
)
