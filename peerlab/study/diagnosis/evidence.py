"""A piece of evidence, and those from the log itself: its lines, set-up, latencies, and rates that a path cannot reach."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from peerlab.model.paths import IN_NODE, PATHS, DataPath
from peerlab.study.diagnosis.knowledge import Knowledge, Known
from peerlab.study.observed import Observed
from peerlab.units import KIB, say_bytes, say_count

Holds = Callable[[DataPath], bool]
"""Something that holds of a data path, or not."""
_TCP: Holds = attrgetter("uses_kernel_tcp")
_OWN_PORTS: Holds = attrgetter("uses_own_ports")
_DEVICE_MEMORY: Holds = attrgetter("uses_device_memory")
_RDMA: Holds = attrgetter("is_rdma")


def _staged_rdma(path: DataPath) -> bool:
    return path.is_staged and path.is_rdma


def _each(holds: Holds, points: float) -> dict[str, float]:
    """Return these points for every data path of real machines of which something holds."""
    return {path: points for path, one in PATHS.items() if not one.is_bare and holds(one)}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was seen and what it says."""

    kind: str
    """``line``, ``set-up``, ``latency``, ``rate`` or ``cluster``."""
    seen: str
    """What the log says, with units."""
    says: str
    """What follows."""
    points: Mapping[str, float]
    """By path: natural logarithm of how many times likelier it becomes."""
    known: bool
    """Whether it rests on something documented; False: on a guess or an assumption."""
    source: str
    """Where its meaning was read, and what is assumed."""
    of_smallest: bool = False
    """Whether it is how long a message of a few bytes takes: that counts in a run that is held up at larger sizes."""


def from_lines(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield what lines and settings say, each meaning once."""
    for rule in know.rules:
        hits = [hit[0].strip() for line in seen.said if (hit := rule.pattern.search(line))]
        beside = not rule.beside or any(map(rule.beside.search, seen.said))
        if hits and beside and not (rule.unless and any(map(rule.unless.search, seen.said))):
            yield Evidence(
                kind="line",
                seen=f"'{hits[0]}'",
                says=rule.says,
                points=rule.points,
                known=not rule.guessed,
                source=rule.source,
            )


def from_setup(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield what ranks, nodes and buffers say."""
    weigh = know.strengths
    if seen.memory == "host":
        yield Evidence(
            kind="set-up",
            seen="buffers in host memory" + ("" if seen.memory_known else " (OSU's default)"),
            says="device memory is not involved: Peer Direct could not have been used, and would change nothing",
            points=_each(lambda path: path.uses_device_memory or path.uses_own_ports, -weigh["decides"]),
            known=seen.memory_known,
            source="OSU micro-benchmarks: D is device memory, H host memory; the default is host memory",
        )
    if seen.nodes == 1:
        yield Evidence(
            kind="set-up",
            seen="one node",
            says="no network is needed at all, though a library may use its NIC even here",
            points={IN_NODE: weigh["strong"]},
            known=True,
            source="the log",
        )
    elif seen.nodes is None:
        yield from _how_many_nodes(seen, know)


def _how_many_nodes(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield a guess at whether there is a network at all."""
    box = know.ranges["box"]
    if seen.collective_record.is_message or seen.ranks is None:
        return
    fits = seen.ranks <= box.high
    yield Evidence(
        kind="set-up",
        seen=f"{say_count(seen.ranks, 'rank')}, and no word about nodes",
        says="they fit in one box" if fits else "more than a usual box has accelerators: two nodes or more",
        points={IN_NODE: know.strengths["weak"] if fits else -know.strengths["fair"]},
        known=False,
        source=told_source(box),
    )


def from_latency(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield what the time of the smallest messages says."""
    if math.isnan(seen.small_s):
        return
    if seen.variant == "bandwidth":
        yield _interval(seen, know)
        return
    yield from _small_device_messages(seen, know)
    if seen.nodes is None and seen.nccl:
        yield from _in_node_latency(seen, know)
    took = message_us(seen, know)
    if took is not None and not seen.by_nccl_law:  # NCCL's law says more
        yield from _promptness(seen, know, *took)


def message_us(seen: Observed, know: Knowledge) -> tuple[float, float] | None:
    """Return how long a message of a few bytes takes, at least and at most, microseconds; None where nobody knows."""
    steps = _steps(seen)
    if steps is None or math.isnan(seen.small_s) or seen.variant == "bandwidth":
        return None
    low, high = _inside(seen, know) if seen.nccl else (0.0, 0.0)
    took = seen.small_s * 1e6
    return max(took - high, 0) / steps[1], max(took - low, 0) / steps[0]


def _inside(seen: Observed, know: Knowledge) -> tuple[float, float]:
    """Return what NCCL needs beside the messages between nodes, at least and at most, microseconds."""
    base, hop = know.ranges["nccl_base"], know.ranges["nccl_hop"]
    others = (seen.per_node or 1) - 1  # a chain through the node, there and back
    return base.low + others * hop.low, base.high + 2 * others * hop.high


def _steps(seen: Observed) -> tuple[int, int] | None:
    """Return how many messages between nodes follow one another, at least and at most; None where nobody knows."""
    if seen.collective_record.is_message:
        return 1, 1
    nodes, ranks = seen.nodes or 0, seen.ranks or 0
    if nodes < 2:
        return None
    halvings = math.ceil(math.log2(nodes))
    record = seen.collective_record
    if record.exchanges:
        return math.ceil(math.log2(max(ranks, 2))), max(ranks - 1, 1)
    if record.rooted:
        return 1, nodes - 1
    if (
        record.adds and record.spreads
    ):  # NCCL goes up and down a tree or twice round a ring; MPI may exchange halves at once
        return (2 if seen.nccl else 1) * halvings, 2 * (nodes - 1)
    return halvings, nodes - 1


def _promptness(seen: Observed, know: Knowledge, least: float, most: float) -> Iterator[Evidence]:
    """Yield what a message that takes `least` to `most` microseconds says."""
    weigh, tcp, rdma, efa = know.strengths, *(know.ranges[f"{n}_step"] for n in ("tcp", "rdma", "efa"))
    ends = [f"{least:.3g} to"] if 0 < least < most else ["up to"] if least < most else []
    took = " ".join([*ends, f"{most:.3g} µs"])
    what = f"a message of a few bytes takes {took}"
    if most < tcp.low:
        says, points, of = "too prompt for kernel TCP", _each(_TCP, -weigh["decides"]), tcp
    elif least > efa.high:
        says, points, of = "slow even for EFA: TCP is likelier", _each(_TCP, weigh["fair"]), efa
    elif least > rdma.high and not any("efa" in line.lower() for line in seen.said):
        says, points, of = "slow for RDMA, except over EFA", _each(_TCP, weigh["weak"]), rdma
    else:
        says, points, of = "as prompt as several paths are", {}, efa
    yield Evidence(
        kind="latency",
        seen=what,
        says=says,
        points=points,
        known=True,
        source=told_source(of),
        of_smallest=True,
    )


def _in_node_latency(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    inside = know.ranges["in_node_collective"]
    if seen.small_s * 1e6 > inside.high:
        yield Evidence(
            kind="latency",
            seen=f"the smallest collective takes {seen.small_s * 1e6:.3g} µs",
            says=f"inside one node it would take {inside}",
            points={IN_NODE: -know.strengths["fair"]},
            known=False,
            source=told_source(inside),
        )


def _interval(seen: Observed, know: Knowledge) -> Evidence:
    """Return what the time from one small message to the next says, many in flight."""
    weigh, usual, device = know.strengths, know.ranges["message_interval"], seen.memory == "device"
    took = seen.small_s * 1e6
    if took <= usual.high:
        says = "too quick for kernel TCP" + (
            ", and for a copy through the host before each" if device else ""
        )
        points = _each(_TCP, -weigh["strong"]) | (_each(_DEVICE_MEMORY, weigh["fair"]) if device else {})
    elif device:
        says = "slow for RDMA from device memory: a copy or TCP before each"
        points = _each(_TCP, weigh["weak"]) | _each(_DEVICE_MEMORY, -weigh["fair"])
    else:
        says, points = "slow for RDMA: kernel TCP is likelier", _each(_TCP, weigh["fair"])
    return Evidence(
        kind="latency",
        seen=f"a small message every {took:.3g} µs, many in flight",
        says=says,
        points=points,
        known=True,
        source=told_source(usual),
    )


def _small_device_messages(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield what each further byte of a small message from device memory costs: copies by a processor are slow."""
    some = (seen.sizes >= KIB) & (seen.sizes <= 8 * KIB)
    if not seen.collective_record.is_message or seen.memory != "device" or some.sum() < 3:
        return
    sizes, times = seen.sizes[some], seen.times_s[some]
    slope = float(np.polyfit(sizes, times, 1)[0])
    rate, slow = (1e-9 / slope if slope > 0 else math.inf), know.ranges["processor_reads_device"]
    if rate > slow.high and seen.small_s * 1e6 > know.ranges["rdma_step"].high:
        return  # as slow as copies by the driver, or as TCP: says nothing
    copied = rate <= slow.high
    strength = know.strengths["fair"]
    yield Evidence(
        kind="latency",
        seen=f"from {say_bytes(sizes[0])} to {say_bytes(sizes[-1])} each byte comes at {rate:.2g} GB/s",
        says=f"as when a processor reads device memory ({slow})"
        if copied
        else "no copy through the host on the way",
        points=_each(_staged_rdma, strength) | _each(_DEVICE_MEMORY, -strength)
        if copied
        else _each(_DEVICE_MEMORY, strength),
        known=True,
        source=told_source(slow),
    )


def from_rates(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield evidence from rates: above what a path reaches on any machine, or as slow as TCP."""
    nodes = seen.nodes or 2
    if seen.nodes == 1 and not seen.collective_record.is_message:
        return
    guess = "" if seen.nodes or seen.collective_record.is_message else ", if there are two nodes"
    per_node = seen.per_node or max((seen.ranks or 2) // nodes, 1)
    node = seen.node_rate(seen.fastest_GBps, nodes)
    limits: list[tuple[str, Holds, float, str]] = [
        ("tcp_node", _TCP, node, "a node"),
        ("port_device", _OWN_PORTS, node / per_node, "a device"),
    ]
    if seen.memory == "device":
        limits += [("staged_device", _staged_rdma, node / per_node, "a device")]
    for name, holds, rate, of in limits:
        limit = know.ranges[name]
        if rate > limit.high:
            yield Evidence(
                kind="rate",
                seen=f"{of} sends {rate:.3g} GB/s{guess}",
                says=f"more than {limit.what} carries ({limit.high:g} GB/s)",
                points=_each(holds, -know.strengths["decides" if rate > 2 * limit.high else "strong"]),
                known=not guess,
                source=told_source(limit),
            )
    yield from _slow(seen, know, nodes)
    yield from _like_a_nic(seen, know)


def _slow(seen: Observed, know: Knowledge, nodes: int) -> Iterator[Evidence]:
    stream, rate = know.ranges["tcp_stream"], seen.node_rate(seen.plateau_GBps, nodes)
    if rate <= stream.high:  # false where there is no plateau
        yield Evidence(
            kind="rate",
            seen=f"a node sends {rate:.3g} GB/s at the largest sizes",
            says=f"no more than one stream of TCP does ({stream.high:g} GB/s)",
            points=_each(_TCP, know.strengths["weak"]),
            known=False,
            source=told_source(stream),
        )


def _like_a_nic(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield evidence from the largest messages between two ranks: whether they are as fast as a usual NIC carries them."""
    share, rate = know.ranges["share_of_a_nic"], seen.plateau_GBps
    for nic in know.nics_GBps if seen.collective_record.is_message else ():
        if share.low <= rate / nic <= share.high:
            yield Evidence(
                kind="rate",
                seen=f"the largest messages come at {rate:.3g} GB/s",
                says=f"{rate / nic:.0%} of a NIC of {8 * nic:g} Gbit/s, as if it were the limit",
                points=_each(_RDMA, know.strengths["fair"]),
                known=False,
                source=told_source(share),
            )


def told_source(known: Known) -> str:
    """Return where a figure comes from, and what is assumed about it."""
    return known.source + (f"; assumed: {known.assumption}" if known.assumption else "")
