"""The exchange inside a node, in closed form.

Before a ring, every device collects its shard from the node's other devices; everything is there at the start, so
its links stream without a pause. After the ring, it hands each finished slice to the others, in the order of arrival.
The ring does not use these links, so both exchanges are sums and maxima over arrays. In an all-to-all every device hands each
other one of its node a chunk; all of them are there at the start. In a broadcast the root alone has something at the start: it hands the
others of its node their shards, which they send and hand on, and then its own.
"""

# The exchange inside a node is closed form. Before and after the ring every pair of devices streams on its
# own link. No other transfer waits for those links, so prefix sums and running maxima say exactly what a
# simulation would (`engine/scaleup`). It overlaps the ring slice by slice. The reduction of received slices
# and that of the node's own contributions are separate streams on the device's memory.

from dataclasses import dataclass, replace

from peerlab.base.numbers import NDArray, np
from peerlab.engine.system import System
from peerlab.model.resources import service
from peerlab.model.stages import stage_number
from peerlab.question.node_exchange import NodeExchange

Picoseconds = NDArray[np.int64]


def fifo(arrivals: Picoseconds, durations: Picoseconds, free: int = 0) -> Picoseconds:
    """Return when a first-come-first-served resource, free from `free` on, has served each arrival.

    ``finish[i] = max(arrival[i], finish[i-1]) + duration[i]``, as prefix sums and a running maximum of integers.
    """
    # finish[i] - (sum of durations up to i) is a running maximum: of all j <= i, the arrival that the server last waited for
    before = np.cumsum(durations) - durations
    latest = np.maximum.accumulate(np.maximum(arrivals - before, free))
    finish: Picoseconds = latest + before + durations
    return finish


@dataclass(frozen=True)
class Exchange:
    """One device's scale-up traffic, the same for every device of every node; of a broadcast, that of the root."""

    slices: NDArray[np.int64]
    """Bytes of each slice of the shard, in the order in which they are collected."""
    link_ps: Picoseconds
    """Service time of each slice on the links to all peers, which carry it side by side."""
    reduce_ps: Picoseconds
    """Time to add up the node's contributions to each slice."""
    latency_ps: int
    """Latency of a link."""
    link_end: Picoseconds
    """When the links have delivered each slice to the device, latency excluded; 0 if nothing is collected."""
    ready: Picoseconds
    """When each slice is added up."""
    way: NodeExchange
    """How often a slice crosses those links, and what adds it up."""
    begin: int = 0
    """When the node begins."""

    def begun(self, at: int) -> "Exchange":
        """Return the traffic of a node that begins at a time."""
        return replace(self, link_end=self.link_end + at, ready=self.ready + at, begin=at) if at else self


def exchange(system: System) -> Exchange:
    """Return the scale-up traffic of one device of `system`."""
    cluster, chunks = system.scenario.cluster_for_message, system.plan.schedule.chunks
    chunks = (
        chunks if system.plan.collects else 1
    )  # where nothing is collected, a device has its first chunk alone
    way = system.inside
    sizes = np.tile(np.array(system.chunk_sizes, np.int64), chunks)
    link = service(cluster, way.resource)
    reduce = service(cluster, "scaleup_reduce")
    comes = system.plan.collects or system.plan.scatters
    link_ps = np.tile(np.array([link(n * way.collects) for n in system.chunk_sizes], np.int64), chunks)
    reduce_ps = np.tile(np.array([reduce(n * way.adds) for n in system.chunk_sizes], np.int64), chunks)
    latency, nothing = way.latency_ps, np.zeros(len(sizes), np.int64)
    link_end = np.cumsum(link_ps) if comes else nothing
    ready = fifo(link_end + latency, reduce_ps) if comes else nothing
    return Exchange(sizes, link_ps, reduce_ps, latency, link_end, ready, way)


def gather_rows(system: System, lane: int, traffic: Exchange) -> list[NDArray[np.int64]]:
    """Return the spans of collecting and adding up, or of the root's handing out of shards, in the order of `SPAN_COLUMNS`."""
    link, reduce = system.lanes[lane].scaleup
    count, per_chunk = len(traffic.slices), len(system.chunk_sizes)
    step, piece = np.divmod(np.arange(count), per_chunk)  # the step in which the ring uses it
    zero = np.full(count, traffic.begin, np.int64)
    there = traffic.link_end + traffic.latency_ps
    way, times = traffic.way, (zero, traffic.link_ps, traffic.link_end)
    moved = traffic.slices * way.collects
    tables = [_rows(system, lane, step, piece, way.collect_stage, link, *times, moved)]
    if way.adds:
        ends, added = (there, traffic.reduce_ps, traffic.ready), traffic.slices * way.adds
        tables.append(_rows(system, lane, step, piece, "gather-reduce", reduce, *ends, added))
    return tables


@dataclass(frozen=True)
class Finished:
    """Slices that have reached their final value at one device."""

    step: NDArray[np.int64]
    """Step in which each arrived; -1: the device had it from the beginning."""
    piece: NDArray[np.int64]
    """Which slice of that step's transfer."""
    nbytes: NDArray[np.int64]
    """Size of each."""
    at: Picoseconds
    """When it had its final value."""


def broadcast_rows(
    system: System, lane: int, traffic: Exchange, finished: Finished
) -> tuple[NDArray[np.int64], int]:
    """Return the spans of handing out finished slices, first come first served, and when the last has arrived."""
    order = np.lexsort((finished.piece, finished.step, finished.at))
    step, piece, nbytes, at = (
        values[order] for values in (finished.step, finished.piece, finished.nbytes, finished.at)
    )
    way, plan, sender = traffic.way, system.plan, system.lanes[lane]
    moved = nbytes * (way.hands - plan.spares_root(sender.node, sender.device))
    link = service(system.scenario.cluster_for_message, way.resource)
    sizes, which = np.unique(moved, return_inverse=True)
    duration = np.array([link(int(n)) for n in sizes], np.int64)[which]
    # the same links collect first; they are free for handing out when the last slice is collected
    collects = plan.collects or plan.is_root(sender.node, sender.device)
    end = fifo(at, duration, int(traffic.link_end[-1]) if collects else 0)
    rows = _rows(
        system, lane, step, piece, way.hand_stage, system.lanes[lane].scaleup[0], at, duration, end, moved
    )
    return rows, int(end[-1]) + traffic.latency_ps


def _rows(
    system: System,
    lane: int,
    step: NDArray[np.int64],
    piece: NDArray[np.int64],
    stage: str,
    resource: int,
    queued: Picoseconds,
    duration: Picoseconds,
    end: Picoseconds,
    nbytes: NDArray[np.int64],
) -> NDArray[np.int64]:
    fixed = [np.full(len(step), v, np.int64) for v in (system.lanes[lane].node, system.lanes[lane].device)]
    of = [np.full(len(step), v, np.int64) for v in (stage_number(stage), resource)]
    return np.column_stack([*fixed, step, piece, *of, queued, end - duration, end, nbytes, duration])
