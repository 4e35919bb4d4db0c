"""Remarks on reading a log: common confusions, and NICs that seem unused."""

import re
from collections.abc import Iterator

from peerlab.base.units import say_count
from peerlab.collectives.busbw import bus_factor
from peerlab.diagnosis.fits import Fit
from peerlab.diagnosis.hops import older_nccl
from peerlab.diagnosis.observed import Observed
from peerlab.diagnosis.replay import nodes_of
from peerlab.model.paths import IN_NODE, PATHS

_APART = 1.5
"""Times as long as another run of the same a run is by no chance, a judgement."""
_DIRECT = re.compile(r"via NET/.{1,60}/GDRDMA")
# Sockets have no GDRDMA at all, so their channels do not bounce in this sense.
_BOUNCING = re.compile(r"via NET/(?!Socket)(?:(?!GDRDMA).){1,60}\Z")
_NIC_COUNT = re.compile(r"\(found (\d{1,4}) nics\)", re.IGNORECASE)
"""What the plug-in for libfabric says about the NICs of its host."""


def notes(seen: Observed, path: str | None, own: Fit | None) -> Iterator[str]:
    """Yield sentences about a log that took `path`; `own` is that path on a known cluster."""
    yield from _other_runs(seen)
    if old := older_nccl(seen):
        yield (
            f"NCCL {old} is older than those whose law is known: it may run at half the bandwidth of a later one on the same "
            "machine, so that curves of known clusters say little."
        )
    if not seen.large.any():
        yield "No message of 1 MiB or more: promptness alone seldom tells paths apart; measure larger ones as well."
    if any(map(_DIRECT.search, seen.said)) and any(map(_BOUNCING.search, seen.said)):
        yield (
            "Some of NCCL's channels have 'GDRDMA' and others have not, so that some bytes bounce: without NVLink NCCL "
            "does not send from device memory unless NCCL_NET_GDR_READ=1, and a device too far from its NIC "
            "(NCCL_NET_GDR_LEVEL) does neither."
        )
    if path == IN_NODE:
        yield _one_node(seen)
    if seen.memory == "host" and path:
        yield "Host buffers: device memory is not involved, neither staged nor direct."
    if seen.nodes == 1 and path not in (None, IN_NODE):
        yield "One node, and yet through the NIC: the library does not use the faster links inside."
    # two ranks send over one NIC: that says nothing of the others
    if own is None or seen.collective_record.is_message:
        return
    nodes = nodes_of(seen, own.cluster)
    if nodes and nodes > 1 and path in PATHS and PATHS[path].is_rdma:
        yield from _wire(seen, own, nodes)
        yield from _nics(seen, own)


def _other_runs(seen: Observed) -> Iterator[str]:
    """Yield what of the log this is not about."""
    if seen.others:
        yield (
            f"This is about the longest curve of the log; {say_count(seen.others, 'other')} (of another collective, or "
            f"other ranks or nodes) {'was' if seen.others == 1 else 'were'} left aside."
        )
    # A table of nccl-tests has a size once; in a trace and in measured repetitions a spread is nothing to wonder at.
    if seen.nccl and seen.apart > _APART:
        yield (
            "Sizes stand in the log several times, and their times differ widely: this is about the slowest of each. If these are runs over "
            "different paths, give each of them a log of its own."
        )


def _one_node(observed: Observed) -> str:
    """Return why a log of *in-node* says nothing about a network."""
    if (observed.nodes or 1) > 1:
        return f"NVLink joins these {observed.nodes} servers: as a data path they are one node, and this log says nothing about their NICs."
    return f"One node{'' if observed.nodes else ', as it seems'}: this log says nothing about a network."


def _wire(observed: Observed, own: Fit, nodes: int) -> Iterator[str]:
    """Yield what bus bandwidth hides about the wire."""
    # where NVLink joins several nodes, these count as one
    each = own.largest.nodes_per_domain if own.largest else 1
    machine = own.largest.hardware if own.largest and each > 1 else own.cluster
    counted = machine.counted_as
    node_wire = machine.node_wire_Bps / 1e9
    sent = observed.node_rate(observed.fastest_GBps, nodes // each)
    busbw = observed.fastest_GBps * bus_factor(observed.collective, observed.ranks or nodes * machine.devices)
    if sent > node_wire:
        yield (
            f"A ring would send {sent:.3g} GB/s from each {counted}, more than the {node_wire:.3g} GB/s of the NICs of "
            f"{machine.name}: it is another machine, or there are not {nodes // each} {counted}s, or the network adds up (SHARP)."
        )
    # no contradiction: busbw counts all ranks, of which those of one node need no wire
    elif busbw > node_wire:
        yield (
            f"busbw reaches {busbw:.3g} GB/s, above the {node_wire:.3g} GB/s of a {counted}'s NICs: it counts what links "
            f"inside a {counted} carry as well; the wire carried {sent:.3g} GB/s."
        )


def _nics(observed: Observed, own: Fit) -> Iterator[str]:
    """Yield which NICs seem to carry nothing, or were not even found."""
    has, wire = own.cluster.nics, own.cluster.node_wire_Bps / 1e9
    numbers = {int(hit[1]) for line in observed.said if (hit := _NIC_COUNT.search(line))}
    if numbers and max(numbers) < has:
        yield (
            f"libfabric found {say_count(max(numbers), 'NIC')}, and a node of {own.cluster.name} has {has}: the others "
            "carry nothing."
        )
    elif own.largest_ratio < 0.8 and own.full_nics:
        yield (
            f"A node sends {own.sent_GBps:.3g} of {wire:.3g} GB/s, as if {own.full_nics} of {say_count(has, 'NIC')} "
            "carried everything (a guess): look at which NICs the library found."
        )
