"""What the command that started a benchmark says: ranks, nodes, hosts, environment."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from peerlab.records.text import Line, whole

_BINARY = re.compile(r"(?:osu_\w{2,40}|\w{2,40}_perf|hccl_demo|run_hccl_demo\.py)\Z")
_LAUNCHERS = (
    *("srun", "mpirun", "mpiexec", "mpiexec.hydra", "prterun", "torchrun"),
    *("python", "python3", "time", "env"),
)
_PROMPT = re.compile(r"\A(?:\S{0,80} ?\S{0,80}[$#%>]|\++) ")
_ASSIGNMENT = re.compile(r"([A-Z][A-Z0-9_]{1,60})=(.*)", re.DOTALL)
_RANKS = ("-n", "-np", "--np", "--ntasks")
_NODES = ("--nodes",)  # and -N of srun; that of mpirun counts ranks per node
_PER_NODE = ("--ntasks-per-node", "-npernode", "--npernode", "-ppn", "--ppn", "-perhost")
_HOSTS = ("-H", "--host", "-host", "--hosts", "-hosts", "-w", "--nodelist")
_PER_RESOURCE = re.compile(r"ppr:(\d{1,6}):node")

_TELLING = """
    FI_PROVIDER FI_HMEM FI_HMEM_CUDA_USE_GDRCOPY FI_MR_CACHE_MONITOR FI_MR_CACHE_MAX_COUNT FI_MR_CACHE_MAX_SIZE
    FI_EFA_USE_DEVICE_RDMA FI_EFA_FORK_SAFE FI_EFA_MR_CACHE_ENABLE FI_EFA_MR_MAX_CACHED_COUNT
    FI_EFA_MR_MAX_CACHED_SIZE FI_EFA_USE_HUGE_PAGE FI_CXI_DISABLE_HOST_REGISTER FI_CXI_RDZV_PROTO FI_CXI_ATS
    FI_CXI_DEFAULT_CQ_SIZE FI_CXI_RX_MATCH_MODE
    HCCL_OVER_TCP HCCL_OVER_OFI HCCL_GAUDI_DIRECT HCCL_PEER_DIRECT HCCL_SOCKET_IFNAME HCCL_DEMO_TEST
    HCCL_NRANKS HCCL_RANKS_PER_NODE HCCL_SCALEUP_GROUP_SIZE HCCL_DATA_TYPE
    MLX5_SCATTER_TO_CQE RDMAV_FORK_SAFE
    MPICH_GPU_SUPPORT_ENABLED MPICH_OFI_NIC_POLICY MV2_USE_CUDA MV2_USE_GPUDIRECT MV2_USE_GDRCOPY
    NCCL_ALGO NCCL_BUFFSIZE NCCL_CROSS_NIC NCCL_CUMEM_ENABLE NCCL_DMABUF_ENABLE NCCL_GDRCOPY_ENABLE NCCL_IB_DISABLE
    NCCL_IB_GID_INDEX NCCL_IB_HCA NCCL_IB_QPS_PER_CONNECTION NCCL_IB_TC NCCL_MAX_NCHANNELS NCCL_MIN_NCHANNELS
    NCCL_NET NCCL_NET_GDR_C2C NCCL_NET_GDR_LEVEL NCCL_NET_GDR_READ NCCL_NET_PLUGIN NCCL_NSOCKS_PERTHREAD
    NCCL_NVLS_ENABLE NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_P2P_NET_CHUNKSIZE NCCL_PROTO NCCL_SHM_DISABLE
    NCCL_SOCKET_IFNAME NCCL_SOCKET_NTHREADS NCCL_TUNER_PLUGIN
    OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK OFI_NCCL_MR_CACHE_DISABLE OFI_NCCL_PROTOCOL
    OMPI_MCA_btl OMPI_MCA_mtl OMPI_MCA_pml OMPI_MCA_opal_cuda_support
    UCX_IB_GPU_DIRECT_RDMA UCX_MAX_RNDV_RAILS UCX_NET_DEVICES UCX_PROTO_ENABLE UCX_RCACHE_MAX_REGIONS
    UCX_RCACHE_MAX_SIZE UCX_RNDV_SCHEME UCX_RNDV_THRESH UCX_TLS
"""
ALLOWED = frozenset(_TELLING.split())
"""Variables that tell about the transport. No other is kept: an environment holds names, addresses and secrets."""


@dataclass(frozen=True)
class Launch:
    """A command line, as far as it is understood."""

    command: str = ""
    """As it stands in the log, without the prompt."""
    binary: str = ""
    """Name of the benchmark's program, without its folder."""
    ranks: int | None = None
    """Processes started."""
    nodes: int | None = None
    hosts: tuple[str, ...] = ()
    """Names given on the command line."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it sets of :data:`ALLOWED`."""
    words: tuple[str, ...] = ()
    """Its words after the program's name."""


def is_benchmark(name: str) -> bool:
    """Say whether this is the name of a program that measures."""
    return bool(_BINARY.match(name))


def is_launcher(name: str) -> bool:
    """Say whether this is the name of a program that starts others."""
    return name in _LAUNCHERS


def find_launch(lines: Iterable[Line]) -> Launch:
    """Return what the last command line among these lines says; nothing where there is none."""
    found = Launch()
    for line in lines:
        found = read_launch(line.text) or found
    return found


def read_launch(text: str) -> Launch | None:
    """Return what a line says if it is a command that starts a benchmark, else None."""
    if text.startswith("# ") or not any(mark in text for mark in ("osu_", "_perf", "hccl_demo")):
        return None
    command = _PROMPT.sub("", text)
    words = _split(command)
    place = next((i for i, word in enumerate(words) if is_benchmark(word.rpartition("/")[2])), None)
    if place is None or not _starts(words[: place + 1]):
        return None
    options = list(_options(words[:place]))
    by_slurm = any(word.rpartition("/")[2] == "srun" for word in words[:place])
    binary = words[place].rpartition("/")[2]
    hosts = _hosts(options)
    nodes = _count(options, (*_NODES, "-N") if by_slurm else _NODES) or len(hosts) or None
    per_node = _count(options, _PER_NODE if by_slurm else (*_PER_NODE, "-N")) or _per_resource(options)
    ranks = _count(options, _RANKS) or (nodes * (per_node or 1) if nodes else None)
    if nodes is None and ranks and per_node and ranks % per_node == 0:
        nodes = ranks // per_node
    return Launch(
        command, binary, ranks, nodes, hosts, _environment(words[:place]), tuple(words[place + 1 :])
    )


def allowed(assignments: Iterable[str]) -> dict[str, str]:
    """Return what of ``NAME=value`` may be kept."""
    pairs = (assignment.partition("=") for assignment in assignments)
    return {name: value[:200] for name, equals, value in pairs if equals and name in ALLOWED}


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # a quotation that nobody closes
        return command.split()


def _starts(words: Sequence[str]) -> bool:
    """Say whether a command begins here: a launcher, or the program after nothing but its environment."""
    first = next((word for word in words if not _ASSIGNMENT.fullmatch(word)), "")
    return first == words[-1] or is_launcher(first.rpartition("/")[2])


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pass on options with what follows them, as ``-N2``, ``-N 2``, ``--nodes=2`` and ``--nodes 2`` say."""
    for word, follower in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if equals:
            yield name, value
        elif match := re.fullmatch(r"(-[nN])([0-9]{1,9})", word):
            yield match[1], match[2]
        else:
            yield word, follower


def _count(options: Sequence[tuple[str, str]], names: Sequence[str]) -> int | None:
    return next((whole(value) for name, value in options if name in names and whole(value)), None)


def _per_resource(options: Sequence[tuple[str, str]]) -> int | None:
    matches = (_PER_RESOURCE.search(value) for name, value in options if name in ("--map-by", "-map-by"))
    return next((int(match[1]) for match in matches if match), None)


def _hosts(options: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    given = next((value for name, value in options if name in _HOSTS), "")
    if "[" in given:  # nid[001-004]: a range of Slurm's, which -N counts
        return ()
    return tuple(dict.fromkeys(host.partition(":")[0] for host in given.split(",") if host))


def _environment(words: Sequence[str]) -> dict[str, str]:
    pairs = (
        f"{word}={follower}"
        for name, word, follower in zip(words, words[1:], words[2:], strict=False)
        if name in ("-genv", "-env")
    )
    return allowed([*words, *pairs])
