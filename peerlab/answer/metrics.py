"""What a trace says: bandwidths, busy shares, the bottleneck, copies, CPU. Free functions on a recording.

A recording may be folded (one switch of one node); every figure here is for a whole node, or for the resource of its
kind that is busiest.
"""

# Figures need totals, not spans. Bandwidths, busy shares and copies follow from one sum per resource
# (`trace.Totals`). The array engine adds them up while it runs and makes the spans when somebody asks for
# them. So rows of a sweep that differ in `seed` and `jitter` alone are one call of `arrays/side_by_side`:
# 200 seeds of a jittered ring of 64 nodes take 0.15 s of CPU time. A row is the same, to the last digit, as
# that of a run by itself, so it does not matter how a sweep is cut into tasks.

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from peerlab.answer.trace import Recording, Trace
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import PS_PER_S, gigabytes_per_second, say_percent
from peerlab.library.rate_bounds import path_bound_Bps
from peerlab.model.paths import sending_kinds
from peerlab.model.resources import RESOURCES, ResourceKind, capacity_Bps, count_in_node, resource_kind
from peerlab.question.scenario import Scenario

LATENCY = "latency"
_TURNS = {"nic_tx": "proxy", "proxy": "NIC"}
BUSY = 0.05
"""Busy share from which on a resource is worth a word: what works for less than a twentieth of the time limits nothing."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What a collective mostly waits for."""

    kind: str
    """Key of `RESOURCES`, or ``latency``."""
    label: str
    """Name in plain words."""
    share: float
    """Share of the time that it is busy (for latency: that a slice spends in flight), 0 to 1."""
    in_turns: float | None = None
    """The same of a NIC and the library's proxy together: a proxy has each message until the NIC has sent it, so they take turns."""

    @property
    def resource(self) -> ResourceKind | None:
        """What is known of the resource; None: it is latency, which no resource serves."""
        return None if self.kind == LATENCY else resource_kind(self.kind)

    @property
    def says(self) -> str:
        """How much it limits, such as ``95 % busy``."""
        turns = f", {say_percent(self.in_turns)} with its {_TURNS[self.kind]}" if self.in_turns else ""
        return self.alone + turns

    @property
    def alone(self) -> str:
        """The same without the one that it takes turns with."""
        return f"{say_percent(self.share)} {'busy' if self.resource else 'of the time in flight'}"

    @property
    def together(self) -> str:
        """How busy both are that take turns, such as ``NIC or its proxy: 87 % busy``; empty: it takes turns with none."""
        if not self.in_turns:
            return ""
        other = _TURNS[self.kind]
        here = "NIC" if other == "proxy" else "proxy"
        return f"{here[0].upper()}{here[1:]} or its {other}: {say_percent(self.in_turns)} busy"


def algbw_GBps(scenario: Scenario, time_ps: int) -> float:  # noqa: N802
    """Return bytes / time in GB/s; not a number where no time passes (one rank has nothing to exchange)."""
    return gigabytes_per_second(scenario.nbytes, time_ps) if time_ps else float("nan")


def busbw_GBps(scenario: Scenario, time_ps: int) -> float:  # noqa: N802
    """Return algbw x bus factor in GB/s; 0 where no time passes."""
    return (
        algbw_GBps(scenario, time_ps) * scenario.collective_record.bus_factor(scenario.ranks)
        if time_ps
        else 0.0
    )


def wire_limit_GBps(scenario: Scenario) -> float:  # noqa: N802
    """Return the busbw at which what a path sends with, such as a node's NICs, would be busy all the time.

    Of several kinds that send one after the other the slowest counts. A library's protocol may carry less than the NIC's
    rate; the limit is what this message's does. It depends on the number of nodes: a node of D devices sends (N-1)/N of
    the message over its NICs (twice in an AllReduce, D times in an all-to-all), while busbw counts N x D ranks. Not a number
    where nothing sends.
    """
    machine, nodes = scenario.cluster_for_message, scenario.domains
    sending = sending_kinds(machine, str(scenario.path))
    if nodes == 1 or not sending:
        return float("nan")
    touches = {use.kind: use.touches for stage in scenario.stages for use in stage.uses}
    each = {kind: capacity_Bps(machine, kind) / touches[kind] for kind in sending}
    # busbw counts payload, and what frames carries headers too
    each |= {kind: rate * scenario.goodput for kind, rate in each.items() if resource_kind(kind).frames}
    if scenario.collective_record.is_message:
        return min(each.values()) / 1e9
    node = min(rate * count_in_node(machine, kind) for kind, rate in each.items())
    return node / 1e9 * scenario.collective_record.bus_factor(scenario.ranks) / _node_sends(scenario)


def least_time_s(scenario: Scenario) -> float:
    """Return the seconds that a collective between nodes takes at least: its wires, or a part of the data path, always busy.

    It costs no simulation, and no simulation is faster; how much slower one is, latencies and waiting decide. 0 where nothing leaves by a
    NIC: one node, or nodes of one NVLink domain.
    """
    if scenario.domains == 1:
        return 0.0
    busbw = wire_limit_GBps(scenario) * 1e9
    on_wires = scenario.collective_record.bus_factor(scenario.ranks) * scenario.nbytes / busbw
    if scenario.collective_record.is_message:
        return on_wires
    through = path_bound_Bps(scenario.cluster_for_message, str(scenario.path))
    return max(on_wires, _node_sends(scenario) * scenario.nbytes / through)


def _node_sends(scenario: Scenario) -> float:
    """Return how many times the message a node sends over its NICs in a collective."""
    if scenario.algorithm_record.in_network:
        return 1.0  # its buffer once
    choice = scenario.choice
    if choice:
        return choice.load
    return scenario.collective_record.node_factor(scenario.domains, scenario.cluster_for_message.devices)


def _moved(trace: Trace, recording: Recording, counted_as: str) -> dict[str, int]:
    """Return the bytes that crossed the recorded resources that count as this (`ResourceKind.counts_as`), by kind."""
    moved: dict[str, int] = {}
    for resource, nbytes in zip(trace.resources, recording.totals.nbytes.tolist(), strict=False):
        if nbytes and resource_kind(resource.kind).counts_as == counted_as:
            moved[resource.kind] = moved.get(resource.kind, 0) + nbytes
    return moved


def _left(trace: Trace, recording: Recording) -> int:
    """Return the bytes that left a node: those sent into the network, or copied once where nothing sends."""
    sent = _moved(trace, recording, "send")
    # a byte is copied out and in, so each kind alone has them all
    return sum(sent.values()) or min(_moved(trace, recording, "copy").values(), default=0)


def busy_ps(trace: Trace, recording: Recording) -> NDArray[np.float64]:
    """Return per resource the picoseconds of its capacity that were used."""
    served, moved = recording.totals.served_ps.tolist(), recording.totals.nbytes.tolist()
    used = np.zeros(len(trace.resources))
    for index, (resource, ps, nbytes) in enumerate(zip(trace.resources, served, moved, strict=False)):
        if resource.shared and resource_kind(resource.kind).frames:  # flows: their headers take room too
            used[index] = ps * resource.copies
        elif resource.shared:  # engines overlap: count bytes against capacity
            used[index] = float(nbytes) * resource.copies * PS_PER_S / resource.capacity_Bps
        else:
            used[index] = ps / resource.servers
    return used


def busy_shares(trace: Trace, recording: Recording) -> dict[str, float]:
    """Return per kind of resource the busy share of the busiest one, 0 to 1, in the order of `RESOURCES`."""
    if recording.end_ps == 0:
        return {}
    used = busy_ps(trace, recording)
    shares: dict[str, float] = {}
    for resource, ps in zip(trace.resources, used.tolist(), strict=True):
        if not resource_kind(resource.kind).in_flight:
            share = min(ps / recording.end_ps, 1.0)
            shares[resource.kind] = max(share, shares.get(resource.kind, 0.0))
    return {kind: shares[kind] for kind in RESOURCES if kind in shares}


def flight_share(recording: Recording) -> float:
    """Return the share of the time that the first slice, passed on from step to step, spends in flight."""
    return min(recording.totals.flown_ps / recording.end_ps, 1.0) if recording.end_ps else 0.0


def bottleneck(
    shares: Mapping[str, float], flying: float, *, overlapping: bool = False, says: Callable[[str], str] = str
) -> Bottleneck | None:
    """Return what of the `busy_shares` is largest, or latency if slices mostly fly (`flight_share`); None where no time passes.

    `overlapping`: whether flights of several steps overlap. Then a flight costs time only while the busiest resource rests. `says`: the
    cluster's (`Cluster.says`).
    """
    if not shares:
        return None
    kind = max(shares, key=lambda k: shares[k])
    flight = min(flying, 1.0 - shares[kind] if overlapping else 1.0)
    if flight > shares[kind]:
        return Bottleneck(LATENCY, "latency", flight)
    both = _in_turns(shares) if kind in _TURNS and shares.get("proxy") else None
    return Bottleneck(kind, says(resource_kind(kind).label), shares[kind], both)


def always_busy(shares: Mapping[str, float]) -> float:
    """Return the share of the time in which the busiest resource works, or a NIC and the library's proxy, which take turns."""
    return max([_in_turns(shares), *shares.values()])


def _in_turns(shares: Mapping[str, float]) -> float:
    return sum(shares.get(kind, 0.0) for kind in _TURNS)


def wire_busy(trace: Trace, recording: Recording) -> float:
    """Return the share of the time that the NICs, or the devices' own ports, send, 0 to 1."""
    return sending_share(busy_shares(trace, recording))


def sending_share(shares: dict[str, float]) -> float:
    """Return what of the `busy_shares` is sending into the network: a path uses the NICs or the devices' own ports."""
    return max(
        (share for kind, share in shares.items() if resource_kind(kind).counts_as == "send"), default=0.0
    )


def messages_per_s(trace: Trace, recording: Recording) -> float:
    """Return how many messages a NIC (or a device's own port) sends a second, from its first to its last; 0 where it sends fewer than two."""
    spans = recording.unrolled
    sends = [
        i for i, resource in enumerate(trace.resources) if resource_kind(resource.kind).counts_as == "send"
    ]
    most = 0.0
    for index in sends:
        mine = spans["resource"] == index
        if int(mine.sum()) > 1:
            lasted = int(spans["end"][mine].max() - spans["start"][mine].min())
            most = max(most, int(mine.sum()) * PS_PER_S / lasted)
    return most


def copies_per_byte(trace: Trace, recording: Recording) -> float:
    """Return how often a byte that a node sends is copied, at both ends together (device-host copies, kernel copies)."""
    left = _left(trace, recording)
    return sum(_moved(trace, recording, "copy").values()) / left if left else 0.0


def dram_bytes_per_byte(trace: Trace, recording: Recording) -> float:
    """Return the DRAM traffic per byte that a node sends, at both ends together."""
    left = _left(trace, recording)
    return sum(_moved(trace, recording, "host memory").values()) / left if left else 0.0


def cores_busy(trace: Trace, recording: Recording) -> float:
    """Return how many CPU cores of node 0 are busy on average."""
    if recording.end_ps == 0:
        return 0.0
    used = busy_ps(trace, recording)
    seconds = sum(
        used[i] * r.servers
        for i, r in enumerate(trace.resources)
        if resource_kind(r.kind).is_core and r.node == 0
    )
    # a trace of one switch has that switch's cores alone
    return float(seconds) / recording.end_ps * (trace.switches if trace.one_switch else 1)
