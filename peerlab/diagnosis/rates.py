"""Evidence from rates: above what a path reaches on any machine, above what a NIC carries, or as slow as TCP."""

import math
import re
from collections.abc import Generator, Iterator
from dataclasses import replace

from peerlab.base.units import say_count, say_percent
from peerlab.diagnosis.evidence import (
    OWN_PORTS,
    RDMA,
    TCP,
    Evidence,
    Holds,
    every,
    named,
    names_nothing,
    over_nic,
    staged_rdma,
    tcp_to_device,
    told_source,
)
from peerlab.diagnosis.knowledge import Knowledge, Known
from peerlab.diagnosis.observed import Observed
from peerlab.model.paths import IN_NODE

_EFA = re.compile(r"[Pp]rovider is efa\b|\bFI_PROVIDER=efa\b")


def from_rates(seen: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield evidence from rates: above what a path reaches on any machine, or as slow as TCP."""
    # no path between nodes has a part in it; two ranks of one node may still use its NIC
    if seen.nodes == 1 and not seen.collective_record.is_message:
        return
    nodes = seen.nodes or _nodes_at_least(seen, know)
    guess = (
        ""
        if seen.nodes or seen.collective_record.is_message
        else f", if there are {say_count(nodes, 'node')}"
    )
    # of a node with nobody knows how many ranks a device sends the least where they fill a usual box
    per_node = seen.per_node or max((seen.ranks or nodes * int(know.ranges["box"].high)) // nodes, 1)
    node = seen.node_rate(seen.fastest_GBps, nodes)
    each = node / per_node
    # What one device or one node sends, as that is what a path limits; a log's bandwidth is of all ranks.
    limits: list[tuple[Known, Holds, float, str]] = [
        (know.ranges["tcp_node"], TCP, node, "a node"),
        (know.ranges["port_device"], OWN_PORTS, each, "a device"),
    ]
    # where NVLink joins servers, nobody knows what their NICs carry
    joined = seen.memory == "device" and (yield from _joined(seen, know, each, nodes, guess))
    if seen.memory == "device" and not joined:
        staged = _staged_device(seen, know)
        limits += [(staged, staged_rdma, each, "a device")] if staged else []
        yield from _over_memory(node, seen, know, guess)
        yield from _over_link(each, seen, know, guess)
    # of others a line or an accelerator's cluster says whether that path is there
    if names_nothing(seen, know):
        limits += [(know.ranges["device_tcp"], tcp_to_device, each, "a device")]
    # the same margin as where a log is held against a cluster's NICs (`misfit`)
    beyond = know.ranges["beyond"].high
    for limit, holds, rate, of in limits:
        if rate > beyond * limit.high:
            yield Evidence(
                kind="rate",
                seen=f"{of} sends {rate:.3g} GB/s{guess}",
                says=f"more than {limit.what} carries ({limit.high:g} GB/s)",
                # twice what any machine was seen to do is beyond all doubt about the machine
                points=every(holds, -know.strengths["decides" if rate > 2 * limit.high else "strong"]),
                known=not guess,
                source=told_source(limit),
            )
    yield from _slow(seen, know, nodes)
    yield from _slow_for_efa(seen, know, nodes)
    yield from _one_stream(seen, know)
    yield from _like_a_nic(seen, know, nodes)


def _nodes_at_least(observed: Observed, know: Knowledge) -> int:
    """Return how many nodes there are if there are several and the log does not say: as many as usual boxes hold the ranks, two at least."""
    if observed.collective_record.is_message:
        return 2
    # the fewest nodes: more of them would each send more of an AllReduce, and never less
    return max(2, math.ceil((observed.ranks or 2) / know.ranges["box"].high))


def _joined(
    observed: Observed, know: Knowledge, each: float, nodes: int, guess: str
) -> Generator[Evidence, None, bool]:
    """Yield that a device sends more than a NIC carries, so that servers are one NVLink domain, and return whether that may be.

    Such a log is of *in-node* in the sense of a data path, whatever lines say of NICs. Where nobody knows how many servers there are,
    it may be a single one. A switch that adds up (SHARP) would halve what an AllReduce sends, nearly.
    """
    nic, domain, record = know.ranges["nic_device"], know.ranges["nvlink_domain"], observed.collective_record
    if record.is_message or observed.ranks is None or each <= nic.low or know.link_of(observed.devices):
        return False
    if not guess and each <= nic.high:
        # One link of NVLink and the fastest NIC carry as much: neither is named by that.
        yield Evidence(
            kind="rate",
            seen=f"a device sends {each:.3g} GB/s",
            says=f"more than most {nic.what} carry ({nic.low:g} GB/s): NVLink joins the servers, or these are the fastest ({nic.high:g})",
            points={IN_NODE: know.strengths["weak"]} if observed.ranks <= domain.high else {},
            known=False,
            source=f"{told_source(nic)}; {domain.source}",
        )
        return False
    summed = record.adds and record.spreads and nodes > 2
    once = each / record.node_factor(nodes, 1) if summed else each
    strength = "fair" if each <= nic.high else "strong" if once <= nic.high or guess else "decides"
    sentence = f"more than {nic.what} carry ({nic.low:g} GB/s, or {nic.high:g} of the fastest)"
    fits = observed.ranks <= domain.high
    over = "NVLink joins them, or it is one server" if guess else "NVLink joins the servers"
    beyond = f"NVLink joins some of the servers, and NICs the rest: {observed.ranks} ranks are more than one domain has ({domain.high:g})"
    points = every(over_nic, -know.strengths[strength])
    yield Evidence(
        kind="rate",
        seen=f"a device sends {each:.3g} GB/s{guess}",
        says=f"{sentence}: {over if fits else beyond}",
        points=(points if guess else points | {IN_NODE: know.strengths["strong"]}) if fits else {},
        known=not guess,
        source=f"{told_source(nic)}; {domain.source}",
    )
    return True


def _staged_device(observed: Observed, know: Knowledge) -> Known | None:
    """Return how fast a device is staged at most; None where no PCIe link is between it and host memory.

    Its own link, if its name says which, carries each byte twice per direction: on its way to host memory, and where the NIC writes what came.
    Of messages one way each direction has one of the two.
    """
    if any(map(know.coherent.search, observed.devices)):
        return None
    link, usual = know.link_of(observed.devices), know.ranges["staged_device"]
    # Messages of NCCL's and HCCL's tests are none of these: there each rank sends and receives at once.
    one_way = observed.collective_record.is_message and observed.variant.startswith(("latency", "bandwidth"))
    each = 1 if one_way else 2
    if link is None or link.GBps / 2 >= usual.high:
        return replace(usual, high=usual.high * 2 / each)
    sentence = "each byte crosses the uplink" + (
        " once, of messages one way" if one_way else " twice per direction"
    )
    return replace(usual, high=link.GBps / each, source=f"{link.source}; {sentence}")


def _over_memory(node: float, observed: Observed, know: Knowledge, guess: str) -> Iterator[Evidence]:
    """Yield that a node sends more than its memory could stage: that of the fastest hosts, or of those that its accelerators are sold in."""
    memory, link = know.ranges["staged_node"], know.link_of(observed.devices)
    # An accelerator whose name its driver does not know is newer than the driver, and so is its host.
    newest = bool(observed.devices) and not named(observed.devices)
    own = link.staged_GBps if link and link.staged_GBps else memory.high if newest else memory.low
    if node > own:
        ends = (
            f"{own:g} GB/s on hosts with {observed.devices[0]}: {link.host}"
            if link and link.staged_GBps
            else f"{memory.low:g} GB/s on most hosts, {memory.high:g} on the fastest"
        )
        yield Evidence(
            kind="rate",
            seen=f"a node sends {node:.3g} GB/s, and receives as much{guess}",
            says=f"more than {memory.what} carries ({ends})",
            points=every(staged_rdma, -know.strengths["strong" if node > memory.high else "fair"]),
            known=False,
            source=told_source(memory),
        )


def _over_link(each: float, observed: Observed, know: Knowledge, guess: str) -> Iterator[Evidence]:
    """Yield that a device sends more than its PCIe link carries, so that no NIC can have it all."""
    link = know.link_of(observed.devices)
    if link and each > link.GBps:
        yield Evidence(
            kind="rate",
            seen=f"a device sends {each:.3g} GB/s{guess}",
            says=f"more than PCIe carries to {observed.devices[0]} ({link.GBps:g} GB/s): it goes over links between devices",
            points=every(over_nic, -know.strengths["strong" if guess else "decides"]),
            known=not guess,
            source=link.source,
        )


def _slow(observed: Observed, know: Knowledge, nodes: int) -> Iterator[Evidence]:
    """Yield that the largest messages come no faster than one stream of TCP.

    What RDMA sends from host memory is held up by nothing but its NIC, unless ranks also add up what came.
    """
    stream, rate = know.ranges["tcp_stream"], observed.node_rate(observed.plateau_GBps, nodes)
    narrowest, record = min(know.nics_GBps), observed.collective_record
    if rate <= stream.high:  # false where there is no plateau
        fills = observed.memory == "host" and not record.adds and (not record.is_message or _many(observed))
        beside = (
            f"; from host memory RDMA fills its NIC, and usual ones carry {narrowest:g} GB/s" if fills else ""
        )
        yield Evidence(
            kind="rate",
            seen=f"a node sends {rate:.3g} GB/s at the largest sizes",
            says=f"no more than one stream of TCP does ({stream.high:g} GB/s){beside}",
            points=every(TCP, know.strengths["weak"])
            | (every(RDMA, -know.strengths["fair"]) if fills else {}),
            known=False,
            source=told_source(stream),
        )


def _many(observed: Observed) -> bool:
    """Return whether many messages are in flight, which fill a NIC where one message at a time might not."""
    return observed.variant.startswith("bandwidth")


def _slow_for_efa(observed: Observed, know: Knowledge, nodes: int) -> Iterator[Evidence]:
    """Yield that the largest messages over EFA come far slower than a NIC of those instances where EFA reaches device memory."""
    least, rate = know.ranges["efa_direct"], observed.node_rate(observed.plateau_GBps, nodes)
    over_efa = any(_EFA.search(line) for line in observed.said)
    if observed.memory == "device" and over_efa and rate < know.ranges["far_below"].high * least.low:
        yield Evidence(
            kind="rate",
            seen=f"a node sends {rate:.3g} GB/s at the largest sizes",
            says=f"far less than {least.what} carries ({least.low:g} GB/s or more)",
            points=every(lambda path: RDMA(path) and path.uses_device_memory, -know.strengths["fair"]),
            known=False,
            source=told_source(least),
        )


def _one_stream(observed: Observed, know: Knowledge) -> Iterator[Evidence]:
    """Yield that messages between two ranks come faster than one stream of TCP."""
    stream, rate = know.ranges["tcp_stream"], observed.fastest_GBps
    if observed.collective_record.is_message and rate > know.ranges["beyond"].high * stream.high:
        yield Evidence(
            kind="rate",
            seen=f"messages between two ranks come at {rate:.3g} GB/s",
            says=f"more than one stream of TCP was seen to carry ({stream.high:g} GB/s); a tuned host may be faster",
            points=every(TCP, -know.strengths["weak"]),
            known=False,
            source=told_source(stream),
        )


def _like_a_nic(observed: Observed, know: Knowledge, nodes: int) -> Iterator[Evidence]:
    """Yield evidence from the largest messages of one rank a node: whether they are as fast as a usual NIC carries them.

    A message between two ranks is one stream; the streams of a collective fill a NIC by TCP as well, as far as any were seen to.
    """
    share, streams = know.ranges["share_of_a_nic"], know.ranges["tcp_streams"]
    rate = observed.node_rate(observed.plateau_GBps, nodes)
    alone = bool(observed.nodes) and observed.per_node == 1 and rate > streams.high
    for nic in know.nics_GBps if observed.collective_record.is_message or alone else ():
        if share.low <= rate / nic <= share.high:
            yield Evidence(
                kind="rate",
                seen=f"the largest messages come at {rate:.3g} GB/s",
                says=f"{say_percent(rate / nic)} of a NIC of {8 * nic:g} Gbit/s, as if it were the limit",
                points=every(RDMA, know.strengths["fair"]),
                known=False,
                source=told_source(share),
            )
