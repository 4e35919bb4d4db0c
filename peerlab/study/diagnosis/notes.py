"""What else should be known to read a log: classic confusions, and NICs that seem unused."""

import math
from collections.abc import Iterator

from peerlab.collectives.busbw import bus_factor
from peerlab.study.diagnosis.fits import Fit
from peerlab.study.observed import Observed
from peerlab.study.replay import nodes_of
from peerlab.units import say_count

_FULL = 0.75
"""From this share of a NIC's rate on, it counts as used."""


def notes(seen: Observed, path: str | None, own: Fit | None) -> Iterator[str]:
    """Yield sentences about a log that took `path`; `own` is that path on a known cluster."""
    if seen.others:
        yield (
            f"This is about the longest curve of the log; {say_count(seen.others, 'other')} (of another collective, or "
            "other ranks or nodes) were left aside."
        )
    if path == "in-node":
        yield f"One node{'' if seen.nodes else ', as it seems'}: this log says nothing about a network."
    if seen.memory == "host" and path:
        yield "Host buffers: device memory is not involved, neither staged nor direct."
    if seen.nodes == 1 and path not in (None, "in-node"):
        yield "One node, and yet through the NIC: the library does not use the faster links inside."
    if own is None or seen.collective == "point-to-point":
        return
    nodes = nodes_of(seen, own.cluster)
    if nodes and nodes > 1 and path in ("peer-direct", "host-rdma"):
        yield from _wire(seen, own, nodes)


def _wire(seen: Observed, own: Fit, nodes: int) -> Iterator[str]:
    """Yield what bus bandwidth hides about the wire, and what seems to carry nothing."""
    machine = own.cluster
    node_wire, sent = machine.node_wire_Bps / 1e9, seen.node_rate(seen.fastest_GBps, nodes)
    busbw = seen.fastest_GBps * bus_factor(seen.collective, seen.ranks or nodes * machine.devices)
    if busbw > node_wire:
        yield (
            f"busbw reaches {busbw:.3g} GB/s, above the {node_wire:.3g} GB/s of a node's NICs: it counts what links "
            f"inside a node carry as well; the wire carried {sent:.3g} GB/s."
        )
    share = sent / node_wire
    busy = math.ceil(share * machine.nics)
    if own.ratio < 0.8 and busy < machine.nics and share * machine.nics >= _FULL * busy:
        yield (
            f"A node sends {sent:.3g} of {node_wire:.3g} GB/s, as if {busy} of {say_count(machine.nics, 'NIC')} "
            "carried everything (a guess): look at which NICs the library found."
        )
