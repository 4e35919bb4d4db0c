"""What the command that started a benchmark says: ranks, nodes, hosts, environment."""

import re
import shlex
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from peerlab.records.notes import Damage
from peerlab.records.text import Line, quote, whole

_BINARY = re.compile(r"(osu_\w{2,40}|hccl_demo|run_hccl_demo\.py|nccom-test)\Z")
_OF_NCCL = re.compile(
    r"(\w{2,40}?_perf)"
    r"(?![\w.+-]*\.(?:cc|csv|cu|err|json|log|md|out|sbatch|sh|txt)\Z)(?:[_.+-][\w.+-]{0,60})?\Z"
)
"""nccl-tests are built with any suffix (NAME_SUFFIX=_mpi in their README); a file about one is none of them."""
_MARKS = ("osu_", "_perf", "hccl_demo", "nccom-test")
"""A line without any of these is no command that measures."""
_PARALLEL = (
    *(
        "srun",
        "salloc",
        "mpirun",
        "mpirun_rsh",
        "mpirun.openmpi",
        "mpiexec",
        "mpiexec.hydra",
        "mpiexec.mpich",
    ),
    *("orterun", "prterun", "torchrun", "jsrun", "aprun", "ibrun", "flux", "horovodrun", "likwid-mpirun"),
)
"""Programs whose options say how many processes there are, and where."""
_WRAPPERS = (
    *(
        "numactl",
        "taskset",
        "hwloc-bind",
        "nice",
        "stdbuf",
        "timeout",
        "nohup",
        "sudo",
        "exec",
        "time",
        "env",
    ),
    *("singularity", "apptainer", "docker", "podman", "enroot", "kubectl", "bash", "sh", "python", "python3"),
    *("nsys", "ncu", "rocprof", "perf", "strace", "neuron-profile"),
)
"""Programs that start one other; -n of nice and -N of numactl count no processes."""
_PROMPT = re.compile(r"\A(?:\S{0,80} ?\S{0,80}[$#%>]|\++) ")
_ASSIGNMENT = re.compile(r"([A-Z][A-Z0-9_]{1,60})=(.*)", re.DOTALL)
_RANKS = ("-n", "-np", "--np", "--ntasks")
_NODES = ("--nodes",)  # and -N of srun; that of mpirun counts ranks per node
_PER_NODE = ("--ntasks-per-node", "-npernode", "--npernode", "-ppn", "--ppn", "-perhost")
_HOSTS = ("-H", "--host", "-host", "--hosts", "-hosts", "-w", "--nodelist")
_COUNTS = (
    *("--nranks", "--ranks_per_node", "HCCL_NRANKS", "HCCL_RANKS_PER_NODE"),  # of hccl_demo
    *("--nworkers", "--nnodes"),  # of nccom-test
)
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
    NCCL_FASTRAK_CTRL_DEV NCCL_FASTRAK_ENABLE_CONTROL_CHANNEL NCCL_FASTRAK_IFNAME NCCL_FASTRAK_NUM_FLOWS NCCL_FASTRAK_USE_SNAP
    NCCL_GPUDIRECTTCPX_CTRL_DEV NCCL_GPUDIRECTTCPX_SOCKET_IFNAME
    NCCL_IB_GID_INDEX NCCL_IB_HCA NCCL_IB_QPS_PER_CONNECTION NCCL_IB_TC NCCL_MAX_NCHANNELS NCCL_MIN_NCHANNELS NCCL_MNNVL_ENABLE
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
    """Name of the benchmark's program, without its folder, and of nccl-tests without the suffix of a build."""
    ranks: int | None = None
    """Processes started."""
    nodes: int | None = None
    hosts: tuple[str, ...] = ()
    """Names given on the command line."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it sets of :data:`ALLOWED`."""
    words: tuple[str, ...] = ()
    """Its words after the program's name."""
    unread: tuple[str, ...] = ()
    """Options that count ranks or nodes, and whose value is no number."""


class Launches:
    """The command lines of a log: several logs may stand in one file."""

    def __init__(self, lines: Iterable[Line], damage: Damage) -> None:
        generator = ((line.number, read_launch(line.text)) for line in lines)
        self._launches = [(number, launch) for number, launch in generator if launch]
        for number, launch in self._launches:
            for option in launch.unread:
                damage.doubt(number, f"the command's {quote(option)} is no number")

    @property
    def last(self) -> Launch:
        """The last of the log; nothing where there is none."""
        return self._launches[-1][1] if self._launches else Launch()

    def at(self, number: int) -> Launch:
        """Return the last before this line; where there is none before it, that of the log."""
        return self.between(0, number) or self.last

    def between(self, first: int, last: int) -> Launch | None:
        """Return the last that stands between two lines."""
        place = bisect(self._launches, last, key=lambda entry: entry[0]) - 1
        return self._launches[place][1] if place >= 0 and self._launches[place][0] >= first else None


def benchmark_of(name: str) -> str:
    """Return the benchmark that a program of this name is; nothing for any other.

    >>> benchmark_of("all_reduce_perf_mpi"), benchmark_of("osu_bw"), benchmark_of("all_reduce_perf.log")
    ('all_reduce_perf', 'osu_bw', '')
    """
    match = _BINARY.match(name) or _OF_NCCL.match(name)
    return match[1] if match else ""


def is_launcher(name: str) -> bool:
    """Say whether this is the name of a program that starts others."""
    return name in (*_PARALLEL, *_WRAPPERS)


def read_launch(text: str) -> Launch | None:
    """Return what a line says if it is a command that starts a benchmark, else None."""
    if text.startswith("# ") or not any(mark in text for mark in _MARKS):
        return None
    command = _PROMPT.sub("", text)
    words = _split(command)
    names = [benchmark_of(word.rpartition("/")[2]) for word in words]
    place = next((i for i, name in enumerate(names) if name), None)
    if place is None or not _starts(words[: place + 1]):
        return None
    options = list(_options([*_of_parallel(words[:place])]))
    by_slurm = any(word.rpartition("/")[2] == "srun" for word in words[:place])
    binary = names[place]
    hosts = _hosts(options)
    nodes = _count(options, (*_NODES, "-N") if by_slurm else _NODES) or len(hosts) or None
    per_node = _count(options, _PER_NODE if by_slurm else (*_PER_NODE, "-N")) or _per_resource(options)
    # A launcher that is told nodes and no ranks starts one on each.
    ranks = _count(options, _RANKS) or (nodes * (per_node or 1) if nodes else None)
    if nodes is None and ranks and per_node and ranks % per_node == 0:
        nodes = ranks // per_node
    environment, after = _environment(words[:place]), tuple(words[place + 1 :])
    unread = _unread(options, environment, binary, after)
    return Launch(command, binary, ranks, nodes, hosts, environment, after, unread)


def allowed(assignments: Iterable[str]) -> dict[str, str]:
    """Return what of ``NAME=value`` may be kept."""
    pairs = (assignment.partition("=") for assignment in assignments)
    return {name: value[:200] for name, equals, value in pairs if equals and name in ALLOWED}


def _split(command: str) -> list[str]:
    """Return the words of a command, and of one that is handed to a shell (``bash -c "..."``) its own."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation that nobody closes
        return command.split()
    # A word with spaces that names a benchmark was quoted for a shell.
    handed = [" " in word and any(mark in word for mark in _MARKS) for word in words]
    return [
        part
        for word, inner in zip(words, handed, strict=True)
        for part in (word.split() if inner else [word])
    ]


def _starts(words: Sequence[str]) -> bool:
    """Say whether a command begins here: a launcher, or the program after nothing but its environment."""
    first = next((word for word in words if not _ASSIGNMENT.fullmatch(word)), "")
    return first == words[-1] or is_launcher(first.rpartition("/")[2])


def _of_parallel(words: Sequence[str]) -> Iterator[str]:
    """Yield the words that do not belong to a program that only wraps another."""
    wrapped = False
    for word in words:
        name = word.rpartition("/")[2]
        # What follows a wrapper is its own, up to a launcher of ranks.
        wrapped = name in _WRAPPERS or (wrapped and name not in _PARALLEL)
        if not wrapped:
            yield word


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


def _unread(
    options: Iterable[tuple[str, str]], environment: Mapping[str, str], binary: str, after: Sequence[str]
) -> tuple[str, ...]:
    """Return what counts ranks or nodes, and is no number."""
    counts = (*_COUNTS, "-r", "-N") if binary == "nccom-test" else _COUNTS
    rows = [pair for pair in options if pair[0] in (*_RANKS, *_NODES, "-N", *_PER_NODE)]
    rows += [pair for pair in (*_options(after), *environment.items()) if pair[0] in counts]
    return tuple(f"{name} {value}" for name, value in rows if whole(value) is None)


def _per_resource(options: Sequence[tuple[str, str]]) -> int | None:
    matches = (_PER_RESOURCE.search(value) for name, value in options if name in ("--map-by", "-map-by"))
    return next((int(match[1]) for match in matches if match), None)


def _hosts(options: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    text = next((value for name, value in options if name in _HOSTS), "")
    if "[" in text:  # nid[001-004]: a range of Slurm's, which -N counts
        return ()
    # A number behind a colon counts mpirun's slots.
    return tuple(dict.fromkeys(host.partition(":")[0] for host in text.split(",") if host))


def _environment(words: Sequence[str]) -> dict[str, str]:
    # MPICH takes a variable as two words: its name, then its value.
    pairs = (
        f"{word}={follower}"
        for name, word, follower in zip(words, words[1:], words[2:], strict=False)
        if name in ("-genv", "-env")
    )
    return allowed([*words, *pairs])
