"""Exercises of lab 02: what an AllReduce does, what its figures mean, and what more nodes change."""

import math
from collections.abc import Callable
from typing import Any

from peerlab.collectives.busbw import bus_factor
from peerlab.collectives.walk import walk
from peerlab.lessons.exercise import Choice, Code, Mistake, Number
from peerlab.lessons.scenes import DIRECT, STAGED, simulated
from peerlab.model.scenario import Scenario
from peerlab.units import GIB, MIB, say_bytes, seconds

WIRE = Scenario(cluster="ideal-100g", nodes=8, message_bytes="64 MiB")


def _steps(ranks: int) -> int:
    return len(walk("ring", ranks).steps)


def _sent_mib() -> float:
    """Return what each of eight ranks of a ring sends for `WIRE`'s message, MiB."""
    ring = walk("ring", WIRE.nodes)
    return ring.sent(len(ring.steps))[0] * WIRE.nbytes / MIB


_TRIALS = [(2, MIB), (8, 64 * MIB), (32, 4096), (64, 256 * MIB)]
_FORGOTTEN: dict[str, Callable[[int, int, float, float], float]] = {
    "That is one of the two halves: after the sums are made they have to go round once more.": (
        lambda n, b, latency, rate: (n - 1) * (latency + b / n / rate)
    ),
    "With N steps in each half a chunk would come back to where it started; one less is enough.": (
        lambda n, b, latency, rate: 2 * n * (latency + b / n / rate)
    ),
    "A step sends one chunk, not the whole buffer.": lambda n, b, latency, rate: (
        2 * (n - 1) * (latency + b / rate)
    ),
    "The latency comes back in every step, as each waits for the one before.": (
        lambda n, b, latency, rate: latency + 2 * (n - 1) * b / n / rate
    ),
    "The latency is missing.": lambda n, b, _, rate: 2 * (n - 1) * b / n / rate,
    "A byte has eight bits, but the rate is given in bytes per second.": (
        lambda n, b, latency, rate: 2 * (n - 1) * (latency + 8 * b / n / rate)
    ),
}


def _check_ring_time(function: Any) -> str | None:
    """Try a learner's formula."""
    latency, rate = seconds(WIRE.hardware.latency_ps), float(WIRE.hardware.nic_Bps)
    said = [function(nodes, nbytes, latency, rate) for nodes, nbytes in _TRIALS]
    if None in said:
        return "`ring_time` returns nothing; its last line needs a `return`."
    try:
        return _compared([float(one) for one in said], latency, rate)
    except (TypeError, ValueError):
        return f"`ring_time` should return seconds, not a {type(said[0]).__name__}."


def _compared(said: list[float], latency: float, rate: float) -> str | None:
    """Compare times with those of simulated rings, then with those of typical wrong formulas."""
    truth = [simulated(WIRE.with_(nodes=nodes, message_bytes=nbytes)).time_s for nodes, nbytes in _TRIALS]
    if _alike(said, truth):
        return None
    for says, wrong in _FORGOTTEN.items():
        if _alike(said, [wrong(nodes, nbytes, latency, rate) for nodes, nbytes in _TRIALS]):
            return says
    if any(_alike([one / scale for one in said], truth) for scale in (1e3, 1e6)):
        return "Return seconds."
    at = next(at for at, one in enumerate(said) if not _alike([one], [truth[at]]))
    nodes, nbytes = _TRIALS[at]
    return (
        f"For {nodes} nodes and {say_bytes(nbytes)} it returns {said[at]:.3g} s: {_off(said[at], truth[at])}."
    )


def _off(said: float, truth: float) -> str:
    """Return which way a time is wrong, and by what factor."""
    if not 0 < said < math.inf:
        return "that is no time"
    if said < truth:
        return f"too little, the simulation takes {truth / said:.4g} times as long"
    return f"too much, {said / truth:.4g} times as long as the simulation takes"


def _alike(one: list[float], two: list[float]) -> bool:
    return all(abs(a - b) <= 1e-3 * b for a, b in zip(one, two, strict=True))


_ABOVE = {
    "The measurement is wrong: no figure can be higher than what the NICs carry": (
        "busbw is worked out from the time; nobody has measured a wire. How busy is it?"
    ),
    "It is in Gbit/s": "Then the NICs would do 400. Work it out from `time_s`, in bytes.",
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
        for nodes in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
        if simulated(scenario.with_(nodes=nodes)).wire_busy < 0.5
    )


SMALL = DIRECT.with_(message_bytes="4 KiB")

ALGORITHMS = {
    "hierarchical": f"A ring makes {2 * (SMALL.nodes - 1)} steps one after the other, however small the message: nearly all latency.",
    "pairwise": "",
    "halving-doubling": "Every step waits for the one before. One of the others waits less often, though it sends more messages.",
    "recursive-doubling": "It wins with 32 servers. With 8 it still waits three times in a row; one of the others waits less often.",
    "binary-tree": "Up the tree and down again, and every level waits for the one before.",
}
"""What the rails can do, and what is said to those who take it for the fastest with `SMALL`."""

EXERCISES = (
    Number(
        name="02-steps",
        question="How many steps does a ring AllReduce of 8 ranks take?",
        unit="steps",
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
        question="64 MiB on a ring of 8 ranks: how much does each rank send in all?",
        unit="MiB",
        tolerance=0.01,
        truth=_sent_mib,
        mistakes=(
            Mistake(lambda: _sent_mib() / 2, "That is one of the two halves."),
            Mistake(lambda: WIRE.nbytes / MIB, "Not all of its own buffer, and not only once."),
            Mistake(lambda: 2 * WIRE.nbytes / MIB, "Nearly. One chunk in each half need not be sent."),
            Mistake(lambda: _sent_mib() * WIRE.nodes, "That is what all ranks send together."),
            Mistake(lambda: _sent_mib() * MIB / 1e6, "That is in MB, of 10^6 bytes."),
        ),
        hints=(
            "A step sends one chunk, an eighth of the buffer. How many steps are there?",
            f"{_steps(WIRE.nodes)} times {WIRE.nbytes // WIRE.nodes // MIB} MiB.",
        ),
        why="2(N-1)/N of the buffer: less than twice its size, however many ranks there are. That is what makes a ring "
        "good for large messages.",
        solution='peerlab.steps("ring", 8).walk.sent(14)[0] * 64',
    ),
    Code(
        name="02-time",
        question="Write `ring_time`: the seconds that a ring AllReduce takes on a bare fabric, where a step costs its latency "
        "and the time to send a chunk. It is compared with the simulation for 2 to 64 nodes.",
        check=_check_ring_time,
        function="ring_time",
        attempts={
            "return (nodes - 1) * (latency_s + nbytes / nodes / bytes_per_s)": "one of the two halves",
            "return 2 * nodes * (latency_s + nbytes / nodes / bytes_per_s)": "one less is enough",
            "return 2 * (nodes - 1) * (latency_s + nbytes / bytes_per_s)": "not the whole buffer",
            "return latency_s + 2 * (nodes - 1) * nbytes / nodes / bytes_per_s": "in every step",
            "return 2 * (nodes - 1) * nbytes / nodes / bytes_per_s": "latency is missing",
            "return 1e3 * 2 * (nodes - 1) * (latency_s + nbytes / nodes / bytes_per_s)": "Return seconds.",
            "return nbytes / bytes_per_s": "too little, the simulation takes",
            "return 2 * nodes * nodes * (latency_s + nbytes / bytes_per_s)": "too much, ",
            "return latency_s - latency_s": "that is no time",
            "return nbytes / nothing": "raised NameError",
            "nbytes / bytes_per_s": "needs a `return`",
        },
        hints=(
            "Number of steps, times what one step costs.",
            "A step costs `latency_s` plus a chunk's bytes over `bytes_per_s`; a chunk is `nbytes / nodes`.",
        ),
        why="Two terms: 2(N-1) latencies, which grow with the nodes, and 2(N-1)/N of the message over the rate, which hardly "
        "does. The simulation comes to the same to a rounding, and `peerlab validate` holds it to that.",
        solution="return 2 * (nodes - 1) * (latency_s + nbytes / nodes / bytes_per_s)",
    ),
    Number(
        name="02-busbw",
        question="`direct` takes `peerlab.simulate(direct).time_s` seconds, on 8 servers with 8 Gaudi each. Work out what "
        "nccl-tests would print as busbw.",
        unit="GB/s",
        truth=lambda: simulated(DIRECT).busbw_GBps,
        mistakes=(
            Mistake(lambda: simulated(DIRECT).algbw_GBps, "That is algbw, the message over the time."),
            Mistake(
                lambda: simulated(DIRECT).algbw_GBps * bus_factor("allreduce", DIRECT.nodes),
                "n counts ranks, that is accelerators, not servers.",
            ),
            Mistake(
                lambda: simulated(DIRECT).busbw_GBps * 1e9 / GIB,
                "That is in GiB/s, of 2^30 bytes. nccl-tests and hccl_demo print GB/s, of 10^9 bytes.",
            ),
            Mistake(
                lambda: DIRECT.hardware.node_wire_Bps / 1e9,
                "That is what the NICs of a server carry. busbw follows from the time alone.",
            ),
            Mistake(lambda: simulated(DIRECT).busbw_GBps * 8, "That is in Gbit/s: a byte has eight bits."),
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
        question="The four NICs of a server carry 50 GB/s each way, and busbw is higher than that. What is the matter?",
        options=_ABOVE,
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
        truth=lambda: float(_first_half(DIRECT)),
        mistakes=(
            Mistake(
                lambda: _first_half(STAGED),
                "That holds for the detour. It has less to lose: its wire is hardly above one half with few servers.",
            ),
            Mistake(lambda: 2 * _first_half(DIRECT), "There it is so, but not for the first time."),
        ),
        hints=(
            "`peerlab.simulate(direct.with_(nodes=128)).wire_busy` is one of the figures to compare.",
            "Drag the slider in the lab above, and read the card with the wire's busy share.",
        ),
        why="Twice the servers are twice the steps with half the chunk each: the latency term doubles and the other one stays.",
        solution="next(n for n in (2, 4, 8, 16, 32, 64, 128, 256, 512) if peerlab.simulate(direct.with_(nodes=n)).wire_busy < 0.5)",
    ),
    Choice(
        name="02-winner",
        question="4 KiB once more, but on 8 servers instead of 32: what is fastest? Think first, then change `nodes` in the "
        "cell with the table.",
        options=ALGORITHMS,
        truth=lambda: min(ALGORITHMS, key=lambda name: simulated(SMALL.with_(algorithm=name)).time_s),
        hints=(
            "4 KiB are sent in no time. What counts is how often something has to wait for what came before.",
            "Recursive doubling waits log2(8) times. In one of the others, no transfer of a half waits for another one.",
        ),
        why="Pairwise waits twice, once in each half, as long as all its messages may be in flight together: "
        f"{SMALL.nodes - 1} of them may, while 31 fill the window of {SMALL.window_slices} slices and wait for room. So the number of servers decides, too.",
        solution='"pairwise"',
    ),
)
