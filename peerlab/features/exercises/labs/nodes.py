"""Exercises of lab 02: what an AllReduce does, what its figures mean, and what more nodes change."""

import math

from peerlab.base.units import MIB
from peerlab.collectives.busbw import bus_factor
from peerlab.collectives.walk import walk
from peerlab.features.exercises.exercise import Bound, Choice, Exercise, Mistake, Number
from peerlab.features.exercises.labs.ring_time import RING_TIME
from peerlab.features.exercises.labs.unseen import unseen_ring
from peerlab.features.exercises.lessons.scenes import DIRECT, STAGED, WIRE, simulated
from peerlab.question.scenario import Scenario


def _steps(ranks: int) -> int:
    return len(walk("ring", ranks).steps)


def _sent_mib() -> float:
    """Return what each of eight ranks of a ring sends for `WIRE`'s message, MiB."""
    ring = walk("ring", WIRE.nodes)
    return ring.sent(len(ring.steps))[0] * WIRE.nbytes / MIB


_ABOVE = {
    "The measurement is wrong: no figure can be higher than what the NICs carry": (
        "busbw is worked out from the time; nobody has measured a wire. How busy is it?"
    ),
    "It is in Gbit/s": "Then the NICs would do 400. Work it out from `time_s`, in bytes.",
    # Options by their place: the first says that the measurement is wrong, the third that nothing is.
    "Nothing is wrong: busbw counts all ranks, and not all of their bytes go through a NIC": "",
    "The NICs are sending and receiving, and both are counted": (
        "They do both, at 50 GB/s each way; busbw counts one direction."
    ),
}


def _above() -> str:
    """Return which option explains a busbw above the NICs' rate: the wire itself is never busier than always."""
    run = simulated(DIRECT)
    wrong, _, fine, _ = _ABOVE
    return (
        fine if run.busbw_GBps > run.scenario.hardware.node_wire_Bps / 1e9 and run.wire_busy <= 1 else wrong
    )


def _first_half(scenario: Scenario) -> int:
    """Return the smallest power of two of nodes at which the wire is busy for less than half of the time."""
    return next(
        nodes
        # Powers of two: the slider of the lab has the same.
        for nodes in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
        if simulated(scenario.with_(nodes=nodes)).wire_busy < 0.5
    )


# A small window and many nodes: so few slices fly at once that waiting decides.
SMALL = DIRECT.with_(nodes=32, message_bytes="4 KiB", window=4)

ALGORITHMS = {
    "hierarchical": f"A ring makes {2 * (SMALL.nodes - 1)} steps one after the other, however small the message: nearly all latency.",
    "pairwise": "It wins with room for 16 slices. With room for 4, its 31 messages of each half go in eight groups, one after the other.",
    "halving-doubling": "Every step waits for the one before, and it makes two for each doubling of the servers. One of the others makes one.",
    "recursive-doubling": "",
    "binary-tree": "Up the tree and down again, and every level waits for the one before.",
}
"""What the rails can do, and what is said to those who take it for the fastest with `SMALL`."""

EXERCISES: tuple[Exercise, ...] = (
    Number(
        name="02-steps",
        question="How many steps does a ring AllReduce of 8 ranks take?",
        unit="steps",
        tolerance=0,
        truth=lambda: float(_steps(WIRE.nodes)),
        mistakes=(
            Mistake(
                lambda: _steps(WIRE.nodes) / 2,
                "That is the half that adds up. The sums are not everywhere yet.",
            ),
            Mistake(
                lambda: 2.0 * WIRE.nodes,
                "Close: in each half, a chunk visits all ranks but the one where it starts.",
            ),
            Mistake(lambda: float(_steps(4)), "That is with the four ranks above. Here are twice as many."),
            Mistake(
                lambda: float(WIRE.nodes), "Look again at four ranks above: how many steps did they take?"
            ),
            Mistake(
                lambda: 2.0 * WIRE.nodes - 1,
                "Nearly: there are two halves, and each takes one step less than there are ranks.",
            ),
            Mistake(
                lambda: math.log2(WIRE.nodes),
                "That is log2 of the ranks, as on a tree. On a ring each rank sends to its neighbour only.",
            ),
            Mistake(
                lambda: float(_steps(WIRE.nodes) * WIRE.nodes),
                "That counts what every rank sends. In one step all ranks send at the same time.",
            ),
        ),
        hints=(
            "Four ranks took three steps to add up. How many to hand out?",
            "Each half takes one step less than there are ranks.",
        ),
        why="2(N-1): N-1 steps until every chunk has met every rank, N-1 to hand the sums out. Each waits for the one "
        "before.",
        solution='len(peerlab.steps("ring", 8).walk.steps)',
    ),
    Number(
        name="02-sent",
        further=True,
        question="64 MiB on a ring of 8 ranks: how much does each rank send in all?",
        unit="MiB",
        tolerance=0.01,
        truth=_sent_mib,
        mistakes=(
            Mistake(lambda: _sent_mib() / 2, "That is one of the two halves."),
            Mistake(lambda: WIRE.nbytes / MIB, "Not all of its own buffer, and not only once."),
            Mistake(lambda: 2 * WIRE.nbytes / MIB, "Nearly. One chunk in each half need not be sent."),
            Mistake(
                lambda: _sent_mib() * WIRE.nodes,
                "That is what all ranks send together, or what one rank would send with the whole buffer in every step. A rank sends one chunk a step.",
            ),
            Mistake(
                lambda: WIRE.nbytes / WIRE.nodes / MIB,
                "That is one chunk, which is what one step sends. How many steps are there?",
            ),
        ),
        hints=(
            "A step sends one chunk, an eighth of the buffer. How many steps are there?",
            f"{_steps(WIRE.nodes)} times {WIRE.nbytes // WIRE.nodes // MIB} MiB.",
        ),
        why="2(N-1)/N of the buffer: less than twice its size, however many ranks there are. That is what makes a ring "
        "good for large messages.",
        solution='peerlab.steps("ring", 8).walk.sent(14)[0] * 64',
    ),
    RING_TIME,
    Number(
        name="02-busbw",
        question="`direct` takes `peerlab.simulate(direct).time_s` seconds, on 8 servers with 8 Gaudi each. Work out what "
        "nccl-tests would print as busbw.",
        unit="GB/s",
        tolerance=0.01,
        truth=lambda: simulated(DIRECT).busbw_GBps,
        mistakes=(
            Mistake(lambda: simulated(DIRECT).algbw_GBps, "That is algbw, the message over the time."),
            Mistake(
                lambda: 2 * simulated(DIRECT).algbw_GBps,
                "Nearly: the factor is 2(n-1)/n, a little less than 2.",
            ),
            Mistake(
                lambda: simulated(DIRECT).busbw_GBps / 2,
                "That is algbw times (n-1)/n, one of the two halves of an AllReduce. The factor is twice that.",
            ),
            Mistake(
                lambda: simulated(DIRECT).algbw_GBps * bus_factor("allreduce", DIRECT.nodes),
                "n counts ranks, that is accelerators, not servers.",
            ),
            Mistake(
                # A million bytes for a MiB: 4.9 % more.
                lambda: simulated(DIRECT).busbw_GBps * 1e6 / MIB,
                "That takes 64 MiB for 64 million bytes. They are 64 * 2**20 bytes.",
            ),
            Mistake(
                lambda: DIRECT.hardware.nic_Bps / 1e9,
                "That is the rate of one NIC, from its data sheet. busbw counts what all ranks would have to send, and "
                "follows from bytes, time and the number of ranks.",
            ),
            Mistake(
                lambda: DIRECT.hardware.node_wire_Bps / 1e9,
                "That is what the NICs of a server carry. busbw follows from the time alone.",
            ),
            Mistake(
                lambda: 8 * DIRECT.hardware.node_wire_Bps / 1e9,
                "That is what the NICs of a server carry, in Gbit/s. busbw follows from the time alone.",
            ),
            Mistake(
                lambda: 8 * DIRECT.hardware.nic_Bps / 1e9,
                "That is the rate of one NIC in Gbit/s, or what the NICs of a server carry in both directions. busbw follows "
                "from the time alone.",
            ),
            Mistake(
                lambda: simulated(STAGED).busbw_GBps,
                "That is the busbw of the detour. `direct` takes less time.",
            ),
        ),
        bounds=(
            Bound(
                lambda: simulated(DIRECT).algbw_GBps,
                "busbw cannot be below algbw, which is the bytes of the message over the time. Begin with that.",
            ),
        ),
        hints=(
            "First algbw: bytes over seconds. 64 MiB are `64 * 2**20` bytes.",
            "Then times `2 * (n - 1) / n` with n = 64, and over 10^9.",
        ),
        why="And that is more than the 50 GB/s that the four NICs of a server carry. The next exercise asks why.",
        solution="64 * 2**20 / peerlab.simulate(direct).time_s * 2 * 63 / 64 / 1e9",
    ),
    Choice(
        name="02-above",
        further=True,
        question="The four NICs of a server carry 50 GB/s each way, and busbw is higher than that. What is the matter?",
        options=_ABOVE,
        called={
            next(iter(_ABOVE)): ("measurement error", "wrong measurement"),
            "It is in Gbit/s": ("Gbit/s", "bits", "the unit"),
        },
        truth=_above,
        hints=(
            "`peerlab.simulate(direct).wire_busy` is the share of the time that the NICs send. Is it above 1?",
            "A server sends 2(N-1)/N of a message with N servers; busbw multiplies with 2(n-1)/n for n ranks.",
        ),
        why="Eight ranks share four NICs, and add up their contributions inside the server first. So the NICs carry "
        "2(N-1)/N of a message for N servers, while busbw counts n ranks. How busy the wire is, only the wire can say.",
        solution='"Nothing is wrong: busbw counts all ranks, and not all of their bytes go through a NIC"',
    ),
    Number(
        name="02-half",
        question="Peer Direct, 64 MiB, and 2, 4, 8, ... servers: at how many is the wire busy for less than half of the time, "
        "for the first time?",
        unit="servers",
        tolerance=0,
        truth=lambda: float(_first_half(DIRECT)),
        mistakes=(
            Mistake(
                lambda: _first_half(DIRECT) / 2,
                "There it is still busy for more than half of the time. How much latency do twice the servers bring?",
            ),
            Mistake(
                lambda: _first_half(DIRECT) * DIRECT.hardware.devices,
                "That counts accelerators, or ranks. Asked is the number of servers.",
            ),
        ),
        bounds=(
            Bound(lambda: _first_half(DIRECT), "There it is so, but not for the first time.", above=True),
        ),
        hints=(
            "Compare `peerlab.simulate(direct.with_(nodes=n)).wire_busy` for n = 2, 4, 8, ...: which is the first below 0.5?",
            "Or drag *Nodes* in the lab below, and read the wire's busy share on its card. Begin at 64.",
        ),
        why="Twice the servers are twice the steps with half the chunk each: the latency term doubles and the other one stays.",
        solution="next(n for n in (2, 4, 8, 16, 32, 64, 128, 256, 512) if peerlab.simulate(direct.with_(nodes=n)).wire_busy < 0.5)",
    ),
    Choice(
        name="02-winner",
        further=True,
        question="4 KiB once more, but with room for 4 slices in flight instead of 16 (`window=4`): what is fastest? Think first, then change "
        "the cell with the table.",
        options=ALGORITHMS,
        called={
            "hierarchical": ("ring", "hierarchical ring"),
            "halving-doubling": ("halving",),
            "recursive-doubling": ("recursive",),
            "binary-tree": ("tree",),
        },
        truth=lambda: min(ALGORITHMS, key=lambda name: simulated(SMALL.with_(algorithm=name)).time_s),
        hints=(
            "4 KiB are sent in no time. What counts is how often something has to wait for what came before.",
            "Recursive doubling waits log2(32) times. Pairwise sends 31 messages in each half: how many of them may be in flight together?",
        ),
        why=f"Pairwise lets its {SMALL.nodes - 1} messages of a half go as far as there is room: {SMALL.window} at a time, so it waits 8 times in each half. "
        "Recursive doubling waits 5 times in all, and has one message in flight at a time. So the window decides, too.",
        solution='"recursive-doubling"',
    ),
)
TRANSFER = unseen_ring.TRANSFER
