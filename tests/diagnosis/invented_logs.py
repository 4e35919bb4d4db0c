"""Logs of runs whose path is known because they are simulated, written as tools and launchers print them.

Each seed draws a machine (a known cluster whose assumed figures lie anywhere in their ranges, perhaps with other NICs than its own), a path,
nodes, sizes, an error of the law, noise, whether something holds the run up, how much the library says, and how the log came about. So
none is of a machine that a cluster file describes, and each has one right answer.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from peerlab.answer.known_answers import answer
from peerlab.base.errors import PeerlabError
from peerlab.collectives.busbw import bus_factor
from peerlab.diagnosis.replay import with_devices
from peerlab.engine.simulate import simulate
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE, PATHS
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario

_NAMES = {
    "A100": "NVIDIA A100-SXM4-80GB",
    "H100": "NVIDIA H100 80GB HBM3",
    "H200": "NVIDIA H200",
    "B200": "NVIDIA B200",
    "GB200": "NVIDIA GB200",
    "GB300": "NVIDIA GB300",
    "GH200": "NVIDIA GH200 120GB",
    "T4": "Tesla T4",
    "MI250X die": "AMD Instinct MI250X",
    "MI300X": "AMD Instinct MI300X",
    "MI325X": "AMD Instinct MI325X",
}
"""What drivers call the accelerators of clusters."""
_COPY_S = 6e-6
"""What a copy by the driver takes at least, seconds: osu_bw D D on Alps has a message every 16 us without RDMA, osu_latency on juliet 10."""
_AMPERE = 8
"""Compute capability of A100."""
_WHOLE = ("1", "B", "KiB", "MiB")
"""Units of figures that stay as they are: they are counted, or cut what is sent."""
_KNOTS = (8, 1024, 16384, 131072, 2**20, 2**22, 2**24, 2**26, 2**28, 2**30)
"""Sizes that are simulated, bytes; those between lie on the line through them, larger ones keep the rate."""


@dataclass(frozen=True, kw_only=True)
class Invented:
    """A log, and what is true of it."""

    text: str
    path: str
    """The path that the run took: the right answer."""
    cluster: Cluster
    """As it was simulated."""
    base: str
    """The known cluster that it was drawn from."""
    nodes: int
    tool: str
    says: str
    """What was drawn, in a few words."""


def invented(seed: int) -> Invented:
    """Return the log of a seed."""
    chance = random.Random(seed)  # noqa: S311  (no secret)
    while True:
        make = chance.choices((_of_nccl, _of_osu, _of_hccl), (7, 2, 1))[0]
        try:
            return make(chance)
        except PeerlabError:  # a draw that no machine can have
            continue


def _machine(chance: random.Random, names: Sequence[str]) -> tuple[str, Cluster, str]:
    """Return a known cluster, the same with what is assumed drawn from its ranges, and what was drawn."""
    name = chance.choice(names)
    cluster, says = load_cluster(name), []
    for key, figure in cluster.figures.items():
        if figure.range and min(figure.range) > 0 and figure.unit not in _WHOLE:
            low, high = figure.range
            cluster = cluster.with_figure(key, math.exp(chance.uniform(math.log(low), math.log(high))))
    if chance.random() < 0.2 and "nic.rate" in cluster.figures:  # another machine with the same accelerators
        times = chance.choice((0.5, 2))
        if times > 1 and all(PATHS[path].is_rare for path in cluster.paths):
            # GPUDirect-TCPX and TCPXO are Google's, on NICs of 200 Gb/s at most (data/diagnosis.toml: device_tcp)
            raise PeerlabError("no such machine")
        cluster = cluster.with_figure("nic.rate", cluster.figures["nic.rate"].value * times)
        says.append(f"NICs x{times:g}")
    return name, cluster, " ".join(says)


def _times(asked: Callable[[int], Scenario], sizes: Sequence[int], chance: random.Random) -> dict[int, float]:
    """Return how long each size takes, seconds: simulated, off by an error of the law, with noise, and perhaps held up."""
    met = {size: answer(asked(size), simulate).time_ps / 1e12 for size in _KNOTS if size <= 2 * sizes[-1]}
    small, large = chance.gauss(0, 0.10), chance.gauss(0, 0.06)
    held = chance.random() < 0.12
    slow, since = (chance.uniform(1.3, 3), chance.choice((2**17, 2**21, 2**25))) if held else (1.0, 0)
    bad = {chance.choice(sizes): chance.uniform(1.3, 6) for _ in range(2)} if chance.random() < 0.2 else {}
    jitter = chance.choice((0.005, 0.02, 0.06))
    found = {}
    for size in sizes:
        share = min(max((math.log2(max(size, 8)) - 12) / 16, 0), 1)
        law = math.exp(small * (1 - share) + large * share + abs(chance.gauss(0, jitter)))
        found[size] = _between(met, size) * law * (slow if size >= since else 1) * bad.get(size, 1)
    return found


def _between(met: Mapping[int, float], size: int) -> float:
    """Return the time of a size between those that were simulated."""
    known = sorted(met)
    if size <= known[0]:
        return met[known[0]]
    if size >= known[-1]:
        return met[known[-1]] * size / known[-1]
    high = next(one for one in known if one >= size)
    low = known[known.index(high) - 1]
    share = math.log(size / low) / math.log(high / low)
    return math.exp((1 - share) * math.log(met[low]) + share * math.log(met[high]))


def _sizes(chance: random.Random) -> list[int]:
    first, last = chance.choice(
        ((3, 27), (3, 30), (3, 33), (10, 30), (20, 30), (23, 33), (27, 34), (3, 20), (30, 30))
    )
    return [2**power for power in range(first, last + 1, chance.choice((1, 1, 1, 2)))]


# --- nccl-tests and rccl-tests ---------------------------------------------------------------------------------------


def _of_nccl(chance: random.Random) -> Invented:
    names = [name for name in known_clusters() if load_cluster(name).device_name in _NAMES]
    base, cluster, drawn = _machine(chance, names)
    nodes = chance.choices((1, 2, 3, 4, 8, 16), (2, 10, 1, 3, 2, 1))[0]
    if nodes * cluster.devices < 2:
        raise PeerlabError("one rank exchanges nothing")
    joined = 1 < nodes <= (cluster.domain_nodes or 1)
    path = IN_NODE if nodes == 1 or joined else chance.choice(cluster.paths)
    collective = chance.choices(("allreduce", "allgather", "reduce-scatter", "alltoall"), (12, 2, 2, 1))[0]
    version = chance.choice((None, None, "2.18", "2.23", "2.27"))
    sizes = _sizes(chance)

    def asked(size: int) -> Scenario:
        one = Scenario(cluster=cluster, nodes=nodes, collective=collective, message_bytes=size)
        one = one if path == IN_NODE else one.with_(path=path)
        library = one.used_library
        return one.with_(library_version=version) if version and library and library.versions else one

    times = _times(asked, sizes, chance)
    lines = _library_lines(path, cluster, chance)
    text = _nccl_text(times, cluster, nodes, collective, lines, chance)
    says = f"{collective}, {nodes} nodes, {drawn} {'lines ' + str(len(lines)) if lines else 'no lines'}"
    return Invented(
        text=text, path=path, cluster=cluster, base=base, nodes=nodes, tool="nccl-tests", says=says
    )


def _library_lines(path: str, cluster: Cluster, chance: random.Random) -> list[str]:
    """Return what NCCL says with NCCL_DEBUG: nothing, what it opens, or its channels as well."""
    much = chance.choices((0, 1, 2), (5, 2, 2))[0]
    if not much:
        return []
    way = PATHS.get(path)
    efa = "efa" in cluster.library or "cxi" in cluster.library
    net = "AWS Libfabric" if efa else "IB"
    if way and way.uses_kernel_tcp:
        opened = ["NET/Socket : Using [0]eth0:10.0.0.1<0>", "Using network Socket"]
        channels = [
            "Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0",
            "Connected all rings, use ring PXN 0 GDR 0",
        ]
    elif way and not way.is_rdma:  # placed in device memory over TCP
        opened = ["NET/FasTrak plugin initialized", "Using network FasTrak"]
        channels = ["Channel 00/0 : 0[0] -> 1[1] [send] via NET/FasTrak/0/GDRDMA"]
    else:
        provider = "cxi" if "cxi" in cluster.library else "efa"
        opened = (
            [f"NET/OFI Selected Provider is {provider} (found {cluster.nics} nics)", f"Using network {net}"]
            if efa
            else ["NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0:10.0.0.1<0>", "Using network IB"]
        )
        sends = "/GDRDMA" if way and way.uses_device_memory else ""
        takes = "/GDRDMA" if way and (way.uses_device_memory or way.half_staged) else ""
        channels = [
            f"Channel 00/0 : 7[7] -> 8[0] [receive] via NET/{net}/0{takes}",
            f"Channel 00/0 : 0[0] -> 8[0] [send] via NET/{net}/0{sends}",
            f"Connected all rings, use ring PXN 0 GDR {int(bool(sends))}",
        ]
    if path == IN_NODE:
        channels = [
            "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read",
            "Connected all rings, use ring PXN 0 GDR 1",
        ]
    if efa and way and way.is_staged and cluster.device_name not in ("T4", "GH200"):
        # without that the plug-in for EFA ends with an error where a NIC does not reach device memory (P4d and later)
        opened.append("OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK set by environment to 1.")
    if way and way.half_staged and (cluster.generation or 0) >= _AMPERE:
        # NCCL lets a NIC read the memory of such accelerators unless it is told not to, and prints what it is told
        opened.append("NCCL_NET_GDR_READ set by environment to 0.")
    return opened + (channels if much == 2 else [])


_TESTS = {
    "allreduce": "all_reduce_perf",
    "allgather": "all_gather_perf",
    "reduce-scatter": "reduce_scatter_perf",
    "alltoall": "alltoall_perf",
}


def _nccl_text(
    times: Mapping[int, float],
    cluster: Cluster,
    nodes: int,
    collective: str,
    said: Sequence[str],
    chance: random.Random,
) -> str:
    """Return a log of nccl-tests, with more or less of its head, as a launcher prints it."""
    ranks, test = nodes * cluster.devices, _TESTS[collective]
    name = _NAMES[cluster.device_name] if chance.random() < 0.8 else "NVIDIA Graphics Device"
    hosts = [f"node{place:03d}" for place in range(nodes)]
    lines = [
        f"{hosts[0]}:{100 + place}:{200 + place} [0] NCCL INFO {line}" for place, line in enumerate(said)
    ]
    head = (
        [f"# Collective test starting: {test}"] if collective != "allreduce" or chance.random() < 0.3 else []
    )
    head.append(
        f"# nThread 1 nGpus 1 minBytes {min(times)} maxBytes {max(times)} step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0"
    )
    devices = [
        f"#  Rank {rank:2d} Group  0 Pid {1000 + rank:6d} on {hosts[rank // cluster.devices]} device {rank % cluster.devices:2d} [0x{rank:02x}] {name}"
        for rank in range(ranks)
    ]
    head += ["#", "# Using devices", *devices] if chance.random() < 0.6 else []
    if chance.random() < 0.3:
        head.append(
            f"NCCL version 2.{chance.choice((18, 21, 23, 26, 27))}.{chance.randint(1, 9)}+cuda12.{chance.randint(1, 9)}"
        )
    if chance.random() < 0.3:
        head.insert(
            0,
            f"$ mpirun -np {ranks} -N {cluster.devices} --bind-to none -x NCCL_DEBUG=INFO /opt/nccl-tests/build/{test} -b 8 -e 1G -f 2 -g 1",
        )
    table = list(_nccl_table(times, ranks, collective, chance))
    end = [] if chance.random() < 0.3 else ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 123.4"]
    return _as_launched([*head, *lines, *table, *end], chance)


def _nccl_table(
    times: Mapping[int, float], ranks: int, collective: str, chance: random.Random
) -> Iterator[str]:
    yield "#                                                              out-of-place                       in-place"
    yield "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
    yield "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
    factor = bus_factor(collective, ranks)
    adds = collective in ("allreduce", "reduce-scatter")
    count_of = 1 if collective == "allreduce" else ranks
    for asked, seconds in times.items():
        size = asked // (4 * count_of) * 4 * count_of
        cells = ""
        for _ in range(2):
            us = round(seconds * 1e6 * math.exp(abs(chance.gauss(0, 0.01))), 2)
            algbw = size / us / 1e3
            shown = f"{us:8.2f}" if us < 1e4 else f"{us:8.1f}" if us < 1e5 else f"{us:8.0f}"
            cells += f" {shown} {algbw:7.2f} {algbw * factor:7.2f} {0:6d}"
        yield f"{size:>12d} {size // 4 // count_of:>13d}     float {'sum' if adds else 'none':>7s}      -1{cells}"


def _as_launched(lines: Sequence[str], chance: random.Random) -> str:
    """Return lines as launchers, terminals and pods print them."""
    prefix = chance.choice(
        ("", "", "", "0: ", "[1,0]<stdout>:", "[1,0]<stdout>: ", "2026-01-02T03:04:05.123456789Z ", "[rank0]: ", "> ", "    ",
         "[0] ", "node001: ", "[prterun-node001-12@1,0]<stdout>: ", "2026-01-02 03:04:05,123 ", "launcher-1  | ", "[03:04:05] ")
    )  # fmt: skip
    coloured = chance.random() < 0.1
    noise = (
        ["Warning: Permanently added 'node001' (ED25519) to the list of known hosts."]
        if chance.random() < 0.2
        else []
    )
    shown = [prefix + (f"\x1b[32m{line}\x1b[0m" if coloured else line) for line in lines]
    text = "\n".join([*noise, *shown, ""])
    if chance.random() < 0.1:
        text = text.replace("\n", "\r\n")
    return text[: int(len(text) * chance.uniform(0.8, 0.99))] if chance.random() < 0.1 else text


# --- OSU micro-benchmarks --------------------------------------------------------------------------------------------


def _of_osu(chance: random.Random) -> Invented:
    names = [
        name
        for name in known_clusters()
        if load_cluster(name).device_name in (*_NAMES, "GPU")
        and not all(PATHS[path].is_rare for path in load_cluster(name).paths)
    ]
    base, cluster, drawn = _machine(chance, names)
    kind = chance.choice(("latency", "bw", "latency", "bw", "alltoall", "allreduce"))
    two = kind in ("latency", "bw")
    path = chance.choice(
        [path for path in cluster.paths if not PATHS[path].is_rare]
    )  # those are NCCL's and its plug-ins'
    way = PATHS[path]
    host = way.is_staged and path != "receive-direct" and chance.random() < 0.5
    each = 1 if two else chance.choice((1, cluster.devices))
    nodes = 2
    sizes = [2**power for power in range(23)] if two else [2**power for power in range(2, 21)]
    collective = "point-to-point" if two else kind
    ranks = 2 if two else nodes * each
    # As with NCCL: what is simulated goes over NVLink, and no NIC has work. Host memory is joined by none.
    joined = not two and nodes <= (cluster.domain_nodes or 1)
    if joined and host:
        raise PeerlabError("NVLink joins no host memory")

    def asked(size: int) -> Scenario:
        shaped = cluster if two else with_devices(cluster, each)
        if shaped is None:
            raise PeerlabError("no such shape")
        one = Scenario(
            cluster=shaped,
            nodes=nodes,
            path=path,
            collective=collective,
            message_bytes=size * (ranks if kind == "alltoall" else 1),
            registration="pool",
        )
        library = one.used_library
        one = one.with_(library=library.mpi if library and library.mpi else "none")
        if host:
            one = one.with_(memory="host")
        if kind == "bw":
            pageable = one.staged and one.memory == "device" and cluster.pageable_copy_Bps is not None
            one = one.with_(message_bytes=64 * size, slice_bytes=size, window=2 if pageable else None)
        return one

    times = _osu_times(asked, sizes, chance)
    if kind == "bw":
        times = {size: one / 64 for size, one in times.items()}
    # the driver copies each message; with many in flight while others are on the wire
    if way.is_staged and not host and not joined:
        times = {size: max(one, _COPY_S) if kind == "bw" else one + _COPY_S for size, one in times.items()}
    text = _osu_text(times, kind, nodes, each, host=host, chance=chance)
    return Invented(
        text=text,
        path=IN_NODE if joined else path,
        cluster=cluster,
        base=base,
        nodes=nodes,
        tool="osu",
        says=f"{kind} {'H' if host else 'D'} {drawn}",
    )


def _osu_times(
    asked: Callable[[int], Scenario], sizes: Sequence[int], chance: random.Random
) -> dict[int, float]:
    knots = [size for size in (1, 1024, 8192, 65536, 2**18, 2**20, 2**22) if size <= sizes[-1]]
    met = {size: answer(asked(size), simulate).time_ps / 1e12 for size in knots}
    law, jitter = math.exp(chance.gauss(0, 0.08)), chance.choice((0.005, 0.03))
    return {size: _between(met, size) * law * math.exp(abs(chance.gauss(0, jitter))) for size in sizes}


_OSU_TITLES = {
    "latency": "Latency Test",
    "bw": "Bandwidth Test",
    "alltoall": "All-to-All Personalized Exchange Latency Test",
    "allreduce": "Allreduce Latency Test",
}


def _osu_text(
    times: Mapping[int, float], kind: str, nodes: int, each: int, *, host: bool, chance: random.Random
) -> str:
    buffers = "" if kind in ("alltoall", "allreduce") else (" H H" if host else " D D")
    device = "" if host else " -d cuda"
    said = chance.random() < 0.7 or not host
    program = f"osu_{kind}"
    lines = (
        [f"$ srun -N{nodes} --ntasks-per-node={each} --mpi=pmix ./{program}{device}{buffers}"] if said else []
    )
    lines.append(
        f"# OSU MPI{'' if host else '-CUDA'} {_OSU_TITLES[kind]} v{chance.choice(('5.9', '7.2', '7.5'))}"
    )
    if kind == "bw":
        lines.append("# Size      Bandwidth (MB/s)")
        lines += [f"{size:<10d} {size / seconds / 1e6:>20.2f}" for size, seconds in times.items()]
    else:
        lines.append("# Size          Latency (us)" if kind == "latency" else "# Size       Avg Latency(us)")
        lines += [f"{size:<10d} {seconds * 1e6:>20.2f}" for size, seconds in times.items()]
    return _as_launched(lines, chance)


# --- hccl_demo -------------------------------------------------------------------------------------------------------


def _of_hccl(chance: random.Random) -> Invented:
    base, cluster, drawn = _machine(chance, ["dl1", "gaudi2", "gaudi3"])
    nodes = chance.choice((1, 2, 2, 4))
    path = IN_NODE if nodes == 1 else chance.choice(cluster.paths)
    sizes = [2**power for power in chance.choice(((25,), (30,), range(20, 31), range(25, 31)))]

    def asked(size: int) -> Scenario:
        one = Scenario(cluster=cluster, nodes=nodes, message_bytes=size)
        return one if path == IN_NODE else one.with_(path=path)

    times = _times(asked, sizes, chance)
    ranks = nodes * cluster.devices
    settings = {
        "host-tcp": "HCCL_OVER_TCP=1 ",
        "host-rdma": "HCCL_OVER_OFI=1 ",
        "peer-direct": "HCCL_OVER_OFI=1 HCCL_GAUDI_DIRECT=1 ",
    }
    said = settings.get(path, "") if chance.random() < 0.5 else ""
    lines = [
        f"{said}HCCL_COMM_ID=10.1.2.3:5555 python3 run_hccl_demo.py --nranks {ranks} --node_id 0 --size 32m --test all_reduce --ranks_per_node {cluster.devices}"
    ]
    if chance.random() < 0.2:
        lines = []
    factor = bus_factor("allreduce", ranks)
    if len(times) == 1:
        for size, seconds in times.items():
            lines += [f"[BENCHMARK] hcclAllReduce(src!=dst, data_size={size}, count={size // 4}, dtype=float, iterations=100)",
                      f"[BENCHMARK]     NW Bandwidth   : {size / seconds / 1e9 * factor:.6f} GB/s",
                      f"[BENCHMARK]     Algo Bandwidth : {size / seconds / 1e9:.6f} GB/s"]  # fmt: skip
    else:
        lines += ["[BANDWIDTH SUMMARY REPORT]", "(src!=dst, collective=all_reduce, iterations=100)", "",
                  "size              count             type              redop             time              algoBW            nw_bw",
                  "(B)               (elements)                                            (ms)              (GB/s)            (GB/s)"]  # fmt: skip
        lines += [
            f"{size:<18d}{size // 4:<18d}{'float':<18s}{'sum':<18s}{seconds * 1e3:<.6f} ms       {size / seconds / 1e9:.6f} GB/s   {size / seconds / 1e9 * factor:.6f} GB/s"
            for size, seconds in times.items()
        ]
    return Invented(
        text=_as_launched(lines, chance),
        path=path,
        cluster=cluster,
        base=base,
        nodes=nodes,
        tool="hccl_demo",
        says=f"{nodes} nodes {said}{drawn}",
    )
