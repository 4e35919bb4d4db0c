"""What counters of hosts and switches show of a network with neighbours, cause by cause: simulated, with what frees its victim."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

from peerlab.base.units import PS_PER_US
from peerlab.engine.ports.port_laws import trunk_of
from peerlab.engine.ports.port_scene import PortScene
from peerlab.study.port_answer import PortAnswer, answer_ports
from peerlab.study.port_question import OWN, port_question

PAUSE, WAIT, SEQUENCE, TIMEOUT = (
    "rx_prio3_pause",
    "PortXmitWait, µs",
    "out_of_sequence",
    "local_ack_timeout_err",
)
DROPPED, BUSIEST, IDLEST = "dropped by switch ports", "busiest trunk, %", "idlest trunk, %"
Fields = dict[str, Any]
Figures = tuple[tuple[str, float], ...]
"""Names and values: what is remembered by must not change."""


@cache
def answered(figures: Figures = (), **fields: Any) -> PortAnswer:
    """Return the answer to a question about ports, with some figures of the fabric changed."""
    return answer_ports(port_question(figures=dict(figures), **fields))


def counters(answer: PortAnswer) -> dict[str, int]:
    """Return what the counters of the hosts of the AllReduce, and of the switches, have gone up by.

    ``PortXmitWait`` counts ticks in truth; a switch has its own name for what a full queue drops.
    """
    trace, scene, hosts = answer.trace, answer.trace.scene, answer.question.nodes
    own = {number for number, flow in enumerate(scene.flows) if flow.job == OWN}

    def signals(kind: str, of: Callable[[int], bool]) -> int:
        return sum(signal.kind == kind and of(signal.of) for signal in trace.signals)

    waited = sum(span.end_ps - span.start_ps for span in trace.starved if span.link < hosts)
    busy = _trunks(answer)
    return {
        PAUSE: signals("xoff", lambda link: link < hosts),
        WAIT: round(waited / PS_PER_US),
        SEQUENCE: signals("gap", own.__contains__),
        TIMEOUT: signals("timeout", own.__contains__),
        DROPPED: sum(event.packets for event in trace.packets if event.kind == "drop"),
        BUSIEST: round(100 * max(busy)),
        IDLEST: round(100 * min(busy)),
    }


def _trunks(answer: PortAnswer) -> list[float]:
    """Return for each trunk from leaf 0 to leaf 1 the share of the time in which it sends."""
    scene, sent = answer.trace.scene, dict[int, int]()
    for cell in answer.trace.cells:
        sent[cell.link] = sent.get(cell.link, 0) + cell.end_ps - cell.start_ps
    first = 2 * scene.hosts
    return [min(1.0, sent.get(link, 0) / answer.time_ps) for link in range(first, first + scene.trunks)]


@dataclass(frozen=True)
class FaultCause:
    """Why an AllReduce is slow whose hosts are well."""

    fields: Callable[[int, int], Fields]
    """Makes the fields of a question, of the nodes of the AllReduce and of how many others there are."""
    frees: str
    """What frees the victim."""
    asks: str
    """The question to a learner who names another cause."""


def _collided(nodes: int, others: int) -> Fields:
    """Return a question in which the hash puts the AllReduce onto a trunk with others."""
    asked: Fields = {"fabric": "roce-pfc", "neighbour": f"collide({others})", "nodes": nodes}
    seed = next(
        seed for seed in count(nodes + others) if _together(port_question(**asked, seed=seed).scene())
    )
    return {**asked, "seed": seed}


def _together(scene: PortScene) -> bool:
    """Return whether a flow of the AllReduce shares its trunk with two others."""
    taken: dict[int, list[str]] = {}
    for number, flow in enumerate(scene.flows):
        taken.setdefault(trunk_of(scene, number, flow), []).append(flow.job)
    return any(jobs.count(OWN) and len(jobs) > 2 for trunk, jobs in taken.items() if trunk >= 0)


_LOSS = {2: 0.004, 3: 0.006, 4: 0.01, 6: 0.02}
"""Share of packets that a bad link loses, by the number that is drawn."""
CAUSES: Mapping[str, FaultCause] = {
    "others fill a port on our way, and pauses come back": FaultCause(
        lambda nodes, others: {"fabric": "roce-pfc", "neighbour": f"neighbour({others})", "nodes": nodes},
        "a class of our own, or senders that slow down when they are marked",
        "Are there pauses? And is one trunk fuller than the other ones?",
    ),
    "others fill a port on our way, and credits stay out": FaultCause(
        lambda nodes, others: {"fabric": "infiniband", "neighbour": f"neighbour({others})", "nodes": nodes},
        "a virtual lane of our own",
        "Credits belong to InfiniBand. Which counter goes up when there are none?",
    ),
    "a link loses packets": FaultCause(
        lambda nodes, others: {"fabric": "roce-lossy", "neighbour": "quiet", "nodes": nodes, "loss": _LOSS[others]},
        "another cable or transceiver",
        "Were packets missing? And did no switch port drop them?",
    ),
    "a queue overflows, and no pause protects it": FaultCause(
        lambda nodes, others: {"fabric": "roce-lossy", "neighbour": f"neighbour({others})", "nodes": nodes},
        "pauses or marks for the class that we use, at every port",
        "Did a switch port drop packets?",
    ),
    "a hash put us onto one trunk with others": FaultCause(
        _collided,
        "spraying, or several flows for each pair of hosts",
        "Is one trunk full while another one idles?",
    ),
}  # fmt: skip
"""By what is told of it."""


def of_cause(cause: str, nodes: int = 8, others: int = 4, message: str = "1 MiB") -> PortAnswer:
    """Return the simulated AllReduce with a cause."""
    return answered(**CAUSES[cause].fields(nodes, others), message_bytes=message)


def of_lost_tail() -> PortAnswer:
    """Return an AllReduce of 256 KiB of which a link loses the last packet of a message, among others: nobody sees a gap after it."""
    lost = {"fabric": "roce-lossy", "neighbour": "quiet", "loss": 0.02, "loss_seed": 2}
    return answered(**lost, message_bytes="256 KiB", until_ms=400)


def said_cause(counts: Mapping[str, int]) -> str:
    """Return the cause that counters speak for.

    >>> said_cause(counters(of_cause("a link loses packets", nodes=4)))
    'a link loses packets'
    """
    paused, starved, lost, overflow, collided = CAUSES
    if counts[DROPPED]:
        return overflow
    if counts[SEQUENCE] or counts[TIMEOUT]:
        return lost
    if counts[BUSIEST] > 2 * counts[IDLEST]:
        return collided
    return paused if counts[PAUSE] else starved
