"""A piece of evidence, and those from the log itself: its lines, set-up, latencies, and rates that a path cannot reach."""

# A diagnosis is a sum of evidence. Each piece of evidence makes a path so many times likelier, in four
# strengths that are judgement, the same for every log. They stand in `data/diagnosis.toml` beside what
# lines mean and how fast paths can be. A path is named if it leads far enough and nothing strong speaks
# against it; a log whose lines and figures disagree is left open. Slowness alone speaks against no path
# that some of its NICs would explain, and never against TCP. Clusters that were recognised only by a
# device's name weigh less than one that was named. If a simulated path explains a figure, that counts for
# it; a path that is not simulated loses nothing by that.

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import linear_regression

from peerlab.base.units import KIB, say_bytes
from peerlab.diagnosis.knowledge import Knowledge, Known
from peerlab.diagnosis.observed import Observed
from peerlab.model.paths import IN_NODE, PATHS, DataPath

Holds = Callable[[DataPath], bool]
"""Something that holds of a data path, or not."""
TCP: Holds = attrgetter("uses_kernel_tcp")
OWN_PORTS: Holds = attrgetter("uses_own_ports")
_DEVICE_MEMORY: Holds = attrgetter("uses_device_memory")
RDMA: Holds = attrgetter("is_rdma")
_CLIQUE = re.compile(r"MNNVL 1 cliqueId \S+ cliqueSize (\d{1,6})")
_NCCL_OVER_UCX = re.compile(r"NET/UCX|\bNCCL_NET=UCX|\bNCCL_PLUGIN_P2P=ucx|Using network UCX", re.IGNORECASE)
_GDRCOPY = re.compile(r"gdr_copy|gdrcopy(?!(?:_ENABLE)?=0)", re.IGNORECASE)
"""How a log says that a processor can reach device memory itself, so that small messages wait for no copy."""
_NO_NAME = re.compile(r"(?:nvidia|amd) (?:graphics device|gpu|radeon graphics)", re.IGNORECASE)
"""What a driver calls an accelerator that is newer than itself."""


def tcp_to_device(path: DataPath) -> bool:
    """Return whether a NIC reaches device memory, and TCP carries the bytes: GPUDirect-TCPX and TCPXO."""
    return path.uses_device_memory and not (path.is_rdma or path.uses_own_ports or path.uses_kernel_tcp)


def names_nothing(seen: Observed, know: Knowledge) -> bool:
    """Return whether a log of NCCL names neither an accelerator nor anything of its transport, so that it may be from any machine."""
    if seen.devices or not seen.nccl:
        return False
    return not any(rule.pattern.search(line) for rule in know.rules for line in seen.said)


def named(devices: Iterable[str]) -> list[str]:
    """Return the names that tell an accelerator, without what drivers call one that is newer than themselves."""
    return [device for device in devices if not _NO_NAME.fullmatch(device.strip())]


def over_nic(path: DataPath) -> bool:
    """Return whether a path goes through a NIC."""
    return not path.uses_own_ports


def staged_rdma(path: DataPath) -> bool:
    """Return whether a path stages in host memory and does RDMA."""
    return path.is_staged and path.is_rdma


def every(holds: Holds, points: float) -> dict[str, float]:
    """Return these points for every data path of real machines of which something holds."""
    return {path: points for path, record in PATHS.items() if not record.is_bare and holds(record)}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One observation in a log, and which paths it makes likelier."""

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
    elsewhere: bool = False
    """Whether it says that the log took none of the paths that are weighed."""


def from_lines(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield what lines and settings say, each meaning once."""
    heeds_ucx = not seen.nccl or any(map(_NCCL_OVER_UCX.search, seen.said))
    for rule in know.rules:
        others = rule.devices and not (seen.devices and all(map(rule.devices.search, seen.devices)))
        if others or (rule.ucx and not heeds_ucx):
            continue
        # Every rank prints its lines, and some print them again: however often, it is one piece of evidence.
        hits = [hit[0].strip() for line in seen.said if (hit := rule.pattern.search(line))]
        beside = not rule.beside or any(map(rule.beside.search, seen.said))
        version = f"NCCL version {seen.version.removeprefix('NCCL ')}"
        if hits and beside and not (rule.unless and any(map(rule.unless.search, (*seen.said, version)))):
            yield Evidence(
                kind="line",
                seen=f"'{hits[0]}'",
                says=rule.says,
                points=rule.points,
                known=not rule.guessed,
                source=rule.source,
                elsewhere=rule.elsewhere,
            )
    yield from _one_domain(seen, know)


def _one_domain(observed: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield that NVLink joins all ranks over several servers, where NCCL says so."""
    hits = [hit for line in observed.said if (hit := _CLIQUE.search(line))]
    if hits and observed.ranks and int(hits[0][1]) >= observed.ranks:
        points = every(over_nic, -know.strengths["decides"]) | {IN_NODE: know.strengths["decides"]}
        yield Evidence(
            kind="line",
            seen=f"'{hits[0][0]}'",
            says=f"NVLink joins all {observed.ranks} ranks, whatever servers they are on",
            points=points,
            known=True,
            source="NVIDIA/nccl src/mnnvl.cc: a clique is what one NVLink domain joins",
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
    # Least: as much as possible goes on inside the node, and as many messages as possible share the rest.
    return max(took - high, 0) / steps[1], max(took - low, 0) / steps[0]


def _inside(observed: Observed, know: Knowledge) -> tuple[float, float]:
    """Return what NCCL needs beside the messages between nodes, at least and at most, microseconds."""
    base, hop = know.ranges["nccl_base"], know.ranges["nccl_hop"]
    others = (observed.per_node or 1) - 1  # a chain through the node, there and back
    return base.low + others * hop.low, base.high + 2 * others * hop.high


def _steps(observed: Observed) -> tuple[int, int] | None:
    """Return how many messages between nodes follow one another, at least and at most; None where nobody knows."""
    if observed.collective_record.is_message:
        return 1, 1
    nodes, ranks = observed.nodes or 0, observed.ranks or 0
    if nodes < 2:
        return None
    # at least a tree's depth, at most a ring's length
    halvings = math.ceil(math.log2(nodes))
    record = observed.collective_record
    if record.exchanges:
        return math.ceil(math.log2(max(ranks, 2))), max(ranks - 1, 1)
    if record.rooted:
        return 1, nodes - 1
    if (
        record.adds and record.spreads
    ):  # NCCL goes up and down a tree or twice round a ring; MPI may exchange halves at once
        return (2 if observed.nccl else 1) * halvings, 2 * (nodes - 1)
    return halvings, nodes - 1


def _promptness(observed: Observed, know: Knowledge, least: float, most: float) -> Iterator[Evidence]:
    """Yield what a message that takes `least` to `most` microseconds says."""
    weigh, tcp, rdma, efa = know.strengths, *(know.ranges[f"{n}_step"] for n in ("tcp", "rdma", "efa"))
    # from device memory a copy comes on top, on either side
    quickest = know.ranges["quickest_tcp_step"] if observed.memory == "host" else tcp
    # the driver's copy may be all of it, on whatever path
    if least > rdma.high and waits_for_copies(observed):
        return
    ends = [f"{least:.3g} to"] if 0 < least < most else ["up to"] if least < most else []
    took = " ".join([*ends, f"{most:.3g} µs"])
    what = f"a message of a few bytes takes {took}"
    # The longest that it may take is too short, or the shortest too long: what lies between names no path.
    if most < quickest.low:
        sentence, points, of = "too prompt for kernel TCP", every(TCP, -weigh["decides"]), quickest
    elif most < tcp.low:
        sentence, points, of = "too prompt for kernel TCP on most hosts", every(TCP, -weigh["weak"]), quickest
    elif least > efa.high:
        # Whatever waits for a core or an interrupt is as late over RDMA, and RCCL and old versions of NCCL take 60 to 90 us a hop: lateness alone names no path.
        sentence, points, of = "slow even for EFA: TCP is likelier", every(TCP, weigh["weak"]), efa
    elif least > rdma.high and not any("efa" in line.lower() for line in observed.said):
        sentence, points, of = "slow for RDMA, except over EFA", every(TCP, weigh["weak"]), rdma
    else:
        sentence, points, of = "as prompt as several paths are", {}, efa
    yield Evidence(
        kind="latency",
        seen=what,
        says=sentence,
        points=points,
        known=True,
        source=told_source(of),
        of_smallest=True,
    )


def waits_for_copies(seen: Observed) -> bool:
    """Return whether a small message may wait for a copy by the driver, so that its time says little of the network.

    A processor reaches device memory by gdrcopy alone; without it MPI asks the driver for a copy of some ten microseconds, on whatever
    path the large messages take. NCCL's own kernels need no such copy.
    """
    return seen.memory == "device" and not seen.nccl and not any(map(_GDRCOPY.search, seen.said))


def _in_node_latency(observed: Observed, know: Knowledge) -> Iterator[Evidence]:
    usual = know.ranges["in_node_collective"]
    # a ring goes twice round all ranks, of which a domain of several servers has many
    base, hop, ranks = know.ranges["nccl_base"], know.ranges["nccl_hop"], observed.ranks or 0
    inside = replace(usual, high=max(usual.high, round(base.high + 2 * (ranks - 1) * hop.high)))
    if observed.small_s * 1e6 > inside.high:
        yield Evidence(
            kind="latency",
            seen=f"the smallest collective takes {observed.small_s * 1e6:.3g} µs",
            says=f"inside one node it would take {inside}",
            points={IN_NODE: -know.strengths["fair"]},
            known=False,
            source=told_source(inside),
        )


def _interval(observed: Observed, know: Knowledge) -> Evidence:
    """Return what the time from one small message to the next says, many in flight."""
    weigh, usual, device = know.strengths, know.ranges["message_interval"], observed.memory == "device"
    took = observed.small_s * 1e6
    if took <= usual.high:
        sentence = "too quick for kernel TCP" + (
            ", and for a copy through the host before each" if device else ""
        )
        points = every(TCP, -weigh["strong"]) | (every(_DEVICE_MEMORY, weigh["fair"]) if device else {})
    elif took <= know.ranges["rdma_step"].high:  # with many in flight none takes longer than alone
        sentence, points = "as often as RDMA and kernel TCP may send", {}
    elif device and waits_for_copies(observed):
        sentence, points = "as slow as copies by the driver are, on whatever path: without gdrcopy", {}
    elif device:
        sentence = "slow for RDMA from device memory: a copy or TCP before each"
        points = every(TCP, weigh["weak"]) | every(_DEVICE_MEMORY, -weigh["fair"])
    else:
        sentence, points = "slow for RDMA: kernel TCP is likelier", every(TCP, weigh["fair"])
    return Evidence(
        kind="latency",
        seen=f"a small message every {took:.3g} µs, many in flight",
        says=sentence,
        points=points,
        known=True,
        source=told_source(usual),
    )


def _small_device_messages(observed: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield what each further byte of a small message from device memory costs: copies by a processor are slow."""
    # Sizes that MPI sends at once and a processor may copy itself. Three of them: a line fits any two.
    some = (observed.sizes >= KIB) & (observed.sizes <= 8 * KIB)
    if not observed.collective_record.is_message or observed.memory != "device" or some.sum() < 3:
        return
    sizes, times = observed.sizes[some], observed.times_s[some]
    slope = linear_regression(sizes.tolist(), times.tolist()).slope
    rate, slow = (1e-9 / slope if slope > 0 else math.inf), know.ranges["processor_reads_device"]
    if observed.small_s * 1e6 > know.ranges["rdma_step"].high and (
        rate > slow.high or waits_for_copies(observed)
    ):
        return  # as slow as copies by the driver, or as TCP: says nothing
    copied = rate <= slow.high
    strength = know.strengths["fair"]
    yield Evidence(
        kind="latency",
        seen=f"from {say_bytes(sizes[0])} to {say_bytes(sizes[-1])} each byte comes at {rate:.2g} GB/s",
        says=f"as when a processor reads device memory ({slow})"
        if copied
        else "no copy through the host on the way",
        points=every(staged_rdma, strength) | every(_DEVICE_MEMORY, -strength)
        if copied
        else every(_DEVICE_MEMORY, strength),
        known=True,
        source=told_source(slow),
    )


def told_source(known: Known) -> str:
    """Return where a figure comes from, and what is assumed about it."""
    return known.source + (f"; assumed: {known.assumption}" if known.assumption else "")
