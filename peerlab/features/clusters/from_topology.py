"""A whole cluster from a topology: what the file says with its source, the rest taken over from a like cluster and marked as assumed."""

# A topology becomes a cluster in one step. A draft that cannot be simulated shows nothing. So `clusters
# draft` fills every figure that the file does not say with that of a like cluster
# (`data/accelerators.toml`), as an assumption with a range. All switches of a node are alike in the model:
# where a machine's differ, groups are taken together until NICs and accelerators divide evenly, and a
# remark says so. The lab's *your machine* writes the file, too, so that what is drawn can be corrected
# and named in Python; it overwrites none. XML is read by expat with entities refused, at most 200,000
# elements and 200 levels: a topology needs no more, and a parser with these limits needs no package.

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any

from peerlab.base.textfile import printable
from peerlab.base.units import say_count
from peerlab.features.clusters.accelerators import Accelerator, accelerators, kind_of
from peerlab.features.clusters.wired import Wired, wired
from peerlab.machine.pci import PcieLink
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS, Cluster, Figure, internal_value
from peerlab.model.paths import PATHS, RECEIVE_DIRECT
from peerlab.model.rewiring import with_forwarding
from peerlab.question.presets import load_cluster
from peerlab.topology.topology import PciCard, Topology

_GB = 10**9
# Wide on purpose: a like machine says the size of a figure, not its value.
_AGAIN = (0.5, 2.0)
"""From where to where a figure that is taken over may lie, as multiples of it."""
_LIBRARIES = (("efa", "nccl-efa"), ("rdmap", "nccl-efa"), ("hsn", "nccl-cxi"), ("cxi", "nccl-cxi"))
_VERBS = "nccl-verbs"
_TRANSPORTS = {"nccl-efa": "efa", "nccl-cxi": "", "infiniband": "infiniband", "ethernet": "roce"}
"""By a library that serves one kind of NIC, else by what the NICs speak: the transport with RDMA; empty: none is known."""
_AMAZON = "1d0f"
# Of another machine's library, graph and limits nothing follows for this one.
_DROPPED = ("library.", "graph.", "limits.")
"""Sections of the like cluster that say nothing of another machine."""


@dataclass(frozen=True)
class Drafted:
    """A cluster that was drafted from a topology."""

    cluster: Cluster
    like: str
    """The known cluster whose figures stand in."""
    read: tuple[str, ...]
    """Keys of the figures that the file says, so that nothing of them is assumed."""
    remarks: tuple[str, ...]
    """What was assumed to read it, and what is missing, a sentence each."""


def from_topology(topology: Topology, name: str, file: str, today: date) -> Drafted:
    """Return a cluster whose nodes are like a machine; `file` is where its topology was read.

    Raises
    ------
    HardwareError
        If the machine is larger than a cluster may be.
    """
    source = f"{topology.tool}, {printable(file)}, read on {today.isoformat()}"
    kind, guessed = kind_of(_most(topology), topology.nvlinks)
    # A node with two kinds is taken as one of the more frequent: the model has all devices alike.
    topology = replace(topology, cards=(*_most(topology), *topology.nics))
    how = wired(topology, source)
    like = load_cluster(kind.like)
    entries = {figure.key: figure for figure in _read(topology, how, kind, guessed, source)}
    cluster = _in_its_link(_without_nvlink(_like(like, name, topology, how, kind, entries), topology, kind))
    # Where a rate is assumed for one NIC, an accelerator with several has so many times that.
    if "nic.rate" not in entries and how.ports > 1:
        cluster = _several(cluster, "nic.rate", how.ports, "NICs")
    if "switch.uplink" not in entries and how.uplinks > 1:
        cluster = _several(cluster, "switch.uplink", how.uplinks, "links")
    cluster.check_devices()
    return Drafted(
        with_forwarding(cluster),
        like.name,
        tuple(key for key in entries if not entries[key].assumption),
        (*topology.remarks, *how.remarks, *_others(topology, how, guessed)),
    )


def _like(
    like: Cluster, name: str, topology: Topology, how: Wired, kind: Accelerator, read: dict[str, Figure]
) -> Cluster:
    """Return a cluster of the figures that were read, and of the like cluster's where the file says nothing."""
    figures = {
        key: _taken(figure, like) for key, figure in like.figures.items() if not key.startswith(_DROPPED)
    } | read
    # In the order of `Cluster`, not in that of reading: files of two machines can be compared line by line.
    ordered = {key: figures[key] for key in FIGURE_KINDS if key in figures}
    values: dict[str, Any] = {
        field: internal_value(ordered[key]) if key in ordered else None
        for key, field in FIGURE_FIELDS.items()
    }
    library = _library(how, like)
    return replace(
        like,
        name=name,
        title=f"{kind.name}, drafted",
        device_name=kind.name,
        summary=_summary(topology, how, kind),
        fitted_on="",
        library=library,
        transports=_transports(how, like, library),
        library_version="",
        cpu=topology.cpu or like.cpu,
        wiring=how.wiring,
        paths=_paths(like, how),
        lacks=MappingProxyType(_lacks(like, how)),
        leaves_out=MappingProxyType({}),
        figures=MappingProxyType(ordered),
        **values,
    )


def _most(topology: Topology) -> tuple[PciCard, ...]:
    """Return the accelerators of the kind that there are most of."""
    kinds: dict[tuple[str, str], list[PciCard]] = {}
    for card in topology.accelerators:
        kinds.setdefault((card.vendor, card.device), []).append(card)
    many = max(len(cards) for cards in kinds.values())
    return tuple(next(cards for cards in kinds.values() if len(cards) == many))


def _read(topology: Topology, how: Wired, kind: Accelerator, guessed: str, source: str) -> Iterator[Figure]:
    """Yield the figures that the file says."""
    # The counts are those of a node whose switches are alike; the first remark says where this one's are not.
    assumed = how.remarks[0] if how.remarks else ""
    counts = {
        "numa_domains": (how.sockets, "per node"),
        "switches_per_numa": (how.switches, "per NUMA domain"),
        "devices_per_switch": (how.devices, "per PCIe switch"),
        "nics_per_switch": (how.nics, "per PCIe switch"),
    }
    for key, (count, basis) in counts.items():
        yield _figure(f"node.{key}", count, "1", basis, source, assumed)
    if kind.generation:
        what = f"{kind.name}: compute capability {kind.generation}"
        yield _figure(
            "device.generation", kind.generation, "1", "compute capability, first number", what, guessed
        )
    own = [card.link for card in topology.accelerators if card.link]
    if own:
        yield _pcie("device.pcie", own, "per device, per direction", source)
    # The first bridge on an accelerator's way is the switch that it hangs below.
    uplinks = [topology.uplinks[card.way[0]] for card in topology.accelerators if card.way and card.way[0] in topology.uplinks]  # fmt: skip
    if uplinks or own:
        # Links that are counted as one uplink carry their rates together.
        together = f"; {how.uplinks} links together" if how.uplinks > 1 else ""
        yield _pcie(
            "switch.uplink", uplinks or own, "per switch, per direction", source + together, how.uplinks
        )
    rates = [nic.rate_bps for nic in how.carriers if nic.rate_bps]
    several = f"; {how.ports} NICs of an accelerator together" if how.ports > 1 else ""
    if rates:
        # The slowest of them: ranks wait for one another.
        rate = min(rates) * how.ports / 1e9
        yield _figure("nic.rate", rate, "Gbit/s", "per NIC, per direction", f"{source}{several}")
    else:
        yield from _usual_rate(topology, how, source + several)
    links = [nic.link for nic in how.carriers if nic.link]
    slowest = min((link.effective_Bps for link in links), default=0) * how.ports
    # By 8 to bytes. A link that is faster than its NIC limits nothing, and stays out of the file.
    if slowest and rates and slowest < min(rates) * how.ports / 8:
        yield _pcie("nic.pcie", links, "per NIC, per direction", source)
    yield from _scaleup(topology, kind, guessed, source)


def _usual_rate(topology: Topology, how: Wired, source: str) -> Iterator[Figure]:
    """Yield the rate that NICs with such PCIe links usually have; several of an accelerator carry no more than its own link lets through."""
    *_, nics = accelerators()
    slowest = min((nic.link for nic in how.carriers if nic.link), key=nics.usual_Gbps, default=None)
    usual = nics.usual_Gbps(slowest)
    if not usual:
        return
    own = max((nics.usual_Gbps(card.link) for card in topology.accelerators), default=0)
    # Several NICs of an accelerator cannot carry more than its own PCIe link lets through.
    rate = min(how.ports * usual, max(usual, own or how.ports * usual))
    why = f"usual for NICs at {slowest}; the file does not say it ({nics.source})"
    ends = (_AGAIN[0] * rate, _AGAIN[1] * rate)
    figure = _figure("nic.rate", rate, "Gbit/s", "per NIC, per direction", source, why)
    yield replace(figure, range=ends)


def _scaleup(topology: Topology, kind: Accelerator, guessed: str, source: str) -> Iterator[Figure]:
    """Yield the link between two accelerators: its share of a device's NVLinks, those that the file shows or else those of its kind."""
    _, nvlink, _ = accelerators()
    links, others = (
        topology.nvlinks if topology.nvlinks is not None else kind.links,
        len(topology.accelerators) - 1,
    )
    if not (links and others and not topology.islands and kind.generation in nvlink.rates):
        return
    # A device's links go to all others alike: a pair has its share of them.
    rate = round(links * nvlink.rates[kind.generation] / others, 3)
    basis, source = "per pair of devices, per direction", f"{source}: {links} NVLinks; {nvlink.source}"
    if topology.nvlinks is not None:
        yield _figure("scaleup.rate", rate, "GB/s", basis, source)
        return
    like = load_cluster(kind.like)
    if (like.generation, like.devices - 1) == (kind.generation, others):
        rate = like.figures["scaleup.rate"].value  # by a data sheet, which says more than NCCL's table
    own = [card.link.effective_Bps / _GB for card in topology.accelerators if card.link]
    # Where the kind is a guess, there may be no NVLink at all: then what is left is PCIe.
    low = min(rate, round(min(own) / others, 3)) if guessed and own else _AGAIN[0] * rate
    why = f"the file shows no NVLink; an accelerator of compute capability {kind.generation} usually has {links}"
    yield replace(_figure("scaleup.rate", rate, "GB/s", basis, nvlink.source, why), range=(low, rate))


def _figure(key: str, value: float, unit: str, basis: str, source: str, assumption: str = "") -> Figure:
    return Figure(
        key=key, value=value, unit=unit, basis=basis, source=source, assumption=assumption, range=None
    )


def _pcie(key: str, links: list[PcieLink], basis: str, source: str, many: int = 1) -> Figure:
    slowest = min(links, key=lambda link: link.effective_Bps)
    how = f"{source}: {slowest}, less PCIe's headers (openucx/ucx topo.c)"
    return _figure(key, round(many * slowest.effective_Bps / _GB, 2), "GB/s", basis, how)


def _several(cluster: Cluster, key: str, many: int, what: str) -> Cluster:
    """Return a cluster in which a figure that is assumed is that of so many together."""
    figure = cluster.figures[key]
    low, high = figure.range or (figure.value, figure.value)
    ends, why = (many * low, many * high), f"{figure.assumption}; {many} {what} together"
    return cluster.with_figure(key, many * figure.value, assumption=why, range=ends)


def _without_nvlink(cluster: Cluster, topology: Topology, kind: Accelerator) -> Cluster:
    """Return a cluster whose accelerators have no NVLink, or not to all others: what they exchange goes over their PCIe links."""
    others = len(topology.accelerators) - 1
    none = topology.islands or topology.nvlinks == 0 or (topology.nvlinks is None and not kind.links)
    if not (none and kind.generation and others and "scaleup.rate" in cluster.figures):
        return cluster
    # To each of the others at once: a device's one link is divided among them.
    most = round(cluster.figures["device.pcie"].value / others, 3)
    less = "NVLinks join some accelerators alone" if topology.islands else "no NVLink"
    why = f"{less}: an accelerator's PCIe link, shared by the others"
    return cluster.with_figure("scaleup.rate", most, assumption=why, range=(most / 2, most))


def _in_its_link(cluster: Cluster) -> Cluster:
    """Return a cluster whose copy engine, which is assumed, is no faster than the PCIe link of its accelerator."""
    copy, most = cluster.figures.get("device.copy_engine"), cluster.figures["device.pcie"].value
    if copy is None or copy.source or copy.value <= most:
        return cluster
    low = min(copy.range[0] if copy.range else most, most)
    why = f"{copy.assumption}; no faster than the PCIe link"
    return cluster.with_figure("device.copy_engine", most, assumption=why, range=(low, most))


def _taken(figure: Figure, like: Cluster) -> Figure:
    """Return a figure of the like cluster as one that is assumed here."""
    ends = None
    if FIGURE_KINDS[figure.key] != "count":
        low, high = figure.range or (figure.value * _AGAIN[0], figure.value * _AGAIN[1])
        # A share of more than all is none.
        ends = (low, min(high, 1.0) if FIGURE_KINDS[figure.key] == "share" else high)
    return replace(figure, source="", assumption=f"taken over from {like.name}; put in your own", range=ends)


def _library(how: Wired, like: Cluster) -> str:
    """Return the library by the kind of NIC; that of the like cluster where it is not NCCL."""
    if not like.library.startswith("nccl"):
        return like.library
    if any(nic.vendor == _AMAZON for nic in how.carriers):
        return "nccl-efa"
    names = [f"{nic.name} {nic.model}".lower() for nic in how.carriers]
    return next((library for word, library in _LIBRARIES if any(word in name for name in names)), _VERBS)


def _transports(how: Wired, like: Cluster, library: str) -> tuple[str, ...]:
    """Return the transports by the library and what the NICs speak; those of the like cluster where neither says it."""
    layers = {nic.link_layer for nic in how.carriers}
    layer = layers.pop() if len(layers) == 1 else ""
    rdma = _TRANSPORTS.get(library, _TRANSPORTS.get(layer))
    if rdma is None or not like.library.startswith("nccl"):
        return like.transports
    return (rdma, "tcp") if rdma else ("tcp",)


def _paths(like: Cluster, how: Wired) -> tuple[str, ...]:
    """Return the data paths, first the one that a library takes by itself over this distance."""
    paths = ["host-rdma", "peer-direct", *([RECEIVE_DIRECT] if like.library.startswith("nccl") else [])]
    first = "host-rdma" if how.wiring.place.over_cpu else "peer-direct"
    # The sort is stable: behind the first they keep their order.
    paths.sort(key=lambda path: path != first)
    return (*paths, *(path for path in ("host-tcp", "native") if path in like.paths))


def _lacks(like: Cluster, how: Wired) -> dict[str, str]:
    has = _paths(like, how)
    return {path: like.lacks.get(path, "the file says nothing of it") for path in PATHS if path not in has}


def _summary(topology: Topology, how: Wired, kind: Accelerator) -> str:
    return (
        f"{say_count(len(topology.accelerators), kind.name)} and {say_count(len(how.carriers), 'NIC')} per node, each NIC {how.wiring.place.title};"
        f" drafted from {topology.tool}."
    )


def _others(topology: Topology, how: Wired, guessed: str) -> Iterator[str]:
    """Yield what of the machine was guessed, and what is left out."""
    if guessed:
        yield guessed
    unused = [nic.name for nic in topology.nics if nic not in how.carriers]
    if unused:
        yield f"left out, as farther away or slower: {', '.join(unused[:8])}{' ...' if len(unused) > 8 else ''}"
    # Nothing is known of the network then, but a node that exchanges needs a NIC.
    if not how.carriers:
        yield "it shows no NIC; one for each group of accelerators is assumed"
