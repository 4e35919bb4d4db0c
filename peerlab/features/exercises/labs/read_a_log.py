"""Exercises of lab 05: which path a log is from, and what it cannot tell."""

from collections.abc import Callable
from functools import cache

import peerlab
from peerlab.diagnosis import CANNOT_TELL, diagnose
from peerlab.diagnosis.observed import Observed, observe
from peerlab.features.exercises.exercise import Bound, Choice, Code, Mistake, Number
from peerlab.features.exercises.labs.eight_bytes import EIGHT_BYTES
from peerlab.features.exercises.labs.unseen import unseen_log
from peerlab.features.exercises.logs import lab_log
from peerlab.model.paths import path_title, path_titles
from peerlab.question.presets import load_cluster
from peerlab.records import load
from peerlab.records.library import measured_library

EFA_RUN = "g4dn-metal/nccl-2n2r-efa"
"""A run of which the library's own lines are known."""
FITS: dict[str, dict[str, str]] = {
    "from 1 MiB, as diagnosed": {"smallest_bytes": "1 MiB"},
    "from 1 MiB, as Peer Direct": {"smallest_bytes": "1 MiB", "path": "peer-direct"},
    "all sizes, as diagnosed": {"constants": "device.copy_engine"},
}
"""The fits of log B on juliet among which a learner chooses."""
_NONE = "none of them"


# A log is read once, and asked for by several exercises and their mistakes.
@cache
def _observed(name: str, nodes: int | None = None) -> Observed:
    return observe(load(lab_log(name).text, nodes))


@cache
def _path(name: str, cluster: str | None = None) -> str:
    return diagnose(load(lab_log(name).text), cluster).path or CANNOT_TELL


def _carried() -> float:
    """Return what the NICs of a node of log C carried at best, GB/s."""
    observed = _observed("C", 2)
    return observed.node_rate(observed.fastest_GBps, 2)


def _busbw(name: str, nodes: int) -> float:
    """Return the best bus bandwidth of a log, GB/s."""
    observed = _observed(name, nodes)
    ranks = observed.ranks or nodes
    # The bus factor of an AllReduce, as nccl-tests print it.
    return observed.fastest_GBps * 2 * (ranks - 1) / ranks


def _nic_GBps() -> float:  # noqa: N802  (the unit)
    return load_cluster("p4d").nic_Bps / 1e9


def _sent() -> float:
    """Return what a node of log D sent, GB/s."""
    observed = _observed("D")
    return observed.node_rate(observed.fastest_GBps, 2)


def _bounces(line: str) -> bool:
    return "via NET/" in line and "GDRDMA" not in line


_CHANNELS = (
    (
        "Channel 00 : 0[0] -> 1[1] [send] via NET/IB/1/GDRDMA",
        "`GDRDMA` is the word for a NIC that reads device memory",
    ),
    ("Channel 00 : 0[0] -> 1[1] [send] via NET/IB/1", "an RDMA NIC alone does not make it direct"),
    ("Channel 00 : 0[0] -> 1[1] via NET/Socket/0", "a socket knows nothing but host memory"),
    ("Channel 00 : 0[0] -> 1[1] via P2P/IPC", "this one stays inside the node"),
    ("GPU Direct RDMA Enabled for HCA 0", "it says what could be used, and is no channel"),
)
"""Lines as NCCL writes them, and what each means."""


def _try_bounces(answer: Callable[[str], object]) -> str | None:
    """Return what is wrong with a function that finds channels through host memory."""
    # Lines of a real run first, so that a rule is tried on what NCCL writes, and then one line of each kind.
    rows = [(line, "this is no channel" if "via" not in line else "look at how it ends") for line in
            measured_library()[EFA_RUN].manifest["transport"]]  # fmt: skip
    for line, means in (*rows, *_CHANNELS):
        got = answer(line)
        # By value: a 1 or 0 of numpy is as good as True or False.
        if got not in (True, False):
            return f"For `{line}` your function returned {got!r}; return True or False."
        if got != _bounces(line):
            return f"For `{line}` your function says {got}: {means}."
    return None


@cache
def _verdict(fit: str) -> str:
    options: dict[str, str] = FITS[fit]
    return peerlab.calibrate(load(lab_log("B").text), "juliet", **options).verdict  # type: ignore[arg-type]


EXERCISES = (
    Choice(
        name="05-silent",
        question="Log A says nothing about its transport. For which of the three paths do its figures speak, as far as they can?",
        options={
            path_title("host-tcp"): "How fast would TCP be, and how fast is the log?",
            path_title("host-rdma"): (
                "The text above says what the NICs carry. What does a node of log A send?"
            ),
            path_title("peer-direct"): (
                "Nothing is faster than this path. Does the log look like the fastest that is possible?"
            ),
            CANNOT_TELL: "Nothing is proven, true. Asked is for which path they speak: which of the three gives such a rate when nothing is broken?",
        },
        truth=lambda: path_titles().get(_path("A"), CANNOT_TELL),
        hints=(
            "Look at the largest messages: how many bytes a second does algbw make of them?",
            "With two nodes a node sends about as many bytes a second as algbw says. Compare that with one TCP stream and with the NICs.",
        ),
        why="A node sends no more than one stream of TCP does, a small part of what its NICs carry. That makes TCP likely; an RDMA path that is broken could be as slow.",
        solution=f'"{path_title("host-tcp")}"',
    ),
    Code(
        name="05-bounces",
        further=True,
        question=(
            "Write `bounces(line)`: True if a line of NCCL's shows a channel through the network (`via NET/`) that passes "
            "through host memory."
        ),
        check=_try_bounces,
        function="bounces",
        attempts={
            'return "NET" in line': "this is no channel",
            'return "GDRDMA" not in line': "this is no channel",
            'return "via NET" in line': "`GDRDMA` is the word",
            'return "via NET/" in line and "Libfabric" in line': "an RDMA NIC alone does not make it direct",
        },
        hints=(
            "Two things have to be true of the line; one of them is that a word is missing.",
            "A channel says `via NET/`; one that is direct has `/GDRDMA` behind it.",
        ),
        why="Provider and plug-in only say which NIC is used. Whether it reads device memory, only `GDRDMA` on the channel says.",
        solution='return "via NET/" in line and "GDRDMA" not in line',
    ),
    Number(
        name="05-wire",
        question="Log C, largest message: how many GB/s did the NICs of one node really carry?",
        unit="GB/s",
        truth=_carried,
        mistakes=(
            Mistake(
                lambda: _busbw("C", 2), "That is busbw, which counts what links inside a node carry as well."
            ),
            Mistake(
                lambda: 2 * _observed("C", 2).fastest_GBps,
                "That counts each byte twice: with two nodes, what one sends the other receives, on its own direction.",
            ),
            Mistake(
                lambda: _carried() / 2,
                "Each half of the message passes the wire twice: once to be added up, once as a sum.",
            ),
            Mistake(
                lambda: load_cluster("p5").node_wire_Bps / 1e9,
                "The NICs of a node could carry that much. How much did they carry?",
            ),
            Mistake(
                lambda: load_cluster("p5").nic_Bps / 1e9,
                "That is the rate of one NIC, from its data sheet. What they really carried follows from the log.",
            ),
            Mistake(
                lambda: _carried() / load_cluster("p5").nics,
                "That is what one of the node's NICs carried. They are asked for together.",
            ),
        ),
        bounds=(
            Bound(
                lambda: load_cluster("p5").node_wire_Bps / 1e9,
                "That is more than the NICs of a node can carry. Which of the log's figures counts no link inside a node?",
                above=True,
            ),
        ),
        hints=(
            "algbw is the message divided by the time. How many times does a byte of it leave a node?",
            "Between N nodes a ring sends 2(N-1)/N times the message from each node. Here N is 2.",
        ),
        why="Two nodes: 2(N-1)/N is 1, so a node sends what algbw says: less than its NICs can carry, and nothing impossible.",
        solution="peerlab.load(c.text, nodes=2).table.algbw_GBps.max()",
    ),
    Choice(
        name="05-cannot",
        question="Log D, held against what p4d could do on each path: whose path is it?",
        options={
            "Peer Direct: the setting says so": "A setting says what was asked for. What do the figures say?",
            "RDMA through host memory: the rate is that of staging": "Such a rate is also what a direct path gives that is held up. Can you exclude it?",
            "kernel TCP: it is far below the NICs": "How much does TCP carry on any machine, and how much did a node of the log send?",
            "cannot tell": "What would tell the two paths apart that are left?",
        },
        # By the diagnosis of this very log: if it ever names a path, the answer moves along.
        truth=lambda: CANNOT_TELL if _path("D", "p4d") == CANNOT_TELL else "Peer Direct: the setting says so",
        hints=(
            "Compare algbw of the log with the table: which path explains it, and which could be held up to it?",
            "A setting on one side, a rate on the other, and one size only: is that enough to name a path?",
        ),
        why="Neither leads far enough to be named. Its source says Peer Direct, with a NIC that seems unused; the log alone cannot know.",
        solution='"cannot tell"',
    ),
    Number(
        name="05-nics",
        further=True,
        question="A story for log D: Peer Direct works, and only three of the four NICs of a node are used. Which algbw would that give at most, on two nodes?",
        unit="GB/s",
        truth=lambda: 3 * _nic_GBps(),
        mistakes=(
            Mistake(lambda: 4 * _nic_GBps(), "That is with all four NICs."),
            Mistake(
                lambda: 3 * _nic_GBps() * 2 * 15 / 16,
                "That is busbw. With two nodes a node sends as many bytes a second as algbw says.",
            ),
            Mistake(_nic_GBps, "That is one NIC. Three are used."),
            Mistake(lambda: 24 * _nic_GBps(), "That is in Gbit/s."),
            Mistake(_sent, "That is what the log says. What would three full NICs carry?"),
        ),
        bounds=(Bound(lambda: 4 * _nic_GBps(), "All four NICs of a node carry less than that.", above=True),),
        hints=(
            "With two nodes a node sends as many bytes a second as algbw says.",
            '`peerlab.load_cluster("p4d").nic_Bps / 1e9` is what one NIC carries. Take three of them.',
        ),
        why="The log has less than that, and more than two NICs carry. So the story is possible. NCCL's maintainer tells it, and no figure of the log proves it.",
        solution='3 * peerlab.load_cluster("p4d").nic_Bps / 1e9',
    ),
    EIGHT_BYTES,
    Choice(
        name="05-believe",
        further=True,
        question="Three fits of log B. With which one would you forecast how long staged messages take on this cluster?",
        options={
            "from 1 MiB, as diagnosed": "Its first line says what is left of the error. Is it large?",
            "from 1 MiB, as Peer Direct": "Look at the sizes: how far off is the simulation still, and where did the NIC's rate go?",
            "all sizes, as diagnosed": "Look at 32 to 256 KiB: is that a path that the model has?",
            _NONE: "For Peer Direct, true: the log does not tell the NIC's rate. For staged messages, what does the first line of each report say of its error?",
        },
        called={
            "from 1 MiB, as diagnosed": ("the first", "first"),
            "from 1 MiB, as Peer Direct": ("the second", "second", "peer-direct"),
            "all sizes, as diagnosed": ("the third", "third"),
        },
        truth=lambda: next((fit for fit in FITS if _verdict(fit) == "good"), _NONE),
        hints=(
            "A fit is first of all judged by what is left of its error.",
            "The path has to be the log's own, and the sizes those that this path explains.",
        ),
        why="The right path, and only sizes that it explains. A fit always returns numbers; only its error says whether they mean anything.",
        solution='"from 1 MiB, as diagnosed"',
    ),
)
TRANSFER = unseen_log.TRANSFER
