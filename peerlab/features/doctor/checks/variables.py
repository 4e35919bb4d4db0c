"""Environment variables that change the data path. Every rule says who says so; many that are passed around are obsolete."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from peerlab.features.doctor.check import ALL_RDMA, DEVICE_MEMORY, FAIL, WARN
from peerlab.features.doctor.checks.libraries import HARDWARE, libfabric_version, needed_providers
from peerlab.features.doctor.checks.memory import legacy_modules
from peerlab.features.doctor.host import Host

# What UCX and libfabric take for no.
_OFF = ("0", "n", "no", "off", "false")
_UCX_RDMA = ("all", "ib", "rc", "ud", "dc", "srd", "gga")

_NCCL = "docs.nvidia.com NCCL, environment variables"
_CHEATSHEET = "aws/aws-ofi-nccl doc/efa-env-var.md"
_HCL = "HabanaAI/HCL hcl/src/hcl_global_conf.cpp, tags 1.16.1 to 1.21"
_GAUDI = "docs.habana.ai Scale_Out_via_Host_NIC"
_FI_MR = "ofiwg/libfabric man/fi_mr.3.md"


@dataclass(frozen=True, kw_only=True)
class VariableRule:
    """A setting that changes the data path."""

    variable: str
    """Name of the variable."""
    setting: str
    """Which setting, in words."""
    holds: Callable[[Host], bool]
    """Whether this host has that setting."""
    does: str
    """What it does."""
    mend: str
    """What to do."""
    source: str
    """Who says so."""
    blocks: tuple[str, ...] = ()
    """Paths that the setting blocks; empty: it makes paths slower and blocks none."""

    def hits(self, host: Host) -> bool:
        """Return whether this host has that setting, and a library that reads it; without an accelerator it may have any."""
        # On a host without an accelerator, such as a login node, the job's machine is not known.
        if host.machine.accelerators:
            if self.variable.startswith("HCCL_") and not host.gaudi:
                return False
            if self.variable.startswith("NCCL_") and not host.gpu:
                return False
        return self.holds(host)

    @property
    def status(self) -> str:
        """Status of a finding where the rule holds."""
        return FAIL if self.blocks else WARN


def _has_value(name: str, *values: str) -> Callable[[Host], bool]:
    """Return whether a variable has one of these values, whatever the case."""
    return lambda host: _value(host.environment, name) in values


def _value(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name, "").strip().lower()


def _asks_gaudi_direct(host: Host) -> bool:
    return _has_value("HCCL_GAUDI_DIRECT", "1", "true")(host) or _has_value("HCCL_PEER_DIRECT", "1", "true")(
        host
    )


def _software_provider(host: Host) -> bool:
    """Return whether FI_PROVIDER leaves no provider that uses an RDMA device."""
    value = _value(host.environment, "FI_PROVIDER")
    # A leading ^ turns the list round: all but these.
    names = set(value.lstrip("^").replace(";", ",").split(","))
    wanted = needed_providers(host) or HARDWARE
    return wanted <= names if value.startswith("^") else bool(value) and not wanted & names


def _ucx_without_rdma(host: Host) -> bool:
    value = _value(host.environment, "UCX_TLS")
    # A backslash tells UCX to take a name as it stands and not as an alias.
    names = [name.strip().lstrip("\\") for name in value.split(",")]
    # A list that begins with ^ leaves out what it names, so RDMA is in unless it is named.
    return bool(value) and not value.startswith("^") and not any(name.startswith(_UCX_RDMA) for name in names)


def _needs_device_rdma(host: Host) -> bool:
    """Return whether EFA's RDMA must be asked for, and is not."""
    version = libfabric_version(host)
    # libfabric before 1.18 leaves EFA's RDMA off unless it is asked for.
    before = version is not None and version < (1, 18)
    return host.efa and (before or host.gaudi) and not host.environment.get("FI_EFA_USE_DEVICE_RDMA")


RULES = (
    VariableRule(
        variable="NCCL_IB_DISABLE",
        setting="1, where NCCL speaks verbs itself",
        holds=lambda host: _has_value("NCCL_IB_DISABLE", "1")(host) and not needed_providers(host),
        does="NCCL takes TCP sockets",
        mend="unset NCCL_IB_DISABLE",
        source=_NCCL,
        blocks=ALL_RDMA,
    ),
    VariableRule(
        variable="NCCL_NET",
        setting="Socket",
        holds=_has_value("NCCL_NET", "socket"),
        does="NCCL takes TCP sockets",
        mend="unset NCCL_NET",
        source=_NCCL,
        blocks=ALL_RDMA,
    ),
    VariableRule(
        variable="NCCL_NET_GDR_LEVEL",
        setting="LOC or 0",
        holds=_has_value("NCCL_NET_GDR_LEVEL", "0", "loc"),
        does="NCCL never lets the NIC into GPU memory",
        mend="unset NCCL_NET_GDR_LEVEL, or PHB for cards below one CPU",
        source=_NCCL,
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="NCCL_DMABUF_ENABLE",
        setting="0, where no legacy module is loaded",
        holds=lambda host: _has_value("NCCL_DMABUF_ENABLE", "0")(host) and not legacy_modules(host),
        does="NCCL does not use DMA-BUF, and there is no nvidia_peermem instead",
        mend="unset NCCL_DMABUF_ENABLE, or modprobe nvidia_peermem",
        source=_NCCL,
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="UCX_IB_GPU_DIRECT_RDMA",
        setting="no",
        holds=_has_value("UCX_IB_GPU_DIRECT_RDMA", *_OFF),
        does="UCX keeps the NIC out of GPU memory",
        mend="unset UCX_IB_GPU_DIRECT_RDMA (its default tries)",
        source="openucx/ucx src/uct/ib/base/ib_md.c",
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="UCX_TLS",
        setting="a list without rc, dc, ud or ib",
        holds=_ucx_without_rdma,
        does="UCX leaves RDMA out",
        mend="unset UCX_TLS, or add rc",
        source="openucx/ucx docs/source/faq.md",
        blocks=ALL_RDMA,
    ),
    VariableRule(
        variable="HCCL_OVER_TCP",
        setting="1",
        holds=_has_value("HCCL_OVER_TCP", "1"),
        does="HCCL takes TCP",
        mend="unset HCCL_OVER_TCP",
        source="HabanaAI/hccl_demo README",
        blocks=ALL_RDMA,
    ),
    VariableRule(
        variable="HCCL_OVER_OFI",
        setting="1, without HCCL_GAUDI_DIRECT=1",
        holds=lambda host: _has_value("HCCL_OVER_OFI", "1")(host) and not _asks_gaudi_direct(host),
        does="HCCL no longer looks for Gaudi Direct, and stages through host memory",
        mend="unset HCCL_OVER_OFI",
        source=_GAUDI,
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="HCCL_GAUDI_DIRECT",
        setting="1, without HCCL_OVER_OFI=1",
        holds=lambda host: _asks_gaudi_direct(host) and not _has_value("HCCL_OVER_OFI", "1")(host),
        does="HCCL stops with an error: it takes this only together with HCCL_OVER_OFI=1",
        mend="unset HCCL_GAUDI_DIRECT (HCCL_PEER_DIRECT is another name of it), or set both",
        source="HabanaAI/HCL 54fed3a",
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="HCCL_PEER_DIRECT, HCCL_GAUDI_DIRECT",
        setting="0",
        holds=lambda host: (
            _has_value("HCCL_GAUDI_DIRECT", "0")(host) or _has_value("HCCL_PEER_DIRECT", "0")(host)
        ),
        does="HCCL stages through host memory",
        mend="unset HCCL_PEER_DIRECT and HCCL_GAUDI_DIRECT",
        source=_HCL,
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="FI_PROVIDER",
        setting="no provider that uses an RDMA device, where libfabric is needed",
        holds=lambda host: _software_provider(host) and bool(needed_providers(host)),
        does="libfabric takes software",
        mend="unset FI_PROVIDER",
        source="ofiwg/libfabric man/fabric.7.md",
        blocks=ALL_RDMA,
    ),
    VariableRule(
        variable="FI_PROVIDER",
        setting="no provider that uses an RDMA device, elsewhere",
        holds=lambda host: _software_provider(host) and not needed_providers(host),
        does="what uses libfabric (MPICH) takes software; NCCL and UCX do without",
        mend="unset FI_PROVIDER",
        source="ofiwg/libfabric man/fabric.7.md",
    ),
    VariableRule(
        variable="FI_HMEM_DISABLE_P2P",
        setting="1",
        holds=_has_value("FI_HMEM_DISABLE_P2P", "1", "true", "yes", "on"),
        does="libfabric keeps the NIC out of device memory",
        mend="unset FI_HMEM_DISABLE_P2P",
        source="ofiwg/libfabric src/hmem.c; open-mpi/ompi pull request 11929",
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="FI_EFA_USE_DEVICE_RDMA",
        setting="0, on EFA",
        holds=lambda host: host.efa and _has_value("FI_EFA_USE_DEVICE_RDMA", *_OFF)(host),
        does="EFA's RDMA is off",
        mend="unset FI_EFA_USE_DEVICE_RDMA",
        source="ofiwg/libfabric man/fi_efa.7.md",
        blocks=DEVICE_MEMORY,
    ),
    VariableRule(
        variable="FI_EFA_USE_DEVICE_RDMA",
        setting="not set, on EFA with libfabric before 1.18, or with Gaudi",
        holds=_needs_device_rdma,
        does="EFA's RDMA must be asked for: before libfabric 1.18 and aws-ofi-nccl 1.7, and by HCCL; elsewhere it need not be set",
        mend="export FI_EFA_USE_DEVICE_RDMA=1",
        source=f"{_CHEATSHEET}; {_GAUDI}",
    ),
    VariableRule(
        variable="RDMAV_FORK_SAFE",
        setting="1, without Gaudi",
        holds=lambda host: _has_value("RDMAV_FORK_SAFE", "1")(host) and not host.gaudi,
        does="registration costs more and can break on newer kernels. The documents disagree: Gaudi's ask for it (HCCL sets it "
        "itself), aws-ofi-nccl's forbid it",
        mend="unset RDMAV_FORK_SAFE",
        source=f"{_CHEATSHEET}; {_GAUDI}; HabanaAI/HCL 54fed3a",
    ),
    VariableRule(
        variable="MLX5_SCATTER_TO_CQE",
        setting="not 0, with Gaudi on mlx5 NICs",
        holds=lambda host: (
            host.gaudi
            and any(port.device.startswith("mlx5") for port in host.ports)
            and not _has_value("MLX5_SCATTER_TO_CQE", "0")(host)
        ),
        does="the card may put small messages where Gaudi Direct does not look",
        mend="export MLX5_SCATTER_TO_CQE=0",
        source="HabanaAI/hccl_demo README f623d69 asks for it; what it does is an assumption",
    ),
    VariableRule(
        variable="FI_EFA_MR_CACHE_ENABLE",
        setting="0, on EFA",
        holds=lambda host: host.efa and _has_value("FI_EFA_MR_CACHE_ENABLE", *_OFF)(host),
        does="EFA copies through bounce buffers instead of registering",
        mend="unset FI_EFA_MR_CACHE_ENABLE",
        source="ofiwg/libfabric man/fi_efa.7.md",
    ),
    *(
        VariableRule(
            variable=variable,
            setting=values[0],
            holds=_has_value(variable, *values),
            does="no registration cache: every transfer registers anew",
            mend=f"unset {variable}",
            source=source,
        )
        for variable, values, source in (
            ("FI_MR_CACHE_MAX_COUNT", ("0",), _FI_MR),
            ("FI_MR_CACHE_MAX_SIZE", ("0",), "ofiwg/libfabric prov/util/src/util_mr_cache.c"),
            ("FI_MR_CACHE_MONITOR", ("disabled",), _FI_MR),
            ("OFI_NCCL_MR_CACHE_DISABLE", ("1", "true"), "aws/aws-ofi-nccl src/nccl_ofi_mr.cpp"),
        )
    ),
)
"""Every setting that is looked for."""
