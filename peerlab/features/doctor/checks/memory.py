"""Whether a NIC may read and write device memory: kernel, driver, DMA-BUF, locked memory."""

import re
import zlib

from peerlab.base.units import say_bytes
from peerlab.features.doctor.check import (
    ALL_RDMA,
    DEVICE_MEMORY,
    FAIL,
    PASS,
    UNKNOWN,
    WARN,
    Check,
    Seen,
    listed,
)
from peerlab.features.doctor.host import Host
from peerlab.machine import NVIDIA, VENDORS
from peerlab.machine.files import entries, leading_bytes

# HabanaAI/HCL 54fed3a: REQUIRED_KERNEL 5.12, the first in which a NIC imports a DMA-BUF.
_FIRST_WITH_DMA_BUF = (5, 12)
_LEGACY = ("nvidia_peermem", "nv_peer_mem")
_MODULES = {"Gaudi": ("habanalabs",), "AMD GPU": ("amdgpu",), "Intel GPU": ("xe", "i915")}
# An assumption, as the rule of the check says.
_ENOUGH_BYTES = 1 << 30
# linux/capability.h.
_CAP_IPC_LOCK = 14
# A kernel's configuration has some hundred KiB: what unpacks to more is cut.
_CONFIG_BYTES = 4 << 20
# It becomes part of a path, so it may hold no slash.
_RELEASE = re.compile(r"[0-9A-Za-z._+~-]{1,128}")


def legacy_modules(host: Host) -> list[str]:
    """Return the loaded modules that hand GPU memory to NICs without DMA-BUF."""
    # NVIDIA's OFED lists here who lends it memory by its own interface, older than DMA-BUF.
    clients = [client.name for client in entries(host.root / "sys/kernel/mm/memory_peers")]
    return [name for name in _LEGACY if host.has_module(name)] + clients


def _blocking(host: Host) -> str:
    """Return what a missing DMA-BUF route is: a fail, unless a legacy module opens the way."""
    return WARN if legacy_modules(host) else FAIL


def _kernel(host: Host) -> Seen:
    release = host.says("proc/sys/kernel/osrelease") or ""
    match = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", release)
    if not match:
        return Seen(UNKNOWN, "the kernel's version cannot be read")
    if (int(match[1]), int(match[2])) >= _FIRST_WITH_DMA_BUF:
        return Seen(PASS, f"Linux {release}")
    return Seen(_blocking(host), f"Linux {release} is older than 5.12")


def _build_options(host: Host) -> str | None:
    """Return what the running kernel was built with; None where no file says it."""
    release = host.says("proc/sys/kernel/osrelease") or ""
    files = (f"boot/config-{release}", f"lib/modules/{release}/config") if _RELEASE.fullmatch(release) else ()
    return _packed_options(host) or next(filter(None, map(host.says, files)), None)


def _packed_options(host: Host) -> str:
    packed = leading_bytes(host.root / "proc/config.gz", _CONFIG_BYTES)
    try:
        # 16 says gzip. The limit is that of what comes out: a small file may unpack to anything.
        plain = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, _CONFIG_BYTES)
    except zlib.error:
        return ""
    return plain.decode(errors="replace")


def _dma_buf(host: Host) -> Seen:
    options = _build_options(host)
    symbol = "ib_umem_dmabuf_get" in (host.says("proc/kallsyms") or "")
    if options is None:
        if symbol:
            return Seen(PASS, "the kernel has ib_umem_dmabuf_get")
        return Seen(
            UNKNOWN, "the kernel's build options cannot be read, and ib_umem_dmabuf_get is not loaded"
        )
    lacks = [name for name in _needed_options(host) if not _built(options, name)]
    if symbol and "INFINIBAND_USER_MEM" in lacks:  # the NIC vendor's own modules replace the kernel's
        lacks.remove("INFINIBAND_USER_MEM")
    if not lacks:
        return Seen(PASS, "the kernel is built with " + listed(_needed_options(host)))
    return Seen(_blocking(host), "the kernel is built without " + listed(lacks))


def _needed_options(host: Host) -> tuple[str, ...]:
    """Return the build options that this host's accelerators need; NVIDIA's driver finds the way between cards itself."""
    only_nvidia = {device.vendor for device in host.machine.accelerators} == {NVIDIA}
    return ("INFINIBAND_USER_MEM",) if only_nvidia else ("INFINIBAND_USER_MEM", "PCI_P2PDMA")


def _built(options: str, name: str) -> bool:
    # Whole lines: CONFIG_PCI_P2PDMA=y must not be found in the name of another option.
    return not {f"CONFIG_{name}=y", f"CONFIG_{name}=m"}.isdisjoint(options.splitlines())


def _driver(host: Host) -> Seen:
    vendors = {device.vendor for device in host.machine.accelerators}
    if not vendors:
        return Seen(UNKNOWN, "no accelerator to ask for its driver")
    seens = [_nvidia(host) if vendor == NVIDIA else _other(host, vendor) for vendor in sorted(vendors)]
    # One vendor that is shut out decides, however well the others are.
    worst = next((status for status in (FAIL, UNKNOWN) if any(seen.status == status for seen in seens)), PASS)
    return Seen(worst, "; ".join(seen.found for seen in seens if seen.status == worst))


def _nvidia(host: Host) -> Seen:
    legacy = legacy_modules(host)
    if legacy:
        return Seen(PASS, f"{listed(legacy)} is loaded")
    version = host.says("proc/driver/nvidia/version")
    if not version:
        return Seen(UNKNOWN, "NVIDIA's driver does not say its version, and no nvidia_peermem is loaded")
    line = re.sub(r"^NVRM version:\s*", "", version.splitlines()[0])
    if "Open Kernel Module" in line:
        return Seen(PASS, line)
    why = "no nvidia_peermem, and not the open kernel module"
    return Seen(FAIL, f"{why}: {line}", cause=why)


def _other(host: Host, vendor: int) -> Seen:
    name = VENDORS.get(vendor)
    modules = _MODULES.get(name or "", ())
    if name is None:
        return Seen(UNKNOWN, f"vendor {vendor:#06x}: not known to peerlab")
    loaded = [module for module in modules if host.has_module(module)]
    if loaded:
        return Seen(PASS, f"{listed(loaded)} is loaded")
    return Seen(FAIL, f"{' or '.join(modules)} is not loaded")


def _locked_memory(host: Host) -> Seen:
    limit = host.locked_memory_bytes
    if limit is None:
        return Seen(PASS, "unlimited")
    if limit >= _ENOUGH_BYTES:
        return Seen(PASS, f"at most {say_bytes(limit)}")
    if _may_lock_all(host):
        return Seen(PASS, f"at most {say_bytes(limit)}, but this user has CAP_IPC_LOCK, which lifts it")
    return Seen(FAIL, f"at most {say_bytes(limit)} may be locked")


def _may_lock_all(host: Host) -> bool:
    """Return whether the limit does not hold: CAP_IPC_LOCK, and not only in a user namespace of its own."""
    capabilities = re.search(
        r"^CapEff:\s*([0-9a-f]{1,16})$", host.says("proc/self/status") or "", re.MULTILINE
    )
    # All numbers onto themselves: the first namespace. Root of any other lifts no limit.
    first_namespace = (host.says("proc/self/uid_map") or "").split() == ["0", "0", "4294967295"]
    return (
        first_namespace and capabilities is not None and bool(int(capabilities[1], 16) >> _CAP_IPC_LOCK & 1)
    )


CHECKS = (
    Check(
        id="kernel",
        title="Kernel",
        where="/proc/sys/kernel/osrelease",
        rule="Linux 5.12 or later; older ones only with nvidia_peermem",
        why="From 5.12 on a NIC can register memory that another driver exports as a DMA-BUF: the way that every vendor uses now.",
        mend="Boot a kernel of 5.12 or later; with NVIDIA GPUs, loading nvidia_peermem (and NVIDIA's OFED) also does.",
        source="docs.habana.ai Scale_Out_via_Host_NIC; HabanaAI/HCL 54fed3a: REQUIRED_KERNEL 5.12; ibv_reg_dmabuf_mr(3)",
        look=_kernel,
        blocks=DEVICE_MEMORY,
    ),
    Check(
        id="dma-buf",
        title="DMA-BUF in the kernel",
        where="/proc/config.gz or /boot/config-*, /proc/kallsyms",
        rule="built with INFINIBAND_USER_MEM (or ib_umem_dmabuf_get is there), and with PCI_P2PDMA except for NVIDIA",
        why="Without these the kernel offers no DMA-BUF import to NICs, or no address by which one PCIe device reaches another.",
        mend="Take a kernel that is built with CONFIG_INFINIBAND_USER_MEM and CONFIG_PCI_P2PDMA, or load nvidia_peermem.",
        source="HabanaAI/HCL 54fed3a looks for ib_umem_dmabuf_get; Linux amdgpu_dma_buf.c and habanalabs/common/memory.c ask "
        "pci_p2pdma_distance; NVIDIA/open-gpu-kernel-modules nv-dmabuf.c does not",
        look=_dma_buf,
        blocks=DEVICE_MEMORY,
    ),
    Check(
        id="peer-memory",
        title="The accelerator's driver lets a NIC in",
        where="/sys/module/*, /sys/kernel/mm/memory_peers, /proc/driver/nvidia/version",
        rule="NVIDIA: nvidia_peermem is loaded, or the driver is the open kernel module (DMA-BUF); others: their driver is loaded",
        why="Kernel and NIC are not enough: the accelerator's driver must hand out addresses of its memory, or libraries stage "
        "through the host without a word.",
        mend="NVIDIA: install the open kernel module (Turing and later), or modprobe nvidia_peermem. Others: load habanalabs, "
        "amdgpu or xe.",
        source="docs.nvidia.com GPU Operator, GPUDirect RDMA: DMA-BUF recommended, needs the open kernel module; "
        "no difference in speed: NVIDIA/nccl issue 908",
        look=_driver,
        blocks=DEVICE_MEMORY,
    ),
    Check(
        id="locked-memory",
        title="Locked memory",
        where="getrlimit(RLIMIT_MEMLOCK), which ulimit -l shows; /proc/self/status",
        rule="unlimited, at least 1 GiB (assumed to be enough), or the user has CAP_IPC_LOCK",
        why="Registered memory stays in place, so it counts as locked: queues and buffers beyond the limit cannot be registered.",
        mend="ulimit -l unlimited: memlock in /etc/security/limits.conf, LimitMEMLOCK=infinity in a service, "
        "docker run --ulimit memlock=-1.",
        source="ibv_reg_mr(3); openucx/ucx src/uct/ib: uct_ib_memlock_limit_msg; 1 GiB is an assumption",
        look=_locked_memory,
        blocks=ALL_RDMA,
    ),
)
