"""The exercise of lab 02 on the time of a ring: a learner's formula beside simulated rings."""

import math
from collections.abc import Callable
from typing import Any

from peerlab.base.units import MIB, say_bytes, seconds
from peerlab.features.exercises.exercise import Code
from peerlab.features.exercises.lessons.scenes import WIRE, simulated

# Few and many nodes, small and large messages, so that each term of the formula decides once.
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
    "A step sends one chunk, and a chunk is an N-th of the buffer.": lambda n, b, latency, rate: (
        2 * (n - 1) * (latency + b / (n - 1) / rate)
    ),
    "The latency is missing.": lambda n, b, _, rate: 2 * (n - 1) * b / n / rate,
    "A byte has eight bits, but the rate is given in bytes per second.": (
        lambda n, b, latency, rate: 2 * (n - 1) * (latency + 8 * b / n / rate)
    ),
}


def _check_ring_time(function: Any) -> str | None:
    """Try a learner's formula."""
    latency, rate = seconds(WIRE.hardware.latency_ps), float(WIRE.hardware.nic_Bps)
    times = [function(nodes, nbytes, latency, rate) for nodes, nbytes in _TRIALS]
    # By `in`, as the list may hold anything that a function returned.
    if None in times:
        return "`ring_time` returns nothing; its last line needs a `return`."
    try:
        return _compared([float(number) for number in times], latency, rate)
    except (TypeError, ValueError):
        return f"`ring_time` should return seconds, not a {type(times[0]).__name__}."


def _compared(times: list[float], latency: float, rate: float) -> str | None:
    """Compare times with those of simulated rings, then with those of typical wrong formulas."""
    truth = [simulated(WIRE.with_(nodes=nodes, message_bytes=nbytes)).time_s for nodes, nbytes in _TRIALS]
    if _alike(times, truth):
        return None
    for sentence, wrong in _FORGOTTEN.items():
        if _alike(times, [wrong(nodes, nbytes, latency, rate) for nodes, nbytes in _TRIALS]):
            return sentence
    # Right in milliseconds or microseconds.
    if any(_alike([number / scale for number in times], truth) for scale in (1e3, 1e6)):
        return "Return seconds."
    # Where it is wrong first: one case is said, not four.
    at = next(at for at, number in enumerate(times) if not _alike([number], [truth[at]]))
    nodes, nbytes = _TRIALS[at]
    return (
        "Multiply the number of steps with what one step costs. "
        f"For {nodes} nodes and {say_bytes(nbytes)} it returns {times[at]:.3g} s: {_off(times[at], truth[at])}."
    )


def _off(duration: float, truth: float) -> str:
    """Return which way a time is wrong, and by what factor."""
    if not 0 < duration < math.inf:
        return "that is no time"
    if duration < truth:
        return f"too little, the simulation takes {truth / duration:.4g} times as long"
    return f"too much, {duration / truth:.4g} times as long as the simulation takes"


def _alike(first: list[float], second: list[float]) -> bool:
    # A part in a thousand: the simulation rounds each slice to a picosecond.
    return all(abs(a - b) <= 1e-3 * b for a, b in zip(first, second, strict=True))


RING_TIME = Code(
    name="02-time",
    further=True,
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
)
