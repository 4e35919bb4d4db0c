"""Tables of lab 08: what articles quote, beside what peerlab simulates or works out.

*The overview* is "RDMA and GPUDirect: Enabling Zero-Copy Communication in AI Training Clusters".
"""

from functools import cache
from itertools import product
from typing import Any

from peerlab.answer.run import Run
from peerlab.base.data_frames import pd
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.labs import fabric_forms as forms
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.training.closed_forms import parameter_flop

QUOTED = {"kernel TCP": (60, 70), "RoCE v2": (90, 95), "InfiniBand": (95, 98)}
"""Gb/s of large messages on a 100G link, from the overview."""
LINE = Scenario(cluster="ideal-100g", algorithm="ring", nodes=8, message_bytes="64 MiB", slice_bytes=None)
_ON = {"kernel TCP": ("tcp", (1500, 9000)), "RoCE v2": ("roce", (1024, 4096)), "InfiniBand": ("infiniband", (1024, 4096))}  # fmt: skip
START_US = (0, 5, 20)
"""What starting a copy and waiting for it takes, microseconds: with gdrcopy nothing; without, assumed from 5 to 20. An H200 takes 7.1 to 9.2
(data/measured/own/h200-copies-1.json and -2, 4 B, pinned)."""
_LATENCIES = {
    "TCP/IP without GPUDirect": ("50 to 100", "80", "roce-100g-a100", "host-tcp"),
    "RDMA without GPUDirect": ("10 to 20", "5", "roce-100g-a100", "host-rdma"),
    "RDMA with GPUDirect": ("2 to 5", "< 1", "roce-100g-a100", "peer-direct"),
    "InfiniBand with GPUDirect": ("0.5 to 2", "< 1", "infiniband-hdr-a100", "peer-direct"),
}
"""Microseconds of 8 bytes and per cent of the CPU, from the overview; and where that is simulated."""
_GPT3 = {
    "TCP/IP": (85, 45, 40),
    "RoCE v2 + GPUDirect": (320, 82, 88),
    "InfiniBand + GPUDirect": (380, 88, 92),
}
"""GPT-3 on 1,024 A100, from the overview: samples a second, per cent of the GPU, per cent of the network."""
_PUBLISHED = 1536 / 31.92
"""Samples a second of this model on 1,024 A100: Megatron-LM's README (138 TFLOP/s each, with recomputation)."""
_NVLS = {5: (258, 420), 6: (265, 440), 7: (270, 460), 8: (273, 480)}
"""GB/s of NVLink SHARP on so many H100, algbw and busbw: NVIDIA/nccl issue 1455."""
_PUTS = {1: (2.6, 12.7), 2: (3.2, 25.5), 4: (3.2, 42.8), 8: (2.5, 64.2), 16: (3.2, 87.2), 32: (3.2, 72.4), 64: (3.0, 68.0)}  # fmt: skip
"""Million puts of 4 bytes a second on a ConnectX-7, by thread blocks: through a proxy (NVSHMEM IBRC), and from the GPU (IBGDA).

From a public file dated 2026-10-01 whose repository is not known; so are the round trips of `PROXY` and `OWN`.
"""
PROXY, OWN = (16.0e-6, 1 / 3.2e6), (24.3e-6, 1 / 12.7e6)
"""Seconds of a small round trip, and for each further message of one thread block: through the proxy, and from the GPU."""
RIVALS = ("ring", "halving-doubling", "recursive-doubling")
"""Algorithms that need no help of a switch, of which the fastest is what SHARP has to beat. A binary tree and a pairwise exchange never are."""
_LARGE = "64 MiB"


@cache
def carried(transport: str, mtu: int) -> float:
    """Return the GB/s of payload that a NIC of 100 Gb/s carries."""
    # `goodput` is payload over what is on the wire.
    scenario = LINE.with_(transport=transport, mtu=mtu)
    return scenario.goodput * scenario.hardware.nic_Bps / 1e9


def brochure() -> pd.DataFrame:
    """Return the overview's table of large messages beside the payload on the wire at two packet sizes, Gb/s."""
    rows = {}
    for (title, (low, high)), (name, sizes) in zip(QUOTED.items(), _ON.values(), strict=True):
        entries = {
            f"{which} packets": 8 * carried(name, mtu)
            for which, mtu in zip(("small", "large"), sizes, strict=True)
        }
        rows[title] = {"quoted": f"{low} to {high}"} | entries
    return pd.DataFrame.from_dict(rows, orient="index")


@cache
def _between_devices(cluster: str, path: str, start_us: float = 0, size: str | int = 8) -> Run:
    """Return a message from device to device without a library, where each staged copy waits so many microseconds to start."""
    machine = load_cluster(cluster)
    if start_us:
        machine = machine.with_figure(
            "device.copy_start", start_us, assumption="5 to 20 us; an H200 takes 7 to 9"
        )
    # The machine's own network, as its file names it first.
    speaks = machine.transports[0]
    scenario = Scenario(
        cluster=machine, path=path, collective="point-to-point", nodes=2, message_bytes=size, library="none", transport=speaks
    )  # fmt: skip
    return simulate(scenario)


def one_core() -> float:
    """Return the Gb/s that a core of a host with A100 sends over kernel TCP."""
    return 8 * _between_devices("roce-100g-a100", "host-tcp", 0, _LARGE).busbw_GBps


def tcp_cores() -> pd.DataFrame:
    """Return what so many cores send over kernel TCP, Gb/s, up to what a wire of 100 Gb/s carries in packets of 1500 bytes."""
    wire, core = 8 * carried("tcp", 1500), one_core()
    return pd.DataFrame(
        # Cores add up until the wire is full.
        {"quoted": "60 to 70", "peerlab": [min(n * core, wire) for n in range(1, 7)]},
        index=pd.Index(range(1, 7), name="cores"),
    )


def latencies() -> pd.DataFrame:
    """Return the overview's latencies of 8 bytes beside simulated ones, microseconds: with gdrcopy, and with copies that are started.

    Beside its column of the CPU, per cent: what kernel TCP takes of a core in peerlab at 64 MiB. The posting of RDMA is not counted.
    """
    rows = {}
    for title, (quoted, cpu, cluster, path) in _LATENCIES.items():
        simulated = {
            f"copies start in {us} µs" if us else "with gdrcopy": _between_devices(cluster, path, us).time_s * 1e6
            for us in START_US
        }  # fmt: skip
        cores = 100 * _between_devices(cluster, path, 0, _LARGE).cores_busy
        rows[title] = (
            {"quoted, µs": quoted} | simulated | {"CPU quoted, %": cpu, "a core at 64 MiB, %": cores}
        )
    return pd.DataFrame.from_dict(rows, orient="index")


def places() -> pd.DataFrame:
    """Return what a GPU sends straight to a NIC, by where that hangs, GB/s: A100 and InfiniBand HDR."""
    scenario = Scenario(
        cluster="infiniband-hdr-a100", path="peer-direct", collective="point-to-point", nodes=2, message_bytes="256 MiB",
        library="none",
    )  # fmt: skip
    runs = {
        "below one switch": simulate(scenario),
        "below one CPU": simulate(scenario.with_(wiring="root-port")),
        "across sockets": simulate(scenario.with_(wiring="other-socket")),
    }
    quoted = {"below one switch": "works", "below one CPU": "works", "across sockets": "does not work"}
    return pd.DataFrame.from_dict(
        {
            name: {"quoted": quoted[name], "peerlab, GB/s": run.busbw_GBps, "limits most": run.bottleneck.label if run.bottleneck else ""}
            for name, run in runs.items()
        },
        orient="index",
    )  # fmt: skip


def gpt3() -> pd.DataFrame:
    """Return the overview's table of GPT-3 beside what it would take of each A100, which does 312 TFLOP/s at its peak."""
    rows = {}
    for title, (samples, device, network) in _GPT3.items():
        # 175 billion parameters, 2,048 tokens a sample, 1,024 devices; 10^12 operations a second.
        tera = parameter_flop(175e9, 2048 * samples) / 1024 / 1e12
        rows[title] = {
            "quoted: samples a second": samples, "quoted: GPU, %": device, "quoted: network, %": network,
            "worked out: TFLOP/s a GPU": tera, "worked out: of the peak, %": 100 * tera / 312,
        }  # fmt: skip
    tera = parameter_flop(175e9, 2048 * _PUBLISHED) / 1024 / 1e12
    rows["published (Megatron-LM)"] = {
        "quoted: samples a second": _PUBLISHED, "worked out: TFLOP/s a GPU": tera, "worked out: of the peak, %": 100 * tera / 312,
    }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index")


@cache
def in_node_switch(devices: int) -> float:
    """Return the GB/s (algbw) of an AllReduce of 4 GiB that the switch of a node with so many H100 adds up."""
    # Each device below a switch of its own: so a node may have any number of them.
    cluster = load_cluster("p5").with_figure("node.numa_domains", 1, assumption="a what-if")
    machine = cluster.with_figure("node.switches_per_numa", devices, assumption="a what-if")
    return simulate(Scenario(cluster=machine, nodes=1, algorithm="nvls", message_bytes="4 GiB")).algbw_GBps


def nvlink_sharp() -> pd.DataFrame:
    """Return the published points of NVLink SHARP beside simulated ones, GB/s."""
    rows = {}
    for devices, (algbw, busbw) in _NVLS.items():
        number = in_node_switch(devices)
        rows[f"{devices} H100"] = {
            "published algbw": algbw, "peerlab algbw": number, "published busbw": busbw, "peerlab busbw": number * 2 * (devices - 1) / devices,
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index")


def storage() -> pd.DataFrame:
    """Return how fast drives fill a GPU, bounced and direct, GB/s: the quoted gain of 2 to 3 needs a slow copy."""
    return pd.DataFrame.from_dict(storage_rows(), orient="index")


def storage_rows() -> dict[str, dict[str, Any]]:
    """Return the rows of `storage` by their names."""
    # Drives, uplink, host memory and copy, GB/s; then drives, peer writes and the device's link.
    cases = {
        "copy by one core, 8 GB/s": (forms.storage_bounced(25, 28.2, 200, 8), forms.storage_direct(25, 28.2, 28.2)),
        "uplink shared both ways": (forms.storage_bounced(25, 28.2, 200, 23), forms.storage_direct(25, 28.2, 28.2)),
        "copy engine, uplink its own": (
            forms.storage_bounced(25, 28.2, 200, 23, shares_uplink=False), forms.storage_direct(25, 28.2, 28.2),
        ),
        "two drives of 3.5 GB/s": (forms.storage_bounced(7, 28.2, 200, 23), forms.storage_direct(7, 28.2, 28.2)),
        "old host, Xeon E5-2650 v4": (forms.storage_bounced(9.4, 24, 60, 12), forms.storage_direct(9.4, 7.1, 12)),
    }  # fmt: skip
    return {
        name: {
            "bounced": bounced.rate, "limited by": bounced.limit, "direct": other.rate, "then by": other.limit,
            "times as fast": other.rate / bounced.rate, "quoted": "2 to 3",
        }
        for name, (bounced, other) in cases.items()
    }  # fmt: skip


def puts() -> pd.DataFrame:
    """Return the measured puts a second beside a law: a proxy is one thread, and on the GPU each thread block adds its own."""
    rows = {
        n: {
            # A put of no size on an endless wire: what is left are the threads that post it.
            "proxy, measured": proxy, "from the GPU, measured": own, "from the GPU, by the law": forms.message_rate(0, 1, float("inf"), 12.7e6, n) / 1e6,
        }
        for n, (proxy, own) in _PUTS.items()
    }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("thread blocks")


def initiated() -> pd.DataFrame:
    """Return how long so many messages of one thread block take, microseconds: through a proxy, and from the GPU."""
    counts = pd.Index((1, 10, 100, 1000), name="messages")
    times = {
        "through a proxy, µs": [forms.initiated(*PROXY, n) * 1e6 for n in counts],
        "from the GPU, µs": [forms.initiated(*OWN, n) * 1e6 for n in counts],
    }
    table = pd.DataFrame(times, index=counts)
    return table.assign(**{"times as fast": table.iloc[:, 0] / table.iloc[:, 1]})


@cache
def _rivals(nodes: int, size: str | int) -> dict[str, float]:
    """Return the seconds of every algorithm of `RIVALS` on a bare network of 100 Gb/s and 5 us."""
    scenario = LINE.with_(nodes=nodes, message_bytes=size)
    return {name: simulate(scenario.with_(algorithm=name)).time_s for name in RIVALS}


def best_rival(nodes: int, size: str | int) -> tuple[str, float]:
    """Return which algorithm is the fastest without help of a switch on a bare network of 100 Gb/s and 5 us, and its seconds."""
    times = _rivals(nodes, size)
    # Ties go to the first, in the order of `RIVALS`.
    best = min(times, key=lambda name: times[name])
    return best, times[best]


@cache
def added_up(nodes: int, size: str | int) -> float:
    """Return the seconds of an AllReduce that the switches add up (SHARP), on the same network."""
    return simulate(LINE.with_(nodes=nodes, message_bytes=size, algorithm="sharp")).time_s


def sharp_table() -> pd.DataFrame:
    """Return the time of SHARP, of a ring and of the fastest algorithm without it, microseconds, and what SHARP gains against that one."""
    rows = {}
    for nodes, size in product((2, 8, 64), ("8 KiB", "1 MiB", _LARGE)):
        (best, seconds), sums = best_rival(nodes, size), added_up(nodes, size)
        ring = _rivals(nodes, size)["ring"]
        rows[nodes, size] = {
            "ring, µs": ring * 1e6, "best without SHARP": best, "its time, µs": seconds * 1e6, "SHARP, µs": sums * 1e6, "times as fast": seconds / sums,
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["nodes", "message"])


def waiting(watts: float, price: float, nodes: int) -> pd.DataFrame:
    """Return what waiting costs in a year by its share of a step: kWh, and their price in the price's currency.

    Parameters
    ----------
    watts:
        What each node draws while it waits.
    price:
        Of a kWh.
    nodes:
        How many wait.
    """
    rows = {
        # Shares of a step of one second: only the ratio counts.
        f"{share:.0%}": dict(zip(("kWh a year", "price a year"), forms.waiting_year(share, 1.0, nodes, watts, price), strict=True))
        for share in (0.01, 0.05, 0.1, 0.2)
    }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("of a step exposed")
