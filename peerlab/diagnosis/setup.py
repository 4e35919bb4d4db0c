"""Evidence from the set-up of a run: its nodes and ranks, and where its buffers are."""

from collections.abc import Collection, Iterator, Sequence

from peerlab.base.units import GIB, say_count
from peerlab.collectives.busbw import bus_factor
from peerlab.diagnosis.evidence import Evidence, every, names_nothing, told_source
from peerlab.diagnosis.knowledge import Knowledge
from peerlab.diagnosis.observed import Observed
from peerlab.model.hardware import Cluster
from peerlab.model.paths import IN_NODE


def from_setup(seen: Observed, know: Knowledge, clusters: Sequence[Cluster] = ()) -> Iterator[Evidence]:
    """Yield what ranks, nodes and buffers say; `clusters`: those that the log may be from."""
    weigh = know.strengths
    # Not named by the log, it is OSU's default, and `known` says so: the weight is the same.
    if seen.memory == "host":
        yield Evidence(
            kind="set-up",
            seen="buffers in host memory" + ("" if seen.memory_known else " (OSU's default)"),
            says="device memory is not involved: Peer Direct could not have been used, and would change nothing",
            points=every(lambda path: path.uses_device_memory or path.uses_own_ports, -weigh["decides"]),
            known=seen.memory_known,
            source="OSU micro-benchmarks: D is device memory, H host memory; the default is host memory",
        )
    if seen.nodes == 1:
        yield Evidence(
            kind="set-up",
            seen="one node",
            says="no network is needed at all, though a library may use its NIC even here",
            # an MPI over Slingshot sends two ranks' messages through the NIC even there (eth-cscs/cscs-docs, osu_bw intra-node)
            points={IN_NODE: weigh["fair" if seen.collective_record.is_message else "strong"]},
            known=True,
            source="the log",
        )
    elif seen.nodes is None:
        joined = max((cluster.devices * (cluster.domain_nodes or 1) for cluster in clusters), default=0)
        yield from _how_many_nodes(seen, know, {cluster.devices for cluster in clusters}, joined)


def _how_many_nodes(
    observed: Observed, know: Knowledge, boxes: Collection[int], joined: int
) -> Iterator[Evidence]:
    """Yield a guess at whether there is a network at all; NVLink joins `joined` accelerators of a machine that it may be from."""
    box = know.ranges["box"]
    if observed.collective_record.is_message or observed.ranks is None:
        return
    if box.high < observed.ranks <= joined:  # one domain or more: their number tells neither
        return
    fits = observed.ranks <= box.high
    # only if all clusters that it may be from have nodes of that size
    fill = set(boxes) == {observed.ranks}
    if observed.ranks > know.ranges["nvlink_domain"].high:
        yield Evidence(
            kind="set-up",
            seen=f"{say_count(observed.ranks, 'rank')}, and no word about nodes",
            says="more accelerators than anything but a network joins",
            points={IN_NODE: -know.strengths["decides"]},
            known=True,
            source=told_source(know.ranges["nvlink_domain"]),
        )
        return
    inside = "they are as many as one box of these machines has" if fill else "they fit in one box"
    # machines without names may be any, those that NVLink joins among them
    any_machine = names_nothing(observed, know) and not _slower_than_a_domain(observed, know)
    beyond = "two nodes or more" + (", or one NVLink domain" if any_machine else "")
    against = know.strengths["weak" if any_machine else "fair"]
    yield Evidence(
        kind="set-up",
        seen=f"{say_count(observed.ranks, 'rank')}, and no word about nodes",
        says=inside if fits else f"more than a usual box has accelerators: {beyond}",
        points={IN_NODE: know.strengths["fair" if fill else "weak"] if fits else -against},
        known=False,
        source=told_source(box),
    )


def _slower_than_a_domain(observed: Observed, know: Knowledge) -> bool:
    """Return whether the largest messages come slower than any NVLink domain was seen to carry them."""
    if observed.sizes[-1] < GIB or not observed.ranks:
        return False
    busbw = observed.algbw_GBps[-1] * bus_factor(observed.collective, observed.ranks)
    return bool(busbw < know.ranges["domain_busbw"].low)
