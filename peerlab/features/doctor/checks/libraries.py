"""Whether libfabric, where it is needed, offers the RDMA that is here."""

from collections.abc import Mapping
from typing import Any

from peerlab.features.doctor.check import ALL_RDMA, FAIL, PASS, UNKNOWN, WARN, Check, Seen, listed
from peerlab.features.doctor.host import Host
from peerlab.machine.rdma import CXI, EFA

Version = tuple[int, int]

_LEAST: dict[str, Version] = {"efa": (1, 16), "verbs": (1, 20), "cxi": (1, 0)}
"""Oldest libfabric that does peer direct, by provider; what is needed of cxi is not known: any."""
HARDWARE = frozenset({"efa", "verbs", "cxi", "opx", "psm2", "psm3"})
"""Providers that use an RDMA device; the others (tcp, udp, shm, sockets, ...) are software."""


def needed_providers(host: Host) -> set[str]:
    """Return the providers that this host's libraries need; none where NCCL and UCX speak to the card themselves."""
    drivers = {port.driver for port in host.ports}
    needed = {driver for driver in (EFA, CXI) if driver in drivers}
    # HCCL reaches every NIC through libfabric; one that has no provider of its own through verbs.
    if host.gaudi and drivers - {EFA, CXI}:
        needed.add("verbs")
    return needed


def libfabric_version(host: Host) -> Version | None:
    """Return its version; None where there is none, or it cannot be asked."""
    entries = host.libfabric or {}
    version = entries.get("version")
    if not entries.get("path") or not isinstance(version, list) or len(version) != 2:
        # What another process printed: a damaged version counts as none.
        return None
    return (version[0], version[1]) if all(isinstance(part, int) for part in version) else None


def _providers(answer: Mapping[str, Any]) -> list[str]:
    names = answer.get("providers")
    return [str(name) for name in names] if isinstance(names, list) else []


def _libfabric(host: Host) -> Seen:
    needed, version = needed_providers(host), libfabric_version(host)
    if host.libfabric is None:
        silent = "libfabric did not answer within 10 s, or crashed"
        # Where no library needs libfabric, its silence leaves nothing open.
        return Seen(UNKNOWN, silent, blocks=None if needed else ())
    missing = FAIL if needed else WARN
    if version is None:
        return Seen(missing, "no libfabric" + ("" if needed else "; NCCL and UCX do without"))
    offered = _providers(host.libfabric)
    text = f"libfabric {version[0]}.{version[1]} offers {listed(offered, 8) or 'nothing'}"
    lacks = sorted(needed - set(offered))
    if lacks:
        return Seen(FAIL, f"{text}, not {listed(lacks)}")
    # Of the version only major and minor can be asked: 1.16.0 passes for 1.16.1.
    old = [name for name in sorted(needed) if version < _LEAST[name]]
    if old:
        return Seen(FAIL, f"{text}; {old[0]} needs {_LEAST[old[0]][0]}.{_LEAST[old[0]][1]}")
    # Providers in software alone are worth no more than none.
    return Seen(PASS if HARDWARE & set(offered) else missing, text)


CHECKS = (
    Check(
        id="libfabric",
        title="libfabric and its providers",
        where="fi_version() and fi_getinfo() of the libfabric that is found, in a process of its own",
        rule="EFA: 1.16.1 or later with provider efa; Gaudi over other NICs: 1.20 or later with verbs; Slingshot: cxi. "
        "Only major.minor can be read",
        why="HCCL, NCCL on EFA or Slingshot and MPICH reach the NIC through a provider; with only tcp and shm they stage through "
        "the host. NCCL and UCX on InfiniBand and RoCE do without libfabric.",
        mend="Install the libfabric of the NIC's vendor (EFA installer, HCCL's, Cray's), and let LD_LIBRARY_PATH or "
        "LIBFABRIC_ROOT lead to it; fi_info -l lists what it offers.",
        source="docs.habana.ai Scale_Out_via_Host_NIC; HabanaAI/HCL 54fed3a: FI_VERSION(1,20)",
        look=_libfabric,
        blocks=ALL_RDMA,
    ),
)
